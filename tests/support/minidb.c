/* SPDX-License-Identifier: BSD-3-Clause */
#include "minidb.h"

#include "base/bytes.h"
#include <lode/context.h>
#include <lode/metric.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINT,
    FUNCTION,
    LEX_AWARE,
    EXECUTION,
    VALUES_PER_CONTEXT = MINIDB_METRICS * MINIDB_SCOPES,
    UNLISTED_ID = 8,
    FIRST_CHAIN_ID = 100,
    CHAIN_LENGTH = 4
};

/* Records of a newer minor version are larger; `db` is in scope wherever one is written. */
#define STRIDE(table) ((uint8_t)(WIRE_##table##_SIZE + db->options.extra))

/* ---- growing files ---- */

struct buffer {
    unsigned char *data;
    size_t size, capacity;
};

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("minidb: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* Room at the end, zeroed, after padding to the alignment; returns its offset. */
static uint64_t reserve(struct buffer *buffer, size_t size, size_t alignment)
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

static uint64_t put_text(struct buffer *buffer, const char *text)
{
    uint64_t at = reserve(buffer, strlen(text) + 1, 1);
    memcpy(buffer->data + at, text, strlen(text) + 1);
    return at;
}

/* ---- the tree ---- */

struct shape {
    uint32_t id, parent; /* ids; 0: an entry point */
    uint8_t lexical, relation, flags;
    uint8_t function, file, module;
    uint32_t line;
    uint64_t offset;
};

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
enum {
    SHAPES = sizeof shapes / sizeof *shapes
};

static uint32_t context_count(const struct minidb *db)
{
    return SHAPES + db->options.chains * CHAIN_LENGTH;
}

/* The i-th context in depth-first order but for chains, which come last. */
static struct shape context_at(uint32_t i)
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

static uint32_t max_id(const struct minidb *db)
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
    bool inside = true; /* no call between here and the point */
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

static uint32_t profile_count(const struct minidb *db)
{
    return db->options.profiles + db->options.empty_profile;
}

static uint64_t ids(const struct minidb *db)
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

/* ---- meta.db ---- */

static unsigned statistic_count(const struct minidb *db, unsigned metric)
{
    return metric == 1 && db->options.statistics ? MINIDB_MAX_STATS : 1;
}

static uint16_t statistic_id(unsigned metric, unsigned statistic, unsigned scope)
{
    return (uint16_t)(metric * MINIDB_SCOPES + statistic * MINIDB_SCOPES + scope);
}

static void begin_file(struct buffer *file, enum hpct_file_id id, uint8_t minor, size_t header_size)
{
    const struct hpct_file_spec *spec = &lode_hpct_specs[id];
    reserve(file, header_size, 1);
    struct wire_FileHeader header = {.majorVersion = HPCT_MAJOR, .minorVersion = minor};
    lode_wire_write_FileHeader(&header, file->data);
    memcpy(file->data, HPCT_MAGIC, HPCT_MAGIC_SIZE);
    memcpy(file->data + HPCT_MAGIC_SIZE, spec->format, HPCT_FORMAT_SIZE);
}

/* Enters a section that reaches from `start` to the end of what is written. */
static void put_section(struct minidb *db, struct buffer *file, enum hpct_file_id id, unsigned index,
                        uint64_t start)
{
    struct wire_Section section = {.sz = file->size - start, .p = start};
    lode_wire_write_Section(&section, file->data + WIRE_FileHeader_SIZE + index * WIRE_Section_SIZE);
    db->sections[id][index] = start;
}

static void end_file(struct minidb *db, struct buffer *file, enum hpct_file_id id)
{
    uint64_t at = reserve(file, HPCT_FOOTER_SIZE, 1);
    memcpy(file->data + at, lode_hpct_specs[id].footer, HPCT_FOOTER_SIZE);
    db->bytes[id] = file->data;
    db->size[id] = file->size;
}

static void put_general(struct minidb *db, struct buffer *file)
{
    uint64_t start = reserve(file, WIRE_General_SIZE, 8);
    struct wire_General general = {.pTitle = put_text(file, "mini")};
    general.pDescription = put_text(file, "A database made by a test");
    lode_wire_write_General(&general, file->data + start);
    put_section(db, file, HPCT_META, META_GENERAL, start);
}

static void put_id_names(struct minidb *db, struct buffer *file)
{
    static const char *const names[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    uint64_t start = reserve(file, WIRE_IdNames_SIZE, 8);
    db->id_names = reserve(file, sizeof names / sizeof *names * 8, 8);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t text = put_text(file, names[i]);
        put_u64le(file->data + db->id_names + 8 * i, text);
    }
    struct wire_IdNames header = {.ppNames = db->id_names, .nKinds = sizeof names / sizeof *names};
    lode_wire_write_IdNames(&header, file->data + start);
    put_section(db, file, HPCT_META, META_ID_NAMES, start);
}

static void put_scopes(struct minidb *db, struct buffer *file)
{
    static const struct {
        const char *name;
        uint8_t type, bit;
    } scopes[MINIDB_SCOPES] = {{"point", LODE_SCOPE_POINT, 255},
                               {"function", LODE_SCOPE_TRANSITIVE, 0},
                               {"lex_aware", LODE_SCOPE_CUSTOM, 255},
                               {"execution", LODE_SCOPE_EXECUTION, 255}};
    db->scopes = reserve(file, (size_t)MINIDB_SCOPES * STRIDE(Scope), 8);
    for (unsigned i = 0; i < MINIDB_SCOPES; i++) {
        struct wire_Scope scope = {.pScopeName = put_text(file, scopes[i].name),
                                   .type = scopes[i].type,
                                   .propagationIndex = scopes[i].bit};
        lode_wire_write_Scope(&scope, file->data + db->scopes + i * STRIDE(Scope));
    }
}

static void put_metric(struct minidb *db, struct buffer *file, unsigned metric)
{
    static const char *const names[MINIDB_METRICS] = {"time (sec)", "cycles"};
    static const struct {
        const char *formula;
        uint8_t combine;
    } statistics[MINIDB_MAX_STATS] = {{"$$", LODE_COMBINE_SUM},
                                      {"1", LODE_COMBINE_SUM},
                                      {"($$^2)", LODE_COMBINE_SUM},
                                      {"$$", LODE_COMBINE_MIN},
                                      {"$$", LODE_COMBINE_MAX}};
    unsigned stats = statistic_count(db, metric);
    db->scope_insts[metric] = reserve(file, (size_t)MINIDB_SCOPES * STRIDE(ScopeInst), 8);
    db->summaries[metric] = reserve(file, (size_t)stats * MINIDB_SCOPES * STRIDE(Summary), 8);
    for (unsigned scope = 0; scope < MINIDB_SCOPES; scope++) {
        uint64_t pointer = db->scopes + scope * STRIDE(Scope);
        struct wire_ScopeInst instance = {.pScope = pointer,
                                          .propMetricId = (uint16_t)(metric * MINIDB_SCOPES + scope)};
        lode_wire_write_ScopeInst(&instance,
                                  file->data + db->scope_insts[metric] + scope * STRIDE(ScopeInst));
    }
    for (unsigned i = 0; i < stats * MINIDB_SCOPES; i++) {
        unsigned statistic = i / MINIDB_SCOPES, scope = i % MINIDB_SCOPES;
        struct wire_Summary summary = {.pScope = db->scopes + scope * STRIDE(Scope),
                                       .pFormula = put_text(file, statistics[statistic].formula),
                                       .combine = statistics[statistic].combine,
                                       .statMetricId = statistic_id(metric, statistic, scope)};
        lode_wire_write_Summary(&summary, file->data + db->summaries[metric] + i * STRIDE(Summary));
    }
    struct wire_Metric wire = {.pName = put_text(file, names[metric]),
                               .pScopeInsts = db->scope_insts[metric],
                               .pSummaries = db->summaries[metric],
                               .nScopeInsts = MINIDB_SCOPES,
                               .nSummaries = (uint16_t)(stats * MINIDB_SCOPES)};
    lode_wire_write_Metric(&wire, file->data + db->metrics + metric * STRIDE(Metric));
}

static void put_metrics(struct minidb *db, struct buffer *file)
{
    uint64_t start = reserve(file, WIRE_Metrics_SIZE, 8);
    put_scopes(db, file);
    db->metrics = reserve(file, (size_t)MINIDB_METRICS * STRIDE(Metric), 8);
    for (unsigned metric = 0; metric < MINIDB_METRICS; metric++)
        put_metric(db, file, metric);
    struct wire_Metrics header = {.pMetrics = db->metrics,
                                  .nMetrics = MINIDB_METRICS,
                                  .szMetric = STRIDE(Metric),
                                  .szScopeInst = STRIDE(ScopeInst),
                                  .szSummary = STRIDE(Summary),
                                  .pScopes = db->scopes,
                                  .nScopes = MINIDB_SCOPES,
                                  .szScope = STRIDE(Scope)};
    lode_wire_write_Metrics(&header, file->data + start);
    put_section(db, file, HPCT_META, META_METRICS, start);
}

struct texts {
    uint64_t modules[2], files[2], functions[3], main_thread, other_thread;
};

static void put_strings(struct minidb *db, struct buffer *file, struct texts *texts)
{
    uint64_t start = file->size;
    texts->modules[0] = put_text(file, "/bin/app");
    texts->modules[1] = put_text(file, "/lib/lib.so");
    texts->files[0] = put_text(file, "src/main.c");
    texts->files[1] = put_text(file, "/src/work.c");
    texts->functions[0] = put_text(file, "main");
    texts->functions[1] = put_text(file, "_Z4workPd");
    texts->functions[2] = put_text(file, "helper");
    texts->main_thread = put_text(file, "main thread");
    texts->other_thread = put_text(file, "application thread");
    db->strings_end = texts->other_thread;
    put_section(db, file, HPCT_META, META_STRINGS, start);
}

static void put_modules_and_files(struct minidb *db, struct buffer *file, const struct texts *texts)
{
    uint64_t start = reserve(file, WIRE_Modules_SIZE, 8);
    db->modules = reserve(file, 2 * STRIDE(Module), 8);
    for (unsigned i = 0; i < 2; i++) {
        struct wire_Module module = {.pPath = texts->modules[i]};
        lode_wire_write_Module(&module, file->data + db->modules + i * STRIDE(Module));
    }
    struct wire_Modules modules = {.pModules = db->modules, .nModules = 2, .szModule = STRIDE(Module)};
    lode_wire_write_Modules(&modules, file->data + start);
    put_section(db, file, HPCT_META, META_MODULES, start);

    start = reserve(file, WIRE_Files_SIZE, 8);
    db->files = reserve(file, 2 * STRIDE(File), 8);
    for (unsigned i = 0; i < 2; i++) {
        struct wire_File source = {.flags = i == 0 ? HPCT_FILE_COPIED : 0, .pPath = texts->files[i]};
        lode_wire_write_File(&source, file->data + db->files + i * STRIDE(File));
    }
    struct wire_Files files = {.pFiles = db->files, .nFiles = 2, .szFile = STRIDE(File)};
    lode_wire_write_Files(&files, file->data + start);
    put_section(db, file, HPCT_META, META_FILES, start);
}

static void put_functions(struct minidb *db, struct buffer *file, const struct texts *texts)
{
    uint64_t start = reserve(file, WIRE_Functions_SIZE, 8);
    db->functions = reserve(file, 3 * STRIDE(Function), 8);
    for (unsigned i = 0; i < 3; i++) {
        struct wire_Function function = {.pName = texts->functions[i],
                                         .pModule = db->modules,
                                         .offset = 0x1000 + 0x100 * i,
                                         .pFile = db->files + (i ? STRIDE(File) : 0),
                                         .line = 1 + 4 * i};
        lode_wire_write_Function(&function, file->data + db->functions + i * STRIDE(Function));
    }
    struct wire_Functions header = {
        .pFunctions = db->functions, .nFunctions = 3, .szFunction = STRIDE(Function)};
    lode_wire_write_Functions(&header, file->data + start);
    put_section(db, file, HPCT_META, META_FUNCTIONS, start);
}

static unsigned flex_words(unsigned flags)
{
    return (flags & HPCT_CONTEXT_FUNCTION ? 1 : 0) + (flags & HPCT_CONTEXT_SOURCE ? 2 : 0) +
           (flags & HPCT_CONTEXT_POINT ? 2 : 0);
}

static void put_context(const struct minidb *db, unsigned char *at, const struct shape *shape, uint64_t size,
                        uint64_t children)
{
    struct wire_Context wire = {.szChildren = size,
                                .pChildren = size ? children : 0,
                                .ctxId = shape->id,
                                .flags = shape->flags,
                                .relation = shape->relation,
                                .lexicalType = shape->lexical,
                                .nFlexWords = (uint8_t)flex_words(shape->flags),
                                .propagation = shape->relation == LODE_RELATION_LEXICAL};
    lode_wire_write_Context(&wire, at);
    at += WIRE_Context_SIZE;
    if (shape->flags & HPCT_CONTEXT_FUNCTION) {
        put_u64le(at, db->functions + shape->function * STRIDE(Function));
        at += 8;
    }
    if (shape->flags & HPCT_CONTEXT_SOURCE) {
        put_u64le(at, db->files + shape->file * STRIDE(File));
        put_u64le(at + 8, shape->line);
        at += 16;
    }
    if (shape->flags & HPCT_CONTEXT_POINT) {
        put_u64le(at, db->modules + shape->module * STRIDE(Module));
        put_u64le(at + 8, shape->offset);
    }
}

/* Writes the children of `parent`, with their children first; returns where they are, and their size. */
static uint64_t put_children(struct minidb *db, struct buffer *file, uint32_t parent, uint64_t *size)
{
    uint64_t total = 0;
    bool has_chains = parent == 2;
    uint32_t count = has_chains ? context_count(db) : SHAPES;
    /* Chains are found by position, so that large trees do not take quadratic time. */
    uint32_t first =
        parent >= FIRST_CHAIN_ID ? SHAPES + (parent - FIRST_CHAIN_ID) / CHAIN_LENGTH * CHAIN_LENGTH : 0;
    if (parent >= FIRST_CHAIN_ID)
        count = first + CHAIN_LENGTH;
    for (uint32_t i = first; i < count; i++)
        if (context_at(i).parent == parent)
            total += WIRE_Context_SIZE + 8 * (uint64_t)flex_words(context_at(i).flags);
    uint64_t at = reserve(file, total, 8), next = at;
    for (uint32_t i = first; i < count; i++) {
        struct shape shape = context_at(i);
        if (shape.parent != parent)
            continue;
        uint64_t child_size, children = put_children(db, file, shape.id, &child_size);
        put_context(db, file->data + next, &shape, child_size, children);
        if (shape.id < MINIDB_MAX_CONTEXTS)
            db->contexts[shape.id] = next;
        next += WIRE_Context_SIZE + 8 * (uint64_t)flex_words(shape.flags);
    }
    *size = total;
    return at;
}

static void put_tree(struct minidb *db, struct buffer *file, const struct texts *texts)
{
    uint64_t start = reserve(file, WIRE_Contexts_SIZE, 8);
    db->entries = reserve(file, 2 * STRIDE(EntryPoint), 8);
    for (unsigned i = 0; i < 2; i++) {
        struct wire_EntryPoint entry = {.ctxId = i == 0 ? 1 : 11,
                                        .entryPoint =
                                            i == 0 ? LODE_ENTRY_MAIN_THREAD : LODE_ENTRY_APPLICATION_THREAD,
                                        .pPrettyName = i == 0 ? texts->main_thread : texts->other_thread};
        entry.pChildren = put_children(db, file, entry.ctxId, &entry.szChildren);
        lode_wire_write_EntryPoint(&entry, file->data + db->entries + i * STRIDE(EntryPoint));
    }
    struct wire_Contexts header = {
        .pEntryPoints = db->entries, .nEntryPoints = 2, .szEntryPoint = STRIDE(EntryPoint)};
    lode_wire_write_Contexts(&header, file->data + start);
    put_section(db, file, HPCT_META, META_CONTEXT, start);
}

static void make_meta(struct minidb *db)
{
    struct buffer file = {0};
    struct texts texts;
    begin_file(&file, HPCT_META, db->options.extra ? HPCT_MINOR + 1 : HPCT_MINOR,
               WIRE_FileHeader_SIZE + META_SECTIONS * WIRE_Section_SIZE);
    put_general(db, &file);
    put_id_names(db, &file);
    put_metrics(db, &file);
    put_strings(db, &file, &texts);
    put_modules_and_files(db, &file, &texts);
    put_functions(db, &file, &texts);
    put_tree(db, &file, &texts);
    end_file(db, &file, HPCT_META);
}

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

static void make_profiles(struct minidb *db, const double *values)
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

static void make_contexts(struct minidb *db, const double *values)
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

static void make_traces(struct minidb *db)
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
