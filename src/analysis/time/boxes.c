/* SPDX-License-Identifier: BSD-3-Clause */
/* What a line did over time, by call depth. */
#include "analysis/time/boxes.h"
#include "analysis/time/intervals.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/memory/array.h"
#include "base/options.h"
#include "base/progress.h"
#include "model/database/database.h"
#include "model/database/trace.h"
#include "model/recording/open_calls.h"
#include "model/recording/recording.h"
#include <lode/event.h>
#include <stdlib.h>

#define CHECK_STEP 65536 /* samples between looks at whether to go on */

/* An open call. */
struct frame {
    const lode_context *context; /* or */
    const lode_function *function;
    uint64_t begin;
    bool is_sched; /* the thread is off-CPU */
};

/* Calls of one depth that are in one column so far. */
struct narrow {
    lode_box box; /* no calls: none yet */
    uint64_t most;
    unsigned column;
};

struct lode_boxes {
    lode_boxes_options options;
    struct lode_open_calls calls; /* of struct frame */
    struct lode_array narrow;     /* by depth */
    struct lode_array boxes;      /* of lode_box */
    struct lode_progress progress;
    uint64_t steps, events;
    /* Of a track: which, what is known of open calls, and since when. */
    uint32_t track;
    struct lode_checkpoints *checkpoints; /* to be added to; NULL: none */
    uint64_t since, last_time;            /* events since the last checkpoint; time of the last */
    uint64_t position;                    /* of the cursor before these events */
};

/* ---- boxes ---- */

static lode_status put_box(lode_boxes *self, const lode_box *box, lode_error *error)
{
    lode_box *added = lode_array_push(&self->boxes);
    LODE_TRY_ALLOC(added, error);
    *added = *box;
    return LODE_OK;
}

static lode_status reserve_narrow(lode_boxes *self, size_t depth, lode_error *error)
{
    while (self->narrow.count < depth)
        LODE_TRY_ALLOC(lode_array_push(&self->narrow), error);
    return LODE_OK;
}

/* Adds a call to those of its column; those of the column before are complete. */
static lode_status put_narrow(lode_boxes *self, const lode_box *box, unsigned column, lode_error *error)
{
    LODE_TRY(reserve_narrow(self, box->depth, error));
    struct narrow *kept = LODE_ARRAY_AT(&self->narrow, struct narrow, box->depth - 1);
    if (kept->box.calls && kept->column != column) {
        LODE_TRY(put_box(self, &kept->box, error));
        kept->box.calls = 0;
    }
    if (kept->box.calls == 0) {
        *kept = (struct narrow){*box, box->duration, column};
        return LODE_OK;
    }
    kept->box.end = box->end;
    kept->box.duration += box->duration;
    kept->box.calls++;
    if (box->duration > kept->most) {
        kept->most = box->duration;
        kept->box.context = box->context;
        kept->box.function = box->function;
    }
    return LODE_OK;
}

/* A call has ended: what of it is in the time window. */
static lode_status put_call(lode_boxes *self, uint32_t depth, uint64_t end, lode_error *error)
{
    const lode_boxes_options *options = &self->options;
    const struct frame *frame = OPEN_CALLS_AT(&self->calls, struct frame, depth - 1);
    uint64_t begin = frame->begin > options->from ? frame->begin : options->from;
    bool is_instant = frame->begin == end && frame->begin >= options->from;
    if (end > options->to)
        end = options->to;
    if (begin >= options->to || (begin >= end && !is_instant))
        return LODE_OK;
    lode_box box = {.begin = begin,
                    .end = end,
                    .duration = end - begin,
                    .calls = 1,
                    .depth = depth,
                    .context = frame->context,
                    .function = frame->function};
    struct lode_intervals columns = {options->from, options->to, options->columns};
    unsigned column = intervals_find(&columns, begin);
    if (is_instant || column == intervals_find(&columns, end - 1))
        return put_narrow(self, &box, column, error);
    return put_box(self, &box, error);
}

/* ---- open calls ---- */

static lode_status open_frame(lode_boxes *self, struct frame frame, lode_error *error)
{
    struct frame *added = open_calls_push(&self->calls);
    LODE_TRY_ALLOC(added, error);
    *added = frame;
    return LODE_OK;
}

/* Ends the calls below a depth. */
static lode_status close_frames(lode_boxes *self, size_t depth, uint64_t time, lode_error *error)
{
    for (size_t count; (count = open_calls_count(&self->calls)) > depth; open_calls_pop(&self->calls))
        if (self->options.depth == 0 || count <= self->options.depth)
            LODE_TRY(put_call(self, (uint32_t)count, time, error));
    return LODE_OK;
}

static int compare_boxes(const void *left, const void *right)
{
    const lode_box *a = left, *b = right;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    /* Calls of no length begin when the one after them does. */
    return a->end < b->end ? -1 : a->end > b->end;
}

static lode_status finish(lode_boxes *self, uint64_t time, lode_error *error)
{
    LODE_TRY(close_frames(self, 0, time, error));
    for (size_t i = 0; i < self->narrow.count; i++) {
        const struct narrow *kept = LODE_ARRAY_AT(&self->narrow, struct narrow, i);
        if (kept->box.calls)
            LODE_TRY(put_box(self, &kept->box, error));
    }
    if (self->boxes.count)
        qsort(self->boxes.items, self->boxes.count, sizeof(lode_box), compare_boxes);
    return LODE_OK;
}

/* ---- trace lines ---- */

/* Whether a context is an open call. The position of a context in a call path is its depth. */
static bool is_open(const lode_boxes *self, const lode_context *context)
{
    return context->depth <= open_calls_count(&self->calls) &&
           OPEN_CALLS_AT(&self->calls, struct frame, context->depth - 1)->context == context;
}

/* The call path of a sample differs from the one before below their common ancestor only. */
static lode_status take_sample(lode_boxes *self, const lode_context *context, uint64_t time,
                               lode_error *error)
{
    const lode_context *common = context;
    while (common && common->depth > 0 && (self->steps++, !is_open(self, common)))
        common = lode_context_parent(common);
    size_t depth = common ? common->depth : 0, wanted = context ? context->depth : 0;
    LODE_TRY(close_frames(self, depth, time, error));
    while (open_calls_count(&self->calls) < wanted)
        LODE_TRY(open_frame(self, (struct frame){.begin = time}, error));
    for (; depth < wanted; wanted--, context = lode_context_parent(context))
        OPEN_CALLS_AT(&self->calls, struct frame, wanted - 1)->context = context;
    return LODE_OK;
}

static lode_status read_line(lode_boxes *self, const lode_database *db, uint32_t index, lode_error *error)
{
    lode_trace_line line;
    uint64_t time = 0;
    LODE_TRY(lode_database_trace_line(db, index, &line, error));
    uint64_t first = lode_trace_line_seek(&line, self->options.from);
    self->progress.total = line.sample_count;
    /* The sample before the time window may reach into it. */
    first -= first > 0;
    for (uint64_t i = first; i < line.sample_count; i++) {
        if (i % CHECK_STEP == 0)
            LODE_TRY(lode_progress_add(&self->progress, i - self->progress.done, error));
        time = trace_time(&line, i);
        if (time >= self->options.to)
            break;
        LODE_TRY(take_sample(self, lode_database_context(db, trace_context(&line, i)), time, error));
    }
    /* The last sample has no length. */
    return finish(self, time, error);
}

/* ---- checkpoints ---- */

/* Off-CPU time is no call of the track, so there is no checkpoint in it. */
static bool can_keep(const lode_boxes *self)
{
    for (size_t i = 0; i < open_calls_count(&self->calls); i++)
        if (OPEN_CALLS_AT(&self->calls, struct frame, i)->is_sched)
            return false;
    return true;
}

/* Between two events of different times: a cursor finds the second one by its time. */
static void keep_checkpoint(lode_boxes *self, uint64_t time)
{
    size_t count = open_calls_count(&self->calls);
    struct lode_checkpoint *checkpoint = malloc(sizeof *checkpoint + count * sizeof *checkpoint->calls);
    if (checkpoint == NULL)
        return; /* it only saves time */
    checkpoint->time = time;
    checkpoint->position = self->position;
    checkpoint->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct frame *frame = OPEN_CALLS_AT(&self->calls, struct frame, i);
        checkpoint->calls[i] = (struct lode_open_call){frame->function, frame->begin};
    }
    lode_checkpoints_add(self->checkpoints, self->track, checkpoint);
    free(checkpoint);
    self->since = 0;
}

static lode_status resume(lode_boxes *self, lode_cursor *cursor, const struct lode_checkpoint *checkpoint,
                          lode_error *error)
{
    const struct lode_recording_ops *ops = cursor->recording->ops;
    LODE_TRY(ops->cursor_resume(cursor, checkpoint->position, checkpoint->time, error));
    for (size_t i = 0; i < checkpoint->count; i++) {
        const struct lode_open_call *call = &checkpoint->calls[i];
        LODE_TRY(open_frame(self, (struct frame){.function = call->function, .begin = call->begin}, error));
    }
    return LODE_OK;
}

/* Whether nothing was repaired: what is made, moved or lost may concern calls at any time. */
static bool is_plain(const lode_event *event)
{
    return event->kind != LODE_EVENT_LOST && !(event->flags & (LODE_EVENT_MADE | LODE_EVENT_MOVED));
}

/* ---- tracks ---- */

static lode_status take_event(lode_boxes *self, const lode_event *event, lode_error *error)
{
    struct frame frame = {
        .function = event->function, .begin = event->time, .is_sched = event->kind == LODE_EVENT_SCHED_OUT};
    enum lode_call_step step = open_calls_take(&self->calls, event);
    if (step == LODE_CALL_BEGINS)
        return open_frame(self, frame, error);
    return step == LODE_CALL_ENDS ? close_frames(self, open_calls_count(&self->calls) - 1, event->time, error)
                                  : LODE_OK;
}

static lode_status take_events(lode_boxes *self, const lode_event *events, size_t count, lode_error *error)
{
    self->events += count;
    for (size_t i = 0; i < count; i++) {
        const lode_event *event = &events[i];
        if (!is_plain(event))
            self->checkpoints = NULL;
        if (self->checkpoints && self->since >= self->checkpoints->step && event->time > self->last_time &&
            can_keep(self))
            keep_checkpoint(self, event->time);
        LODE_TRY(take_event(self, event, error));
        self->since++;
        self->last_time = event->time;
    }
    return lode_progress_add(&self->progress, count, error);
}

/* Remembers where they are. */
static lode_status next_events(lode_boxes *self, lode_cursor *cursor, const lode_event **events,
                               size_t *count, lode_error *error)
{
    const struct lode_recording_ops *ops = cursor->recording->ops;
    self->position = ops->cursor_position ? ops->cursor_position(cursor) : 0;
    return lode_cursor_next(cursor, events, count, error);
}

static lode_status read_events(lode_boxes *self, lode_cursor *cursor, lode_error *error)
{
    const lode_event *events;
    size_t count;
    lode_status status;
    while ((status = next_events(self, cursor, &events, &count, error)) == LODE_OK) {
        if (cursor->repairs > 0)
            self->checkpoints = NULL;
        LODE_TRY(take_events(self, events, count, error));
    }
    if (cursor->repairs > 0)
        self->checkpoints = NULL;
    return status == LODE_END ? LODE_OK : status;
}

/* From a checkpoint, or from the beginning, as calls may have begun at any time. */
static lode_status read_from(lode_boxes *self, const lode_recording *recording,
                             const struct lode_checkpoint *checkpoint, lode_error *error)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor = NULL;
    options.to = self->options.to;
    self->checkpoints = checkpoint ? NULL : recording->checkpoints;
    self->last_time = UINT64_MAX; /* no checkpoint before the first event */
    LODE_TRY(lode_cursor_open(&cursor, recording, self->track, &options, error));
    lode_status status = checkpoint ? resume(self, cursor, checkpoint, error) : LODE_OK;
    if (status == LODE_OK)
        status = read_events(self, cursor, error);
    lode_cursor_close(cursor);
    if (status == LODE_OK)
        lode_checkpoints_sound(self->checkpoints, self->track, self->options.to);
    return status;
}

static lode_status read_track(lode_boxes *self, const lode_recording *recording, uint64_t end,
                              lode_error *error)
{
    const struct lode_checkpoint *checkpoint =
        lode_checkpoints_find(recording->checkpoints, self->track, self->options.from, self->options.to);
    LODE_TRY(read_from(self, recording, checkpoint, error));
    /* What is still open goes on after the time window, or its end was not recorded. */
    return finish(self, end < self->options.to ? end : self->options.to, error);
}

/* ---- both ---- */

static lode_status begin(lode_boxes **out, const lode_boxes_options *given, const char *phase,
                         lode_error *error)
{
    lode_boxes *self = calloc(1, sizeof *self);
    *out = self;
    LODE_TRY_ALLOC(self, error);
    open_calls_init(&self->calls, sizeof(struct frame), UINT32_MAX);
    lode_array_init(&self->narrow, sizeof(struct narrow), UINT32_MAX);
    lode_array_init(&self->boxes, sizeof(lode_box), SIZE_MAX / sizeof(lode_box));
    self->options = (lode_boxes_options)LODE_BOXES_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&self->options, given, error));
    self->options.columns = self->options.columns ? self->options.columns : 1;
    self->progress = (struct lode_progress){
        .report = self->options.on_progress, .user = self->options.user, .phase = phase};
    return LODE_OK;
}

static bool is_whole(const lode_boxes_options *options)
{
    return options->from == 0 && options->to == 0;
}

static void take_window(lode_boxes_options *options, uint64_t first, uint64_t last)
{
    if (!is_whole(options))
        return;
    options->from = first;
    options->to = last < UINT64_MAX ? last + 1 : last;
}

static lode_status end(lode_boxes **boxes, lode_status status)
{
    if (status != LODE_OK) {
        lode_boxes_free(*boxes);
        *boxes = NULL;
    }
    return status;
}

lode_status lode_boxes_compute(lode_boxes **out, const lode_database *db, uint32_t line,
                               const lode_boxes_options *options, lode_error *error)
{
    lode_status status = begin(out, options, "reading samples", error);
    if (status == LODE_OK)
        take_window(&(*out)->options, db->trace_min, db->trace_max);
    if (status == LODE_OK)
        status = read_line(*out, db, line, error);
    return end(out, status);
}

lode_status lode_boxes_compute_recording(lode_boxes **out, const lode_recording *recording, uint32_t track,
                                         const lode_boxes_options *options, lode_error *error)
{
    uint64_t first, last;
    lode_status status = begin(out, options, "reading calls", error);
    if (status == LODE_OK)
        status = lode_track_interval(recording, track, &first, &last, error);
    if (status == LODE_OK) {
        take_window(&(*out)->options, first, last);
        (*out)->track = track;
        status = read_track(*out, recording, last, error);
    } else if (status == LODE_ABSENT) {
        status = LODE_OK; /* no events, no boxes */
    }
    return end(out, status);
}

void lode_boxes_free(lode_boxes *boxes)
{
    if (boxes == NULL)
        return;
    open_calls_free(&boxes->calls);
    lode_array_free(&boxes->narrow);
    lode_array_free(&boxes->boxes);
    free(boxes);
}

LODE_GETTER(size_t, lode_boxes_count, lode_boxes, boxes.count);
LODE_GETTER(uint64_t, lode_boxes_steps, lode_boxes, steps);
LODE_GETTER(uint64_t, lode_boxes_events, lode_boxes, events);

const lode_box *lode_boxes_at(const lode_boxes *boxes, size_t index)
{
    return index < boxes->boxes.count ? LODE_ARRAY_AT(&boxes->boxes, lode_box, index) : NULL;
}
