/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hotspots and their details, against numbers derived by hand. main calls foo of module a, which
 * calls itself, and foo of module b. On rank r they cost 1 + r, 2 and 10 seconds: foo of module b
 * at an instruction without a line.
 */
#include "writing.h"

enum {
    RANKS = 3
};

static uint32_t call_foo(struct place *place, lode_writer *writer, uint32_t module, uint32_t parent,
                         const char *name)
{
    lode_writer_function function = {name, module, LODE_NONE, 0, 0};
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    uint32_t handle = 0;
    context.parent = parent;
    context.lexical = LODE_LEXICAL_FUNCTION;
    context.relation = LODE_RELATION_CALL;
    DONE(place, lode_writer_add_function(writer, &function, &context.function, &place->error));
    DONE(place, lode_writer_add_context(writer, &context, &handle, &place->error));
    return handle;
}

static uint32_t add_instruction(struct place *place, lode_writer *writer, uint32_t module, uint32_t parent)
{
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    uint32_t handle = 0;
    context.parent = parent;
    context.lexical = LODE_LEXICAL_INSTRUCTION;
    context.relation = LODE_RELATION_LEXICAL;
    context.propagation = 1;
    context.module = module;
    context.offset = 64;
    DONE(place, lode_writer_add_context(writer, &context, &handle, &place->error));
    return handle;
}

static void write_profiles(struct place *place, lode_writer *writer, uint32_t metric,
                           const uint32_t *contexts)
{
    lode_profile_builder *builder = NULL;
    DONE(place, lode_profile_builder_create(&builder, writer, &place->error));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const double seconds[] = {1.0 + rank, 2, 10};
        DONE(place, lode_profile_builder_begin(builder, &(lode_id){1, 0, rank, rank}, 1, &place->error));
        for (size_t i = 0; i < 3; i++)
            DONE(place, lode_profile_builder_point(builder, contexts[i], metric, seconds[i], &place->error));
        DONE(place, lode_profile_builder_end(builder, &place->error));
        DONE(place, lode_writer_append(writer, builder, &place->error));
    }
    lode_profile_builder_free(builder);
}

static lode_database *write_database(struct place *place)
{
    uint32_t metric = 0, modules[2] = {0}, contexts[3];
    lode_database *db = NULL;
    lode_writer *writer = begin_writer(place, NULL);
    DONE(place, lode_writer_add_id_kind(writer, "SUMMARY", NULL, &place->error));
    DONE(place, lode_writer_add_id_kind(writer, "RANK", NULL, &place->error));
    uint32_t scope = add_scope(place, writer, "execution", LODE_SCOPE_EXECUTION);
    DONE(place, lode_writer_add_metric(writer, "TIME (sec)", &metric, &place->error));
    DONE(place, lode_writer_add_metric_scope(writer, metric, scope, NULL, &place->error));
    DONE(place, lode_writer_add_statistic(writer, metric, scope, "$$", LODE_COMBINE_SUM, &place->error));
    DONE(place, lode_writer_add_module(writer, "/opt/a", &modules[0], &place->error));
    DONE(place, lode_writer_add_module(writer, "/opt/b", &modules[1], &place->error));
    uint32_t entry = add_entry(place, writer, LODE_ENTRY_MAIN_THREAD);
    uint32_t top = call_foo(place, writer, modules[0], entry, "main");
    contexts[0] = call_foo(place, writer, modules[0], top, "foo");
    contexts[1] = call_foo(place, writer, modules[0], contexts[0], "foo");
    contexts[2] = add_instruction(place, writer, modules[1], call_foo(place, writer, modules[1], top, "foo"));
    DONE(place, lode_writer_seal(writer, &place->error));
    write_profiles(place, writer, metric, contexts);
    finish_writer(place, writer);
    DONE(place, lode_database_open(&db, place->target, &place->error));
    return db;
}

/* The detail of the row `foo`. */
static lode_hotspot_detail *foo_of(struct place *place, const lode_cost *cost, const lode_filter *filter,
                                   const lode_selection *selection)
{
    lode_hotspot_options options = LODE_HOTSPOT_OPTIONS_INIT;
    lode_hotspots *hotspots = NULL;
    lode_hotspot_detail *detail = NULL;
    char label[32] = "";
    size_t i = 0;
    options.filter = filter;
    DONE(place, lode_hotspots_select(&hotspots, cost, &options, &place->error));
    for (; i < lode_hotspots_count(hotspots) && strcmp(label, "foo") != 0; i++)
        lode_hotspot_label(lode_hotspots_at(hotspots, i), label, sizeof label);
    assert_string_equal(label, "foo");
    DONE(place, lode_hotspots_detail(&detail, hotspots, i - 1, cost, selection, &place->error));
    assert_int_equal(detail->context_count, lode_hotspots_at(hotspots, i - 1)->contexts);
    REFUSED(
        place, LODE_NOT_FOUND,
        lode_hotspots_detail(&(lode_hotspot_detail *){NULL}, hotspots, SIZE_MAX, cost, NULL, &place->error));
    lode_hotspots_free(hotspots);
    return detail;
}

static void expect(const lode_distribution *found, uint64_t count, double min, double max, double sum)
{
    assert_int_equal(found->count, count);
    assert_true(found->min == min && found->max == max && found->sum == sum);
}

static void a_detail_has_all_contexts_and_profiles(void **state)
{
    struct place place;
    lode_cost *cost = NULL;
    (void)state;
    enter_place(&place);
    lode_database *db = write_database(&place);
    DONE(&place, lode_cost_compute(&cost, db, NULL, &place.error));
    lode_hotspot_detail *detail = foo_of(&place, cost, NULL, NULL);
    assert_int_equal(detail->context_count, 3);
    for (size_t i = 1; i < detail->context_count; i++)
        assert_true(lode_context_index(detail->contexts[i - 1]) < lode_context_index(detail->contexts[i]));
    /* Recursion counts once: 13, 14 and 15 seconds. */
    expect(&detail->inclusive, RANKS, 13, 15, 42);
    expect(&detail->exclusive, RANKS, 13, 15, 42);
    lode_hotspot_detail_free(detail);
    lode_cost_free(cost);
    lode_database_close(db);
    leave_place(&place);
}

static void a_filter_holds_for_details(void **state)
{
    const char *pattern = "module:a";
    struct place place;
    lode_cost *cost = NULL;
    lode_filter *filter = NULL;
    (void)state;
    enter_place(&place);
    lode_database *db = write_database(&place);
    DONE(&place, lode_cost_compute(&cost, db, NULL, &place.error));
    DONE(&place, lode_filter_open(&filter, &pattern, 1, NULL, 0, &place.error));
    lode_hotspot_detail *detail = foo_of(&place, cost, filter, NULL);
    assert_int_equal(detail->context_count, 2);
    expect(&detail->inclusive, RANKS, 3, 5, 12);
    assert_true(detail->inclusive.imbalance == 0.25);
    lode_hotspot_detail_free(detail);
    lode_filter_close(filter);
    lode_cost_free(cost);
    lode_database_close(db);
    leave_place(&place);
}

static void a_selection_holds_for_details(void **state)
{
    struct place place;
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    lode_selection *selection = NULL;
    lode_cost *cost = NULL;
    (void)state;
    enter_place(&place);
    lode_database *db = write_database(&place);
    DONE(&place, lode_selection_parse(&selection, db, "rank=1-2", &place.error));
    options.selection = selection;
    DONE(&place, lode_cost_compute(&cost, db, &options, &place.error));
    lode_hotspot_detail *detail = foo_of(&place, cost, NULL, selection);
    expect(&detail->inclusive, 2, 14, 15, 29);
    lode_hotspot_detail_free(detail);
    lode_selection_free(selection);
    lode_cost_free(cost);
    lode_database_close(db);
    leave_place(&place);
}

/* A function without lines stands in for them, even if all its costs are at its instructions. */
static void by_line_a_function_has_the_costs_of_its_instructions(void **state)
{
    struct place place;
    lode_cost *cost = NULL;
    lode_hotspots *hotspots = NULL;
    size_t rows = 0;
    (void)state;
    enter_place(&place);
    lode_database *db = write_database(&place);
    DONE(&place, lode_cost_compute(&cost, db, NULL, &place.error));
    for (int by = LODE_BY_FUNCTION; by <= LODE_BY_KIND; by++) {
        DONE(&place,
             lode_hotspots_compute(&hotspots, cost, (lode_group_by)by, LODE_SORT_EXCLUSIVE, &place.error));
        for (size_t i = 0; i < lode_hotspots_count(hotspots); i++) {
            const lode_hotspot *row = lode_hotspots_at(hotspots, i);
            bool is_foo_of_b = by == LODE_BY_LINE && strcmp(lode_module_path(row->module), "/opt/b") == 0;
            assert_true(row->inclusive >= row->exclusive && row->contexts > 0);
            rows += is_foo_of_b && row->inclusive == 10.0 * RANKS && row->exclusive == 10.0 * RANKS &&
                    row->contexts == 1;
        }
        lode_hotspots_free(hotspots);
    }
    assert_int_equal(rows, 1);
    lode_cost_free(cost);
    lode_database_close(db);
    leave_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_detail_has_all_contexts_and_profiles),
        cmocka_unit_test(a_filter_holds_for_details),
        cmocka_unit_test(a_selection_holds_for_details),
        cmocka_unit_test(by_line_a_function_has_the_costs_of_its_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
