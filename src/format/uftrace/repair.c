/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Consumes one record at a time, valid or not. Depth and address determine which calls must have
 * ended; each repair is a finding. The resulting events are balanced and chronological.
 */
#include "base/error.h"
#include "base/text/count.h"
#include "format/uftrace/cursor.h"
#include <stdlib.h>

#define TASK_NEW  200004u
#define TASK_EXIT 200005u
#define TASK_NAME 200006u

/* Why calls end without an exit record. */
enum closing {
    CLOSE_MISSING, /* their exits are missing */
    CLOSE_JUMPED,
    CLOSE_REPLACED,
    CLOSE_LOST,
    CLOSE_OPEN /* the track ends */
};

static lode_status find(struct uft_cursor *self, unsigned rule, uint64_t offset, const char *text)
{
    return lode_report_add(&self->report, rule, self->task->file, offset, "%s", text);
}

/* ---- closing calls ---- */

static lode_status say_closed(struct uft_cursor *self, enum closing why, uint32_t count,
                              const struct uft_frame *innermost)
{
    static const unsigned rules[] = {[CLOSE_MISSING] = UFT_EXIT_MISSING,
                                     [CLOSE_JUMPED] = UFT_CALL_JUMPED,
                                     [CLOSE_REPLACED] = UFT_CALL_REPLACED,
                                     [CLOSE_OPEN] = UFT_CALL_OPEN};
    static const char *const words[][2] = {
        [CLOSE_MISSING] = {"call never ends", "calls never end"},
        [CLOSE_JUMPED] = {"call is left by longjmp", "calls are left by longjmp"},
        [CLOSE_REPLACED] = {"call is open at exec", "calls are open at exec"},
        [CLOSE_OPEN] = {"call is open when the track ends", "calls are open when the track ends"}};
    if (why == CLOSE_LOST)
        return LODE_OK; /* part of the loss */
    const char *name = innermost->known.function->name;
    return lode_report_add(&self->report, rules[why], self->task->file, self->offset,
                           "%u %s; the innermost is %s at depth %u", count, words[why][count != 1],
                           name ? name : "without a name", (uint32_t)innermost->depth);
}

/* Ends the calls from position `keep` of the stack on, innermost first. */
static lode_status close_frames(struct uft_cursor *self, uint32_t keep, uint64_t time, enum closing why)
{
    uint32_t count = self->frame_count - keep;
    if (count == 0)
        return LODE_OK;
    struct uft_frame innermost = self->frames[self->frame_count - 1];
    while (self->frame_count > keep) {
        const struct uft_frame *frame = &self->frames[--self->frame_count];
        LODE_TRY(lode_uft_emit(self, &(lode_event){.time = time,
                                                   .function = frame->known.function,
                                                   .depth = (uint32_t)frame->depth,
                                                   .kind = LODE_EVENT_LEAVE,
                                                   .flags = LODE_EVENT_MADE}));
    }
    self->last_time = time;
    self->due = keep ? (uint32_t)self->frames[keep - 1].depth + 1 : 0;
    return say_closed(self, why, count, &innermost);
}

/* How many calls stay open if those at `depth` and deeper end. */
static uint32_t frames_above(const struct uft_cursor *self, uint32_t depth)
{
    uint32_t keep = self->frame_count;
    while (keep > 0 && self->frames[keep - 1].depth >= depth)
        keep--;
    return keep;
}

static bool has_jump(const struct uft_cursor *self, uint32_t keep)
{
    for (uint32_t i = self->frame_count; i > keep; i--)
        if (((const struct uft_function *)self->frames[i - 1].known.function)->is_jump)
            return true;
    return false;
}

/* ---- scheduling ---- */

void lode_uft_set_state(struct uft_cursor *self, const struct lode_uft_perf_event *event)
{
    bool is_preempted = event->kind == UFT_PERF_OUT_PREEMPTED;
    self->out_of = is_preempted ? self->rec->preempted : self->rec->scheduled_out;
    self->out_flags = is_preempted ? LODE_EVENT_PREEMPTED : 0;
}

static lode_status come_back(struct uft_cursor *self, uint64_t time, unsigned flags)
{
    const lode_function *state = self->out_of;
    self->out_of = NULL;
    self->last_time = time;
    return lode_uft_emit(self, &(lode_event){.time = time,
                                             .function = state,
                                             .depth = self->due,
                                             .kind = LODE_EVENT_SCHED_IN,
                                             .flags = (uint8_t)(self->out_flags | flags)});
}

/* Whether the thread is scheduled in before it goes off-CPU again or ends. */
static bool is_paired(const struct uft_cursor *self)
{
    for (const struct lode_uft_perf_event *next = self->perf + 1; next < self->perf_end; next++) {
        if (next->kind == UFT_PERF_IN)
            return true;
        if (next->kind == UFT_PERF_OUT || next->kind == UFT_PERF_OUT_PREEMPTED || next->kind == UFT_PERF_EXIT)
            return false;
    }
    return false;
}

static lode_status go_off(struct uft_cursor *self, uint64_t time)
{
    if (self->out_of)
        LODE_TRY(come_back(self, time, LODE_EVENT_MADE));
    if (!is_paired(self))
        return lode_report_add(&self->report, UFT_SCHEDULE_PAIR, self->task->file, LODE_NO_OFFSET,
                               "the thread is scheduled out at %llu and never scheduled in",
                               (unsigned long long)time);
    lode_uft_set_state(self, self->perf);
    return lode_uft_emit(self, &(lode_event){.time = time,
                                             .function = self->out_of,
                                             .depth = self->due,
                                             .kind = LODE_EVENT_SCHED_OUT,
                                             .flags = (uint8_t)self->out_flags});
}

static lode_status emit_point(struct uft_cursor *self, uint64_t time, uint64_t id, const char *text)
{
    size_t length = text ? strnlen(text, UINT16_MAX) : 0;
    return lode_uft_emit(self, &(lode_event){.time = time,
                                             .id = id,
                                             .depth = self->due,
                                             .kind = LODE_EVENT_INSTANT,
                                             .data_size = (uint16_t)length,
                                             .data = length ? text : NULL});
}

/* Scheduling only matters within calls: outside of them nothing was recorded. */
static lode_status take_perf_event(struct uft_cursor *self)
{
    const struct lode_uft_perf_event *event = self->perf;
    uint64_t time = event->time > self->last_time ? event->time : self->last_time;
    lode_status status = LODE_OK;
    if (self->frame_count == 0 && self->unseen == 0) {
        self->perf++;
        return LODE_OK;
    }
    switch (event->kind) {
    case UFT_PERF_IN:
        status = self->out_of ? come_back(self, time, 0) : LODE_OK;
        break;
    case UFT_PERF_OUT:
    case UFT_PERF_OUT_PREEMPTED:
        status = go_off(self, time);
        break;
    case UFT_PERF_EXIT:
        if (self->out_of)
            LODE_TRY(come_back(self, time, LODE_EVENT_MADE));
        LODE_TRY(emit_point(self, time, TASK_EXIT, NULL));
        status = close_frames(self, 0, time, CLOSE_OPEN);
        break;
    case UFT_PERF_NEW:
        status = emit_point(self, time, TASK_NEW, NULL);
        break;
    default:
        status =
            emit_point(self, time, TASK_NAME,
                       event->cpu < self->rec->perf.name_count ? self->rec->perf.names[event->cpu] : NULL);
    }
    self->perf++;
    self->last_time = time;
    return status;
}

/* Consumes the perf events before `time`. A thread with a record is on a CPU. */
static lode_status catch_up(struct uft_cursor *self, uint64_t time)
{
    while (self->perf < self->perf_end && self->perf->time < time)
        LODE_TRY(take_perf_event(self));
    if (self->out_of == NULL)
        return LODE_OK;
    LODE_TRY(lode_report_add(&self->report, UFT_SCHEDULE_PAIR, self->task->file, self->offset,
                             "there is a record while the thread is off-CPU"));
    return come_back(self, time, LODE_EVENT_MADE);
}

/* ---- entries and exits ---- */

/* The depth of a record: nearest below `most` if the recorder may have exceeded the field. */
static uint32_t unwrap(const struct uft_cursor *self, const struct uft_record *record, uint32_t most)
{
    if (!self->can_wrap || record->depth > most)
        return record->depth;
    return most - ((most - record->depth) & 0x3ff);
}

static lode_status say_wrapped(struct uft_cursor *self, uint32_t depth)
{
    if (depth < 1024 || lode_report_seen(&self->report, UFT_DEPTH_WRAPPED) > 0)
        return LODE_OK;
    return find(self, UFT_DEPTH_WRAPPED, self->offset, "calls go deeper than 1,023 from here on");
}

static lode_status push_frame(struct uft_cursor *self, uint64_t address, const lode_function *function,
                              uint32_t depth)
{
    LODE_TRY(lode_uft_reserve_frame(self));
    self->frames[self->frame_count++] = (struct uft_frame){{address, function}, depth};
    self->due = depth + 1;
    return LODE_OK;
}

/* A new program begins at depth 0 in a session of its own. */
static bool is_replaced(const struct uft_cursor *self, const struct uft_session *before, uint32_t depth)
{
    return depth == 0 && before != self->session && before != NULL;
}

static lode_status end_before_entry(struct uft_cursor *self, uint32_t depth, uint64_t time,
                                    const struct uft_session *before)
{
    uint32_t keep = frames_above(self, depth);
    if (keep == self->frame_count)
        return LODE_OK;
    if (self->was_lost)
        return close_frames(self, keep, self->last_time, CLOSE_LOST);
    enum closing why = is_replaced(self, before, depth) ? CLOSE_REPLACED
                       : has_jump(self, keep)           ? CLOSE_JUMPED
                                                        : CLOSE_MISSING;
    return close_frames(self, keep, time, why);
}

static lode_status enter(struct uft_cursor *self, const struct uft_record *record, unsigned flags,
                         const struct uft_session *before)
{
    uint32_t due = self->due, depth = unwrap(self, record, due);
    uint64_t address = record->address - (depth >> 10);
    const lode_function *function;
    LODE_TRY(say_wrapped(self, depth));
    LODE_TRY(end_before_entry(self, depth, record->time, before));
    if (self->frame_count > 0 && depth > due && !self->was_lost && !self->is_window)
        LODE_TRY(lode_report_add(&self->report, UFT_RECORD_DEPTH, self->task->file, record->offset,
                                 "a call at depth %u follows one at depth %u", depth, due - 1));
    if (depth >= UFT_FRAMES_MAX || self->frame_count >= UFT_FRAMES_MAX)
        return lode_report_add(&self->report, UFT_DEPTH_LIMIT, self->task->file, record->offset,
                               "a call at depth %u is omitted", depth);
    LODE_TRY(lode_uft_lookup(self, address, &function));
    if (self->frame_count == 0 && self->is_window)
        self->unseen = depth;
    LODE_TRY(push_frame(self, address, function, depth));
    self->last_time = record->time;
    self->has_payload = self->has_payload || record->payload.data;
    return lode_uft_emit(self, &(lode_event){.time = record->time,
                                             .function = function,
                                             .depth = depth,
                                             .kind = LODE_EVENT_ENTER,
                                             .flags = (uint8_t)flags,
                                             .data_size = (uint16_t)record->payload.size,
                                             .data = record->payload.data});
}

static lode_status emit_leave(struct uft_cursor *self, const struct uft_record *record,
                              const lode_function *function, uint32_t depth, unsigned flags)
{
    self->last_time = record->time;
    self->has_payload = self->has_payload || record->payload.data;
    return lode_uft_emit(self, &(lode_event){.time = record->time,
                                             .function = function,
                                             .depth = depth,
                                             .kind = LODE_EVENT_LEAVE,
                                             .flags = (uint8_t)flags,
                                             .data_size = (uint16_t)record->payload.size,
                                             .data = record->payload.data});
}

/* An exit without a matching call. */
static lode_status orphan(struct uft_cursor *self, const struct uft_record *record, uint32_t depth,
                          uint64_t address, unsigned flags)
{
    const lode_function *function;
    LODE_TRY(lode_uft_lookup(self, address, &function));
    if (self->is_window) {
        self->unseen = self->due = depth;
        return emit_leave(self, record, function, depth, flags);
    }
    self->last_time = record->time;
    bool is_inherited = self->task->is_forked && self->frame_count == 0;
    return lode_report_add(&self->report, is_inherited ? UFT_EXIT_INHERITED : UFT_EXIT_ORPHAN,
                           self->task->file, record->offset, "%s ends at depth %u, but never began",
                           function->name ? function->name : "a function without a name", depth);
}

/* The depth of an exit; older QEMU plug-ins write one less than at the entry. */
static uint32_t exit_depth(const struct uft_cursor *self, const struct uft_record *record)
{
    if (self->frame_count == 0)
        return record->depth;
    const struct uft_frame *top = &self->frames[self->frame_count - 1];
    uint32_t depth = unwrap(self, record, (uint32_t)top->depth);
    bool is_one_less = self->rec->is_qemu && depth + 1 == top->depth && record->address == top->known.address;
    return is_one_less ? (uint32_t)top->depth : depth;
}

static lode_status leave(struct uft_cursor *self, const struct uft_record *record, unsigned flags)
{
    uint32_t depth = exit_depth(self, record);
    uint64_t address = record->address - (depth >> 10);
    uint32_t keep = frames_above(self, depth + 1);
    bool is_jump = has_jump(self, keep);
    bool is_here = keep > 0 && self->frames[keep - 1].depth == depth;
    bool is_same = is_here && self->frames[keep - 1].known.address == address;
    if (self->was_lost) {
        /* Calls that are not proven to go on ended somewhere in the loss. */
        LODE_TRY(close_frames(self, is_here && !is_same ? keep - 1 : keep, self->last_time, CLOSE_LOST));
        is_here = is_same;
    } else if (is_jump && is_here && !is_same) {
        /* setjmp returns again: its own call ended long ago, and the calls since then are gone. */
        self->last_time = record->time;
        return close_frames(self, keep - 1, record->time, CLOSE_JUMPED);
    } else {
        LODE_TRY(close_frames(self, keep, record->time, is_jump ? CLOSE_JUMPED : CLOSE_MISSING));
    }
    if (!is_here)
        return orphan(self, record, depth, address, flags);
    const struct uft_frame ended = self->frames[--self->frame_count];
    self->due = depth;
    if (!is_same)
        LODE_TRY(lode_report_add(&self->report, UFT_EXIT_OTHER, self->task->file, record->offset,
                                 "the call at depth %u ends with address 0x%llx; it began with 0x%llx", depth,
                                 (unsigned long long)address, (unsigned long long)ended.known.address));
    return emit_leave(self, record, ended.known.function, depth, flags);
}

/* ---- other records ---- */

static lode_status lose(struct uft_cursor *self, const struct uft_record *record)
{
    /* Recorders write 0 as its time: use the previous time, or else that of the first record. */
    uint64_t time = self->last_time;
    if (!self->has_begun && !self->is_window && !self->was_lost) {
        lode_status status = lode_uft_first_time(self, record->offset, &time);
        if (status != LODE_END)
            LODE_TRY(status);
        if (time >= self->to && self->to < UINT64_MAX)
            return lode_uft_finish(self);
        self->last_time = time;
    }
    self->was_lost = true;
    LODE_TRY(lode_report_add(&self->report, UFT_RECORD_LOST, self->task->file, record->offset, "%s lost",
                             LODE_COUNTED(record->address, "record was", "records were")));
    return lode_uft_emit(
        self,
        &(lode_event){.time = time, .id = record->address, .depth = self->due, .kind = LODE_EVENT_LOST});
}

static lode_status point(struct uft_cursor *self, const struct uft_record *record, unsigned flags)
{
    const char *name = self->base.recording->ops->event_name(self->base.recording, record->address);
    if (strcmp(name, "unknown event") == 0)
        LODE_TRY(lode_report_add(&self->report, UFT_EVENT_UNKNOWN, self->task->file, record->offset,
                                 "event %llu has no name", (unsigned long long)record->address));
    self->last_time = record->time;
    self->has_payload = self->has_payload || record->payload.data;
    return lode_uft_emit(self, &(lode_event){.time = record->time,
                                             .id = record->address,
                                             .depth = self->due,
                                             .kind = LODE_EVENT_INSTANT,
                                             .flags = (uint8_t)flags,
                                             .data_size = (uint16_t)record->payload.size,
                                             .data = record->payload.data});
}

/* ---- one record ---- */

static lode_status check_first(struct uft_cursor *self, const struct uft_record *record)
{
    const struct uft_task *task = self->task;
    self->has_begun = true;
    if (task->inherited == LODE_NO_INDEX && task->session_count > 0 && task->times[0] > record->time)
        return lode_report_add(&self->report, UFT_SESSION_LATE, task->file, record->offset,
                               "the first record is %llu ns older than the first session",
                               (unsigned long long)(task->times[0] - record->time));
    return LODE_OK;
}

static lode_status hold_time(struct uft_cursor *self, struct uft_record *record, unsigned *flags)
{
    if (record->time >= self->last_time)
        return LODE_OK;
    LODE_TRY(lode_report_add(&self->report, UFT_RECORD_TIME, self->task->file, record->offset,
                             "the time is %llu ns before the one of the record before",
                             (unsigned long long)(self->last_time - record->time)));
    record->time = self->last_time;
    *flags |= LODE_EVENT_MOVED;
    return LODE_OK;
}

static lode_status take(struct uft_cursor *self, struct uft_record *record)
{
    const struct uft_session *before = self->session;
    unsigned flags = 0;
    if (record->type == UFT_LOST)
        return lose(self, record);
    if (!self->has_begun)
        LODE_TRY(check_first(self, record));
    LODE_TRY(catch_up(self, record->time));
    LODE_TRY(hold_time(self, record, &flags));
    if (record->time >= self->epoch_end)
        lode_uft_begin_epoch(self, record->time);
    if (record->type == UFT_EVENT)
        return point(self, record, flags);
    lode_status status =
        record->type == UFT_ENTRY ? enter(self, record, flags, before) : leave(self, record, flags);
    self->was_lost = false;
    return status;
}

static lode_status skip_damage(struct uft_cursor *self)
{
    uint64_t next;
    LODE_TRY(lode_uft_resync(self, self->offset, &next));
    bool is_end = next >= self->stream.size;
    if (is_end && self->stream.size - self->offset < UFT_RECORD_SIZE)
        LODE_TRY(lode_report_add(&self->report, UFT_RECORD_CUT, self->task->file, self->offset,
                                 "the last %llu bytes are not a complete record",
                                 (unsigned long long)(self->stream.size - self->offset)));
    else
        LODE_TRY(lode_report_add(&self->report, UFT_RECORD_MAGIC, self->task->file, self->offset,
                                 "%llu bytes are no record", (unsigned long long)(next - self->offset)));
    self->offset = next;
    return LODE_OK;
}

/* A payload of unknown length extends to the next plausible record. */
static lode_status skip_payload(struct uft_cursor *self, const struct uft_record *record)
{
    uint64_t next;
    LODE_TRY(lode_uft_resync(self, record->next, &next));
    self->offset = next;
    return lode_report_add(&self->report, UFT_RECORD_PAYLOAD, self->task->file, record->offset,
                           "the payload of the record cannot be decoded; %llu bytes are skipped",
                           (unsigned long long)(next - record->next));
}

lode_status lode_uft_take_record(struct uft_cursor *self)
{
    struct uft_record record;
    lode_status status = lode_uft_record_at(self, self->offset, &record);
    if (status == LODE_END)
        return lode_uft_finish(self);
    if (status == LODE_NOT_FOUND) {
        self->is_paused = self->has_payload;
        return self->is_paused ? LODE_OK : skip_damage(self);
    }
    LODE_TRY(status);
    if (record.type != UFT_LOST && record.time >= self->to && self->to < UINT64_MAX)
        return lode_uft_finish(self);
    /* Searching the next record moves the stream, which the payloads of this batch borrow from. */
    self->is_paused = self->is_paused || (record.is_unknown && self->has_payload);
    if (self->is_paused)
        return LODE_OK;
    LODE_TRY(take(self, &record));
    if (record.is_unknown)
        return skip_payload(self, &record);
    self->offset = record.next;
    return LODE_OK;
}

lode_status lode_uft_finish(struct uft_cursor *self)
{
    bool is_cut = self->to < UINT64_MAX;
    self->is_done = true;
    while (self->perf < self->perf_end && self->perf->time < self->to)
        LODE_TRY(take_perf_event(self));
    /* After a time window, calls go on. */
    if (is_cut)
        return LODE_OK;
    if (self->out_of)
        LODE_TRY(come_back(self, self->last_time, LODE_EVENT_MADE));
    return close_frames(self, 0, self->last_time, CLOSE_OPEN);
}
