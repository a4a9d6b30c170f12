/* SPDX-License-Identifier: BSD-3-Clause */
/* Values and samples of small databases. */
#include "minidb_parts.h"

/* ---- profile.db ---- */

/* One block, from values that `value_of` gives for (context, metric id). */
typedef double (*value_fn)(const void *from, uint32_t context, uint32_t metric);

static void put_profile_block(const struct minidb *db, struct buffer *file, struct wire_Profile *profile,
                              value_fn value_of, const void *from, uint32_t metric_ids)
{
    struct buffer indices = {0};
    profile->pValues = reserve(file, 0, 2);
    for (uint32_t context = 0; context <= max_id(db); context++) {
        uint64_t first = profile->nValues;
        for (uint32_t metric = 0; metric < metric_ids; metric++) {
            struct wire_ProfileValue value = {.metricId = (uint16_t)metric,
                                              .value = value_of(from, context, metric)};
            if (value.value == 0.0)
                continue;
            uint64_t at = reserve(file, WIRE_ProfileValue_SIZE, 1);
            lode_wire_write_ProfileValue(&value, file->data + at);
            profile->nValues++;
        }
        if (profile->nValues == first)
            continue;
        struct wire_ContextIndex index = {.ctxId = context, .startIndex = first};
        uint64_t at = reserve(&indices, WIRE_ContextIndex_SIZE, 1);
        lode_wire_write_ContextIndex(&index, indices.data + at);
        profile->nCtxs++;
    }
    profile->pCtxIndices = reserve(file, indices.size, 4);
    if (indices.size)
        memcpy(file->data + profile->pCtxIndices, indices.data, indices.size);
    free(indices.data);
}

static double profile_value(const void *from, uint32_t context, uint32_t metric)
{
    const double *values = from;
    return values[(size_t)context * VALUES_PER_CONTEXT + metric];
}

struct summary_source {
    const struct minidb *db;
    const double *values;
};

static double statistic_value(const struct summary_source *source, uint32_t context, unsigned metric,
                              unsigned statistic, unsigned scope)
{
    double sum = 0, squares = 0, min = 0, max = 0, having = 0;
    for (uint32_t p = 0; p < profile_count(source->db); p++) {
        const double *row = source->values + ((size_t)p * ids(source->db) + context) * VALUES_PER_CONTEXT;
        double value = row[metric * MINIDB_SCOPES + scope];
        /* Every point value is in the execution scope as well. */
        having += row[metric * MINIDB_SCOPES + EXECUTION] != 0.0;
        sum += value;
        squares += value * value;
        min = value != 0.0 && (min == 0.0 || value < min) ? value : min;
        max = value > max ? value : max;
    }
    const double results[MINIDB_MAX_STATS] = {sum, having, squares, min, max};
    return results[statistic];
}

static double summary_value(const void *from, uint32_t context, uint32_t id)
{
    const struct summary_source *source = from;
    const struct minidb_change *change = &source->db->options.summary;
    if (change->active && change->context == context && change->metric == id)
        return change->value;
    unsigned metric = id < MINIDB_SCOPES ? 0 : 1;
    unsigned local = id - metric * MINIDB_SCOPES;
    return statistic_value(source, context, metric, local / MINIDB_SCOPES, local % MINIDB_SCOPES);
}

static uint64_t put_id_tuple(struct buffer *file, uint32_t profile)
{
    uint64_t at = reserve(file, WIRE_IdTuple_SIZE + 3 * WIRE_Id_SIZE, 8);
    const struct wire_Id elements[3] = {
        {.kind = 1, .flags = HPCT_ID_PHYSICAL, .physicalId = 0xabcdef},
        {.kind = 2, .logicalId = (profile - 1) / 2, .physicalId = (profile - 1) / 2},
        {.kind = 3, .logicalId = (profile - 1) % 2, .physicalId = (profile - 1) % 2}};
    struct wire_IdTuple tuple = {.nIds = 3};
    lode_wire_write_IdTuple(&tuple, file->data + at);
    for (unsigned i = 0; i < 3; i++)
        lode_wire_write_Id(&elements[i], file->data + at + WIRE_IdTuple_SIZE + i * WIRE_Id_SIZE);
    return at;
}

void make_profiles(struct minidb *db, const double *values)
{
    struct buffer file = {0};
    uint32_t count = profile_count(db) + 1;
    begin_file(&file, HPCT_PROFILE, db->options.extra ? HPCT_MINOR + 1 : HPCT_MINOR,
               WIRE_FileHeader_SIZE + 2 * WIRE_Section_SIZE);
    uint64_t start = reserve(&file, WIRE_ProfileInfos_SIZE, 8);
    db->profiles = reserve(&file, (size_t)count * STRIDE(Profile), 8);
    struct wire_ProfileInfos header = {
        .pProfiles = db->profiles, .nProfiles = count, .szProfile = STRIDE(Profile)};
    lode_wire_write_ProfileInfos(&header, file.data + start);
    put_section(db, &file, HPCT_PROFILE, 0, start);
    reserve(&file, 8, 8); /* a gap between the sections */
    db->id_tuples = reserve(&file, 0, 8);
    struct wire_Profile *profiles = checked(calloc(count, sizeof *profiles));
    for (uint32_t p = 1; p < count; p++)
        profiles[p].pIdTuple = put_id_tuple(&file, p);
    put_section(db, &file, HPCT_PROFILE, 1, db->id_tuples);
    for (uint32_t p = 1; p < count; p++)
        put_profile_block(db, &file, &profiles[p], profile_value,
                          values + (size_t)(p - 1) * ids(db) * VALUES_PER_CONTEXT, VALUES_PER_CONTEXT);
    struct summary_source source = {db, values};
    profiles[0].flags = HPCT_PROFILE_SUMMARY;
    put_profile_block(db, &file, &profiles[0], summary_value, &source,
                      (1 + statistic_count(db, 1)) * MINIDB_SCOPES);
    for (uint32_t p = 0; p < count; p++)
        lode_wire_write_Profile(&profiles[p], file.data + db->profiles + p * STRIDE(Profile));
    free(profiles);
    end_file(db, &file, HPCT_PROFILE);
}

/* ---- cct.db ---- */

static void put_context_block(const struct minidb *db, struct buffer *file, uint32_t context,
                              const double *values, struct wire_ContextInfo *info)
{
    struct buffer indices = {0};
    info->pValues = reserve(file, 0, 4);
    for (uint32_t metric = 0; metric < VALUES_PER_CONTEXT; metric++) {
        uint64_t first = info->nValues;
        for (uint32_t p = 1; p <= profile_count(db); p++) {
            const double *row = values + ((size_t)(p - 1) * ids(db) + context) * VALUES_PER_CONTEXT;
            const struct minidb_change *change = &db->options.cct;
            struct wire_ContextValue value = {.profIndex = p, .value = row[metric]};
            if (change->active && change->profile == p && change->context == context &&
                change->metric == metric)
                value.value = change->value;
            if (value.value == 0.0)
                continue;
            uint64_t at = reserve(file, WIRE_ContextValue_SIZE, 1);
            lode_wire_write_ContextValue(&value, file->data + at);
            info->nValues++;
        }
        if (info->nValues == first)
            continue;
        struct wire_MetricIndex index = {.metricId = (uint16_t)metric, .startIndex = first};
        uint64_t at = reserve(&indices, WIRE_MetricIndex_SIZE, 1);
        lode_wire_write_MetricIndex(&index, indices.data + at);
        info->nMetrics++;
    }
    info->pMetricIndices = reserve(file, indices.size, 2);
    if (indices.size)
        memcpy(file->data + info->pMetricIndices, indices.data, indices.size);
    free(indices.data);
}

void make_contexts(struct minidb *db, const double *values)
{
    struct buffer file = {0};
    uint32_t count = max_id(db) + 1;
    /* As large as real headers are. */
    begin_file(&file, HPCT_CCT, db->options.extra ? HPCT_MINOR + 1 : HPCT_MINOR,
               WIRE_FileHeader_SIZE + 2 * WIRE_Section_SIZE);
    uint64_t start = reserve(&file, WIRE_ContextInfos_SIZE, 8);
    db->context_infos = reserve(&file, (size_t)count * STRIDE(ContextInfo), 8);
    struct wire_ContextInfos header = {
        .pCtxs = db->context_infos, .nCtxs = count, .szCtx = STRIDE(ContextInfo)};
    lode_wire_write_ContextInfos(&header, file.data + start);
    put_section(db, &file, HPCT_CCT, 0, start);
    for (uint32_t context = 0; context < count; context++) {
        struct wire_ContextInfo info = {0};
        put_context_block(db, &file, context, values, &info);
        lode_wire_write_ContextInfo(&info, file.data + db->context_infos + context * STRIDE(ContextInfo));
    }
    reserve(&file, 0, 4);
    end_file(db, &file, HPCT_CCT);
}

/* ---- trace.db ---- */

void make_traces(struct minidb *db)
{
    static const uint32_t visited[] = {6, 10, 0, 12, 7};
    struct buffer file = {0};
    uint32_t count = profile_count(db), samples = db->options.samples;
    begin_file(&file, HPCT_TRACE, db->options.extra ? HPCT_MINOR + 1 : HPCT_MINOR,
               WIRE_FileHeader_SIZE + WIRE_Section_SIZE);
    uint64_t start = reserve(&file, WIRE_TraceInfos_SIZE, 8);
    db->traces = reserve(&file, (size_t)count * STRIDE(Trace), 8);
    struct wire_TraceInfos header = {.pTraces = db->traces,
                                     .nTraces = count,
                                     .szTrace = STRIDE(Trace),
                                     .minTimestamp = 1000000 + 1,
                                     .maxTimestamp = 1000000 + 10 * (uint64_t)samples + count};
    lode_wire_write_TraceInfos(&header, file.data + start);
    put_section(db, &file, HPCT_TRACE, 0, start);
    for (uint32_t line = 0; line < count; line++) {
        bool empty = db->options.empty_profile && line + 1 == count;
        struct wire_Trace trace = {.profIndex = line + 1, .pStart = reserve(&file, 0, 8)};
        for (uint32_t i = 0; i < samples && !empty; i++) {
            struct wire_Sample sample = {.timestamp = 1000000 + 10 * (uint64_t)i + line + 1,
                                         .ctxId = visited[(i + line) % (sizeof visited / sizeof *visited)]};
            uint64_t at = reserve(&file, WIRE_Sample_SIZE, 1);
            lode_wire_write_Sample(&sample, file.data + at);
        }
        trace.pEnd = file.size;
        lode_wire_write_Trace(&trace, file.data + db->traces + line * STRIDE(Trace));
    }
    end_file(db, &file, HPCT_TRACE);
}
