/* SPDX-License-Identifier: BSD-3-Clause */
/* One call for each function that takes options, and the options that it takes. */
#ifndef LODE_TESTS_OPTION_CALLS_H
#define LODE_TESTS_OPTION_CALLS_H

#include "option_calls_tables.h"
#include "scratch.h"
#include <lode/private/raw.h>
#include <lode/private/scan_plan.h>
#include <lode/private/statistics.h>
#include <lode/unstable.h>
#include <string.h>

/* What they are called with. */
static lode_database *database;
static lode_recording *recording;
static lode_cost *cost;
static char database_path[4200], recording_path[4200];

/* ---- one call for each function and struct of options ---- */

#define CALL(name) static lode_status call_##name(const void *options, lode_error *error)

CALL(check)
{
    return lode_check(database_path, options, NULL, error);
}

CALL(database_check)
{
    return lode_database_check(database, database_path, options, NULL, error);
}

CALL(check_memory)
{
    lode_memory_file none = {"meta.db", "", 0};
    lode_check_result result;
    return lode_check_memory(&none, 1, options, &result, error);
}

CALL(build)
{
    const char *paths[] = {recording_path};
    return lode_build(paths, 1, scratch_path(), options, NULL, error);
}

CALL(calls)
{
    lode_calls *calls;
    lode_status status = lode_calls_compute(&calls, recording, NULL, options, error);
    lode_calls_free(calls);
    return status;
}

CALL(calls_slice)
{
    lode_calls *calls;
    lode_status status = lode_calls_compute(&calls, recording, options, NULL, error);
    lode_calls_free(calls);
    return status;
}

CALL(calltree)
{
    lode_calltree *tree;
    lode_status status = lode_calltree_compute(&tree, recording, NULL, options, error);
    lode_calltree_free(tree);
    return status;
}

CALL(calltree_slice)
{
    lode_calltree *tree;
    lode_status status = lode_calltree_compute(&tree, recording, options, NULL, error);
    lode_calltree_free(tree);
    return status;
}

CALL(compare)
{
    const lode_cost *costs[] = {cost};
    lode_comparison *comparison;
    lode_status status = lode_compare(&comparison, costs, 1, costs, 1, 1, options, error);
    lode_comparison_free(comparison);
    return status;
}

CALL(comparison_over_profiles)
{
    const lode_cost *costs[] = {cost};
    lode_comparison *comparison;
    assert_int_equal(lode_compare(&comparison, costs, 1, costs, 1, 1, NULL, error), LODE_OK);
    lode_status status = lode_comparison_over_profiles(comparison, options, error);
    lode_comparison_free(comparison);
    return status;
}

CALL(comparison_by_profile)
{
    const lode_cost *costs[] = {cost};
    lode_comparison *comparison;
    double none;
    assert_int_equal(lode_compare(&comparison, costs, 1, costs, 1, 1, NULL, error), LODE_OK);
    lode_status status = lode_comparison_by_profile(comparison, LODE_NEW, 0, options, &none, error);
    lode_comparison_free(comparison);
    return status;
}

CALL(spread_rows)
{
    double total;
    return lode_spread_rows(NULL, NULL, &total, database, options, error);
}

CALL(compare_trees)
{
    const lode_cost *costs[] = {cost};
    lode_compared_tree *tree;
    lode_status status = lode_compare_trees(&tree, costs, 1, costs, 1, options, error);
    lode_compared_tree_free(tree);
    return status;
}

static lode_status ask_scaling(int which, const lode_scaling_options *options, lode_error *error)
{
    const lode_cost *costs[] = {cost};
    lode_compared_tree *tree;
    lode_scaling_table *table = NULL;
    lode_scaling_loss loss;
    size_t count;
    assert_int_equal(lode_compare_trees(&tree, costs, 1, costs, 1, NULL, error), LODE_OK);
    lode_status status = which == 0   ? lode_scaling_compute(&table, tree, options, error)
                         : which == 1 ? lode_scaling_loss_of(tree, 0, options, &loss, error)
                                      : lode_scaling_hot_path(tree, options, NULL, 0, &count, error);
    lode_scaling_table_free(table);
    lode_compared_tree_free(tree);
    return status;
}

CALL(scaling)
{
    return ask_scaling(0, options, error);
}

CALL(scaling_loss)
{
    return ask_scaling(1, options, error);
}

CALL(scaling_path)
{
    return ask_scaling(2, options, error);
}

CALL(export_database)
{
    return lode_export_database(database, scratch_path(), options, error);
}

CALL(export_recording)
{
    return lode_export_recording(recording, scratch_path(), options, error);
}

CALL(convert)
{
    return lode_convert(database, scratch_path(), options, error);
}

CALL(merge_databases)
{
    lode_merge_input input = {database, NULL, NULL};
    return lode_merge_databases(&input, 1, scratch_path(), options, error);
}

CALL(slice_database)
{
    lode_merge_input input = {database, NULL, NULL};
    return lode_slice_database(&input, scratch_path(), NULL, options, error);
}

CALL(slice_database_slice)
{
    lode_merge_input input = {database, NULL, NULL};
    return lode_slice_database(&input, scratch_path(), options, NULL, error);
}

CALL(rewrite)
{
    const lode_recording *recordings[] = {recording};
    return lode_rewrite(recordings, 1, scratch_path(), NULL, options, error);
}

CALL(rewrite_slice)
{
    const lode_recording *recordings[] = {recording};
    return lode_rewrite(recordings, 1, scratch_path(), options, NULL, error);
}

CALL(spread)
{
    lode_spread *other;
    lode_status status = lode_spread_compute(&other, database, options, error);
    lode_spread_free(other);
    return status;
}

CALL(cost)
{
    lode_cost *other;
    lode_status status = lode_cost_compute(&other, database, options, error);
    lode_cost_free(other);
    return status;
}

CALL(cursor)
{
    lode_cursor *cursor;
    lode_status status = lode_cursor_open(&cursor, recording, 0, options, error);
    lode_cursor_close(cursor);
    return status;
}

CALL(merge)
{
    lode_merge *merge;
    lode_status status = lode_merge_open(&merge, recording, NULL, options, error);
    lode_merge_close(merge);
    return status;
}

CALL(merge_slice)
{
    lode_merge *merge;
    lode_status status = lode_merge_open(&merge, recording, options, NULL, error);
    lode_merge_close(merge);
    return status;
}

CALL(open)
{
    lode_recording *other;
    lode_status status = lode_open(NULL, &other, NULL, recording_path, options, error);
    lode_recording_close(other);
    return status;
}

CALL(recording_open)
{
    lode_recording *other;
    lode_status status = lode_recording_open(&other, recording_path, options, error);
    lode_recording_close(other);
    return status;
}

/* Empty files with valid names: their errors are reported, the options are accepted. */
CALL(recording_open_memory)
{
    lode_memory_file files[] = {{"info", "", 0}, {"task.txt", "", 0}};
    lode_recording *other;
    lode_status status = lode_recording_open_memory(&other, files, 2, options, error);
    lode_recording_close(other);
    return status == LODE_ERR_CORRUPT ? LODE_OK : status;
}

CALL(search)
{
    lode_search *search;
    lode_status status = lode_search_run(&search, recording, options, error);
    lode_search_free(search);
    return status;
}

CALL(source_text)
{
    lode_source_text *text;
    lode_status status = lode_source_text_open(&text, lode_database_file(database, 0), options, error);
    lode_source_text_close(text);
    return status == LODE_ABSENT ? LODE_OK : status;
}

CALL(synth_database)
{
    return lode_synth_database(scratch_path(), options, error);
}

CALL(synth_examples)
{
    return lode_synth_examples(scratch_path(), options, error);
}

CALL(synth_recording)
{
    return lode_synth_recording(scratch_path(), options, error);
}

CALL(boxes)
{
    lode_boxes *boxes;
    lode_status status = lode_boxes_compute(&boxes, database, 0, options, error);
    lode_boxes_free(boxes);
    return status;
}

CALL(boxes_recording)
{
    lode_boxes *boxes;
    lode_status status = lode_boxes_compute_recording(&boxes, recording, 0, options, error);
    lode_boxes_free(boxes);
    return status;
}

CALL(density)
{
    lode_density *density;
    lode_status status = lode_density_compute(&density, recording, options, 10, error);
    lode_density_free(density);
    return status;
}

CALL(picture)
{
    lode_picture *picture;
    lode_status status = lode_picture_compute(&picture, database, options, error);
    lode_picture_free(picture);
    return status;
}

CALL(picture_recording)
{
    lode_picture *picture;
    lode_status status = lode_picture_compute_recording(&picture, recording, NULL, options, error);
    lode_picture_free(picture);
    return status;
}

CALL(picture_slice)
{
    lode_picture *picture;
    lode_status status = lode_picture_compute_recording(&picture, recording, options, NULL, error);
    lode_picture_free(picture);
    return status;
}

CALL(timeline)
{
    lode_timeline *timeline;
    lode_status status = lode_timeline_compute(&timeline, database, options, error);
    lode_timeline_free(timeline);
    return status;
}

CALL(timeline_recording)
{
    lode_timeline *timeline;
    lode_status status = lode_timeline_compute_recording(&timeline, recording, NULL, options, error);
    lode_timeline_free(timeline);
    return status;
}

CALL(timeline_slice)
{
    lode_timeline *timeline;
    lode_status status = lode_timeline_compute_recording(&timeline, recording, options, NULL, error);
    lode_timeline_free(timeline);
    return status;
}

CALL(outline)
{
    lode_outline *outline;
    lode_status status = lode_outline_open(&outline, cost, options, error);
    lode_outline_close(outline);
    return status;
}

CALL(flame)
{
    lode_flame *flame;
    lode_status status = lode_flame_build(&flame, cost, options, error);
    lode_flame_free(flame);
    return status;
}

CALL(query)
{
    lode_query *query;
    lode_status status = lode_query_open(&query, database, options, error);
    lode_query_close(query);
    return status;
}

/* Asks a query for a cost, or for an outline with options of its cost or of its view. */
static lode_status ask(int what, const void *options, lode_error *error)
{
    lode_query *query;
    lode_outline *outline = NULL;
    const lode_cost *kept;
    assert_int_equal(lode_query_open(&query, database, NULL, NULL), LODE_OK);
    lode_status status = what == 0   ? lode_query_cost(&kept, query, options, error)
                         : what == 1 ? lode_query_outline(&outline, query, options, NULL, error)
                                     : lode_query_outline(&outline, query, NULL, options, error);
    lode_outline_close(outline);
    lode_query_close(query);
    return status;
}

CALL(query_cost)
{
    return ask(0, options, error);
}

CALL(query_outline)
{
    return ask(1, options, error);
}

CALL(query_outline_view)
{
    return ask(2, options, error);
}

CALL(values)
{
    lode_values *values;
    lode_status status = lode_values_open(&values, database, options, error);
    lode_values_close(values);
    return status;
}

CALL(judge)
{
    const double base[] = {1, 2, 3}, other[] = {2, 3, 4};
    return lode_judge(base, 3, other, 3, options, NULL, error);
}

CALL(judge_rows)
{
    const double values[] = {1, 2, 3, 4};
    lode_judgements *judgements;
    lode_status status = lode_judge_rows(&judgements, values, values, 1, 2, 2, options, error);
    lode_judgements_free(judgements);
    return status;
}

CALL(change_points)
{
    const double values[] = {1, 1, 1, 1, 2, 2, 2, 2};
    lode_change_points *points;
    lode_status status = lode_change_points_find(&points, values, 8, options, error);
    lode_change_points_free(points);
    return status;
}

CALL(hotspots)
{
    lode_hotspots *hotspots;
    lode_status status = lode_hotspots_select(&hotspots, cost, options, error);
    lode_hotspots_free(hotspots);
    return status;
}

CALL(view)
{
    lode_view *view;
    lode_status status = lode_view_build(&view, cost, options, error);
    lode_view_free(view);
    return status;
}

CALL(view_costs)
{
    lode_view *view;
    lode_status status = lode_view_build(&view, cost, options, error);
    if (status == LODE_OK) {
        size_t count = lode_view_count(view) + 1;
        double *both = calloc(2 * count, sizeof *both);
        assert_non_null(both);
        status = lode_view_costs(view, cost, options, both, both + count, error);
        free(both);
    }
    lode_view_free(view);
    return status;
}

CALL(tables)
{
    return tables_call(database, options, error);
}

CALL(scan)
{
    return scan_call(database, options, error);
}

CALL(scan_plan)
{
    return scan_plan_call(database, options, error);
}

CALL(arrow)
{
    return arrow_call(database, options, error);
}

CALL(window_cost)
{
    lode_cost *window;
    lode_status status = lode_cost_compute_window(&window, database, options, error);
    lode_cost_free(window);
    return status;
}

CALL(writer)
{
    lode_writer *writer;
    lode_status status = lode_writer_open(&writer, scratch_path(), options, error);
    lode_writer_close(writer);
    return status;
}

CALL(efficiency)
{
    return efficiency_call(database, options, error);
}

CALL(diagnose)
{
    return diagnose_call(database, options, error);
}

CALL(diagnose_recording)
{
    lode_diagnosis *diagnosis;
    lode_status status = lode_diagnose_recording(&diagnosis, recording, options, error);
    lode_diagnosis_free(diagnosis);
    return status;
}

/* Of a trace without samples: its header, and flags. */
CALL(raw)
{
    static const unsigned char bytes[32] = "HPCRUN-trace______01.01b";
    const char *path = scratch_path();
    lode_measurements *measurements;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
    assert_int_equal(fclose(file), 0);
    lode_status status = lode_raw_visit(&measurements, path, options, error);
    lode_measurements_close(measurements);
    return status;
}

/* ---- all of them ---- */

static const lode_build_options build_options = LODE_BUILD_OPTIONS_INIT;
static const lode_calls_options calls_options = LODE_CALLS_OPTIONS_INIT;
static const lode_change_options change_options = LODE_CHANGE_OPTIONS_INIT;
static const lode_check_options check_options = LODE_CHECK_OPTIONS_INIT;
static const lode_compare_options compare_options = LODE_COMPARE_OPTIONS_INIT;
static const lode_compare_by_profile_options compare_by_profile_options =
    LODE_COMPARE_BY_PROFILE_OPTIONS_INIT;
static const lode_compare_profiles_options compare_profiles_options = LODE_COMPARE_PROFILES_OPTIONS_INIT;
static const lode_compare_tree_options compare_tree_options = LODE_COMPARE_TREE_OPTIONS_INIT;
static const lode_scaling_options scaling_options = LODE_SCALING_OPTIONS_INIT;
static const lode_export_options export_options = LODE_EXPORT_OPTIONS_INIT;
static const lode_convert_options convert_options = LODE_CONVERT_OPTIONS_INIT;
static const lode_cost_options cost_options = LODE_COST_OPTIONS_INIT;
static const lode_efficiency_options efficiency_options = LODE_EFFICIENCY_OPTIONS_INIT;
static const lode_diagnose_options diagnose_options = LODE_DIAGNOSE_OPTIONS_INIT;
static const lode_raw_visitor raw_visitor = LODE_RAW_VISITOR_INIT;
static const lode_spread_options spread_options = LODE_SPREAD_OPTIONS_INIT;
static const lode_spread_rows_options spread_rows_options = LODE_SPREAD_ROWS_OPTIONS_INIT;
static const lode_cursor_options cursor_options = LODE_CURSOR_OPTIONS_INIT;
static const lode_judge_options judge_options = LODE_JUDGE_OPTIONS_INIT;
static const lode_judge_rows_options judge_rows_options = LODE_JUDGE_ROWS_OPTIONS_INIT;
static const lode_database_slice database_slice = LODE_DATABASE_SLICE_INIT;
static const lode_merge_options merge_options = LODE_MERGE_OPTIONS_INIT;
static const lode_query_options query_options = LODE_QUERY_OPTIONS_INIT;
static const lode_recording_options recording_options = LODE_RECORDING_OPTIONS_INIT;
static const lode_rewrite_options rewrite_options = LODE_REWRITE_OPTIONS_INIT;
static const lode_search_options search_options = LODE_SEARCH_OPTIONS_INIT;
static const lode_slice slice = LODE_SLICE_INIT;
static const lode_source_options source_options = LODE_SOURCE_OPTIONS_INIT;
static const lode_synth_example_options synth_example_options = LODE_SYNTH_EXAMPLE_OPTIONS_INIT;
static const lode_synth_options synth_options = LODE_SYNTH_OPTIONS_INIT;
static const lode_synth_recording_options synth_recording_options = LODE_SYNTH_RECORDING_OPTIONS_INIT;
static const lode_boxes_options boxes_options = LODE_BOXES_OPTIONS_INIT;
static const lode_picture_options picture_options = LODE_PICTURE_OPTIONS_INIT;
static const lode_timeline_options timeline_options = LODE_TIMELINE_OPTIONS_INIT;
static const lode_tables_options tables_options = LODE_TABLES_OPTIONS_INIT;
static const lode_scan_options scan_options = LODE_SCAN_OPTIONS_INIT;
static const lode_values_options values_options = LODE_VALUES_OPTIONS_INIT;
static const lode_hotspot_options hotspot_options = LODE_HOTSPOT_OPTIONS_INIT;
static const lode_view_options view_options = LODE_VIEW_OPTIONS_INIT;
static const lode_flame_options flame_options = LODE_FLAME_OPTIONS_INIT;
static const lode_window_cost_options window_cost_options = LODE_WINDOW_COST_OPTIONS_INIT;
static const lode_writer_options writer_options = LODE_WRITER_OPTIONS_INIT;

enum {
#define SIZE_0_1(type, bytes) type##_0_1 = (bytes),
#include "sizes-0.1.def"
};
#define FIRST(type) type##_0_1

/* `first`: the size that the struct had in version 0.1. */
static const struct entry {
    const char *function;
    lode_status (*call)(const void *options, lode_error *error);
    const void *defaults;
    size_t first;
} entries[] = {
    {"lode_arrow_stream", call_arrow, &scan_options, sizeof scan_options},
    {"lode_boxes_compute", call_boxes, &boxes_options, sizeof boxes_options},
    {"lode_boxes_compute_recording", call_boxes_recording, &boxes_options, sizeof boxes_options},
    {"lode_build", call_build, &build_options, FIRST(lode_build_options)},
    {"lode_calls_compute", call_calls, &calls_options, FIRST(lode_calls_options)},
    {"lode_calls_compute (slice)", call_calls_slice, &slice, FIRST(lode_slice)},
    {"lode_calltree_compute", call_calltree, &calls_options, FIRST(lode_calls_options)},
    {"lode_calltree_compute (slice)", call_calltree_slice, &slice, FIRST(lode_slice)},
    {"lode_change_points_find", call_change_points, &change_options, sizeof change_options},
    {"lode_check", call_check, &check_options, FIRST(lode_check_options)},
    {"lode_check_memory", call_check_memory, &check_options, FIRST(lode_check_options)},
    {"lode_database_check", call_database_check, &check_options, FIRST(lode_check_options)},
    {"lode_compare", call_compare, &compare_options, sizeof compare_options},
    {"lode_compare_trees", call_compare_trees, &compare_tree_options, sizeof compare_tree_options},
    {"lode_comparison_by_profile", call_comparison_by_profile, &compare_by_profile_options,
     sizeof compare_by_profile_options},
    {"lode_comparison_over_profiles", call_comparison_over_profiles, &compare_profiles_options,
     sizeof compare_profiles_options},
    {"lode_export_database", call_export_database, &export_options, sizeof export_options},
    {"lode_export_recording", call_export_recording, &export_options, sizeof export_options},
    {"lode_convert", call_convert, &convert_options, FIRST(lode_convert_options)},
    {"lode_cost_compute", call_cost, &cost_options, FIRST(lode_cost_options)},
    {"lode_cost_compute_window", call_window_cost, &window_cost_options, sizeof window_cost_options},
    {"lode_efficiencies_compute", call_efficiency, &efficiency_options, sizeof efficiency_options},
    {"lode_diagnose", call_diagnose, &diagnose_options, sizeof diagnose_options},
    {"lode_diagnose_recording", call_diagnose_recording, &diagnose_options, sizeof diagnose_options},
    {"lode_raw_visit", call_raw, &raw_visitor, sizeof raw_visitor},
    {"lode_spread_compute", call_spread, &spread_options, sizeof spread_options},
    {"lode_spread_rows", call_spread_rows, &spread_rows_options, sizeof spread_rows_options},
    {"lode_cursor_open", call_cursor, &cursor_options, FIRST(lode_cursor_options)},
    {"lode_judge", call_judge, &judge_options, sizeof judge_options},
    {"lode_judge_rows", call_judge_rows, &judge_rows_options, sizeof judge_rows_options},
    {"lode_merge_open", call_merge, &cursor_options, FIRST(lode_cursor_options)},
    {"lode_merge_open (slice)", call_merge_slice, &slice, FIRST(lode_slice)},
    {"lode_open", call_open, &recording_options, FIRST(lode_recording_options)},
    {"lode_hotspots_select", call_hotspots, &hotspot_options, sizeof hotspot_options},
    {"lode_flame_build", call_flame, &flame_options, sizeof flame_options},
    {"lode_outline_open", call_outline, &view_options, FIRST(lode_view_options)},
    {"lode_picture_compute", call_picture, &picture_options, sizeof picture_options},
    {"lode_picture_compute_recording", call_picture_recording, &picture_options, sizeof picture_options},
    {"lode_picture_compute_recording (slice)", call_picture_slice, &slice, FIRST(lode_slice)},
    {"lode_query_cost", call_query_cost, &cost_options, FIRST(lode_cost_options)},
    {"lode_query_open", call_query, &query_options, sizeof query_options},
    {"lode_query_outline", call_query_outline, &cost_options, FIRST(lode_cost_options)},
    {"lode_query_outline (view)", call_query_outline_view, &view_options, FIRST(lode_view_options)},
    {"lode_recording_open", call_recording_open, &recording_options, FIRST(lode_recording_options)},
    {"lode_recording_open_memory", call_recording_open_memory, &recording_options,
     FIRST(lode_recording_options)},
    {"lode_merge_databases", call_merge_databases, &merge_options, sizeof merge_options},
    {"lode_slice_database", call_slice_database, &merge_options, sizeof merge_options},
    {"lode_slice_database (slice)", call_slice_database_slice, &database_slice, sizeof database_slice},
    {"lode_rewrite", call_rewrite, &rewrite_options, FIRST(lode_rewrite_options)},
    {"lode_rewrite (slice)", call_rewrite_slice, &slice, FIRST(lode_slice)},
    {"lode_scan_open", call_scan, &scan_options, sizeof scan_options},
    {"lode_scan_plan_make", call_scan_plan, &scan_options, sizeof scan_options},
    {"lode_tables_open", call_tables, &tables_options, sizeof tables_options},
    {"lode_scaling_compute", call_scaling, &scaling_options, sizeof scaling_options},
    {"lode_scaling_hot_path", call_scaling_path, &scaling_options, sizeof scaling_options},
    {"lode_scaling_loss_of", call_scaling_loss, &scaling_options, sizeof scaling_options},
    {"lode_density_compute", call_density, &search_options, FIRST(lode_search_options)},
    {"lode_search_run", call_search, &search_options, FIRST(lode_search_options)},
    {"lode_source_text_open", call_source_text, &source_options, sizeof source_options},
    {"lode_synth_database", call_synth_database, &synth_options, FIRST(lode_synth_options)},
    {"lode_synth_examples", call_synth_examples, &synth_example_options, sizeof synth_example_options},
    {"lode_synth_recording", call_synth_recording, &synth_recording_options,
     FIRST(lode_synth_recording_options)},
    {"lode_timeline_compute", call_timeline, &timeline_options, FIRST(lode_timeline_options)},
    {"lode_timeline_compute_recording", call_timeline_recording, &timeline_options,
     FIRST(lode_timeline_options)},
    {"lode_timeline_compute_recording (slice)", call_timeline_slice, &slice, FIRST(lode_slice)},
    {"lode_values_open", call_values, &values_options, sizeof values_options},
    {"lode_view_build", call_view, &view_options, FIRST(lode_view_options)},
    {"lode_view_costs", call_view_costs, &view_options, FIRST(lode_view_options)},
    {"lode_writer_open", call_writer, &writer_options, FIRST(lode_writer_options)},
};
#define ENTRIES (sizeof entries / sizeof *entries)

#endif
