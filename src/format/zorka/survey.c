/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The survey: finds all traces. Workers unpack chunks and note calls that begin at the outermost
 * level reached. The number of calls that are open when a chunk begins depends on all chunks before
 * it, so the notes are then combined in order.
 */
#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/zorka/zorka.h"
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 16,    /* chunks that a worker takes at once */
    OPEN_MAX = 64, /* traces that may continue; beyond, the oldest is dropped */
    WORKERS_MAX = 64,
    TRACES_MIN = 64 /* allowed per chunk, and one more for each two stored bytes */
};

/* A part of a chunk that begins with an outermost call, or the part before the first such call. */
struct piece {
    uint64_t begin, end;
    int64_t level; /* open calls relative to the beginning of the chunk: 0 or less */
    bool is_call, has_start, has_tick;
    uint64_t start, method, stamp; /* of the call; 0: not known */
    uint64_t first_tick, last_tick;
    int32_t pid, tid;
    struct zor_id id;
};

/* The pieces of one chunk. */
struct notes {
    struct zor_damage damage;
    uint64_t damaged_at; /* offset in the payload of malformed events */
    struct lode_array pieces;
    bool is_page;        /* has tags of the documented layout */
    int64_t lowest, end; /* of the level */
};

struct open_trace {
    uint32_t trace;
    uint64_t depth, last_tick;
    bool has_loss;
};

struct survey {
    struct zor_recording *rec;
    struct lode_report *report;
    struct lode_progress progress; /* in bytes of chunks */
    struct zor_unpacker unpackers[WORKERS_MAX];
    struct notes *notes;              /* of all chunks; emptied when they are done */
    struct open_trace open[OPEN_MAX]; /* the one that continued last is last */
    size_t open_count;
    uint32_t store; /* of the open ones */
};

/* ---- one chunk ---- */

/* The outermost call of the piece, as long as only numbers were read. */
struct reading {
    const struct zor_store *store;
    struct notes *notes;
    struct piece *piece;
    int64_t level;
    bool is_pending;
};

static bool add_piece(struct reading *reading, const struct zor_event *event)
{
    bool is_call = event->kind == ZOR_CALL;
    if (reading->piece)
        reading->piece->end = event->at;
    reading->piece = lode_array_push(&reading->notes->pieces);
    if (reading->piece == NULL)
        return false;
    /* The first piece of a chunk may begin inside of a map. */
    *reading->piece =
        (struct piece){.begin = is_call ? event->at : 0, .level = reading->notes->lowest, .is_call = is_call};
    return true;
}

static struct zor_id id_of(const struct zor_event *event)
{
    struct zor_id id = {0, 0};
    if (event->value.major == ZOR_UNSIGNED)
        id.low = event->value.value;
    for (uint64_t i = 0; event->value.major == ZOR_BYTES && i < event->content.size && i < 16; i++) {
        id.high = id.high << 8 | id.low >> 56;
        id.low = id.low << 8 | event->content.data[i];
    }
    for (uint64_t i = 0; event->value.major == ZOR_TEXT && i < event->content.size; i++) {
        uint8_t byte = event->content.data[i];
        unsigned digit = byte <= '9' ? (unsigned)byte - '0' : ((unsigned)byte | 0x20u) - 'a' + 10;
        if (digit > 15)
            continue;
        id.high = id.high << 4 | id.low >> 60;
        id.low = id.low << 4 | digit;
    }
    return id;
}

/* For the outermost call. */
static void take_info(struct piece *piece, const struct zor_event *event, bool is_pending)
{
    uint64_t value = event->value.value;
    if (event->key == ZOR_KEY_TRACE_ID && !zor_id_is_known(piece->id))
        piece->id = id_of(event);
    if (event->value.major != ZOR_UNSIGNED)
        return;
    if (event->key == ZOR_KEY_START && is_pending && !piece->has_start && value < ZOR_TICKS_END) {
        piece->has_start = true;
        piece->start = value;
    }
    if (event->key == ZOR_KEY_METHOD && piece->method == 0)
        piece->method = value;
    if (event->key == ZOR_KEY_STAMP && piece->stamp == 0 && value < ZOR_STAMPS_END)
        piece->stamp = value;
}

/* For the outermost call: where it ran. */
static void take_attribute(const struct zor_store *store, struct piece *piece, const struct zor_event *event)
{
    if (event->key == store->process_key && event->key > 0)
        piece->pid = lode_zor_whole(&store->structures[event->is_page], event->value_bytes);
    if (event->key == store->thread_key && event->key > 0)
        piece->tid = lode_zor_whole(&store->structures[event->is_page], event->value_bytes);
}

static inline void take_tick(struct piece *piece, uint64_t tick)
{
    if (tick >= ZOR_TICKS_END)
        return;
    if (!piece->has_tick)
        piece->first_tick = tick;
    piece->has_tick = true;
    piece->last_tick = tick > piece->last_tick ? tick : piece->last_tick;
}

static inline bool is_tick(uint64_t key)
{
    return key == ZOR_KEY_START || key == ZOR_KEY_STOP;
}

/* Skips common calls inside the outermost one and their numbers; only ticks matter. */
static void skim(struct reading *reading, struct zor_events *events)
{
    struct piece *piece = reading->piece;
    int64_t level = reading->level, outermost = piece ? piece->level + piece->is_call : level;
    if (level <= outermost || !zor_is_common(events))
        return;
    const uint8_t *at = events->in.data + events->in.at;
    const uint8_t *last = events->in.data + events->in.size - ZOR_COMMON_SIZE;
    while (level > outermost && at <= last) {
        uint64_t value;
        unsigned size;
        if (zor_is_info(at) && (size = zor_common_number(at + 3, &value)) > 0) {
            if (is_tick(at[2]))
                take_tick(piece, value);
            at += 3 + size;
        } else if (at[0] == (0xc0 | ZOR_TAG_RECORD) && at[1] == 0x9f) {
            at += 2;
            level++;
        } else if (at[0] == 0xff) {
            at++;
            level--;
        } else {
            break;
        }
    }
    events->in.at = (uint64_t)(at - events->in.data);
    reading->level = level;
}

static bool take_event(struct reading *reading, const struct zor_event *event)
{
    struct notes *notes = reading->notes;
    bool begins = event->kind == ZOR_CALL && reading->level == notes->lowest;
    if ((begins || reading->piece == NULL) && !add_piece(reading, event))
        return false;
    struct piece *piece = reading->piece;
    if (event->kind == ZOR_INFO) {
        if (reading->level == piece->level + piece->is_call)
            take_info(piece, event, reading->is_pending);
        if (is_tick(event->key) && event->value.major == ZOR_UNSIGNED)
            take_tick(piece, event->value.value);
        return true;
    }
    if (event->kind == ZOR_ATTRIBUTE && piece->is_call && reading->level == piece->level + 1)
        take_attribute(reading->store, piece, event);
    reading->is_pending = begins;
    if (event->kind == ZOR_CALL)
        reading->level++;
    if (event->kind == ZOR_RETURN)
        reading->level--;
    notes->lowest = reading->level < notes->lowest ? reading->level : notes->lowest;
    return true;
}

/* At most `most` traces may begin: millions compress to little, but each takes memory. */
static bool read_payload(const struct zor_store *store, struct notes *notes, struct lode_range payload,
                         size_t most)
{
    struct reading reading = {.store = store, .notes = notes};
    bool is_full = false;
    struct zor_events events;
    struct zor_event event;
    zor_events_begin(&events, payload);
    while (!is_full && zor_next_event(&events, &event)) {
        is_full = notes->pieces.count > most;
        if (!is_full && !take_event(&reading, &event))
            return false;
        skim(&reading, &events);
    }
    uint64_t end = is_full ? event.at : events.in.at;
    if (reading.piece)
        reading.piece->end = end;
    notes->end = reading.level;
    notes->is_page = events.is_page;
    if (events.is_malformed || is_full) {
        notes->damage = (struct zor_damage){ZOR_CHUNK_EVENTS,
                                            is_full ? "too many requests begin" : "an event is malformed"};
        notes->damaged_at = end;
    }
    return true;
}

static lode_status read_chunk(struct survey *self, size_t index, struct zor_unpacker *unpacker,
                              lode_error *error)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, index);
    const struct zor_store *store = &self->rec->stores[chunk->store];
    struct notes *notes = &self->notes[index];
    struct lode_range payload;
    lode_array_init(&notes->pieces, sizeof(struct piece), UINT32_MAX / 2);
    if (!lode_zor_unpack(unpacker, &store->data, chunk, &payload, &notes->damage))
        return lode_fail_memory(error);
    if (zor_can_be_read(&notes->damage) &&
        !read_payload(store, notes, payload, TRACES_MIN + chunk->csize / 2))
        return lode_fail_memory(error);
    return LODE_OK;
}

static lode_status read_batch(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct survey *self = context;
    size_t end = (size_t)(item + 1) * BATCH;
    end = end < self->rec->chunks.count ? end : self->rec->chunks.count;
    for (size_t i = (size_t)item * BATCH; i < end; i++)
        LODE_TRY(read_chunk(self, i, &self->unpackers[worker], error));
    return LODE_OK;
}

/* ---- traces ---- */

static lode_status add_segment(struct survey *self, uint32_t trace_index, uint32_t chunk,
                               const struct piece *piece, bool is_behind_loss)
{
    struct zor_trace *trace = LODE_ARRAY_AT(&self->rec->traces, struct zor_trace, trace_index);
    uint32_t index = (uint32_t)self->rec->segments.count;
    struct zor_segment *last = trace->last == LODE_NO_INDEX
                                   ? NULL
                                   : LODE_ARRAY_AT(&self->rec->segments, struct zor_segment, trace->last);
    uint64_t size = piece->end - piece->begin;
    trace->bytes = size > UINT32_MAX - trace->bytes ? UINT32_MAX : trace->bytes + (uint32_t)size;
    trace->stop = piece->has_tick && piece->last_tick > trace->stop ? piece->last_tick : trace->stop;
    if (last && last->chunk == chunk && last->end == piece->begin) {
        last->end = (uint32_t)piece->end;
        return LODE_OK;
    }
    if (last)
        last->next = index;
    else
        trace->first = index;
    trace->last = index;
    struct zor_segment *segment = lode_array_push(&self->rec->segments);
    LODE_TRY_ALLOC(segment, self->report->error);
    *segment = (struct zor_segment){chunk, (uint32_t)piece->begin, (uint32_t)piece->end, LODE_NO_INDEX,
                                    is_behind_loss};
    return LODE_OK;
}

static lode_status add_trace(struct survey *self, const struct zor_chunk *chunk, const struct piece *piece,
                             uint32_t *index)
{
    const struct zor_store *store = &self->rec->stores[chunk->store];
    const struct zor_meta *meta = lode_zor_meta(&store->metas, chunk->offset, piece->begin);
    *index = (uint32_t)self->rec->traces.count;
    struct zor_trace *trace = lode_array_push(&self->rec->traces);
    LODE_TRY_ALLOC(trace, self->report->error);
    uint64_t start = piece->has_start ? piece->start : piece->first_tick;
    *trace = (struct zor_trace){.store = chunk->store,
                                .first = LODE_NO_INDEX,
                                .last = LODE_NO_INDEX,
                                .method = piece->method,
                                .id = meta && !zor_id_is_known(piece->id) ? meta->id : piece->id,
                                .has_error = meta && meta->has_error,
                                .pid = piece->pid,
                                .tid = piece->tid,
                                .start = start,
                                .stop = start,
                                .stamp = piece->stamp};
    if (piece->stamp == 0)
        return lode_report_add(self->report, ZOR_TRACE_STAMP, store->data_file, chunk->offset,
                               "a request has no time stamp");
    return LODE_OK;
}

static void close_open(struct survey *self, size_t at)
{
    memmove(&self->open[at], &self->open[at + 1], (self->open_count - at - 1) * sizeof *self->open);
    self->open_count--;
}

static void push_open(struct survey *self, struct open_trace open)
{
    if (self->open_count == OPEN_MAX)
        close_open(self, 0);
    self->open[self->open_count++] = open;
}

/* ---- continued traces ---- */

/* The open trace of an id, or open_count. */
static size_t find_by_id(const struct survey *self, struct zor_id id)
{
    for (size_t i = self->open_count; i-- > 0;)
        if (zor_id_is_same(LODE_ARRAY_AT(&self->rec->traces, struct zor_trace, self->open[i].trace)->id, id))
            return i;
    return self->open_count;
}

/* The last continued trace whose calls and ticks fit; else the last continued one. */
static size_t find_fitting(const struct survey *self, const struct notes *notes)
{
    const struct piece *first = LODE_ARRAY_AT(&notes->pieces, struct piece, 0);
    for (size_t i = self->open_count; i-- > 0;)
        if (self->open[i].depth >= (uint64_t)-notes->lowest &&
            (!first->has_tick || first->first_tick >= self->open[i].last_tick))
            return i;
    return self->open_count - 1;
}

/* Which of the open traces continues in a chunk; open_count: none. */
static lode_status find_open(struct survey *self, const struct zor_chunk *chunk, const struct notes *notes,
                             const struct zor_meta *meta, size_t *found)
{
    const struct piece *first = LODE_ARRAY_AT(&notes->pieces, struct piece, 0);
    *found = self->open_count;
    if (self->open_count == 0)
        return LODE_OK;
    if (!first->is_call && zor_id_is_known(first->id)) {
        *found = find_by_id(self, first->id);
        return LODE_OK;
    }
    if (meta) {
        if (meta->is_continued)
            *found = find_by_id(self, meta->id);
        return LODE_OK;
    }
    /* A call with a time stamp begins a trace; a nested one is rarely the first in a chunk. */
    if (first->is_call && first->begin == 0 && first->stamp > 0)
        return LODE_OK;
    *found = find_fitting(self, notes);
    if (self->open_count == 1)
        return LODE_OK;
    return lode_report_add(self->report, ZOR_TRACE_AMBIGUOUS, self->rec->stores[chunk->store].data_file,
                           chunk->offset, "%zu requests may continue here", self->open_count);
}

/* ---- combining the notes ---- */

/* Assigns the pieces of a chunk; `open` is the trace that continues, and then the one left open. */
static lode_status take_pieces(struct survey *self, uint32_t index, struct open_trace *open)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, index);
    const struct notes *notes = &self->notes[index];
    bool has_orphan = false;
    uint64_t depth = open->depth;
    for (size_t i = 0; i < notes->pieces.count; i++) {
        const struct piece *piece = LODE_ARRAY_AT(&notes->pieces, struct piece, i);
        if (piece->is_call && (uint64_t)-piece->level >= depth) {
            *open = (struct open_trace){.trace = LODE_NO_INDEX};
            LODE_TRY(add_trace(self, chunk, piece, &open->trace));
        }
        has_orphan = has_orphan || open->trace == LODE_NO_INDEX;
        if (open->trace == LODE_NO_INDEX)
            continue;
        LODE_TRY(add_segment(self, open->trace, index, piece, open->has_loss));
        open->has_loss = false;
        open->last_tick =
            piece->has_tick && piece->last_tick > open->last_tick ? piece->last_tick : open->last_tick;
    }
    uint64_t lowest = (uint64_t)-notes->lowest;
    open->depth = (uint64_t)notes->end + (lowest > depth ? lowest : depth);
    if (!has_orphan)
        return LODE_OK;
    return lode_report_add(self->report, ZOR_TRACE_ORPHAN, self->rec->stores[chunk->store].data_file,
                           chunk->offset, "a request continues here, but its beginning is missing");
}

static lode_status take_notes(struct survey *self, uint32_t index)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, index);
    const struct notes *notes = &self->notes[index];
    const struct zor_meta *meta = lode_zor_meta(&self->rec->stores[chunk->store].metas, chunk->offset, 0);
    struct open_trace open = {.trace = LODE_NO_INDEX};
    size_t found;
    LODE_TRY(find_open(self, chunk, notes, meta, &found));
    if (found < self->open_count) {
        open = self->open[found];
        close_open(self, found);
    }
    LODE_TRY(take_pieces(self, index, &open));
    open.has_loss = open.has_loss || !zor_can_be_read(&notes->damage);
    if (open.trace != LODE_NO_INDEX && open.depth > 0)
        push_open(self, open);
    return LODE_OK;
}

static lode_status take_chunk(struct survey *self, uint32_t index)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, index);
    const struct notes *notes = &self->notes[index];
    if (chunk->store != self->store)
        self->open_count = 0;
    self->store = chunk->store;
    if (notes->damage.rule >= 0)
        LODE_TRY(lode_report_add(self->report, (unsigned)notes->damage.rule,
                                 self->rec->stores[chunk->store].data_file, chunk->offset,
                                 "%s (at unpacked offset 0x%llx)", notes->damage.text,
                                 (unsigned long long)notes->damaged_at));
    struct zor_store *store = &self->rec->stores[chunk->store];
    store->has_page_layout = store->has_page_layout || (notes->pieces.count > 0 && notes->is_page);
    store->has_real_layout = store->has_real_layout || (notes->pieces.count > 0 && !notes->is_page);
    if (notes->pieces.count > 0)
        return take_notes(self, index);
    for (size_t i = 0; i < self->open_count && !zor_can_be_read(&notes->damage); i++)
        self->open[i].has_loss = true;
    return LODE_OK;
}

static lode_status finish_batch(void *context, uint64_t item, lode_error *error)
{
    struct survey *self = context;
    self->report->error = error;
    size_t end = (size_t)(item + 1) * BATCH;
    end = end < self->rec->chunks.count ? end : self->rec->chunks.count;
    uint64_t bytes = 0;
    for (size_t i = (size_t)item * BATCH; i < end; i++) {
        LODE_TRY(take_chunk(self, (uint32_t)i));
        lode_array_free(&self->notes[i].pieces);
        bytes += LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, i)->csize;
    }
    return lode_progress_add(&self->progress, bytes, error);
}

lode_status lode_zor_survey(struct zor_recording *rec, const struct zor_survey_options *options,
                            struct lode_report *report, lode_error *error)
{
    size_t count = rec->chunks.count;
    uint64_t batches = (count + BATCH - 1) / BATCH;
    unsigned threads = lode_pool_threads(options->threads, batches);
    struct survey *self = calloc(1, sizeof *self);
    if (self)
        self->notes = calloc(count + 1, sizeof *self->notes);
    if (self == NULL || self->notes == NULL) {
        free(self);
        return lode_fail_memory(error);
    }
    self->rec = rec;
    self->report = report;
    self->progress = (struct lode_progress){options->on_progress, options->user, "opening", 0, 0};
    for (size_t i = 0; i < count; i++)
        self->progress.total += LODE_ARRAY_AT(&rec->chunks, struct zor_chunk, i)->csize;
    struct lode_job job = {.items = batches, .work = read_batch, .finish = finish_batch, .context = self};
    lode_status status = lode_pool_run(threads < WORKERS_MAX ? threads : WORKERS_MAX, &job, error);
    report->error = error;
    for (size_t i = 0; i < count; i++)
        lode_array_free(&self->notes[i].pieces);
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        lode_zor_unpacker_free(&self->unpackers[i]);
    free(self->notes);
    free(self);
    return status;
}
