/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of a check, and functions that its parts share. */
#include "format/hpctoolkit_drafts/check/check.h"

#include "base/compare.h"
#include "base/error.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- extents ---- */

LODE_COMPARE_BY_2(compare_extents, struct drafts_extent, start, index);

static bool overlap(const struct drafts_extent *a, const struct drafts_extent *b)
{
    return a->start < b->end && b->start < a->end;
}

lode_status lode_drafts_check_extents(struct drafts_check *check, enum hpct_file_id file, unsigned rule,
                                      const char *what, struct drafts_extent *extents, size_t count,
                                      const struct drafts_extent taken[2])
{
    struct drafts_extent header = {.end = check->db->files[file].content};
    const char *name = check->db->base.parts[file].file;
    if (count > 0)
        qsort(extents, count, sizeof *extents, compare_extents);
    for (size_t i = 0; i < count; i++) {
        const struct drafts_extent *extent = &extents[i];
        if (overlap(extent, &header) || overlap(extent, &taken[0]) || overlap(extent, &taken[1]))
            LODE_TRY(lode_report_add(&check->report, rule, name, extent->start,
                                     "%s %" PRIu32 " (0x%" PRIx64 " to 0x%" PRIx64
                                     ") overlaps the header or a section",
                                     what, extent->index, extent->start, extent->end));
        if (i > 0 && overlap(extent, &extents[i - 1]))
            LODE_TRY(lode_report_add(&check->report, rule, name, extent->start,
                                     "%s %" PRIu32 " (0x%" PRIx64 " to 0x%" PRIx64 ") overlaps %s %" PRIu32
                                     " (0x%" PRIx64 " to 0x%" PRIx64 ")",
                                     what, extent->index, extent->start, extent->end, what,
                                     extents[i - 1].index, extents[i - 1].start, extents[i - 1].end));
    }
    return LODE_OK;
}

/* ---- levels ---- */

static void index_metric_ids(struct drafts_check *check)
{
    const lode_database *db = &check->db->base;
    for (uint32_t m = 0; m < db->metric_count; m++) {
        const lode_metric *metric = &db->metrics[m];
        for (uint32_t i = 0; i < metric->scope_count; i++)
            check->values[metric->scopes[i].id] = true;
        for (uint32_t i = 0; i < metric->statistic_count; i++)
            check->statistics[metric->statistics[i].id] = true;
    }
}

static lode_status check_structure(struct drafts_check *check)
{
    struct drafts_database *db = check->db;
    if (db->files[HPCT_META].present) {
        uint64_t errors = check->report.result.errors;
        LODE_TRY(db->meta->load(db, &check->report));
        check->meta_sound = check->report.result.errors == errors;
        check->report.result.contexts = db->base.tree.count;
        index_metric_ids(check);
    }
    LODE_TRY(lode_drafts_check_profiles(check));
    LODE_TRY(lode_drafts_check_contexts(check));
    return lode_drafts_check_traces(check);
}

static lode_status check_meaning(struct drafts_check *check)
{
    if (check->traces_sound && check->meta_sound)
        LODE_TRY(lode_drafts_check_trace_contexts(check));
    if (check->profiles_sound && check->contexts_sound)
        LODE_TRY(lode_drafts_check_transpose(check));
    if (check->profiles_sound && check->meta_sound) {
        LODE_TRY(lode_drafts_check_scopes(check));
        LODE_TRY(lode_drafts_check_summary(check));
    }
    return LODE_OK;
}

static lode_status run_levels(struct drafts_check *check, const struct lode_folder *folder,
                              lode_check_level level, lode_error *error)
{
    check->values = calloc(UINT16_MAX + 1, sizeof *check->values);
    check->statistics = calloc(UINT16_MAX + 1, sizeof *check->statistics);
    LODE_TRY_ALLOC(check->values && check->statistics, error);
    LODE_TRY(lode_drafts_open_files(check->db, folder, &check->report));
    if (level >= LODE_CHECK_STRUCTURE)
        LODE_TRY(check_structure(check));
    return level >= LODE_CHECK_FULL ? check_meaning(check) : LODE_OK;
}

lode_status lode_drafts_check(const struct drafts_meta *meta, const struct lode_folder *folder,
                              const lode_check_options *options, lode_check_result *result, lode_error *error)
{
    struct drafts_check check = {.db = lode_drafts_new(meta)};
    LODE_TRY_ALLOC(check.db, error);
    lode_status status = lode_report_open(&check.report, lode_drafts_rules, DRAFTS_RULE_COUNT,
                                          options->limit_per_rule, options->on_finding, options->user, error);
    if (status == LODE_OK)
        status = run_levels(&check, folder, options->level, error);
    *result = check.report.result;
    lode_report_close(&check.report);
    free(check.values);
    free(check.statistics);
    lode_drafts_close(check.db);
    return status;
}
