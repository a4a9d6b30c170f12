/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads one data file. A short loop (cursor.c) consumes regular records; all others are repaired
 * one at a time (repair.c). seek.c finds a time, or the next record after damage.
 */
#ifndef LODE_UFTRACE_CURSOR_H
#define LODE_UFTRACE_CURSOR_H

#include "base/io/bytes.h"
#include "base/io/stream.h"
#include "format/uftrace/read.h"

enum {
    UFT_ENTRY,
    UFT_EXIT,
    UFT_LOST,
    UFT_EVENT
};

enum {
    UFT_MAGIC = 5,
    UFT_FRAMES_MAX = 1 << 16, /* recorders count depth in 16 bits */
    UFT_CACHE_WAYS = 4,       /* slots for an address: one cache line */
    UFT_CACHE_FIRST = 1 << 5, /* lines, initial and maximum; powers of two */
    UFT_CACHE_LAST = 1 << 15,
    UFT_BATCH = 512 /* events in a batch, except after long repairs */
};

/* A record of the file. */
struct uft_record {
    uint64_t time, address;
    uint32_t depth; /* as stored: modulo 1024 */
    unsigned type;
    bool is_unknown; /* it has a payload of unknown length */
    uint64_t offset;
    uint64_t next; /* offset of the next record, or of the unknown payload */
    struct lode_range payload;
};

/* An address and its function. */
struct uft_known {
    uint64_t address;
    const lode_function *function;
};
#define UFT_NO_ADDRESS UINT64_MAX /* matches none: addresses have 48 bits */

/* An open call. */
struct uft_frame {
    struct uft_known known;
    uint64_t depth;
};

struct uft_cursor {
    struct lode_cursor base;
    const struct uft_recording *rec;
    const lode_track *track;
    const struct uft_task *task;
    struct lode_stream stream;
    uint64_t offset; /* of the next record */
    uint64_t to;     /* events at this time and later are left out */
    uint64_t until;  /* the offset of the first record of the next piece, or UINT64_MAX */
    uint64_t last_time;
    bool has_begun;           /* a record has been read */
    bool is_window;           /* the cursor started in the middle of the track */
    bool is_done;             /* all events are delivered */
    bool was_lost;            /* the last record reports lost records */
    bool can_wrap;            /* the recorder may have counted beyond 1023 */
    bool has_payload;         /* the batch has events whose data is in the stream's buffer */
    bool is_paused;           /* deliver the batch before anything else is read */
    struct uft_frame *frames; /* frames[-1] is no call, and matches no record */
    uint32_t frame_count, frame_capacity;
    uint32_t due;    /* the depth that an entry should have now */
    uint32_t unseen; /* in a time window: calls that were open before it and still are */
    lode_event *events;
    size_t event_count, event_capacity;
    size_t batch; /* events after which a batch is complete */

    /* Of probe.c: the last offset that was found, and its time, before the one that was sought. */
    uint64_t sought, sought_time, track_begin, track_end;

    /* Valid until `epoch_end`: the meaning of addresses. */
    const struct uft_session *session;
    uint64_t epoch_begin, epoch_end;
    struct uft_known *cache; /* resolved addresses, in lines of UFT_CACHE_WAYS */
    uint32_t cache_lines;
    struct lode_map unknown; /* addresses without a name that were reported */
    uint32_t stray_count;    /* of these, outside of all modules */

    /* Scheduling, from the perf files. */
    const struct lode_uft_perf_event *perf, *perf_begin, *perf_end;
    const lode_function *out_of; /* the state while the thread is off-CPU; NULL: it runs */
    unsigned out_flags;

    struct lode_report report;
    lode_error *error; /* of the current call */
};

static inline struct uft_known *uft_cache_line(struct uft_known *cache, uint32_t lines, uint64_t address)
{
    uint32_t line = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (lines - 1);
    return cache + (size_t)line * UFT_CACHE_WAYS;
}

/* Clears the cache: another session, or more libraries, apply from this time on. */
void lode_uft_begin_epoch(struct uft_cursor *self, uint64_t time);
/* Reserves space for one more call, and some more. */
lode_status lode_uft_reserve_frame(struct uft_cursor *self);
/* Adds an event to the batch. */
lode_status lode_uft_emit(struct uft_cursor *self, const lode_event *event);
/* The function at an address in the current epoch. */
lode_status lode_uft_lookup(struct uft_cursor *self, uint64_t address, const lode_function **out);

/* Reads the record at an offset. LODE_END: end of file; LODE_NOT_FOUND: no complete record. */
lode_status lode_uft_record_at(struct uft_cursor *self, uint64_t offset, struct uft_record *out);
/* The offset of the next record after damage, at or after `from`, or the end of the file. */
lode_status lode_uft_resync(struct uft_cursor *self, uint64_t from, uint64_t *out);
/* The time of the first record that has one, from an offset on; LODE_END if there is none. */
lode_status lode_uft_first_time(struct uft_cursor *self, uint64_t from, uint64_t *time);
/* Moves to the first record that is not before `time`. */
lode_status lode_uft_seek(struct uft_cursor *self, uint64_t time);
/* The same, from the offset of a record before it on, one record after the other. */
lode_status lode_uft_enter(struct uft_cursor *self, uint64_t offset, uint64_t time);
/*
 * The offset and time of the first record at or after an offset and before `limit` that is
 * certainly one, and not before a time; LODE_NOT_FOUND if there is none.
 */
lode_status lode_uft_time_after(struct uft_cursor *self, uint64_t from, uint64_t limit, uint64_t not_before,
                                uint64_t *offset, uint64_t *time);

/* Consumes one record, valid or not, and the perf events before it. */
lode_status lode_uft_take_record(struct uft_cursor *self);
/* The thread is off-CPU since an event of perf. */
void lode_uft_set_state(struct uft_cursor *self, const struct lode_uft_perf_event *event);
/* Everything after the last record: scheduling, and the ends of open calls. */
lode_status lode_uft_finish(struct uft_cursor *self);

#endif
