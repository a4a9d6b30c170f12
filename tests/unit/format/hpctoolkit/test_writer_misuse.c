/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer when it is used wrongly or given too much: it says so, and leaves nothing. */
#include "writing.h"

/* ---- descriptions ---- */

static void wrong_numbers_are_refused(void **state)
{
    struct place place;
    uint32_t number;
    uint16_t id;
    (void)state;
    enter_place(&place);
    lode_writer *writer = describe(&place, 0);
    lode_error *error = &place.error;
    REFUSED(&place, LODE_ERR_ARGUMENT,
            lode_writer_add_scope(writer, "s", LODE_SCOPE_TRANSITIVE, 16, &number, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_add_scope(writer, "s", 256, 0, &number, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_add_metric_scope(writer, 1, 0, &id, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_add_metric_scope(writer, 0, 1, &id, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_add_statistic(writer, 1, 0, "$$", 0, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_add_statistic(writer, 0, 1, "$$", 0, error));
    const lode_writer_function functions[] = {{"f", 1, LODE_NONE, 0, 0}, {"f", LODE_NONE, 1, 0, 0}};
    for (size_t i = 0; i < 2; i++)
        REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_add_function(writer, &functions[i], &number, error));
    for (unsigned i = 0; i < 9; i++) {
        lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
        context.parent = i == 8 ? LODE_NONE : 0;
        uint32_t *const handles[] = {&context.parent, &context.function, &context.file, &context.module};
        int *const numbers[] = {&context.lexical, &context.relation, NULL, &context.entry};
        if (i < 4)
            *handles[i] = 2;
        else if (i < 6)
            *numbers[i - 4] = i == 4 ? 256 : -1;
        else if (i < 8)
            context.propagation = 0x10000u << (i - 6);
        else
            context.entry = 0x10000;
        REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_add_context(writer, &context, &number, error));
    }
    DONE(&place, lode_writer_add_unlisted(writer, &number, error));
    lode_writer_context below = LODE_WRITER_CONTEXT_INIT;
    below.parent = number;
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_add_context(writer, &below, &number, error));
    give_up(&place, writer);
}

static void duplicates_are_refused(void **state)
{
    struct place place;
    uint16_t id;
    (void)state;
    enter_place(&place);
    lode_writer *writer = describe(&place, 0);
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_add_metric_scope(writer, 0, 0, &id, &place.error));
    REFUSED(&place, LODE_ERR_ARGUMENT,
            lode_writer_add_statistic(writer, 0, 0, "$$", LODE_COMBINE_SUM, &place.error));
    DONE(&place, lode_writer_add_statistic(writer, 0, 0, "$$", LODE_COMBINE_MAX, &place.error));
    DONE(&place, lode_writer_seal(writer, &place.error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    /* Adjacent, separate, and as a value beside a point value. */
    for (unsigned i = 0; i < 3; i++) {
        DONE(&place, begin_thread(&place, builder, 0));
        DONE(&place, lode_profile_builder_value(builder, 1, 0, 1.0, &place.error));
        if (i == 1)
            DONE(&place, lode_profile_builder_value(builder, 0, 0, 1.0, &place.error));
        if (i == 2)
            DONE(&place, lode_profile_builder_point(builder, 1, 0, 1.0, &place.error));
        else
            DONE(&place, lode_profile_builder_value(builder, 1, 0, 1.0, &place.error));
        REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_end(builder, &place.error));
        REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_append(writer, builder, &place.error));
    }
    lode_profile_builder_free(builder);
    give_up(&place, writer);
}

static void unknown_formulas_are_refused(void **state)
{
    static const char *const formulas[] = {"", "$$+1", "2", "($$^3)", "sum"};
    struct place place;
    (void)state;
    enter_place(&place);
    lode_writer *writer = describe(&place, 0);
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        REFUSED(&place, LODE_ERR_UNSUPPORTED,
                lode_writer_add_statistic(writer, 0, 0, formulas[i], LODE_COMBINE_SUM, &place.error));
    REFUSED(&place, LODE_ERR_UNSUPPORTED, lode_writer_add_statistic(writer, 0, 0, "$$", 3, &place.error));
    REFUSED(&place, LODE_ERR_UNSUPPORTED, lode_writer_add_statistic(writer, 0, 0, "$$", -1, &place.error));
    give_up(&place, writer);
}

/* The rule of custom scopes other than "lex_aware" is unknown: point values do not propagate. */
static void point_values_need_known_scopes(void **state)
{
    struct place place;
    (void)state;
    enter_place(&place);
    lode_writer *writer = describe(&place, 0);
    add_instance(&place, writer, 0, add_scope(&place, writer, "my own", LODE_SCOPE_CUSTOM));
    DONE(&place, lode_writer_seal(writer, &place.error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    DONE(&place, begin_thread(&place, builder, 0));
    REFUSED(&place, LODE_ERR_UNSUPPORTED, lode_profile_builder_point(builder, 1, 0, 1.0, &place.error));
    DONE(&place, lode_profile_builder_value(builder, 1, 1, 1.0, &place.error));
    lode_profile_builder_free(builder);
    give_up(&place, writer);
}

/* ---- profiles ---- */

static void wrong_profiles_are_refused(void **state)
{
    const lode_id unknown = {.kind = 2};
    struct place place;
    uint32_t unlisted;
    (void)state;
    enter_place(&place);
    lode_writer *writer = describe(&place, 1);
    lode_error *error = &place.error;
    DONE(&place, lode_writer_add_unlisted(writer, &unlisted, error));
    DONE(&place, lode_writer_seal(writer, error));
    lode_profile_builder *builder = begin_builder(&place, writer);
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_begin(builder, NULL, 0, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_begin(builder, &unknown, 1, error));
    lode_id *many = calloc(UINT16_MAX + 1, sizeof *many);
    REFUSED(&place, LODE_ERR_LIMIT, lode_profile_builder_begin(builder, many, UINT16_MAX + 1, error));
    free(many);
    DONE(&place, begin_thread(&place, builder, 0));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_value(builder, 3, 0, 1.0, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_value(builder, 1, 1, 1.0, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_point(builder, 3, 0, 1.0, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_point(builder, 1, 1, 1.0, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_sample(builder, 5, 3, error));
    DONE(&place, lode_profile_builder_sample(builder, 5, 1, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_sample(builder, 4, 1, error));
    /* Viewers look up samples in the tree. */
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_sample(builder, 6, unlisted, error));
    DONE(&place, lode_profile_builder_sample(builder, 5, LODE_NONE, error));
    append_builder(&place, writer, builder);
    lode_profile_builder_free(builder);
    finish_writer(&place, writer);
    /* What was refused left no trace. */
    check_target(&place, 0);
    leave_place(&place);
}

/* ---- phases ---- */

static void nothing_is_described_after_the_seal(struct place *place, lode_writer *writer)
{
    const lode_writer_function function = {"f", LODE_NONE, LODE_NONE, 0, 0};
    const lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    lode_error *error = &place->error;
    unsigned kind;
    uint32_t number;
    uint16_t id;
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_add_id_kind(writer, "k", &kind, error));
    REFUSED(place, LODE_ERR_ARGUMENT,
            lode_writer_add_scope(writer, "s", LODE_SCOPE_POINT, 0, &number, error));
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_add_metric(writer, "m", &number, error));
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_add_metric_scope(writer, 0, 0, &id, error));
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_add_statistic(writer, 0, 0, "1", 0, error));
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_add_module(writer, "m", &number, error));
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_add_file(writer, "f", 0, NULL, &number, error));
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_add_function(writer, &function, &number, error));
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_add_context(writer, &context, &number, error));
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_add_unlisted(writer, &number, error));
    REFUSED(place, LODE_ERR_ARGUMENT, lode_writer_seal(writer, error));
}

static void calls_in_the_wrong_phase_are_refused(void **state)
{
    struct place place, elsewhere;
    lode_profile_builder *builder = NULL, *foreign;
    (void)state;
    enter_place(&place);
    enter_place(&elsewhere);
    lode_error *error = &place.error;
    lode_writer *writer = describe(&place, 0), *other = describe(&elsewhere, 0);
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_create(&builder, writer, error));
    assert_null(builder);
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_finish(writer, error));
    DONE(&place, lode_writer_seal(writer, error));
    DONE(&elsewhere, lode_writer_seal(other, &elsewhere.error));
    nothing_is_described_after_the_seal(&place, writer);

    builder = begin_builder(&place, writer);
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_value(builder, 1, 0, 1.0, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_point(builder, 1, 0, 1.0, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_sample(builder, 1, 1, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_end(builder, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_append(writer, builder, error));
    DONE(&place, begin_thread(&place, builder, 0));
    DONE(&place, lode_profile_builder_value(builder, 1, 0, 1.0, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_append(writer, builder, error));
    DONE(&place, lode_profile_builder_end(builder, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_end(builder, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_value(builder, 0, 0, 1.0, error));
    foreign = begin_builder(&elsewhere, other);
    DONE(&elsewhere, begin_thread(&elsewhere, foreign, 0));
    DONE(&elsewhere, lode_profile_builder_end(foreign, &elsewhere.error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_append(writer, foreign, error));
    DONE(&place, lode_writer_append(writer, builder, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_append(writer, builder, error));
    lode_profile_builder_free(foreign);
    give_up(&elsewhere, other);

    DONE(&place, lode_writer_finish(writer, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_finish(writer, error));
    DONE(&place, begin_thread(&place, builder, 1));
    DONE(&place, lode_profile_builder_end(builder, error));
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_append(writer, builder, error));
    lode_profile_builder_free(builder);
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_profile_builder_create(&builder, writer, error));
    lode_writer_close(writer);
    check_target(&place, 1);
    lode_database *db = open_target(&place);
    assert_int_equal(lode_database_profile_count(db), 2);
    assert_true(value_of(db, 1, 2, 0) == 1.0);
    lode_database_close(db);
    leave_place(&place);
}

static void null_may_be_closed(void **state)
{
    (void)state;
    lode_writer_close(NULL);
    lode_profile_builder_free(NULL);
}

/* ---- sizes ---- */

/* hpcviewer reads these numbers as signed, so the limit is half of the format's range. */
static void limits_are_found_early(void **state)
{
    struct place place;
    lode_status status = LODE_OK;
    unsigned kinds = 0, entries = 0;
    uint32_t ids = 0, metric;
    uint16_t id;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    for (; status == LODE_OK && kinds <= UINT8_MAX + 1; kinds += status == LODE_OK)
        status = lode_writer_add_id_kind(writer, "KIND", NULL, &place.error);
    assert_int_equal(status, LODE_ERR_LIMIT);
    assert_int_equal(kinds, INT8_MAX);
    assert_non_null(strstr(place.error.text, "127 kinds of ids"));
    uint32_t scopes[4] = {0};
    for (unsigned i = 0; i < 4; i++)
        scopes[i] = add_scope(&place, writer, "scope", LODE_SCOPE_POINT);
    for (status = LODE_OK; status == LODE_OK && ids <= UINT16_MAX + 1; ids += status == LODE_OK) {
        if (ids % 4 == 0)
            status = lode_writer_add_metric(writer, "metric", &metric, &place.error);
        if (status == LODE_OK)
            status = lode_writer_add_metric_scope(writer, metric, scopes[ids % 4], &id, &place.error);
    }
    assert_int_equal(status, LODE_ERR_LIMIT);
    assert_int_equal(ids, INT16_MAX + 1);
    for (status = LODE_OK; status == LODE_OK && entries <= UINT16_MAX + 1; entries += status == LODE_OK) {
        lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
        uint32_t handle;
        status = lode_writer_add_context(writer, &context, &handle, &place.error);
    }
    assert_true(status == LODE_OK || entries == INT16_MAX);
    if (status == LODE_OK)
        status = lode_writer_seal(writer, &place.error);
    assert_int_equal(status, LODE_ERR_LIMIT);
    give_up(&place, writer);
}

static void too_many_statistics_are_refused(void **state)
{
    static const char *const formulas[] = {"$$", "1", "($$^2)"};
    struct place place;
    lode_status status = LODE_OK;
    uint32_t count = 0, metric = 0;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    uint32_t scope = add_scope(&place, writer, "point", LODE_SCOPE_POINT);
    for (; status == LODE_OK && count <= UINT16_MAX + 1; count += status == LODE_OK) {
        if (count % 9 == 0) {
            DONE(&place, lode_writer_add_metric(writer, "metric", &metric, &place.error));
            add_instance(&place, writer, metric, scope);
        }
        status = lode_writer_add_statistic(writer, metric, scope, formulas[count % 3], (int)(count / 3 % 3),
                                           &place.error);
    }
    assert_int_equal(status, LODE_ERR_LIMIT);
    assert_int_equal(count, INT16_MAX + 1);
    give_up(&place, writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(duplicates_are_refused),
        cmocka_unit_test(unknown_formulas_are_refused),
        cmocka_unit_test(point_values_need_known_scopes),
        cmocka_unit_test(wrong_profiles_are_refused),
        cmocka_unit_test(calls_in_the_wrong_phase_are_refused),
        cmocka_unit_test(null_may_be_closed),
        cmocka_unit_test(limits_are_found_early),
        cmocka_unit_test(too_many_statistics_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
