/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/uftrace/write/events.h"

#include "format/uftrace/write/values.h"
#include <stdlib.h>

struct uft_open_call {
    uint64_t address;
    const struct uft_session *session;
    uint32_t depth;
};

/* ---- beginning and end ---- */

lode_status lode_uft_events_init(struct uft_event_writer *self, struct uft_writer *writer,
                                 const struct uft_event_changes *rules, lode_error *error)
{
    *self = (struct uft_event_writer){.rules = *rules, .writer = writer, .track.file.fd = -1};
    open_calls_init(&self->open, sizeof(struct uft_open_call), SIZE_MAX);
    lode_array_init(&self->held, sizeof(lode_event), SIZE_MAX);
    return lode_uft_places_init(&self->places, rules->rec, rules->shifts, error);
}

void lode_uft_events_free(struct uft_event_writer *self)
{
    lode_uft_track_abandon(&self->track);
    lode_uft_places_free(&self->places);
    open_calls_free(&self->open);
    lode_array_free(&self->held);
}

void lode_uft_written_track_free(struct uft_written_track *written)
{
    lode_array_free(&written->names);
    lode_array_free(&written->perf);
}

static bool is_open(const struct uft_event_writer *self)
{
    return self->track.chunk != NULL;
}

/* ---- times ---- */

static lode_status move_time(const struct uft_event_writer *self, uint64_t *time, lode_error *error)
{
    if (!__builtin_add_overflow(*time, self->rules.clock, time))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                     "an event is before the clock of the first recording begins, or too far after it");
}

/* ---- perf ---- */

static lode_status put_perf(struct uft_event_writer *self, uint64_t time, unsigned kind, uint32_t name,
                            lode_error *error)
{
    LODE_TRY(move_time(self, &time, error));
    struct lode_uft_perf_event *added = lode_array_push(&self->written->perf);
    LODE_TRY_ALLOC(added, error);
    *added = (struct lode_uft_perf_event){.time = time, .kind = kind, .cpu = name};
    return LODE_OK;
}

static lode_status put_name(struct uft_event_writer *self, uint64_t time, const char *name, lode_error *error)
{
    struct lode_array *names = &self->written->names;
    const char **added = lode_array_push(names);
    LODE_TRY_ALLOC(added, error);
    *added = name;
    return put_perf(self, time, UFT_PERF_NAME, (uint32_t)names->count - 1, error);
}

/* Begin, end and names of the thread. At the begin of a slice, the last earlier name applies. */
static lode_status put_life(struct uft_event_writer *self, lode_error *error)
{
    const struct uft_recording *rec = self->rules.rec;
    const struct lode_uft_perf_thread *thread = self->places.task->perf;
    const char *first = NULL;
    for (uint64_t i = 0; thread && i < thread->count; i++) {
        const struct lode_uft_perf_event *event = &rec->perf.events[thread->first + i];
        bool is_name = event->kind == UFT_PERF_NAME && event->cpu < rec->perf.name_count;
        bool is_life = event->kind == UFT_PERF_NEW || event->kind == UFT_PERF_EXIT;
        if (is_name && event->time < self->rules.from)
            first = rec->perf.names[event->cpu];
        if (event->time < self->rules.from || event->time >= self->rules.to)
            continue;
        if (is_name)
            LODE_TRY(put_name(self, event->time, rec->perf.names[event->cpu], error));
        else if (is_life)
            LODE_TRY(put_perf(self, event->time, event->kind, 0, error));
    }
    return first ? put_name(self, self->rules.from, first, error) : LODE_OK;
}

/* Readers take records before perf events of the same time, so schedule in before the record. */
static void come_back_before(struct uft_event_writer *self, uint64_t time)
{
    const struct lode_array *perf = &self->written->perf;
    if (perf->count < 2)
        return;
    struct lode_uft_perf_event *last = LODE_ARRAY_AT(perf, struct lode_uft_perf_event, perf->count - 1);
    if (last->kind == UFT_PERF_IN && last->time == time && last[-1].time < time)
        last->time--;
}

/* ---- records ---- */

static lode_status open_file(struct uft_event_writer *self, lode_error *error)
{
    self->written->is_there = true;
    return lode_uft_track_create(&self->track, self->writer, self->written->tid, error);
}

static lode_status put_record(struct uft_event_writer *self, unsigned bits, uint64_t time, uint32_t depth,
                              uint64_t address, const uint8_t *values, size_t size, lode_error *error)
{
    struct uft_written_track *written = self->written;
    uint8_t *room;
    LODE_TRY(move_time(self, &time, error));
    if (!is_open(self))
        LODE_TRY(open_file(self, error));
    written->records++;
    written->first = time < written->first ? time : written->first;
    written->deepest = depth > written->deepest ? depth : written->deepest;
    come_back_before(self, time);
    LODE_TRY(lode_uft_track_room(&self->track, UFT_RECORD_SIZE + size, &room, error));
    uft_put_record(room, bits, time, depth, address);
    if (size > 0)
        memcpy(room + UFT_RECORD_SIZE, values, size);
    return LODE_OK;
}

/* An entry or exit with its values. */
static lode_status put_call(struct uft_event_writer *self, unsigned type, const lode_event *event,
                            uint64_t address, lode_error *error)
{
    uint8_t values[UFT_VALUES_MAX];
    size_t size = 0;
    if (event->data && !self->rules.drops_values) {
        if (lode_uft_write_values(self->rules.rec, event, values, &size))
            type |= UFT_MORE_BIT;
        else
            self->written->dropped_values++;
    }
    return put_record(self, type, event->time, event->depth, address, values, size, error);
}

static lode_status put_lost(struct uft_event_writer *self, lode_error *error)
{
    uint8_t *room;
    self->was_lost = false;
    if (!is_open(self))
        LODE_TRY(open_file(self, error));
    self->written->records++;
    /* A loss has no time. */
    LODE_TRY(lode_uft_track_room(&self->track, UFT_RECORD_SIZE, &room, error));
    uft_put_record(room, UFT_LOST, 0, 0, self->lost_count);
    return LODE_OK;
}

/* ---- ends without a record ---- */

/* Whether the next event makes every reader end the held calls in the same way. */
static bool is_redone(const lode_event *next, uint64_t time)
{
    return next && next->time == time && !(next->flags & LODE_EVENT_MADE) &&
           (next->kind == LODE_EVENT_ENTER || next->kind == LODE_EVENT_LEAVE);
}

/* Whether the program is replaced: the next one begins at depth 0, in a session of its own. */
static bool is_replaced(struct uft_event_writer *self, const lode_event *next, uint64_t time)
{
    const struct uft_open_call *top = OPEN_CALLS_TOP(&self->open, struct uft_open_call);
    if (!is_redone(next, time) || next->kind != LODE_EVENT_ENTER || next->depth != 0)
        return false;
    if (next->time >= self->places.end)
        lode_uft_places_advance(&self->places, next->time);
    return self->places.session != top->session;
}

/* At longjmp, uftrace drops the calls that it leaves, and expects one more exit of setjmp. */
static lode_status put_jump(struct uft_event_writer *self, uint64_t time, lode_error *error)
{
    bool is_put = false;
    for (size_t i = 0; i < self->held.count; i++) {
        const struct uft_open_call *call = open_calls_pop(&self->open);
        bool is_left = self->has_target && call->depth >= self->target_depth;
        if (!is_left)
            LODE_TRY(put_record(self, UFT_EXIT, time, call->depth, call->address, NULL, 0, error));
        else if (!is_put)
            LODE_TRY(
                put_record(self, UFT_EXIT, time, self->target_depth, self->target_address, NULL, 0, error));
        is_put = is_put || is_left;
    }
    return LODE_OK;
}

static lode_status put_held(struct uft_event_writer *self, const lode_event *next, lode_error *error)
{
    uint64_t time = LODE_ARRAY_AT(&self->held, lode_event, 0)->time;
    bool is_forgotten = self->has_jump ? is_redone(next, time) : is_replaced(self, next, time);
    if (is_forgotten) {
        self->open.items.count -= self->held.count;
    } else if (self->has_jump) {
        LODE_TRY(put_jump(self, time, error));
    } else {
        for (size_t i = 0; i < self->held.count; i++) {
            const struct uft_open_call *call = open_calls_pop(&self->open);
            LODE_TRY(put_record(self, UFT_EXIT, time, call->depth, call->address, NULL, 0, error));
        }
    }
    self->held.count = 0;
    self->has_jump = false;
    return LODE_OK;
}

/* Writes what waits for `next`, which may be NULL. Calls that end with a loss end before it. */
static lode_status settle(struct uft_event_writer *self, const lode_event *next, lode_error *error)
{
    if (self->held.count > 0)
        LODE_TRY(put_held(self, next, error));
    return self->was_lost ? put_lost(self, error) : LODE_OK;
}

static lode_status hold(struct uft_event_writer *self, const lode_event *event, lode_error *error)
{
    bool is_later = self->held.count > 0 && LODE_ARRAY_AT(&self->held, lode_event, 0)->time != event->time;
    if (is_later || (self->was_lost && event->time != self->lost_time))
        LODE_TRY(settle(self, event, error));
    lode_event *added = lode_array_push(&self->held);
    LODE_TRY_ALLOC(added, error);
    *added = *event;
    self->has_jump = self->has_jump || ((const struct uft_function *)event->function)->is_jump;
    return LODE_OK;
}

/* ---- events ---- */

static bool is_jump_target(const lode_function *function)
{
    static const char *const names[] = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"};
    const char *name = function->name;
    if (name == NULL || (*name != 's' && *name != '_'))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static lode_status enter(struct uft_event_writer *self, const lode_event *event, lode_error *error)
{
    struct uft_open_call *call = open_calls_push(&self->open);
    LODE_TRY_ALLOC(call, error);
    call->address = lode_uft_address(&self->places, event->function, event->time);
    call->session = self->places.session;
    call->depth = event->depth;
    if (is_jump_target(event->function)) {
        self->has_target = true;
        self->target_address = call->address;
        self->target_depth = event->depth;
    }
    return put_call(self, UFT_ENTRY, event, call->address, error);
}

static lode_status leave(struct uft_event_writer *self, const lode_event *event, lode_error *error)
{
    if (open_calls_end(&self->open) != LODE_CALL_ENDS)
        return LODE_OK;
    /* The address of the entry, even if another function is there by now. */
    const struct uft_open_call *call = open_calls_pop(&self->open);
    return put_call(self, UFT_EXIT, event, call->address, error);
}

static lode_status put_point(struct uft_event_writer *self, const lode_event *event, lode_error *error)
{
    uint8_t values[UFT_VALUES_MAX];
    size_t needed, size = 0;
    const uint32_t *id = lode_map_get(self->rules.event_ids, event->id);
    unsigned word = self->rules.rec->info.word;
    bool is_known = lode_uft_point_needs(event->id, word, &needed);
    /* The size of a variable depends on the size of an address. */
    bool is_foreign = needed == word && word != self->rules.word;
    if (!is_known || is_foreign ||
        (needed > 0 && !lode_uft_write_point(self->rules.rec, event, values, &size))) {
        self->written->dropped_points++;
        return LODE_OK;
    }
    self->written->dropped_values += needed == 0 && event->data_size > 0;
    return put_record(self, UFT_EVENT | (needed > 0 ? UFT_MORE_BIT : 0U), event->time, 0,
                      id ? *id : event->id, values, size, error);
}

static lode_status take(struct uft_event_writer *self, const lode_event *event, lode_error *error)
{
    bool is_preempted = event->flags & LODE_EVENT_PREEMPTED;
    switch (event->kind) {
    case LODE_EVENT_ENTER:
        LODE_TRY(settle(self, event, error));
        return enter(self, event, error);
    case LODE_EVENT_LEAVE:
        if (event->flags & LODE_EVENT_MADE)
            return hold(self, event, error);
        LODE_TRY(settle(self, event, error));
        return leave(self, event, error);
    case LODE_EVENT_SCHED_OUT:
        return put_perf(self, event->time, is_preempted ? UFT_PERF_OUT_PREEMPTED : UFT_PERF_OUT, 0, error);
    case LODE_EVENT_SCHED_IN:
        return put_perf(self, event->time, UFT_PERF_IN, 0, error);
    case LODE_EVENT_LOST:
        LODE_TRY(settle(self, event, error));
        self->was_lost = true;
        self->lost_count = event->id;
        self->lost_time = event->time;
        return LODE_OK;
    default:
        /* Events of perf files are written from there. */
        if (event->id >= UFT_FIRST_STATE_ID && event->id <= UFT_LAST_STATE_ID)
            return LODE_OK;
        LODE_TRY(settle(self, event, error));
        return put_point(self, event, error);
    }
}

lode_status lode_uft_events_take(struct uft_event_writer *self, const lode_event *events, size_t count,
                                 lode_error *error)
{
    for (size_t i = 0; i < count; i++)
        LODE_TRY(take(self, &events[i], error));
    return LODE_OK;
}

lode_status lode_uft_events_begin(struct uft_event_writer *self, const lode_track *track,
                                  struct uft_written_track *written, lode_error *error)
{
    self->written = written;
    lode_array_init(&written->perf, sizeof(struct lode_uft_perf_event), SIZE_MAX);
    lode_array_init(&written->names, sizeof(char *), UINT32_MAX);
    open_calls_reset(&self->open);
    self->held.count = 0;
    self->has_jump = self->was_lost = self->has_target = false;
    lode_uft_places_begin(&self->places, &self->rules.rec->tasks[track->index]);
    return put_life(self, error);
}

lode_status lode_uft_events_end(struct uft_event_writer *self, lode_error *error)
{
    LODE_TRY(settle(self, NULL, error));
    if (!is_open(self) && self->rules.keeps_empty)
        LODE_TRY(open_file(self, error));
    return is_open(self) ? lode_uft_track_close(&self->track, error) : LODE_OK;
}
