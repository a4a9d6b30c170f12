/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/uftrace/cursor.h"

#include "base/error.h"
#include <stdlib.h>

enum {
    FIRST_FRAMES = 2 * UFT_BATCH,
    UNKNOWN_MAX = 1 << 18,           /* addresses without a name that become functions, per track */
    STRAYS_MAX = 1 << 12,            /* those outside of all modules */
    PIECE = 256 * 1024,              /* fits into a second-level cache */
    PIECE_KEEPS_OPEN = 64 * 1024,    /* smaller pieces are for thousands of cursors at once */
    RECORD_MAX = 16 + 65536 + 8 + 16 /* bytes of a record, its payload, and the next record */
};

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- events ---- */

static lode_status grow_events(struct uft_cursor *self)
{
    return LODE_GROW(self->events, self->event_capacity, self->event_capacity * 2)
               ? LODE_OK
               : lode_fail_memory(self->error);
}

lode_status lode_uft_emit(struct uft_cursor *self, const lode_event *event)
{
    if (self->event_count == self->event_capacity)
        LODE_TRY(grow_events(self));
    self->events[self->event_count++] = *event;
    return LODE_OK;
}

/* ---- calls ---- */

/* frames[-1] never matches, so that an exit needs no test for an empty stack. */
lode_status lode_uft_reserve_frame(struct uft_cursor *self)
{
    if (self->frame_count + 1 < self->frame_capacity)
        return LODE_OK;
    uint32_t capacity = self->frame_capacity ? self->frame_capacity * 2 : FIRST_FRAMES;
    struct uft_frame *base = self->frames ? self->frames - 1 : NULL;
    struct uft_frame *frames = realloc(base, (capacity + (size_t)1) * sizeof *frames);
    LODE_TRY_ALLOC(frames, self->error);
    frames[0] = (struct uft_frame){.known = {.address = UFT_NO_ADDRESS}, .depth = UINT64_MAX};
    self->frames = frames + 1;
    self->frame_capacity = capacity;
    return LODE_OK;
}

/* ---- addresses ---- */

static void forget_addresses(struct uft_cursor *self)
{
    for (size_t i = 0; i < (size_t)self->cache_lines * UFT_CACHE_WAYS; i++)
        self->cache[i] = (struct uft_known){.address = UFT_NO_ADDRESS};
}

/* Inserts an address at the front of its line; if the line is full, the last one is dropped. */
static void put_first(struct uft_cursor *self, struct uft_known known)
{
    struct uft_known *line = uft_cache_line(self->cache, self->cache_lines, known.address);
    memmove(line + 1, line, (UFT_CACHE_WAYS - 1) * sizeof *line);
    line[0] = known;
}

/* A new table of `lines`, with the content of the previous one, if any. */
static lode_status new_cache(struct uft_cursor *self, uint32_t lines)
{
    struct uft_known *before = self->cache;
    size_t count = (size_t)self->cache_lines * UFT_CACHE_WAYS;
    struct uft_known *cache =
        aligned_alloc(UFT_CACHE_WAYS * sizeof *cache, (size_t)lines * UFT_CACHE_WAYS * sizeof *cache);
    LODE_TRY_ALLOC(cache, self->error);
    self->cache = cache;
    self->cache_lines = lines;
    forget_addresses(self);
    for (size_t i = 0; i < count; i++)
        if (before[i].address != UFT_NO_ADDRESS)
            put_first(self, before[i]);
    free(before);
    return LODE_OK;
}

/* ---- shared tables of addresses ---- */

struct uft_shared *lode_uft_shared_open(void)
{
    struct uft_shared *shared = calloc(1, sizeof *shared);
    if (shared)
        pthread_mutex_init(&shared->lock, NULL);
    return shared;
}

void lode_uft_shared_close(struct uft_shared *shared)
{
    if (shared == NULL)
        return;
    pthread_mutex_destroy(&shared->lock);
    free(shared->cache);
    free(shared);
}

/*
 * Before the same epoch end, addresses mean the same in a session: nothing is loaded in between.
 * Copying the table pays off for a long track, but not for thousands of cursors with little memory.
 */
static bool borrow(struct uft_cursor *self, const struct uft_shared *shared)
{
    size_t size = (size_t)shared->cache_lines * UFT_CACHE_WAYS * sizeof *shared->cache;
    if (shared->cache == NULL || shared->session != self->session || shared->epoch_end != self->epoch_end ||
        self->stream.wanted < PIECE_KEEPS_OPEN || self->stream.size / 4 < size)
        return false;
    struct uft_known *cache = aligned_alloc(UFT_CACHE_WAYS * sizeof *cache, size);
    if (cache == NULL)
        return false;
    free(self->cache);
    self->cache = memcpy(cache, shared->cache, size);
    self->cache_lines = shared->cache_lines;
    return true;
}

/* Shares the table, unless it has addresses without a name: each track reports its own. */
static void lend(struct uft_cursor *self)
{
    struct uft_shared *shared = self->rec->shared;
    if (self->cache == NULL || self->session == NULL || self->unknown.count > 0)
        return;
    pthread_mutex_lock(&shared->lock);
    bool is_same = shared->session == self->session && shared->epoch_end == self->epoch_end;
    if (!is_same || self->cache_lines >= shared->cache_lines) {
        struct uft_known *before = shared->cache;
        shared->session = self->session;
        shared->epoch_end = self->epoch_end;
        shared->cache = self->cache;
        shared->cache_lines = self->cache_lines;
        self->cache = before;
    }
    pthread_mutex_unlock(&shared->lock);
}

void lode_uft_begin_epoch(struct uft_cursor *self, uint64_t time)
{
    struct uft_shared *shared = self->rec->shared;
    self->session = lode_uft_session_at(self->rec, self->task, time, &self->epoch_end);
    self->epoch_begin = time;
    pthread_mutex_lock(&shared->lock);
    bool is_borrowed = borrow(self, shared);
    pthread_mutex_unlock(&shared->lock);
    if (is_borrowed)
        return;
    /* Epochs may be short and many: start again with a small table. */
    self->cache_lines = UFT_CACHE_FIRST;
    forget_addresses(self);
}

/* ---- one address ---- */

/* Caches an address. A full line doubles the table; at the maximum, the oldest entry is dropped. */
static lode_status remember(struct uft_cursor *self, uint64_t address, const lode_function *function)
{
    const struct uft_known *line = uft_cache_line(self->cache, self->cache_lines, address);
    if (line[UFT_CACHE_WAYS - 1].address != UFT_NO_ADDRESS && self->cache_lines < UFT_CACHE_LAST)
        LODE_TRY(new_cache(self, self->cache_lines * 2));
    put_first(self, (struct uft_known){address, function});
    return LODE_OK;
}

/*
 * Damage can yield any number of addresses without a name: the first ones of each track become
 * functions, the others share one. So the result does not depend on which tracks are read, or when.
 */
static lode_status find_unnamed(struct uft_cursor *self, uint64_t address, const lode_function **out)
{
    bool is_stray = !lode_uft_is_mapped(self->session, address);
    bool is_full = is_stray ? self->stray_count >= STRAYS_MAX : self->unknown.count >= UNKNOWN_MAX;
    bool is_new = lode_map_get(&self->unknown, address) == NULL;
    *out = is_new && is_full ? lode_uft_other_address(self->rec)
                             : lode_uft_resolve(self->rec, self->session, self->epoch_begin, address);
    if (*out == NULL)
        return lode_fail_memory(self->error);
    if (!is_new || is_full)
        return LODE_OK;
    self->stray_count += is_stray;
    if (lode_map_add(&self->unknown, address, 0, NULL) == NULL)
        return lode_fail_memory(self->error);
    return lode_report_add(&self->report, UFT_ADDRESS_UNKNOWN, self->task->file, self->offset,
                           "address 0x%llx has no name", (unsigned long long)address);
}

lode_status lode_uft_lookup(struct uft_cursor *self, uint64_t address, const lode_function **out)
{
    const struct uft_known *line = uft_cache_line(self->cache, self->cache_lines, address);
    for (unsigned i = 0; i < UFT_CACHE_WAYS; i++)
        if (line[i].address == address) {
            *out = line[i].function;
            return LODE_OK;
        }
    *out = lode_uft_find_named(self->rec, self->session, self->epoch_begin, address);
    if (*out == NULL)
        LODE_TRY(find_unnamed(self, address, out));
    return remember(self, address, *out);
}

/* ---- regular records ---- */

/* Entry and enter, exit and leave have the same values: see take_plain. */
_Static_assert((int)UFT_ENTRY == (int)LODE_EVENT_ENTER && (int)UFT_EXIT == (int)LODE_EVENT_LEAVE, "");

static inline uint64_t word_at(const uint8_t *at, bool big_endian)
{
    return big_endian ? get_u64be(at) : get_u64le(at);
}

/* The cache entry of an address, or one that does not match; branchless. */
static ALWAYS_INLINE const struct uft_known *probe(struct uft_known *cache, uint32_t lines, uint64_t address)
{
    const struct uft_known *line = uft_cache_line(cache, lines, address);
    size_t way = (size_t)(line[1].address == address) + (size_t)(line[2].address == address) * 2 +
                 (size_t)(line[3].address == address) * 3;
    return line + way;
}

/*
 * Consumes records as long as they are regular, and returns their size in bytes: no payload, the
 * expected depth and address, a time that does not go back, no perf event before, a cached address.
 *
 * Entries and exits alternate unpredictably, so no branch may depend on the kind, and compilers
 * turn a conditional expression into one. The call that an entry would begin is therefore always
 * written above the top of the stack, where it is harmless; either way, one frame has to match.
 */
static ALWAYS_INLINE size_t take_plain(struct uft_cursor *self, const uint8_t *bytes, size_t count,
                                       uint64_t stop, bool big_endian)
{
    struct uft_known *cache = self->cache;
    const uint32_t lines = self->cache_lines;
    struct uft_frame *top = self->frames + self->frame_count; /* above the innermost call */
    uint64_t last = self->last_time, left = stop > last ? stop - last : 0, due = self->due;
    lode_event *event = self->events + self->event_count;
    const uint8_t *at = bytes;
    for (const uint8_t *end = bytes + count * UFT_RECORD_SIZE; at < end; at += UFT_RECORD_SIZE) {
        uint64_t time = word_at(at, big_endian), word = word_at(at + 8, big_endian), passed = time - last;
        uint64_t address = word >> 16, depth = word >> 6 & 0x3ff, is_exit = word & UFT_EXIT;
        *top = (struct uft_frame){*probe(cache, lines, address), due};
        struct uft_frame *frame = top - is_exit;
        uint64_t wrong = (word & 0x3e) ^ UFT_MAGIC << 3;
        wrong |= depth ^ frame->depth;
        wrong |= address ^ frame->known.address;
        /* An earlier time wraps around and exceeds the limit. */
        if (wrong || passed >= left)
            break;
        *event++ = (lode_event){.time = time,
                                .function = frame->known.function,
                                .depth = (uint32_t)depth,
                                .kind = (uint8_t)is_exit};
        top = frame + 1 - is_exit;
        due = depth + 1 - is_exit;
        last = time;
        left -= passed;
    }
    self->frame_count = (uint32_t)(top - self->frames);
    self->due = (uint32_t)due;
    self->last_time = last;
    self->event_count = (size_t)(event - self->events);
    return (size_t)(at - bytes);
}

/* Two functions, so that each loop can use all registers. */
static __attribute__((noinline)) size_t take_plain_le(struct uft_cursor *self, const uint8_t *bytes,
                                                      size_t count, uint64_t stop)
{
    return take_plain(self, bytes, count, stop, false);
}

static __attribute__((noinline)) size_t take_plain_be(struct uft_cursor *self, const uint8_t *bytes,
                                                      size_t count, uint64_t stop)
{
    return take_plain(self, bytes, count, stop, true);
}

/* How many records can be consumed at once: each is an event, and may be a call. */
static size_t most_plain(const struct uft_cursor *self, struct lode_range bytes)
{
    uint64_t left = self->until - self->offset;
    uint64_t most = (bytes.size < left ? bytes.size : left) / UFT_RECORD_SIZE;
    size_t room = self->batch < UFT_BATCH ? self->batch : self->event_capacity;
    size_t events = room - self->event_count;
    size_t frames = self->frame_capacity - self->frame_count - 1;
    most = most < events ? most : events;
    return (size_t)(most < frames ? most : frames);
}

/* The time of the next thing that is not a regular record. */
static uint64_t next_stop(const struct uft_cursor *self)
{
    uint64_t stop = self->epoch_end < self->to ? self->epoch_end : self->to;
    /* At the same time, a record precedes an event of perf. */
    if (self->perf < self->perf_end && self->perf->time + 1 < stop)
        stop = self->perf->time + 1;
    /* While the thread is off-CPU, no record is regular. */
    return self->out_of || self->was_lost || !self->has_begun ? 0 : stop;
}

static lode_status take_plain_records(struct uft_cursor *self)
{
    struct lode_range bytes;
    uint64_t stop = next_stop(self);
    if (stop == 0)
        return LODE_OK;
    LODE_TRY(lode_stream_at(&self->stream, self->offset, UFT_RECORD_SIZE, &bytes, self->error));
    size_t most = most_plain(self, bytes);
    self->offset += self->rec->info.big_endian ? take_plain_be(self, bytes.data, most, stop)
                                               : take_plain_le(self, bytes.data, most, stop);
    return LODE_OK;
}

/* ---- the cursor ---- */

/* Whether the piece has another record, without moving the stream, which the batch borrows from. */
static bool can_go_on(const struct uft_cursor *self)
{
    const struct lode_stream *stream = &self->stream;
    uint64_t end = stream->piece_at + stream->piece.size;
    if (self->offset >= self->until)
        return false;
    return !self->has_payload || end >= stream->size ||
           (self->offset >= stream->piece_at && self->offset + RECORD_MAX <= end);
}

static lode_status fill(struct uft_cursor *self)
{
    struct lode_range ahead;
    self->event_count = 0;
    /* Room for many records with payloads, unless pieces are small. */
    if (self->has_payload && self->stream.wanted > 2 * (size_t)RECORD_MAX)
        LODE_TRY(lode_stream_at(&self->stream, self->offset, RECORD_MAX, &ahead, self->error));
    self->has_payload = self->is_paused = false;
    while (!self->is_done && !self->is_paused && self->event_count < self->batch && can_go_on(self)) {
        LODE_TRY(take_plain_records(self));
        if (self->event_count < self->batch && can_go_on(self))
            LODE_TRY(lode_uft_take_record(self));
    }
    return LODE_OK;
}

lode_status lode_uft_cursor_next(lode_cursor *cursor, const lode_event **events, size_t *count,
                                 lode_error *error)
{
    struct uft_cursor *self = (struct uft_cursor *)cursor;
    self->error = self->report.error = error;
    *count = 0;
    LODE_TRY(fill(self));
    cursor->repairs = report_count(&self->report);
    if (self->event_count == 0)
        return LODE_END;
    *events = self->events;
    *count = self->event_count;
    return LODE_OK;
}

void lode_uft_cursor_close(lode_cursor *cursor)
{
    struct uft_cursor *self = (struct uft_cursor *)cursor;
    lend(self);
    lode_stream_close(&self->stream);
    lode_report_close(&self->report);
    free(self->frames ? self->frames - 1 : NULL);
    free(self->events);
    free(self->cache);
    lode_map_free(&self->unknown);
    free(self);
}

struct lode_report *lode_uft_cursor_report(lode_cursor *cursor)
{
    return &((struct uft_cursor *)cursor)->report;
}

static lode_status open_stream(struct uft_cursor *self, size_t buffer)
{
    size_t piece = buffer ? buffer : PIECE;
    if (self->task->file == NULL)
        return LODE_ABSENT;
    return lode_stream_open(&self->stream, &self->rec->folder, self->task->file, piece,
                            piece >= PIECE_KEEPS_OPEN, self->error);
}

static lode_status prepare(struct uft_cursor *self, const lode_cursor_options *options)
{
    self->event_capacity = self->batch = UFT_BATCH;
    self->events = calloc(self->event_capacity, sizeof *self->events);
    LODE_TRY_ALLOC(self->events, self->error);
    LODE_TRY(lode_uft_reserve_frame(self));
    LODE_TRY(new_cache(self, UFT_CACHE_FIRST));
    if (self->task->perf) {
        self->perf = self->perf_begin = &self->rec->perf.events[self->task->perf->first];
        self->perf_end = self->perf + self->task->perf->count;
    }
    lode_status status = open_stream(self, options->buffer);
    if (status < 0)
        return status;
    self->is_done = status == LODE_ABSENT;
    return status == LODE_OK && options->from > 0 ? lode_uft_seek(self, options->from) : LODE_OK;
}

static struct uft_cursor *new_cursor(const lode_recording *recording, uint32_t track, lode_error *error)
{
    struct uft_cursor *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->base.recording = recording;
    self->rec = uft_of(recording);
    self->track = &recording->tracks[track];
    self->task = &self->rec->tasks[track];
    self->stream.fd = -1;
    lode_map_init(&self->unknown);
    self->to = self->until = UINT64_MAX;
    self->can_wrap = self->rec->info.max_stack > 1024;
    self->error = error;
    return self;
}

static lode_status finish_opening(lode_cursor **out, struct uft_cursor *self, lode_status status,
                                  const lode_cursor_options *options)
{
    if (status == LODE_OK)
        status = prepare(self, options);
    if (status == LODE_OK)
        *out = &self->base;
    else
        lode_uft_cursor_close(&self->base);
    return status;
}

lode_status lode_uft_cursor_open(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                 const lode_cursor_options *options, lode_error *error)
{
    struct uft_cursor *self = new_cursor(recording, track, error);
    lode_status status = LODE_OK;
    LODE_TRY_ALLOC(self, error);
    if (options->to > 0)
        self->to = options->to;
    status = lode_report_begin(&self->report, recording->rules, recording->rule_count, options->strict,
                               options->on_finding, options->user, error);
    return finish_opening(out, self, status, options);
}

lode_status lode_uft_cursor_open_kept(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                      const struct lode_report *model, lode_error *error)
{
    static const lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    struct uft_cursor *self = new_cursor(recording, track, error);
    LODE_TRY_ALLOC(self, error);
    return finish_opening(out, self, lode_report_keep(&self->report, model, error), &options);
}
