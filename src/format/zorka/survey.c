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
    BATCH = 16,            /* chunks that a worker takes at once, at most */
    BATCH_BYTES = 1 << 20, /* unpacked: a chunk that reaches this is the last of its batch */
    PIECES = 4096,         /* of a batch: memory for more is freed at once */
    OPEN_MAX = 64,         /* traces that may continue; beyond, the oldest is dropped */
    WORKERS_MAX = 64,
    TRACES_MIN = 64 /* allowed per chunk, and one more for each two stored bytes */
};

/* A part of a chunk that begins with an outermost call, or the part before the first such call. */
struct piece {
    uint32_t begin, end;
    int32_t level; /* open calls relative to the beginning of the chunk: 0 or less */
    bool is_call, has_start, has_tick;
    uint64_t start, method, stamp; /* of the call; 0: not known */
    uint64_t first_tick, last_tick;
    int32_t pid, tid;
    struct zor_id id;
};

/* The pieces of one chunk. */
struct notes {
    struct zor_damage damage;
    uint64_t damaged_at;       /* offset in the payload of malformed events */
    struct lode_array *pieces; /* of its batch */
    size_t first, count;       /* of them */
    bool is_page;              /* has tags of the documented layout */
    int64_t lowest, end;       /* of the level */
};

struct batch {
    struct notes notes[BATCH];
    struct lode_array pieces; /* struct piece */
};

struct open_trace {
    uint32_t trace;
    uint32_t last; /* 1 + the index of its last further segment; 0: it has none */
    struct zor_id id;
    uint64_t depth, last_tick;
    bool has_loss;
};

struct survey {
    struct zor_recording *rec;
    struct lode_report *report;
    struct lode_progress progress; /* in bytes of chunks */
    struct zor_unpacker unpackers[WORKERS_MAX];
    struct lode_array firsts;         /* uint32_t: the first chunk of each batch, and the end */
    struct batch *batches;            /* a ring: those that are read and not finished */
    unsigned window;                  /* its size */
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

static const struct piece *piece_at(const struct notes *notes, size_t index)
{
    return LODE_ARRAY_AT(notes->pieces, struct piece, notes->first + index);
}

/* A chunk has at most ZOR_CHUNK_MAX bytes. */
static bool add_piece(struct reading *reading, const struct zor_event *event)
{
    bool is_call = event->kind == ZOR_CALL;
    if (reading->piece)
        reading->piece->end = (uint32_t)event->at;
    reading->piece = lode_array_push(reading->notes->pieces);
    if (reading->piece == NULL)
        return false;
    reading->notes->count++;
    /* The first piece of a chunk may begin inside of a map. */
    reading->piece->begin = is_call ? (uint32_t)event->at : 0;
    reading->piece->level = (int32_t)reading->notes->lowest;
    reading->piece->is_call = is_call;
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
        is_full = notes->count > most;
        if (!is_full && !take_event(&reading, &event))
            return false;
        skim(&reading, &events);
    }
    uint64_t end = is_full ? event.at : events.in.at;
    if (reading.piece)
        reading.piece->end = (uint32_t)end;
    notes->end = reading.level;
    notes->is_page = events.is_page;
    if (events.is_malformed || is_full) {
        notes->damage = (struct zor_damage){ZOR_CHUNK_EVENTS,
                                            is_full ? "too many requests begin" : "an event is malformed"};
        notes->damaged_at = end;
    }
    return true;
}

static lode_status read_chunk(struct survey *self, size_t index, struct notes *notes,
                              struct zor_unpacker *unpacker, lode_error *error)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, index);
    const struct zor_store *store = &self->rec->stores[chunk->store];
    struct lode_range payload;
    if (!lode_zor_unpack(unpacker, &store->data, chunk, &payload, &notes->damage))
        return lode_fail_memory(error);
    if (zor_can_be_read(&notes->damage) &&
        !read_payload(store, notes, payload, TRACES_MIN + chunk->csize / 2))
        return lode_fail_memory(error);
    return LODE_OK;
}

/* The first chunk of a batch; of the next one: where it ends. */
static uint32_t batch_begin(const struct survey *self, uint64_t item)
{
    return *LODE_ARRAY_AT(&self->firsts, uint32_t, item);
}

static lode_status read_batch(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct survey *self = context;
    struct batch *batch = &self->batches[item % self->window];
    uint32_t first = batch_begin(self, item), end = batch_begin(self, item + 1);
    batch->pieces.count = 0;
    for (uint32_t i = first; i < end; i++) {
        struct notes *notes = &batch->notes[i - first];
        *notes = (struct notes){.pieces = &batch->pieces, .first = batch->pieces.count};
        LODE_TRY(read_chunk(self, i, notes, &self->unpackers[worker], error));
    }
    return LODE_OK;
}

/* ---- traces ---- */

static struct zor_segment *last_segment(struct survey *self, const struct open_trace *open)
{
    if (open->last > 0)
        return LODE_ARRAY_AT(&self->rec->segments, struct zor_segment, open->last - 1);
    return &LODE_ARRAY_AT(&self->rec->traces, struct zor_trace, open->trace)->first;
}

static uint64_t length_of(const struct piece *piece, uint64_t start)
{
    return piece->has_tick && piece->last_tick > start ? piece->last_tick - start : 0;
}

/* A trace that is open continues. */
static lode_status add_segment(struct survey *self, struct open_trace *open, uint32_t chunk,
                               const struct piece *piece)
{
    struct zor_trace *trace = LODE_ARRAY_AT(&self->rec->traces, struct zor_trace, open->trace);
    lode_track *track = LODE_ARRAY_AT(&self->rec->tracks, lode_track, open->trace);
    struct zor_segment *last = last_segment(self, open);
    uint64_t bytes = track->bytes + piece->end - piece->begin, length = length_of(piece, trace->start);
    track->bytes = bytes > UINT32_MAX ? UINT32_MAX : bytes;
    trace->length = length > trace->length ? length : trace->length;
    if (last->chunk == chunk && last->end == piece->begin) {
        last->end = piece->end;
        return LODE_OK;
    }
    struct zor_segment *segment = lode_array_push(&self->rec->segments);
    LODE_TRY_ALLOC(segment, self->report->error);
    *segment = (struct zor_segment){chunk, piece->begin, piece->end, 0, open->has_loss, 0};
    last_segment(self, open)->next = self->rec->segments.count & ZOR_SEGMENT_MASK;
    open->last = (uint32_t)self->rec->segments.count;
    return LODE_OK;
}

/* A trace begins with a piece. */
static lode_status add_trace(struct survey *self, uint32_t index, const struct piece *piece,
                             struct open_trace *open)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, index);
    const struct zor_store *store = &self->rec->stores[chunk->store];
    const struct zor_meta *meta = lode_zor_meta(&store->metas, chunk->offset, piece->begin);
    uint64_t start = piece->has_start ? piece->start : piece->first_tick;
    struct zor_begun begun = {.trace = {.start = start,
                                        .length = length_of(piece, start),
                                        .stamp = piece->stamp,
                                        .first = {.chunk = index, .begin = piece->begin, .end = piece->end}},
                              .id = meta && !zor_id_is_known(piece->id) ? meta->id : piece->id,
                              .method = piece->method,
                              .pid = piece->pid,
                              .tid = piece->tid};
    begun.trace.first.has_error = meta && meta->has_error;
    *open = (struct open_trace){.trace = (uint32_t)self->rec->traces.count, .id = begun.id};
    LODE_TRY_ALLOC(lode_zor_add_trace(self->rec, &begun), self->report->error);
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
        if (zor_id_is_same(self->open[i].id, id))
            return i;
    return self->open_count;
}

/* The last continued trace whose calls and ticks fit; else the last continued one. */
static size_t find_fitting(const struct survey *self, const struct notes *notes)
{
    const struct piece *first = piece_at(notes, 0);
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
    const struct piece *first = piece_at(notes, 0);
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
static lode_status take_pieces(struct survey *self, uint32_t index, const struct notes *notes,
                               struct open_trace *open)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, index);
    bool has_orphan = false;
    uint64_t depth = open->depth;
    for (size_t i = 0; i < notes->count; i++) {
        const struct piece *piece = piece_at(notes, i);
        if (piece->is_call && (uint64_t) - (int64_t)piece->level >= depth)
            LODE_TRY(add_trace(self, index, piece, open));
        else if (open->trace != LODE_NO_INDEX)
            LODE_TRY(add_segment(self, open, index, piece));
        has_orphan = has_orphan || open->trace == LODE_NO_INDEX;
        open->has_loss = open->has_loss && open->trace == LODE_NO_INDEX;
        if (open->trace == LODE_NO_INDEX)
            continue;
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

static lode_status take_notes(struct survey *self, uint32_t index, const struct notes *notes)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, index);
    const struct zor_meta *meta = lode_zor_meta(&self->rec->stores[chunk->store].metas, chunk->offset, 0);
    struct open_trace open = {.trace = LODE_NO_INDEX};
    size_t found;
    LODE_TRY(find_open(self, chunk, notes, meta, &found));
    if (found < self->open_count) {
        open = self->open[found];
        close_open(self, found);
    }
    LODE_TRY(take_pieces(self, index, notes, &open));
    open.has_loss = open.has_loss || !zor_can_be_read(&notes->damage);
    if (open.trace != LODE_NO_INDEX && open.depth > 0)
        push_open(self, open);
    return LODE_OK;
}

static lode_status take_chunk(struct survey *self, uint32_t index, const struct notes *notes)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, index);
    if (chunk->store != self->store)
        self->open_count = 0;
    self->store = chunk->store;
    if (notes->damage.rule >= 0)
        LODE_TRY(lode_report_add(self->report, (unsigned)notes->damage.rule,
                                 self->rec->stores[chunk->store].data_file, chunk->offset,
                                 "%s (at unpacked offset 0x%llx)", notes->damage.text,
                                 (unsigned long long)notes->damaged_at));
    struct zor_store *store = &self->rec->stores[chunk->store];
    store->has_page_layout = store->has_page_layout || (notes->count > 0 && notes->is_page);
    store->has_real_layout = store->has_real_layout || (notes->count > 0 && !notes->is_page);
    if (notes->count > 0)
        return take_notes(self, index, notes);
    for (size_t i = 0; i < self->open_count && !zor_can_be_read(&notes->damage); i++)
        self->open[i].has_loss = true;
    return LODE_OK;
}

static lode_status finish_batch(void *context, uint64_t item, lode_error *error)
{
    struct survey *self = context;
    struct batch *batch = &self->batches[item % self->window];
    uint32_t first = batch_begin(self, item), end = batch_begin(self, item + 1);
    uint64_t bytes = 0;
    self->report->error = error;
    for (uint32_t i = first; i < end; i++) {
        LODE_TRY(take_chunk(self, i, &batch->notes[i - first]));
        bytes += LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, i)->csize;
    }
    if (batch->pieces.capacity > PIECES)
        lode_array_free(&batch->pieces);
    return lode_progress_add(&self->progress, bytes, error);
}

/* ---- the survey ---- */

static bool add_first(struct survey *self, uint32_t chunk)
{
    uint32_t *first = lode_array_push(&self->firsts);
    if (first)
        *first = chunk;
    return first != NULL;
}

static bool make_batches(struct survey *self)
{
    uint32_t count = (uint32_t)self->rec->chunks.count, first = 0;
    uint64_t bytes = 0;
    if (!add_first(self, 0))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, i);
        self->progress.total += chunk->csize;
        bytes += chunk->lsize;
        if (i + 1 < count && i + 1 - first < BATCH && bytes < BATCH_BYTES)
            continue;
        if (!add_first(self, i + 1))
            return false;
        first = i + 1;
        bytes = 0;
    }
    return true;
}

static lode_status run(struct survey *self, unsigned threads, lode_error *error)
{
    uint64_t batches = self->firsts.count - 1;
    threads = lode_pool_threads(threads, batches);
    threads = threads < WORKERS_MAX ? threads : WORKERS_MAX;
    self->window = lode_pool_window(threads);
    self->batches = calloc(self->window, sizeof *self->batches);
    LODE_TRY_ALLOC(self->batches, error);
    for (unsigned i = 0; i < self->window; i++)
        lode_array_init(&self->batches[i].pieces, sizeof(struct piece), UINT32_MAX / 2);
    struct lode_job job = {.items = batches,
                           .work = read_batch,
                           .finish = finish_batch,
                           .context = self,
                           .window = self->window};
    lode_status status = lode_pool_run(threads, &job, error);
    for (unsigned i = 0; i < self->window; i++)
        lode_array_free(&self->batches[i].pieces);
    free(self->batches);
    return status;
}

lode_status lode_zor_survey(struct zor_recording *rec, const struct zor_survey_options *options,
                            struct lode_report *report, lode_error *error)
{
    struct survey *self = calloc(1, sizeof *self);
    LODE_TRY_ALLOC(self, error);
    self->rec = rec;
    self->report = report;
    self->progress = (struct lode_progress){options->on_progress, options->user, "opening", 0, 0};
    lode_array_init(&self->firsts, sizeof(uint32_t), UINT32_MAX / 2);
    lode_status status = make_batches(self) ? run(self, options->threads, error) : lode_fail_memory(error);
    report->error = error;
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        lode_zor_unpacker_free(&self->unpackers[i]);
    lode_array_free(&self->firsts);
    free(self);
    return status;
}
