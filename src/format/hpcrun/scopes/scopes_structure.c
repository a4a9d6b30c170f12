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
static lode_status read_file(struct reading *reading, const struct lode_folder *folder, const char *name,
                             struct lode_report *report)
{
    struct lode_input source;
    uint64_t size;
    lode_status status = lode_folder_size(folder, name, &size, reading->error);
    if (status != LODE_OK)
        return status == LODE_ABSENT ? LODE_OK : status;
    status = lode_input_open(&source, folder, name, reading->error);
    if (status == LODE_OK)
        status = lode_hpcstruct_read(name, source.bytes, LODE_CHECK_STRUCTURE, report, use_module, reading);
    lode_input_close(&source);
    return status == LODE_END || status == LODE_ABSENT ? LODE_OK : status;
}

/* A file that the caller named. If it is missing, nothing is built. */
static lode_status read_named(struct reading *reading, const char *path)
{
    struct lode_folder folder;
    LODE_TRY(lode_folder_open_file(&folder, path, reading->error));
    lode_status status = read_file(reading, &folder, lode_folder_only(&folder), reading->asking->report);
    lode_folder_close(&folder);
    return status;
}

static lode_status read_directory(struct reading *reading, struct lode_report *report)
{
    struct lode_folder outer, folder;
    struct lode_arena arena;
    const char **names;
    size_t count = 0;
    LODE_TRY(lode_folder_open(&outer, reading->directory, reading->error));
    lode_status status = lode_folder_find_in(&folder, &outer, STRUCTS, reading->error);
    lode_folder_close(&outer);
    if (status != LODE_OK)
        return status == LODE_ABSENT ? LODE_OK : status;
    lode_arena_init(&arena, SIZE_MAX);
    status = lode_folder_list(&folder, &arena, &names, &count, reading->error);
    for (size_t i = 0; i < count && status == LODE_OK; i++)
        if (is_structure(names[i]))
            status = read_file(reading, &folder, names[i], report);
    lode_arena_free(&arena);
    lode_folder_close(&folder);
    return status;
}

lode_status lode_hpcrun_ask_structures(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                       lode_error *error)
{
    for (size_t i = 0; i < asking->options->structure_count; i++) {
        struct reading reading = {scopes, asking, NULL, error};
        LODE_TRY(read_named(&reading, asking->options->structures[i]));
    }
    for (size_t i = 0; i < asking->directory_count && !asking->options->ignore_structures; i++) {
        struct reading reading = {scopes, asking, asking->directories[i], error};
        LODE_TRY(read_directory(&reading, asking->report));
    }
    return LODE_OK;
}
