/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/uftrace/cut/cut.h"

#include "base/error.h"
#include "format/uftrace/cursor.h"
#include <stdlib.h>

enum {
    BLOCK = 256 * 1024,
    DEPTH_FIELD_MAX = 1023 /* recorders may count on, and the field begins again */
};

/* ---- the survey ---- */

/* Bits of a record: its kind and depth; and those that differ in a record that is not regular. */
#define DEPTH_SHIFT    6
#define DEPTH_BITS     UINT64_C(0x3ff)
#define REGULAR_BITS   UINT64_C(0x3e)
#define REGULAR_RECORD ((uint64_t)UFT_MAGIC << 3)

struct look {
    const struct uft_recording *rec;
    const struct uft_task *task;
    struct lode_cut_survey *survey;
    size_t level; /* the innermost open call that is not yet found is above it */
};

static inline uint64_t depth_of(uint64_t word)
{
    return word >> DEPTH_SHIFT & DEPTH_BITS;
}

/* An open call began: at this depth, or the records are not regular. Whether the look goes on. */
static bool found(struct look *self, uint64_t time, uint64_t word)
{
    struct lode_cut_survey *survey = self->survey;
    uint64_t until, address = word >> 16;
    survey->is_regular = (word & 1) == UFT_ENTRY && depth_of(word) + 1 == self->level;
    if (!survey->is_regular)
        return false;
    const struct uft_session *session = lode_uft_session_at(self->rec, self->task, time, &until);
    const lode_function *function = lode_uft_find_named(self->rec, session, time, address);
    bool has_room = survey->count < survey->capacity ||
                    LODE_GROW(survey->calls, survey->capacity, survey->capacity ? survey->capacity * 2 : 32);
    survey->is_regular = function && has_room;
    if (survey->is_regular)
        survey->calls[survey->count++] = (struct lode_cut_call){function, time, address};
    self->level--;
    return survey->is_regular && self->level > 0;
}

/* Looks at records from the last to the first. Whether the look goes on. */
static inline __attribute__((always_inline)) bool look_back(struct look *self, const uint8_t *bytes,
                                                            size_t size, bool big_endian)
{
    uint64_t wrong = 0, level = self->level;
    for (const uint8_t *at = bytes + size; at > bytes;) {
        at -= UFT_RECORD_SIZE;
        uint64_t word = big_endian ? get_u64be(at + 8) : get_u64le(at + 8);
        wrong |= (word & REGULAR_BITS) ^ REGULAR_RECORD;
        if (__builtin_expect(depth_of(word) < level, 0)) {
            if (!found(self, big_endian ? get_u64be(at) : get_u64le(at), word))
                break;
            level = self->level;
        }
    }
    self->survey->is_regular = self->survey->is_regular && wrong == 0;
    return self->survey->is_regular && self->level > 0;
}

/* The level after the last record. */
static bool begin_look(struct look *self, const uint8_t *last)
{
    bool big_endian = self->rec->info.big_endian;
    uint64_t word = big_endian ? get_u64be(last + 8) : get_u64le(last + 8);
    self->survey->time = big_endian ? get_u64be(last) : get_u64le(last);
    self->level = (size_t)(depth_of(word) + ((word & 1) == UFT_ENTRY));
    bool can_wrap = self->rec->info.max_stack > 1024 && depth_of(word) == DEPTH_FIELD_MAX;
    return (word & REGULAR_BITS) == REGULAR_RECORD && !can_wrap;
}

static lode_status look(struct look *self, struct lode_stream *stream, lode_error *error)
{
    struct lode_cut_survey *survey = self->survey;
    struct lode_range bytes;
    bool goes_on = true;
    for (uint64_t end = survey->to; goes_on && end > survey->from;) {
        uint64_t begin = end - survey->from > BLOCK ? end - BLOCK : survey->from;
        size_t size = (size_t)(end - begin);
        LODE_TRY(lode_stream_at(stream, begin, size, &bytes, error));
        survey->is_regular = bytes.size >= size;
        if (survey->is_regular && end == survey->to)
            survey->is_regular = begin_look(self, bytes.data + size - UFT_RECORD_SIZE);
        goes_on = survey->is_regular && self->level > 0 &&
                  (self->rec->info.big_endian ? look_back(self, bytes.data, size, true)
                                              : look_back(self, bytes.data, size, false));
        end = begin;
    }
    survey->kept = self->level;
    return LODE_OK;
}

lode_status lode_uft_survey(const lode_recording *recording, uint32_t track, struct lode_cut_survey *survey,
                            lode_error *error)
{
    struct look self = {.rec = uft_of(recording), .task = &uft_of(recording)->tasks[track], .survey = survey};
    struct lode_stream stream = {.fd = -1};
    survey->is_regular = false;
    /* An exit of that plug-in does not tell its depth. */
    if (self.task->file == NULL || self.rec->is_qemu)
        return LODE_OK;
    lode_status status = lode_stream_open(&stream, &self.rec->folder, self.task->file, BLOCK, true, error);
    if (status == LODE_OK)
        status = look(&self, &stream, error);
    lode_stream_close(&stream);
    return status == LODE_ABSENT ? LODE_OK : status;
}

/* ---- a piece ---- */

/* The first event of perf that is not before the time of a record was not consumed. */
static const struct lode_uft_perf_event *perf_at(const struct uft_cursor *self, uint64_t time)
{
    const struct lode_uft_perf_event *low = self->perf_begin, *high = self->perf_end;
    while (low < high) {
        const struct lode_uft_perf_event *middle = low + (high - low) / 2;
        if (middle->time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The state of a cursor that has read all records before the cut. */
static lode_status begin_at(struct uft_cursor *self, const struct lode_cut *cut)
{
    self->offset = cut->position;
    self->last_time = cut->time;
    self->has_begun = true;
    self->perf = perf_at(self, cut->time);
    for (size_t i = 0; i < cut->count; i++) {
        const struct lode_cut_call *call = &cut->calls[i];
        LODE_TRY(lode_uft_reserve_frame(self));
        self->frames[self->frame_count++] = (struct uft_frame){{call->address, call->function}, i};
    }
    self->due = self->frame_count;
    return LODE_OK;
}

lode_status lode_uft_cursor_to_piece(lode_cursor *cursor, const struct lode_cut *from,
                                     const struct lode_cut *to, lode_error *error)
{
    struct uft_cursor *self = (struct uft_cursor *)cursor;
    self->error = error;
    self->until = to ? to->position : UINT64_MAX;
    return from ? begin_at(self, from) : LODE_OK;
}

lode_status lode_uft_cursor_open_piece(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                       const struct lode_cut *from, const struct lode_cut *to,
                                       const lode_cursor_options *options, lode_error *error)
{
    LODE_TRY(lode_uft_cursor_open(out, recording, track, options, error));
    lode_status status = lode_uft_cursor_to_piece(*out, from, to, error);
    if (status != LODE_OK) {
        lode_uft_cursor_close(*out);
        *out = NULL;
    }
    return status;
}

bool lode_uft_cursor_meets(const lode_cursor *cursor, const struct lode_cut *cut)
{
    const struct uft_cursor *self = (const struct uft_cursor *)cursor;
    if (report_count(&self->report) > 0 || self->unknown.count > 0 || self->offset != cut->position ||
        self->last_time != cut->time || self->frame_count != cut->count || self->due != cut->count ||
        self->was_lost || !self->has_begun || self->is_done || self->out_of || self->is_window)
        return false;
    for (uint32_t i = 0; i < self->frame_count; i++) {
        const struct uft_frame *frame = &self->frames[i];
        const struct lode_cut_call *call = &cut->calls[i];
        if (frame->depth != i || frame->known.address != call->address ||
            frame->known.function != call->function)
            return false;
    }
    return true;
}
