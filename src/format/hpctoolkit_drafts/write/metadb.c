/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes meta.db of the draft of winter 2021/22. */
#include "format/hpctoolkit_drafts/metadb.h"
#include "base/io/bytes.h"
#include "format/hpctoolkit_drafts/recover.h"
#include "format/hpctoolkit_drafts/write/write.h"
#include "format/replace.h"
#include <stdlib.h>
#include <string.h>

enum {
    SECTION_ALIGNMENT = 16,
    MAX_NODE_SIZE = DRAFTS_MetaNode_SIZE + DRAFTS_MetaCallee_SIZE + DRAFTS_MetaLexical_SIZE +
                    METADB_FUNCTION_SIZE + METADB_LINE_SIZE + METADB_POINT_SIZE
};

struct metadb {
    struct drafts_sink *out;
    const struct lode_description *about;
    struct lode_output_file file;
    struct drafts_MetaSection sections[METADB_SECTIONS];
    struct lode_array stand_ins; /* of const char *: functions that represent entry points */
    uint32_t *stand_in_of;       /* by index of an entry point, else 0: its stand-in's index */
    uint64_t text;               /* offset of the next string */
    uint64_t *blocks;            /* by context index: offset of its children */
};

/* ---- bytes ---- */

static lode_status put(struct metadb *self, const void *bytes, size_t size, lode_error *error)
{
    return lode_output_write(&self->file, bytes, size, error);
}

static lode_status put_text(struct metadb *self, const char *text, lode_error *error)
{
    return put(self, text, strlen(text) + 1, error);
}

static lode_status put_u16(struct metadb *self, uint16_t number, lode_error *error)
{
    uint8_t bytes[sizeof number];
    put_u16be(bytes, number);
    return put(self, bytes, sizeof bytes, error);
}

static lode_status put_u32(struct metadb *self, uint32_t number, lode_error *error)
{
    uint8_t bytes[sizeof number];
    put_u32be(bytes, number);
    return put(self, bytes, sizeof bytes, error);
}

static lode_status begin_section(struct metadb *self, enum metadb_section section, lode_error *error)
{
    LODE_TRY(lode_output_align(&self->file, SECTION_ALIGNMENT, error));
    self->sections[section].ptr = self->file.size;
    return LODE_OK;
}

static void end_section(struct metadb *self, enum metadb_section section)
{
    self->sections[section].size = self->file.size - self->sections[section].ptr;
}

/* ---- general properties and metrics ---- */

static lode_status put_general(struct metadb *self, lode_error *error)
{
    LODE_TRY(begin_section(self, METADB_GENERAL, error));
    LODE_TRY(put_text(self, self->about->title, error));
    LODE_TRY(put_u16(self, (uint16_t)self->about->id_kind_count, error));
    for (uint32_t i = 0; i < self->about->id_kind_count; i++)
        LODE_TRY(put_text(self, self->about->id_kinds[i], error));
    end_section(self, METADB_GENERAL);
    return LODE_OK;
}

static uint16_t statistics_of(const lode_metric *metric, const lode_scope *scope)
{
    uint16_t count = 0;
    for (uint32_t i = 0; i < metric->statistic_count; i++)
        count = (uint16_t)(count + (metric->statistics[i].scope == scope));
    return count;
}

static lode_status put_scope(struct metadb *self, const lode_metric *metric,
                             const lode_metric_scope *instance, lode_error *error)
{
    LODE_TRY(put_u16(self, instance->id, error));
    LODE_TRY(put_u16(self, statistics_of(metric, instance->scope), error));
    LODE_TRY(put_text(self, instance->scope->name, error));
    for (uint32_t i = 0; i < metric->statistic_count; i++) {
        const lode_metric_statistic *statistic = &metric->statistics[i];
        uint8_t combine = (uint8_t)statistic->combine;
        if (statistic->scope != instance->scope)
            continue;
        LODE_TRY(put_u16(self, statistic->id, error));
        LODE_TRY(put(self, &combine, 1, error));
        LODE_TRY(put_text(self, statistic->formula, error));
    }
    return LODE_OK;
}

static lode_status put_metrics(struct metadb *self, lode_error *error)
{
    LODE_TRY(begin_section(self, METADB_METRICS, error));
    LODE_TRY(put_u32(self, self->about->metric_count, error));
    for (uint32_t m = 0; m < self->about->metric_count; m++) {
        const lode_metric *metric = &self->about->metrics[m];
        LODE_TRY(put_u16(self, metric->scope_count, error));
        LODE_TRY(put_text(self, metric->name, error));
        for (uint32_t i = 0; i < metric->scope_count; i++)
            LODE_TRY(put_scope(self, metric, &metric->scopes[i], error));
    }
    end_section(self, METADB_METRICS);
    return LODE_OK;
}

/* ---- binaries, files, functions, and their strings ---- */

/* The offset of a record, by section and index. */
static uint64_t record_at(const struct metadb *self, enum metadb_section section, uint32_t index)
{
    uint64_t stride = section == METADB_FUNCTIONS ? DRAFTS_MetaFunction_SIZE : DRAFTS_MetaPath_SIZE;
    return self->sections[section].ptr + DRAFTS_MetaTable_SIZE + index * stride;
}

static uint32_t function_count(const struct metadb *self)
{
    return self->about->function_count + (uint32_t)self->stand_ins.count;
}

static uint64_t align(uint64_t offset)
{
    return (offset + SECTION_ALIGNMENT - 1) / SECTION_ALIGNMENT * SECTION_ALIGNMENT;
}

/* The three tables and the strings are contiguous, from the end of the file on. */
static void place_tables(struct metadb *self)
{
    static const enum metadb_section order[] = {METADB_BINARIES, METADB_FILES, METADB_FUNCTIONS};
    const uint32_t counts[] = {self->about->module_count, self->about->file_count, function_count(self)};
    uint64_t at = self->file.size;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        self->sections[order[i]].ptr = align(at);
        at = record_at(self, order[i], counts[i]);
    }
    self->text = align(at);
}

/* Reserves the offset of a string that is written later. */
static uint64_t next_text(struct metadb *self, const char *text)
{
    uint64_t at = self->text;
    self->text += strlen(text) + 1;
    return at;
}

static lode_status begin_table(struct metadb *self, enum metadb_section section, uint32_t count,
                               uint16_t size, lode_error *error)
{
    uint8_t bytes[DRAFTS_MetaTable_SIZE];
    struct drafts_MetaTable table = {.count = count, .size = size};
    LODE_TRY(begin_section(self, section, error));
    lode_drafts_write_MetaTable(&table, bytes);
    return put(self, bytes, sizeof bytes, error);
}

static lode_status put_path(struct metadb *self, uint32_t flags, const char *path, lode_error *error)
{
    uint8_t bytes[DRAFTS_MetaPath_SIZE];
    struct drafts_MetaPath record = {.flags = flags, .path_ptr = next_text(self, path)};
    lode_drafts_write_MetaPath(&record, bytes);
    return put(self, bytes, sizeof bytes, error);
}

static lode_status put_paths(struct metadb *self, lode_error *error)
{
    const struct lode_description *about = self->about;
    LODE_TRY(begin_table(self, METADB_BINARIES, about->module_count, DRAFTS_MetaPath_SIZE, error));
    for (uint32_t i = 0; i < about->module_count; i++)
        LODE_TRY(put_path(self, 0, about->modules[i].path, error));
    end_section(self, METADB_BINARIES);
    LODE_TRY(begin_table(self, METADB_FILES, about->file_count, DRAFTS_MetaPath_SIZE, error));
    for (uint32_t i = 0; i < about->file_count; i++)
        LODE_TRY(
            put_path(self, about->files[i].copied ? METADB_FILE_COPIED : 0, about->files[i].path, error));
    end_section(self, METADB_FILES);
    return LODE_OK;
}

static lode_status put_function(struct metadb *self, const struct drafts_MetaFunction *record,
                                lode_error *error)
{
    uint8_t bytes[DRAFTS_MetaFunction_SIZE];
    lode_drafts_write_MetaFunction(record, bytes);
    return put(self, bytes, sizeof bytes, error);
}

static const char *stand_in(const struct metadb *self, uint32_t index)
{
    return *LODE_ARRAY_AT(&self->stand_ins, const char *, index);
}

static lode_status put_functions(struct metadb *self, lode_error *error)
{
    LODE_TRY(begin_table(self, METADB_FUNCTIONS, function_count(self), DRAFTS_MetaFunction_SIZE, error));
    for (uint32_t i = 0; i < self->about->function_count; i++) {
        const lode_function *function = &self->about->functions[i];
        struct drafts_MetaFunction record = {.binary_offset = function->offset};
        if (function->name)
            record.name_ptr = next_text(self, function->name);
        if (function->module)
            record.binary_ptr = record_at(self, METADB_BINARIES, function->module->index);
        else if (function->offset == 0)
            record.binary_offset = UINT64_MAX;
        if (function->file) {
            record.def_fileptr = record_at(self, METADB_FILES, function->file->index);
            record.def_line = function->line;
        }
        LODE_TRY(put_function(self, &record, error));
    }
    for (uint32_t i = 0; i < self->stand_ins.count; i++) {
        struct drafts_MetaFunction record = {.name_ptr = next_text(self, stand_in(self, i)),
                                             .binary_offset = UINT64_MAX};
        LODE_TRY(put_function(self, &record, error));
    }
    end_section(self, METADB_FUNCTIONS);
    return LODE_OK;
}

/* In the order of their offsets. */
static lode_status put_strings(struct metadb *self, lode_error *error)
{
    const struct lode_description *about = self->about;
    LODE_TRY(begin_section(self, METADB_STRINGS, error));
    for (uint32_t i = 0; i < about->module_count; i++)
        LODE_TRY(put_text(self, about->modules[i].path, error));
    for (uint32_t i = 0; i < about->file_count; i++)
        LODE_TRY(put_text(self, about->files[i].path, error));
    for (uint32_t i = 0; i < about->function_count; i++)
        if (about->functions[i].name)
            LODE_TRY(put_text(self, about->functions[i].name, error));
    for (uint32_t i = 0; i < self->stand_ins.count; i++)
        LODE_TRY(put_text(self, stand_in(self, i), error));
    end_section(self, METADB_STRINGS);
    return LODE_OK;
}

/* ---- contexts ---- */

static lode_status add_stand_in(struct metadb *self, const char *name, lode_error *error)
{
    const char **added = lode_array_push(&self->stand_ins);
    if (added == NULL)
        return lode_fail_memory(error);
    *added = name;
    return LODE_OK;
}

/* First the one of idle threads, then those of the kinds of entry points, then own names. */
static lode_status find_stand_ins(struct metadb *self, lode_error *error)
{
    const struct lode_context_tree *tree = &self->about->tree;
    LODE_TRY(add_stand_in(self, DRAFTS_NO_ACTIVITY, error));
    for (unsigned kind = 0; kind <= LODE_ENTRY_APPLICATION_THREAD; kind++)
        LODE_TRY(add_stand_in(self, lode_drafts_entry_function(kind, NULL), error));
    for (uint32_t i = 1; i < tree->count; i += tree->nodes[i].subtree_size) {
        const lode_context *node = &tree->nodes[i];
        const char *name = lode_drafts_entry_function(node->entry, node->entry_name);
        self->stand_in_of[i] = 1u + node->entry;
        if (node->entry <= LODE_ENTRY_APPLICATION_THREAD && name == stand_in(self, self->stand_in_of[i]))
            continue;
        self->stand_in_of[i] = (uint32_t)self->stand_ins.count;
        LODE_TRY(add_stand_in(self, name, error));
    }
    return LODE_OK;
}

static bool has_called_children(const struct lode_context_tree *tree, const lode_context *node)
{
    uint32_t end = node->index + node->subtree_size;
    for (uint32_t i = node->index + 1; i < end; i += tree->nodes[i].subtree_size)
        if (tree->nodes[i].relation != LODE_RELATION_LEXICAL)
            return true;
    return false;
}

/* Writes a pointer of a lexical specification; returns the end. */
static uint8_t *add_pointer(uint8_t *at, uint64_t pointer)
{
    put_u64be(at, pointer);
    return at + sizeof pointer;
}

/* Writes the lexical specification of a context; returns its size. */
static size_t encode_lexical(const struct metadb *self, const lode_context *node, uint8_t *bytes)
{
    bool entry = node->lexical == LODE_LEXICAL_ENTRY;
    const lode_function *function = lode_context_function(node);
    struct drafts_MetaLexical record = {.lex_type = entry ? LODE_LEXICAL_FUNCTION : (uint8_t)node->lexical};
    uint8_t *at = bytes + DRAFTS_MetaLexical_SIZE;
    if (entry || function) {
        uint32_t index =
            entry ? self->about->function_count + self->stand_in_of[node->index] : function->index;
        record.lex_flags |= METADB_HAS_FUNCTION;
        at = add_pointer(at, record_at(self, METADB_FUNCTIONS, index));
    }
    if (node->file) {
        record.lex_flags |= METADB_HAS_LINE;
        at = add_pointer(at, record_at(self, METADB_FILES, node->file->index));
        put_u32be(at, node->line);
        at += sizeof node->line;
        if (node->lexical == LODE_LEXICAL_LINE && has_called_children(&self->about->tree, node))
            record.lex_flags |= METADB_IS_CALL_LINE;
    }
    if (node->module) {
        record.lex_flags |= METADB_HAS_POINT;
        at = add_pointer(at, record_at(self, METADB_BINARIES, node->module->index));
        at = add_pointer(at, node->offset);
    }
    lode_drafts_write_MetaLexical(&record, bytes);
    return (size_t)(at - bytes);
}

/* Writes a context; returns its size. The offset of its children may not be known yet. */
static size_t encode_node(const struct metadb *self, const lode_context *node, uint64_t children,
                          uint8_t *bytes)
{
    struct drafts_MetaNode record = {.ctx_id = node->id, .block_size = children};
    if (children > 0)
        record.block_ptr = self->blocks[node->index];
    uint8_t *at = bytes + DRAFTS_MetaNode_SIZE;
    if (node->relation != LODE_RELATION_LEXICAL) {
        struct drafts_MetaCallee callee = {
            .call_type = node->relation == LODE_RELATION_INLINED ? METADB_INLINED : METADB_CALL};
        lode_drafts_write_MetaCallee(&callee, at);
        record.callee_size = DRAFTS_MetaCallee_SIZE;
        at += DRAFTS_MetaCallee_SIZE;
    }
    size_t size = encode_lexical(self, node, at);
    record.lexical_size = (uint8_t)size;
    lode_drafts_write_MetaNode(&record, bytes);
    return (size_t)(at - bytes) + size;
}

/* The context of idle threads: called, with just a function. */
static lode_context idle_node(const struct metadb *self)
{
    return (lode_context){
        .id = self->out->idle, .relation = LODE_RELATION_CALL, .lexical = LODE_LEXICAL_ENTRY};
}

static uint64_t node_size(const struct metadb *self, const lode_context *node)
{
    uint8_t bytes[MAX_NODE_SIZE];
    return encode_node(self, node, 0, bytes);
}

/* The size of the children of a context; the idle one is a child of the global one. */
static uint64_t children_size(const struct metadb *self, const lode_context *node)
{
    const struct lode_context_tree *tree = &self->about->tree;
    uint32_t end = node->index + node->subtree_size;
    uint64_t size = 0;
    for (uint32_t i = node->index + 1; i < end; i += tree->nodes[i].subtree_size)
        size += node_size(self, &tree->nodes[i]);
    if (node->index == 0 && self->out->idle) {
        lode_context idle = idle_node(self);
        size += node_size(self, &idle);
    }
    return size;
}

static lode_status put_node(struct metadb *self, const lode_context *node, uint64_t children,
                            lode_error *error)
{
    uint8_t bytes[MAX_NODE_SIZE];
    size_t size = encode_node(self, node, children, bytes);
    return put(self, bytes, size, error);
}

static lode_status put_siblings(struct metadb *self, const lode_context *parent, lode_error *error)
{
    const struct lode_context_tree *tree = &self->about->tree;
    uint32_t end = parent->index + parent->subtree_size;
    for (uint32_t i = parent->index + 1; i < end; i += tree->nodes[i].subtree_size)
        LODE_TRY(put_node(self, &tree->nodes[i], children_size(self, &tree->nodes[i]), error));
    if (parent->index == 0 && self->out->idle) {
        lode_context idle = idle_node(self);
        LODE_TRY(put_node(self, &idle, 0, error));
    }
    return LODE_OK;
}

static lode_status put_tree(struct metadb *self, lode_error *error)
{
    const struct lode_context_tree *tree = &self->about->tree;
    uint8_t roots[METADB_ROOTS_SIZE];
    LODE_TRY(begin_section(self, METADB_TREE, error));
    uint64_t at = self->file.size + METADB_ROOTS_SIZE;
    for (uint32_t i = 0; i < tree->count; i++) {
        self->blocks[i] = at;
        at += children_size(self, &tree->nodes[i]);
    }
    put_u64be(roots, tree->count ? children_size(self, &tree->nodes[0]) : 0);
    LODE_TRY(put(self, roots, sizeof roots, error));
    for (uint32_t i = 0; i < tree->count; i++)
        LODE_TRY(put_siblings(self, &tree->nodes[i], error));
    end_section(self, METADB_TREE);
    return LODE_OK;
}

/* ---- top level ---- */

static lode_status put_header(struct metadb *self, lode_error *error)
{
    uint8_t bytes[METADB_HEADER_SIZE] = {0};
    struct drafts_MetaHeader header = {.major = 4, .num_sec = METADB_SECTIONS};
    memcpy(bytes, METADB_MAGIC, DRAFTS_MAGIC_SIZE);
    lode_drafts_write_MetaHeader(&header, bytes);
    for (size_t i = 0; i < METADB_SECTIONS; i++)
        lode_drafts_write_MetaSection(&self->sections[i],
                                      bytes + DRAFTS_MetaHeader_SIZE + i * DRAFTS_MetaSection_SIZE);
    return lode_output_write_at(&self->file, 0, bytes, sizeof bytes, error);
}

static lode_status put_all(struct metadb *self, lode_error *error)
{
    static const uint8_t zeros[METADB_HEADER_SIZE];
    self->stand_in_of = calloc((size_t)self->about->tree.count + 1, sizeof *self->stand_in_of);
    self->blocks = calloc((size_t)self->about->tree.count + 1, sizeof *self->blocks);
    if (self->stand_in_of == NULL || self->blocks == NULL)
        return lode_fail_memory(error);
    LODE_TRY(find_stand_ins(self, error));
    LODE_TRY(lode_output_file_create(&self->file, &self->out->base.output, "meta.db", error));
    LODE_TRY(put(self, zeros, sizeof zeros, error));
    LODE_TRY(put_general(self, error));
    LODE_TRY(put_metrics(self, error));
    place_tables(self);
    LODE_TRY(put_paths(self, error));
    LODE_TRY(put_functions(self, error));
    LODE_TRY(put_strings(self, error));
    LODE_TRY(put_tree(self, error));
    LODE_TRY(put(self, METADB_FOOTER, DRAFTS_FOOTER_SIZE, error));
    LODE_TRY(lode_output_flush(&self->file, error));
    LODE_TRY(put_header(self, error));
    return lode_output_file_close(&self->file, error);
}

static lode_status put_meta(struct drafts_sink *out, lode_error *error)
{
    struct metadb self = {.out = out, .about = out->base.about, .file.fd = -1};
    lode_array_init(&self.stand_ins, sizeof(const char *), SIZE_MAX);
    lode_status status = put_all(&self, error);
    lode_output_file_abandon(&self.file);
    lode_array_free(&self.stand_ins);
    free(self.stand_in_of);
    free(self.blocks);
    return status;
}

/* All of them: scopes have names. */
static void choose(struct drafts_sink *out)
{
    memset(out->values, true, sizeof out->values);
    memset(out->statistics, true, sizeof out->statistics);
}

static lode_status create(struct lode_sink *base, lode_error *error)
{
    static const struct drafts_writer writer = {.trace_bounds = true, .choose = choose, .put_meta = put_meta};
    return lode_drafts_create(base, &writer, error);
}

const struct lode_sink_ops lode_drafts_metadb_sink = DRAFTS_SINK(create);
