/* SPDX-License-Identifier: BSD-3-Clause */
/* meta.db: load modules, source files, functions. */
#include "base/error.h"
#include "format/hpctoolkit/read.h"
#include <inttypes.h>

static const char *meta_name(void)
{
    return lode_hpct_specs[HPCT_META].name;
}

/* Reports nonzero reserved fields once per table: writers leave whole columns uninitialized. */
struct garbage {
    uint64_t count;
    uint64_t first; /* offset */
};

static void garbage_add(struct garbage *garbage, bool found, uint64_t offset)
{
    if (found && garbage->count++ == 0)
        garbage->first = offset;
}

static lode_status garbage_report(const struct garbage *garbage, unsigned rule, const char *what,
                                  struct lode_report *report)
{
    if (garbage->count == 0)
        return LODE_OK;
    return lode_report_add(report, rule, meta_name(), garbage->first, "%s, in %" PRIu64 " records", what,
                           garbage->count);
}

static lode_status load_modules(struct hpct_database *db, struct lode_report *report)
{
    size_t count = (size_t)db->modules.count;
    struct garbage garbage = {0};
    db->base.modules = lode_arena_alloc(&db->base.arena, count, sizeof *db->base.modules);
    LODE_TRY_ALLOC(db->base.modules, report->error);
    for (uint32_t i = 0; i < count; i++) {
        struct wire_Module wire;
        lode_wire_read_Module(&wire, hpct_record(&db->modules, i), db->modules.stride);
        db->base.modules[i].index = i;
        LODE_TRY(lode_hpct_string(db, META_STRINGS, wire.pPath, "the path of a module",
                                  &db->base.modules[i].path, report));
        garbage_add(&garbage, wire.flags != 0, db->modules.offset + i * db->modules.stride);
    }
    db->base.module_count = (uint32_t)count;
    return garbage_report(&garbage, RULE_RESERVED_GARBAGE, "reserved flags of load modules are not zero",
                          report);
}

static lode_status load_files(struct hpct_database *db, struct lode_report *report)
{
    size_t count = (size_t)db->source_files.count;
    struct garbage unknown = {0};
    db->base.files = lode_arena_alloc(&db->base.arena, count, sizeof *db->base.files);
    LODE_TRY_ALLOC(db->base.files, report->error);
    for (uint32_t i = 0; i < count; i++) {
        struct wire_File wire;
        lode_wire_read_File(&wire, hpct_record(&db->source_files, i), db->source_files.stride);
        db->base.files[i].index = i;
        db->base.files[i].copied = wire.flags & HPCT_FILE_COPIED;
        LODE_TRY(lode_hpct_string(db, META_STRINGS, wire.pPath, "the path of a source file",
                                  &db->base.files[i].path, report));
        garbage_add(&unknown, (wire.flags & ~(uint32_t)HPCT_FILE_COPIED) != 0,
                    db->source_files.offset + i * db->source_files.stride);
    }
    db->base.file_count = (uint32_t)count;
    return garbage_report(&unknown, RULE_FLAGS_UNKNOWN, "unknown flags of source files are set", report);
}

static lode_status bad_pointer(struct lode_report *report, uint64_t offset, uint64_t pointer,
                               const char *what)
{
    return lode_report_add(report, RULE_RECORD_POINTER, meta_name(), offset,
                           "a function's %s pointer 0x%" PRIx64 " is not one", what, pointer);
}

static lode_status load_function(struct hpct_database *db, uint32_t index, const struct wire_Function *wire,
                                 struct lode_report *report)
{
    struct lode_function *function = &db->base.functions[index];
    uint64_t offset = db->functions.offset + index * db->functions.stride;
    *function =
        (struct lode_function){.index = index, .identity = index, .line = wire->line, .offset = wire->offset};
    if (wire->pName)
        LODE_TRY(lode_hpct_string(db, META_STRINGS, wire->pName, "the name of a function", &function->name,
                                  report));
    if (wire->pModule) {
        uint32_t module = lode_hpct_record_index(&db->modules, wire->pModule);
        if (module == LODE_NO_INDEX)
            LODE_TRY(bad_pointer(report, offset + WIRE_Function_pModule, wire->pModule, "module"));
        else
            function->module = &db->base.modules[module];
    }
    if (wire->pFile) {
        uint32_t file = lode_hpct_record_index(&db->source_files, wire->pFile);
        if (file == LODE_NO_INDEX)
            LODE_TRY(bad_pointer(report, offset + WIRE_Function_pFile, wire->pFile, "source file"));
        else
            function->file = &db->base.files[file];
    }
    if (wire->pName == 0 && wire->pModule == 0 && wire->pFile == 0)
        LODE_TRY(lode_report_add(report, RULE_FUNCTION_EMPTY, meta_name(), offset,
                                 "function %u has no name, no module and no file", index));
    return LODE_OK;
}

lode_status lode_hpct_load_symbols(struct hpct_database *db, struct lode_report *report)
{
    LODE_TRY(load_modules(db, report));
    LODE_TRY(load_files(db, report));
    size_t count = (size_t)db->functions.count;
    struct garbage garbage = {0};
    db->base.functions = lode_arena_alloc(&db->base.arena, count, sizeof *db->base.functions);
    LODE_TRY_ALLOC(db->base.functions, report->error);
    for (uint32_t i = 0; i < count; i++) {
        struct wire_Function wire;
        lode_wire_read_Function(&wire, hpct_record(&db->functions, i), db->functions.stride);
        LODE_TRY(load_function(db, i, &wire, report));
        garbage_add(&garbage, wire.flags != 0,
                    db->functions.offset + i * db->functions.stride + WIRE_Function_flags);
    }
    db->base.function_count = (uint32_t)count;
    LODE_TRY(lode_identify_functions(db->base.functions, (uint32_t)count, report->error));
    return garbage_report(&garbage, RULE_RESERVED_GARBAGE, "reserved flags of functions are not zero",
                          report);
}
