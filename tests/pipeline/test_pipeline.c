/* SPDX-License-Identifier: BSD-3-Clause */
/* A source that is one file, sinks that are one file each, and the pump between them. */
#include "format/format.h"
#include "pipeline.h"
#include "transform/database_source.h"
#include "transform/pump.h"
#include "writing.h"
#include <lode/check.h>

/* main calls work and idle; work calls itself. */
#define HEAD                                                                                                 \
    "{\"metrics\": [\"time (sec)\", \"calls\"],"                                                             \
    " \"contexts\": [[-1, \"main thread\"], [0, \"main\"], [1, \"work\"], [1, \"idle\"], [2, \"work\"]],"
#define RANK_0 "{\"rank\": 0, \"points\": [[3, 0, 8], [1, 1, 1]], \"samples\": []}"
#define RANK_1                                                                                               \
    "{\"rank\": 1, \"points\": [[1, 0, 0.5], [2, 0, 2], [2, 1, 3], [4, 0, 1.25], [4, 1, 4]],"                \
    " \"samples\": [[1000, 1], [1010, 2], [1020, 4], [1030, -1]]}"
static const char sorted_text[] = HEAD "\"profiles\": [" RANK_0 ", " RANK_1 "]}";
/* Profiles are put into the order of their ids, but not by a sink that writes them in place. */
static const char text[] = HEAD "\"profiles\": [" RANK_1 ", " RANK_0 "]}";

static const struct lode_sink_ops *database_sink(void)
{
    return lode_target_of_databases(NULL)->sink;
}

static lode_status move(struct lode_profile_source *source, const struct lode_sink_ops *to, const char *path,
                        unsigned threads, lode_error *error)
{
    struct lode_pump pump = {.source = source,
                             .to = to,
                             .path = path,
                             .options = {.force = true, .traces = true, .threads = threads}};
    return lode_pump(&pump, error);
}

/* A new source for each run: what is open stays with it. */
static void write_database(struct place *place, const char *path, unsigned threads, bool placed)
{
    struct lode_profile_source *source = json_source_open(placed ? sorted_text : text);
    assert_non_null(source);
    source->placed = placed;
    DONE(place, move(source, database_sink(), path, threads, &place->error));
    json_source_close(source);
}

static void a_text_that_is_no_json_is_no_source(void **state)
{
    (void)state;
    assert_null(json_source_open(""));
    assert_null(json_source_open("{\"metrics\": [1 2]}"));
    assert_null(json_source_open("[[[[[[[[[[[[[[[[[[[[[[[[[[]"));
}

static double function_value(const lode_database *db, uint32_t profile, const char *function, uint16_t id)
{
    lode_block block;
    double value = 0.0;
    assert_int_equal(lode_profile_block(db, profile, &block, NULL), LODE_OK);
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        const lode_function *named = lode_context_function(context);
        const char *name = named ? lode_function_name(named) : NULL;
        double found = 0.0;
        if (name && strcmp(name, function) == 0 &&
            lode_block_lookup(&block, lode_context_id(context), id, &found, NULL) == LODE_OK)
            value += found;
    }
    return value;
}

/* Rank 0 is profile 1. Value ids: time point 0 and execution 1, calls 2 and 3. */
static void a_json_text_becomes_a_database_with_its_numbers(void **state)
{
    struct place place;
    lode_database *db = NULL;
    lode_trace_line line;
    (void)state;
    enter_place(&place);
    write_database(&place, place.target, 2, false);
    DONE(&place, lode_database_open(&db, place.target, &place.error));
    assert_string_equal(lode_database_title(db), "from JSON");
    assert_int_equal(lode_database_context_count(db), 6);
    assert_int_equal(lode_database_profile_count(db), 3);
    assert_true(function_value(db, 1, "idle", 0) == 8.0);
    assert_true(function_value(db, 1, "main", 1) == 8.0);
    assert_true(function_value(db, 1, "work", 0) == 0.0);
    assert_true(function_value(db, 2, "main", 0) == 0.5);
    assert_true(function_value(db, 2, "main", 1) == 3.75);
    assert_true(function_value(db, 2, "work", 0) == 3.25);
    assert_true(function_value(db, 2, "work", 3) == 7.0 + 4.0);
    /* The summary adds both up: statistics have the order of the values. */
    assert_true(function_value(db, 0, "main", 1) == 11.75);
    assert_int_equal(lode_database_trace_count(db), 2);
    assert_int_equal(lode_database_trace_line(db, 1, &line, NULL), LODE_OK);
    assert_int_equal(line.profile, 2);
    assert_int_equal(line.sample_count, 4);
    lode_database_close(db);
    leave_place(&place);
}

static void such_a_database_is_clean_at_level_full(void **state)
{
    struct place place;
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    (void)state;
    enter_place(&place);
    write_database(&place, place.target, 1, false);
    options.level = LODE_CHECK_FULL;
    DONE(&place, lode_check(place.target, &options, &result, &place.error));
    assert_int_equal(result.errors, 0);
    assert_int_equal(result.warnings, 0);
    leave_place(&place);
}

static void assert_same(const char *left, const char *right)
{
    static const char *const names[] = {"meta.db", "profile.db", "cct.db", "trace.db",
                                        "metrics/default.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t sizes[2];
        char *a = get_file(left, names[i], &sizes[0]), *b = get_file(right, names[i], &sizes[1]);
        assert_non_null(a);
        assert_non_null(b);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(a, b, sizes[0]);
        free(a);
        free(b);
    }
}

static void bytes_do_not_depend_on_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 7};
    struct place place;
    (void)state;
    enter_place(&place);
    char *other = name_in(place.folder, "other"), *in_place = name_in(place.folder, "in-place");
    write_database(&place, place.target, 1, false);
    write_database(&place, in_place, 1, true);
    for (size_t i = 0; i < 6; i++) {
        write_database(&place, other, threads[i / 2], i % 2);
        assert_same(i % 2 ? in_place : place.target, other);
    }
    free(other);
    free(in_place);
    leave_place(&place);
}

/* The same profiles, written in order and in place, are byte-identical. */
static void bytes_do_not_depend_on_the_way_of_writing(void **state)
{
    struct place place;
    struct lode_profile_source *source = json_source_open(sorted_text);
    (void)state;
    enter_place(&place);
    assert_non_null(source);
    char *in_place = name_in(place.folder, "in-place");
    DONE(&place, move(source, database_sink(), place.target, 2, &place.error));
    json_source_close(source);
    write_database(&place, in_place, 2, true);
    assert_same(place.target, in_place);
    free(in_place);
    leave_place(&place);
}

static void profiles_out_of_order_are_not_written_in_place(void **state)
{
    struct place place;
    struct lode_profile_source *source = json_source_open(text);
    (void)state;
    enter_place(&place);
    assert_non_null(source);
    source->placed = true;
    assert_int_equal(move(source, database_sink(), place.target, 2, &place.error), LODE_ERR_ARGUMENT);
    json_source_close(source);
    assert_int_equal(count_entries(place.folder), 0);
    leave_place(&place);
}

static void a_counts_sink_sees_what_the_source_has(void **state)
{
    struct place place;
    struct lode_profile_source *source = json_source_open(text);
    (void)state;
    enter_place(&place);
    assert_non_null(source);
    DONE(&place, move(source, &counts_sink, place.target, 2, &place.error));
    json_source_close(source);
    assert_int_equal(counted.metrics, 2);
    assert_int_equal(counted.functions, 4);
    assert_int_equal(counted.contexts, 6);
    assert_int_equal(counted.profiles, 2);
    assert_int_equal(counted.samples, 4);
    /* By hand: rank 1: 5 points, and 2 metrics at 5 contexts with ancestors; rank 0: 2, 4 + 3. */
    assert_int_equal(counted.values, 5 + 10 + 2 + 7);
    assert_int_equal(count_entries(place.folder), 0);
    leave_place(&place);
}

static void a_database_and_its_json_text_count_the_same(void **state)
{
    struct place place;
    lode_database *db = NULL;
    lode_convert_options options = LODE_CONVERT_OPTIONS_INIT;
    struct lode_database_source source;
    struct lode_profile_source *json = json_source_open(text);
    (void)state;
    enter_place(&place);
    assert_non_null(json);
    DONE(&place, move(json, &counts_sink, place.target, 1, &place.error));
    struct sink_totals expected = counted;
    json_source_close(json);
    write_database(&place, place.target, 1, false);
    DONE(&place, lode_database_open(&db, place.target, &place.error));
    DONE(&place, lode_database_source_open(&source, db, &options, NULL, &place.error));
    DONE(&place, move(&source.base, &counts_sink, "", 3, &place.error));
    lode_database_source_close(&source);
    lode_database_close(db);
    assert_int_equal(counted.functions, expected.functions);
    assert_int_equal(counted.contexts, expected.contexts);
    assert_int_equal(counted.values, expected.values);
    assert_int_equal(counted.samples, expected.samples);
    assert_true(counted.sum == expected.sum);
    leave_place(&place);
}

static void a_null_sink_takes_everything_and_leaves_nothing(void **state)
{
    struct place place;
    struct lode_profile_source *source = json_source_open(text);
    (void)state;
    enter_place(&place);
    assert_non_null(source);
    DONE(&place, move(source, &null_sink, place.target, 7, &place.error));
    json_source_close(source);
    assert_int_equal(count_entries(place.folder), 0);
    leave_place(&place);
}

/* ---- failures: at each step, and nothing is left ---- */

static lode_status broken(lode_error *error)
{
    return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "broken");
}

static lode_status fail_create(struct lode_sink *self, lode_error *error)
{
    LODE_TRY(database_sink()->create(self, error));
    return broken(error);
}

static lode_status fail_sink(struct lode_sink *self, lode_error *error)
{
    (void)self;
    return broken(error);
}

static lode_status fail_prepare(struct lode_sink *self, void **scratch, const lode_block *block,
                                lode_error *error)
{
    (void)self;
    (void)scratch;
    (void)block;
    return broken(error);
}

static lode_status fail_append(struct lode_sink *self, void *scratch, const struct lode_id_tuple *ids,
                               const lode_block *block, lode_error *error)
{
    (void)self;
    (void)scratch;
    (void)ids;
    (void)block;
    return broken(error);
}

static lode_status fail_samples(struct lode_sink *self, uint32_t line, const lode_trace_line *samples,
                                lode_error *error)
{
    (void)self;
    (void)line;
    (void)samples;
    return broken(error);
}

static lode_status fail_measure(struct lode_sink *self, uint32_t index, const lode_block *block,
                                uint64_t samples, lode_error *error)
{
    (void)self;
    (void)index;
    (void)block;
    (void)samples;
    return broken(error);
}

static lode_status fail_write_values(struct lode_sink *self, uint32_t index, const lode_block *block,
                                     lode_error *error)
{
    return fail_measure(self, index, block, 0, error);
}

static lode_status fail_write_samples(struct lode_sink *self, uint32_t index, uint64_t first,
                                      const lode_trace_line *samples, lode_error *error)
{
    (void)first;
    return fail_samples(self, index, samples, error);
}

static void assert_leaves_nothing(struct lode_profile_source *source, const struct lode_sink_ops *to)
{
    struct place place;
    enter_place(&place);
    assert_int_equal(move(source, to, place.target, 2, &place.error), LODE_ERR_IO);
    assert_string_equal(place.error.text, "broken");
    assert_int_equal(count_entries(place.folder), 0);
    leave_place(&place);
}

static void a_sink_that_fails_at_any_step_leaves_nothing(void **state)
{
    struct lode_sink_ops ops[10];
    (void)state;
    for (size_t i = 0; i < 10; i++)
        ops[i] = *database_sink();
    ops[0].create = fail_create;
    ops[1].seal = fail_sink;
    ops[2].prepare = fail_prepare;
    ops[3].append = fail_append;
    ops[4].append_samples = fail_samples;
    ops[5].finish = fail_sink;
    ops[6].measure = fail_measure;
    ops[7].place = fail_sink;
    ops[8].write_values = fail_write_values;
    ops[9].write_samples = fail_write_samples;
    for (size_t i = 0; i < 10; i++) {
        struct lode_profile_source *source = json_source_open(sorted_text);
        assert_non_null(source);
        source->placed = i >= 6;
        assert_leaves_nothing(source, &ops[i]);
        json_source_close(source);
    }
}

static lode_status fail_describe(struct lode_profile_source *self, struct lode_description *out,
                                 bool keeps_ids, int scratch, lode_error *error)
{
    (void)self;
    (void)out;
    (void)keeps_ids;
    (void)scratch;
    return broken(error);
}

static lode_status fail_number(struct lode_profile_source *self, const struct lode_description *sealed,
                               lode_error *error)
{
    (void)self;
    (void)sealed;
    return broken(error);
}

static lode_status fail_slots(struct lode_profile_source *self, unsigned count, lode_error *error)
{
    (void)self;
    (void)count;
    return broken(error);
}

static lode_status fail_values(struct lode_profile_source *self, unsigned slot, uint32_t profile,
                               lode_block *out, lode_error *error)
{
    (void)self;
    (void)slot;
    (void)profile;
    (void)out;
    return broken(error);
}

static lode_status fail_line(struct lode_profile_source *self, unsigned slot, uint32_t line,
                             lode_trace_line *out, lode_error *error)
{
    (void)out;
    return fail_values(self, slot, line, NULL, error);
}

static lode_status fail_end(struct lode_profile_source *self, lode_error *error)
{
    (void)self;
    return broken(error);
}

static void a_source_that_fails_at_any_step_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        struct lode_profile_source *source = json_source_open(text);
        assert_non_null(source);
        struct lode_profile_source_ops ops = *source->ops;
        if (i == 0)
            ops.describe = fail_describe;
        if (i == 1)
            ops.number = fail_number;
        if (i == 2)
            ops.open_slots = fail_slots;
        if (i == 3)
            ops.values = fail_values;
        if (i == 4)
            ops.begin_samples = fail_end;
        if (i == 5)
            ops.samples = fail_line;
        if (i == 6)
            ops.end = fail_end;
        source->ops = &ops;
        assert_leaves_nothing(source, database_sink());
        json_source_close(source);
    }
}

/* ---- cancellation ---- */

static int count_down(void *user, const char *phase, uint64_t done, uint64_t total)
{
    unsigned *left = user;
    (void)phase;
    (void)done;
    (void)total;
    return (*left)-- == 0;
}

static void cancelling_at_any_report_leaves_no_result(void **state)
{
    unsigned reports = 0;
    (void)state;
    for (lode_status status = LODE_ERR_CANCELLED; status != LODE_OK; reports++) {
        struct place place;
        unsigned left = reports;
        struct lode_profile_source *source = json_source_open(text);
        assert_non_null(source);
        enter_place(&place);
        struct lode_pump pump = {
            .source = source,
            .to = database_sink(),
            .path = place.target,
            .options = {.traces = true, .threads = 2, .on_progress = count_down, .user = &left}};
        status = lode_pump(&pump, &place.error);
        json_source_close(source);
        assert_true(status == LODE_OK || status == LODE_ERR_CANCELLED);
        assert_int_equal(count_entries(place.folder), status == LODE_OK);
        leave_place(&place);
        assert_true(reports < 1000);
    }
    /* Two profiles and two lines at least. */
    assert_true(reports > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_that_is_no_json_is_no_source),
        cmocka_unit_test(a_json_text_becomes_a_database_with_its_numbers),
        cmocka_unit_test(such_a_database_is_clean_at_level_full),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(bytes_do_not_depend_on_the_way_of_writing),
        cmocka_unit_test(profiles_out_of_order_are_not_written_in_place),
        cmocka_unit_test(a_counts_sink_sees_what_the_source_has),
        cmocka_unit_test(a_database_and_its_json_text_count_the_same),
        cmocka_unit_test(a_null_sink_takes_everything_and_leaves_nothing),
        cmocka_unit_test(a_sink_that_fails_at_any_step_leaves_nothing),
        cmocka_unit_test(a_source_that_fails_at_any_step_leaves_nothing),
        cmocka_unit_test(cancelling_at_any_report_leaves_no_result),
    };
    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
