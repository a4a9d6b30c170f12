/* SPDX-License-Identifier: BSD-3-Clause */
/* A database in memory: its metadata, and the format's access to values and samples in place. */
#ifndef LODE_MODEL_DATABASE_H
#define LODE_MODEL_DATABASE_H

#include "base/io/watch.h"
#include "base/memory/arena.h"
#include "model/database/context.h"
#include "model/database/metric.h"
#include "model/finding.h"
#include <lode/block.h>
#include <lode/check.h>
#include <lode/name.h>
#include <lode/profile.h>
#include <lode/trace.h>

/* Operations of a format, thread-safe but for close. Indices they get were checked before. */
struct lode_database_ops {
    lode_status (*profile_block)(const lode_database *db, uint32_t profile, lode_block *out,
                                 lode_error *error);
    lode_status (*context_block)(const lode_database *db, uint32_t context_id, lode_block *out,
                                 lode_error *error);
    lode_status (*trace_line)(const lode_database *db, uint32_t index, lode_trace_line *out,
                              lode_error *error);
    uint32_t (*profile_flags)(const lode_database *db, uint32_t profile);
    lode_status (*profile_ids)(const lode_database *db, uint32_t profile, lode_id *ids, uint32_t capacity,
                               uint32_t *count, lode_error *error);
    void (*close)(lode_database *db);
};

struct lode_part_info {
    bool present;
    uint8_t major, minor;
    uint64_t size;
    const char *file;
};

struct lode_database {
    const struct lode_database_ops *ops;
    const char *format;
    struct lode_watch *watch; /* of its files; NULL if in memory */
    struct lode_part_info parts[LODE_PART_COUNT];

    struct lode_arena arena; /* of all arrays below */
    const char *title, *description;
    const char **id_kinds;
    uint32_t id_kind_count;
    struct lode_scope *scopes;
    uint32_t scope_count;
    struct lode_metric *metrics;
    uint32_t metric_count;
    struct lode_module *modules;
    uint32_t module_count;
    struct lode_file *files;
    uint32_t file_count;
    struct lode_function *functions;
    uint32_t function_count;
    struct lode_context_tree tree;
    bool points_lost;  /* point values at unlisted contexts may be missing */
    bool names_metric; /* the store names its default metric */
    bool is_read;      /* opening read everything: `found` has all findings */
    lode_name_form usual_names;
    uint32_t default_metric;

    uint32_t profile_count;
    const char **profile_names; /* by profile: names of threads, or NULL; NULL: none is known */
    uint32_t context_block_count;
    uint32_t trace_count;
    uint64_t trace_min, trace_max;

    /* What opening skipped or repaired, for rewriting this database. In the arena. */
    lode_finding *remarks;
    size_t remark_count;

    struct lode_carried *carried; /* of an imported profile: what a database cannot hold */

    /* What opening found, if it read everything (is_read). In the arena. */
    lode_finding *found;
    size_t found_count;
    lode_check_result found_result;
};

/* Fails: there is no such profile, context or trace line. */
lode_status lode_database_no_item(const lode_database *db, lode_part part, const char *what, uint32_t index,
                                  uint32_t count, lode_error *error);

/* Keeps what a reader that read everything has found. */
lode_status lode_database_keep_findings(lode_database *db, const struct lode_report *report,
                                        lode_error *error);

#define LODE_PROFILE_SUMMARY 1u /* bit of a profile's flags */

#endif
