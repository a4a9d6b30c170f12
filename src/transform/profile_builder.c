/* SPDX-License-Identifier: BSD-3-Clause */
/* Profile builders: values, points and samples, from what a caller says to what a sink takes. */
#include "base/error.h"
#include "model/database/block_builder.h"
#include "transform/writer.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct point {
    double value;
    uint32_t context, metric;
};

enum phase {
    EMPTY,
    OPEN, /* begun */
    ENDED
};

struct lode_profile_builder {
    lode_writer *writer;
    enum phase phase;
    struct lode_array ids, points;
    struct lode_block_builder values;
    lode_block block; /* when it has ended */
    void *scratch;    /* the sink's */
    void (*release)(void *scratch);
    struct lode_blob samples;
    uint64_t last_time;
    /* Propagation: contexts that have values, their rows, and all their values. */
    struct lode_array touched; /* of uint32_t */
    uint32_t *row_of;          /* by id: 1 + the row, or 0 */
    double *matrix;            /* [row][column]; columns: value ids, then loopless values */
    size_t matrix_size;
};

lode_status lode_profile_builder_create(lode_profile_builder **out, lode_writer *writer, lode_error *error)
{
    *out = NULL;
    if (!writer->sealed || writer->finished)
        return lode_fail(
            error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
            "profiles can be built only after the description is sealed and before the database is finished");
    lode_profile_builder *self = calloc(1, sizeof *self);
    if (self == NULL)
        return lode_fail_memory(error);
    self->writer = writer;
    self->release = writer->sink->ops->release;
    lode_array_init(&self->ids, sizeof(lode_id), UINT16_MAX);
    lode_array_init(&self->points, sizeof(struct point), SIZE_MAX);
    lode_array_init(&self->touched, sizeof(uint32_t), SIZE_MAX);
    lode_block_builder_init(&self->values);
    *out = self;
    return LODE_OK;
}

void lode_profile_builder_free(lode_profile_builder *self)
{
    if (self == NULL)
        return;
    if (self->scratch)
        self->release(self->scratch);
    lode_array_free(&self->ids);
    lode_array_free(&self->points);
    lode_array_free(&self->touched);
    lode_block_builder_free(&self->values);
    lode_blob_free(&self->samples);
    free(self->row_of);
    free(self->matrix);
    free(self);
}

static lode_status expect_phase(const lode_profile_builder *self, enum phase phase, lode_error *error)
{
    static const char *const names[] = {"empty", "begun", "ended"};
    if (self->phase == phase)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the profile builder is %s, not %s",
                     names[self->phase], names[phase]);
}

lode_status lode_profile_builder_begin(lode_profile_builder *self, const lode_id *ids, uint32_t id_count,
                                       lode_error *error)
{
    struct lode_id_tuple tuple = {ids, id_count};
    self->phase = EMPTY;
    self->ids.count = self->points.count = 0;
    self->samples.size = 0;
    self->last_time = 0;
    lode_block_builder_clear(&self->values);
    LODE_TRY(lode_description_check_tuple(&self->writer->about, &tuple, error));
    for (uint32_t i = 0; i < id_count; i++) {
        lode_id *copy = lode_array_push(&self->ids);
        if (copy == NULL)
            return lode_fail_memory(error);
        *copy = ids[i];
    }
    self->phase = OPEN;
    return LODE_OK;
}

/* The id of a context that a caller names. */
static lode_status find_context(const lode_profile_builder *self, uint32_t context, uint32_t *id,
                                lode_error *error)
{
    const struct lode_description *about = &self->writer->about;
    LODE_TRY(expect_phase(self, OPEN, error));
    if (context != LODE_NONE && context >= about->id_count - 1)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "context %" PRIu32 " was not described", context);
    *id = description_id(about, context);
    return LODE_OK;
}

lode_status lode_profile_builder_value(lode_profile_builder *self, uint32_t context, uint16_t id,
                                       double value, lode_error *error)
{
    uint32_t found = 0;
    LODE_TRY(find_context(self, context, &found, error));
    if (id >= self->writer->about.value_ids)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "metric id %u was not described",
                         id);
    return lode_block_builder_add(&self->values, found, id, value, error);
}

lode_status lode_profile_builder_point(lode_profile_builder *self, uint32_t context, uint32_t metric,
                                       double value, lode_error *error)
{
    const struct lode_description *about = &self->writer->about;
    uint32_t found = 0;
    LODE_TRY(find_context(self, context, &found, error));
    if (metric >= about->metric_count)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "metric %" PRIu32 " was not described", metric);
    if (found >= about->tree.count)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a point value is at an unlisted context, whose parent is unknown");
    if (self->writer->opaque[metric])
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "point values cannot be propagated to all scopes of metric %" PRIu32, metric);
    if (value == 0.0)
        return LODE_OK;
    struct point *added = lode_array_push(&self->points);
    if (added == NULL)
        return lode_fail_memory(error);
    *added = (struct point){value, found, metric};
    return LODE_OK;
}

lode_status lode_profile_builder_sample(lode_profile_builder *self, uint64_t time, uint32_t context,
                                        lode_error *error)
{
    uint32_t found = 0;
    LODE_TRY(find_context(self, context, &found, error));
    LODE_TRY(lode_description_check_sample(&self->writer->about, time, self->last_time, found, error));
    size_t at = lode_blob_reserve(&self->samples, TRACE_SAMPLE_SIZE, 1);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    put_u64le(self->samples.bytes + at, time);
    put_u32le(self->samples.bytes + at + 8, found);
    self->last_time = time;
    return LODE_OK;
}

/* ---- propagation ---- */

/* Gives a context and all above it a row. */
static lode_status touch(lode_profile_builder *self, uint32_t context, lode_error *error)
{
    const lode_context *nodes = self->writer->about.tree.nodes;
    for (;; context = nodes[context].parent) {
        if (self->row_of[context] != 0)
            return LODE_OK;
        uint32_t *added = lode_array_push(&self->touched);
        if (added == NULL)
            return lode_fail_memory(error);
        *added = context;
        self->row_of[context] = 1;
        if (context == 0)
            return LODE_OK;
    }
}

static int compare_ids(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static lode_status make_matrix(lode_profile_builder *self, lode_error *error)
{
    const lode_writer *writer = self->writer;
    if (self->row_of == NULL)
        self->row_of = calloc(writer->about.id_count, sizeof *self->row_of);
    if (self->row_of == NULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < self->points.count; i++)
        LODE_TRY(touch(self, LODE_ARRAY_AT(&self->points, struct point, i)->context, error));
    uint32_t *rows = self->touched.items;
    if (self->touched.count > 1)
        qsort(rows, self->touched.count, sizeof *rows, compare_ids);
    for (uint32_t i = 0; i < self->touched.count; i++)
        self->row_of[rows[i]] = i + 1;
    size_t needed = self->touched.count * writer->columns;
    if (needed > self->matrix_size) {
        free(self->matrix);
        self->matrix = malloc(needed * sizeof *self->matrix);
        self->matrix_size = self->matrix ? needed : 0;
        if (self->matrix == NULL)
            return lode_fail_memory(error);
    }
    if (needed > 0)
        memset(self->matrix, 0, needed * sizeof *self->matrix);
    return LODE_OK;
}

static double *row(const lode_profile_builder *self, uint32_t context)
{
    return self->matrix + (size_t)(self->row_of[context] - 1) * self->writer->columns;
}

/* Of custom scopes only "lex_aware" is known; point values need known scopes. */
static bool is_lexical(const struct lode_writer_value *id)
{
    return id->type == LODE_SCOPE_CUSTOM;
}

static void add_points(lode_profile_builder *self)
{
    const lode_writer *writer = self->writer;
    for (size_t i = 0; i < self->points.count; i++) {
        const struct point *point = LODE_ARRAY_AT(&self->points, struct point, i);
        const struct lode_metric *metric = &writer->about.metrics[point->metric];
        double *values = row(self, point->context);
        for (size_t k = 0; k < metric->scope_count; k++) {
            uint16_t id = metric->scopes[k].id;
            values[id] += point->value;
            if (is_lexical(&writer->value_ids[id]))
                values[writer->value_ids[id].loopless] += point->value;
        }
    }
}

static bool is_loop(const lode_context *context)
{
    return context->lexical == LODE_LEXICAL_LOOP;
}

/* Ids are in depth-first order: going backwards, each context is complete when it is added. */
static void pass_up(lode_profile_builder *self)
{
    const lode_writer *writer = self->writer;
    const uint32_t *rows = self->touched.items;
    for (size_t i = self->touched.count; i-- > 0;) {
        if (rows[i] == 0)
            continue;
        const lode_context *context = &writer->about.tree.nodes[rows[i]];
        const double *from = row(self, rows[i]);
        double *to = row(self, context->parent);
        for (uint32_t id = 0; id < writer->about.value_ids; id++) {
            const struct lode_writer_value *kind = &writer->value_ids[id];
            bool inside = context->propagation & 1u;
            bool passes = kind->type == LODE_SCOPE_EXECUTION ||
                          (kind->type == LODE_SCOPE_TRANSITIVE && (context->propagation >> kind->bit & 1u)) ||
                          (is_lexical(kind) && inside);
            if (passes)
                to[id] += from[id];
            if (is_lexical(kind) && inside && !is_loop(context))
                to[kind->loopless] += from[kind->loopless];
        }
    }
}

/* A loop's lexical value excludes inner loops: they were never added, so nothing remains. */
static double propagated_value(const lode_profile_builder *self, uint32_t context, uint32_t id)
{
    const struct lode_writer_value *kind = &self->writer->value_ids[id];
    bool loopless = is_lexical(kind) && is_loop(&self->writer->about.tree.nodes[context]);
    return row(self, context)[loopless ? kind->loopless : id];
}

static lode_status propagate(lode_profile_builder *self, lode_error *error)
{
    lode_status status = make_matrix(self, error);
    const uint32_t *rows = self->touched.items;
    if (status == LODE_OK) {
        add_points(self);
        pass_up(self);
    }
    for (size_t i = 0; i < self->touched.count; i++) {
        for (uint32_t id = 0; id < self->writer->about.value_ids && status == LODE_OK; id++)
            status = lode_block_builder_add(&self->values, rows[i], (uint16_t)id,
                                            propagated_value(self, rows[i], id), error);
        self->row_of[rows[i]] = 0;
    }
    self->touched.count = 0;
    return status;
}

/* ---- the end of a profile ---- */

lode_status lode_profile_builder_end(lode_profile_builder *self, lode_error *error)
{
    struct lode_sink *sink = self->writer->sink;
    LODE_TRY(expect_phase(self, OPEN, error));
    self->phase = EMPTY;
    if (self->points.count > 0)
        LODE_TRY(propagate(self, error));
    LODE_TRY(lode_block_builder_end(&self->values, self->writer->about.id_count, &self->block, error));
    if (sink->ops->prepare)
        LODE_TRY(sink->ops->prepare(sink, &self->scratch, &self->block, error));
    self->phase = ENDED;
    return LODE_OK;
}

static lode_status append(lode_writer *writer, lode_profile_builder *self, lode_error *error)
{
    struct lode_sink *sink = writer->sink;
    struct lode_id_tuple ids = {self->ids.items, (uint32_t)self->ids.count};
    lode_trace_line line = {.profile = writer->appended + 1,
                            .sample_count = self->samples.size / TRACE_SAMPLE_SIZE,
                            .samples = self->samples.bytes};
    LODE_TRY(sink->ops->append(sink, self->scratch, &ids, &self->block, error));
    if (sink->options.traces && sink->ops->append_samples)
        LODE_TRY(sink->ops->append_samples(sink, writer->appended, &line, error));
    writer->appended++;
    return LODE_OK;
}

lode_status lode_writer_append(lode_writer *writer, lode_profile_builder *builder, lode_error *error)
{
    if (builder->writer != writer || writer->finished)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a profile can be appended only to its own database, and before that is finished");
    LODE_TRY(expect_phase(builder, ENDED, error));
    builder->phase = EMPTY;
    lode_status status = append(writer, builder, error);
    writer->broken |= status != LODE_OK;
    return status;
}
