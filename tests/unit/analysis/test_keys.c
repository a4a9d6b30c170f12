/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of contexts: different ones are never one row, whatever their packed numbers. */
#include "writing.h"

/* Costs of the contexts below, siblings under one entry point. */
enum {
    ENTRY_COST = 100,
    NAMELESS_COST = 50
};

struct program {
    uint32_t metric, module, other_module, file, functions[3], entry;
};

static uint32_t add_named(struct place *place, lode_writer *writer, const struct program *n, const char *name,
                          unsigned offset)
{
    lode_writer_function function = {name, n->module, n->file, 10 * (offset + 1), 0x1000 + offset};
    uint32_t number = 0;
    DONE(place, lode_writer_add_function(writer, &function, &number, &place->error));
    return number;
}

static void describe_program(struct place *place, lode_writer *writer, struct program *n)
{
    unsigned kind;
    uint32_t point, execution;
    DONE(place, lode_writer_add_id_kind(writer, "SUMMARY", &kind, &place->error));
    DONE(place, lode_writer_add_id_kind(writer, "THREAD", &kind, &place->error));
    point = add_scope(place, writer, "point", LODE_SCOPE_POINT);
    execution = add_scope(place, writer, "execution", LODE_SCOPE_EXECUTION);
    DONE(place, lode_writer_add_metric(writer, "CPUTIME (sec)", &n->metric, &place->error));
    add_instance(place, writer, n->metric, point);
    add_instance(place, writer, n->metric, execution);
    DONE(place,
         lode_writer_add_statistic(writer, n->metric, execution, "$$", LODE_COMBINE_SUM, &place->error));
    DONE(place, lode_writer_add_module(writer, "/bin/app", &n->module, &place->error));
    DONE(place, lode_writer_add_module(writer, "/lib/other.so", &n->other_module, &place->error));
    DONE(place, lode_writer_add_file(writer, "a.c", 0, NULL, &n->file, &place->error));
    n->functions[0] = add_named(place, writer, n, "aaa", 0);
    n->functions[1] = add_named(place, writer, n, "bbb", 1);
    n->functions[2] = add_named(place, writer, n, "ccc", 2);
    lode_writer_context entry = LODE_WRITER_CONTEXT_INIT;
    entry.entry = LODE_ENTRY_MAIN_THREAD;
    entry.entry_name = "main thread";
    DONE(place, lode_writer_add_context(writer, &entry, &n->entry, &place->error));
}

static uint32_t add_called(struct place *place, lode_writer *writer, uint32_t parent, uint32_t function,
                           uint32_t module, uint64_t offset)
{
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    uint32_t number = 0;
    context.parent = parent;
    context.lexical = function == LODE_NONE ? LODE_LEXICAL_INSTRUCTION : LODE_LEXICAL_FUNCTION;
    context.relation = LODE_RELATION_CALL;
    context.function = function;
    context.module = module;
    context.offset = offset;
    DONE(place, lode_writer_add_context(writer, &context, &number, &place->error));
    return number;
}

/* One profile with a point value at each of some contexts; opens what was written. */
static lode_cost *finish(struct place *place, lode_writer *writer, uint32_t metric, const uint32_t *contexts,
                         const double *values, size_t count, lode_database **db)
{
    lode_profile_builder *builder = NULL;
    lode_id id = {1, 0, 0, 0};
    lode_cost *cost = NULL;
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    DONE(place, lode_writer_seal(writer, &place->error));
    DONE(place, lode_profile_builder_create(&builder, writer, &place->error));
    DONE(place, lode_profile_builder_begin(builder, &id, 1, &place->error));
    for (size_t i = 0; i < count; i++)
        DONE(place, lode_profile_builder_point(builder, contexts[i], metric, values[i], &place->error));
    DONE(place, lode_profile_builder_end(builder, &place->error));
    DONE(place, lode_writer_append(writer, builder, &place->error));
    lode_profile_builder_free(builder);
    finish_writer(place, writer);
    DONE(place, lode_database_open(db, place->target, &place->error));
    DONE(place, lode_cost_compute(&cost, *db, &options, &place->error));
    return cost;
}

/* The cost of the row of this name in the tree; there must be one. */
static double row_cost(const lode_cost *cost, lode_view_mode mode, const char *name)
{
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    lode_view *view = NULL;
    lode_error error = {0};
    double found = -1;
    options.mode = mode;
    options.min_fraction = 0;
    assert_int_equal(lode_view_build(&view, cost, &options, &error), LODE_OK);
    for (size_t i = 0; i < lode_view_count(view); i++) {
        const lode_view_row *row = lode_view_at(view, i);
        char label[64];
        lode_context_label(row->context, label, sizeof label);
        if (strcmp(label, name) != 0 || (mode == LODE_VIEW_CALLERS && row->depth > 0))
            continue;
        assert_true(found < 0);
        found = row->inclusive;
    }
    lode_view_free(view);
    return found;
}

static void check_cost(const lode_cost *cost, const char *name, double top_down, double own)
{
    assert_float_equal(row_cost(cost, LODE_VIEW_TOP_DOWN, name), top_down, 0);
    assert_float_equal(row_cost(cost, LODE_VIEW_CALLERS, name), own, 0);
}

/* Offset 2 of module 0, function 2, and an entry point: their packed numbers were the same. */
static void test_code_without_a_name_an_entry_point_and_a_function_are_three_rows(void **state)
{
    struct place place;
    struct program n;
    uint32_t contexts[5];
    const double values[] = {1, 2, 3, NAMELESS_COST, ENTRY_COST};
    lode_database *db = NULL;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    describe_program(&place, writer, &n);
    for (int i = 0; i < 3; i++)
        contexts[i] = add_called(&place, writer, n.entry, n.functions[i], LODE_NONE, 0);
    contexts[3] = add_called(&place, writer, n.entry, LODE_NONE, n.module, 2);
    contexts[4] = n.entry;
    lode_cost *cost = finish(&place, writer, n.metric, contexts, values, 5, &db);
    check_cost(cost, "aaa", 1, 1);
    check_cost(cost, "bbb", 2, 2);
    check_cost(cost, "ccc", 3, 3);
    check_cost(cost, "app+0x2", NAMELESS_COST, NAMELESS_COST);
    check_cost(cost, "main thread", 6 + NAMELESS_COST + ENTRY_COST, ENTRY_COST);
    lode_cost_free(cost);
    lode_database_close(db);
    leave_place(&place);
}

/* Offsets whose low 40 bits are equal, and one offset in two modules. */
static void test_addresses_differ_by_module_and_by_all_bits_of_the_offset(void **state)
{
    static const char *const names[] = {"app+0x10", "app+0x10000000010", "app+0xfffffffffffffff0",
                                        "other.so+0x10", "other.so+0xffffffffffffffff"};
    struct place place;
    struct program n;
    uint32_t contexts[5];
    const double values[] = {1, 2, 4, 8, 16};
    lode_database *db = NULL;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    describe_program(&place, writer, &n);
    contexts[0] = add_called(&place, writer, n.entry, LODE_NONE, n.module, 0x10);
    contexts[1] = add_called(&place, writer, n.entry, LODE_NONE, n.module, UINT64_C(0x10000000010));
    contexts[2] = add_called(&place, writer, n.entry, LODE_NONE, n.module, UINT64_C(0xfffffffffffffff0));
    contexts[3] = add_called(&place, writer, n.entry, LODE_NONE, n.other_module, 0x10);
    contexts[4] = add_called(&place, writer, n.entry, LODE_NONE, n.other_module, UINT64_MAX);
    lode_cost *cost = finish(&place, writer, n.metric, contexts, values, 5, &db);
    for (int i = 0; i < 5; i++)
        check_cost(cost, names[i], values[i], values[i]);
    lode_cost_free(cost);
    lode_database_close(db);
    leave_place(&place);
}

/* Loops without a file are known by their address, which has a module. */
static void test_loops_at_one_offset_of_two_modules_are_two_rows(void **state)
{
    struct place place;
    struct program n;
    uint32_t contexts[2];
    const double values[] = {1, 2};
    lode_database *db = NULL;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    describe_program(&place, writer, &n);
    for (int i = 0; i < 2; i++) {
        lode_writer_context loop = LODE_WRITER_CONTEXT_INIT;
        loop.parent = n.entry;
        loop.lexical = LODE_LEXICAL_LOOP;
        loop.module = i ? n.other_module : n.module;
        loop.offset = 0x40;
        DONE(&place, lode_writer_add_context(writer, &loop, &contexts[i], &place.error));
    }
    lode_cost *cost = finish(&place, writer, n.metric, contexts, values, 2, &db);
    assert_float_equal(row_cost(cost, LODE_VIEW_TOP_DOWN, "loop at app+0x40"), 1, 0);
    assert_float_equal(row_cost(cost, LODE_VIEW_TOP_DOWN, "loop at other.so+0x40"), 2, 0);
    lode_cost_free(cost);
    lode_database_close(db);
    leave_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_without_a_name_an_entry_point_and_a_function_are_three_rows),
        cmocka_unit_test(test_addresses_differ_by_module_and_by_all_bits_of_the_offset),
        cmocka_unit_test(test_loops_at_one_offset_of_two_modules_are_two_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
