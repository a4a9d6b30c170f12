/* SPDX-License-Identifier: BSD-3-Clause */
/* The draft's meta.db: application binaries, source files, functions. */
#include "base/io/bytes.h"
#include "format/hpctoolkit/read.h"
#include "format/hpctoolkit_drafts/metadb_read.h"
#include <inttypes.h>
#include <string.h>

uint32_t lode_metadb_index(const struct metadb_table *table, uint64_t pointer)
{
    return lode_hpct_index_of(table->offset, table->count, table->stride, pointer);
}

static const uint8_t *record(const struct metadb_table *table, uint32_t index)
{
    return table->bytes + index * table->stride;
}

/* An empty table after a finding. */
static lode_status find_table(struct metadb_reader *reader, enum metadb_section section, const char *what,
                              uint16_t least, struct metadb_table *table)
{
    const struct metadb_part *part = &reader->parts[section];
    struct drafts_MetaTable header;
    struct lode_range bytes;
    *table = (struct metadb_table){.stride = least};
    if (part->bytes.size == 0)
        return LODE_OK;
    if (part->bytes.size < DRAFTS_MetaTable_SIZE)
        return lode_metadb_finding(reader, DRAFTS_RULE_METADB_BOUNDS, part->offset,
                                   "the section of %s is too short for its header", what);
    lode_drafts_read_MetaTable(&header, part->bytes.data);
    if (header.count > 0 && header.size < least)
        return lode_metadb_finding(reader, DRAFTS_RULE_METADB_SIZE, part->offset + DRAFTS_MetaTable_size,
                                   "specifications of %s have %u bytes; %u are needed", what, header.size,
                                   least);
    if (!lode_range_array(part->bytes, DRAFTS_MetaTable_SIZE, header.count, header.size, &bytes))
        return lode_metadb_finding(reader, DRAFTS_RULE_METADB_BOUNDS, part->offset,
                                   "%" PRIu32 " %s of %u bytes are not inside their section", header.count,
                                   what, header.size);
    *table = (struct metadb_table){bytes.data, part->offset + DRAFTS_MetaTable_SIZE,
                                   header.size ? header.size : least, header.count};
    return LODE_OK;
}

/* A string of its section; "" after a finding. Strings that begin before the last NUL are valid. */
static lode_status find_string(struct metadb_reader *reader, uint64_t pointer, const char *what,
                               const char **out)
{
    const struct metadb_part *part = &reader->parts[METADB_STRINGS];
    *out = "";
    if (pointer >= part->offset && pointer - part->offset < part->bytes.size) {
        const char *text = (const char *)part->bytes.data + (pointer - part->offset);
        size_t length;
        if (!lode_string_take(&reader->string_budget, text, &length))
            return lode_metadb_finding(reader, DRAFTS_RULE_METADB_SHARED, pointer,
                                       "with %s, strings together are several times as large as the file",
                                       what);
        *out = text;
        return LODE_OK;
    }
    return lode_metadb_finding(reader, DRAFTS_RULE_METADB_BOUNDS, pointer,
                               "%s does not begin and end inside the section of strings", what);
}

/* Bytes after the last NUL are no string. */
static void trim_strings(struct metadb_reader *reader)
{
    struct lode_range *bytes = &reader->parts[METADB_STRINGS].bytes;
    const uint8_t *last = bytes->size ? memrchr(bytes->data, '\0', (size_t)bytes->size) : NULL;
    bytes->size = last ? (uint64_t)(last - bytes->data) + 1 : 0;
}

static lode_status load_binaries(struct metadb_reader *reader)
{
    struct lode_database *base = &reader->db->base;
    const struct metadb_table *table = &reader->binaries;
    base->modules = lode_arena_alloc(&base->arena, table->count, sizeof *base->modules);
    LODE_TRY_ALLOC(base->modules, reader->report->error);
    for (uint32_t i = 0; i < table->count; i++) {
        struct drafts_MetaPath path;
        lode_drafts_read_MetaPath(&path, record(table, i));
        base->modules[i].index = i;
        LODE_TRY(find_string(reader, path.path_ptr, "the path of a binary", &base->modules[i].path));
    }
    base->module_count = table->count;
    return LODE_OK;
}

static lode_status load_files(struct metadb_reader *reader)
{
    struct lode_database *base = &reader->db->base;
    const struct metadb_table *table = &reader->files;
    base->files = lode_arena_alloc(&base->arena, table->count, sizeof *base->files);
    LODE_TRY_ALLOC(base->files, reader->report->error);
    for (uint32_t i = 0; i < table->count; i++) {
        struct drafts_MetaPath path;
        lode_drafts_read_MetaPath(&path, record(table, i));
        base->files[i].index = i;
        base->files[i].copied = path.flags & METADB_FILE_COPIED;
        LODE_TRY(find_string(reader, path.path_ptr, "the path of a source file", &base->files[i].path));
    }
    base->file_count = table->count;
    return LODE_OK;
}

static lode_status load_function(struct metadb_reader *reader, uint32_t index)
{
    struct lode_database *base = &reader->db->base;
    struct lode_function *function = &base->functions[index];
    uint64_t offset = reader->functions.offset + index * reader->functions.stride;
    struct drafts_MetaFunction wire;
    lode_drafts_read_MetaFunction(&wire, record(&reader->functions, index));
    function->index = index;
    if (wire.name_ptr)
        LODE_TRY(find_string(reader, wire.name_ptr, "the name of a function", &function->name));
    uint32_t binary = lode_metadb_index(&reader->binaries, wire.binary_ptr);
    uint32_t file = lode_metadb_index(&reader->files, wire.def_fileptr);
    function->offset = wire.binary_offset == UINT64_MAX ? 0 : wire.binary_offset;
    if (binary != LODE_NO_INDEX)
        function->module = &base->modules[binary];
    else if (wire.binary_ptr)
        LODE_TRY(lode_metadb_finding(reader, DRAFTS_RULE_METADB_POINTER,
                                     offset + DRAFTS_MetaFunction_binary_ptr, "0x%" PRIx64 " is not a binary",
                                     wire.binary_ptr));
    if (file != LODE_NO_INDEX) {
        function->file = &base->files[file];
        function->line = wire.def_line;
    } else if (wire.def_fileptr) {
        LODE_TRY(lode_metadb_finding(reader, DRAFTS_RULE_METADB_POINTER,
                                     offset + DRAFTS_MetaFunction_def_fileptr,
                                     "0x%" PRIx64 " is not a source file", wire.def_fileptr));
    }
    return LODE_OK;
}

lode_status lode_metadb_load_symbols(struct metadb_reader *reader)
{
    struct lode_database *base = &reader->db->base;
    LODE_TRY(find_table(reader, METADB_BINARIES, "binaries", DRAFTS_MetaPath_SIZE, &reader->binaries));
    LODE_TRY(find_table(reader, METADB_FILES, "source files", DRAFTS_MetaPath_SIZE, &reader->files));
    LODE_TRY(find_table(reader, METADB_FUNCTIONS, "functions", DRAFTS_MetaFunction_SIZE, &reader->functions));
    trim_strings(reader);
    LODE_TRY(load_binaries(reader));
    LODE_TRY(load_files(reader));
    uint32_t count = reader->functions.count;
    base->functions = lode_arena_alloc(&base->arena, count, sizeof *base->functions);
    LODE_TRY_ALLOC(base->functions, reader->report->error);
    for (uint32_t i = 0; i < count; i++)
        LODE_TRY(load_function(reader, i));
    base->function_count = count;
    return lode_identify_functions(base->functions, count, reader->report->error);
}
