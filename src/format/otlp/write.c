/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes spans as OpenTelemetry protobuf: a message for each trace, after its length. Requests are
 * whole, as they are in the files: with the times that were recorded, and without duplicates. A
 * slice has the requests that are under way in its time window.
 */
#include "base/compare.h"
#include "base/error.h"
#include "base/io/bytes.h"
#include "base/io/output.h"
#include "format/otlp/otlp.h"
#include "model/recording/recording_sink.h"
#include <stdlib.h>

struct otlp_sink {
    struct lode_recording_sink base;
    struct lode_output output;
    struct lode_output_file file;
    bool is_open;
    const struct otlp_recording *rec; /* the one that is read */
    unsigned char *is_chosen;         /* by trace; workers set their own tracks' */
    struct lode_blob message, span;
    uint32_t *order; /* spans of a trace */
    uint32_t capacity;
    lode_status status; /* of writing a recording, which end cannot return */
    lode_error failure;
};

static struct otlp_sink *sink_of(struct lode_recording_sink *self)
{
    return (struct otlp_sink *)self;
}

/* ---- a trace ---- */

static lode_status put_span(struct otlp_sink *sink, struct otlp_put *put, const struct otlp_span *span,
                            lode_error *error)
{
    struct lode_range bytes;
    LODE_TRY(lode_otlp_read(sink->rec, span, &sink->span, &bytes, error));
    lode_otlp_put_bytes(put, SCOPE_SPANS_SPANS, bytes);
    return LODE_OK;
}

/* Spans with one resource and one scope. */
static lode_status put_origin(struct otlp_sink *sink, struct otlp_put *put, const uint32_t *spans,
                              uint32_t count, lode_error *error)
{
    const struct otlp_recording *rec = sink->rec;
    const struct otlp_origin *origin = &rec->origins[rec->spans[spans[0]].origin];
    otlp_nested resource_spans = lode_otlp_put_begin(put, TRACES_RESOURCE_SPANS);
    lode_otlp_put_bytes(put, RESOURCE_SPANS_RESOURCE, rec->resources[origin->resource].attributes);
    otlp_nested scope_spans = lode_otlp_put_begin(put, RESOURCE_SPANS_SCOPES);
    if (origin->scope) {
        const char *name = lode_file_path(origin->scope);
        otlp_nested scope = lode_otlp_put_begin(put, SCOPE_SPANS_SCOPE);
        lode_otlp_put_bytes(put, SCOPE_NAME, (struct lode_range){(const uint8_t *)name, strlen(name)});
        lode_otlp_put_end(put, scope);
    }
    for (uint32_t i = 0; i < count; i++)
        LODE_TRY(put_span(sink, put, &rec->spans[spans[i]], error));
    lode_otlp_put_end(put, scope_spans);
    lode_otlp_put_end(put, resource_spans);
    return LODE_OK;
}

static int compare_origins(const void *left, const void *right, void *argument)
{
    const uint32_t *a = left, *b = right;
    const struct otlp_span *spans = argument;
    uint32_t x = spans[*a].origin, y = spans[*b].origin;
    return x != y ? LODE_COMPARE(x, y) : LODE_COMPARE(*a, *b);
}

static lode_status write_message(struct otlp_sink *sink, lode_error *error)
{
    uint8_t length[4];
    if (sink->message.size > UINT32_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "a request is larger than 4 GiB");
    put_u32be(length, (uint32_t)sink->message.size);
    LODE_TRY(lode_output_write(&sink->file, length, sizeof length, error));
    return lode_output_write(&sink->file, sink->message.bytes, sink->message.size, error);
}

static lode_status write_trace(struct otlp_sink *sink, const struct otlp_trace *trace, lode_error *error)
{
    struct otlp_put put = {&sink->message, false};
    struct otlp_span *spans = sink->rec->spans;
    if (trace->count > sink->capacity)
        LODE_TRY_ALLOC(LODE_GROW(sink->order, sink->capacity, trace->count), error);
    for (uint32_t i = 0; i < trace->count; i++)
        sink->order[i] = trace->first + i;
    qsort_r(sink->order, trace->count, sizeof *sink->order, compare_origins, spans);
    sink->message.size = 0;
    for (uint32_t i = 0, next; i < trace->count; i = next) {
        for (next = i;
             next < trace->count && spans[sink->order[next]].origin == spans[sink->order[i]].origin;)
            next++;
        LODE_TRY(put_origin(sink, &put, sink->order + i, next - i, error));
    }
    LODE_TRY_ALLOC(!put.has_failed, error);
    return write_message(sink, error);
}

/* ---- the sink ---- */

static lode_status check(const struct lode_recording_sink *self, lode_error *error)
{
    if (self->slice.depth || self->slice.min_time)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "requests are written whole: depth and shortest time do not apply to spans");
    for (size_t i = 0; i < self->count; i++)
        if (!lode_otlp_is_spans(self->recordings[i]))
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "only spans can be written as spans, not %s", self->recordings[i]->format);
    return LODE_OK;
}

static lode_status create(struct lode_recording_sink *self, const char *path, lode_error *error)
{
    struct otlp_sink *sink = sink_of(self);
    sink->output = (struct lode_output)LODE_OUTPUT_INIT;
    LODE_TRY(check(self, error));
    LODE_TRY(lode_output_create_file(&sink->output, path, self->options->force != 0, error));
    LODE_TRY(lode_output_file_single(&sink->file, &sink->output, error));
    sink->is_open = true;
    return LODE_OK;
}

/* Times since the epoch are those of all recordings. */
static int64_t clock_of(const struct lode_recording_sink *self, size_t index)
{
    return self->recordings[index]->utc_offset - self->recordings[0]->utc_offset;
}

static lode_status begin(struct lode_recording_sink *self, size_t index, const lode_slice *slice,
                         unsigned workers, lode_error *error)
{
    struct otlp_sink *sink = sink_of(self);
    (void)slice;
    (void)workers;
    sink->rec = otlp_of(self->recordings[index]);
    sink->is_chosen = calloc(sink->rec->tracks.count + 1, 1);
    LODE_TRY_ALLOC(sink->is_chosen, error);
    return LODE_OK;
}

static lode_status begin_track(struct lode_recording_sink *self, unsigned worker, uint32_t track,
                               lode_error *error)
{
    (void)worker;
    (void)error;
    sink_of(self)->is_chosen[track] = 1;
    return LODE_OK;
}

static lode_status take(struct lode_recording_sink *self, unsigned worker, const lode_event *events,
                        size_t count, lode_error *error)
{
    (void)self;
    (void)worker;
    (void)events;
    (void)count;
    (void)error;
    return LODE_OK;
}

static lode_status end_track(struct lode_recording_sink *self, unsigned worker, lode_error *error)
{
    (void)self;
    (void)worker;
    (void)error;
    return LODE_OK;
}

/* A request is chosen if one of its tracks is. */
static void end(struct lode_recording_sink *self)
{
    struct otlp_sink *sink = sink_of(self);
    const struct otlp_track *tracks = sink->rec ? sink->rec->tracks.items : NULL;
    uint32_t count = sink->rec ? (uint32_t)sink->rec->tracks.count : 0, written = OTLP_NO_SPAN;
    for (uint32_t i = 0; sink->is_chosen && i < count && sink->status == LODE_OK; i++) {
        if (!sink->is_chosen[i] || tracks[i].trace == written)
            continue;
        written = tracks[i].trace;
        sink->status =
            write_trace(sink, LODE_ARRAY_AT(&sink->rec->traces, struct otlp_trace, written), &sink->failure);
    }
    free(sink->is_chosen);
    sink->is_chosen = NULL;
}

static lode_status finish(struct lode_recording_sink *self, lode_error *error)
{
    struct otlp_sink *sink = sink_of(self);
    if (sink->status != LODE_OK) {
        if (error)
            *error = sink->failure;
        return sink->status;
    }
    sink->is_open = false;
    LODE_TRY(lode_output_file_close(&sink->file, error));
    return lode_output_commit(&sink->output, error);
}

static void close_sink(struct lode_recording_sink *self)
{
    struct otlp_sink *sink = sink_of(self);
    if (sink->is_open)
        lode_output_file_abandon(&sink->file);
    lode_output_close(&sink->output);
    lode_blob_free(&sink->message);
    lode_blob_free(&sink->span);
    free(sink->order);
}

const struct lode_recording_sink_ops lode_otlp_sink_ops = {
    .size = sizeof(struct otlp_sink),
    .passes = 1,
    .create = create,
    .clock = clock_of,
    .begin = begin,
    .begin_track = begin_track,
    .take = take,
    .end_track = end_track,
    .end = end,
    .finish = finish,
    .close = close_sink,
};
