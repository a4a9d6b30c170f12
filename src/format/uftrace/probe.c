/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves an open cursor to other times: some hundred looks at a track that is too long to be read.
 * Records have no index, but their times rise, and mostly as fast as their offsets do.
 */
#include "base/error.h"
#include "format/uftrace/cursor.h"

enum {
    PIECE = 8 * 1024, /* bytes to read at once */
    NEAR = 4096,      /* bytes that are read record by record */
    GUESSES = 12,     /* then the interval is halved, so that no file takes longer than that */
    BATCH = 32        /* events at a time: few are needed */
};

/* The offsets and times between which a time is looked for. */
struct bracket {
    uint64_t low, low_time, high, high_time;
};

/* The file stays open, and pieces are small. */
static lode_status begin_probing(struct uft_cursor *self)
{
    uint64_t begin;
    if (self->batch == BATCH || self->task->file == NULL)
        return LODE_OK;
    if (self->stream.fd < 0 && !self->stream.is_memory) {
        lode_stream_close(&self->stream);
        LODE_TRY(
            lode_stream_open(&self->stream, &self->rec->folder, self->task->file, PIECE, true, self->error));
    }
    self->batch = BATCH;
    lode_status status = lode_uft_track_interval(self->base.recording, self->track->index, &begin,
                                                 &self->track_end, self->error);
    self->sought = 0;
    self->sought_time = self->track_begin = begin;
    return status < 0 ? status : LODE_OK;
}

/* As if nothing had been read; addresses keep their meaning until the epoch ends. */
static void forget_state(struct uft_cursor *self, uint64_t time)
{
    const struct lode_uft_perf_event *first = self->perf_begin;
    size_t low = 0, high = first ? (size_t)(self->perf_end - first) : 0;
    self->frame_count = self->due = self->unseen = 0;
    self->has_begun = self->is_done = self->was_lost = self->has_payload = self->is_paused = false;
    self->out_of = NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (first[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    /* The last change of state before the time says whether the thread runs. */
    while (low > 0 && first[low - 1].kind > UFT_PERF_OUT_PREEMPTED)
        low--;
    self->perf = first ? first + (low > 0 ? low - 1 : 0) : NULL;
}

static uint64_t guess(const struct bracket *b, uint64_t time)
{
    double share = (double)(time - b->low_time) / (double)(b->high_time - b->low_time);
    uint64_t span = b->high - b->low, at = (uint64_t)(share * (double)span);
    /* Rather before than after: what follows is read in one piece. */
    at = at > NEAR / 2 ? at - NEAR / 2 : 0;
    return b->low + (at < span - NEAR ? at : span - NEAR);
}

/* Whether a record that begins at or after an offset is before the time; narrows the bracket. */
static lode_status narrow(struct uft_cursor *self, struct bracket *b, uint64_t at, uint64_t time,
                          bool *is_before)
{
    uint64_t offset, found;
    lode_status status = lode_uft_time_after(self, at, b->high, b->low_time, &offset, &found);
    if (status < 0)
        return status;
    *is_before = status == LODE_OK && offset < b->high && found < time;
    if (*is_before) {
        b->low = offset;
        b->low_time = found;
    } else {
        b->high = at;
        b->high_time = status == LODE_OK && found >= time && found < b->high_time ? found : b->high_time;
    }
    return LODE_OK;
}

static lode_status find(struct uft_cursor *self, struct bracket *b, uint64_t time)
{
    for (unsigned tries = 0; b->high - b->low > NEAR; tries++) {
        bool is_before, can_guess = tries < GUESSES && b->low_time < time && time < b->high_time;
        LODE_TRY(
            narrow(self, b, can_guess ? guess(b, time) : b->low + (b->high - b->low) / 2, time, &is_before));
        if (can_guess && is_before && b->high - b->low > NEAR)
            LODE_TRY(narrow(self, b, b->low + NEAR, time, &is_before));
    }
    return LODE_OK;
}

lode_status lode_uft_cursor_seek(lode_cursor *cursor, uint64_t time, lode_error *error)
{
    struct uft_cursor *self = (struct uft_cursor *)cursor;
    self->error = self->report.error = error;
    LODE_TRY(begin_probing(self));
    forget_state(self, time);
    self->is_done = self->task->file == NULL;
    if (self->is_done)
        return LODE_OK;
    struct bracket b = {0, self->sought_time, self->stream.size, self->track_end};
    if (time > self->sought_time)
        b.low = self->sought;
    else
        b.low_time = self->track_begin;
    uint64_t epoch_end = self->epoch_end;
    self->epoch_end = 0; /* each look has its session */
    LODE_TRY(find(self, &b, time));
    self->sought = b.low;
    self->sought_time = b.low_time;
    LODE_TRY(lode_uft_enter(self, b.low, time));
    if (time >= self->epoch_begin && time < epoch_end)
        self->epoch_end = epoch_end;
    return LODE_OK;
}

uint64_t lode_uft_cursor_position(const lode_cursor *cursor)
{
    return ((const struct uft_cursor *)cursor)->offset;
}

lode_status lode_uft_cursor_resume(lode_cursor *cursor, uint64_t position, uint64_t time, lode_error *error)
{
    struct uft_cursor *self = (struct uft_cursor *)cursor;
    self->error = self->report.error = error;
    forget_state(self, time);
    self->is_done = self->task->file == NULL;
    self->epoch_end = 0;
    return self->is_done ? LODE_OK : lode_uft_enter(self, position, time);
}
