/* SPDX-License-Identifier: BSD-3-Clause */
/* Builders of profiles: values and samples, from what a caller says to what the files hold. */
#include "base/blob.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "format/hpctoolkit/loops.h"
#include "format/hpctoolkit/write.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct builder_value {
    double value;
    uint32_t context; /* id in the file */
    uint16_t id;
};

struct builder_point {
    double value;
    uint32_t context, metric;
};

/* Values of one context that stand next to each other. */
struct builder_run {
    uint32_t context;
    size_t first, count;
};

enum builder_phase {
    DRAFT_EMPTY,
    DRAFT_OPEN, /* begun */
    DRAFT_ENDED
};

struct lode_profile_builder {
    lode_writer *writer;
    enum builder_phase phase;
    struct lode_array ids, values, points, runs;
    bool in_order; /* values are sorted */
    struct lode_blob samples, encoded, indices;
    uint64_t sample_count, last_time;
    uint32_t group_count;
    struct lode_array loops; /* of struct loop_value, if the writer wants them */
    /* Propagation: contexts that have values, their rows, and all their values. */
    struct lode_array touched; /* of uint32_t */
    uint32_t *row_of;          /* by id: 1 + the row, or 0 */
    double *matrix;            /* [row][column]; columns are value ids, and those of value_id.loopless */
    size_t matrix_size;
};

lode_status lode_profile_builder_create(lode_profile_builder **out, lode_writer *writer, lode_error *error)
{
    *out = NULL;
    if (!writer->sealed || writer->finished)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "profiles are made when the description is sealed and the database is not finished");
    lode_profile_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL)
        return lode_fail_memory(error);
    builder->writer = writer;
    lode_array_init(&builder->ids, sizeof(lode_id), UINT16_MAX);
    lode_array_init(&builder->values, sizeof(struct builder_value), SIZE_MAX);
    lode_array_init(&builder->points, sizeof(struct builder_point), SIZE_MAX);
    lode_array_init(&builder->runs, sizeof(struct builder_run), SIZE_MAX);
    lode_array_init(&builder->loops, sizeof(struct loop_value), SIZE_MAX);
    lode_array_init(&builder->touched, sizeof(uint32_t), SIZE_MAX);
    *out = builder;
    return LODE_OK;
}

void lode_profile_builder_free(lode_profile_builder *builder)
{
    if (builder == NULL)
        return;
    lode_array_free(&builder->ids);
    lode_array_free(&builder->values);
    lode_array_free(&builder->points);
    lode_array_free(&builder->runs);
    lode_array_free(&builder->loops);
    lode_array_free(&builder->touched);
    lode_blob_free(&builder->samples);
    lode_blob_free(&builder->encoded);
    lode_blob_free(&builder->indices);
    free(builder->row_of);
    free(builder->matrix);
    free(builder);
}

static lode_status expect_phase(const lode_profile_builder *builder, enum builder_phase phase,
                                lode_error *error)
{
    static const char *const names[] = {"empty", "begun", "ended"};
    if (builder->phase == phase)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the draft of a profile is %s, not %s",
                     names[builder->phase], names[phase]);
}

static lode_status check_tuple(const lode_writer *writer, const lode_id *ids, uint32_t id_count,
                               lode_error *error)
{
    if (id_count == 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "a profile needs an id tuple");
    if (id_count > UINT16_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "an id tuple of %" PRIu32 " ids",
                         id_count);
    for (uint32_t i = 0; i < id_count; i++)
        if (ids[i].kind >= writer->kinds.count || ids[i].flags > UINT16_MAX)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "an id is of kind %u with flags %u; kinds must be described, flags have 16 bits",
                             ids[i].kind, ids[i].flags);
    return LODE_OK;
}

lode_status lode_profile_builder_begin(lode_profile_builder *builder, const lode_id *ids, uint32_t id_count,
                                       lode_error *error)
{
    builder->phase = DRAFT_EMPTY;
    builder->ids.count = builder->values.count = builder->points.count = builder->runs.count =
        builder->loops.count = 0;
    builder->samples.size = builder->encoded.size = builder->indices.size = 0;
    builder->in_order = true;
    builder->sample_count = builder->last_time = 0;
    builder->group_count = 0;
    LODE_TRY(check_tuple(builder->writer, ids, id_count, error));
    for (uint32_t i = 0; i < id_count; i++) {
        lode_id *copy = lode_array_push(&builder->ids);
        if (copy == NULL)
            return lode_fail_memory(error);
        *copy = ids[i];
    }
    builder->phase = DRAFT_OPEN;
    return LODE_OK;
}

/* The id in the file of a context that a caller names. */
static lode_status file_id(const lode_profile_builder *builder, uint32_t context, uint32_t *id,
                           lode_error *error)
{
    LODE_TRY(expect_phase(builder, DRAFT_OPEN, error));
    if (context == LODE_NONE) {
        *id = 0;
        return LODE_OK;
    }
    if (context >= builder->writer->contexts.count)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "context %" PRIu32 " was not described", context);
    *id = builder->writer->id_of[context];
    return LODE_OK;
}

static lode_status push_value(lode_profile_builder *builder, uint32_t context, uint16_t id, double value,
                              lode_error *error)
{
    if (builder->values.count > 0) {
        const struct builder_value *last =
            LODE_ARRAY_AT(&builder->values, struct builder_value, builder->values.count - 1);
        if (last->context > context || (last->context == context && last->id >= id))
            builder->in_order = false;
    }
    struct builder_value *added = lode_array_push(&builder->values);
    if (added == NULL)
        return lode_fail_memory(error);
    *added = (struct builder_value){value, context, id};
    return LODE_OK;
}

lode_status lode_profile_builder_value(lode_profile_builder *builder, uint32_t context, uint16_t id,
                                       double value, lode_error *error)
{
    uint32_t in_file = 0;
    LODE_TRY(file_id(builder, context, &in_file, error));
    if (id >= builder->writer->value_ids)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "metric id %u was not described",
                         id);
    return value == 0.0 ? LODE_OK : push_value(builder, in_file, id, value, error);
}

lode_status lode_profile_builder_point(lode_profile_builder *builder, uint32_t context, uint32_t metric,
                                       double value, lode_error *error)
{
    uint32_t in_file = 0;
    LODE_TRY(file_id(builder, context, &in_file, error));
    if (metric >= builder->writer->metrics.count)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "metric %" PRIu32 " was not described", metric);
    if (in_file > builder->writer->listed)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a point value is at an unlisted context, and nobody knows what is above it");
    if (WRITTEN(builder->writer, metrics, metric, metric)->opaque)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "points cannot be propagated to all scopes of metric %" PRIu32, metric);
    if (value == 0.0)
        return LODE_OK;
    struct builder_point *added = lode_array_push(&builder->points);
    if (added == NULL)
        return lode_fail_memory(error);
    *added = (struct builder_point){value, in_file, metric};
    return LODE_OK;
}

lode_status lode_profile_builder_sample(lode_profile_builder *builder, uint64_t time, uint32_t context,
                                        lode_error *error)
{
    struct wire_Sample sample = {.timestamp = time};
    LODE_TRY(file_id(builder, context, &sample.ctxId, error));
    if (sample.ctxId > builder->writer->listed)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a sample is at an unlisted context, where nobody finds it");
    if (builder->sample_count > 0 && time < builder->last_time)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a sample is earlier than the one before");
    size_t at = lode_blob_reserve(&builder->samples, WIRE_Sample_SIZE, 1);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    lode_wire_write_Sample(&sample, builder->samples.bytes + at);
    builder->last_time = time;
    builder->sample_count++;
    return LODE_OK;
}

/* ---- propagation ---- */

/* Gives a context and all above it a row. */
static lode_status touch(lode_profile_builder *builder, uint32_t context, lode_error *error)
{
    for (;; context = builder->writer->numbered[context].parent) {
        if (builder->row_of[context] != 0)
            return LODE_OK;
        uint32_t *added = lode_array_push(&builder->touched);
        if (added == NULL)
            return lode_fail_memory(error);
        *added = context;
        builder->row_of[context] = 1;
        if (context == 0)
            return LODE_OK;
    }
}

static int compare_ids(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static lode_status make_matrix(lode_profile_builder *builder, lode_error *error)
{
    const lode_writer *writer = builder->writer;
    if (builder->row_of == NULL)
        builder->row_of = calloc(writer->id_count, sizeof *builder->row_of);
    if (builder->row_of == NULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < builder->points.count; i++)
        LODE_TRY(touch(builder, LODE_ARRAY_AT(&builder->points, struct builder_point, i)->context, error));
    uint32_t *rows = builder->touched.items;
    if (builder->touched.count > 1)
        qsort(rows, builder->touched.count, sizeof *rows, compare_ids);
    for (uint32_t i = 0; i < builder->touched.count; i++)
        builder->row_of[rows[i]] = i + 1;
    size_t needed = builder->touched.count * writer->columns;
    if (needed > builder->matrix_size) {
        free(builder->matrix);
        builder->matrix = malloc(needed * sizeof *builder->matrix);
        builder->matrix_size = builder->matrix ? needed : 0;
        if (builder->matrix == NULL)
            return lode_fail_memory(error);
    }
    if (needed > 0)
        memset(builder->matrix, 0, needed * sizeof *builder->matrix);
    return LODE_OK;
}

static double *row(const lode_profile_builder *builder, uint32_t context)
{
    return builder->matrix + (size_t)(builder->row_of[context] - 1) * builder->writer->columns;
}

/* Only "lex_aware" is known of the custom scopes, and points are only of metrics whose scopes are known. */
static bool is_lexical(const struct value_id *id)
{
    return id->type == LODE_SCOPE_CUSTOM;
}

static void add_points(lode_profile_builder *builder)
{
    const lode_writer *writer = builder->writer;
    for (size_t i = 0; i < builder->points.count; i++) {
        const struct builder_point *point = LODE_ARRAY_AT(&builder->points, struct builder_point, i);
        const struct written_metric *metric = WRITTEN(writer, metrics, metric, point->metric);
        double *values = row(builder, point->context);
        for (size_t k = 0; k < metric->scopes.count; k++) {
            uint16_t id = LODE_ARRAY_AT(&metric->scopes, struct written_metric_scope, k)->id;
            values[id] += point->value;
            if (is_lexical(&writer->ids_of_values[id]))
                values[writer->ids_of_values[id].loopless] += point->value;
        }
    }
}

/* Ids are in depth-first order, so from the last to the first every context is complete before it is passed on. */
static void pass_up(lode_profile_builder *builder)
{
    const lode_writer *writer = builder->writer;
    const uint32_t *rows = builder->touched.items;
    for (size_t i = builder->touched.count; i-- > 0;) {
        if (rows[i] == 0)
            continue;
        const struct numbered_context *context = &writer->numbered[rows[i]];
        const double *from = row(builder, rows[i]);
        double *to = row(builder, context->parent);
        for (uint32_t id = 0; id < writer->value_ids; id++) {
            const struct value_id *kind = &writer->ids_of_values[id];
            bool inside = context->propagation & 1u;
            bool passes = kind->type == LODE_SCOPE_EXECUTION ||
                          (kind->type == LODE_SCOPE_TRANSITIVE && (context->propagation >> kind->bit & 1u)) ||
                          (is_lexical(kind) && inside);
            if (passes)
                to[id] += from[id];
            if (is_lexical(kind) && inside && !context->loop)
                to[kind->loopless] += from[kind->loopless];
        }
    }
}

/* A loop's lexical value is without the loops inside it. These were never added, so that nothing of them remains. */
static double propagated_value(const lode_profile_builder *builder, uint32_t context, uint32_t id)
{
    const struct value_id *kind = &builder->writer->ids_of_values[id];
    bool loopless = is_lexical(kind) && builder->writer->numbered[context].loop;
    return row(builder, context)[loopless ? kind->loopless : id];
}

static lode_status propagate(lode_profile_builder *builder, lode_error *error)
{
    const uint32_t *rows;
    lode_status status = make_matrix(builder, error);
    rows = builder->touched.items;
    if (status == LODE_OK) {
        add_points(builder);
        pass_up(builder);
    }
    for (size_t i = 0; i < builder->touched.count; i++) {
        for (uint32_t id = 0; id < builder->writer->value_ids && status == LODE_OK; id++) {
            double value = propagated_value(builder, rows[i], id);
            if (value != 0.0)
                status = push_value(builder, rows[i], (uint16_t)id, value, error);
        }
        builder->row_of[rows[i]] = 0;
    }
    builder->touched.count = 0;
    return status;
}

/* ---- order ---- */

static int compare_values(const void *left, const void *right)
{
    const struct builder_value *a = left, *b = right;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static lode_status find_runs(lode_profile_builder *builder, lode_error *error)
{
    const struct builder_value *values = builder->values.items;
    struct builder_run *run = NULL;
    for (size_t i = 0; i < builder->values.count; i++) {
        if (run == NULL || run->context != values[i].context) {
            run = lode_array_push(&builder->runs);
            if (run == NULL)
                return lode_fail_memory(error);
            *run = (struct builder_run){.context = values[i].context, .first = i};
        }
        run->count++;
    }
    return LODE_OK;
}

/* By context; what is equal keeps its order. Contexts are numbers below some bound, so that they need not be compared. */
static lode_status sort_runs(lode_profile_builder *builder, lode_error *error)
{
    enum {
        BITS = 11,
        DIGITS = 1 << BITS
    };
    size_t count = builder->runs.count;
    struct builder_run *from = builder->runs.items, *to = malloc((count + 1) * sizeof *to), *spare = to;
    if (to == NULL)
        return lode_fail_memory(error);
    bool is_moved = false;
    for (unsigned shift = 0; shift < 32 && (builder->writer->id_count - 1) >> shift > 0; shift += BITS) {
        size_t starts[DIGITS + 1] = {0};
        for (size_t i = 0; i < count; i++)
            starts[(from[i].context >> shift) % DIGITS + 1]++;
        for (size_t i = 1; i < DIGITS; i++)
            starts[i] += starts[i - 1];
        for (size_t i = 0; i < count; i++)
            to[starts[(from[i].context >> shift) % DIGITS]++] = from[i];
        struct builder_run *swapped = from;
        from = to;
        to = swapped;
        is_moved = !is_moved;
    }
    if (is_moved)
        memcpy(builder->runs.items, spare, count * sizeof *spare);
    free(spare);
    return LODE_OK;
}

/* The few values of a run. */
static void sort_run(struct builder_value *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct builder_value value = values[i];
        size_t k = i;
        for (; k > 0 && values[k - 1].id > value.id; k--)
            values[k] = values[k - 1];
        values[k] = value;
    }
}

/* Puts each run in order; false if a context has two, or if one has so many values that it would take long. */
static bool settle_runs(lode_profile_builder *builder)
{
    enum {
        FEW = 64
    };
    const struct builder_run *runs = builder->runs.items;
    for (size_t i = 0; i < builder->runs.count; i++) {
        if (runs[i].count > FEW || (i > 0 && runs[i].context == runs[i - 1].context))
            return false;
        sort_run((struct builder_value *)builder->values.items + runs[i].first, runs[i].count);
    }
    return true;
}

static lode_status refuse_doubles(const lode_profile_builder *builder, lode_error *error)
{
    const struct builder_value *values = builder->values.items;
    for (size_t i = 1; i < builder->values.count; i++)
        if (compare_values(&values[i - 1], &values[i]) == 0)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "a profile has two values of metric id %u at one context", values[i].id);
    return LODE_OK;
}

/* Sorts by context. Callers mostly give the values of a context together, and then only contexts are sorted. */
static lode_status put_in_order(lode_profile_builder *builder, lode_error *error)
{
    LODE_TRY(find_runs(builder, error));
    if (builder->in_order)
        return LODE_OK;
    LODE_TRY(sort_runs(builder, error));
    if (settle_runs(builder))
        return refuse_doubles(builder, error);
    qsort(builder->values.items, builder->values.count, sizeof(struct builder_value), compare_values);
    LODE_TRY(refuse_doubles(builder, error));
    builder->runs.count = 0;
    return find_runs(builder, error);
}

/* ---- bytes ---- */

static lode_status encode(lode_profile_builder *builder, lode_error *error)
{
    const struct builder_value *values = builder->values.items;
    const struct builder_run *runs = builder->runs.items;
    size_t at = lode_blob_reserve(&builder->encoded, builder->values.count * WIRE_ProfileValue_SIZE, 1);
    size_t index = lode_blob_reserve(&builder->indices, builder->runs.count * WIRE_ContextIndex_SIZE, 1);
    if (at == LODE_BLOB_FULL || index == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    uint8_t *value_bytes = builder->encoded.bytes, *index_bytes = builder->indices.bytes;
    uint64_t start = 0;
    for (size_t i = 0; i < builder->runs.count; i++) {
        put_u32le(index_bytes + i * WIRE_ContextIndex_SIZE, runs[i].context);
        put_u64le(index_bytes + i * WIRE_ContextIndex_SIZE + WIRE_ContextIndex_startIndex, start);
        for (size_t k = runs[i].first; k < runs[i].first + runs[i].count; k++) {
            put_u16le(value_bytes + start * WIRE_ProfileValue_SIZE, values[k].id);
            put_f64le(value_bytes + start * WIRE_ProfileValue_SIZE + WIRE_ProfileValue_value,
                      values[k].value);
            start++;
        }
        atomic_fetch_add_explicit(&builder->writer->values_of[runs[i].context], runs[i].count,
                                  memory_order_relaxed);
    }
    return LODE_OK;
}

static lode_status collect_loops(lode_profile_builder *builder, lode_error *error)
{
    const struct builder_value *values = builder->values.items;
    for (size_t i = 0; i < builder->runs.count; i++) {
        const struct builder_run *run = LODE_ARRAY_AT(&builder->runs, struct builder_run, i);
        if (!builder->writer->numbered[run->context].loop)
            continue;
        for (size_t k = run->first; k < run->first + run->count; k++)
            LODE_TRY(lode_writer_collect_loop(builder->writer, &builder->loops, run->context, values[k].id,
                                              values[k].value, error));
    }
    lode_loops_round(&builder->loops);
    return LODE_OK;
}

lode_status lode_profile_builder_end(lode_profile_builder *builder, lode_error *error)
{
    LODE_TRY(expect_phase(builder, DRAFT_OPEN, error));
    builder->phase = DRAFT_EMPTY;
    if (builder->points.count > 0)
        LODE_TRY(propagate(builder, error));
    LODE_TRY(put_in_order(builder, error));
    LODE_TRY(encode(builder, error));
    if (builder->writer->loops)
        LODE_TRY(collect_loops(builder, error));
    builder->phase = DRAFT_ENDED;
    return LODE_OK;
}

static lode_status append_block(lode_writer *writer, const lode_profile_builder *builder,
                                struct wire_Profile *wire, lode_error *error)
{
    struct lode_output_file *file = &writer->files[HPCT_PROFILE];
    wire->nValues = builder->values.count;
    wire->nCtxs = (uint32_t)builder->runs.count;
    LODE_TRY(lode_output_align(file, 2, error));
    wire->pValues = file->size;
    LODE_TRY(lode_output_write(file, builder->encoded.bytes, builder->encoded.size, error));
    LODE_TRY(lode_output_align(file, 4, error));
    wire->pCtxIndices = file->size;
    return lode_output_write(file, builder->indices.bytes, builder->indices.size, error);
}

static lode_status append_trace(lode_writer *writer, const lode_profile_builder *builder,
                                struct written_profile *profile, lode_error *error)
{
    struct lode_output_file *file = &writer->files[HPCT_TRACE];
    if (!writer->options.traces)
        return LODE_OK;
    LODE_TRY(lode_output_align(file, 8, error));
    profile->trace_start = file->size;
    LODE_TRY(lode_output_write(file, builder->samples.bytes, builder->samples.size, error));
    profile->trace_end = file->size;
    if (builder->sample_count == 0)
        return LODE_OK;
    uint64_t first = get_u64le(builder->samples.bytes);
    writer->trace_min = first < writer->trace_min ? first : writer->trace_min;
    writer->trace_max = builder->last_time > writer->trace_max ? builder->last_time : writer->trace_max;
    return LODE_OK;
}

static lode_status append(lode_writer *writer, const lode_profile_builder *builder, lode_error *error)
{
    if (writer->profiles.count >= UINT32_MAX - 1)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "more profiles than the format can number");
    struct written_profile *profile = lode_array_push(&writer->profiles);
    lode_id *ids = lode_arena_alloc(&writer->arena, builder->ids.count, sizeof *ids);
    if (profile == NULL || ids == NULL)
        return lode_fail_memory(error);
    memcpy(ids, builder->ids.items, builder->ids.count * sizeof *ids);
    if (writer->loops)
        LODE_TRY(lode_writer_add_loops(writer, &builder->loops, error));
    profile->ids = ids;
    profile->id_count = (uint32_t)builder->ids.count;
    profile->order = (uint32_t)writer->profiles.count - 1;
    LODE_TRY(append_block(writer, builder, &profile->wire, error));
    return append_trace(writer, builder, profile, error);
}

lode_status lode_writer_append(lode_writer *writer, lode_profile_builder *builder, lode_error *error)
{
    if (builder->writer != writer || writer->finished)
        return lode_fail(
            error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
            "a profile is appended to the database that it was made for, before that is finished");
    LODE_TRY(expect_phase(builder, DRAFT_ENDED, error));
    builder->phase = DRAFT_EMPTY;
    lode_status status = append(writer, builder, error);
    writer->broken |= status != LODE_OK;
    return status;
}
