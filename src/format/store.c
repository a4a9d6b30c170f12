/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and checks stores of any format. */
#include "base/comm/ranks.h"
#include "base/error.h"
#include "base/options.h"
#include "format/format.h"
#include "model/database/database.h"
#include "model/recording/recording.h"
#include <lode/private/measured.h>
#include <lode/private/raw.h>
#include <lode/store.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* A directory, or a file if some format stores single files. */
lode_status lode_store_folder(struct lode_folder *folder, const char *path, lode_error *error)
{
    struct stat status;
    bool takes_files = false;
    for (size_t i = 0; i < lode_formats_count; i++)
        takes_files |= lode_formats[i]->is_file;
    if (stat(path, &status) != 0 || S_ISDIR(status.st_mode))
        return lode_folder_open(folder, path, error);
    if (takes_files && S_ISREG(status.st_mode))
        return lode_folder_open_file(folder, path, error);
    return lode_fail(error, LODE_ERR_ARGUMENT, path, LODE_NO_OFFSET,
                     "not a directory; expected the directory of a store");
}

/* The expected stores: "a, b or c". */
static void list_marks(char *out, size_t size)
{
    size_t last = lode_formats_count, used = 0;
    while (last > 0 && lode_formats[last - 1]->mark == NULL)
        last--;
    out[0] = '\0';
    for (size_t i = 0; i < last && used < size; i++) {
        const char *mark = lode_formats[i]->mark, *before = used == 0 ? "" : i + 1 == last ? " or " : ", ";
        if (mark)
            used += (size_t)snprintf(out + used, size - used, "%s%s", before, mark);
    }
}

/* Some stores are known by the names in a directory, which may be impossible to list. */
static lode_status try_listing(const struct lode_folder *folder, const char *path, lode_error *error)
{
    struct lode_arena arena;
    const char **names;
    size_t count;
    lode_error why = {0};
    lode_arena_init(&arena, SIZE_MAX);
    lode_status status = lode_folder_list(folder, &arena, &names, &count, &why);
    lode_arena_free(&arena);
    return status == LODE_OK ? LODE_OK : lode_fail(error, status, path, LODE_NO_OFFSET, "%s", why.text);
}

static lode_status find_format(const struct lode_format **out, const struct lode_folder *folder,
                               const char *path, lode_error *error)
{
    char marks[256];
    *out = lode_format_of(folder);
    if (*out == NULL && lode_folder_only(folder) == NULL) {
        LODE_TRY(try_listing(folder, path, error));
        *out = lode_format_of(folder);
    }
    if (*out)
        return LODE_OK;
    for (size_t i = 0; i < lode_formats_count && lode_folder_only(folder); i++) {
        const char *text = lode_formats[i]->explain ? lode_formats[i]->explain(folder) : NULL;
        if (text)
            return lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET, "not a store: %s", text);
    }
    list_marks(marks, sizeof marks);
    return lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET, "unknown store: no %s", marks);
}

static lode_store_kind kind_of(const struct lode_format *format)
{
    return format->open_recording      ? LODE_STORE_RECORDING
           : format->open_measurements ? LODE_STORE_MEASUREMENTS
                                       : LODE_STORE_DATABASE;
}

lode_status lode_store_format(const char *path, const struct lode_format **out, lode_error *error)
{
    struct lode_folder folder;
    LODE_TRY(lode_store_folder(&folder, path, error));
    lode_status status = find_format(out, &folder, path, error);
    lode_folder_close(&folder);
    return status;
}

lode_status lode_store_probe(const char *path, lode_store_kind *kind, lode_error *error)
{
    const struct lode_format *format = NULL;
    LODE_TRY(lode_store_format(path, &format, error));
    *kind = kind_of(format);
    return LODE_OK;
}

int lode_store_is_measured(const char *path)
{
    const struct lode_format *format = NULL;
    lode_error error = {0};
    return lode_store_format(path, &format, &error) == LODE_OK && lode_format_has_databases(format) &&
           format->open_source;
}

/* ---- opening ---- */

/* What the caller accepts: at least one of the three is not NULL. */
struct opening {
    lode_database **database;
    lode_recording **recording;
    lode_measurements **measurements;
    const lode_recording_options *options;
    const lode_raw_visitor *visitor; /* of measurements; may be NULL */
};

static lode_status refuse_kind(const struct opening *opening, const struct lode_format *format,
                               const char *path, lode_error *error)
{
    static const char *const words[] = {[LODE_STORE_DATABASE] = "a database",
                                        [LODE_STORE_RECORDING] = "a recording",
                                        [LODE_STORE_MEASUREMENTS] = "measurements"};
    const char *expected = opening->database && opening->recording ? "a database or a recording"
                           : opening->database                     ? words[LODE_STORE_DATABASE]
                           : opening->recording                    ? words[LODE_STORE_RECORDING]
                                                                   : words[LODE_STORE_MEASUREMENTS];
    return lode_fail(error, LODE_ERR_ARGUMENT, path, LODE_NO_OFFSET, "%s (%s); expected %s",
                     words[kind_of(format)], format->name, expected);
}

static lode_status open_in(const struct opening *opening, lode_store_kind *kind,
                           const struct lode_folder *folder, const char *path, lode_error *error)
{
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    const struct lode_format *format;
    LODE_TRY(lode_options_take(&options, opening->options, error));
    LODE_TRY(find_format(&format, folder, path, error));
    if (kind)
        *kind = kind_of(format);
    if (format->open_recording && opening->recording)
        return format->open_recording(opening->recording, folder, &options, error);
    if (format->open_measurements && opening->measurements)
        return format->open_measurements(opening->measurements, folder, opening->visitor, error);
    if (lode_format_has_databases(format) && opening->database)
        return lode_format_open(format, opening->database, folder, error);
    return refuse_kind(opening, format, path, error);
}

/* If a file shrank while it was read, discard the result and the findings. */
static lode_status watch_opened(const struct opening *opening, const struct lode_folder *folder,
                                lode_status status, lode_error *error)
{
    if (status == LODE_OK && opening->database && *opening->database)
        (*opening->database)->watch = lode_watch_keep(folder->watch);
    if (status == LODE_OK && opening->recording && *opening->recording)
        (*opening->recording)->watch = lode_watch_keep(folder->watch);
    lode_status intact = lode_watch_check(folder->watch, error);
    if (intact == LODE_OK)
        return status;
    if (opening->measurements) {
        lode_measurements_close(*opening->measurements);
        *opening->measurements = NULL;
    }
    if (opening->database) {
        lode_database_close(*opening->database);
        *opening->database = NULL;
    }
    if (opening->recording) {
        lode_recording_close(*opening->recording);
        *opening->recording = NULL;
    }
    return intact;
}

static lode_status open_path(const struct opening *opening, lode_store_kind *kind, const char *path,
                             lode_error *error)
{
    struct lode_folder folder;
    LODE_TRY(lode_store_folder(&folder, path, error));
    lode_status status = open_in(opening, kind, &folder, path, error);
    status = watch_opened(opening, &folder, status, error);
    lode_folder_close(&folder);
    return status;
}

static lode_status open_memory(const struct opening *opening, const lode_memory_file *files,
                               size_t file_count, lode_error *error)
{
    struct lode_folder folder;
    lode_folder_open_memory(&folder, files, file_count);
    return open_in(opening, NULL, &folder, "", error);
}

lode_status lode_open(lode_database **database, lode_recording **recording, lode_store_kind *kind,
                      const char *path, const lode_recording_options *options, lode_error *error)
{
    if (database)
        *database = NULL;
    if (recording)
        *recording = NULL;
    return open_path(&(struct opening){.database = database, .recording = recording, .options = options},
                     kind, path, error);
}

lode_status lode_database_open(lode_database **out, const char *path, lode_error *error)
{
    return lode_open(out, NULL, NULL, path, NULL, error);
}

lode_status lode_database_open_memory(lode_database **out, const lode_memory_file *files, size_t file_count,
                                      lode_error *error)
{
    *out = NULL;
    return open_memory(&(struct opening){.database = out}, files, file_count, error);
}

lode_status lode_recording_open(lode_recording **out, const char *path, const lode_recording_options *options,
                                lode_error *error)
{
    return lode_open(NULL, out, NULL, path, options, error);
}

lode_status lode_recording_open_memory(lode_recording **out, const lode_memory_file *files, size_t file_count,
                                       const lode_recording_options *options, lode_error *error)
{
    *out = NULL;
    return open_memory(&(struct opening){.recording = out, .options = options}, files, file_count, error);
}

lode_status lode_measurements_open(lode_measurements **out, const char *path, lode_error *error)
{
    *out = NULL;
    return open_path(&(struct opening){.measurements = out}, NULL, path, error);
}

lode_status lode_measurements_open_memory(lode_measurements **out, const lode_memory_file *files,
                                          size_t file_count, lode_error *error)
{
    *out = NULL;
    return open_memory(&(struct opening){.measurements = out}, files, file_count, error);
}

lode_status lode_raw_visit(lode_measurements **out, const char *path, const lode_raw_visitor *given,
                           lode_error *error)
{
    lode_raw_visitor visitor = LODE_RAW_VISITOR_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&visitor, given, error));
    return open_path(&(struct opening){.measurements = out, .visitor = &visitor}, NULL, path, error);
}

/* ---- checks ---- */

/* Copies of source files, and derived metrics: whatever their size, no check reads them. */
static bool is_companion(const char *name)
{
    return strcmp(name, "src") == 0 || strcmp(name, "metrics") == 0;
}

/* Adds the sizes of files, those in directories of the store too, until there are enough. */
/* NOLINTNEXTLINE(misc-no-recursion): one level */
static lode_status add_sizes(const struct lode_folder *folder, bool is_inner, uint64_t most, uint64_t *sum,
                             lode_error *error)
{
    struct lode_arena arena;
    const char **names;
    size_t count = 0;
    lode_arena_init(&arena, SIZE_MAX);
    lode_status status = lode_folder_list(folder, &arena, &names, &count, error);
    for (size_t i = 0; i < count && status == LODE_OK && *sum <= most; i++) {
        struct lode_folder inner;
        uint64_t size = 0;
        lode_status found = lode_folder_size(folder, names[i], &size, NULL);
        *sum += found == LODE_OK ? size : 0;
        if (found != LODE_ABSENT || is_inner || is_companion(names[i]) ||
            lode_folder_find_in(&inner, folder, names[i], NULL) != LODE_OK)
            continue;
        status = add_sizes(&inner, true, most, sum, error);
        lode_folder_close(&inner);
    }
    lode_arena_free(&arena);
    return status;
}

/* A large store is checked briefly if the options say so. */
static lode_status limit_level(lode_check_options *options, const struct lode_folder *folder,
                               lode_error *error)
{
    struct lode_folder unwatched = *folder;
    uint64_t sum = 0;
    if (options->most_bytes == 0)
        return LODE_OK;
    /* Only what is read must stay as it is. */
    unwatched.watch = NULL;
    LODE_TRY(add_sizes(&unwatched, false, options->most_bytes, &sum, error));
    if (sum > options->most_bytes)
        options->level = LODE_CHECK_QUICK;
    return LODE_OK;
}

/* What all ranks are given: a path, or files in memory. */
struct checking {
    const char *path;
    const lode_memory_file *files;
    size_t file_count;
    const lode_check_options *options;
    lode_check_result *result;
};

static uint64_t number_of(const struct lode_format *format)
{
    uint64_t number = 0;
    while (number < lode_formats_count && lode_formats[number] != format)
        number++;
    return number;
}

/* Formats whose checks are not collective leave the work to rank 0. */
static lode_status check_in(const struct lode_folder *folder, const struct checking *checking,
                            struct lode_comm *comm, lode_check_result *result, lode_error *error)
{
    const struct lode_format *format;
    lode_check_options options = *checking->options;
    lode_status status = find_format(&format, folder, checking->path ? checking->path : "", error);
    if (status == LODE_OK)
        status = limit_level(&options, folder, error);
    if (status != LODE_OK)
        return status;
    const uint64_t agreed[] = {number_of(format), (uint64_t)options.level};
    LODE_TRY(lode_ranks_agree(comm, agreed, 2, "opening", error));
    options.comm = format->checks_on_ranks && comm->place.size > 1 ? comm : NULL;
    if (options.comm || comm->place.rank == 0)
        status = format->import ? lode_import_check_store(folder, &options, result, format->import,
                                                          format->rules, format->rule_count, error)
                                : format->check(folder, &options, result, error);
    result->level = options.level;
    return status;
}

static lode_status check_path(const struct checking *checking, struct lode_comm *comm,
                              lode_check_result *result, lode_error *error)
{
    struct lode_folder folder;
    LODE_TRY(lode_store_folder(&folder, checking->path, error));
    lode_status status = check_in(&folder, checking, comm, result, error);
    lode_status intact = lode_watch_check(folder.watch, error);
    lode_folder_close(&folder);
    return intact == LODE_OK ? status : intact;
}

/* What one rank does. */
static lode_status check_on_rank(void *context, struct lode_comm *comm, lode_error *error)
{
    const struct checking *checking = context;
    struct lode_folder folder;
    lode_check_result own = {0};
    lode_status status;
    if (checking->path) {
        status = check_path(checking, comm, &own, error);
    } else {
        lode_folder_open_memory(&folder, checking->files, checking->file_count);
        status = check_in(&folder, checking, comm, &own, error);
    }
    if (status == LODE_OK)
        status = lode_comm_broadcast(comm, &own, sizeof own, error);
    /* Ranks that are threads share one result. */
    if (comm->place.rank == 0 || checking->options->comm)
        *checking->result = own;
    return status;
}

static lode_status check(struct checking *checking, const lode_check_options *given,
                         lode_check_result *result, size_t result_size, lode_error *error)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result own = {0};
    checking->options = &options;
    checking->result = &own;
    lode_status status = lode_options_take(&options, given, error);
    const struct lode_ranks ranks = {options.comm, options.local_ranks, options.on_progress, options.user};
    if (status == LODE_OK)
        status = lode_ranks_run(&ranks, check_on_rank, checking, error);
    lode_result_give(result, result_size, &own, sizeof own);
    return status;
}

lode_status lode_check_sized(const char *path, const lode_check_options *options, lode_check_result *result,
                             size_t result_size, lode_error *error)
{
    return check(&(struct checking){.path = path}, options, result, result_size, error);
}

lode_status lode_check_memory_sized(const lode_memory_file *files, size_t file_count,
                                    const lode_check_options *options, lode_check_result *result,
                                    size_t result_size, lode_error *error)
{
    return check(&(struct checking){.files = files, .file_count = file_count}, options, result, result_size,
                 error);
}

/* How many findings before this one are of its rule. */
static uint64_t of_same_rule(const lode_finding *found, size_t index)
{
    uint64_t count = 0;
    for (size_t i = 0; i < index; i++)
        count += found[i].rule == found[index].rule;
    return count;
}

/* Passes on what opening found; the rest is only counted. */
static lode_status pass_found(const lode_database *db, const lode_check_options *options,
                              lode_check_result *result, lode_error *error)
{
    uint64_t limit = options->limit_per_rule ? options->limit_per_rule : UINT64_MAX;
    *result = db->found_result;
    result->suppressed = result->errors + result->warnings + result->notes;
    for (size_t i = 0; i < db->found_count; i++) {
        if (of_same_rule(db->found, i) >= limit)
            continue;
        result->suppressed--;
        if (options->on_finding && options->on_finding(options->user, &db->found[i]) != 0)
            return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
    }
    return LODE_OK;
}

lode_status lode_database_check_sized(const lode_database *db, const char *path,
                                      const lode_check_options *given, lode_check_result *result,
                                      size_t result_size, lode_error *error)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result own = {0};
    if (!db->is_read)
        return lode_check_sized(path, given, result, result_size, error);
    lode_status status = lode_options_take(&options, given, error);
    if (options.comm && options.comm->place.rank > 0)
        options.on_finding = NULL;
    if (status == LODE_OK)
        status = pass_found(db, &options, &own, error);
    lode_result_give(result, result_size, &own, sizeof own);
    return status;
}

/* Callers of these two functions, instead of the macros, use the result struct of 0.1. */
#define RESULT_0_1 (offsetof(lode_check_result, has_requests) + sizeof(int))

lode_status(lode_check)(const char *path, const lode_check_options *options, lode_check_result *result,
                        lode_error *error)
{
    return lode_check_sized(path, options, result, RESULT_0_1, error);
}

lode_status(lode_check_memory)(const lode_memory_file *files, size_t file_count,
                               const lode_check_options *options, lode_check_result *result,
                               lode_error *error)
{
    return lode_check_memory_sized(files, file_count, options, result, RESULT_0_1, error);
}

size_t lode_rule_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < lode_formats_count; i++)
        count += lode_formats[i]->rule_count;
    return count;
}

const lode_rule *lode_rule_at(size_t index)
{
    for (size_t i = 0; i < lode_formats_count; i++) {
        if (index < lode_formats[i]->rule_count)
            return &lode_formats[i]->rules[index];
        index -= lode_formats[i]->rule_count;
    }
    return NULL;
}
