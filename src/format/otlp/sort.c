/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/otlp/sort.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/io/spool.h"
#include "base/memory/array.h"
#include "base/pool.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    CHUNK = 1024,        /* spans that are kept or written together */
    SLAB_CHUNKS = 32,    /* that are allocated together */
    FEW_BYTES = 4 << 20, /* to read: one bucket is enough */
    BUCKET_BITS = 8,     /* else */
    DIGIT_BITS = 11,     /* of a pass of the radix sort */
    PASSES = 3,          /* bits beyond are compared */
    SMALL_GROUP = 24,    /* is sorted by insertion */
    SMALL_BUCKET = 2048  /* has no use for digits */
};
#define CHUNK_BYTES (CHUNK * sizeof(struct otlp_span))
#define DIGITS      ((size_t)1 << DIGIT_BITS)

struct chunk {
    struct otlp_span *spans; /* NULL: at an offset of the spool */
    uint64_t offset;
    uint32_t count;
};

struct bucket {
    struct lode_array chunks; /* struct chunk: all but the last one are full */
    uint64_t first, count;    /* of its spans in the result */
};

struct otlp_sorter {
    struct bucket *buckets;
    unsigned bits; /* of the hash, that choose a bucket */
    uint64_t count;
    struct lode_array slabs;  /* struct lode_pages */
    unsigned used;            /* chunks of the last slab */
    struct lode_array unused; /* struct otlp_span *: chunks that were written */
    uint64_t memory, budget;
    bool is_spooling;
    struct lode_spool spool;
    struct otlp_span *result;
};

/* What orders spans, and which one it is. */
struct key {
    uint64_t hash;
    uint32_t index;
};

/* Ids are random, but not those of every recorder, and some have only 8 bytes. */
static uint64_t hash_trace(const uint64_t trace[2])
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a chunk with spans has memory
    uint64_t folded = trace[0] ^ (trace[1] << 32 | trace[1] >> 32);
    folded = (folded ^ folded >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return folded ^ folded >> 29;
}

static uint64_t hash_of(const struct otlp_span *span)
{
    return hash_trace(span->trace);
}

size_t lode_otlp_bucket(const uint64_t trace[2], unsigned bits)
{
    return bits ? (size_t)(hash_trace(trace) >> (64 - bits)) : 0;
}

void lode_otlp_spans_free(struct otlp_spans *spans)
{
    lode_pages_free(&spans->pages);
    lode_backed_close(&spans->backed);
}

/* ---- chunks ---- */

static struct otlp_span *take_chunk(struct otlp_sorter *self)
{
    if (self->unused.count > 0) {
        struct otlp_span *spans = *LODE_ARRAY_AT(&self->unused, struct otlp_span *, self->unused.count - 1);
        lode_array_pop(&self->unused);
        return spans;
    }
    if (self->slabs.count == 0 || self->used == SLAB_CHUNKS) {
        struct lode_pages *slab = lode_array_push(&self->slabs);
        if (slab == NULL)
            return NULL;
        if (!lode_pages_resize(slab, SLAB_CHUNKS * CHUNK_BYTES)) {
            lode_array_pop(&self->slabs);
            return NULL;
        }
        self->used = 0;
    }
    struct lode_pages *slab = LODE_ARRAY_AT(&self->slabs, struct lode_pages, self->slabs.count - 1);
    self->memory += CHUNK_BYTES;
    return (struct otlp_span *)slab->bytes + (size_t)CHUNK * self->used++;
}

static lode_status write_chunk(struct otlp_sorter *self, struct chunk *chunk, lode_error *error)
{
    struct otlp_span **unused = lode_array_push(&self->unused);
    LODE_TRY_ALLOC(unused, error);
    *unused = chunk->spans;
    chunk->offset = self->spool.size;
    LODE_TRY(lode_spool_write(&self->spool, chunk->spans, CHUNK_BYTES, error));
    chunk->spans = NULL;
    return LODE_OK;
}

/* Writes all chunks that are full; from now on, each is written when it is. */
static lode_status begin_spooling(struct otlp_sorter *self, lode_error *error)
{
    struct lode_scratch scratch;
    LODE_TRY(lode_scratch_open(&scratch, error));
    lode_status status = lode_spool_open(&self->spool, scratch.fd, "spans", error);
    lode_scratch_close(&scratch);
    for (size_t i = 0; status == LODE_OK && i < (size_t)1 << self->bits; i++) {
        struct lode_array *chunks = &self->buckets[i].chunks;
        for (size_t k = 0; status == LODE_OK && k < chunks->count; k++)
            if (LODE_ARRAY_AT(chunks, struct chunk, k)->count == CHUNK)
                status = write_chunk(self, LODE_ARRAY_AT(chunks, struct chunk, k), error);
    }
    self->is_spooling = true;
    return status;
}

static lode_status add_chunk(struct otlp_sorter *self, struct bucket *bucket, lode_error *error)
{
    if (!self->is_spooling && self->memory + CHUNK_BYTES > self->budget)
        LODE_TRY(begin_spooling(self, error));
    struct chunk *chunk = lode_array_push(&bucket->chunks);
    LODE_TRY_ALLOC(chunk, error);
    chunk->spans = take_chunk(self);
    LODE_TRY_ALLOC(chunk->spans, error);
    return LODE_OK;
}

lode_status lode_otlp_sorter_add(struct otlp_sorter *self, const struct otlp_span *span, lode_error *error)
{
    struct bucket *bucket = &self->buckets[lode_otlp_bucket(span->trace, self->bits)];
    if (bucket->count % CHUNK == 0)
        LODE_TRY(add_chunk(self, bucket, error));
    struct chunk *chunk = LODE_ARRAY_AT(&bucket->chunks, struct chunk, bucket->chunks.count - 1);
    chunk->spans[chunk->count++] = *span;
    bucket->count++;
    self->count++;
    return chunk->count == CHUNK && self->is_spooling ? write_chunk(self, chunk, error) : LODE_OK;
}

/* ---- a bucket ---- */

struct sorting {
    const struct bucket *bucket;
    struct key *keys, *other; /* as many as there are spans */
    struct otlp_span *loaded; /* chunks that were read again */
    const struct otlp_span **chunks;
};

static const struct otlp_span *span_at(const struct sorting *self, uint32_t index)
{
    return &self->chunks[index / CHUNK][index % CHUNK];
}

static int compare_keys(const void *left, const void *right, void *argument)
{
    const struct key *a = left, *b = right;
    const struct otlp_span *x = span_at(argument, a->index), *y = span_at(argument, b->index);
    if (a->hash != b->hash)
        return LODE_COMPARE(a->hash, b->hash);
    for (unsigned i = 0; i < 2; i++)
        if (x->trace[i] != y->trace[i])
            return LODE_COMPARE(x->trace[i], y->trace[i]);
    return x->id != y->id ? LODE_COMPARE(x->id, y->id) : LODE_COMPARE(a->index, b->index);
}

static void sort_group(struct sorting *self, struct key *keys, size_t count)
{
    if (count > SMALL_GROUP) {
        qsort_r(keys, count, sizeof *keys, compare_keys, self);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct key key = keys[i];
        size_t at = i;
        for (; at > 0 && compare_keys(&keys[at - 1], &key, self) > 0; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* One stable pass, from `keys` to `other`. */
static void distribute(struct sorting *self, size_t count, unsigned shift, uint32_t *starts)
{
    memset(starts, 0, DIGITS * sizeof *starts);
    for (size_t i = 0; i < count; i++)
        starts[self->keys[i].hash >> shift & (DIGITS - 1)]++;
    uint32_t sum = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        uint32_t digit = starts[i];
        starts[i] = sum;
        sum += digit;
    }
    for (size_t i = 0; i < count; i++)
        self->other[starts[self->keys[i].hash >> shift & (DIGITS - 1)]++] = self->keys[i];
    struct key *keys = self->keys;
    self->keys = self->other;
    self->other = keys;
}

/* By some bits of the hash, then keys that are equal in these. */
static void sort_keys(struct sorting *self, size_t count, unsigned bits)
{
    uint32_t starts[DIGITS];
    unsigned low = 64 - bits - PASSES * DIGIT_BITS;
    if (count < SMALL_BUCKET) {
        qsort_r(self->keys, count, sizeof *self->keys, compare_keys, self);
        return;
    }
    for (unsigned i = 0; i < PASSES; i++)
        distribute(self, count, low + i * DIGIT_BITS, starts);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && self->keys[next].hash >> low == self->keys[i].hash >> low;)
            next++;
        sort_group(self, self->keys + i, next - i);
    }
}

/* All chunks of a bucket in memory. */
static lode_status load(const struct otlp_sorter *sorter, struct sorting *self, lode_error *error)
{
    const struct lode_array *chunks = &self->bucket->chunks;
    size_t written = 0;
    for (size_t i = 0; i < chunks->count; i++)
        written += LODE_ARRAY_AT(chunks, struct chunk, i)->spans == NULL;
    self->loaded = written > 0 ? malloc(written * CHUNK_BYTES) : NULL;
    self->chunks = calloc(chunks->count + 1, sizeof *self->chunks);
    LODE_TRY_ALLOC(self->chunks && (written == 0 || self->loaded), error);
    struct otlp_span *at = self->loaded;
    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *chunk = LODE_ARRAY_AT(chunks, struct chunk, i);
        self->chunks[i] = chunk->spans;
        if (chunk->spans)
            continue;
        LODE_TRY(lode_spool_read(&sorter->spool, chunk->offset, at, CHUNK_BYTES, error));
        self->chunks[i] = at;
        at += CHUNK;
    }
    return LODE_OK;
}

/* Gives the memory of a bucket back, for the result needs as much. */
static void release(const struct bucket *bucket)
{
    for (size_t i = 0; i < bucket->chunks.count; i++) {
        struct otlp_span *spans = LODE_ARRAY_AT(&bucket->chunks, struct chunk, i)->spans;
        if (spans)
            (void)madvise(spans, CHUNK_BYTES, MADV_DONTNEED); /* only a hint */
    }
}

static lode_status move_sorted(const struct otlp_sorter *sorter, struct sorting *self, lode_error *error)
{
    size_t count = (size_t)self->bucket->count;
    LODE_TRY(load(sorter, self, error));
    self->keys = malloc(count * sizeof *self->keys);
    self->other = malloc(count * sizeof *self->other);
    LODE_TRY_ALLOC(self->keys && self->other, error);
    for (uint32_t i = 0; i < count; i++)
        self->keys[i] = (struct key){hash_of(span_at(self, i)), i};
    sort_keys(self, count, sorter->bits);
    struct otlp_span *out = sorter->result + self->bucket->first;
    for (size_t i = 0; i < count; i++)
        out[i] = *span_at(self, self->keys[i].index);
    release(self->bucket);
    return LODE_OK;
}

static lode_status sort_bucket(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    const struct otlp_sorter *sorter = context;
    struct sorting self = {.bucket = &sorter->buckets[item]};
    (void)worker;
    lode_status status = self.bucket->count > 0 ? move_sorted(sorter, &self, error) : LODE_OK;
    free(self.keys);
    free(self.other);
    free(self.loaded);
    free(self.chunks);
    return status;
}

/* ---- all ---- */

lode_status lode_otlp_sorter_open(struct otlp_sorter **out, uint64_t bytes, uint64_t memory,
                                  lode_error *error)
{
    struct otlp_sorter *self = calloc(1, sizeof *self);
    *out = self;
    LODE_TRY_ALLOC(self, error);
    self->bits = bytes < FEW_BYTES ? 0 : BUCKET_BITS;
    self->budget = memory;
    self->spool = (struct lode_spool)LODE_SPOOL_INIT;
    lode_array_init(&self->slabs, sizeof(struct lode_pages), SIZE_MAX);
    lode_array_init(&self->unused, sizeof(struct otlp_span *), SIZE_MAX);
    self->buckets = calloc((size_t)1 << self->bits, sizeof *self->buckets);
    LODE_TRY_ALLOC(self->buckets, error);
    for (size_t i = 0; i < (size_t)1 << self->bits; i++)
        lode_array_init(&self->buckets[i].chunks, sizeof(struct chunk), UINT32_MAX / CHUNK / 2);
    return LODE_OK;
}

void lode_otlp_sorter_close(struct otlp_sorter *self)
{
    if (self == NULL)
        return;
    for (size_t i = 0; self->buckets && i < (size_t)1 << self->bits; i++)
        lode_array_free(&self->buckets[i].chunks);
    for (size_t i = 0; i < self->slabs.count; i++)
        lode_pages_free(LODE_ARRAY_AT(&self->slabs, struct lode_pages, i));
    lode_array_free(&self->slabs);
    lode_array_free(&self->unused);
    lode_spool_close(&self->spool);
    free(self->buckets);
    free(self);
}

uint64_t lode_otlp_sorter_count(const struct otlp_sorter *self)
{
    return self->count;
}

lode_status lode_otlp_sorter_finish(struct otlp_sorter *self, unsigned threads, struct otlp_spans *out,
                                    struct otlp_span **spans, lode_error *error)
{
    size_t buckets = (size_t)1 << self->bits, size = (size_t)(self->count + 1) * sizeof(struct otlp_span);
    uint64_t sum = 0;
    for (size_t i = 0; i < buckets; i++) {
        self->buckets[i].first = sum;
        sum += self->buckets[i].count;
    }
    if (self->is_spooling) {
        LODE_TRY(lode_spool_flush(&self->spool, error));
        LODE_TRY(lode_backed_open(&out->backed, error));
        LODE_TRY(lode_backed_grow(&out->backed, size, error));
        self->result = out->backed.bytes;
    } else {
        LODE_TRY_ALLOC(lode_pages_resize(&out->pages, size), error);
        self->result = out->pages.bytes;
    }
    *spans = self->result;
    struct lode_job job = {.items = buckets, .work = sort_bucket, .context = self};
    return lode_pool_run(lode_pool_threads(threads, buckets), &job, error);
}
