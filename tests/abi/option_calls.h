/* SPDX-License-Identifier: BSD-3-Clause */
/* One call for each function that takes options: option_list.h lists them. */
#ifndef LODE_TESTS_OPTION_CALLS_H
#define LODE_TESTS_OPTION_CALLS_H

#include "option_calls_tables.h"
#include "scratch.h"
#include <lode/private/joint.h>
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

static lode_status join(const lode_slice *slice, const lode_calls_options *calls,
                        const lode_diagnose_options *diagnose, lode_error *error)
{
    lode_joint joint;
    lode_status status = lode_joint_compute(&joint, recording, slice, calls, diagnose, error);
    lode_calls_free(joint.calls);
    lode_calltree_free(joint.tree);
    lode_diagnosis_free(joint.diagnosis);
    return status;
}

CALL(joint)
{
    return join(NULL, options, NULL, error);
}

CALL(joint_slice)
{
    return join(options, NULL, NULL, error);
}

CALL(joint_diagnosis)
{
    return join(NULL, NULL, options, error);
}

static lode_status estimates(const lode_slice *slice, const lode_calls_options *calls, lode_error *error)
{
    int is_estimate;
    return lode_joint_estimates(&is_estimate, recording, slice, calls, error);
}

CALL(estimates)
{
    return estimates(NULL, options, error);
}

CALL(estimates_slice)
{
    return estimates(options, NULL, error);
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

CALL(critical_path)
{
    lode_critical_path *path;
    lode_status status = lode_critical_path_compute(&path, recording, options, error);
    lode_critical_path_free(path);
    return status;
}

CALL(rates)
{
    lode_rates *rates;
    lode_status status = lode_rates_compute(&rates, recording, options, NULL, error);
    lode_rates_free(rates);
    return status;
}

CALL(rates_options)
{
    lode_rates *rates;
    lode_status status = lode_rates_compute(&rates, recording, NULL, options, error);
    lode_rates_free(rates);
    return status;
}

CALL(service_map)
{
    lode_service_map *map;
    lode_status status = lode_service_map_compute(&map, recording, options, error);
    lode_service_map_free(map);
    return status == LODE_ABSENT ? LODE_OK : status;
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

#endif
