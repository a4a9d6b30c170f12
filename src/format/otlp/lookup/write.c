/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes an index after all spans were read. Whatever fails, there is none. */
#include "base/cache/folder.h"
#include "base/compare.h"
#include "base/io/output.h"
#include "base/memory/hash.h"
#include "format/otlp/lookup/lookup.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MODE_PRIVATE = 0600,
    SPAN_BYTES = 4,   /* of a record, about */
    TRACE_BYTES = 40, /* besides */
    PATH_SIZE = 4096
};

static struct lode_range text_range(const char *text)
{
    return (struct lode_range){(const uint8_t *)text, strlen(text)};
}

/* A span of a trace. */
struct place {
    uint64_t position;
    uint32_t origin;
};

struct writing {
    const struct otlp_recording *rec;
    struct lode_output output;
    struct lode_output_file file;
    struct lookup_bucket *buckets;
    unsigned bits;
    uint32_t *mains; /* by trace: its main track */
    struct place *places;
    uint32_t capacity;
    struct lode_blob bucket;
    struct otlp_put put; /* to the bucket */
};

/* ---- records ---- */

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return LODE_COMPARE(a->position, b->position);
}

/* The spans of a trace, in the order of the files. */
static bool list_places(struct writing *self, const struct otlp_trace *trace)
{
    if (self->capacity < trace->count) {
        uint32_t capacity = trace->count + trace->count / 2;
        if (!lode_grow(&self->places, self->capacity, capacity, sizeof *self->places, false))
            return false;
        self->capacity = capacity;
    }
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct otlp_span *span = &self->rec->spans[trace->first + i];
        self->places[i] = (struct place){span->position, span->origin};
    }
    qsort(self->places, trace->count, sizeof *self->places, compare_places);
    return true;
}

static void put_places(struct writing *self, uint32_t count)
{
    uint64_t before = 0;
    uint32_t origin = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (self->places[i].origin != origin)
            lode_otlp_put_number(&self->put, RECORD_ORIGIN, self->places[i].origin);
        lode_otlp_put_number(&self->put, RECORD_STEP, self->places[i].position - before);
        origin = self->places[i].origin;
        before = self->places[i].position;
    }
}

static bool put_record(struct writing *self, uint32_t number)
{
    const struct otlp_recording *rec = self->rec;
    const struct otlp_trace *trace = LODE_ARRAY_AT(&rec->traces, struct otlp_trace, number);
    const uint64_t *id = rec->spans[trace->first].trace;
    uint32_t main = self->mains[number];
    if (!list_places(self, trace))
        return false;
    otlp_nested record = lode_otlp_put_begin(&self->put, BUCKET_RECORD);
    lode_otlp_put_fixed(&self->put, RECORD_HIGH, id[0]);
    lode_otlp_put_fixed(&self->put, RECORD_LOW, id[1]);
    lode_otlp_put_number(&self->put, RECORD_NUMBER, main);
    for (uint32_t i = main; i < rec->base.track_count && rec->base.mains[i] == main; i++)
        lode_otlp_put_number(&self->put, RECORD_THREAD, (uint32_t)rec->base.tracks[i].tid);
    put_places(self, trace->count);
    lode_otlp_put_end(&self->put, record);
    return !self->put.has_failed;
}

/* ---- buckets ---- */

static bool end_bucket(struct writing *self, size_t number)
{
    self->buckets[number].size = self->bucket.size;
    self->buckets[number].checksum = lode_hash_fixed(self->bucket.bytes, self->bucket.size);
    bool done = lode_output_write(&self->file, self->bucket.bytes, self->bucket.size, NULL) == LODE_OK;
    self->bucket.size = 0;
    return done;
}

/* Traces are sorted by their hashes, and so are buckets. */
static bool put_buckets(struct writing *self)
{
    const struct otlp_recording *rec = self->rec;
    size_t count = (size_t)1 << self->bits;
    uint32_t trace = 0;
    for (size_t i = 0; i < count; i++) {
        for (; trace < rec->traces.count; trace++) {
            uint32_t first = LODE_ARRAY_AT(&rec->traces, struct otlp_trace, trace)->first;
            if (lode_otlp_bucket(rec->spans[first].trace, self->bits) != i)
                break;
            if (!put_record(self, trace))
                return false;
        }
        if (!end_bucket(self, i))
            return false;
    }
    return trace == rec->traces.count;
}

/* ---- the whole store ---- */

void lode_otlp_lookup_note(struct otlp_wanted *wanted, const lode_finding *finding)
{
    struct otlp_put put = {&wanted->findings, false};
    unsigned rule = 0;
    if (++wanted->finding_count > LOOKUP_FINDINGS_MOST)
        return;
    while (rule < OTLP_RULE_COUNT && strcmp(lode_otlp_rules[rule].id, finding->rule) != 0)
        rule++;
    otlp_nested nested = lode_otlp_put_begin(&put, WHOLE_FINDING);
    lode_otlp_put_number(&put, FOUND_RULE, rule);
    lode_otlp_put_bytes(&put, FOUND_FILE, text_range(finding->file));
    lode_otlp_put_fixed(&put, FOUND_OFFSET, finding->offset);
    lode_otlp_put_bytes(&put, FOUND_TEXT, text_range(finding->text));
    lode_otlp_put_end(&put, nested);
    if (put.has_failed)
        wanted->finding_count = UINT32_MAX; /* no index without it */
}

static void put_table(struct otlp_put *put, unsigned field, const struct otlp_table *table)
{
    for (uint32_t i = 0; i < table->items.count; i++)
        lode_otlp_put_bytes(put, field, otlp_table_at(table, i));
}

static bool put_whole(struct writing *self, struct lode_range key, struct lode_range findings)
{
    const struct otlp_recording *rec = self->rec;
    struct lookup_head head = {.magic = LOOKUP_MAGIC, .offset = self->file.size};
    struct otlp_put *put = &self->put; /* the buckets are written */
    size_t size = sizeof *self->buckets << self->bits;
    lode_otlp_put_bytes(put, WHOLE_KEY, key);
    lode_otlp_put_number(put, WHOLE_BITS, self->bits);
    lode_otlp_put_bytes(put, WHOLE_BUCKETS, (struct lode_range){(const uint8_t *)self->buckets, size});
    lode_otlp_put_number(put, WHOLE_SPANS, rec->whole.spans);
    lode_otlp_put_number(put, WHOLE_TRACES, rec->whole.traces);
    lode_otlp_put_number(put, WHOLE_TRACKS, rec->whole.tracks);
    lode_otlp_put_number(put, WHOLE_BEGIN, rec->whole.begin);
    lode_otlp_put_number(put, WHOLE_END, rec->whole.end);
    lode_otlp_put_number(put, WHOLE_SPAN_BYTES, rec->whole.span_bytes);
    for (uint32_t i = 0; i < rec->base.module_count; i++)
        lode_otlp_put_number(put, WHOLE_TOLERANCE, rec->whole.tolerance[i]);
    put_table(put, WHOLE_RESOURCE, &rec->resource_bytes);
    put_table(put, WHOLE_ORIGIN, &rec->origin_bytes);
    size_t at = put->has_failed ? LODE_BLOB_FULL : lode_blob_extend(&self->bucket, (size_t)findings.size);
    if (at == LODE_BLOB_FULL || self->bucket.size > LOOKUP_WHOLE_MOST)
        return false;
    if (findings.size > 0)
        memcpy(self->bucket.bytes + at, findings.data, (size_t)findings.size);
    head.size = self->bucket.size;
    head.checksum = lode_hash_fixed(self->bucket.bytes, self->bucket.size);
    return lode_output_write(&self->file, self->bucket.bytes, self->bucket.size, NULL) == LODE_OK &&
           lode_output_flush(&self->file, NULL) == LODE_OK &&
           lode_output_write_at(&self->file, 0, &head, sizeof head, NULL) == LODE_OK;
}

/* ---- the file ---- */

static bool prepare(struct writing *self)
{
    const struct otlp_recording *rec = self->rec;
    uint64_t bytes = (uint64_t)rec->span_count * SPAN_BYTES + rec->traces.count * TRACE_BYTES;
    while (self->bits < LOOKUP_BITS_MOST && bytes >> self->bits > LOOKUP_BUCKET)
        self->bits++;
    self->buckets = calloc((size_t)1 << self->bits, sizeof *self->buckets);
    self->mains = calloc(rec->traces.count + 1, sizeof *self->mains);
    if (bytes > LOOKUP_ALL_MOST || self->buckets == NULL || self->mains == NULL)
        return false;
    for (uint32_t i = 0; i < rec->base.track_count; i++)
        if (rec->base.mains[i] == i)
            self->mains[LODE_ARRAY_AT(&rec->tracks, struct otlp_track, i)->trace] = i;
    return true;
}

static bool write_file(struct writing *self, const char *path, struct lode_range key,
                       struct lode_range findings)
{
    static const struct lookup_head none;
    struct lode_blob again = {0};
    bool done = lode_output_create_file(&self->output, path, true, NULL) == LODE_OK &&
                lode_output_file_single(&self->file, &self->output, NULL) == LODE_OK;
    bool is_open = done;
    done = done && fchmod(self->file.fd, MODE_PRIVATE) == 0 &&
           lode_output_write(&self->file, &none, sizeof none, NULL) == LODE_OK && put_buckets(self) &&
           put_whole(self, key, findings);
    if (done)
        done = lode_output_file_close(&self->file, NULL) == LODE_OK;
    else if (is_open)
        lode_output_file_abandon(&self->file);
    /* The files may have changed while they were read. */
    done = done && lode_otlp_lookup_key(self->rec, &again) && again.size == key.size &&
           memcmp(again.bytes, key.data, again.size) == 0 &&
           lode_output_commit(&self->output, NULL) == LODE_OK;
    lode_blob_free(&again);
    lode_output_close(&self->output);
    return done;
}

void lode_otlp_lookup_write(const struct otlp_recording *rec, const struct otlp_wanted *wanted)
{
    struct writing self = {.rec = rec, .output = LODE_OUTPUT_INIT};
    char name[LOOKUP_NAME_SIZE], path[PATH_SIZE];
    struct lode_range key = {wanted->key.bytes, wanted->key.size};
    struct lode_range findings = {wanted->findings.bytes, wanted->findings.size};
    uint64_t bytes = 0;
    self.put.blob = &self.bucket;
    for (uint32_t i = 0; i < rec->file_count; i++)
        bytes += rec->files[i].bytes.size;
    if (key.size == 0 || bytes < LOOKUP_STORE_LEAST || wanted->finding_count > LOOKUP_FINDINGS_MOST ||
        !lode_otlp_lookup_is_quiet(rec) || !lode_otlp_lookup_name(rec, name) ||
        snprintf(path, sizeof path, "%s/%s", wanted->directory, name) >= (int)sizeof path)
        return;
    int directory = lode_cache_directory(wanted->directory, true);
    if (directory < 0)
        return;
    if (prepare(&self) && write_file(&self, path, key, findings))
        lode_otlp_lookup_trim(directory, name);
    close(directory);
    lode_blob_free(&self.bucket);
    free(self.buckets);
    free(self.mains);
    free(self.places);
}
