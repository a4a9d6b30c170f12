/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of trees that filters leave, where the global context has a cost of its own. main calls foo
 * and bar; the global context, foo and bar cost 1, 2 and 4 seconds.
 */
#include "writing.h"

static uint32_t call(struct place *place, lode_writer *writer, uint32_t parent, const char *name)
{
    return add_call(place, writer, parent, LODE_RELATION_CALL, add_function(place, writer, name));
}

static lode_database *write_database(struct place *place)
{
    uint32_t metric = 0, contexts[] = {LODE_NONE, 0, 0};
    lode_writer *writer = begin_writer(place, NULL);
    add_kinds(place, writer);
    uint32_t scope = add_scope(place, writer, "execution", LODE_SCOPE_EXECUTION);
    DONE(place, lode_writer_add_metric(writer, "TIME (sec)", &metric, &place->error));
    add_instance(place, writer, metric, scope);
    DONE(place, lode_writer_add_statistic(writer, metric, scope, "$$", LODE_COMBINE_SUM, &place->error));
    uint32_t top = call(place, writer, add_entry(place, writer, LODE_ENTRY_MAIN_THREAD), "main");
    contexts[1] = call(place, writer, top, "foo");
    contexts[2] = call(place, writer, top, "bar");
    DONE(place, lode_writer_seal(writer, &place->error));
    lode_profile_builder *builder = begin_builder(place, writer);
    DONE(place, begin_thread(place, builder, 0));
    for (size_t i = 0; i < 3; i++)
        DONE(place, lode_profile_builder_point(builder, contexts[i], metric, 1 << i, &place->error));
    append_builder(place, writer, builder);
    lode_profile_builder_free(builder);
    finish_writer(place, writer);
    return open_target(place);
}

/* The rows of a view, each with its depth: "0 main_thread, 1 main, ". */
static void expect_rows(const lode_cost *cost, lode_view_mode mode, const char *included,
                        const char *excluded, const char *rows)
{
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    lode_view *view = NULL;
    lode_filter *filter = NULL;
    char found[256] = "", label[32];
    size_t length = 0;
    assert_int_equal(
        lode_filter_open(&filter, &included, included != NULL, &excluded, excluded != NULL, NULL), LODE_OK);
    options.mode = mode;
    options.filter = filter;
    assert_int_equal(lode_view_build(&view, cost, &options, NULL), LODE_OK);
    for (size_t i = 0; i < lode_view_count(view); i++) {
        const lode_view_row *row = lode_view_at(view, i);
        lode_context_label(row->context, label, sizeof label);
        length += (size_t)snprintf(found + length, sizeof found - length, "%u %s, ", row->depth, label);
    }
    assert_string_equal(found, rows);
    lode_view_free(view);
    lode_filter_close(filter);
}

static void a_filter_judges_the_program_root_by_itself(void **state)
{
    struct place place;
    lode_cost *cost = NULL;
    (void)state;
    enter_place(&place);
    lode_database *db = write_database(&place);
    DONE(&place, lode_cost_compute(&cost, db, NULL, &place.error));
    expect_rows(cost, LODE_VIEW_TOP_DOWN, NULL, NULL,
                "0 main_thread, 1 main, 2 bar, 2 foo, 0 <program root>, ");
    expect_rows(cost, LODE_VIEW_TOP_DOWN, "foo", NULL, "0 main_thread, 1 main, 2 foo, ");
    expect_rows(cost, LODE_VIEW_TOP_DOWN, "*root*", NULL, "0 <program root>, ");
    expect_rows(cost, LODE_VIEW_TOP_DOWN, NULL, "foo", "0 main_thread, 1 main, 2 bar, 0 <program root>, ");
    expect_rows(cost, LODE_VIEW_TOP_DOWN, NULL, "*root*", "0 main_thread, 1 main, 2 bar, 2 foo, ");
    expect_rows(cost, LODE_VIEW_CALLERS, NULL, "bar", "0 foo, 1 main, 2 main_thread, 0 <program root>, ");
    expect_rows(cost, LODE_VIEW_CALLERS, "foo", NULL, "0 foo, 1 main, 2 main_thread, ");
    lode_cost_free(cost);
    lode_database_close(db);
    leave_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_judges_the_program_root_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
