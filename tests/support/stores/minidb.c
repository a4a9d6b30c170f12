/* SPDX-License-Identifier: BSD-3-Clause */
#include "minidb.h"

#include "minidb_parts.h"
#include <stdio.h>

/* ---- growing files ---- */

void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("minidb: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* Room at the end, zeroed, after padding to the alignment; returns its offset. */
uint64_t reserve(struct buffer *buffer, size_t size, size_t alignment)
{
    size_t start = (buffer->size + alignment - 1) / alignment * alignment;
    if (start + size > buffer->capacity) {
        size_t capacity = (start + size) * 2;
        buffer->data = checked(realloc(buffer->data, capacity));
        buffer->capacity = capacity;
    }
    memset(buffer->data + buffer->size, 0, start + size - buffer->size);
    buffer->size = start + size;
    return start;
}

uint64_t put_text(struct buffer *buffer, const char *text)
{
    uint64_t at = reserve(buffer, strlen(text) + 1, 1);
    memcpy(buffer->data + at, text, strlen(text) + 1);
    return at;
}

void begin_file(struct buffer *file, enum hpct_file_id id, uint8_t minor, size_t header_size)
{
    const struct hpct_file_spec *spec = &lode_hpct_specs[id];
    reserve(file, header_size, 1);
    struct wire_FileHeader header = {.majorVersion = HPCT_MAJOR, .minorVersion = minor};
    lode_wire_write_FileHeader(&header, file->data);
    memcpy(file->data, HPCT_MAGIC, HPCT_MAGIC_SIZE);
    memcpy(file->data + HPCT_MAGIC_SIZE, spec->format, HPCT_FORMAT_SIZE);
}

/* Enters a section that reaches from `start` to the end of what is written. */
void put_section(struct minidb *db, struct buffer *file, enum hpct_file_id id, unsigned index, uint64_t start)
{
    struct wire_Section section = {.sz = file->size - start, .p = start};
    lode_wire_write_Section(&section, file->data + WIRE_FileHeader_SIZE + index * WIRE_Section_SIZE);
    db->sections[id][index] = start;
}

void end_file(struct minidb *db, struct buffer *file, enum hpct_file_id id)
{
    uint64_t at = reserve(file, HPCT_FOOTER_SIZE, 1);
    memcpy(file->data + at, lode_hpct_specs[id].footer, HPCT_FOOTER_SIZE);
    db->bytes[id] = file->data;
    db->size[id] = file->size;
}

/* ---- the tree ---- */

#define F HPCT_CONTEXT_FUNCTION
#define S HPCT_CONTEXT_SOURCE
#define P HPCT_CONTEXT_POINT
static const struct shape shapes[] = {
    {.id = 1, .parent = 0},
    {.id = 2, .parent = 1, .lexical = 0, .relation = 1, .flags = F, .function = 0},
    {.id = 3, .parent = 2, .lexical = 2, .relation = 0, .flags = S, .file = 0, .line = 10},
    {.id = 4, .parent = 3, .lexical = 0, .relation = 1, .flags = F, .function = 1},
    {.id = 5,
     .parent = 4,
     .lexical = 1,
     .relation = 0,
     .flags = S | P,
     .file = 1,
     .line = 5,
     .offset = 0x100},
    {.id = 6, .parent = 5, .lexical = 2, .relation = 0, .flags = S, .file = 1, .line = 6},
    {.id = 7, .parent = 4, .lexical = 2, .relation = 0, .flags = S, .file = 1, .line = 9},
    {.id = 9, .parent = 7, .lexical = 0, .relation = 2, .flags = F, .function = 2},
    {.id = 10, .parent = 9, .lexical = 2, .relation = 0, .flags = S, .file = 1, .line = 20},
    {.id = 11, .parent = 0},
    {.id = 12, .parent = 11, .lexical = 3, .relation = 1, .flags = P, .module = 1, .offset = 0x40},
};
_Static_assert(sizeof shapes / sizeof *shapes == SHAPES, "all contexts are counted");

uint32_t context_count(const struct minidb *db)
{
    return SHAPES + db->options.chains * CHAIN_LENGTH;
}

/* The i-th context in depth-first order but for chains, which come last. */
struct shape context_at(uint32_t i)
{
    static const struct shape chain[CHAIN_LENGTH] = {
        {.lexical = 0, .relation = 1, .flags = F, .function = 1},
        {.lexical = 1, .relation = 0, .flags = S, .file = 1, .line = 5},
        {.lexical = 2, .relation = 0, .flags = S, .file = 1, .line = 6},
        {.lexical = 2, .relation = 0, .flags = S, .file = 1, .line = 9},
    };
    if (i < SHAPES)
        return shapes[i];
    uint32_t position = (i - SHAPES) % CHAIN_LENGTH, first = FIRST_CHAIN_ID + (i - SHAPES - position);
    struct shape shape = chain[position];
    static const uint32_t parents[CHAIN_LENGTH] = {0, 0, 1, 0};
    shape.id = first + position;
    shape.parent = position == 0 ? 2 : first + parents[position];
    return shape;
}
#undef F
#undef S
#undef P

uint32_t max_id(const struct minidb *db)
{
    return db->options.chains ? FIRST_CHAIN_ID + db->options.chains * CHAIN_LENGTH - 1 : 12;
}

/* ---- values ---- */

static double *cell(double *values, uint32_t id, unsigned metric, unsigned scope)
{
    return &values[(size_t)id * VALUES_PER_CONTEXT + metric * MINIDB_SCOPES + scope];
}

/* Where samples fall: whole numbers, so that sums are exact in any order. */
static double point_value(uint32_t profile, const struct shape *shape, unsigned metric)
{
    bool leaf = shape->id == 6 || shape->id == 7 || shape->id == 10 || shape->id == 12 ||
                (shape->id >= FIRST_CHAIN_ID && shape->lexical == 2);
    /* A call site with samples of its own in one profile only. */
    leaf = leaf || (shape->id == 3 && profile == 1);
    if (!leaf || (metric == 1 && profile % 2 == 0) || (shape->id == 12 && profile % 3 != 1))
        return 0.0;
    return (double)((profile * 7 + shape->id * 3 + metric * 11) % 50 + 1);
}

/* Adds a point value to all contexts it propagates to. `relation` is that of the context itself. */
static void propagate(double *values, const struct shape *by_id, uint32_t id, unsigned relation,
                      uint32_t parent, unsigned metric, double value)
{
    bool inside = true; /* no call between here and the value */
    *cell(values, id, metric, POINT) += value;
    for (;;) {
        *cell(values, id, metric, EXECUTION) += value;
        if (inside)
            *cell(values, id, metric, FUNCTION) += value;
        if (inside)
            *cell(values, id, metric, LEX_AWARE) += value;
        if (id == 0)
            return;
        inside = inside && relation == LODE_RELATION_LEXICAL && parent != 0;
        id = parent;
        relation = by_id[id].relation;
        parent = by_id[id].parent;
    }
}

static void fill_profile(const struct minidb *db, uint32_t profile, const struct shape *by_id, double *values)
{
    if (db->options.empty_profile && profile == db->options.profiles + 1)
        return;
    for (uint32_t i = 0; i < context_count(db); i++) {
        struct shape shape = context_at(i);
        for (unsigned metric = 0; metric < MINIDB_METRICS; metric++) {
            double value = point_value(profile, &shape, metric);
            if (value != 0.0)
                propagate(values, by_id, shape.id, shape.relation, shape.parent, metric, value);
        }
    }
    if (db->options.unlisted)
        propagate(values, by_id, UNLISTED_ID, LODE_RELATION_LEXICAL, 7, 0, 5.0);
}

uint32_t profile_count(const struct minidb *db)
{
    return db->options.profiles + db->options.empty_profile;
}

uint64_t ids(const struct minidb *db)
{
    return (uint64_t)max_id(db) + 1;
}

/* All values of all profiles: [profile - 1][context][metric][scope]. */
static double *make_values(const struct minidb *db)
{
    size_t per_profile = (size_t)ids(db) * VALUES_PER_CONTEXT;
    double *values = checked(calloc(per_profile * profile_count(db) + 1, sizeof *values));
    struct shape *by_id = checked(calloc((size_t)ids(db), sizeof *by_id));
    for (uint32_t i = 0; i < context_count(db); i++) {
        struct shape shape = context_at(i);
        by_id[shape.id] = shape;
        if (shape.parent == 0)
            by_id[shape.id].relation = LODE_RELATION_CALL;
    }
    for (uint32_t p = 1; p <= profile_count(db); p++)
        fill_profile(db, p, by_id, values + (p - 1) * per_profile);
    free(by_id);
    return values;
}

unsigned statistic_count(const struct minidb *db, unsigned metric)
{
    return metric == 1 && db->options.statistics ? MINIDB_MAX_STATS : 1;
}

/* ---- for tests ---- */

void minidb_make(struct minidb *db, const struct minidb_options *options)
{
    *db = (struct minidb){.options = *options};
    double *values = make_values(db);
    make_meta(db);
    make_profiles(db, values);
    make_contexts(db, values);
    make_traces(db);
    free(values);
}

void minidb_free(struct minidb *db)
{
    for (unsigned i = 0; i < HPCT_FILES; i++)
        free(db->bytes[i]);
}

void minidb_files(const struct minidb *db, lode_memory_file *files)
{
    for (unsigned i = 0; i < HPCT_FILES; i++)
        files[i] = (lode_memory_file){lode_hpct_specs[i].name, db->bytes[i], db->size[i]};
}

unsigned char *minidb_at(struct minidb *db, enum hpct_file_id file, uint64_t offset)
{
    return db->bytes[file] + offset;
}

uint64_t minidb_append(struct minidb *db, enum hpct_file_id file, const void *bytes, size_t size)
{
    size_t at = db->size[file] - HPCT_FOOTER_SIZE;
    size_t padding = (8 - at % 8) % 8;
    db->bytes[file] = checked(realloc(db->bytes[file], db->size[file] + padding + size));
    unsigned char *data = db->bytes[file];
    memmove(data + at + padding + size, data + at, HPCT_FOOTER_SIZE);
    memset(data + at, 0, padding);
    if (size)
        memcpy(data + at + padding, bytes, size);
    db->size[file] += padding + size;
    return at + padding;
}

uint64_t minidb_profile_value(struct minidb *db, uint32_t profile, uint32_t context, uint32_t metric)
{
    const unsigned char *bytes = db->bytes[HPCT_PROFILE];
    struct wire_Profile wire;
    lode_wire_read_Profile(&wire, bytes + db->profiles + profile * STRIDE(Profile), WIRE_Profile_SIZE);
    for (uint32_t i = 0; i < wire.nCtxs; i++) {
        struct wire_ContextIndex index, next = {.startIndex = wire.nValues};
        const unsigned char *at = bytes + wire.pCtxIndices + i * WIRE_ContextIndex_SIZE;
        lode_wire_read_ContextIndex(&index, at, WIRE_ContextIndex_SIZE);
        if (i + 1 < wire.nCtxs)
            lode_wire_read_ContextIndex(&next, at + WIRE_ContextIndex_SIZE, WIRE_ContextIndex_SIZE);
        for (uint64_t k = index.startIndex; index.ctxId == context && k < next.startIndex; k++)
            if (get_u16le(bytes + wire.pValues + k * WIRE_ProfileValue_SIZE) == metric)
                return wire.pValues + k * WIRE_ProfileValue_SIZE;
    }
    return 0;
}

uint64_t minidb_context_value(struct minidb *db, uint32_t context, uint32_t metric, uint32_t profile)
{
    const unsigned char *bytes = db->bytes[HPCT_CCT];
    struct wire_ContextInfo wire;
    lode_wire_read_ContextInfo(&wire, bytes + db->context_infos + context * STRIDE(ContextInfo),
                               WIRE_ContextInfo_SIZE);
    for (uint32_t i = 0; i < wire.nMetrics; i++) {
        struct wire_MetricIndex index, next = {.startIndex = wire.nValues};
        const unsigned char *at = bytes + wire.pMetricIndices + i * WIRE_MetricIndex_SIZE;
        lode_wire_read_MetricIndex(&index, at, WIRE_MetricIndex_SIZE);
        if (i + 1 < wire.nMetrics)
            lode_wire_read_MetricIndex(&next, at + WIRE_MetricIndex_SIZE, WIRE_MetricIndex_SIZE);
        for (uint64_t k = index.startIndex; index.metricId == metric && k < next.startIndex; k++)
            if (get_u32le(bytes + wire.pValues + k * WIRE_ContextValue_SIZE) == profile)
                return wire.pValues + k * WIRE_ContextValue_SIZE;
    }
    return 0;
}

uint64_t minidb_sample(struct minidb *db, uint32_t line, uint64_t index)
{
    struct wire_Trace trace;
    lode_wire_read_Trace(&trace, db->bytes[HPCT_TRACE] + db->traces + line * STRIDE(Trace), WIRE_Trace_SIZE);
    return trace.pStart + index * WIRE_Sample_SIZE;
}
