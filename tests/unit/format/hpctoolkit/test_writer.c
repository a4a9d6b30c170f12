/* SPDX-License-Identifier: BSD-3-Clause */
/* What the writer makes of hand-made data: every number here was derived by hand. */
#include "writer_tree.h"

/* ---- propagation ---- */

static const struct {
    uint32_t line;        /* or 0: */
    const char *function; /* or NULL: the global context */
    double values[SCOPES];
} propagated[] = {
    {11, NULL, {1, 1, 1, 1}},       {31, NULL, {4, 4, 4, 4}},
    {30, NULL, {0, 4, 4, 4}},       {21, NULL, {2, 2, 2, 2}},
    {20, NULL, {0, 6, 2, 6}}, /* 2 + 4; without the loop inside: 2 */
    {10, NULL, {0, 7, 1, 7}}, /* 1 + 6; without the loops inside: 1 */
    {50, NULL, {16, 16, 16, 16}},   {0, "work", {0, 16, 16, 16}},
    {60, NULL, {32, 32, 32, 32}},   {71, NULL, {128, 128, 128, 128}},
    {70, NULL, {0, 128, 128, 128}}, {0, "helper", {0, 160, 160, 160}}, /* 32 + 128 */
    {40, NULL, {8, 8, 8, 184}},    /* 8 + 16 + 160; calls and inlined functions keep theirs */
    {0, "main", {0, 15, 15, 191}}, /* 7 + 8; 7 + 184 */
    {80, NULL, {64, 64, 64, 64}},   {0, "start", {0, 64, 64, 64}},
    {0, NULL, {0, 0, 0, 255}},
};

static void point_values_propagate_to_all_scopes(void **state)
{
    struct place place;
    struct tree tree;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    describe_tree(&place, writer, &tree);
    DONE(&place, lode_writer_seal(writer, &place.error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    DONE(&place, begin_thread(&place, builder, 0));
    for (unsigned i = 0; i < 8; i++)
        DONE(&place, lode_profile_builder_point(builder, tree.lines[i], tree.metric, 1u << i, &place.error));
    append_builder(&place, writer, builder);
    lode_profile_builder_free(builder);
    finish_writer(&place, writer);

    check_target(&place, 1);
    lode_database *db = open_target(&place);
    for (size_t i = 0; i < sizeof propagated / sizeof *propagated; i++) {
        uint32_t id = propagated[i].line       ? id_at_line(db, propagated[i].line)
                      : propagated[i].function ? id_of_function(db, propagated[i].function)
                                               : 0;
        for (uint16_t scope = 0; scope < (uint16_t)SCOPES; scope++) {
            assert_true(value_of(db, 1, id, scope) == propagated[i].values[scope]);
            assert_true(value_in_cct(db, 1, id, scope) == propagated[i].values[scope]);
            assert_true(value_of(db, 0, id, scope) == propagated[i].values[scope]);
        }
    }
    lode_database_close(db);
    leave_place(&place);
}

/* The cost of a loop without its inner loops is exact despite rounded sums: here it is 0. */
static void loops_without_inner_loops_are_exact(void **state)
{
    struct place place;
    uint32_t file, lines[3];
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    add_kinds(&place, writer);
    uint32_t metric = add_time(&place, writer);
    DONE(&place, lode_writer_add_file(writer, "/src/a.c", 0, NULL, &file, &place.error));
    uint32_t thread = add_entry(&place, writer, LODE_ENTRY_MAIN_THREAD);
    uint32_t mainly =
        add_call(&place, writer, thread, LODE_RELATION_CALL, add_function(&place, writer, "main"));
    uint32_t outer = add_inside(&place, writer, mainly, LODE_LEXICAL_LOOP, file, 10);
    for (uint32_t i = 0; i < 3; i++)
        lines[i] =
            add_inside(&place, writer, add_inside(&place, writer, outer, LODE_LEXICAL_LOOP, file, 20 + i),
                       LODE_LEXICAL_LINE, file, 30 + i);
    DONE(&place, lode_writer_seal(writer, &place.error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    DONE(&place, begin_thread(&place, builder, 0));
    for (uint32_t i = 0; i < 3; i++)
        DONE(&place, lode_profile_builder_point(builder, lines[i], metric, 0.1 * (i + 1), &place.error));
    append_builder(&place, writer, builder);
    lode_profile_builder_free(builder);
    finish_writer(&place, writer);

    check_target(&place, 1);
    lode_database *db = open_target(&place);
    assert_true(value_of(db, 1, id_at_line(db, 10), FUNCTION) > 0.59);
    assert_true(value_of(db, 1, id_at_line(db, 10), LEX_AWARE) == 0.0);
    assert_true(value_of(db, 1, id_at_line(db, 21), LEX_AWARE) == 0.2);
    lode_database_close(db);
    leave_place(&place);
}

/* ---- statistics ---- */

enum {
    SUM,
    COUNT,
    SQUARES,
    MIN,
    MAX,
    STATISTICS
};

/* Of both scopes, point and execution, in this order: sum, count, squares, minimum, maximum. */
static const struct {
    uint32_t line; /* 0: the global context */
    double point[STATISTICS], execution[STATISTICS];
} statistics[] = {
    /* Profile 1 has 3; profile 2 has 5 and 7 below; profile 3 has 9 below only. */
    {10, {3 + 5, 3, 9 + 25, 3, 5}, {3 + 12 + 9, 3, 9 + 144 + 81, 3, 12}},
    {11, {7 + 9, 2, 49 + 81, 7, 9}, {7 + 9, 2, 49 + 81, 7, 9}},
    {12, {4, 1, 16, 4, 4}, {4, 1, 16, 4, 4}},
    /* 3 + 4, 12, 9. No profile has a value of its own here, but all three have the metric. */
    {0, {0, 3, 0, 0, 0}, {28, 3, 49 + 144 + 81, 7, 12}},
};

static void add_all_statistics(struct place *place, lode_writer *writer, uint32_t metric, uint32_t scope)
{
    static const struct {
        const char *formula;
        int combine;
    } kinds[STATISTICS] = {[SUM] = {"$$", LODE_COMBINE_SUM},
                           [COUNT] = {"1", LODE_COMBINE_SUM},
                           [SQUARES] = {"($$^2)", LODE_COMBINE_SUM},
                           [MIN] = {"$$", LODE_COMBINE_MIN},
                           [MAX] = {"$$", LODE_COMBINE_MAX}};
    for (unsigned i = 0; i < STATISTICS; i++)
        DONE(place, lode_writer_add_statistic(writer, metric, scope, kinds[i].formula, kinds[i].combine,
                                              &place->error));
}

static void statistics_are_computed(void **state)
{
    static const double points[3][3] = {{3, 0, 4}, {5, 7, 0}, {0, 9, 0}};
    struct place place;
    uint32_t metric, file, lines[3];
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    add_kinds(&place, writer);
    uint32_t point = add_scope(&place, writer, "point", LODE_SCOPE_POINT);
    uint32_t execution = add_scope(&place, writer, "execution", LODE_SCOPE_EXECUTION);
    DONE(&place, lode_writer_add_metric(writer, "cycles", &metric, &place.error));
    add_instance(&place, writer, metric, point);
    add_instance(&place, writer, metric, execution);
    add_all_statistics(&place, writer, metric, point);
    add_all_statistics(&place, writer, metric, execution);
    DONE(&place, lode_writer_add_file(writer, "/src/a.c", 0, NULL, &file, &place.error));
    uint32_t thread = add_entry(&place, writer, LODE_ENTRY_MAIN_THREAD);
    lines[0] = add_inside(&place, writer, thread, LODE_LEXICAL_LINE, file, 10);
    lines[1] = add_inside(&place, writer, lines[0], LODE_LEXICAL_LINE, file, 11);
    lines[2] = add_inside(&place, writer, thread, LODE_LEXICAL_LINE, file, 12);
    DONE(&place, lode_writer_seal(writer, &place.error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    for (uint32_t p = 0; p < 3; p++) {
        DONE(&place, begin_thread(&place, builder, p));
        for (unsigned i = 0; i < 3; i++)
            DONE(&place, lode_profile_builder_point(builder, lines[i], metric, points[p][i], &place.error));
        append_builder(&place, writer, builder);
    }
    lode_profile_builder_free(builder);
    finish_writer(&place, writer);

    check_target(&place, 1);
    lode_database *db = open_target(&place);
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        uint32_t id = statistics[i].line ? id_at_line(db, statistics[i].line) : 0;
        for (uint16_t k = 0; k < (uint16_t)STATISTICS; k++) {
            assert_true(value_of(db, 0, id, k) == statistics[i].point[k]);
            assert_true(value_of(db, 0, id, STATISTICS + k) == statistics[i].execution[k]);
        }
    }
    lode_database_close(db);
    leave_place(&place);
}

/* ---- order ---- */

static const lode_id tuples[][2] = {
    {{.kind = 0, .flags = LODE_ID_PHYSICAL, .logical = 1, .physical = 5}, {.kind = 1}},
    {{.kind = 1, .logical = 7, .physical = 7}},
    {{.kind = 0, .flags = LODE_ID_PHYSICAL, .logical = 0, .physical = 9},
     {.kind = 1, .logical = 2, .physical = 2}},
    {{.kind = 0, .flags = LODE_ID_PHYSICAL, .logical = 0, .physical = 9}},
    {{.kind = 0, .flags = LODE_ID_PHYSICAL, .logical = 0, .physical = 9},
     {.kind = 1, .logical = 1, .physical = 1}},
    {{.kind = 0, .flags = LODE_ID_PHYSICAL, .logical = 1, .physical = 4}, {.kind = 1}},
    {{.kind = 1, .logical = 7, .physical = 7}},
};
static const uint32_t lengths[] = {2, 1, 2, 1, 2, 2, 1};
/* Twins, 1 and 6, keep the order in which they were appended. */
static const unsigned sorted[] = {3, 4, 2, 5, 0, 1, 6};

/* Profile p + 1 of the database is the one that was appended as number `from`. */
static void check_profile(const lode_database *db, uint32_t p, unsigned from)
{
    lode_id ids[2];
    uint32_t count;
    lode_trace_line line;
    lode_sample sample;
    assert_int_equal(lode_profile_ids(db, p + 1, ids, 2, &count, NULL), LODE_OK);
    assert_int_equal(count, lengths[from]);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(ids[i].kind, tuples[from][i].kind);
        assert_int_equal(ids[i].flags, tuples[from][i].flags);
        assert_int_equal(ids[i].logical, tuples[from][i].logical);
        assert_int_equal(ids[i].physical, tuples[from][i].physical);
    }
    assert_true(value_of(db, p + 1, 1, POINT) == from + 1.0);
    assert_int_equal(lode_database_trace_line(db, p, &line, NULL), LODE_OK);
    assert_int_equal(line.profile, p + 1);
    assert_int_equal(lode_trace_line_sample(&line, 0, &sample), LODE_OK);
    assert_int_equal(sample.time, 1000 + from);
}

static void profiles_are_sorted_by_id_tuple(void **state)
{
    struct place place;
    (void)state;
    enter_place(&place);
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    options.traces = 1;
    lode_writer *writer = begin_writer(&place, &options);
    add_kinds(&place, writer);
    uint32_t metric = add_time(&place, writer);
    add_entry(&place, writer, LODE_ENTRY_MAIN_THREAD);
    DONE(&place, lode_writer_seal(writer, &place.error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    for (unsigned p = 0; p < 7; p++) {
        DONE(&place, lode_profile_builder_begin(builder, tuples[p], lengths[p], &place.error));
        DONE(&place, lode_profile_builder_point(builder, 0, metric, p + 1.0, &place.error));
        DONE(&place, lode_profile_builder_sample(builder, 1000 + p, 0, &place.error));
        append_builder(&place, writer, builder);
    }
    lode_profile_builder_free(builder);
    finish_writer(&place, writer);

    check_target(&place, 0);
    lode_database *db = open_target(&place);
    assert_int_equal(lode_database_profile_count(db), 8);
    assert_int_equal(lode_database_trace_count(db), 7);
    for (uint32_t p = 0; p < 7; p++)
        check_profile(db, p, sorted[p]);
    lode_database_close(db);
    leave_place(&place);
}

/* The same things, described and filled in another order: by steps, around and around. */
enum {
    THINGS = 12
};

static void write_in_order(struct place *place, unsigned step)
{
    uint32_t modules[THINGS], files[THINGS], functions[THINGS], contexts[THINGS];
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    options.title = "order";
    lode_writer *writer = begin_writer(place, &options);
    char name[32];
    add_kinds(place, writer);
    add_time(place, writer);
    for (unsigned k = 0, i = 0; k < THINGS; k++, i = (i + step) % THINGS) {
        snprintf(name, sizeof name, "/lib/%02u.so", i);
        DONE(place, lode_writer_add_module(writer, name, &modules[i], &place->error));
        snprintf(name, sizeof name, "/src/%02u.c", i);
        DONE(place, lode_writer_add_file(writer, name, i == 0, NULL, &files[i], &place->error));
    }
    for (unsigned k = 0, i = 0; k < THINGS; k++, i = (i + step) % THINGS) {
        /* Two of each name, distinguished by their modules. */
        snprintf(name, sizeof name, "function%u", i / 2);
        const lode_writer_function function = {name, modules[i], files[THINGS - 1 - i], i, 64 * i};
        DONE(place, lode_writer_add_function(writer, &function, &functions[i], &place->error));
    }
    uint32_t threads[] = {LODE_NONE, LODE_NONE};
    for (unsigned i = 0; i < 2; i++)
        threads[(i + step / 2) % 2] = add_entry(place, writer, (int)((i + step / 2) % 2));
    for (unsigned k = 0, i = 0; k < THINGS; k++, i = (i + step) % THINGS)
        contexts[i] = add_call(place, writer, threads[i % 2], LODE_RELATION_CALL, functions[i]);
    DONE(place, lode_writer_seal(writer, &place->error));
    lode_profile_builder *builder = begin_builder(place, writer);
    DONE(place, begin_thread(place, builder, 0));
    for (unsigned k = 0, i = 0; k < THINGS; k++, i = (i + step) % THINGS) {
        DONE(place, lode_profile_builder_value(builder, contexts[i], EXECUTION, i + 1.0, &place->error));
        DONE(place, lode_profile_builder_value(builder, contexts[i], POINT, i + 1.0, &place->error));
        DONE(place, lode_profile_builder_value(builder, contexts[i], FUNCTION, i + 1.0, &place->error));
    }
    DONE(place, lode_profile_builder_value(builder, threads[0], EXECUTION, 36, &place->error));
    DONE(place, lode_profile_builder_value(builder, LODE_NONE, EXECUTION, 78, &place->error));
    DONE(place, lode_profile_builder_value(builder, threads[1], EXECUTION, 42, &place->error));
    append_builder(place, writer, builder);
    lode_profile_builder_free(builder);
    finish_writer(place, writer);
}

static void bytes_do_not_depend_on_the_order_of_description(void **state)
{
    static const char *const names[] = {"meta.db", "profile.db", "cct.db", "metrics/default.yaml"};
    struct place first, other;
    (void)state;
    enter_place(&first);
    write_in_order(&first, 1);
    check_target(&first, 1);
    lode_database *db = open_target(&first);
    /* Depth-first, siblings by function: an entry point, then its six calls. */
    for (uint32_t i = 0; i < 2 + THINGS; i++)
        assert_int_equal(lode_context_id(lode_database_context_at(db, i + 1)), i + 1);
    assert_string_equal(
        lode_function_name(lode_context_function(lode_database_context_at(db, 2 + THINGS / 2 + 1))),
        "function0");
    assert_string_equal(lode_module_path(lode_database_module(db, 3)), "/lib/03.so");
    lode_database_close(db);
    for (unsigned step = 5; step <= 11; step += 2) {
        if (step == 9)
            continue;
        enter_place(&other);
        write_in_order(&other, step);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            size_t left = 0, right = 0;
            char *a = get_file(first.target, names[i], &left), *b = get_file(other.target, names[i], &right);
            assert_non_null(a);
            assert_non_null(b);
            assert_int_equal(left, right);
            assert_memory_equal(a, b, left);
            free(a);
            free(b);
        }
        leave_place(&other);
    }
    leave_place(&first);
}

/* entry point, main, line 10, and below it two contexts that are not listed, with 1 and 2. */
static void unlisted_contexts_come_last(void **state)
{
    struct place place;
    uint32_t unlisted[2], file;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    lode_error *error = &place.error;
    DONE(&place, lode_writer_add_unlisted(writer, &unlisted[0], error));
    add_kinds(&place, writer);
    uint32_t metric = add_time(&place, writer);
    DONE(&place, lode_writer_add_file(writer, "/src/a.c", 0, NULL, &file, error));
    uint32_t thread = add_entry(&place, writer, LODE_ENTRY_MAIN_THREAD);
    uint32_t mainly =
        add_call(&place, writer, thread, LODE_RELATION_CALL, add_function(&place, writer, "main"));
    uint32_t line = add_inside(&place, writer, mainly, LODE_LEXICAL_LINE, file, 10);
    DONE(&place, lode_writer_add_unlisted(writer, &unlisted[1], error));
    DONE(&place, lode_writer_seal(writer, error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    DONE(&place, begin_thread(&place, builder, 0));
    /* What they are below is not known, so that their values cannot be propagated. */
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_point(builder, unlisted[0], metric, 1.0, error));
    for (uint16_t id = POINT; id <= (uint16_t)EXECUTION; id++) {
        DONE(&place, lode_profile_builder_value(builder, unlisted[1], id, 2.0, error));
        DONE(&place, lode_profile_builder_value(builder, unlisted[0], id, 1.0, error));
        DONE(&place, lode_profile_builder_value(builder, line, id, id == POINT ? 0.0 : 3.0, error));
        DONE(&place, lode_profile_builder_value(builder, mainly, id, id == POINT ? 0.0 : 3.0, error));
    }
    DONE(&place, lode_profile_builder_value(builder, thread, EXECUTION, 3.0, error));
    DONE(&place, lode_profile_builder_value(builder, LODE_NONE, EXECUTION, 3.0, error));
    append_builder(&place, writer, builder);
    lode_profile_builder_free(builder);
    finish_writer(&place, writer);

    check_target(&place, 2);
    lode_database *db = open_target(&place);
    assert_int_equal(lode_database_context_count(db), 4);
    assert_int_equal(lode_database_context_block_count(db), 6);
    assert_null(lode_database_context(db, 4));
    assert_true(value_of(db, 1, 4, POINT) == 1.0);
    assert_true(value_in_cct(db, 1, 5, EXECUTION) == 2.0);
    assert_true(value_of(db, 0, 5, POINT) == 2.0);
    lode_database_close(db);
    leave_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(point_values_propagate_to_all_scopes),
        cmocka_unit_test(loops_without_inner_loops_are_exact),
        cmocka_unit_test(statistics_are_computed),
        cmocka_unit_test(profiles_are_sorted_by_id_tuple),
        cmocka_unit_test(bytes_do_not_depend_on_the_order_of_description),
        cmocka_unit_test(unlisted_contexts_come_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
