/* SPDX-License-Identifier: BSD-3-Clause */
/* meta.db. Small sections are put together in memory; the context tree is streamed. */
#include "base/blob.h"
#include "base/bytes.h"
#include "format/hpctoolkit/write.h"
#include <inttypes.h>
#include <stdlib.h>

/* A section that is being put together: offsets in the blob are relative, pointers in the file are absolute. */
struct section_blob {
    struct lode_blob blob;
    uint64_t base;
};

struct meta_writer {
    lode_writer *writer;
    struct wire_Section *sections;
    lode_error *error;
    /*
     * hpcviewer keeps strings of three sections by their offset in the section alone, so no two of them may begin at the same
     * one: each section's strings begin behind where those of the section before end.
     */
    size_t strings_end;
    uint64_t modules, files, functions; /* where the tables are */
};

static lode_status full(struct meta_writer *self)
{
    return lode_fail_memory(self->error);
}

static void begin_section(struct meta_writer *self, struct section_blob *section)
{
    uint64_t at = self->writer->files[HPCT_META].size;
    *section = (struct section_blob){.base = (at + 7) / 8 * 8};
}

/* Appends a finished section to the file. */
static lode_status end_section(struct meta_writer *self, struct section_blob *section,
                               enum hpct_meta_section id)
{
    struct lode_output_file *file = &self->writer->files[HPCT_META];
    lode_status status = lode_output_align(file, 8, self->error);
    if (status == LODE_OK)
        status = lode_output_write(file, section->blob.bytes, section->blob.size, self->error);
    self->sections[id] = (struct wire_Section){.sz = section->blob.size, .p = section->base};
    lode_blob_free(&section->blob);
    return status;
}

/* Adds a string and puts its pointer into a field of a record, both given by their offsets. */
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

static const char *title_of(const lode_writer *writer)
{
    const char *slash = strrchr(writer->output.path, '/');
    if (writer->options.title)
        return writer->options.title;
    return slash ? slash + 1 : writer->output.path;
}

static lode_status put_general(struct meta_writer *self)
{
    struct section_blob section;
    const char *description = self->writer->options.description;
    begin_section(self, &section);
    lode_status status = LODE_OK;
    if (lode_blob_reserve(&section.blob, WIRE_General_SIZE, 8) == LODE_BLOB_FULL)
        status = full(self);
    if (status == LODE_OK)
        status = put_text(self, &section, title_of(self->writer), WIRE_General_pTitle);
    if (status == LODE_OK)
        status = put_text(self, &section, description ? description : "", WIRE_General_pDescription);
    self->strings_end = section.blob.size;
    lode_status ended = end_section(self, &section, META_GENERAL);
    return status == LODE_OK ? ended : status;
}

/* Leaves room, so that strings begin behind those of the sections before. */
static lode_status skip_strings(struct meta_writer *self, struct section_blob *section)
{
    size_t gap = self->strings_end > section->blob.size ? self->strings_end - section->blob.size : 0;
    return lode_blob_reserve(&section->blob, gap, 1) == LODE_BLOB_FULL ? full(self) : LODE_OK;
}

static lode_status fill_id_names(struct meta_writer *self, struct section_blob *section)
{
    const lode_writer *writer = self->writer;
    size_t header = lode_blob_reserve(&section->blob, WIRE_IdNames_SIZE, 8);
    size_t names = lode_blob_reserve(&section->blob, writer->kinds.count * sizeof(uint64_t), 8);
    if (header == LODE_BLOB_FULL || names == LODE_BLOB_FULL)
        return full(self);
    struct wire_IdNames wire = {.ppNames = section->base + names, .nKinds = (uint8_t)writer->kinds.count};
    lode_wire_write_IdNames(&wire, section->blob.bytes + header);
    LODE_TRY(skip_strings(self, section));
    for (size_t i = 0; i < writer->kinds.count; i++)
        LODE_TRY(put_text(self, section, *LODE_ARRAY_AT(&writer->kinds, const char *, i), names + 8 * i));
    self->strings_end = section->blob.size;
    return LODE_OK;
}

/* ---- metrics ---- */

/* Where records of the metrics section are. */
struct metric_tables {
    size_t scopes, metrics, instances, statistics; /* instances and statistics: of the next metric */
};

static lode_status reserve_metrics(struct meta_writer *self, struct section_blob *section,
                                   struct metric_tables *tables)
{
    const lode_writer *writer = self->writer;
    struct lode_blob *blob = &section->blob;
    size_t header = lode_blob_reserve(blob, WIRE_Metrics_SIZE, 8);
    tables->scopes = lode_blob_reserve(blob, writer->scopes.count * WIRE_Scope_SIZE, 8);
    tables->metrics = lode_blob_reserve(blob, writer->metrics.count * WIRE_Metric_SIZE, 8);
    tables->instances = lode_blob_reserve(blob, (size_t)writer->value_ids * WIRE_ScopeInst_SIZE, 8);
    tables->statistics = lode_blob_reserve(blob, (size_t)writer->statistic_ids * WIRE_Summary_SIZE, 8);
    if (header == LODE_BLOB_FULL || tables->scopes == LODE_BLOB_FULL || tables->metrics == LODE_BLOB_FULL ||
        tables->instances == LODE_BLOB_FULL || tables->statistics == LODE_BLOB_FULL)
        return full(self);
    struct wire_Metrics wire = {.pMetrics = section->base + tables->metrics,
                                .nMetrics = (uint32_t)writer->metrics.count,
                                .szMetric = WIRE_Metric_SIZE,
                                .szScopeInst = WIRE_ScopeInst_SIZE,
                                .szSummary = WIRE_Summary_SIZE,
                                .pScopes = section->base + tables->scopes,
                                .nScopes = (uint16_t)writer->scopes.count,
                                .szScope = WIRE_Scope_SIZE};
    lode_wire_write_Metrics(&wire, blob->bytes + header);
    return LODE_OK;
}

static lode_status put_statistics(struct meta_writer *self, struct section_blob *section,
                                  const struct written_metric *metric, const struct metric_tables *tables)
{
    for (size_t i = 0; i < metric->statistics.count; i++) {
        const struct written_statistic *statistic =
            LODE_ARRAY_AT(&metric->statistics, struct written_statistic, i);
        size_t at = tables->statistics + i * WIRE_Summary_SIZE;
        struct wire_Summary wire = {.pScope = section->base + tables->scopes +
                                              (uint64_t)statistic->scope * WIRE_Scope_SIZE,
                                    .combine = statistic->combine,
                                    .statMetricId = statistic->id};
        lode_wire_write_Summary(&wire, section->blob.bytes + at);
        LODE_TRY(put_text(self, section, statistic->formula, at + WIRE_Summary_pFormula));
    }
    return LODE_OK;
}

static lode_status put_metric(struct meta_writer *self, struct section_blob *section, uint32_t index,
                              struct metric_tables *tables)
{
    const struct written_metric *metric = WRITTEN(self->writer, metrics, metric, index);
    size_t at = tables->metrics + (size_t)index * WIRE_Metric_SIZE;
    struct wire_Metric wire = {.pScopeInsts = section->base + tables->instances,
                               .pSummaries = section->base + tables->statistics,
                               .nScopeInsts = (uint16_t)metric->scopes.count,
                               .nSummaries = (uint16_t)metric->statistics.count};
    lode_wire_write_Metric(&wire, section->blob.bytes + at);
    LODE_TRY(put_text(self, section, metric->name, at + WIRE_Metric_pName));
    for (size_t i = 0; i < metric->scopes.count; i++) {
        const struct written_metric_scope *instance =
            LODE_ARRAY_AT(&metric->scopes, struct written_metric_scope, i);
        struct wire_ScopeInst scope = {.pScope = section->base + tables->scopes +
                                                 (uint64_t)instance->scope * WIRE_Scope_SIZE,
                                       .propMetricId = instance->id};
        lode_wire_write_ScopeInst(&scope, section->blob.bytes + tables->instances + i * WIRE_ScopeInst_SIZE);
    }
    LODE_TRY(put_statistics(self, section, metric, tables));
    tables->instances += metric->scopes.count * WIRE_ScopeInst_SIZE;
    tables->statistics += metric->statistics.count * WIRE_Summary_SIZE;
    return LODE_OK;
}

static lode_status fill_metrics(struct meta_writer *self, struct section_blob *section)
{
    const lode_writer *writer = self->writer;
    struct metric_tables tables;
    LODE_TRY(reserve_metrics(self, section, &tables));
    LODE_TRY(skip_strings(self, section));
    for (uint32_t i = 0; i < writer->scopes.count; i++) {
        const struct written_scope *scope = WRITTEN(writer, scopes, scope, i);
        size_t at = tables.scopes + (size_t)i * WIRE_Scope_SIZE;
        struct wire_Scope wire = {.type = scope->type, .propagationIndex = scope->bit};
        lode_wire_write_Scope(&wire, section->blob.bytes + at);
        LODE_TRY(put_text(self, section, scope->name, at + WIRE_Scope_pScopeName));
    }
    for (uint32_t i = 0; i < writer->metrics.count; i++)
        LODE_TRY(put_metric(self, section, i, &tables));
    return LODE_OK;
}

/* ---- strings, modules, files, functions ---- */

/* Pointers to strings of the common table, by index of what they name. */
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
                                struct text_pointers *strings)
{
    const lode_writer *writer = self->writer;
    /* In the order of the tables, which is canonical: by rank. */
    for (uint32_t i = 0; i < writer->modules.count; i++)
        strings->modules[WRITTEN(writer, modules, module, i)->rank] = i;
    for (uint32_t i = 0; i < writer->modules.count; i++)
        LODE_TRY(add_text(self, section, WRITTEN(writer, modules, module, strings->modules[i])->path,
                          &strings->modules[i]));
    for (uint32_t i = 0; i < writer->sources.count; i++)
        strings->files[WRITTEN(writer, sources, file, i)->rank] = i;
    for (uint32_t i = 0; i < writer->sources.count; i++)
        LODE_TRY(add_text(self, section, WRITTEN(writer, sources, file, strings->files[i])->path,
                          &strings->files[i]));
    for (uint32_t i = 0; i < writer->functions.count; i++)
        strings->functions[WRITTEN(writer, functions, function, i)->rank] = i;
    for (uint32_t i = 0; i < writer->functions.count; i++) {
        const char *name = WRITTEN(writer, functions, function, strings->functions[i])->name;
        strings->functions[i] = 0;
        if (name)
            LODE_TRY(add_text(self, section, name, &strings->functions[i]));
    }
    uint32_t entries = 0;
    for (uint32_t id = 1; id <= writer->listed; id++) {
        const struct written_context *context = WRITTEN(writer, contexts, context, writer->handle_of[id]);
        if (context->parent == LODE_NONE)
            LODE_TRY(add_text(self, section, context->entry_name, &strings->entries[entries++]));
    }
    return LODE_OK;
}

static lode_status fill_modules(struct meta_writer *self, struct section_blob *section,
                                const struct text_pointers *strings)
{
    size_t count = self->writer->modules.count;
    size_t header = lode_blob_reserve(&section->blob, WIRE_Modules_SIZE, 8);
    size_t table = lode_blob_reserve(&section->blob, count * WIRE_Module_SIZE, 8);
    if (header == LODE_BLOB_FULL || table == LODE_BLOB_FULL)
        return full(self);
    self->modules = section->base + table;
    struct wire_Modules wire = {
        .pModules = self->modules, .nModules = (uint32_t)count, .szModule = WIRE_Module_SIZE};
    lode_wire_write_Modules(&wire, section->blob.bytes + header);
    for (size_t i = 0; i < count; i++) {
        struct wire_Module module = {.pPath = strings->modules[i]};
        lode_wire_write_Module(&module, section->blob.bytes + table + i * WIRE_Module_SIZE);
    }
    return LODE_OK;
}

static lode_status fill_files(struct meta_writer *self, struct section_blob *section,
                              const struct text_pointers *strings)
{
    size_t count = self->writer->sources.count;
    size_t header = lode_blob_reserve(&section->blob, WIRE_Files_SIZE, 8);
    size_t table = lode_blob_reserve(&section->blob, count * WIRE_File_SIZE, 8);
    if (header == LODE_BLOB_FULL || table == LODE_BLOB_FULL)
        return full(self);
    self->files = section->base + table;
    struct wire_Files wire = {.pFiles = self->files, .nFiles = (uint32_t)count, .szFile = WIRE_File_SIZE};
    lode_wire_write_Files(&wire, section->blob.bytes + header);
    for (uint32_t i = 0; i < count; i++) {
        const struct written_file *source = WRITTEN(self->writer, sources, file, i);
        struct wire_File record = {.flags = source->copied ? HPCT_FILE_COPIED : 0,
                                   .pPath = strings->files[source->rank]};
        lode_wire_write_File(&record, section->blob.bytes + table + (size_t)source->rank * WIRE_File_SIZE);
    }
    return LODE_OK;
}

static uint64_t module_pointer(const struct meta_writer *self, uint32_t module)
{
    return module == LODE_NONE ? 0
                               : self->modules + WRITTEN(self->writer, modules, module, module)->rank *
                                                     (uint64_t)WIRE_Module_SIZE;
}

static uint64_t file_pointer(const struct meta_writer *self, uint32_t file)
{
    return file == LODE_NONE
               ? 0
               : self->files + WRITTEN(self->writer, sources, file, file)->rank * (uint64_t)WIRE_File_SIZE;
}

static uint64_t function_pointer(const struct meta_writer *self, uint32_t function)
{
    return self->functions +
           WRITTEN(self->writer, functions, function, function)->rank * (uint64_t)WIRE_Function_SIZE;
}

static lode_status fill_functions(struct meta_writer *self, struct section_blob *section,
                                  const struct text_pointers *strings)
{
    size_t count = self->writer->functions.count;
    size_t header = lode_blob_reserve(&section->blob, WIRE_Functions_SIZE, 8);
    size_t table = lode_blob_reserve(&section->blob, count * WIRE_Function_SIZE, 8);
    if (header == LODE_BLOB_FULL || table == LODE_BLOB_FULL)
        return full(self);
    self->functions = section->base + table;
    struct wire_Functions wire = {
        .pFunctions = self->functions, .nFunctions = (uint32_t)count, .szFunction = WIRE_Function_SIZE};
    lode_wire_write_Functions(&wire, section->blob.bytes + header);
    for (uint32_t i = 0; i < count; i++) {
        const struct written_function *function = WRITTEN(self->writer, functions, function, i);
        struct wire_Function record = {.pName = strings->functions[function->rank],
                                       .pModule = module_pointer(self, function->module),
                                       .offset = function->offset,
                                       .pFile = file_pointer(self, function->file),
                                       .line = function->line};
        lode_wire_write_Function(&record,
                                 section->blob.bytes + table + (size_t)function->rank * WIRE_Function_SIZE);
    }
    return LODE_OK;
}

/* ---- the tree ---- */

static unsigned flags_of(const struct written_context *context)
{
    return (context->function != LODE_NONE ? HPCT_CONTEXT_FUNCTION : 0u) |
           (context->file != LODE_NONE ? HPCT_CONTEXT_SOURCE : 0u) |
           (context->module != LODE_NONE ? HPCT_CONTEXT_POINT : 0u);
}

static unsigned words_of(unsigned flags)
{
    return (flags & HPCT_CONTEXT_FUNCTION ? 1u : 0u) + (flags & HPCT_CONTEXT_SOURCE ? 2u : 0u) +
           (flags & HPCT_CONTEXT_POINT ? 2u : 0u);
}

/* Where the children of each context go: arrays in the order of their parents' ids. */
struct layout {
    uint64_t *size, *offset; /* by id */
    uint32_t entries;
    uint64_t base, end;
};

static const struct written_context *context_of(const lode_writer *writer, uint32_t id)
{
    return WRITTEN(writer, contexts, context, writer->handle_of[id]);
}

static lode_status lay_out(struct meta_writer *self, struct layout *layout)
{
    const lode_writer *writer = self->writer;
    layout->size = calloc((size_t)writer->listed + 1, sizeof *layout->size);
    layout->offset = calloc((size_t)writer->listed + 1, sizeof *layout->offset);
    if (layout->size == NULL || layout->offset == NULL)
        return full(self);
    for (uint32_t id = 1; id <= writer->listed; id++) {
        const struct written_context *context = context_of(writer, id);
        if (context->parent == LODE_NONE)
            layout->entries++;
        else
            layout->size[writer->numbered[id].parent] +=
                WIRE_Context_SIZE + 8 * (uint64_t)words_of(flags_of(context));
    }
    uint64_t at = layout->base + WRITTEN_PADDED(Contexts) + (uint64_t)layout->entries * WIRE_EntryPoint_SIZE;
    for (uint32_t id = 1; id <= writer->listed; id++) {
        layout->offset[id] = layout->size[id] ? at : 0;
        at += layout->size[id];
    }
    layout->end = at;
    return LODE_OK;
}

static lode_status put_entries(struct meta_writer *self, const struct layout *layout,
                               const struct text_pointers *strings)
{
    const lode_writer *writer = self->writer;
    struct lode_output_file *file = &self->writer->files[HPCT_META];
    uint8_t bytes[WIRE_EntryPoint_SIZE];
    struct wire_Contexts header = {.pEntryPoints = layout->base + WRITTEN_PADDED(Contexts),
                                   .nEntryPoints = (uint16_t)layout->entries,
                                   .szEntryPoint = WIRE_EntryPoint_SIZE};
    lode_wire_write_Contexts(&header, bytes);
    LODE_TRY(lode_output_write(file, bytes, WIRE_Contexts_SIZE, self->error));
    LODE_TRY(lode_output_align(file, 8, self->error));
    uint32_t index = 0;
    for (uint32_t id = 1; id <= writer->listed; id++) {
        const struct written_context *context = context_of(writer, id);
        if (context->parent != LODE_NONE)
            continue;
        struct wire_EntryPoint entry = {.szChildren = layout->size[id],
                                        .pChildren = layout->offset[id],
                                        .ctxId = id,
                                        .entryPoint = context->entry,
                                        .pPrettyName = strings->entries[index++]};
        lode_wire_write_EntryPoint(&entry, bytes);
        LODE_TRY(lode_output_write(file, bytes, sizeof bytes, self->error));
    }
    return LODE_OK;
}

static lode_status put_context(struct meta_writer *self, const struct layout *layout, uint32_t id)
{
    const struct written_context *context = context_of(self->writer, id);
    uint8_t bytes[WIRE_Context_SIZE + 5 * 8] = {0}, *flex = bytes + WIRE_Context_SIZE;
    unsigned flags = flags_of(context);
    struct wire_Context wire = {.szChildren = layout->size[id],
                                .pChildren = layout->offset[id],
                                .ctxId = id,
                                .flags = (uint8_t)flags,
                                .relation = context->relation,
                                .lexicalType = context->lexical,
                                .nFlexWords = (uint8_t)words_of(flags),
                                .propagation = context->propagation};
    lode_wire_write_Context(&wire, bytes);
    if (flags & HPCT_CONTEXT_FUNCTION) {
        put_u64le(flex, function_pointer(self, context->function));
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
    return lode_output_write(&self->writer->files[HPCT_META], bytes, (size_t)(flex - bytes), self->error);
}

/* Children of one context are its subtree's first context, and from each the one behind its subtree. */
static lode_status put_children(struct meta_writer *self, const struct layout *layout,
                                const uint32_t *subtree_end)
{
    const lode_writer *writer = self->writer;
    for (uint32_t parent = 1; parent <= writer->listed; parent++)
        for (uint32_t id = parent + 1; id < subtree_end[parent]; id = subtree_end[id])
            LODE_TRY(put_context(self, layout, id));
    return LODE_OK;
}

static lode_status put_tree(struct meta_writer *self, const struct text_pointers *strings)
{
    lode_writer *writer = self->writer;
    struct lode_output_file *file = &writer->files[HPCT_META];
    struct layout layout = {0};
    LODE_TRY(lode_output_align(file, 8, self->error));
    layout.base = file->size;
    uint32_t *subtree_end = calloc((size_t)writer->listed + 2, sizeof *subtree_end);
    lode_status status = subtree_end ? lay_out(self, &layout) : full(self);
    /* Ids are in depth-first order: a subtree ends where its last child's does. */
    for (uint32_t id = writer->listed; subtree_end && id > 0; id--) {
        if (subtree_end[id] == 0)
            subtree_end[id] = id + 1;
        uint32_t parent = writer->numbered[id].parent;
        if (parent > 0 && subtree_end[parent] < subtree_end[id])
            subtree_end[parent] = subtree_end[id];
    }
    if (status == LODE_OK)
        status = put_entries(self, &layout, strings);
    if (status == LODE_OK)
        status = put_children(self, &layout, subtree_end);
    self->sections[META_CONTEXT] = (struct wire_Section){.sz = layout.end - layout.base, .p = layout.base};
    free(layout.size);
    free(layout.offset);
    free(subtree_end);
    return status;
}

/* ---- all of it ---- */

static lode_status put_named_tables(struct meta_writer *self, struct text_pointers *strings)
{
    struct section_blob section;
    begin_section(self, &section);
    lode_status status = fill_strings(self, &section, strings);
    lode_status ended = end_section(self, &section, META_STRINGS);
    LODE_TRY(status == LODE_OK ? ended : status);
    begin_section(self, &section);
    status = fill_modules(self, &section, strings);
    ended = end_section(self, &section, META_MODULES);
    LODE_TRY(status == LODE_OK ? ended : status);
    begin_section(self, &section);
    status = fill_files(self, &section, strings);
    ended = end_section(self, &section, META_FILES);
    LODE_TRY(status == LODE_OK ? ended : status);
    begin_section(self, &section);
    status = fill_functions(self, &section, strings);
    ended = end_section(self, &section, META_FUNCTIONS);
    LODE_TRY(status == LODE_OK ? ended : status);
    return put_tree(self, strings);
}

lode_status lode_writer_put_meta(lode_writer *writer, struct wire_Section *sections, lode_error *error)
{
    struct meta_writer self = {.writer = writer, .sections = sections, .error = error};
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
    struct text_pointers strings = {.modules = calloc(writer->modules.count + 1, sizeof(uint64_t)),
                                    .files = calloc(writer->sources.count + 1, sizeof(uint64_t)),
                                    .functions = calloc(writer->functions.count + 1, sizeof(uint64_t)),
                                    .entries = calloc((size_t)writer->listed + 1, sizeof(uint64_t))};
    status = strings.modules && strings.files && strings.functions && strings.entries
                 ? put_named_tables(&self, &strings)
                 : lode_fail_memory(error);
    free(strings.modules);
    free(strings.files);
    free(strings.functions);
    free(strings.entries);
    return status;
}
