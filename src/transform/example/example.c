/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory with an example store of each kind, written atomically. */
#include "transform/example/example.h"

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/options.h"
#include "format/format.h"
#include "format/replace.h"
#include <errno.h>
#include <fcntl.h>
#include <lode/unstable/synth.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char solver_name[] = "solver";

/* ---- what it may replace ---- */

static lode_status refuse(const char *path, const char *name, lode_error *error)
{
    return lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
                     "it contains %s, which is not an example, so it is not replaced", name);
}

static const struct lode_replace *find_store(const char *name)
{
    if (strcmp(name, solver_name) == 0)
        return &lode_replace_database;
    for (size_t i = 0; i < lode_formats_count; i++)
        for (size_t k = 0; k < lode_formats[i]->target_count; k++) {
            const struct lode_target_example *example = lode_formats[i]->targets[k].example;
            if (example && strcmp(name, example->name) == 0)
                return example->replace;
        }
    return NULL;
}

static lode_status check_store(int directory, const char *path, const char *name, lode_error *error)
{
    const struct lode_replace *store = find_store(name);
    int fd = store ? openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (store == NULL || (fd < 0 && (errno == ENOTDIR || errno == ELOOP)))
        return refuse(path, name, error);
    if (fd < 0)
        return lode_fail_errno(error, path, "cannot read the existing directory");
    lode_status status = store->check(fd, path, error);
    close(fd);
    return status;
}

typedef lode_status entry_fn(int directory, const char *path, const char *name, lode_error *error);

static lode_status check_entries(int directory, const char *path, entry_fn *check, lode_error *error)
{
    struct lode_folder folder = {.directory = directory};
    struct lode_arena arena;
    const char **names;
    size_t count = 0;
    lode_arena_init(&arena, SIZE_MAX);
    lode_status status = lode_folder_list(&folder, &arena, &names, &count, error);
    for (size_t i = 0; i < count && status == LODE_OK; i++)
        if (strcmp(names[i], ".") != 0 && strcmp(names[i], "..") != 0)
            status = check(directory, path, names[i], error);
    lode_arena_free(&arena);
    return status;
}

static lode_status check_examples(int directory, const char *path, lode_error *error)
{
    return check_entries(directory, path, check_store, error);
}

static lode_status refuse_any(int directory, const char *path, const char *name, lode_error *error)
{
    (void)directory;
    (void)name;
    return lode_fail(error, LODE_ERR_ARGUMENT, path, LODE_NO_OFFSET, "already exists");
}

static lode_status check_empty(int directory, const char *path, lode_error *error)
{
    return check_entries(directory, path, refuse_any, error);
}

static const struct lode_replace replace_examples = {"directory", check_examples};
static const struct lode_replace replace_empty = {"directory", check_empty};

/* ---- writing ---- */

static lode_status write_source(struct lode_output *scratch, const struct lode_example_source_file *source,
                                lode_error *error)
{
    struct lode_output_file file;
    LODE_TRY(lode_output_file_create(&file, scratch, source->name, error));
    lode_status status = lode_output_write(&file, source->text, strlen(source->text), error);
    if (status == LODE_OK)
        return lode_output_file_close(&file, error);
    lode_output_file_abandon(&file);
    return status;
}

/* Its source files are beside it, to be copied into it. */
static lode_status write_solver(struct lode_output *scratch, const char *path, unsigned threads,
                                lode_error *error)
{
    char *sources = lode_output_file_path(scratch, ".");
    LODE_TRY_ALLOC(sources, error);
    lode_status status = LODE_OK;
    for (const struct lode_example_source_file *i = lode_example_source_files; i->name && status == LODE_OK;
         i++)
        status = write_source(scratch, i, error);
    if (status == LODE_OK)
        status = lode_example_solver(path, sources, threads, error);
    free(sources);
    return status;
}

static lode_status write_store(struct lode_output *output, struct lode_output *scratch,
                               const struct lode_target_example *example, unsigned threads, lode_error *error)
{
    const char *name = example ? example->name : solver_name;
    char *path = lode_output_file_path(scratch, name);
    LODE_TRY_ALLOC(path, error);
    lode_status status = example ? example->write(path, error) : write_solver(scratch, path, threads, error);
    free(path);
    return status == LODE_OK ? lode_output_adopt(output, scratch, name, error) : status;
}

static lode_status write_all(struct lode_output *output, struct lode_output *scratch, unsigned threads,
                             lode_error *error)
{
    LODE_TRY(lode_output_scratch(scratch, output, error));
    LODE_TRY(write_store(output, scratch, NULL, threads, error));
    for (size_t i = 0; i < lode_formats_count; i++)
        for (size_t k = 0; k < lode_formats[i]->target_count; k++)
            if (lode_formats[i]->targets[k].example)
                LODE_TRY(write_store(output, scratch, lode_formats[i]->targets[k].example, threads, error));
    return lode_output_commit(output, error);
}

lode_status lode_synth_examples(const char *path, const lode_synth_example_options *given, lode_error *error)
{
    lode_synth_example_options options = LODE_SYNTH_EXAMPLE_OPTIONS_INIT;
    struct lode_output output = LODE_OUTPUT_INIT, scratch = LODE_OUTPUT_INIT;
    LODE_TRY(lode_options_take(&options, given, error));
    lode_status status =
        lode_output_create(&output, path, options.force ? &replace_examples : &replace_empty, error);
    if (status == LODE_OK)
        status = write_all(&output, &scratch, options.threads, error);
    lode_output_close(&scratch);
    lode_output_close(&output);
    return status;
}
