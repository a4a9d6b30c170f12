/* SPDX-License-Identifier: BSD-3-Clause */
/* meta.db. Small sections are assembled in memory; the context tree is streamed. */
#include "base/io/bytes.h"
#include "base/memory/blob.h"
#include "format/hpctoolkit/write/write.h"
#include <inttypes.h>
#include <stdlib.h>

/* A section being assembled: offsets in the blob are relative, pointers are absolute. */
struct section_blob {
    struct lode_blob blob;
    uint64_t base;
};

struct meta_writer {
    struct hpct_sink *sink;
    const struct lode_description *about;
    struct wire_Section *sections;
    lode_error *error;
    /*
     * hpcviewer identifies strings of three sections by their offset in the section alone, so these
     * must differ: each section's strings begin after the end of those in the section before.
     */
    size_t strings_end;
    uint64_t modules, files, functions; /* positions of the tables */
};

static lode_status full(struct meta_writer *self)
{
    return lode_fail_memory(self->error);
}

static void begin_section(struct meta_writer *self, struct section_blob *section)
{
    uint64_t at = self->sink->files[HPCT_META].size;
    *section = (struct section_blob){.base = (at + 7) / 8 * 8};
}

/* Appends a finished section to the file. */
static lode_status end_section(struct meta_writer *self, struct section_blob *section,
                               enum hpct_meta_section id)
{
    struct lode_output_file *file = &self->sink->files[HPCT_META];
    lode_status status = lode_output_align(file, 8, self->error);
    if (status == LODE_OK)
        status = lode_output_write(file, section->blob.bytes, section->blob.size, self->error);
    self->sections[id] = (struct wire_Section){.sz = section->blob.size, .p = section->base};
    lode_blob_free(&section->blob);
    return status;
}

/* Adds a string and stores its pointer in a field of a record, both given by their offsets. */
static lode_status put_text(struct meta_writer *self, struct section_blob *section, const char *text,
                            size_t field)
{
    size_t at = lode_blob_text(&section->blob, text);
    if (at == LODE_BLOB_FULL)
        return full(self);
    put_u64le(section->blob.bytes + field, section->base + at);
    return LODE_OK;
}

/* ---- general properties, identifier names ---- */

static const char *title_of(const struct meta_writer *self)
{
    const char *path = self->sink->base.output.path, *slash = strrchr(path, '/');
    if (self->about->title)
        return self->about->title;
    return slash ? slash + 1 : path;
}

static lode_status put_general(struct meta_writer *self)
{
    struct section_blob section;
    const char *description = self->about->text;
    begin_section(self, &section);
    lode_status status = LODE_OK;
    if (lode_blob_reserve(&section.blob, WIRE_General_SIZE, 8) == LODE_BLOB_FULL)
        status = full(self);
    if (status == LODE_OK)
        status = put_text(self, &section, title_of(self), WIRE_General_pTitle);
    if (status == LODE_OK)
        status = put_text(self, &section, description ? description : "", WIRE_General_pDescription);
    self->strings_end = section.blob.size;
    lode_status ended = end_section(self, &section, META_GENERAL);
    return status == LODE_OK ? ended : status;
}

/* Pads, so that strings begin after those of the sections before. */
static lode_status skip_strings(struct meta_writer *self, struct section_blob *section)
{
    size_t gap = self->strings_end > section->blob.size ? self->strings_end - section->blob.size : 0;
    return lode_blob_reserve(&section->blob, gap, 1) == LODE_BLOB_FULL ? full(self) : LODE_OK;
}

static lode_status fill_id_names(struct meta_writer *self, struct section_blob *section)
{
    uint32_t count = self->about->id_kind_count;
    size_t header = lode_blob_reserve(&section->blob, WIRE_IdNames_SIZE, 8);
    size_t names = lode_blob_reserve(&section->blob, count * sizeof(uint64_t), 8);
    if (header == LODE_BLOB_FULL || names == LODE_BLOB_FULL)
        return full(self);
    struct wire_IdNames wire = {.ppNames = section->base + names, .nKinds = (uint8_t)count};
    lode_wire_write_IdNames(&wire, section->blob.bytes + header);
    LODE_TRY(skip_strings(self, section));
    for (uint32_t i = 0; i < count; i++)
        LODE_TRY(put_text(self, section, self->about->id_kinds[i], names + (size_t)8 * i));
    self->strings_end = section->blob.size;
    return LODE_OK;
}

/* ---- metrics ---- */

/* Positions of records in the metrics section. */
struct metric_tables {
    size_t scopes, metrics, instances, statistics; /* the latter two: of the next metric */
};

static lode_status reserve_metrics(struct meta_writer *self, struct section_blob *section,
                                   struct metric_tables *tables)
{
    const struct lode_description *about = self->about;
    struct lode_blob *blob = &section->blob;
    size_t header = lode_blob_reserve(blob, WIRE_Metrics_SIZE, 8);
    tables->scopes = lode_blob_reserve(blob, (size_t)about->scope_count * WIRE_Scope_SIZE, 8);
    tables->metrics = lode_blob_reserve(blob, (size_t)about->metric_count * WIRE_Metric_SIZE, 8);
    tables->instances = lode_blob_reserve(blob, (size_t)about->value_ids * WIRE_ScopeInst_SIZE, 8);
    tables->statistics = lode_blob_reserve(blob, (size_t)about->statistic_ids * WIRE_Summary_SIZE, 8);
    if (header == LODE_BLOB_FULL || tables->scopes == LODE_BLOB_FULL || tables->metrics == LODE_BLOB_FULL ||
        tables->instances == LODE_BLOB_FULL || tables->statistics == LODE_BLOB_FULL)
        return full(self);
    struct wire_Metrics wire = {.pMetrics = section->base + tables->metrics,
                                .nMetrics = about->metric_count,
                                .szMetric = WIRE_Metric_SIZE,
                                .szScopeInst = WIRE_ScopeInst_SIZE,
                                .szSummary = WIRE_Summary_SIZE,
                                .pScopes = section->base + tables->scopes,
                                .nScopes = (uint16_t)about->scope_count,
                                .szScope = WIRE_Scope_SIZE};
    lode_wire_write_Metrics(&wire, blob->bytes + header);
    return LODE_OK;
}

static lode_status put_statistics(struct meta_writer *self, struct section_blob *section,
                                  const struct lode_metric *metric, const struct metric_tables *tables)
{
    for (size_t i = 0; i < metric->statistic_count; i++) {
        const lode_metric_statistic *statistic = &metric->statistics[i];
        size_t at = tables->statistics + i * WIRE_Summary_SIZE;
        struct wire_Summary wire = {.pScope = section->base + tables->scopes +
                                              (uint64_t)statistic->scope->index * WIRE_Scope_SIZE,
                                    .combine = (uint8_t)statistic->combine,
                                    .statMetricId = statistic->id};
        lode_wire_write_Summary(&wire, section->blob.bytes + at);
        LODE_TRY(put_text(self, section, statistic->formula, at + WIRE_Summary_pFormula));
    }
    return LODE_OK;
}

static lode_status put_metric(struct meta_writer *self, struct section_blob *section, uint32_t index,
                              struct metric_tables *tables)
{
    const struct lode_metric *metric = &self->about->metrics[index];
    size_t at = tables->metrics + (size_t)index * WIRE_Metric_SIZE;
    struct wire_Metric wire = {.pScopeInsts = section->base + tables->instances,
                               .pSummaries = section->base + tables->statistics,
                               .nScopeInsts = metric->scope_count,
                               .nSummaries = metric->statistic_count};
    lode_wire_write_Metric(&wire, section->blob.bytes + at);
    LODE_TRY(put_text(self, section, metric->name, at + WIRE_Metric_pName));
    for (size_t i = 0; i < metric->scope_count; i++) {
        const lode_metric_scope *instance = &metric->scopes[i];
        struct wire_ScopeInst scope = {.pScope = section->base + tables->scopes +
                                                 (uint64_t)instance->scope->index * WIRE_Scope_SIZE,
                                       .propMetricId = instance->id};
        lode_wire_write_ScopeInst(&scope, section->blob.bytes + tables->instances + i * WIRE_ScopeInst_SIZE);
    }
    LODE_TRY(put_statistics(self, section, metric, tables));
    tables->instances += (size_t)metric->scope_count * WIRE_ScopeInst_SIZE;
    tables->statistics += (size_t)metric->statistic_count * WIRE_Summary_SIZE;
    return LODE_OK;
}

static lode_status fill_metrics(struct meta_writer *self, struct section_blob *section)
{
    const struct lode_description *about = self->about;
    struct metric_tables tables;
    LODE_TRY(reserve_metrics(self, section, &tables));
    LODE_TRY(skip_strings(self, section));
    for (uint32_t i = 0; i < about->scope_count; i++) {
        const struct lode_scope *scope = &about->scopes[i];
        size_t at = tables.scopes + (size_t)i * WIRE_Scope_SIZE;
        struct wire_Scope wire = {.type = scope->type, .propagationIndex = scope->propagation_index};
        lode_wire_write_Scope(&wire, section->blob.bytes + at);
        LODE_TRY(put_text(self, section, scope->name, at + WIRE_Scope_pScopeName));
    }
    for (uint32_t i = 0; i < about->metric_count; i++)
        LODE_TRY(put_metric(self, section, i, &tables));
    return LODE_OK;
}

/* ---- strings, modules, files, functions ---- */

/* Pointers to strings of the common table, by index of their owner. */
struct text_pointers {
    uint64_t *modules, *files, *functions, *entries;
};

static lode_status add_text(struct meta_writer *self, struct section_blob *section, const char *text,
                            uint64_t *out)
{
    size_t at = lode_blob_text(&section->blob, text);
    *out = section->base + at;
    return at == LODE_BLOB_FULL ? full(self) : LODE_OK;
}

static lode_status fill_strings(struct meta_writer *self, struct section_blob *section,
                                struct text_pointers *texts)
{
    const struct lode_description *about = self->about;
    for (uint32_t i = 0; i < about->module_count; i++)
        LODE_TRY(add_text(self, section, about->modules[i].path, &texts->modules[i]));
    for (uint32_t i = 0; i < about->file_count; i++)
        LODE_TRY(add_text(self, section, about->files[i].path, &texts->files[i]));
    for (uint32_t i = 0; i < about->function_count; i++)
        if (about->functions[i].name)
            LODE_TRY(add_text(self, section, about->functions[i].name, &texts->functions[i]));
    uint32_t entries = 0;
    for (uint32_t id = 1; id < about->tree.count; id += about->tree.nodes[id].subtree_size)
        LODE_TRY(add_text(self, section, about->tree.nodes[id].entry_name, &texts->entries[entries++]));
    return LODE_OK;
}

static lode_status fill_modules(struct meta_writer *self, struct section_blob *section,
                                const struct text_pointers *texts)
{
    size_t count = self->about->module_count;
    size_t header = lode_blob_reserve(&section->blob, WIRE_Modules_SIZE, 8);
    size_t table = lode_blob_reserve(&section->blob, count * WIRE_Module_SIZE, 8);
    if (header == LODE_BLOB_FULL || table == LODE_BLOB_FULL)
        return full(self);
    self->modules = section->base + table;
    struct wire_Modules wire = {
        .pModules = self->modules, .nModules = (uint32_t)count, .szModule = WIRE_Module_SIZE};
    lode_wire_write_Modules(&wire, section->blob.bytes + header);
    for (size_t i = 0; i < count; i++) {
        struct wire_Module module = {.pPath = texts->modules[i]};
        lode_wire_write_Module(&module, section->blob.bytes + table + i * WIRE_Module_SIZE);
    }
    return LODE_OK;
}

static lode_status fill_files(struct meta_writer *self, struct section_blob *section,
                              const struct text_pointers *texts)
{
    size_t count = self->about->file_count;
    size_t header = lode_blob_reserve(&section->blob, WIRE_Files_SIZE, 8);
    size_t table = lode_blob_reserve(&section->blob, count * WIRE_File_SIZE, 8);
    if (header == LODE_BLOB_FULL || table == LODE_BLOB_FULL)
        return full(self);
    self->files = section->base + table;
    struct wire_Files wire = {.pFiles = self->files, .nFiles = (uint32_t)count, .szFile = WIRE_File_SIZE};
    lode_wire_write_Files(&wire, section->blob.bytes + header);
    for (uint32_t i = 0; i < count; i++) {
        struct wire_File record = {.flags = self->about->files[i].copied ? HPCT_FILE_COPIED : 0,
                                   .pPath = texts->files[i]};
        lode_wire_write_File(&record, section->blob.bytes + table + (size_t)i * WIRE_File_SIZE);
    }
    return LODE_OK;
}

static uint64_t module_pointer(const struct meta_writer *self, const lode_module *module)
{
    return module ? self->modules + module->index * (uint64_t)WIRE_Module_SIZE : 0;
}

static uint64_t file_pointer(const struct meta_writer *self, const lode_file *file)
{
    return file ? self->files + file->index * (uint64_t)WIRE_File_SIZE : 0;
}

static lode_status fill_functions(struct meta_writer *self, struct section_blob *section,
                                  const struct text_pointers *texts)
{
    size_t count = self->about->function_count;
    size_t header = lode_blob_reserve(&section->blob, WIRE_Functions_SIZE, 8);
    size_t table = lode_blob_reserve(&section->blob, count * WIRE_Function_SIZE, 8);
    if (header == LODE_BLOB_FULL || table == LODE_BLOB_FULL)
        return full(self);
    self->functions = section->base + table;
    struct wire_Functions wire = {
        .pFunctions = self->functions, .nFunctions = (uint32_t)count, .szFunction = WIRE_Function_SIZE};
    lode_wire_write_Functions(&wire, section->blob.bytes + header);
    for (uint32_t i = 0; i < count; i++) {
        const struct lode_function *function = &self->about->functions[i];
        struct wire_Function record = {.pName = texts->functions[i],
                                       .pModule = module_pointer(self, function->module),
                                       .offset = function->offset,
                                       .pFile = file_pointer(self, function->file),
                                       .line = function->line};
        lode_wire_write_Function(&record, section->blob.bytes + table + (size_t)i * WIRE_Function_SIZE);
    }
    return LODE_OK;
}

/* ---- the tree ---- */

/* For contexts that are no entry points. */
static unsigned flags_of(const lode_context *context)
{
    return (context->function ? HPCT_CONTEXT_FUNCTION : 0u) | (context->file ? HPCT_CONTEXT_SOURCE : 0u) |
           (context->module ? HPCT_CONTEXT_POINT : 0u);
}

static unsigned words_of(unsigned flags)
{
    return (flags & HPCT_CONTEXT_FUNCTION ? 1u : 0u) + (flags & HPCT_CONTEXT_SOURCE ? 2u : 0u) +
           (flags & HPCT_CONTEXT_POINT ? 2u : 0u);
}

/* Positions of children: arrays in the order of their parents' ids. */
struct layout {
    uint64_t *size, *offset; /* by id */
    uint32_t entries;
    uint64_t base, end;
};

static lode_status lay_out(struct meta_writer *self, struct layout *layout)
{
    const struct lode_context_tree *tree = &self->about->tree;
    layout->size = calloc((size_t)tree->count + 1, sizeof *layout->size);
    layout->offset = calloc((size_t)tree->count + 1, sizeof *layout->offset);
    if (layout->size == NULL || layout->offset == NULL)
        return full(self);
    for (uint32_t id = 1; id < tree->count; id++) {
        const lode_context *context = &tree->nodes[id];
        if (context->parent == 0)
            layout->entries++;
        else
            layout->size[context->parent] += WIRE_Context_SIZE + 8 * (uint64_t)words_of(flags_of(context));
    }
    uint64_t at = layout->base + WRITTEN_PADDED(Contexts) + (uint64_t)layout->entries * WIRE_EntryPoint_SIZE;
    for (uint32_t id = 1; id < tree->count; id++) {
        layout->offset[id] = layout->size[id] ? at : 0;
        at += layout->size[id];
    }
    layout->end = at;
    return LODE_OK;
}

static lode_status put_entries(struct meta_writer *self, const struct layout *layout,
                               const struct text_pointers *texts)
{
    const struct lode_context_tree *tree = &self->about->tree;
    struct lode_output_file *file = &self->sink->files[HPCT_META];
    uint8_t bytes[WIRE_EntryPoint_SIZE];
    struct wire_Contexts header = {.pEntryPoints = layout->base + WRITTEN_PADDED(Contexts),
                                   .nEntryPoints = (uint16_t)layout->entries,
                                   .szEntryPoint = WIRE_EntryPoint_SIZE};
    lode_wire_write_Contexts(&header, bytes);
    LODE_TRY(lode_output_write(file, bytes, WIRE_Contexts_SIZE, self->error));
    LODE_TRY(lode_output_align(file, 8, self->error));
    uint32_t index = 0;
    for (uint32_t id = 1; id < tree->count; id += tree->nodes[id].subtree_size) {
        struct wire_EntryPoint entry = {.szChildren = layout->size[id],
                                        .pChildren = layout->offset[id],
                                        .ctxId = id,
                                        .entryPoint = tree->nodes[id].entry,
                                        .pPrettyName = texts->entries[index++]};
        lode_wire_write_EntryPoint(&entry, bytes);
        LODE_TRY(lode_output_write(file, bytes, sizeof bytes, self->error));
    }
    return LODE_OK;
}

static lode_status put_context(struct meta_writer *self, const struct layout *layout, uint32_t id)
{
    const lode_context *context = &self->about->tree.nodes[id];
    uint8_t bytes[WIRE_Context_SIZE + 5 * 8] = {0}, *flex = bytes + WIRE_Context_SIZE;
    unsigned flags = flags_of(context);
    struct wire_Context wire = {.szChildren = layout->size[id],
                                .pChildren = layout->offset[id],
                                .ctxId = id,
                                .flags = (uint8_t)flags,
                                .relation = context->relation,
                                .lexicalType = (uint8_t)context->lexical,
                                .nFlexWords = (uint8_t)words_of(flags),
                                .propagation = context->propagation};
    lode_wire_write_Context(&wire, bytes);
    if (flags & HPCT_CONTEXT_FUNCTION) {
        put_u64le(flex, self->functions + context->function->index * (uint64_t)WIRE_Function_SIZE);
        flex += 8;
    }
    if (flags & HPCT_CONTEXT_SOURCE) {
        put_u64le(flex, file_pointer(self, context->file));
        put_u32le(flex + 8, context->line);
        flex += 16;
    }
    if (flags & HPCT_CONTEXT_POINT) {
        put_u64le(flex, module_pointer(self, context->module));
        put_u64le(flex + 8, context->offset);
        flex += 16;
    }
    return lode_output_write(&self->sink->files[HPCT_META], bytes, (size_t)(flex - bytes), self->error);
}

/* The children of a context: the first of its subtree, then the one after each child's subtree. */
static lode_status put_children(struct meta_writer *self, const struct layout *layout)
{
    const struct lode_context_tree *tree = &self->about->tree;
    for (uint32_t parent = 1; parent < tree->count; parent++)
        for (uint32_t id = parent + 1; id < parent + tree->nodes[parent].subtree_size;
             id += tree->nodes[id].subtree_size)
            LODE_TRY(put_context(self, layout, id));
    return LODE_OK;
}

static lode_status put_tree(struct meta_writer *self, const struct text_pointers *texts)
{
    struct lode_output_file *file = &self->sink->files[HPCT_META];
    struct layout layout = {0};
    LODE_TRY(lode_output_align(file, 8, self->error));
    layout.base = file->size;
    lode_status status = lay_out(self, &layout);
    if (status == LODE_OK)
        status = put_entries(self, &layout, texts);
    if (status == LODE_OK)
        status = put_children(self, &layout);
    self->sections[META_CONTEXT] = (struct wire_Section){.sz = layout.end - layout.base, .p = layout.base};
    free(layout.size);
    free(layout.offset);
    return status;
}

/* ---- top level ---- */

static lode_status put_named_tables(struct meta_writer *self, struct text_pointers *texts)
{
    struct section_blob section;
    begin_section(self, &section);
    lode_status status = fill_strings(self, &section, texts);
    lode_status ended = end_section(self, &section, META_STRINGS);
    LODE_TRY(status == LODE_OK ? ended : status);
    begin_section(self, &section);
    status = fill_modules(self, &section, texts);
    ended = end_section(self, &section, META_MODULES);
    LODE_TRY(status == LODE_OK ? ended : status);
    begin_section(self, &section);
    status = fill_files(self, &section, texts);
    ended = end_section(self, &section, META_FILES);
    LODE_TRY(status == LODE_OK ? ended : status);
    begin_section(self, &section);
    status = fill_functions(self, &section, texts);
    ended = end_section(self, &section, META_FUNCTIONS);
    LODE_TRY(status == LODE_OK ? ended : status);
    return put_tree(self, texts);
}

static lode_status put_meta(struct hpct_sink *sink, lode_error *error)
{
    const struct lode_description *about = sink->base.about;
    struct meta_writer self = {.sink = sink, .about = about, .sections = sink->meta, .error = error};
    struct section_blob section;
    LODE_TRY(put_general(&self));
    begin_section(&self, &section);
    lode_status status = fill_id_names(&self, &section);
    lode_status ended = end_section(&self, &section, META_ID_NAMES);
    LODE_TRY(status == LODE_OK ? ended : status);
    begin_section(&self, &section);
    status = fill_metrics(&self, &section);
    ended = end_section(&self, &section, META_METRICS);
    LODE_TRY(status == LODE_OK ? ended : status);
    struct text_pointers texts = {.modules = calloc((size_t)about->module_count + 1, sizeof(uint64_t)),
                                  .files = calloc((size_t)about->file_count + 1, sizeof(uint64_t)),
                                  .functions = calloc((size_t)about->function_count + 1, sizeof(uint64_t)),
                                  .entries = calloc((size_t)about->entries + 1, sizeof(uint64_t))};
    status = texts.modules && texts.files && texts.functions && texts.entries
                 ? put_named_tables(&self, &texts)
                 : lode_fail_memory(error);
    free(texts.modules);
    free(texts.files);
    free(texts.functions);
    free(texts.entries);
    return status;
}

lode_status lode_hpct_take_contexts(struct hpct_sink *sink, lode_error *error)
{
    LODE_TRY(lode_hpct_find_loops(sink, error));
    return put_meta(sink, error);
}
