/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a database: implements the database API for this format. */
#include "base/error.h"
#include "format/hpctoolkit/check/check.h"
#include "format/hpctoolkit/hpctoolkit.h"
#include "format/hpctoolkit/read.h"
#include "format/hpctoolkit/write/write.h"
#include <inttypes.h>
#include <stdlib.h>

static lode_status get_profile_block(const lode_database *base, uint32_t profile, lode_block *out,
                                     lode_error *error)
{
    const struct hpct_database *db = hpct_of(base);
    struct wire_Profile wire;
    lode_hpct_profile(db, profile, &wire);
    if (lode_hpct_profile_block(db, &wire, out))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CORRUPT, lode_hpct_specs[HPCT_PROFILE].name,
                     db->profiles.offset + profile * db->profiles.stride,
                     "the values of profile %" PRIu32 " are not inside the file", profile);
}

static lode_status get_context_block(const lode_database *base, uint32_t id, lode_block *out,
                                     lode_error *error)
{
    const struct hpct_database *db = hpct_of(base);
    struct wire_ContextInfo wire;
    lode_hpct_context(db, id, &wire);
    if (lode_hpct_context_block(db, &wire, out))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CORRUPT, lode_hpct_specs[HPCT_CCT].name,
                     db->contexts.offset + id * db->contexts.stride,
                     "the values of context %" PRIu32 " are not inside the file", id);
}

static lode_status get_trace_line(const lode_database *base, uint32_t index, lode_trace_line *out,
                                  lode_error *error)
{
    const struct hpct_database *db = hpct_of(base);
    struct wire_Trace wire;
    lode_hpct_trace(db, index, &wire);
    if (lode_hpct_trace_line(db, &wire, out))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CORRUPT, lode_hpct_specs[HPCT_TRACE].name,
                     db->traces.offset + index * db->traces.stride,
                     "the samples of trace line %" PRIu32 " are not inside the file", index);
}

static uint32_t get_profile_flags(const lode_database *base, uint32_t profile)
{
    struct wire_Profile wire;
    lode_hpct_profile(hpct_of(base), profile, &wire);
    return wire.flags;
}

static lode_status get_profile_ids(const lode_database *base, uint32_t profile, lode_id *ids,
                                   uint32_t capacity, uint32_t *count, lode_error *error)
{
    const struct hpct_database *db = hpct_of(base);
    struct wire_Profile wire;
    lode_hpct_profile(db, profile, &wire);
    if (wire.pIdTuple == 0)
        return LODE_OK;
    struct lode_range bytes;
    if (!lode_hpct_id_tuple(db, wire.pIdTuple, &bytes))
        return lode_fail(error, LODE_ERR_CORRUPT, lode_hpct_specs[HPCT_PROFILE].name, wire.pIdTuple,
                         "the id tuple of profile %" PRIu32 " is not inside its section", profile);
    *count = (uint32_t)(bytes.size / WIRE_Id_SIZE);
    for (uint32_t i = 0; i < *count && i < capacity; i++) {
        struct wire_Id id;
        lode_wire_read_Id(&id, bytes.data + (uint64_t)i * WIRE_Id_SIZE, WIRE_Id_SIZE);
        ids[i] =
            (lode_id){.kind = id.kind, .flags = id.flags, .logical = id.logicalId, .physical = id.physicalId};
    }
    return LODE_OK;
}

void lode_hpct_close(struct hpct_database *db)
{
    for (unsigned id = 0; id < HPCT_FILES; id++)
        lode_input_close(&db->files[id].source);
    lode_context_tree_free(&db->base.tree);
    lode_arena_free(&db->base.arena);
    free(db);
}

static void close_database(lode_database *base)
{
    lode_hpct_close((struct hpct_database *)(void *)base);
}

static const struct lode_database_ops hpct_ops = {
    .profile_block = get_profile_block,
    .context_block = get_context_block,
    .trace_line = get_trace_line,
    .profile_flags = get_profile_flags,
    .profile_ids = get_profile_ids,
    .close = close_database,
};

struct hpct_database *lode_hpct_new(const struct hpct_layout *layout)
{
    struct hpct_database *db = calloc(1, sizeof *db);
    if (db == NULL)
        return NULL;
    db->base.ops = &hpct_ops;
    db->base.format = layout->format;
    db->layout = layout;
    lode_arena_init(&db->base.arena, SIZE_MAX);
    return db;
}

lode_status lode_hpct_open(lode_database **out, const struct lode_folder *folder,
                           const struct hpct_layout *layout, lode_error *error)
{
    struct hpct_database *db = lode_hpct_new(layout);
    LODE_TRY_ALLOC(db, error);
    struct lode_report report;
    lode_report_strict(&report, lode_hpct_rules, error);
    lode_status status = lode_hpct_open_files(db, folder, &report);
    if (status == LODE_OK)
        status = lode_hpct_find_meta_tables(db, &report);
    if (status == LODE_OK)
        status = lode_hpct_find_value_tables(db, &report);
    if (status == LODE_OK)
        status = lode_hpct_load_meta(db, &report);
    if (status == LODE_OK) {
        *out = &db->base;
        return LODE_OK;
    }
    if (error)
        error->status = status;
    lode_hpct_close(db);
    return status;
}

static lode_status open_database(lode_database **out, const struct lode_folder *folder, lode_error *error)
{
    return lode_hpct_open(out, folder, &lode_hpct_layout, error);
}

static int probe(const struct lode_folder *folder)
{
    for (unsigned id = 0; id < HPCT_FILES; id++)
        if (lode_folder_has(folder, lode_hpct_specs[id].name))
            return LODE_PROBE_NAMES;
    return LODE_PROBE_NO;
}

static const struct lode_target targets[] = {{.name = "hpctoolkit",
                                              .family = "hpctoolkit",
                                              .description = "an HPCToolkit 4.0 database",
                                              .sink = &lode_hpct_sink}};

const struct lode_format lode_format_hpctoolkit = {
    .name = HPCT_FORMAT,
    .mark = "meta.db (HPCToolkit database)",
    .probe = probe,
    .open = open_database,
    .check = lode_hpct_check,
    .checks_on_ranks = true,
    .rules = lode_hpct_rules,
    .rule_count = RULE_COUNT,
    .targets = targets,
    .target_count = sizeof targets / sizeof *targets,
};
