/* SPDX-License-Identifier: BSD-3-Clause */
/* Promises of the headers for all functions: version, errors, printable names, opening anything. */
#include "scratch.h"
#include <locale.h>
#include <lode/private/libraries.h>
#include <lode/unstable.h>
#include <string.h>
#include <wchar.h>

static char database_path[4200], recording_path[4200];

/* C0, DEL, C1, separators, marks, overrides, isolates, and bytes that are not UTF-8. */
#define VALID                                                                                                \
    "a\x01\x1b["                                                                                             \
    "2J\x7f\xc2\x9b\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\x8f\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xe2\x80" \
    "\xac\xd8\x9c\xc3\xa9"
#define INVALID "\xff\xc0\xaf\xed\xa0\x80\xe2\x82"
#define SHOWN   "a??[2J???????????\xc3\xa9"

/* ---- versions ---- */

static void the_version_of_the_headers_is_that_of_the_library(void **state)
{
    char text[64];
    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", LODE_VERSION_MAJOR, LODE_VERSION_MINOR, LODE_VERSION_PATCH);
    assert_string_equal(text, lode_version());
    assert_true(LODE_VERSION_MINOR < 100 && LODE_VERSION_PATCH < 100);
    assert_int_equal(LODE_VERSION_NUMBER,
                     LODE_VERSION_MAJOR * 10000 + LODE_VERSION_MINOR * 100 + LODE_VERSION_PATCH);
}

static void errors_are_one_line(void **state)
{
    char text[64];
    lode_error error = {.status = LODE_ERR_CORRUPT, .offset = LODE_NO_OFFSET};
    (void)state;
    assert_int_equal(lode_error_text(&error, text, sizeof text), strlen("corrupt"));
    assert_string_equal(text, "corrupt");
    snprintf(error.text, sizeof error.text, "the block is cut off");
    snprintf(error.file, sizeof error.file, "profile.db");
    lode_error_text(&error, text, sizeof text);
    assert_string_equal(text, "profile.db: the block is cut off");
    error.offset = 64;
    size_t length = lode_error_text(&error, text, sizeof text);
    assert_string_equal(text, "profile.db at 0x40: the block is cut off");
    assert_int_equal(lode_error_text(&error, text, 8), length);
    assert_string_equal(text, "profile");
    assert_int_equal(lode_error_text(&error, NULL, 0), length);
}

static void versions_of_libraries_are_cut_at_the_capacity(void **state)
{
    char whole[64], cut[3] = "..";
    uint32_t count = 0;
    (void)state;
    for (; lode_library_name(count); count++) {
        size_t length = lode_library_version(count, whole, sizeof whole);
        assert_true(length > 2 && length == strlen(whole) && whole[0] >= '0' && whole[0] <= '9');
        assert_int_equal(lode_library_version(count, cut, sizeof cut), length);
        assert_true(strncmp(whole, cut, 2) == 0 && cut[2] == '\0');
        assert_int_equal(lode_library_version(count, NULL, 0), length);
    }
    assert_true(count >= 4);
    assert_int_equal(lode_library_version(count, whole, sizeof whole), 0);
    assert_string_equal(whole, "");
    assert_null(lode_library_name(UINT32_MAX));
}

/* ---- opening ---- */

static void a_store_of_any_kind_is_opened_in_one_pass(void **state)
{
    lode_database *db;
    lode_recording *recording;
    lode_store_kind kind = LODE_STORE_RECORDING;
    (void)state;
    assert_int_equal(lode_open(&db, &recording, &kind, database_path, NULL, NULL), LODE_OK);
    assert_int_equal(kind, LODE_STORE_DATABASE);
    assert_non_null(db);
    assert_null(recording);
    assert_true(lode_database_context_count(db) > 1);
    lode_database_close(db);
    assert_int_equal(lode_open(&db, &recording, &kind, recording_path, NULL, NULL), LODE_OK);
    assert_int_equal(kind, LODE_STORE_RECORDING);
    assert_null(db);
    assert_non_null(recording);
    assert_int_equal(lode_recording_track_count(recording), 4);
    lode_recording_close(recording);
    assert_int_equal(lode_open(&db, &recording, NULL, database_path, NULL, NULL), LODE_OK);
    lode_database_close(db);
}

static void a_store_of_a_kind_that_is_not_wanted_is_refused(void **state)
{
    lode_database *db;
    lode_recording *recording;
    lode_store_kind kind = LODE_STORE_DATABASE;
    lode_error error;
    (void)state;
    assert_int_equal(lode_open(&db, NULL, &kind, recording_path, NULL, &error), LODE_ERR_ARGUMENT);
    assert_int_equal(kind, LODE_STORE_RECORDING);
    assert_null(db);
    assert_non_null(strstr(error.text, "a recording"));
    assert_int_equal(lode_open(NULL, &recording, &kind, database_path, NULL, &error), LODE_ERR_ARGUMENT);
    assert_int_equal(kind, LODE_STORE_DATABASE);
    assert_null(recording);
    assert_non_null(strstr(error.text, "a database"));
    assert_int_equal(lode_open(NULL, NULL, &kind, database_path, NULL, &error), LODE_ERR_ARGUMENT);
    assert_int_equal(lode_open(&db, &recording, &kind, scratch, NULL, &error), LODE_ERR_UNSUPPORTED);
    assert_int_equal(lode_open(&db, &recording, &kind, "/nonexistent", NULL, &error), LODE_ERR_IO);
    assert_null(db);
    assert_null(recording);
}

/* ---- errors ---- */

static const lode_error untouched = {LODE_ERR_LIMIT, 77, 7, "file", "text"};

static void expect_left_alone(const lode_error *error)
{
    assert_int_equal(error->status, untouched.status);
    assert_int_equal(error->os_errno, untouched.os_errno);
    assert_int_equal(error->offset, untouched.offset);
    assert_string_equal(error->file, untouched.file);
    assert_string_equal(error->text, untouched.text);
}

/* The call returns `expected`, and says so in the error. */
#define EXPECT_WRITTEN(expected, call)                                                                       \
    do {                                                                                                     \
        error = untouched;                                                                                   \
        assert_int_equal(call, expected);                                                                    \
        assert_int_equal(error.status, expected);                                                            \
        assert_true(error.text[0] != '\0' && strcmp(error.text, untouched.text) != 0);                       \
        assert_int_equal(error.os_errno, 0);                                                                 \
    } while (0)
#define EXPECT_LEFT_ALONE(expected, call)                                                                    \
    do {                                                                                                     \
        error = untouched;                                                                                   \
        assert_int_equal(call, expected);                                                                    \
        expect_left_alone(&error);                                                                           \
    } while (0)

/* All of the public API that can return LODE_NOT_FOUND or LODE_ABSENT for a database. */
static void what_is_not_found_in_a_database_is_said(void **state)
{
    const char *bare = scratch_path();
    lode_synth_options options = LODE_SYNTH_OPTIONS_INIT;
    lode_database *db, *lineless;
    lode_error error;
    uint32_t number;
    lode_id id;
    lode_block block;
    lode_group group;
    lode_trace_line line;
    const lode_metric *metric;
    lode_cost_options asked = LODE_COST_OPTIONS_INIT;
    lode_view_options shown = LODE_VIEW_OPTIONS_INIT;
    lode_selection *selection;
    lode_cost *cost;
    lode_view *view;
    lode_timeline *timeline;
    double value;
    (void)state;
    options.samples = 0;
    assert_int_equal(lode_synth_database(bare, &options, NULL), LODE_OK);
    EXPECT_LEFT_ALONE(LODE_OK, lode_database_open(&db, database_path, &error));
    EXPECT_LEFT_ALONE(LODE_OK, lode_database_open(&lineless, bare, &error));
    EXPECT_WRITTEN(LODE_NOT_FOUND, lode_profile_flags(db, 1000, &number, &error));
    EXPECT_WRITTEN(LODE_NOT_FOUND, lode_profile_ids(db, 1000, &id, 1, &number, &error));
    EXPECT_WRITTEN(LODE_NOT_FOUND, lode_profile_block(db, 1000, &block, &error));
    EXPECT_WRITTEN(LODE_NOT_FOUND, lode_context_block(db, 1000000, &block, &error));
    EXPECT_WRITTEN(LODE_NOT_FOUND, lode_database_trace_line(db, 1000, &line, &error));
    EXPECT_WRITTEN(LODE_NOT_FOUND, lode_database_find_metric(db, "no such metric", &metric, &error));
    EXPECT_WRITTEN(LODE_ABSENT, lode_timeline_compute(&timeline, lineless, NULL, &error));
    assert_int_equal(lode_selection_parse(&selection, db, "profile=999", NULL), LODE_OK);
    asked.selection = selection;
    EXPECT_WRITTEN(LODE_NOT_FOUND, lode_cost_compute(&cost, db, &asked, &error));
    EXPECT_LEFT_ALONE(LODE_OK, lode_cost_compute(&cost, db, NULL, &error));
    shown.focus = "no such function";
    EXPECT_WRITTEN(LODE_NOT_FOUND, lode_view_build(&view, cost, &shown, &error));
    EXPECT_LEFT_ALONE(LODE_OK, lode_profile_block(db, 1, &block, &error));
    EXPECT_LEFT_ALONE(LODE_END, lode_block_group(&block, lode_block_group_count(&block), &group, &error));
    EXPECT_LEFT_ALONE(LODE_NOT_FOUND, lode_block_find(&block, UINT32_MAX, &group, &error));
    EXPECT_LEFT_ALONE(LODE_NOT_FOUND, lode_block_lookup(&block, UINT32_MAX, 0, &value, &error));
    lode_cost_free(cost);
    lode_selection_free(selection);
    lode_database_close(lineless);
    lode_database_close(db);
}

static void what_is_not_found_in_a_recording_is_said(void **state)
{
    lode_recording *recording;
    lode_calltree *tree;
    lode_neighbours *neighbours;
    lode_cursor *cursor;
    lode_merge *merge;
    lode_slice none = LODE_SLICE_INIT;
    const lode_event *events;
    lode_error error;
    size_t count;
    uint32_t track;
    uint64_t begin, end;
    (void)state;
    assert_int_equal(lode_recording_open(&recording, recording_path, NULL, NULL), LODE_OK);
    EXPECT_LEFT_ALONE(LODE_OK, lode_calltree_compute(&tree, recording, NULL, NULL, &error));
    EXPECT_WRITTEN(LODE_NOT_FOUND,
                   lode_neighbours_compute(&neighbours, tree, "no such function", LODE_CALLERS, &error));
    EXPECT_LEFT_ALONE(LODE_OK, lode_track_interval(recording, 0, &begin, &end, &error));
    assert_int_equal(lode_cursor_open(&cursor, recording, 0, NULL, NULL), LODE_OK);
    while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK)
        continue;
    EXPECT_LEFT_ALONE(LODE_END, lode_cursor_next(cursor, &events, &count, &error));
    none.from = UINT64_MAX - 1;
    none.to = UINT64_MAX;
    assert_int_equal(lode_merge_open(&merge, recording, &none, NULL, NULL), LODE_OK);
    EXPECT_LEFT_ALONE(LODE_END, lode_merge_next(merge, &events, &track, &error));
    lode_merge_close(merge);
    lode_cursor_close(cursor);
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

/* The records of a track are cut away. */
static void a_track_without_events_is_said(void **state)
{
    const char *path = scratch_path();
    char name[4300];
    lode_synth_recording_options options = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    lode_recording *recording;
    lode_error error;
    uint64_t begin, end;
    (void)state;
    options.tasks = 1;
    options.records = 100;
    assert_int_equal(lode_synth_recording(path, &options, NULL), LODE_OK);
    assert_int_equal(lode_recording_open(&recording, path, NULL, NULL), LODE_OK);
    snprintf(name, sizeof name, "%s/%d.dat", path, (int)lode_recording_track(recording, 0)->tid);
    lode_recording_close(recording);
    FILE *emptied = fopen(name, "w");
    assert_non_null(emptied);
    fclose(emptied);
    assert_int_equal(lode_recording_open(&recording, path, NULL, NULL), LODE_OK);
    EXPECT_WRITTEN(LODE_ABSENT, lode_track_interval(recording, 0, &begin, &end, &error));
    lode_recording_close(recording);
}

/* ---- names ---- */

static void expect_safe(const char *label, size_t length, size_t capacity)
{
    mbstate_t shift = {0};
    size_t size = strlen(label), at = 0;
    assert_true(size < capacity && (length >= capacity || size == length));
    while (at < size) {
        wchar_t character;
        size_t step = mbrtowc(&character, label + at, size - at, &shift);
        assert_true(step > 0 && step <= 4);
        assert_true(character >= 0x20 && (character < 0x7f || character > 0x9f));
        assert_true(character != 0x61c && character != 0x200e && character != 0x200f);
        assert_true(character < 0x2028 || (character > 0x202e && (character < 0x2066 || character > 0x2069)));
        at += step;
    }
}

static void names_of_symbols_are_safe_to_print(void **state)
{
    char label[128];
    (void)state;
    lode_demangle(VALID, label, sizeof label);
    assert_string_equal(label, SHOWN);
    lode_simple_name(VALID, label, sizeof label);
    assert_string_equal(label, SHOWN);
    lode_demangle("x" INVALID "y", label, sizeof label);
    assert_string_equal(label, "x????????y");
    lode_demangle("Caf\xc3\xa9.run(Ljava/Caf\xc3\xa9\xe2\x80\x8e;)V", label, sizeof label);
    assert_string_equal(label, "Caf\xc3\xa9.run(java.Caf\xc3\xa9?)");
    for (size_t capacity = 1; capacity < 40; capacity++) {
        char cut[40];
        size_t length = lode_demangle(VALID INVALID "\xc3\xa9", cut, capacity);
        assert_int_equal(length, strlen(SHOWN) + strlen(INVALID) + 2);
        expect_safe(cut, length, capacity);
    }
}

static lode_database *write_nasty_names(const char *path)
{
    lode_writer *writer;
    lode_profile_builder *builder;
    lode_database *db;
    uint32_t scope, metric, module, file, function, entry, context;
    unsigned kind;
    uint16_t id;
    assert_int_equal(lode_writer_open(&writer, path, NULL, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_id_kind(writer, "SUMMARY", &kind, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_id_kind(writer, VALID, &kind, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_scope(writer, "execution", LODE_SCOPE_EXECUTION, 0, &scope, NULL),
                     LODE_OK);
    assert_int_equal(lode_writer_add_metric(writer, "CYCLES", &metric, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_metric_scope(writer, metric, scope, &id, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_statistic(writer, metric, scope, "$$", LODE_COMBINE_SUM, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_module(writer, "/lib/" VALID, &module, NULL), LODE_OK);
    assert_int_equal(lode_writer_add_file(writer, "/src/" VALID, 0, NULL, &file, NULL), LODE_OK);
    lode_writer_function named = {VALID, module, file, 1, 0};
    assert_int_equal(lode_writer_add_function(writer, &named, &function, NULL), LODE_OK);
    lode_writer_context root = LODE_WRITER_CONTEXT_INIT, node = LODE_WRITER_CONTEXT_INIT;
    root.entry_name = VALID;
    assert_int_equal(lode_writer_add_context(writer, &root, &entry, NULL), LODE_OK);
    for (int lexical = LODE_LEXICAL_FUNCTION; lexical <= LODE_LEXICAL_INSTRUCTION; lexical++) {
        node.parent = entry;
        node.lexical = lexical;
        node.relation = LODE_RELATION_CALL;
        node.function = function;
        node.file = file;
        node.line = 7;
        node.module = module;
        assert_int_equal(lode_writer_add_context(writer, &node, &context, NULL), LODE_OK);
    }
    assert_int_equal(lode_writer_seal(writer, NULL), LODE_OK);
    assert_int_equal(lode_profile_builder_create(&builder, writer, NULL), LODE_OK);
    lode_id ids[] = {{kind, 0, 3, 3}};
    assert_int_equal(lode_profile_builder_begin(builder, ids, 1, NULL), LODE_OK);
    const uint32_t contexts[] = {LODE_NONE, entry, context};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(lode_profile_builder_value(builder, contexts[i], id, 5, NULL), LODE_OK);
    assert_int_equal(lode_profile_builder_end(builder, NULL), LODE_OK);
    assert_int_equal(lode_writer_append(writer, builder, NULL), LODE_OK);
    lode_profile_builder_free(builder);
    assert_int_equal(lode_writer_finish(writer, NULL), LODE_OK);
    lode_writer_close(writer);
    assert_int_equal(lode_database_open(&db, path, NULL), LODE_OK);
    return db;
}

static void labels_are_safe_to_print_and_cut_between_characters(void **state)
{
    lode_database *db = write_nasty_names(scratch_path());
    char label[200];
    lode_cost *cost;
    (void)state;
    assert_string_equal(lode_function_name(lode_database_function(db, 0)), VALID);
    assert_int_equal(lode_cost_compute(&cost, db, NULL, NULL), LODE_OK);
    for (size_t capacity = 1; capacity <= sizeof label; capacity++) {
        for (uint32_t i = 0; i < lode_database_context_count(db); i++)
            expect_safe(label, lode_context_label(lode_database_context_at(db, i), label, capacity),
                        capacity);
        expect_safe(label, lode_function_label(lode_database_function(db, 0), label, capacity), capacity);
        expect_safe(label, lode_profile_label(db, 1, label, capacity), capacity);
        for (lode_group_by by = LODE_BY_FUNCTION; by <= LODE_BY_FILE; by++) {
            lode_hotspots *hotspots;
            assert_int_equal(lode_hotspots_compute(&hotspots, cost, by, LODE_SORT_INCLUSIVE, NULL), LODE_OK);
            for (size_t i = 0; i < lode_hotspots_count(hotspots); i++)
                expect_safe(label, lode_hotspot_label(lode_hotspots_at(hotspots, i), label, capacity),
                            capacity);
            lode_hotspots_free(hotspots);
        }
    }
    lode_function_label(lode_database_function(db, 0), label, sizeof label);
    assert_string_equal(label, SHOWN);
    lode_cost_free(cost);
    lode_database_close(db);
}

static void values_of_arguments_are_safe_to_print(void **state)
{
    static const char text[] = "a\n\x1b\x7f\xc2\x9b\xe2\x80\xa8\xff\xc3\xa9";
    lode_argument argument = {.name = "", .kind = LODE_VALUE_TEXT, .bytes = text, .length = sizeof text - 1};
    char shown[128];
    (void)state;
    size_t length = lode_argument_text(&argument, shown, sizeof shown);
    expect_safe(shown, length, sizeof shown);
    assert_string_equal(shown, "\"a\\n\\x1b\\x7f\\u009b\\u2028\\xff\xc3\xa9\"");
}

/* ---- stores ---- */

static int make_stores(void **state)
{
    lode_synth_options options = LODE_SYNTH_OPTIONS_INIT;
    lode_synth_recording_options traced = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    (void)state;
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    scratch_make();
    snprintf(database_path, sizeof database_path, "%s/database", scratch);
    snprintf(recording_path, sizeof recording_path, "%s/recording", scratch);
    options.profiles = 2;
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
        cmocka_unit_test(the_version_of_the_headers_is_that_of_the_library),
        cmocka_unit_test(errors_are_one_line),
        cmocka_unit_test(versions_of_libraries_are_cut_at_the_capacity),
        cmocka_unit_test(a_store_of_any_kind_is_opened_in_one_pass),
        cmocka_unit_test(a_store_of_a_kind_that_is_not_wanted_is_refused),
        cmocka_unit_test(what_is_not_found_in_a_database_is_said),
        cmocka_unit_test(what_is_not_found_in_a_recording_is_said),
        cmocka_unit_test(a_track_without_events_is_said),
        cmocka_unit_test(names_of_symbols_are_safe_to_print),
        cmocka_unit_test(labels_are_safe_to_print_and_cut_between_characters),
        cmocka_unit_test(values_of_arguments_are_safe_to_print),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
