/* SPDX-License-Identifier: BSD-3-Clause */
/* Where databases are written, what happens to existing ones, and companion files. */
#include "writing.h"
#include <errno.h>
#include <fcntl.h>

/* ---- targets ---- */

static lode_status write_little(struct place *place, const char *path, const lode_writer_options *options)
{
    lode_writer *writer = NULL;
    lode_status status = lode_writer_open(&writer, path, options, &place->error);
    if (status == LODE_OK)
        status = lode_writer_seal(writer, &place->error);
    if (status == LODE_OK)
        status = lode_writer_finish(writer, &place->error);
    lode_writer_close(writer);
    return status;
}

static void what_is_there_stays_without_force(void **state)
{
    struct place place;
    lode_writer *writer = (lode_writer *)&place;
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    (void)state;
    enter_place(&place);
    options.title = "old";
    DONE(&place, write_little(&place, place.target, &options));
    put_file(place.target, "notes.txt", "mine");
    options.title = "new";
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_open(&writer, place.target, &options, &place.error));
    assert_null(writer);
    assert_non_null(strstr(place.error.file, "/new"));
    char *notes = get_file(place.target, "notes.txt", NULL);
    assert_string_equal(notes, "mine");
    free(notes);
    lode_database *db = open_target(&place);
    assert_string_equal(lode_database_title(db), "old");
    lode_database_close(db);

    /* Not even by force, as long as there is something that is not the database's. */
    options.force = 1;
    REFUSED(&place, LODE_ERR_UNSUPPORTED, lode_writer_open(&writer, place.target, &options, &place.error));
    assert_non_null(strstr(place.error.text, "notes.txt"));
    char *path = name_in(place.target, "notes.txt");
    assert_int_equal(unlink(path), 0);
    free(path);
    /* Given up: still the old one. */
    DONE(&place, lode_writer_open(&writer, place.target, &options, &place.error));
    lode_writer_close(writer);
    db = open_target(&place);
    assert_string_equal(lode_database_title(db), "old");
    lode_database_close(db);
    /* Finished: the new one. */
    DONE(&place, write_little(&place, place.target, &options));
    db = open_target(&place);
    assert_string_equal(lode_database_title(db), "new");
    lode_database_close(db);
    assert_int_equal(count_entries(place.folder), 1);
    leave_place(&place);
}

static void force_does_not_remove_what_is_no_database(void **state)
{
    struct place place;
    lode_writer *writer;
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    (void)state;
    enter_place(&place);
    options.force = 1;
    assert_int_equal(mkdir(place.target, 0777), 0);
    char *precious = name_in(place.target, "precious");
    FILE *stream = fopen(precious, "w");
    assert_non_null(stream);
    fclose(stream);
    REFUSED(&place, LODE_ERR_UNSUPPORTED, lode_writer_open(&writer, place.target, &options, &place.error));
    assert_int_equal(access(precious, F_OK), 0);
    assert_int_equal(count_entries(place.folder), 1);
    free(precious);
    leave_place(&place);
}

/* Something that comes to be there while the database is written is not replaced either. */
static void a_latecomer_stays(void **state)
{
    struct place place;
    (void)state;
    enter_place(&place);
    lode_writer *writer = describe(&place, 0);
    DONE(&place, lode_writer_seal(writer, &place.error));
    assert_int_equal(mkdir(place.target, 0777), 0);
    put_file(place.target, "notes.txt", "mine");
    assert_true(lode_writer_finish(writer, &place.error) < 0);
    lode_writer_close(writer);
    assert_int_equal(count_entries(place.target), 1);
    assert_int_equal(count_entries(place.folder), 1);
    leave_place(&place);
}

static void nothing_is_left_of_what_is_not_finished(void **state)
{
    struct place place;
    (void)state;
    for (unsigned phase = 0; phase < 3; phase++) {
        enter_place(&place);
        lode_writer *writer = describe(&place, 1);
        if (phase > 0)
            DONE(&place, lode_writer_seal(writer, &place.error));
        if (phase > 1) {
            lode_profile_builder *builder = begin_builder(&place, writer);
            DONE(&place, begin_thread(&place, builder, 0));
            DONE(&place, lode_profile_builder_sample(builder, 5, 1, &place.error));
            append_builder(&place, writer, builder);
            lode_profile_builder_free(builder);
        }
        give_up(&place, writer);
    }
}

static int cancel(void *user, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    (void)done;
    (void)total;
    ++*(unsigned *)user;
    return 1;
}

static void a_cancelled_database_is_not_there(void **state)
{
    struct place place;
    unsigned calls = 0;
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    (void)state;
    enter_place(&place);
    options.on_progress = cancel;
    options.user = &calls;
    lode_writer *writer = begin_writer(&place, &options);
    DONE(&place, lode_writer_seal(writer, &place.error));
    assert_int_equal(lode_writer_finish(writer, &place.error), LODE_ERR_CANCELLED);
    assert_int_equal(calls, 1);
    give_up(&place, writer);
}

static void a_missing_source_is_an_error(void **state)
{
    struct place place;
    uint32_t file;
    (void)state;
    enter_place(&place);
    lode_writer *writer = describe(&place, 0);
    DONE(&place, lode_writer_add_file(writer, "src/a.c", 1, "/nowhere/at/all.c", &file, &place.error));
    DONE(&place, lode_writer_seal(writer, &place.error));
    REFUSED(&place, LODE_ERR_IO, lode_writer_finish(writer, &place.error));
    assert_int_equal(place.error.os_errno, ENOENT);
    assert_string_equal(place.error.file, "/nowhere/at/all.c");
    give_up(&place, writer);
}

static void sources_in_each_others_way_are_an_error(void **state)
{
    struct place place;
    uint32_t file;
    (void)state;
    enter_place(&place);
    put_file(place.folder, "source", "int main;\n");
    char *source = name_in(place.folder, "source");
    lode_writer *writer = describe(&place, 0);
    DONE(&place, lode_writer_add_file(writer, "src/a", 1, source, &file, &place.error));
    DONE(&place, lode_writer_add_file(writer, "src/a/b.c", 1, source, &file, &place.error));
    DONE(&place, lode_writer_seal(writer, &place.error));
    REFUSED(&place, LODE_ERR_IO, lode_writer_finish(writer, &place.error));
    assert_string_equal(place.error.file, "src/a/b.c");
    unlink(source);
    free(source);
    give_up(&place, writer);
}

static void a_source_that_is_no_file_is_an_error(void **state)
{
    struct place place;
    uint32_t file;
    (void)state;
    enter_place(&place);
    lode_writer *writer = describe(&place, 0);
    DONE(&place, lode_writer_add_file(writer, "src/a.c", 1, "/dev/zero", &file, &place.error));
    DONE(&place, lode_writer_seal(writer, &place.error));
    REFUSED(&place, LODE_ERR_IO, lode_writer_finish(writer, &place.error));
    assert_string_equal(place.error.file, "/dev/zero");
    give_up(&place, writer);
}

static void targets_may_be_named_in_many_ways(void **state)
{
    static const char *const names[] = {"plain",   "./dot",    "slash/", "slashes///",
                                        "in/side", "in/../up", "...",    ".hidden"};
    static const char *const titles[] = {"plain", "dot", "slash", "slashes", "side", "up", "...", ".hidden"};
    const lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    struct place place;
    (void)state;
    enter_place(&place);
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(before >= 0);
    assert_int_equal(chdir(place.folder), 0);
    assert_int_equal(mkdir("in", 0777), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lode_writer *writer = NULL;
        lode_database *db = NULL;
        DONE(&place, lode_writer_open(&writer, names[i], &options, &place.error));
        DONE(&place, lode_writer_seal(writer, &place.error));
        /* The place was taken when the writer began. */
        assert_int_equal(chdir("/"), 0);
        DONE(&place, lode_writer_finish(writer, &place.error));
        lode_writer_close(writer);
        assert_int_equal(chdir(place.folder), 0);
        DONE(&place, lode_database_open(&db, names[i], &place.error));
        assert_string_equal(lode_database_title(db), titles[i]);
        lode_database_close(db);
    }
    assert_int_equal(count_entries(place.folder), 8);
    assert_int_equal(fchdir(before), 0);
    close(before);
    leave_place(&place);
}

static void wrong_targets_are_refused(void **state)
{
    const lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    struct place place;
    char path[600];
    (void)state;
    enter_place(&place);
    lode_writer *writer = (lode_writer *)&place;
    snprintf(path, sizeof path, "%s/not/there", place.folder);
    REFUSED(&place, LODE_ERR_IO, lode_writer_open(&writer, path, &options, &place.error));
    assert_null(writer);
    assert_int_equal(place.error.os_errno, ENOENT);
    assert_non_null(strstr(place.error.file, "not/there"));
    put_file(place.folder, "file", "");
    snprintf(path, sizeof path, "%s/file/below", place.folder);
    REFUSED(&place, LODE_ERR_IO, lode_writer_open(&writer, path, &options, &place.error));
    assert_int_equal(place.error.os_errno, ENOTDIR);
    snprintf(path, sizeof path, "%s/file", place.folder);
    REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_open(&writer, path, &options, &place.error));
    static const char *const nameless[] = {"", "/", "//", ".", "..", "./", "/tmp/.", "/tmp/../", "/tmp/.."};
    lode_writer_options forced = options;
    forced.force = 1;
    for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++)
        REFUSED(&place, LODE_ERR_ARGUMENT, lode_writer_open(&writer, nameless[i], &forced, &place.error));
    assert_null(writer);
    assert_int_equal(count_entries(place.folder), 1);
    leave_place(&place);
}

static void two_writers_do_not_share_a_target(void **state)
{
    const lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    struct place place;
    lode_writer *second = (lode_writer *)&place;
    (void)state;
    enter_place(&place);
    lode_writer *first = describe(&place, 0);
    assert_true(lode_writer_open(&second, place.target, &options, &place.error) < 0);
    assert_null(second);
    DONE(&place, lode_writer_seal(first, &place.error));
    finish_writer(&place, first);
    check_target(&place, 1);
    leave_place(&place);
}

/* ---- companion files ---- */

static void sources_are_copied(void **state)
{
    static const struct {
        const char *path;
        int copied;
        bool there; /* afterwards */
    } files[] = {
        {"src/app/main.c", 1, true},       {"src/app/deep/er/x.h", 1, true},
        {"src/not.c", 0, false},           {"../outside.c", 1, false},
        {"src/../../outside.c", 1, false}, {"outside.c/../../../outside.c", 1, false},
        {"/lode-writer-test.c", 1, false}, {"metrics/more.yaml", 1, false},
        {"./FORMATS.md", 1, false},
    };
    struct place place;
    uint32_t file;
    (void)state;
    enter_place(&place);
    put_file(place.folder, "source", "int main;\n");
    char *source = name_in(place.folder, "source");
    lode_writer *writer = begin_writer(&place, NULL);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        DONE(&place,
             lode_writer_add_file(writer, files[i].path, files[i].copied, source, &file, &place.error));
    /* Names of the database's own files do it no harm. */
    static const char *const own[] = {"meta.db",    "profile.db",           "cct.db",
                                      "FORMATS.md", "metrics/default.yaml", "./meta.db"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        DONE(&place, lode_writer_add_file(writer, own[i], 1, source, &file, &place.error));
    DONE(&place, lode_writer_add_file(writer, "src/without.c", 1, NULL, &file, &place.error));
    DONE(&place, lode_writer_seal(writer, &place.error));
    finish_writer(&place, writer);
    free(source);

    check_target(&place, 1);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = get_file(place.target, files[i].path, NULL);
        if (strstr(files[i].path, "FORMATS.md") == NULL)
            assert_int_equal(text != NULL, files[i].there);
        if (files[i].there)
            assert_string_equal(text, "int main;\n");
        free(text);
    }
    assert_int_equal(count_entries(place.folder), 2);
    char *formats = get_file(place.target, "FORMATS.md", NULL);
    assert_non_null(strstr(formats, "meta.db"));
    free(formats);
    leave_place(&place);
}

static void a_title_is_copied(void **state)
{
    struct place place;
    char title[] = "a title", description[] = "a description";
    (void)state;
    enter_place(&place);
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    options.title = title;
    options.description = description;
    lode_writer *writer = begin_writer(&place, &options);
    memset(title, 'x', sizeof title - 1);
    memset(description, 'x', sizeof description - 1);
    DONE(&place, lode_writer_seal(writer, &place.error));
    finish_writer(&place, writer);
    check_target(&place, 1);
    lode_database *db = open_target(&place);
    assert_string_equal(lode_database_title(db), "a title");
    assert_string_equal(lode_database_description(db), "a description");
    lode_database_close(db);
    leave_place(&place);
}

/* hpcviewer looks for lists, also when there is nothing to list. */
static void the_taxonomy_has_lists(void **state)
{
    struct place place;
    uint32_t metric;
    (void)state;
    enter_place(&place);
    lode_writer *writer = begin_writer(&place, NULL);
    DONE(&place, lode_writer_seal(writer, &place.error));
    finish_writer(&place, writer);
    char *text = get_file(place.target, "metrics/default.yaml", NULL);
    assert_string_equal(text, "version: 0\ninputs: []\nroots: []\n");
    free(text);
    leave_place(&place);

    enter_place(&place);
    writer = begin_writer(&place, NULL);
    uint32_t point = add_scope(&place, writer, "point", LODE_SCOPE_POINT);
    DONE(&place, lode_writer_add_metric(writer, "a \"metric\"", &metric, &place.error));
    add_instance(&place, writer, metric, point);
    DONE(&place, lode_writer_add_statistic(writer, metric, point, "$$", LODE_COMBINE_SUM, &place.error));
    DONE(&place, lode_writer_seal(writer, &place.error));
    finish_writer(&place, writer);
    text = get_file(place.target, "metrics/default.yaml", NULL);
    assert_non_null(strstr(text, "metric: \"a \\\"metric\\\"\"\n"));
    /* Without inclusive values there is nothing to show. */
    assert_non_null(strstr(text, "roots: []\n"));
    free(text);
    leave_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_stays_without_force),
        cmocka_unit_test(force_does_not_remove_what_is_no_database),
        cmocka_unit_test(a_latecomer_stays),
        cmocka_unit_test(nothing_is_left_of_what_is_not_finished),
        cmocka_unit_test(a_cancelled_database_is_not_there),
        cmocka_unit_test(a_missing_source_is_an_error),
        cmocka_unit_test(sources_in_each_others_way_are_an_error),
        cmocka_unit_test(a_source_that_is_no_file_is_an_error),
        cmocka_unit_test(targets_may_be_named_in_many_ways),
        cmocka_unit_test(wrong_targets_are_refused),
        cmocka_unit_test(two_writers_do_not_share_a_target),
        cmocka_unit_test(sources_are_copied),
        cmocka_unit_test(a_title_is_copied),
        cmocka_unit_test(the_taxonomy_has_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
