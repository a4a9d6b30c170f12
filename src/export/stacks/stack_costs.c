/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/stacks/stack_costs.h"

#include "base/pool.h"
#include "model/database/database.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of recordings. */
enum {
    TIME,
    CALLS,
    RECORDING_METRICS
};

static bool has_window(const struct lode_stacks *stacks)
{
    return stacks->job->options->from != 0 || stacks->job->options->to != 0;
}

static lode_status choose_all(struct lode_stack_build *build, const lode_database *db, lode_error *error)
{
    build->cost_count = lode_database_metric_count(db);
    if (build->cost_count == 0)
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET, "the database has no metrics");
    build->all = calloc(build->cost_count, sizeof *build->all);
    LODE_TRY_ALLOC(build->all, error);
    for (uint32_t i = 0; i < build->cost_count; i++)
        build->all[i] = lode_database_metric(db, i);
    build->metrics = build->all;
    return LODE_OK;
}

static lode_status choose_metrics(struct lode_stack_build *build, const struct lode_stacks *stacks,
                                  lode_error *error)
{
    const lode_export_options *options = stacks->job->options;
    build->metrics = options->metrics;
    build->cost_count = options->metric_count;
    if (stacks->job->recording) {
        build->cost_count = RECORDING_METRICS;
    } else if (has_window(stacks)) {
        build->metrics = NULL;
        build->cost_count = 1;
    } else if (options->metric_count == 0 && stacks->form.carries && stacks->job->db->carried) {
        LODE_TRY(choose_all(build, stacks->job->db, error));
    } else if (options->metrics == NULL || options->metric_count == 0) {
        lode_status status = lode_database_default_metric(stacks->job->db, &build->usual, error);
        if (status == LODE_NOT_FOUND)
            return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET, "the database has no metrics");
        LODE_TRY(status);
        build->metrics = &build->usual;
        build->cost_count = 1;
    } else if (stacks->form.one_metric) {
        build->cost_count = 1;
    }
    return LODE_OK;
}

lode_status lode_stack_costs_open(struct lode_stack_build *build, const struct lode_stacks *stacks,
                                  lode_error *error)
{
    LODE_TRY(choose_metrics(build, stacks, error));
    build->costs = calloc(build->cost_count, sizeof *build->costs);
    LODE_TRY_ALLOC(build->costs, error);
    return LODE_OK;
}

const char *lode_stack_build_metric(const struct lode_stack_build *build, size_t index)
{
    static const char *const of_recordings[] = {[TIME] = "time (nanoseconds)", [CALLS] = "calls"};
    if (build->cost_count == RECORDING_METRICS && build->metrics == NULL)
        return of_recordings[index];
    return build->metrics ? lode_metric_name(build->metrics[index]) : "time (sec)";
}

void lode_stack_costs_free(struct lode_stack_build *build)
{
    for (size_t i = 0; build->costs && i < build->cost_count; i++) {
        /* The time of a call tree is a part of it. */
        if (build->tree == NULL || i != TIME)
            lode_cost_free(build->costs[i]);
        build->costs[i] = NULL;
    }
    lode_calltree_free(build->tree);
    build->tree = NULL;
}

/* ---- databases ---- */

static lode_status cost_database(struct lode_stack_build *build, const struct lode_stacks *stacks,
                                 const lode_selection *selection, lode_error *error)
{
    const lode_export_options *options = stacks->job->options;
    lode_cost_options by_metric = LODE_COST_OPTIONS_INIT;
    lode_window_cost_options by_time = LODE_WINDOW_COST_OPTIONS_INIT;
    by_metric.selection = by_time.selection = selection;
    by_metric.threads = by_time.threads = options->threads;
    by_metric.pool = by_time.pool = options->pool;
    by_metric.on_progress = by_time.on_progress = options->by_profile ? NULL : options->on_progress;
    by_metric.user = by_time.user = options->user;
    by_time.from = options->from;
    by_time.to = options->to;
    if (has_window(stacks))
        return lode_cost_compute_window(&build->costs[0], stacks->job->db, &by_time, error);
    for (size_t i = 0; i < build->cost_count; i++) {
        by_metric.metric = build->metrics[i];
        LODE_TRY(lode_cost_compute(&build->costs[i], stacks->job->db, &by_metric, error));
    }
    return LODE_OK;
}

static void lower(char *text)
{
    for (; *text; text++)
        *text = (char)tolower((unsigned char)*text);
}

static lode_status name_profile(struct lode_stacks *stacks, uint32_t profile, lode_error *error)
{
    struct lode_stack_group *group = &stacks->group;
    const lode_database *db = stacks->job->db;
    lode_id ids[sizeof group->ids / sizeof *group->ids];
    uint32_t count;
    const uint32_t capacity = (uint32_t)(sizeof ids / sizeof *ids);
    lode_profile_label(db, profile, group->label, sizeof group->label);
    LODE_TRY(lode_profile_ids(db, profile, ids, capacity, &count, error));
    group->id_count = count < capacity ? count : capacity;
    for (unsigned i = 0; i < group->id_count; i++) {
        const char *kind = lode_database_id_kind_name(db, ids[i].kind);
        snprintf(group->ids[i].key, sizeof group->ids[i].key, "%s", kind ? kind : "id");
        lower(group->ids[i].key);
        snprintf(group->ids[i].value, sizeof group->ids[i].value, "%lu", (unsigned long)ids[i].logical);
    }
    return LODE_OK;
}

static lode_status next_profile(struct lode_stack_build *build, struct lode_stacks *stacks, lode_error *error)
{
    const lode_database *db = stacks->job->db;
    lode_selection *selection;
    char text[32];
    int selected = 0;
    uint32_t count = lode_database_profile_count(db);
    while (stacks->next < count && !selected)
        LODE_TRY(lode_selection_has(stacks->job->options->selection, db, stacks->next++, &selected, error));
    if (!selected)
        return LODE_END;
    struct lode_progress progress = lode_export_progress(stacks->job, "exporting profiles", count);
    LODE_TRY(lode_progress_add(&progress, stacks->next, error));
    LODE_TRY(name_profile(stacks, stacks->next - 1, error));
    snprintf(text, sizeof text, "profile=%lu", (unsigned long)(stacks->next - 1));
    LODE_TRY(lode_selection_parse(&selection, db, text, error));
    lode_status status = cost_database(build, stacks, selection, error);
    lode_selection_free(selection);
    return status;
}

/* ---- recordings ---- */

static lode_status cost_recording(struct lode_stack_build *build, const struct lode_stacks *stacks,
                                  const lode_slice *slice, lode_error *error)
{
    const lode_export_options *options = stacks->job->options;
    lode_calls_options calls = LODE_CALLS_OPTIONS_INIT;
    calls.threads = options->threads;
    calls.strict = options->strict;
    calls.pool = options->pool;
    calls.on_finding = options->on_finding;
    calls.on_progress = options->by_profile ? NULL : options->on_progress;
    calls.user = options->user;
    LODE_TRY(lode_calltree_compute(&build->tree, stacks->job->recording, slice, &calls, error));
    build->costs[TIME] = &build->tree->cost;
    return lode_calltree_calls(&build->costs[CALLS], build->tree, error);
}

static void name_track(struct lode_stacks *stacks, uint32_t index)
{
    struct lode_stack_group *group = &stacks->group;
    const lode_track *track = lode_recording_track(stacks->job->recording, index);
    snprintf(group->label, sizeof group->label, "%s %ld", track->name, (long)track->tid);
    snprintf(group->ids[0].key, sizeof group->ids[0].key, "process");
    snprintf(group->ids[0].value, sizeof group->ids[0].value, "%ld", (long)track->pid);
    snprintf(group->ids[1].key, sizeof group->ids[1].key, "thread");
    snprintf(group->ids[1].value, sizeof group->ids[1].value, "%ld", (long)track->tid);
    group->id_count = 2;
}

static lode_status next_track(struct lode_stack_build *build, struct lode_stacks *stacks, lode_error *error)
{
    const lode_slice *slice = stacks->job->options->slice;
    lode_slice one = LODE_SLICE_INIT;
    if (slice)
        one = *slice;
    uint32_t count = one.tracks ? one.track_count : lode_recording_track_count(stacks->job->recording);
    if (stacks->next >= count)
        return LODE_END;
    struct lode_progress progress = lode_export_progress(stacks->job, "exporting tracks", count);
    LODE_TRY(lode_progress_add(&progress, stacks->next, error));
    uint32_t track = one.tracks ? one.tracks[stacks->next] : stacks->next;
    stacks->next++;
    one.tracks = &track;
    one.track_count = 1;
    name_track(stacks, track);
    return cost_recording(build, stacks, &one, error);
}

/* ---- groups ---- */

lode_status lode_stack_costs_next(struct lode_stack_build *build, struct lode_stacks *stacks,
                                  lode_error *error)
{
    const lode_export_options *options = stacks->job->options;
    lode_stack_costs_free(build);
    if (options->by_profile)
        return stacks->job->db ? next_profile(build, stacks, error) : next_track(build, stacks, error);
    if (stacks->next++ > 0)
        return LODE_END;
    return stacks->job->db ? cost_database(build, stacks, options->selection, error)
                           : cost_recording(build, stacks, options->slice, error);
}
