/* SPDX-License-Identifier: BSD-3-Clause */
/* The metadata of small databases. */
#include "minidb_parts.h"

static uint16_t statistic_id(unsigned metric, unsigned statistic, unsigned scope)
{
    return (uint16_t)(metric * MINIDB_SCOPES + statistic * MINIDB_SCOPES + scope);
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

/* Writes the children of `parent`, descendants first; returns their offset and size. */
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

void make_meta(struct minidb *db)
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
