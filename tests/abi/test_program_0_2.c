/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that was compiled with the headers of version 0.2 runs with the current library. */
#include "scratch.h"

#include "lode-0.2.h"
#include <lode/unstable/synth.h>
#include <string.h>

#define SIZE_0_2(type, bytes) _Static_assert(sizeof(void *) != 8 || sizeof(type) == (bytes), #type);
#include "sizes-0.2.def"

enum {
    GUARD = 0x5a
};

/* Guard bytes after a struct of a caller, which the library must not change. */
struct guard {
    unsigned char bytes[64];
};

static char database_path[4200], recording_path[4200];

static void set_guard(struct guard *guard)
{
    memset(guard->bytes, GUARD, sizeof guard->bytes);
}

static void expect_guard(const struct guard *guard)
{
    for (size_t i = 0; i < sizeof guard->bytes; i++)
        assert_int_equal(guard->bytes[i], GUARD);
}

static lode_database *open_database(const char *path)
{
    lode_database *db;
    lode_error error;
    if (lode_database_open(&db, path, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return db;
}

static lode_recording *open_recording(void)
{
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    lode_recording *recording;
    options.threads = 1;
    assert_int_equal(lode_recording_open(&recording, recording_path, &options, NULL), LODE_OK);
    return recording;
}

static void a_store_is_probed_and_checked(void **state)
{
    struct {
        lode_check_result result;
        struct guard guard;
    } own;
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_store_kind kind;
    (void)state;
    options.level = LODE_CHECK_FULL;
    options.threads = 2;
    set_guard(&own.guard);
    assert_int_equal(lode_store_probe(database_path, &kind, NULL), LODE_OK);
    assert_int_equal(kind, LODE_STORE_DATABASE);
    assert_int_equal(lode_check(database_path, &options, &own.result, NULL), LODE_OK);
    expect_guard(&own.guard);
    assert_int_equal(own.result.errors, 0);
    assert_int_equal(own.result.profiles, 4);
    assert_true(own.result.contexts > 100 && own.result.values > 0 && own.result.samples > 0);
}

static void costs_are_computed_and_shown(void **state)
{
    lode_database *db = open_database(database_path);
    lode_cost_options asked = LODE_COST_OPTIONS_INIT;
    lode_view_options shown = LODE_VIEW_OPTIONS_INIT;
    lode_cost *cost;
    lode_hotspots *hotspots;
    lode_view *view;
    double sum = 0;
    (void)state;
    asked.threads = 1;
    shown.depth = 3;
    shown.min_fraction = 0;
    assert_int_equal(lode_cost_compute(&cost, db, &asked, NULL), LODE_OK);
    assert_int_equal(lode_hotspots_compute(&hotspots, cost, LODE_BY_FUNCTION, LODE_SORT_EXCLUSIVE, NULL),
                     LODE_OK);
    for (size_t i = 0; i < lode_hotspots_count(hotspots); i++)
        sum += lode_hotspots_at(hotspots, i)->exclusive;
    assert_true(sum > 0.999 * lode_cost_total(cost) && sum < 1.001 * lode_cost_total(cost));
    assert_int_equal(lode_view_build(&view, cost, &shown, NULL), LODE_OK);
    assert_true(lode_view_count(view) > 0);
    for (size_t i = 0; i < lode_view_count(view); i++)
        assert_true(lode_view_at(view, i)->depth <= 3);
    lode_view_free(view);
    lode_hotspots_free(hotspots);
    lode_cost_free(cost);
    lode_database_close(db);
}

static void values_and_samples_are_read(void **state)
{
    lode_database *db = open_database(database_path);
    struct {
        lode_block block;
        struct guard after_block;
        lode_trace_line line;
        struct guard after_line;
    } own;
    lode_group group;
    lode_value value;
    lode_sample sample;
    uint64_t count = 0;
    (void)state;
    set_guard(&own.after_block);
    set_guard(&own.after_line);
    assert_int_equal(lode_profile_block(db, 1, &own.block, NULL), LODE_OK);
    for (uint32_t i = 0; lode_block_group(&own.block, i, &group, NULL) == LODE_OK; i++) {
        assert_int_equal(lode_block_read(&own.block, group.first, 1, &value), LODE_OK);
        count += group.count;
    }
    assert_true(count > 0 && count == lode_block_value_count(&own.block));
    assert_int_equal(lode_database_trace_line(db, 0, &own.line, NULL), LODE_OK);
    assert_int_equal(own.line.profile, 1);
    assert_int_equal(own.line.sample_count, 100);
    assert_int_equal(lode_trace_line_sample(&own.line, 99, &sample), LODE_OK);
    assert_int_equal(lode_trace_line_sample(&own.line, 100, &sample), LODE_END);
    expect_guard(&own.after_block);
    expect_guard(&own.after_line);
    lode_database_close(db);
}

static void a_database_is_converted(void **state)
{
    const char *path = scratch_path();
    lode_database *db = open_database(database_path);
    lode_convert_options options = LODE_CONVERT_OPTIONS_INIT;
    (void)state;
    options.threads = 1;
    assert_int_equal(lode_convert(db, path, &options, NULL), LODE_OK);
    assert_int_equal(lode_convert(db, path, &options, NULL), LODE_ERR_ARGUMENT);
    options.force = 1;
    assert_int_equal(lode_convert(db, path, &options, NULL), LODE_OK);
    lode_database *same = open_database(path);
    assert_int_equal(lode_database_context_count(same), lode_database_context_count(db));
    lode_database_close(same);
    lode_database_close(db);
}

static void a_database_is_written(void **state)
{
    const char *path = scratch_path();
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    lode_writer_function named = {"main", LODE_NONE, LODE_NONE, 0, 0};
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    lode_writer *writer;
    uint32_t scope, metric, function, entry, node;
    uint16_t id;
    (void)state;
    options.title = "written by 0.2";
    assert_int_equal(lode_writer_open(&writer, path, &options, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_scope(writer, "execution", LODE_SCOPE_EXECUTION, 0, &scope, NULL),
                     LODE_OK);
    assert_int_equal(lode_writer_add_metric(writer, "CYCLES", &metric, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_metric_scope(writer, metric, scope, &id, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_statistic(writer, metric, scope, "$$", LODE_COMBINE_SUM, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_function(writer, &named, &function, NULL), LODE_OK);
    context.entry_name = "main thread";
    context.entry = LODE_ENTRY_MAIN_THREAD;
    assert_int_equal(lode_writer_add_context(writer, &context, &entry, NULL), LODE_OK);
    context = (lode_writer_context)LODE_WRITER_CONTEXT_INIT;
    context.parent = entry;
    context.relation = LODE_RELATION_CALL;
    context.function = function;
    assert_int_equal(lode_writer_add_context(writer, &context, &node, NULL), LODE_OK);
    assert_int_equal(lode_writer_seal(writer, NULL), LODE_OK);
    assert_int_equal(lode_writer_finish(writer, NULL), LODE_OK);
    lode_writer_close(writer);
    lode_database *db = open_database(path);
    assert_string_equal(lode_database_title(db), "written by 0.2");
    assert_int_equal(lode_database_context_count(db), 3);
    lode_database_close(db);
}

static void calls_are_counted(void **state)
{
    lode_recording *recording = open_recording();
    lode_slice slice = LODE_SLICE_INIT;
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calls *calls;
    lode_calltree *tree;
    uint32_t track = 1;
    (void)state;
    slice.tracks = &track;
    slice.track_count = 1;
    options.sort = LODE_CALLS_BY_CALLS;
    assert_int_equal(lode_calls_compute(&calls, recording, &slice, &options, NULL), LODE_OK);
    assert_true(lode_calls_count(calls) > 1);
    assert_true(lode_calls_at(calls, 0)->calls >= lode_calls_at(calls, 1)->calls);
    assert_int_equal(lode_calls_track_count(calls), 1);
    assert_int_equal(lode_calltree_compute(&tree, recording, &slice, &options, NULL), LODE_OK);
    assert_true(lode_calltree_context_count(tree) > 1);
    lode_calltree_free(tree);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void events_are_read(void **state)
{
    lode_recording *recording = open_recording();
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    lode_merge *merge;
    const lode_event *events;
    uint32_t track;
    size_t count, total = 0, merged = 0;
    (void)state;
    for (uint32_t t = 0; t < lode_recording_track_count(recording); t++) {
        assert_int_equal(lode_cursor_open(&cursor, recording, t, &options, NULL), LODE_OK);
        while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK)
            total += count;
        lode_cursor_close(cursor);
    }
    assert_int_equal(lode_merge_open(&merge, recording, NULL, &options, NULL), LODE_OK);
    while (lode_merge_next(merge, &events, &track, NULL) == LODE_OK)
        merged++;
    assert_true(total >= 2000 && merged == total);
    lode_merge_close(merge);
    lode_recording_close(recording);
}

static void a_recording_is_rewritten_and_built(void **state)
{
    struct {
        lode_build_result result;
        struct guard guard;
    } own;
    lode_recording *recording = open_recording();
    const lode_recording *recordings[] = {recording};
    const char *paths[] = {recording_path}, *path = scratch_path();
    lode_rewrite_options rewritten = LODE_REWRITE_OPTIONS_INIT;
    lode_build_options options = LODE_BUILD_OPTIONS_INIT;
    (void)state;
    assert_int_equal(lode_rewrite(recordings, 1, path, NULL, &rewritten, NULL), LODE_OK);
    options.trace = LODE_TRACE_NONE;
    options.local_ranks = 2;
    set_guard(&own.guard);
    path = scratch_path();
    assert_int_equal(lode_build(paths, 1, path, &options, &own.result, NULL), LODE_OK);
    expect_guard(&own.guard);
    assert_int_equal(own.result.comm_size, 2);
    assert_int_equal(own.result.tracks, 4);
    lode_database *db = open_database(path);
    assert_int_equal(lode_database_has(db, LODE_PART_TRACE), 0);
    lode_database_close(db);
    lode_recording_close(recording);
}

static int make_stores(void **state)
{
    lode_synth_options options = LODE_SYNTH_OPTIONS_INIT;
    lode_synth_recording_options traced = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    (void)state;
    scratch_make();
    snprintf(database_path, sizeof database_path, "%s/database", scratch);
    snprintf(recording_path, sizeof recording_path, "%s/recording", scratch);
    options.profiles = 3;
    traced.records = 2000;
    assert_int_equal(lode_synth_database(database_path, &options, NULL), LODE_OK);
    assert_int_equal(lode_synth_recording(recording_path, &traced, NULL), LODE_OK);
    return 0;
}

static int remove_stores(void **state)
{
    (void)state;
    scratch_remove();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_is_probed_and_checked),
        cmocka_unit_test(costs_are_computed_and_shown),
        cmocka_unit_test(values_and_samples_are_read),
        cmocka_unit_test(a_database_is_converted),
        cmocka_unit_test(a_database_is_written),
        cmocka_unit_test(calls_are_counted),
        cmocka_unit_test(events_are_read),
        cmocka_unit_test(a_recording_is_rewritten_and_built),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
