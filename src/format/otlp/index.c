/* SPDX-License-Identifier: BSD-3-Clause */
/* The first pass: finds the messages of all files, and reads spans from them on several threads. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/text/count.h"
#include "format/otlp/otlp.h"
#include "format/protobuf.h"
#include <stdlib.h>

enum {
    BATCH_BYTES = 1 << 20, /* of messages that a worker reads at once */
    LENGTH_SIZE = 4,
    SPANS_MAX = INT32_MAX
};

struct message {
    uint64_t offset, size;
};

/* Messages that a worker reads at once. */
struct batch {
    uint32_t file;
    size_t first, count; /* messages */
    uint64_t bytes;
    struct otlp_batch content;
    struct lode_array torn; /* uint64_t: offsets of messages that are damaged */
};

struct indexing {
    struct otlp_opening *opening;
    struct lode_array messages; /* struct message */
    struct lode_array batches;  /* struct batch */
    struct otlp_sorter *sorter;
    struct lode_progress progress;
    uint32_t file; /* whose messages are being found */
};

/* ---- messages ---- */

static lode_status add_message(struct indexing *self, uint64_t offset, uint64_t size)
{
    struct message *message = lode_array_push(&self->messages);
    LODE_TRY_ALLOC(message, self->opening->error);
    *message = (struct message){offset, size};
    struct batch *batch =
        self->batches.count > 0 ? LODE_ARRAY_AT(&self->batches, struct batch, self->batches.count - 1) : NULL;
    if (batch == NULL || batch->file != self->file || batch->bytes >= BATCH_BYTES) {
        batch = lode_array_push(&self->batches);
        LODE_TRY_ALLOC(batch, self->opening->error);
        *batch = (struct batch){.file = self->file, .first = self->messages.count - 1};
        lode_array_init(&batch->torn, sizeof(uint64_t), SIZE_MAX);
    }
    batch->count++;
    batch->bytes += size;
    return LODE_OK;
}

static lode_status report_torn(const struct indexing *self, uint32_t file, uint64_t offset)
{
    return lode_report_add(self->opening->report, OTLP_TORN, self->opening->rec->files[file].name, offset,
                           "a message is cut off or damaged");
}

static lode_status find_lines(struct indexing *self, struct lode_range bytes)
{
    uint64_t at = 0;
    while (at < bytes.size) {
        const uint8_t *end = memchr(bytes.data + at, '\n', (size_t)(bytes.size - at));
        uint64_t next = end ? (uint64_t)(end - bytes.data) + 1 : bytes.size;
        uint64_t size = next - at - (end != NULL);
        struct lode_json json = lode_json_of((struct lode_range){bytes.data + at, size});
        if (lode_json_peek(&json) != '\0')
            LODE_TRY(add_message(self, at, size));
        at = next;
    }
    return LODE_OK;
}

/* After damage, a value may begin on another line; without one, all that is left is one message. */
static lode_status find_values(struct indexing *self, struct lode_range bytes)
{
    struct lode_json json = lode_json_of(bytes);
    while (lode_json_peek(&json) != '\0') {
        const uint8_t *begin = json.at;
        if (!lode_json_skip(&json))
            return add_message(self, (uint64_t)(begin - bytes.data), (uint64_t)(json.end - begin));
        LODE_TRY(add_message(self, (uint64_t)(begin - bytes.data), (uint64_t)(json.at - begin)));
    }
    return LODE_OK;
}

static lode_status find_lengths(struct indexing *self, struct lode_range bytes)
{
    for (uint64_t at = 0; at < bytes.size;) {
        struct lode_range message;
        if (bytes.size - at < LENGTH_SIZE ||
            !lode_range_part(bytes, at + LENGTH_SIZE, get_u32be(bytes.data + at), &message))
            return report_torn(self, self->file, at);
        at += LENGTH_SIZE + message.size;
        LODE_TRY(add_message(self, at - message.size, message.size));
    }
    return LODE_OK;
}

static lode_status find_delimited(struct indexing *self, struct lode_range bytes)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    uint64_t size;
    while (walk.at < walk.end) {
        uint64_t at = (uint64_t)(walk.at - bytes.data);
        if (lode_pb_number(&walk, &size) != LODE_PB_FIELD || size > (uint64_t)(walk.end - walk.at))
            return report_torn(self, self->file, at);
        LODE_TRY(add_message(self, (uint64_t)(walk.at - bytes.data), size));
        walk.at += size;
    }
    return LODE_OK;
}

/* Messages that follow each other without a mark are one; each of its fields is a message, too. */
static lode_status find_fields(struct indexing *self, struct lode_range bytes)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    enum lode_pb_step step;
    while ((step = lode_pb_next(&walk, &field)) == LODE_PB_FIELD)
        LODE_TRY(add_message(self, (uint64_t)(field.start - bytes.data), (uint64_t)(walk.at - field.start)));
    return step == LODE_PB_END ? LODE_OK : report_torn(self, self->file, (uint64_t)(walk.at - bytes.data));
}

static lode_status find_messages(struct indexing *self, const struct otlp_file *file)
{
    static lode_status (*const finders[])(struct indexing *, struct lode_range) = {
        [OTLP_LINES] = find_lines,         [OTLP_VALUES] = find_values, [OTLP_LENGTHS] = find_lengths,
        [OTLP_DELIMITED] = find_delimited, [OTLP_BARE] = find_fields,
    };
    return file->form.codec ? finders[file->form.framing](self, file->bytes) : LODE_OK;
}

/* ---- spans ---- */

static lode_status read_batch(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct indexing *self = context;
    struct batch *batch = LODE_ARRAY_AT(&self->batches, struct batch, item);
    const struct otlp_file *file = &self->opening->rec->files[batch->file];
    struct otlp_batch *content = &batch->content;
    (void)worker;
    lode_otlp_batch_init(content);
    content->start = file->bytes.data;
    content->file = (uint64_t)batch->file << OTLP_FILE_SHIFT;
    for (size_t i = 0; i < batch->count && !content->has_failed; i++) {
        const struct message *message = LODE_ARRAY_AT(&self->messages, struct message, batch->first + i);
        size_t before = content->spans.count;
        uint64_t counts[OTLP_COUNTS];
        memcpy(counts, content->counts, sizeof counts);
        if (file->form.codec->read(content,
                                   (struct lode_range){file->bytes.data + message->offset, message->size}))
            continue;
        uint64_t *torn = lode_array_push(&batch->torn);
        LODE_TRY_ALLOC(torn, error);
        *torn = message->offset;
        /* All of a message counts, or nothing; but a file that is one is read up to the damage. */
        if (file->form.framing != OTLP_VALUES) {
            content->spans.count = before;
            memcpy(content->counts, counts, sizeof counts);
        }
    }
    LODE_TRY_ALLOC(!content->has_failed, error);
    return LODE_OK;
}

/* The numbers of a batch's origins in the recording; NULL if out of memory. */
static uint32_t *number_origins(struct otlp_recording *rec, const struct otlp_batch *batch)
{
    uint32_t *numbers = calloc(batch->origins.items.count + 1, sizeof *numbers);
    struct lode_blob key = {0};
    bool has_memory = numbers != NULL;
    for (uint32_t i = 0; has_memory && i < batch->origins.items.count; i++) {
        struct lode_range origin = otlp_table_at(&batch->origins, i);
        uint32_t resource;
        memcpy(&resource, origin.data, sizeof resource);
        resource = lode_otlp_table_add(&rec->resource_bytes, otlp_table_at(&batch->resources, resource));
        key.size = 0;
        has_memory =
            resource != LODE_NO_NUMBER && lode_blob_extend(&key, (size_t)origin.size) != LODE_BLOB_FULL;
        if (!has_memory)
            break;
        memcpy(key.bytes, origin.data, (size_t)origin.size);
        memcpy(key.bytes, &resource, sizeof resource);
        numbers[i] = lode_otlp_table_add(&rec->origin_bytes, (struct lode_range){key.bytes, key.size});
        has_memory = numbers[i] != LODE_NO_NUMBER;
    }
    lode_blob_free(&key);
    if (has_memory)
        return numbers;
    free(numbers);
    return NULL;
}

static lode_status append(struct indexing *self, const struct otlp_batch *batch, lode_error *error)
{
    uint32_t *numbers = number_origins(self->opening->rec, batch);
    LODE_TRY_ALLOC(numbers, error);
    lode_status status = LODE_OK;
    if (lode_otlp_sorter_count(self->sorter) + batch->spans.count > SPANS_MAX)
        status = lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %d spans", SPANS_MAX);
    for (size_t i = 0; status == LODE_OK && i < batch->spans.count; i++) {
        struct otlp_span *span = LODE_ARRAY_AT(&batch->spans, struct otlp_span, i);
        span->origin = numbers[span->origin];
        status = lode_otlp_sorter_add(self->sorter, span, error);
    }
    free(numbers);
    return status;
}

static lode_status finish_batch(void *context, uint64_t item, lode_error *error)
{
    struct indexing *self = context;
    struct batch *batch = LODE_ARRAY_AT(&self->batches, struct batch, item);
    self->opening->report->error = error;
    for (size_t i = 0; i < batch->torn.count; i++)
        LODE_TRY(report_torn(self, batch->file, *LODE_ARRAY_AT(&batch->torn, uint64_t, i)));
    LODE_TRY(append(self, &batch->content, error));
    for (unsigned i = 0; i < OTLP_COUNTS; i++)
        self->opening->rec->counts[i] += batch->content.counts[i];
    lode_otlp_batch_free(&batch->content);
    batch->content = (struct otlp_batch){0};
    return lode_progress_add(&self->progress, batch->bytes, error);
}

/* ---- all files ---- */

/* Tracks and what commands compute need as much again. */
static uint64_t memory_of(const struct otlp_opening *opening)
{
    return lode_otlp_budget(opening) / 2;
}

static lode_status read_all(struct indexing *self)
{
    struct otlp_opening *opening = self->opening;
    for (self->file = 0; self->file < opening->rec->file_count; self->file++)
        LODE_TRY(find_messages(self, &opening->rec->files[self->file]));
    for (size_t i = 0; i < self->batches.count; i++)
        self->progress.total += LODE_ARRAY_AT(&self->batches, struct batch, i)->bytes;
    LODE_TRY(lode_otlp_sorter_open(&self->sorter, self->progress.total, memory_of(opening), opening->error));
    struct lode_job job = {
        .items = self->batches.count, .work = read_batch, .finish = finish_batch, .context = self};
    lode_status status =
        lode_pool_run(lode_pool_threads(opening->threads, self->batches.count), &job, opening->error);
    opening->report->error = opening->error;
    return status;
}

static lode_status sort_all(const struct indexing *self)
{
    struct otlp_opening *opening = self->opening;
    struct otlp_recording *rec = opening->rec;
    rec->span_count = (uint32_t)lode_otlp_sorter_count(self->sorter);
    return lode_otlp_sorter_finish(self->sorter, opening->threads, &rec->span_memory, &rec->spans,
                                   opening->error);
}

static lode_status say_count(const struct otlp_opening *opening, unsigned rule, enum otlp_count count,
                             const char *one, const char *many)
{
    uint64_t number = opening->rec->counts[count];
    if (number == 0)
        return LODE_OK;
    return lode_report_add(opening->report, rule, NULL, LODE_NO_OFFSET, "%s",
                           LODE_COUNTED(number, one, many));
}

lode_status lode_otlp_say_counts(const struct otlp_opening *opening)
{
    const uint64_t *counts = opening->rec->counts;
    opening->rec->base.quality.dropped = counts[OTLP_COUNT_DROPPED_ATTRIBUTES] +
                                         counts[OTLP_COUNT_DROPPED_EVENTS] + counts[OTLP_COUNT_DROPPED_LINKS];
    LODE_TRY(say_count(opening, OTLP_SIGNAL, OTLP_COUNT_SIGNAL, "message with another signal",
                       "messages with other signals"));
    LODE_TRY(say_count(opening, OTLP_BAD_ID, OTLP_COUNT_BAD_ID, "span without a valid id",
                       "spans without valid ids"));
    LODE_TRY(say_count(opening, OTLP_BAD_TIME, OTLP_COUNT_BAD_TIME, "span without a valid time",
                       "spans without valid times"));
    LODE_TRY(
        say_count(opening, OTLP_NO_END, OTLP_COUNT_NO_END, "span without an end", "spans without an end"));
    LODE_TRY(say_count(opening, OTLP_DROPPED, OTLP_COUNT_DROPPED_ATTRIBUTES, "attribute was dropped",
                       "attributes were dropped"));
    LODE_TRY(say_count(opening, OTLP_DROPPED, OTLP_COUNT_DROPPED_EVENTS, "event was dropped",
                       "events were dropped"));
    LODE_TRY(
        say_count(opening, OTLP_DROPPED, OTLP_COUNT_DROPPED_LINKS, "link was dropped", "links were dropped"));
    return say_count(opening, OTLP_WARNED, OTLP_COUNT_WARNED, "span was moved by Jaeger",
                     "spans were moved by Jaeger");
}

lode_status lode_otlp_index(struct otlp_opening *opening)
{
    struct indexing self = {.opening = opening,
                            .progress = {opening->on_progress, opening->user, "opening", 0, 0}};
    lode_array_init(&self.messages, sizeof(struct message), SIZE_MAX);
    lode_array_init(&self.batches, sizeof(struct batch), SIZE_MAX);
    lode_status status = read_all(&self);
    if (status == LODE_OK)
        status = sort_all(&self);
    lode_otlp_sorter_close(self.sorter);
    for (size_t i = 0; i < self.batches.count; i++) {
        struct batch *batch = LODE_ARRAY_AT(&self.batches, struct batch, i);
        lode_otlp_batch_free(&batch->content);
        lode_array_free(&batch->torn);
    }
    lode_array_free(&self.messages);
    lode_array_free(&self.batches);
    return status;
}
