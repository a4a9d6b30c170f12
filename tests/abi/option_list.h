/* SPDX-License-Identifier: BSD-3-Clause */
/* All functions that take options, with the options that they take. */
#ifndef LODE_TESTS_OPTION_LIST_H
#define LODE_TESTS_OPTION_LIST_H

#include "option_calls.h"

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
static const lode_rates_options rates_options = LODE_RATES_OPTIONS_INIT;
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
    {"lode_joint_compute", call_joint, &calls_options, FIRST(lode_calls_options)},
    {"lode_joint_compute (slice)", call_joint_slice, &slice, FIRST(lode_slice)},
    {"lode_joint_estimates", call_estimates, &calls_options, FIRST(lode_calls_options)},
    {"lode_joint_estimates (slice)", call_estimates_slice, &slice, FIRST(lode_slice)},
    {"lode_joint_compute (diagnosis)", call_joint_diagnosis, &diagnose_options, sizeof diagnose_options},
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
    {"lode_critical_path_compute", call_critical_path, &search_options, FIRST(lode_search_options)},
    {"lode_rates_compute", call_rates, &search_options, FIRST(lode_search_options)},
    {"lode_rates_compute (rates)", call_rates_options, &rates_options, sizeof rates_options},
    {"lode_service_map_compute", call_service_map, &search_options, FIRST(lode_search_options)},
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
