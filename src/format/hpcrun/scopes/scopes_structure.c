/* SPDX-License-Identifier: BSD-3-Clause */
/* Structure files as a provider: each is read once, and answers for all its binaries. */
#include "base/io/input.h"
#include "format/hpcrun/scopes/module_file.h"
#include <limits.h>
#include <stdio.h>

#define STRUCTS "structs"
#define SUFFIX  ".hpcstruct"

struct reading {
    struct hpcrun_scopes *scopes;
    const struct hpcrun_asking *asking;
    const char *directory; /* of the measurements; NULL: of a file that the caller named */
    lode_error *error;
};

/* Whether a binary was at another place when it was measured: as the caller says. */
static bool is_replaced(const struct hpcrun_asking *asking, const char *measured, const char *path)
{
    char replaced[PATH_MAX];
    for (size_t i = 0; i < asking->binaries.replacement_count; i++)
        if (lode_replace_prefix(asking->binaries.replacements[i], measured, replaced) &&
            strcmp(replaced, path) == 0)
            return true;
    return false;
}

/* A path in a structure file is absolute, or relative to the measurements that the file is of. */
static bool is_meant(const struct reading *reading, const struct hpcrun_question *question, const char *path)
{
    bool is_same = strcmp(question->path, path) == 0;
    if (question->is_complete)
        return false;
    if (reading->directory == NULL)
        return is_same || is_replaced(reading->asking, question->path, path);
    return is_same && (question->directory == NULL || strcmp(question->directory, reading->directory) == 0);
}

/* Of several that describe a binary, the first one that has any range answers. */
static lode_status use_module(void *user, const struct hpcstruct_module *module)
{
    const struct reading *reading = user;
    struct hpcrun_scopes *scopes = reading->scopes;
    struct hpcrun_answer answer = {.code = module, .is_complete = true};
    for (uint32_t i = 0; i < scopes->questions.count && module->ranges.count > 0; i++)
        if (is_meant(reading, LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, i), module->path))
            LODE_TRY(lode_hpcrun_answer(scopes, i, &answer, reading->error));
    return LODE_OK;
}

static bool is_structure(const char *name)
{
    size_t length = strlen(name), suffix = sizeof SUFFIX - 1;
    return length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
}

/* What a damaged file says before the damage is used. */
static lode_status read_file(struct reading *reading, const struct lode_folder *folder, const char *name)
{
    struct lode_input source;
    uint64_t size;
    LODE_TRY(lode_folder_size(folder, name, &size, reading->error));
    lode_status status = lode_input_open(&source, folder, name, reading->error);
    if (status == LODE_OK)
        status = lode_hpcstruct_read(name, source.bytes, LODE_CHECK_STRUCTURE, reading->asking->report,
                                     use_module, reading);
    lode_input_close(&source);
    return status == LODE_END ? LODE_OK : status;
}

/* The folder with the structure files of measurements. LODE_ABSENT: there is none. */
static lode_status open_structures(struct lode_folder *out, const char *directory, lode_error *error)
{
    struct lode_folder outer;
    LODE_TRY(lode_folder_open(&outer, directory, error));
    lode_status status = lode_folder_find_in(out, &outer, STRUCTS, error);
    lode_folder_close(&outer);
    return status;
}

/* If a file that the caller named is missing, nothing is built. */
lode_status lode_hpcrun_ask_structure(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                      const struct hpcrun_structure_file *file, lode_error *error)
{
    struct reading reading = {scopes, asking, file->directory, error};
    struct lode_folder folder;
    LODE_TRY(file->directory ? open_structures(&folder, file->directory, error)
                             : lode_folder_open_file(&folder, file->name, error));
    lode_status status =
        read_file(&reading, &folder, file->directory ? file->name : lode_folder_only(&folder));
    lode_folder_close(&folder);
    return status;
}

static lode_status add_structure(struct lode_array *files, struct hpcrun_structure_file file,
                                 lode_error *error)
{
    struct hpcrun_structure_file *added = lode_array_push(files);
    LODE_TRY_ALLOC(added && file.name, error);
    *added = file;
    return LODE_OK;
}

static lode_status list_directory(const char *directory, struct lode_arena *arena, struct lode_array *files,
                                  lode_error *error)
{
    struct lode_folder folder;
    const char **names;
    size_t count = 0;
    lode_status status = open_structures(&folder, directory, error);
    if (status != LODE_OK)
        return status == LODE_ABSENT ? LODE_OK : status;
    status = lode_folder_list(&folder, arena, &names, &count, error);
    for (size_t i = 0; i < count && status == LODE_OK; i++) {
        struct hpcrun_structure_file file = {.directory = directory, .name = names[i]};
        if (!is_structure(names[i]))
            continue;
        status = lode_folder_size(&folder, names[i], &file.size, error);
        if (status == LODE_OK)
            status = add_structure(files, file, error);
        status = status == LODE_ABSENT ? LODE_OK : status;
    }
    lode_folder_close(&folder);
    return status;
}

lode_status lode_hpcrun_list_structures(const struct hpcrun_asking *asking, struct lode_arena *arena,
                                        struct lode_array *files, lode_error *error)
{
    for (size_t i = 0; i < asking->options->structure_count; i++) {
        struct stat about;
        struct hpcrun_structure_file file = {.name = asking->options->structures[i]};
        file.size = stat(file.name, &about) == 0 ? (uint64_t)about.st_size : 0;
        LODE_TRY(add_structure(files, file, error));
    }
    for (size_t i = 0; i < asking->directory_count && !asking->options->ignore_structures; i++)
        LODE_TRY(list_directory(asking->directories[i], arena, files, error));
    return LODE_OK;
}

static lode_status ask_listed(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                              const struct lode_array *files, lode_error *error)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct hpcrun_structure_file *file = LODE_ARRAY_AT(files, struct hpcrun_structure_file, i);
        lode_status status = lode_hpcrun_ask_structure(scopes, asking, file, error);
        if (status != LODE_ABSENT || file->directory == NULL)
            LODE_TRY(status);
    }
    return LODE_OK;
}

lode_status lode_hpcrun_ask_structures(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                       lode_error *error)
{
    struct lode_arena arena;
    struct lode_array files;
    lode_arena_init(&arena, SIZE_MAX);
    lode_array_init(&files, sizeof(struct hpcrun_structure_file), UINT32_MAX - 1);
    lode_status status = lode_hpcrun_list_structures(asking, &arena, &files, error);
    if (status == LODE_OK)
        status = ask_listed(scopes, asking, &files, error);
    lode_array_free(&files);
    lode_arena_free(&arena);
    return status;
}
