/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a database of the big-endian drafts: implements the database API. */
#include "base/error.h"
#include "format/hpctoolkit_drafts/binary.h"
#include "model/database/trace.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static lode_status bad_block(const lode_block *block, enum drafts_fault fault, uint64_t offset,
                             const char *what, uint32_t index, lode_error *error)
{
    return lode_fail(error, LODE_ERR_CORRUPT, block->file, offset, "the values of %s %" PRIu32 " %s", what,
                     index,
                     fault == DRAFTS_OUTSIDE ? "are not inside the file"
                                             : "do not end with their marker: they were never written");
}

static lode_status get_profile_block(const lode_database *base, uint32_t profile, lode_block *out,
                                     lode_error *error)
{
    const struct drafts_database *db = drafts_of(base);
    struct drafts_Profile record;
    uint64_t size;
    lode_drafts_profile(db, profile, &record);
    enum drafts_fault fault = lode_drafts_profile_block(db, &record, out, &size);
    if (fault == DRAFTS_SOUND)
        return LODE_OK;
    return bad_block(out, fault, drafts_record_offset(&db->profiles, profile), "profile", profile, error);
}

static lode_status get_context_block(const lode_database *base, uint32_t id, lode_block *out,
                                     lode_error *error)
{
    const struct drafts_database *db = drafts_of(base);
    struct drafts_Context record;
    uint64_t size;
    lode_drafts_context(db, id, &record);
    enum drafts_fault fault = lode_drafts_context_block(db, &record, out, &size);
    if (fault == DRAFTS_SOUND)
        return LODE_OK;
    return bad_block(out, fault, drafts_record_offset(&db->contexts, id), "context", id, error);
}

static lode_status get_trace_line(const lode_database *base, uint32_t index, lode_trace_line *out,
                                  lode_error *error)
{
    const struct drafts_database *db = drafts_of(base);
    struct drafts_Trace record;
    lode_drafts_trace(db, index, &record);
    if (lode_drafts_trace_line(db, &record, out))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CORRUPT, db->base.parts[HPCT_TRACE].file,
                     drafts_record_offset(&db->traces, index),
                     "the samples of trace line %" PRIu32 " are not inside the file", index);
}

static uint32_t get_profile_flags(const lode_database *base, uint32_t profile)
{
    (void)base;
    return profile == 0 ? LODE_PROFILE_SUMMARY : 0;
}

/* The model's physical id is the logical one, unless the id is a physical one. */
static lode_id id_of(const struct drafts_Id *record)
{
    bool physical = record->kind >> DRAFTS_ID_MEANING_SHIFT != DRAFTS_ID_LOGICAL_ONLY;
    return (lode_id){.kind = record->kind & DRAFTS_ID_KIND,
                     .flags = physical ? LODE_ID_PHYSICAL : 0,
                     .logical = (uint32_t)record->logical,
                     .physical = physical ? record->physical : (uint32_t)record->logical};
}

static lode_status get_profile_ids(const lode_database *base, uint32_t profile, lode_id *ids,
                                   uint32_t capacity, uint32_t *count, lode_error *error)
{
    const struct drafts_database *db = drafts_of(base);
    struct drafts_Profile record;
    struct lode_range bytes;
    lode_drafts_profile(db, profile, &record);
    /* The summary's tuple, SUMMARY 0, has no information. */
    if (profile == 0 || record.idt_ptr == 0)
        return LODE_OK;
    if (!lode_drafts_id_tuple(db, record.idt_ptr, &bytes))
        return lode_fail(error, LODE_ERR_CORRUPT, db->base.parts[HPCT_PROFILE].file, record.idt_ptr,
                         "the id tuple of profile %" PRIu32 " is not inside its section", profile);
    *count = (uint32_t)(bytes.size / DRAFTS_Id_SIZE);
    for (uint32_t i = 0; i < *count && i < capacity; i++) {
        struct drafts_Id id;
        lode_drafts_read_Id(&id, bytes.data + (uint64_t)i * DRAFTS_Id_SIZE);
        ids[i] = id_of(&id);
    }
    return LODE_OK;
}

enum {
    MAX_REMARKS = 8
};

lode_status lode_drafts_remark(struct drafts_database *db, const char *rule, lode_severity severity,
                               const char *file, uint64_t offset, const char *text, lode_error *error)
{
    struct lode_database *base = &db->base;
    char *copy = lode_arena_alloc(&base->arena, strlen(text) + 1, 1);
    if (base->remarks == NULL)
        base->remarks = lode_arena_alloc(&base->arena, MAX_REMARKS, sizeof *base->remarks);
    LODE_TRY_ALLOC(copy && base->remarks, error);
    memcpy(copy, text, strlen(text));
    if (base->remark_count < MAX_REMARKS)
        base->remarks[base->remark_count++] = (lode_finding){rule, severity, file, offset, copy};
    return LODE_OK;
}

void lode_drafts_close(struct drafts_database *db)
{
    for (unsigned id = 0; id < HPCT_FILES; id++)
        lode_input_close(&db->files[id].source);
    lode_context_tree_free(&db->base.tree);
    lode_arena_free(&db->base.arena);
    free(db);
}

static void close_database(lode_database *base)
{
    lode_drafts_close((struct drafts_database *)(void *)base);
}

static const struct lode_database_ops drafts_ops = {
    .profile_block = get_profile_block,
    .context_block = get_context_block,
    .trace_line = get_trace_line,
    .profile_flags = get_profile_flags,
    .profile_ids = get_profile_ids,
    .close = close_database,
};

struct drafts_database *lode_drafts_new(const struct drafts_meta *meta)
{
    struct drafts_database *db = calloc(1, sizeof *db);
    if (db == NULL)
        return NULL;
    db->meta = meta;
    db->base.ops = &drafts_ops;
    db->base.format = meta->format;
    lode_arena_init(&db->base.arena, SIZE_MAX);
    return db;
}

/* If neither the metadata nor trace.db has time bounds, use those of the samples. */
static void find_bounds(struct drafts_database *db)
{
    bool any = false;
    if (db->base.trace_min != 0 || db->base.trace_max != 0)
        return;
    for (uint32_t i = 0; i < db->traces.count; i++) {
        struct drafts_Trace record;
        lode_trace_line line;
        lode_drafts_trace(db, i, &record);
        if (!lode_drafts_trace_line(db, &record, &line) || line.sample_count == 0)
            continue;
        uint64_t first = trace_time(&line, 0), last = trace_time(&line, line.sample_count - 1);
        if (!any || first < db->base.trace_min)
            db->base.trace_min = first;
        if (!any || last > db->base.trace_max)
            db->base.trace_max = last;
        any = true;
    }
}

lode_status lode_drafts_open(lode_database **out, const struct drafts_meta *meta,
                             const struct lode_folder *folder, lode_error *error)
{
    struct drafts_database *db = lode_drafts_new(meta);
    LODE_TRY_ALLOC(db, error);
    struct lode_report report;
    lode_report_strict(&report, lode_drafts_rules, error);
    lode_status status = lode_drafts_open_files(db, folder, &report);
    if (status == LODE_OK)
        status = meta->load(db, &report);
    if (status == LODE_OK) {
        find_bounds(db);
        *out = &db->base;
        return LODE_OK;
    }
    if (error)
        error->status = status;
    lode_drafts_close(db);
    return status;
}
