/* SPDX-License-Identifier: BSD-3-Clause */
/* What the writer makes of little, of nothing, and of trace lines. */
#include "writer_tree.h"

/* ---- little and nothing ---- */

static void a_database_may_be_empty(void **state)
{
    struct place place;
    (void)state;
    for (unsigned profiles = 0; profiles < 3; profiles++) {
        enter_place(&place);
        lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
        options.traces = 1;
        lode_writer *writer = begin_writer(&place, &options);
        if (profiles > 0) {
            add_kinds(&place, writer);
            add_time(&place, writer);
        }
        DONE(&place, lode_writer_seal(writer, &place.error));
        lode_profile_builder *builder = begin_builder(&place, writer);
        for (uint32_t p = 0; p < profiles; p++) {
            DONE(&place, begin_thread(&place, builder, p));
            append_builder(&place, writer, builder);
        }
        lode_profile_builder_free(builder);
        finish_writer(&place, writer);
        check_target(&place, 0);
        lode_database *db = open_target(&place);
        uint64_t min = 1, max = 1;
        assert_int_equal(lode_database_profile_count(db), 1 + profiles);
        assert_int_equal(lode_database_trace_count(db), profiles);
        assert_int_equal(lode_database_context_count(db), 1);
        assert_int_equal(lode_database_trace_bounds(db, &min, &max), LODE_OK);
        assert_int_equal(min, 0);
        assert_int_equal(max, 0);
        assert_string_equal(lode_database_title(db), "new");
        assert_string_equal(lode_database_description(db), "");
        lode_database_close(db);
        leave_place(&place);
    }
}

static void zeros_are_omitted_and_point_values_sum_up(void **state)
{
    struct place place;
    struct tree tree;
    lode_block block;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    describe_tree(&place, writer, &tree);
    DONE(&place, lode_writer_seal(writer, &place.error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    DONE(&place, begin_thread(&place, builder, 0));
    DONE(&place, lode_profile_builder_value(builder, tree.lines[0], POINT, 0.0, &place.error));
    DONE(&place, lode_profile_builder_value(builder, tree.lines[0], POINT, -0.0, &place.error));
    DONE(&place, lode_profile_builder_point(builder, tree.lines[1], tree.metric, 0.0, &place.error));
    append_builder(&place, writer, builder);
    DONE(&place, begin_thread(&place, builder, 1));
    DONE(&place, lode_profile_builder_point(builder, tree.lines[0], tree.metric, 1.5, &place.error));
    DONE(&place, lode_profile_builder_point(builder, tree.lines[6], tree.metric, 4.0, &place.error));
    DONE(&place, lode_profile_builder_point(builder, tree.lines[0], tree.metric, 2.5, &place.error));
    append_builder(&place, writer, builder);
    lode_profile_builder_free(builder);
    finish_writer(&place, writer);

    check_target(&place, 1);
    lode_database *db = open_target(&place);
    assert_int_equal(lode_profile_block(db, 1, &block, NULL), LODE_OK);
    assert_int_equal(lode_block_value_count(&block), 0);
    assert_true(value_of(db, 2, id_at_line(db, 11), POINT) == 4.0);
    assert_true(value_of(db, 2, 0, EXECUTION) == 8.0);
    lode_database_close(db);
    leave_place(&place);
}

/* Counts profiles with the metric in any scope: here one each in the first and last of many. */
static void profiles_are_counted_in_all_of_many_scopes(void **state)
{
    enum {
        MANY_SCOPES = 100
    };
    struct place place;
    uint16_t ids[MANY_SCOPES], count_id = 0;
    uint32_t scopes[MANY_SCOPES], metric;
    lode_metric_statistic statistic;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    add_kinds(&place, writer);
    DONE(&place, lode_writer_add_metric(writer, "many", &metric, &place.error));
    for (unsigned i = 0; i < MANY_SCOPES; i++) {
        char name[16];
        snprintf(name, sizeof name, "scope %u", i);
        DONE(&place,
             lode_writer_add_scope(writer, name, LODE_SCOPE_CUSTOM, UINT8_MAX, &scopes[i], &place.error));
        DONE(&place, lode_writer_add_metric_scope(writer, metric, scopes[i], &ids[i], &place.error));
    }
    DONE(&place, lode_writer_add_statistic(writer, metric, scopes[0], "1", LODE_COMBINE_SUM, &place.error));
    DONE(&place, lode_writer_seal(writer, &place.error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    for (uint32_t p = 0; p < 3; p++) {
        DONE(&place, begin_thread(&place, builder, p));
        if (p < 2)
            DONE(&place, lode_profile_builder_value(builder, LODE_NONE, ids[p == 0 ? 0 : MANY_SCOPES - 1],
                                                    2.5, &place.error));
        append_builder(&place, writer, builder);
    }
    lode_profile_builder_free(builder);
    finish_writer(&place, writer);
    lode_database *db = open_target(&place);
    assert_int_equal(lode_metric_statistic_at(lode_database_metric(db, 0), 0, &statistic), LODE_OK);
    count_id = statistic.id;
    assert_true(value_of(db, 0, 0, count_id) == 2.0);
    lode_database_close(db);
    leave_place(&place);
}

/* ---- traces ---- */

static void write_samples(struct place *place, const uint64_t *times, unsigned count,
                          const uint64_t (*bounds)[2], int late)
{
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    struct tree tree;
    options.traces = 1;
    lode_writer *writer = begin_writer(place, &options);
    describe_tree(place, writer, &tree);
    DONE(place, lode_writer_seal(writer, &place->error));
    if (bounds && !late)
        lode_writer_set_trace_bounds(writer, (*bounds)[0], (*bounds)[1]);
    lode_profile_builder *builder = begin_builder(place, writer);
    for (uint32_t p = 0; p < 2; p++) {
        DONE(place, begin_thread(place, builder, p));
        /* All in the second profile; the first has an empty line. */
        for (unsigned i = 0; p == 1 && i < count; i++)
            DONE(place, lode_profile_builder_sample(builder, times[i], i % 2 ? LODE_NONE : tree.lines[i % 8],
                                                    &place->error));
        append_builder(place, writer, builder);
    }
    if (bounds && late)
        lode_writer_set_trace_bounds(writer, (*bounds)[0], (*bounds)[1]);
    lode_profile_builder_free(builder);
    finish_writer(place, writer);
}

static void traces_have_bounds(void **state)
{
    static const uint64_t times[] = {100, 105, 105, 120};
    static const struct {
        unsigned count;
        int given;
        uint64_t bounds[2], expected[2];
    } cases[] = {
        {4, 0, {0, 0}, {100, 120}},     {4, 1, {50, 200}, {50, 200}},
        {4, 1, {110, 115}, {100, 120}}, /* samples widen them */
        {0, 0, {0, 0}, {0, 0}},         {0, 1, {50, 200}, {50, 200}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int late = 0; late <= cases[i].given; late++) {
            struct place place;
            uint64_t min, max;
            lode_trace_line line;
            lode_sample sample;
            enter_place(&place);
            write_samples(&place, times, cases[i].count, cases[i].given ? &cases[i].bounds : NULL, late);
            check_target(&place, 0);
            lode_database *db = open_target(&place);
            assert_int_equal(lode_database_trace_bounds(db, &min, &max), LODE_OK);
            assert_int_equal(min, cases[i].expected[0]);
            assert_int_equal(max, cases[i].expected[1]);
            assert_int_equal(lode_database_trace_line(db, 0, &line, NULL), LODE_OK);
            assert_int_equal(line.sample_count, 0);
            assert_int_equal(lode_database_trace_line(db, 1, &line, NULL), LODE_OK);
            assert_int_equal(line.sample_count, cases[i].count);
            for (unsigned k = 0; k < cases[i].count; k++) {
                assert_int_equal(lode_trace_line_sample(&line, k, &sample), LODE_OK);
                assert_int_equal(sample.time, times[k]);
                assert_int_equal(sample.context_id, k % 2 ? 0 : id_at_line(db, k == 0 ? 11 : 31));
            }
            lode_database_close(db);
            leave_place(&place);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_may_be_empty),
        cmocka_unit_test(zeros_are_omitted_and_point_values_sum_up),
        cmocka_unit_test(profiles_are_counted_in_all_of_many_scopes),
        cmocka_unit_test(traces_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
