/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding lines on several threads. There is a fixed number of lanes. A lane has one line at a
 * time and makes chunks of bytes of it; item n of the job is the next chunk of lane n modulo the
 * number of lanes. The window of the job is that number, so a lane makes a chunk only after its
 * last one was finished, and chunks are finished in the order of items. What is written depends on
 * the lines alone: not on the number of threads, nor on their pace.
 */
#include "analysis/calls/slice.h"
#include "base/error.h"
#include "base/pool.h"
#include "export/export.h"
#include "export/timelines/tracks_parts.h"
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 32,
    CHUNK_BYTES = 256 * 1024, /* a chunk ends when it has this many */
    CHUNK_EVENTS = 1 << 17,   /* or was made of this many events */
    LINE_BYTES = 1 << 20,     /* that a line may have ready before its turn */
    BATCH_EVENTS = 512,       /* for the encoder at once */
    BATCH_DATA = 64 * 1024,   /* bytes of arguments, likewise */
    RECORD_BYTES = 16         /* approximate size of an event, for progress */
};

struct lane {
    _Alignas(128) const struct lode_line *line; /* NULL: none is left */
    bool begun, done;
    bool is_open;         /* a track of the line is being read */
    uint32_t next;        /* of the line's tracks */
    uint32_t track;       /* that events are from */
    uint64_t track_bytes; /* of it that progress does not have yet */
    lode_cursor *cursor;
    struct lode_slicer slicer;
    const lode_event *events; /* to encode */
    size_t event_count;
    struct lode_wire out;
    void *state;
    /* Of a database. */
    lode_trace_line samples;
    struct lode_window_walk walk;
    uint32_t stack;
    uint64_t time;
    struct {
        lode_event *items;
        size_t count, capacity;
    } made;
    /* Since the last chunk. */
    uint64_t progress;
    struct lode_tracks_counts counts;
};

struct run {
    struct lode_tracks *tracks;
    const struct lode_encoder *encoder;
    struct lane *lanes;
    uint32_t lane_count;
    uint32_t next, written; /* lines that were given to lanes; that are complete */
    pthread_mutex_t lock;   /* of the buffers that no lane has */
    struct lode_wire spare[LANES];
    unsigned spare_count;
    struct lode_progress progress;
    struct lode_tracks_counts counts;
};

/* ---- samples of a database as events ---- */

static bool reserve_made(struct lane *lane, size_t more)
{
    size_t needed = lane->made.count + more;
    if (needed <= lane->made.capacity)
        return true;
    return LODE_GROW(lane->made.items, lane->made.capacity, 2 * needed);
}

/* Goes from the current stack to another: ends what is not in it, begins what is new. */
static bool go_to(const struct lode_tracks *tracks, struct lane *lane, uint32_t to, uint64_t time)
{
    const struct lode_track_stack *stacks = tracks->stacks;
    uint32_t from = lane->stack, common = to;
    if (from == to)
        return true;
    if (!reserve_made(lane, (size_t)stacks[from].depth + stacks[to].depth))
        return false;
    lode_event *out = lane->made.items + lane->made.count;
    while (stacks[common].depth > stacks[from].depth)
        common = stacks[common].parent;
    for (; from != common; from = stacks[from].parent) {
        *out++ = (lode_event){.time = time,
                              .function = &tracks->frames[stacks[from].frame],
                              .depth = stacks[from].depth - 1,
                              .kind = LODE_EVENT_LEAVE};
        if (stacks[from].depth == stacks[common].depth)
            common = stacks[common].parent;
    }
    size_t begins = stacks[to].depth - stacks[from].depth;
    lane->made.count = (size_t)(out - lane->made.items) + begins;
    for (uint32_t stack = to; begins > 0; stack = stacks[stack].parent)
        out[--begins] = (lode_event){.time = time,
                                     .function = &tracks->frames[stacks[stack].frame],
                                     .depth = stacks[stack].depth - 1,
                                     .kind = LODE_EVENT_ENTER};
    lane->stack = to;
    return true;
}

static bool put_sample(struct lane *lane, uint64_t time)
{
    if (!reserve_made(lane, 1))
        return false;
    lane->made.items[lane->made.count++] =
        (lode_event){.time = time, .id = lane->stack, .kind = LODE_EVENT_INSTANT};
    return true;
}

static uint32_t stack_of(const struct lode_tracks *tracks, struct lane *lane, uint32_t context_id)
{
    if (context_id == 0)
        return 0;
    uint32_t index = lode_context_tree_find(&tracks->options.db->tree, context_id);
    if (index != LODE_NO_INDEX)
        return tracks->stack_of[index];
    lane->counts.unlisted++;
    return tracks->unlisted;
}

/* Makes a batch of events; none at the end. A sample of no length changes nothing. */
static lode_status make_events(const struct run *run, struct lane *lane, lode_error *error)
{
    const struct lode_tracks *tracks = run->tracks;
    struct lode_window_sample sample;
    lane->made.count = 0;
    while (lane->made.count < BATCH_EVENTS) {
        if (!window_next(&lane->walk, &sample)) {
            if (!go_to(tracks, lane, 0, lane->time))
                return lode_fail_memory(error);
            break;
        }
        lane->progress += TRACE_SAMPLE_SIZE;
        if (sample.from >= sample.to)
            continue;
        lane->counts.moved += sample.from < lane->time;
        uint64_t from = sample.from > lane->time ? sample.from : lane->time;
        if (!go_to(tracks, lane, stack_of(tracks, lane, sample.context_id), from))
            return lode_fail_memory(error);
        if (run->encoder->wants_samples && sample.begins && lane->stack > 0)
            LODE_TRY_ALLOC(put_sample(lane, from), error);
        lane->time = sample.to > from ? sample.to : from;
    }
    return LODE_OK;
}

/* ---- the next events of a line ---- */

static lode_status open_source(const struct lode_tracks *tracks, struct lane *lane, lode_error *error)
{
    uint32_t source = tracks->sources[lane->line->first + lane->next++];
    lode_slicer_reset(&lane->slicer);
    if (tracks->options.db) {
        LODE_TRY(lode_database_trace_line(tracks->options.db, source, &lane->samples, error));
        lane->walk = window_walk(&tracks->window, &lane->samples);
        lane->stack = 0;
        lane->time = 0;
        lane->track_bytes = 0;
        return LODE_OK;
    }
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    options.strict = tracks->options.strict;
    lane->track = source;
    lane->track_bytes = lode_recording_track(tracks->options.recording, source)->bytes;
    return lode_cursor_open(&lane->cursor, tracks->options.recording, source, &options, error);
}

/* What is left of a track in the slicer. */
static lode_status close_source(struct lane *lane, lode_error *error)
{
    if (lane->cursor)
        lane->counts.repairs += lane->cursor->repairs;
    lode_cursor_close(lane->cursor);
    lane->cursor = NULL;
    lane->progress += lane->track_bytes;
    lane->track_bytes = 0;
    return lode_slicer_finish(&lane->slicer, &lane->events, &lane->event_count, error);
}

/* Events of the store before they are sliced; LODE_END after the last of a track. */
static lode_status read_source(const struct run *run, struct lane *lane, const lode_event **events,
                               size_t *count, lode_error *error)
{
    if (run->tracks->options.db) {
        LODE_TRY(make_events(run, lane, error));
        *events = lane->made.items;
        *count = lane->made.count;
        return *count > 0 ? LODE_OK : LODE_END;
    }
    if (lode_slicer_has_ended(&lane->slicer))
        return LODE_END;
    LODE_TRY(lode_cursor_next(lane->cursor, events, count, error));
    uint64_t bytes = *count * RECORD_BYTES < lane->track_bytes ? *count * RECORD_BYTES : lane->track_bytes;
    lane->progress += bytes;
    lane->track_bytes -= bytes;
    return LODE_OK;
}

/* Gets more events, possibly none; LODE_END after the last of the line. */
static lode_status refill(const struct run *run, struct lane *lane, lode_error *error)
{
    const lode_event *events;
    size_t count;
    if (!lane->is_open) {
        if (lane->next == lane->line->count)
            return LODE_END;
        LODE_TRY(open_source(run->tracks, lane, error));
        lane->is_open = true;
    }
    lode_status status = read_source(run, lane, &events, &count, error);
    if (status == LODE_END) {
        lane->is_open = false;
        return close_source(lane, error);
    }
    LODE_TRY(status);
    return lode_slicer_push(&lane->slicer, events, count, &lane->events, &lane->event_count, error);
}

/* ---- chunks ---- */

/* How many events go to the encoder at once: arguments bound what they become. */
static size_t batch_of(const struct lane *lane)
{
    size_t most = lane->event_count < BATCH_EVENTS ? lane->event_count : BATCH_EVENTS, count = 0, data = 0;
    for (size_t i = 0; i < most; i++)
        data += lane->events[i].data_size;
    if (data < BATCH_DATA)
        return most;
    for (data = 0; count < most && data < BATCH_DATA; count++)
        data += lane->events[count].data_size;
    return count;
}

static lode_status encode_batch(const struct run *run, struct lane *lane, lode_error *error)
{
    const struct lode_encoder *encoder = run->encoder;
    size_t count = batch_of(lane);
    lane->counts.events += count;
    LODE_TRY(encoder->take(encoder->user, lane->state, lane->line, lane->track, lane->events, count,
                           &lane->out, error));
    lane->events += count;
    lane->event_count -= count;
    return lane->out.failed ? lode_fail_memory(error) : LODE_OK;
}

static lode_status begin_line(const struct run *run, struct lane *lane, lode_error *error)
{
    const struct lode_encoder *encoder = run->encoder;
    lane->begun = true;
    lane->next = 0;
    lane->event_count = 0;
    return encoder->begin ? encoder->begin(encoder->user, lane->state, lane->line, &lane->out, error)
                          : LODE_OK;
}

static lode_status end_line(const struct run *run, struct lane *lane, lode_error *error)
{
    const struct lode_encoder *encoder = run->encoder;
    if (encoder->end)
        LODE_TRY(encoder->end(encoder->user, lane->state, lane->line, &lane->out, error));
    lane->done = true;
    return lane->out.failed ? lode_fail_memory(error) : LODE_OK;
}

/* The buffer that was written last: a cache still has it. */
static void take_buffer(struct run *run, struct lane *lane)
{
    if (lane->out.bytes)
        return;
    pthread_mutex_lock(&run->lock);
    if (run->spare_count > 0)
        lane->out = run->spare[--run->spare_count];
    pthread_mutex_unlock(&run->lock);
}

static void give_buffer(struct run *run, struct lane *lane)
{
    lane->out.count = 0;
    if (lane->out.bytes == NULL)
        return;
    pthread_mutex_lock(&run->lock);
    run->spare[run->spare_count++] = lane->out;
    pthread_mutex_unlock(&run->lock);
    lane->out = (struct lode_wire){0};
}

static lode_status work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct run *run = context;
    struct lane *lane = &run->lanes[item % run->lane_count];
    (void)worker;
    /* Lines before it are not written yet, and it has enough. */
    if (lane->line == NULL || lane->done || lane->out.count >= LINE_BYTES)
        return LODE_OK;
    take_buffer(run, lane);
    if (!lane->begun)
        LODE_TRY(begin_line(run, lane, error));
    uint64_t enough = lane->counts.events + CHUNK_EVENTS;
    size_t full = lane->out.count + CHUNK_BYTES;
    lode_status status = LODE_OK;
    while (status == LODE_OK && lane->out.count < full && lane->counts.events < enough)
        status = lane->event_count > 0 ? encode_batch(run, lane, error) : refill(run, lane, error);
    return status == LODE_END ? end_line(run, lane, error) : status;
}

/* ---- writing ---- */

/* Gives a lane the next line. */
static void next_line(struct run *run, struct lane *lane)
{
    bool is_left = run->next < run->tracks->line_count;
    lane->line = is_left ? &run->tracks->lines[run->next++] : NULL;
    lane->begun = lane->done = false;
}

static void add_counts(struct lode_tracks_counts *sum, const struct lode_tracks_counts *more)
{
    sum->events += more->events;
    sum->repairs += more->repairs;
    sum->unlisted += more->unlisted;
    sum->moved += more->moved;
}

static lode_status put_bytes(const struct run *run, const struct lode_wire *out, lode_error *error)
{
    const struct lode_encoder *encoder = run->encoder;
    if (encoder->write)
        return encoder->write(encoder->user, out->bytes, out->count, error);
    return lode_export_write(run->tracks->job->file, out->bytes, out->count, error);
}

static lode_status finish(void *context, uint64_t item, lode_error *error)
{
    struct run *run = context;
    const struct lode_encoder *encoder = run->encoder;
    struct lane *lane = &run->lanes[item % run->lane_count];
    if (lane->progress > 0)
        LODE_TRY(lode_progress_add(&run->progress, lane->progress, error));
    lane->progress = 0;
    add_counts(&run->counts, &lane->counts);
    lane->counts = (struct lode_tracks_counts){0};
    bool is_its_turn = lane->line && (encoder->alternates || lane->line->index == run->written);
    if (!is_its_turn)
        return LODE_OK;
    if (lane->out.count > 0)
        LODE_TRY(put_bytes(run, &lane->out, error));
    give_buffer(run, lane);
    if (!lane->done)
        return LODE_OK;
    run->written++;
    next_line(run, lane);
    return run->written == run->tracks->line_count ? LODE_END : LODE_OK;
}

static lode_status open_lanes(struct run *run, lode_error *error)
{
    const struct lode_tracks *tracks = run->tracks;
    lode_slice slice = tracks->options.slice;
    if (tracks->options.db)
        slice.from = slice.to = 0; /* trace lines are read from their windows */
    run->lane_count = tracks->line_count < LANES ? tracks->line_count : LANES;
    run->lanes = aligned_alloc(_Alignof(struct lane), run->lane_count * sizeof *run->lanes);
    LODE_TRY_ALLOC(run->lanes, error);
    memset(run->lanes, 0, run->lane_count * sizeof *run->lanes);
    for (uint32_t i = 0; i < run->lane_count; i++) {
        lode_slicer_init(&run->lanes[i].slicer, &slice);
        next_line(run, &run->lanes[i]);
    }
    for (uint32_t i = 0; i < run->lane_count; i++) {
        run->lanes[i].state = calloc(1, run->encoder->state_size + 1);
        LODE_TRY_ALLOC(run->lanes[i].state, error);
    }
    return LODE_OK;
}

static void close_lanes(struct run *run)
{
    for (uint32_t i = 0; run->lanes && i < run->lane_count; i++) {
        struct lane *lane = &run->lanes[i];
        if (lane->state && run->encoder->close)
            run->encoder->close(run->encoder->user, lane->state);
        lode_cursor_close(lane->cursor);
        lode_slicer_free(&lane->slicer);
        wire_free(&lane->out);
        free(lane->made.items);
        free(lane->state);
    }
    for (unsigned i = 0; i < run->spare_count; i++)
        wire_free(&run->spare[i]);
    pthread_mutex_destroy(&run->lock);
    free(run->lanes);
}

lode_status lode_tracks_run(struct lode_tracks *tracks, const struct lode_encoder *encoder,
                            struct lode_tracks_counts *counts, lode_error *error)
{
    const char *phase = encoder->phase ? encoder->phase : "writing";
    struct run run = {.tracks = tracks,
                      .encoder = encoder,
                      .progress = lode_export_progress(tracks->job, phase, tracks->bytes)};
    *counts = (struct lode_tracks_counts){0};
    if (tracks->line_count == 0)
        return LODE_OK;
    pthread_mutex_init(&run.lock, NULL);
    lode_status status = open_lanes(&run, error);
    struct lode_job job = {.items = UINT64_MAX,
                           .work = work,
                           .finish = finish,
                           .context = &run,
                           .window = run.lane_count,
                           .pool = tracks->options.pool};
    unsigned threads =
        lode_pool_threads(lode_pool_asked(tracks->options.threads, tracks->options.pool), run.lane_count);
    if (status == LODE_OK) {
        lode_error stopped = {0};
        status = lode_pool_run(threads, &job, &stopped);
        if (status < 0 && error)
            *error = stopped;
    }
    close_lanes(&run);
    *counts = run.counts;
    return status == LODE_END ? LODE_OK : status; /* the number of items is not known before */
}
