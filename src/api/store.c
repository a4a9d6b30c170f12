/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and checking stores of whatever format. */
#include "base/error.h"
#include "format/format.h"
#include <lode/store.h>
#include <sys/stat.h>

static lode_status open_folder(struct lode_folder *folder, const char *path, lode_error *error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        return lode_fail(error, LODE_ERR_ARGUMENT, path, LODE_NO_OFFSET,
                         "not a directory; give the directory that the files of the store are in");
    return lode_folder_open(folder, path, error);
}

static lode_status find_format(const struct lode_format **out, const struct lode_folder *folder,
                               const char *path, lode_error *error)
{
    *out = lode_format_of(folder);
    if (*out)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
                     "not a store that is known: no file of a HPCToolkit database (meta.db), of a uftrace "
                     "recording (info, task.txt) or of a trace store (traces.dat) is in it");
}

lode_status lode_store_probe(const char *path, lode_store_kind *kind, lode_error *error)
{
    struct lode_folder folder;
    const struct lode_format *format = NULL;
    LODE_TRY(open_folder(&folder, path, error));
    lode_status status = find_format(&format, &folder, path, error);
    if (status == LODE_OK)
        *kind = format->open_recording ? LODE_STORE_RECORDING : LODE_STORE_DATABASE;
    lode_folder_close(&folder);
    return status;
}

/* ---- databases ---- */

static lode_status open_in(lode_database **out, const struct lode_folder *folder, const char *path,
                           lode_error *error)
{
    const struct lode_format *format;
    LODE_TRY(find_format(&format, folder, path, error));
    if (format->open == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, path, LODE_NO_OFFSET,
                         "a recording (%s), where a database is needed", format->name);
    return format->open(out, folder, error);
}

lode_status lode_database_open(lode_database **out, const char *path, lode_error *error)
{
    struct lode_folder folder;
    *out = NULL;
    LODE_TRY(open_folder(&folder, path, error));
    lode_status status = open_in(out, &folder, path, error);
    lode_folder_close(&folder);
    return status;
}

lode_status lode_database_open_memory(lode_database **out, const lode_memory_file *files, size_t file_count,
                                      lode_error *error)
{
    struct lode_folder folder;
    *out = NULL;
    lode_folder_open_memory(&folder, files, file_count);
    return open_in(out, &folder, "", error);
}

/* ---- recordings ---- */

static lode_status open_recording_in(lode_recording **out, const struct lode_folder *folder, const char *path,
                                     const lode_recording_options *options, lode_error *error)
{
    static const lode_recording_options defaults = LODE_RECORDING_OPTIONS_INIT;
    const struct lode_format *format;
    LODE_TRY(find_format(&format, folder, path, error));
    if (format->open_recording == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, path, LODE_NO_OFFSET,
                         "a database (%s), where a recording is needed", format->name);
    return format->open_recording(out, folder, options ? options : &defaults, error);
}

lode_status lode_recording_open(lode_recording **out, const char *path, const lode_recording_options *options,
                                lode_error *error)
{
    struct lode_folder folder;
    *out = NULL;
    LODE_TRY(open_folder(&folder, path, error));
    lode_status status = open_recording_in(out, &folder, path, options, error);
    lode_folder_close(&folder);
    return status;
}

lode_status lode_recording_open_memory(lode_recording **out, const lode_memory_file *files, size_t file_count,
                                       const lode_recording_options *options, lode_error *error)
{
    struct lode_folder folder;
    *out = NULL;
    lode_folder_open_memory(&folder, files, file_count);
    return open_recording_in(out, &folder, "", options, error);
}

/* ---- checks ---- */

static lode_status check_in(const struct lode_folder *folder, const char *path,
                            const lode_check_options *options, lode_check_result *result, lode_error *error)
{
    const struct lode_format *format;
    *result = (lode_check_result){0};
    LODE_TRY(find_format(&format, folder, path, error));
    return format->check(folder, options, result, error);
}

lode_status lode_check(const char *path, const lode_check_options *options, lode_check_result *result,
                       lode_error *error)
{
    struct lode_folder folder;
    LODE_TRY(open_folder(&folder, path, error));
    lode_status status = check_in(&folder, path, options, result, error);
    lode_folder_close(&folder);
    return status;
}

lode_status lode_check_memory(const lode_memory_file *files, size_t file_count,
                              const lode_check_options *options, lode_check_result *result, lode_error *error)
{
    struct lode_folder folder;
    lode_folder_open_memory(&folder, files, file_count);
    return check_in(&folder, "", options, result, error);
}

size_t lode_rule_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < lode_format_count; i++)
        count += lode_formats[i]->rule_count;
    return count;
}

const lode_rule *lode_rule_at(size_t index)
{
    for (size_t i = 0; i < lode_format_count; i++) {
        if (index < lode_formats[i]->rule_count)
            return &lode_formats[i]->rules[index];
        index -= lode_formats[i]->rule_count;
    }
    return NULL;
}
