/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of the writer: a temporary directory, shorthands for calls, and reading back. */
#ifndef LODE_TESTS_WRITING_H
#define LODE_TESTS_WRITING_H

#include "unit.h"
#include <dirent.h>
#include <ftw.h>
#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- places ---- */

struct place {
    char folder[512]; /* for this test alone */
    char target[528]; /* inside it */
    lode_error error;
};

static inline void enter_place(struct place *place)
{
    const char *root = getenv("TMPDIR");
    *place = (struct place){0};
    snprintf(place->folder, sizeof place->folder, "%s/lode-writer-XXXXXX", root ? root : "/tmp");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->target, sizeof place->target, "%s/new", place->folder);
}

static inline int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline void leave_place(const struct place *place)
{
    nftw(place->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Entries of a directory, hidden ones too; -1 if it is not there. */
static inline int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;
    if (directory == NULL)
        return -1;
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count - 2;
}

static inline char *name_in(const char *folder, const char *name)
{
    char *path = NULL;
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    return path;
}

static inline void put_file(const char *folder, const char *name, const char *text)
{
    char *path = name_in(folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
    free(path);
}

/* The bytes of a file; NULL if it is not there. */
static inline char *get_file(const char *folder, const char *name, size_t *size)
{
    char *path = name_in(folder, name), *bytes = NULL;
    size_t ignored;
    FILE *from = fopen(path, "rb"), *to = NULL;
    free(path);
    if (from == NULL)
        return NULL;
    to = open_memstream(&bytes, size ? size : &ignored);
    assert_non_null(to);
    for (int byte; (byte = fgetc(from)) != EOF;)
        fputc(byte, to);
    fclose(from);
    fclose(to);
    return bytes;
}

/* ---- calls ---- */

#define DONE(place, call)                                                                                    \
    do {                                                                                                     \
        lode_status done_status = (call);                                                                    \
        if (done_status != LODE_OK)                                                                          \
            fail_msg("%s: %s: %s: %s", #call, lode_status_name(done_status), (place)->error.file,            \
                     (place)->error.text);                                                                   \
    } while (0)

/* A call that is refused, and says why. */
#define REFUSED(place, expected, call)                                                                       \
    do {                                                                                                     \
        (place)->error = (lode_error){0};                                                                    \
        assert_int_equal((call), (expected));                                                                \
        assert_int_equal((place)->error.status, (expected));                                                 \
        assert_string_not_equal((place)->error.text, "");                                                    \
    } while (0)

static inline lode_writer *begin_writer(struct place *place, const lode_writer_options *options)
{
    const lode_writer_options defaults = LODE_WRITER_OPTIONS_INIT;
    lode_writer *writer = NULL;
    DONE(place, lode_writer_open(&writer, place->target, options ? options : &defaults, &place->error));
    return writer;
}

static inline void finish_writer(struct place *place, lode_writer *writer)
{
    DONE(place, lode_writer_finish(writer, &place->error));
    lode_writer_close(writer);
}

static inline uint32_t add_scope(struct place *place, lode_writer *writer, const char *name, int type)
{
    uint32_t scope = 0;
    DONE(place, lode_writer_add_scope(writer, name, type, 0, &scope, &place->error));
    return scope;
}

static inline uint16_t add_instance(struct place *place, lode_writer *writer, uint32_t metric, uint32_t scope)
{
    uint16_t id = 0;
    DONE(place, lode_writer_add_metric_scope(writer, metric, scope, &id, &place->error));
    return id;
}

static inline uint32_t add_entry(struct place *place, lode_writer *writer, int entry)
{
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    uint32_t handle = 0;
    context.entry = entry;
    context.entry_name = lode_entry_name(entry);
    DONE(place, lode_writer_add_context(writer, &context, &handle, &place->error));
    return handle;
}

/* A line or a loop: passes its values on in its function. */
static inline uint32_t add_inside(struct place *place, lode_writer *writer, uint32_t parent, int lexical,
                                  uint32_t file, uint32_t line)
{
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    uint32_t handle = 0;
    context.parent = parent;
    context.lexical = lexical;
    context.relation = LODE_RELATION_LEXICAL;
    context.propagation = 1;
    context.file = file;
    context.line = line;
    DONE(place, lode_writer_add_context(writer, &context, &handle, &place->error));
    return handle;
}

/* A function that is called or was inlined: does not. */
static inline uint32_t add_call(struct place *place, lode_writer *writer, uint32_t parent, int relation,
                                uint32_t function)
{
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    uint32_t handle = 0;
    context.parent = parent;
    context.lexical = LODE_LEXICAL_FUNCTION;
    context.relation = relation;
    context.function = function;
    DONE(place, lode_writer_add_context(writer, &context, &handle, &place->error));
    return handle;
}

static inline uint32_t add_function(struct place *place, lode_writer *writer, const char *name)
{
    const lode_writer_function function = {.name = name, .module = LODE_NONE, .file = LODE_NONE};
    uint32_t handle = 0;
    DONE(place, lode_writer_add_function(writer, &function, &handle, &place->error));
    return handle;
}

/* Kinds NODE (0) and THREAD (1) are what these tests use. */
static inline void add_kinds(struct place *place, lode_writer *writer)
{
    unsigned kind = 99;
    DONE(place, lode_writer_add_id_kind(writer, "NODE", &kind, &place->error));
    assert_int_equal(kind, 0);
    DONE(place, lode_writer_add_id_kind(writer, "THREAD", &kind, &place->error));
    assert_int_equal(kind, 1);
}

static inline lode_profile_builder *begin_builder(struct place *place, lode_writer *writer)
{
    lode_profile_builder *builder = NULL;
    DONE(place, lode_profile_builder_create(&builder, writer, &place->error));
    return builder;
}

static inline lode_status begin_thread(struct place *place, lode_profile_builder *builder, uint32_t thread)
{
    const lode_id id = {.kind = 1, .logical = thread, .physical = thread};
    return lode_profile_builder_begin(builder, &id, 1, &place->error);
}

static inline void append_builder(struct place *place, lode_writer *writer, lode_profile_builder *builder)
{
    DONE(place, lode_profile_builder_end(builder, &place->error));
    DONE(place, lode_writer_append(writer, builder, &place->error));
}

/* A writer with one metric, file, function, module (handles 0), an entry point and a line. */
static inline lode_writer *describe(struct place *place, int traces)
{
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    uint32_t metric, file, module;
    options.traces = traces;
    lode_writer *writer = begin_writer(place, &options);
    add_kinds(place, writer);
    uint32_t scope = add_scope(place, writer, "point", LODE_SCOPE_POINT);
    DONE(place, lode_writer_add_metric(writer, "time (sec)", &metric, &place->error));
    add_instance(place, writer, metric, scope);
    DONE(place, lode_writer_add_statistic(writer, metric, scope, "$$", LODE_COMBINE_SUM, &place->error));
    DONE(place, lode_writer_add_module(writer, "/bin/app", &module, &place->error));
    DONE(place, lode_writer_add_file(writer, "/src/a.c", 0, NULL, &file, &place->error));
    add_function(place, writer, "main");
    add_inside(place, writer, add_entry(place, writer, LODE_ENTRY_MAIN_THREAD), LODE_LEXICAL_LINE, file, 10);
    return writer;
}

/* Gives up: nothing is left. */
static inline void give_up(struct place *place, lode_writer *writer)
{
    lode_writer_close(writer);
    assert_int_equal(count_entries(place->folder), 0);
    leave_place(place);
}

/* ---- reading back ---- */

static inline int tell_finding(void *user, const lode_finding *finding)
{
    (void)user;
    print_message("# %s %s: %s\n", finding->rule, finding->file, finding->text);
    return 0;
}

/* Nothing is wrong with what was written; `notes` are expected. */
static inline void check_target(struct place *place, uint64_t notes)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.level = LODE_CHECK_FULL;
    options.threads = 2;
    options.on_finding = tell_finding;
    DONE(place, lode_check(place->target, &options, &result, &place->error));
    assert_int_equal(result.errors, 0);
    assert_int_equal(result.warnings, 0);
    assert_int_equal(result.notes, notes);
}

static inline lode_database *open_target(struct place *place)
{
    lode_database *db = NULL;
    DONE(place, lode_database_open(&db, place->target, &place->error));
    return db;
}

/* The id of the only context at a line, or of the only one of a function. */
static inline uint32_t id_at_line(const lode_database *db, uint32_t line)
{
    uint32_t id = 0;
    for (uint32_t i = 1; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        if (lode_context_line(context) != line)
            continue;
        assert_int_equal(id, 0);
        id = lode_context_id(context);
    }
    assert_int_not_equal(id, 0);
    return id;
}

static inline uint32_t id_of_function(const lode_database *db, const char *name)
{
    uint32_t id = 0;
    for (uint32_t i = 1; i < lode_database_context_count(db); i++) {
        const lode_function *function = lode_context_function(lode_database_context_at(db, i));
        if (function == NULL || strcmp(lode_function_name(function), name) != 0)
            continue;
        assert_int_equal(id, 0);
        id = lode_context_id(lode_database_context_at(db, i));
    }
    assert_int_not_equal(id, 0);
    return id;
}

/* A value of a profile, of profile 0 a statistic; 0 where it has none. */
static inline double value_of(const lode_database *db, uint32_t profile, uint32_t context, uint16_t id)
{
    lode_block block;
    double value = 0.0;
    assert_int_equal(lode_profile_block(db, profile, &block, NULL), LODE_OK);
    lode_status status = lode_block_lookup(&block, context, id, &value, NULL);
    assert_true(status == LODE_OK || status == LODE_NOT_FOUND);
    return value;
}

/* The same, by context. */
static inline double value_in_cct(const lode_database *db, uint32_t profile, uint32_t context, uint16_t id)
{
    lode_block block;
    double value = 0.0;
    assert_int_equal(lode_context_block(db, context, &block, NULL), LODE_OK);
    lode_status status = lode_block_lookup(&block, id, profile, &value, NULL);
    assert_true(status == LODE_OK || status == LODE_NOT_FOUND);
    return value;
}

#endif
