/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a few requests of a store by its index. LODE_ABSENT: all spans have to be read. */
#include "base/cache/folder.h"
#include "base/error.h"
#include "base/memory/hash.h"
#include "format/otlp/lookup/lookup.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A request that is asked for. */
struct asked {
    uint64_t trace[2];
    uint32_t number;
    size_t first, count; /* threads */
    bool is_there;
};

struct otlp_lookup {
    struct otlp_opening *opening;
    int fd;
    struct lode_blob whole, bucket, blob;
    struct lode_range buckets; /* struct lookup_bucket, each; in `whole` */
    uint64_t bits;
    struct asked asked[LOOKUP_IDS_MOST];
    size_t asked_count;
    struct lode_array threads; /* uint32_t */
    struct otlp_batch batch;
};

/* ---- ids ---- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Whole ids only: of parts it is not known whether several begin with them. */
static bool parse_id(const char *text, uint64_t trace[2])
{
    for (unsigned i = 0; i < LOOKUP_DIGITS; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0)
            return false;
        trace[i / 16] = trace[i / 16] << 4 | (unsigned)digit;
    }
    return text[LOOKUP_DIGITS] == '\0' || text[LOOKUP_DIGITS] == ',';
}

static struct asked *find_asked(struct otlp_lookup *self, const uint64_t trace[2])
{
    for (size_t i = 0; i < self->asked_count; i++)
        if (memcmp(self->asked[i].trace, trace, sizeof self->asked[i].trace) == 0)
            return &self->asked[i];
    return NULL;
}

static bool parse_ids(struct otlp_lookup *self, const char *ids)
{
    while (ids && *ids && self->asked_count < LOOKUP_IDS_MOST) {
        struct asked asked = {0};
        if (!parse_id(ids, asked.trace))
            return false;
        if (find_asked(self, asked.trace) == NULL)
            self->asked[self->asked_count++] = asked;
        ids += LOOKUP_DIGITS;
        ids += *ids == ',';
    }
    return ids && *ids == '\0' && self->asked_count > 0;
}

bool lode_otlp_lookup_knows(const char *ids)
{
    struct otlp_lookup self = {0};
    return parse_ids(&self, ids);
}

/* ---- the whole store ---- */

static bool add_item(struct otlp_table *table, struct lode_range bytes)
{
    size_t count = table->items.count;
    return lode_otlp_table_add(table, bytes) == count; /* each is there once */
}

static bool is_origin(const struct otlp_recording *rec, struct lode_range bytes)
{
    uint32_t resource;
    if (bytes.size < sizeof resource)
        return false;
    memcpy(&resource, bytes.data, sizeof resource);
    return resource < rec->resource_bytes.items.count;
}

static bool take_tolerance(struct lode_array *tolerances, uint64_t value)
{
    uint64_t *item = lode_array_push(tolerances);
    if (item)
        *item = value;
    return item != NULL;
}

/* One field; false if it cannot be. */
static bool take_field(struct otlp_lookup *self, const struct lode_pb_field *field,
                       struct lode_array *tolerances)
{
    struct otlp_recording *rec = self->opening->rec;
    const struct lode_blob *key = &self->opening->wanted->key;
    switch (field->number) {
    case WHOLE_KEY:
        return field->bytes.size == key->size && memcmp(field->bytes.data, key->bytes, key->size) == 0;
    case WHOLE_BITS:
        self->bits = field->value;
        return field->value <= LOOKUP_BITS_MOST;
    case WHOLE_BUCKETS:
        self->buckets = field->bytes;
        return true;
    case WHOLE_SPANS:
        rec->whole.spans = field->value;
        return true;
    case WHOLE_TRACES:
        rec->whole.traces = field->value;
        return true;
    case WHOLE_TRACKS:
        rec->whole.tracks = field->value;
        return true;
    case WHOLE_BEGIN:
        rec->whole.begin = field->value;
        return field->value <= INT64_MAX;
    case WHOLE_END:
        rec->whole.end = field->value;
        return field->value <= INT64_MAX;
    case WHOLE_SPAN_BYTES:
        rec->whole.span_bytes = field->value;
        return field->value <= UINT32_MAX;
    case WHOLE_TOLERANCE:
        return field->value <= INT32_MAX && take_tolerance(tolerances, field->value);
    case WHOLE_RESOURCE:
        return add_item(&rec->resource_bytes, field->bytes);
    case WHOLE_ORIGIN:
        return is_origin(rec, field->bytes) && add_item(&rec->origin_bytes, field->bytes);
    default:
        return true; /* findings are for the end */
    }
}

static bool take_whole(struct otlp_lookup *self)
{
    struct otlp_recording *rec = self->opening->rec;
    struct lode_pb_walk walk = lode_pb_walk_of((struct lode_range){self->whole.bytes, self->whole.size});
    struct lode_pb_field field;
    struct lode_array tolerances;
    enum lode_pb_step step = LODE_PB_FIELD;
    bool is_sound = true;
    lode_array_init(&tolerances, sizeof(uint64_t), UINT32_MAX);
    while (is_sound && (step = lode_pb_next(&walk, &field)) == LODE_PB_FIELD)
        is_sound = take_field(self, &field, &tolerances);
    is_sound = is_sound && step == LODE_PB_END &&
               self->buckets.size == sizeof(struct lookup_bucket) << self->bits &&
               lode_otlp_make_origins(self->opening) == LODE_OK && tolerances.count == rec->base.module_count;
    if (is_sound)
        rec->whole.tolerance = lode_arena_alloc(&rec->base.arena, tolerances.count + 1, sizeof(uint64_t));
    is_sound = is_sound && rec->whole.tolerance != NULL;
    if (is_sound && tolerances.count > 0)
        memcpy(rec->whole.tolerance, tolerances.items, tolerances.count * sizeof(uint64_t));
    rec->whole.is_known = is_sound;
    lode_array_free(&tolerances);
    return is_sound;
}

static bool read_whole(struct otlp_lookup *self)
{
    struct lookup_head head;
    if (!lode_cache_read(self->fd, 0, sizeof head, &self->whole))
        return false;
    memcpy(&head, self->whole.bytes, sizeof head);
    return head.magic == LOOKUP_MAGIC && head.size <= LOOKUP_WHOLE_MOST &&
           lode_cache_read(self->fd, head.offset, head.size, &self->whole) &&
           lode_hash_fixed(self->whole.bytes, self->whole.size) == head.checksum;
}

/* ---- records ---- */

/* The bucket that has a trace; false if it is damaged. */
static bool read_bucket(struct otlp_lookup *self, const uint64_t trace[2])
{
    size_t number = lode_otlp_bucket(trace, (unsigned)self->bits);
    uint64_t offset = sizeof(struct lookup_head);
    struct lookup_bucket bucket = {0};
    for (size_t i = 0; i <= number; i++) {
        offset += bucket.size;
        memcpy(&bucket, self->buckets.data + i * sizeof bucket, sizeof bucket);
    }
    return bucket.size <= LOOKUP_BUCKET_MOST &&
           lode_cache_read(self->fd, offset, bucket.size, &self->bucket) &&
           lode_hash_fixed(self->bucket.bytes, self->bucket.size) == bucket.checksum;
}

/* Reads a span where the index says that it is. */
static bool take_span(struct otlp_lookup *self, const struct asked *asked, uint64_t position, uint32_t origin)
{
    const struct otlp_recording *rec = self->opening->rec;
    struct otlp_span record = {.position = position};
    struct otlp_batch *batch = &self->batch;
    struct lode_range bytes;
    size_t count = batch->spans.count;
    if (otlp_file_of(&record) >= rec->file_count || origin >= rec->origin_bytes.items.count)
        return false;
    const struct otlp_file *file = &rec->files[otlp_file_of(&record)];
    if (file->form.codec == NULL || otlp_offset_of(&record) >= file->bytes.size)
        return false;
    batch->start = file->bytes.data;
    batch->file = (uint64_t)otlp_file_of(&record) << OTLP_FILE_SHIFT;
    if (lode_otlp_read(rec, &record, &self->blob, &bytes, NULL) != LODE_OK ||
        !lode_otlp_batch_add(batch, bytes, file->bytes.data + otlp_offset_of(&record), origin) ||
        batch->has_failed || batch->spans.count != count + 1)
        return false;
    const struct otlp_span *span = LODE_ARRAY_AT(&batch->spans, struct otlp_span, count);
    return memcmp(span->trace, asked->trace, sizeof span->trace) == 0;
}

static bool take_thread(struct otlp_lookup *self, struct asked *asked, uint64_t value)
{
    uint32_t *thread = lode_array_push(&self->threads);
    if (thread == NULL)
        return false;
    *thread = (uint32_t)value;
    asked->count++;
    return value <= INT32_MAX;
}

static bool take_record(struct otlp_lookup *self, struct asked *asked, struct lode_range record)
{
    struct lode_pb_walk walk = lode_pb_walk_of(record);
    struct lode_pb_field field;
    enum lode_pb_step step;
    uint64_t position = 0, origin = UINT32_MAX;
    bool is_sound = true;
    asked->first = self->threads.count;
    while ((step = lode_pb_next(&walk, &field)) == LODE_PB_FIELD && is_sound) {
        if (field.number == RECORD_NUMBER) {
            asked->number = (uint32_t)field.value;
            is_sound = field.value <= INT32_MAX;
        } else if (field.number == RECORD_THREAD) {
            is_sound = take_thread(self, asked, field.value);
        } else if (field.number == RECORD_ORIGIN) {
            origin = field.value;
        } else if (field.number == RECORD_STEP) {
            position += field.value;
            is_sound = origin < UINT32_MAX && take_span(self, asked, position, (uint32_t)origin);
        }
    }
    asked->is_there = true;
    return is_sound && step == LODE_PB_END;
}

/* Whether a record is that of a trace: its id comes first. */
static bool is_record_of(struct lode_range record, const uint64_t trace[2])
{
    struct lode_pb_walk walk = lode_pb_walk_of(record);
    struct lode_pb_field high, low;
    return lode_pb_next(&walk, &high) == LODE_PB_FIELD && lode_pb_next(&walk, &low) == LODE_PB_FIELD &&
           high.value == trace[0] && low.value == trace[1];
}

/* A trace that is not there is none of the store. */
static bool take_request(struct otlp_lookup *self, struct asked *asked)
{
    struct lode_pb_field field;
    enum lode_pb_step step;
    if (!read_bucket(self, asked->trace))
        return false;
    struct lode_pb_walk walk = lode_pb_walk_of((struct lode_range){self->bucket.bytes, self->bucket.size});
    while ((step = lode_pb_next(&walk, &field)) == LODE_PB_FIELD)
        if (is_record_of(field.bytes, asked->trace))
            return take_record(self, asked, field.bytes);
    return step == LODE_PB_END;
}

/* ---- the recording ---- */

static lode_status sort_spans(struct otlp_lookup *self, struct otlp_sorter **sorter)
{
    struct otlp_recording *rec = self->opening->rec;
    const struct lode_array *spans = &self->batch.spans;
    lode_error *error = self->opening->error;
    LODE_TRY(lode_otlp_sorter_open(sorter, 0, UINT64_MAX, error));
    for (size_t i = 0; i < spans->count; i++)
        LODE_TRY(lode_otlp_sorter_add(*sorter, LODE_ARRAY_AT(spans, struct otlp_span, i), error));
    rec->span_count = (uint32_t)spans->count;
    return lode_otlp_sorter_finish(*sorter, 1, &rec->span_memory, &rec->spans, error);
}

/* What opening all spans does with them. Its findings are in the index. */
static lode_status make_tracks(struct otlp_lookup *self)
{
    struct otlp_opening quiet = *self->opening;
    struct lode_report report;
    struct otlp_sorter *sorter = NULL;
    lode_status status = sort_spans(self, &sorter);
    lode_otlp_sorter_close(sorter);
    LODE_TRY(status);
    LODE_TRY(lode_report_open(&report, lode_otlp_rules, OTLP_RULE_COUNT, 0, NULL, NULL, quiet.error));
    quiet.report = &report;
    status = lode_otlp_assemble(&quiet);
    if (status == LODE_OK)
        status = lode_otlp_repair(&quiet);
    if (status == LODE_OK)
        status = lode_otlp_place(&quiet);
    if (status == LODE_OK)
        status = lode_otlp_describe(&quiet);
    lode_report_close(&report);
    return status;
}

/* The main track of a request has its number in the store, and side tracks follow. */
static bool number_tracks(struct otlp_lookup *self)
{
    struct otlp_recording *rec = self->opening->rec;
    uint32_t count = rec->base.track_count,
             *numbers = lode_arena_alloc(&rec->base.arena, (size_t)count + 1, sizeof *numbers);
    size_t left = self->threads.count;
    for (uint32_t i = 0; numbers && i < count; i++) {
        uint32_t main = rec->base.mains[i];
        const uint64_t *trace = rec->spans[LODE_ARRAY_AT(&rec->tracks, struct otlp_track, i)->first].trace;
        const struct asked *asked = find_asked(self, trace);
        if (asked == NULL || i - main >= asked->count || asked->number > INT32_MAX - (i - main))
            return false;
        numbers[i] = asked->number + (i - main);
        rec->base.tracks[i].tid =
            (int32_t)*LODE_ARRAY_AT(&self->threads, uint32_t, asked->first + (i - main));
        left--;
    }
    rec->base.numbers = numbers;
    return numbers && left == 0;
}

static const char *copy_text(struct otlp_recording *rec, struct lode_range text)
{
    char *copy = lode_arena_alloc(&rec->base.arena, (size_t)text.size + 1, 1);
    if (copy && text.size > 0)
        memcpy(copy, text.data, (size_t)text.size);
    return copy;
}

static lode_status report_again(const struct otlp_lookup *self, struct lode_range finding)
{
    struct otlp_recording *rec = self->opening->rec;
    struct lode_pb_walk walk = lode_pb_walk_of(finding);
    struct lode_pb_field field;
    uint64_t rule = OTLP_RULE_COUNT, offset = LODE_NO_OFFSET;
    struct lode_range file = {0}, text = {0};
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        rule = field.number == FOUND_RULE ? field.value : rule;
        offset = field.number == FOUND_OFFSET ? field.value : offset;
        file = field.number == FOUND_FILE ? field.bytes : file;
        text = field.number == FOUND_TEXT ? field.bytes : text;
    }
    const char *name = copy_text(rec, file), *said = copy_text(rec, text);
    if (rule >= OTLP_RULE_COUNT || name == NULL || said == NULL)
        return LODE_OK;
    return lode_report_add(self->opening->report, (unsigned)rule, name[0] ? name : NULL, offset, "%s", said);
}

static lode_status report_all(const struct otlp_lookup *self)
{
    struct lode_pb_walk walk = lode_pb_walk_of((struct lode_range){self->whole.bytes, self->whole.size});
    struct lode_pb_field field;
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD)
        if (field.number == WHOLE_FINDING)
            LODE_TRY(report_again(self, field.bytes));
    return LODE_OK;
}

/* ---- all ---- */

static bool find_index(struct otlp_lookup *self)
{
    struct otlp_wanted *wanted = self->opening->wanted;
    char name[LOOKUP_NAME_SIZE];
    wanted->key.size = 0;
    if (!parse_ids(self, wanted->ids) || !lode_otlp_lookup_key(self->opening->rec, &wanted->key) ||
        !lode_otlp_lookup_name(self->opening->rec, name))
        return false;
    int directory = lode_cache_directory(wanted->directory, false);
    if (directory < 0)
        return false;
    self->fd = lode_cache_file(directory, name);
    close(directory);
    return self->fd >= 0 && read_whole(self) && take_whole(self);
}

lode_status lode_otlp_lookup_open(struct otlp_lookup **out, struct otlp_opening *opening)
{
    struct otlp_lookup *self = calloc(1, sizeof *self);
    *out = NULL;
    if (self == NULL)
        return LODE_ABSENT;
    self->opening = opening;
    self->fd = -1;
    lode_array_init(&self->threads, sizeof(uint32_t), UINT32_MAX);
    lode_otlp_batch_init(&self->batch);
    if (find_index(self)) {
        *out = self;
        return LODE_OK;
    }
    lode_otlp_lookup_close(self);
    return LODE_ABSENT;
}

void lode_otlp_lookup_close(struct otlp_lookup *self)
{
    if (self == NULL)
        return;
    if (self->fd >= 0)
        close(self->fd);
    lode_blob_free(&self->whole);
    lode_blob_free(&self->bucket);
    lode_blob_free(&self->blob);
    lode_array_free(&self->threads);
    lode_otlp_batch_free(&self->batch);
    free(self);
}

lode_status lode_otlp_lookup_take(struct otlp_lookup *self)
{
    for (size_t i = 0; i < self->asked_count; i++)
        if (!take_request(self, &self->asked[i]))
            return LODE_ABSENT;
    if (make_tracks(self) != LODE_OK || !number_tracks(self))
        return LODE_ABSENT;
    self->opening->rec->base.whole_end = self->opening->rec->whole.end;
    (void)futimens(self->fd, NULL); /* when it was used, if that can be noted */
    return report_all(self);
}
