/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and checks measurements: the same walk over the files. To open them, each file is read with
 * a strict report and skipped if it has an error; to check them, with one that goes on.
 */
#include "base/compare.h"
#include "base/io/bytes.h"
#include "base/progress.h"
#include "format/hpcrun/hpcrun.h"
#include "format/hpcrun/read/files.h"
#include "format/hpcrun/read/gather.h"
#include "format/hpcrun/read/visit.h"
#include "format/hpcrun/scopes/kernel.h"
#include "format/hpcrun/scopes/logical.h"
#include "format/hpcrun/source/source.h"
#include <limits.h>
#include <lode/private/raw.h>
#include <stdio.h>
#include <stdlib.h>

#define FORMAT_NAME   "hpcrun"
#define STRUCT_SUFFIX ".hpcstruct"
#define KERNEL_PREFIX "vmlinux."

/* Where files about modules are. */
static const struct folder_kind {
    const char *folder, *suffix;
    hpcstruct_reader_fn read;
} folder_kinds[] = {
    {"structs", STRUCT_SUFFIX, lode_hpcstruct_read},
    {KERNEL_FOLDER, "", lode_kernel_read},
    {LOGICAL_FOLDER, "", lode_logical_read},
};

struct walk {
    const struct lode_folder *folder;
    lode_check_level level;
    struct lode_report *report;      /* of a check, or NULL */
    lode_measurements *measurements; /* that are opened, or NULL */
    const lode_raw_visitor *visitor; /* or NULL */
    struct hpcrun_listed *files;     /* sorted by name */
    size_t file_count;
    lode_status first_skip; /* what is wrong with the first file that was skipped */
    lode_error *error;
};

/* ---- files ---- */

/* What a file is read with: the report of the check, or a strict one. */
struct reading {
    struct lode_report own, *report;
    lode_error why;
    uint64_t errors; /* before it */
};

static void begin_reading(struct reading *reading, const struct walk *walk)
{
    reading->why = (lode_error){0};
    reading->report = walk->report;
    if (walk->report == NULL) {
        lode_report_strict(&reading->own, lode_hpcrun_rules, &reading->why);
        reading->report = &reading->own;
    }
    reading->errors = reading->report->result.errors;
}

/*
 * Of what a reader returned: LODE_OK if the file can be used, LODE_END if it has errors or was
 * looked at only. Else the walk ends.
 */
static lode_status end_reading(const struct reading *reading, struct walk *walk, const char *name,
                               lode_status status)
{
    if (status == LODE_OK || status == LODE_END)
        return reading->report->result.errors > reading->errors ? LODE_END : status;
    bool is_unread = status == LODE_ERR_UNSUPPORTED; /* by this build */
    if (walk->report)
        return is_unread ? LODE_END : status; /* in its error already */
    if (status == LODE_ERR_CORRUPT || is_unread) {
        LODE_TRY_ALLOC(lode_measurements_add_skip(walk->measurements, name, reading->why.text), walk->error);
        if (walk->measurements->skips.count > 1)
            return LODE_END;
        walk->first_skip = status; /* what is said if no file can be read */
        if (walk->error)
            *walk->error = reading->why;
        return LODE_END;
    }
    if (walk->error)
        *walk->error = reading->why;
    return status;
}

static lode_status use_trace(struct walk *walk, const struct hpcrun_trace *trace, const char *name,
                             uint64_t bytes, bool is_alone)
{
    if (walk->report)
        walk->report->result.samples += trace->count;
    if (walk->measurements)
        LODE_TRY(lode_hpcrun_gather_trace(walk->measurements, trace, name, bytes, is_alone, walk->error));
    if (walk->visitor == NULL)
        return LODE_OK;
    LODE_TRY(lode_hpcrun_visit_trace(walk->visitor, trace, name, walk->error));
    return is_alone ? lode_hpcrun_visit_end(walk->visitor, walk->error) : LODE_OK;
}

/* `profile` is the one that it belongs to, and was read; NULL: there is none, or it has errors. */
static lode_status read_trace(struct walk *walk, const char *name, const struct hpcrun_profile *profile,
                              bool is_single)
{
    struct lode_input source;
    struct hpcrun_trace trace;
    struct reading reading;
    lode_status status = lode_input_open(&source, walk->folder, name, walk->error);
    if (status == LODE_OK) {
        begin_reading(&reading, walk);
        status = lode_hpcrun_read_trace(&trace, profile, name, source.bytes, walk->level, reading.report);
        status = end_reading(&reading, walk, name, status);
    }
    /* Without its profile, a trace of a directory has no use. */
    if (status == LODE_OK && (profile || is_single || walk->report))
        status = use_trace(walk, &trace, name, source.bytes.size, profile == NULL);
    lode_input_close(&source);
    return status == LODE_END || status == LODE_ABSENT ? LODE_OK : status;
}

static lode_status use_profile(struct walk *walk, const struct hpcrun_profile *profile)
{
    if (walk->report) {
        walk->report->result.contexts += profile->node_count;
        walk->report->result.values += profile->value_count;
    }
    if (walk->measurements)
        LODE_TRY(lode_hpcrun_gather(walk->measurements, profile, walk->error));
    return walk->visitor ? lode_hpcrun_visit(walk->visitor, profile, walk->error) : LODE_OK;
}

/* A profile, and its trace; NULL: it has none. */
static lode_status read_profile(struct walk *walk, const char *name, const char *trace)
{
    struct lode_input source;
    struct hpcrun_profile profile;
    struct reading reading;
    lode_status status = lode_input_open(&source, walk->folder, name, walk->error);
    lode_hpcrun_init(&profile);
    if (status == LODE_OK) {
        begin_reading(&reading, walk);
        status = lode_hpcrun_read(&profile, name, source.bytes, walk->level, reading.report);
        status = end_reading(&reading, walk, name, status);
        if (walk->report)
            walk->report->result.profiles++;
    }
    bool is_sound = status == LODE_OK;
    if (is_sound)
        status = use_profile(walk, &profile);
    if (status == LODE_END)
        status = LODE_OK;
    if (status == LODE_OK && trace && (is_sound || walk->report))
        status = read_trace(walk, trace, is_sound ? &profile : NULL, false);
    if (status == LODE_OK && is_sound && walk->visitor)
        status = lode_hpcrun_visit_end(walk->visitor, walk->error);
    lode_hpcrun_free(&profile);
    lode_input_close(&source);
    return status == LODE_ABSENT ? LODE_OK : status;
}

/* Nobody can read it without its profile: whoever opens it is told. */
static lode_status read_lone_trace(struct walk *walk, const char *name)
{
    if (walk->report == NULL) {
        LODE_TRY_ALLOC(lode_measurements_add_skip(walk->measurements, name,
                                                  "hpctrace-alone: there is no profile of that name"),
                       walk->error);
        return LODE_OK;
    }
    LODE_TRY(lode_report_add(walk->report, HPCRUN_RULE_TRACE_ALONE, name, LODE_NO_OFFSET,
                             "there is no profile of that name"));
    return read_trace(walk, name, NULL, false);
}

/* What a structure file is read for. */
struct structure_use {
    struct walk *walk;
    const char *name;
};

static lode_status use_structure(void *user, const struct hpcstruct_module *module)
{
    const struct structure_use *use = user;
    return use->walk->measurements
               ? lode_hpcrun_gather_structure(use->walk->measurements, module, use->name, use->walk->error)
               : LODE_OK;
}

/* What a damaged file says before the damage is used, as hpcprof does. */
static lode_status read_structure(struct walk *walk, const char *name, hpcstruct_reader_fn read)
{
    struct lode_input source;
    struct reading reading;
    struct structure_use use = {walk, name};
    lode_status status = lode_input_open(&source, walk->folder, name, walk->error);
    if (status == LODE_OK) {
        begin_reading(&reading, walk);
        status = read(name, source.bytes, walk->level, reading.report, use_structure, &use);
        status = end_reading(&reading, walk, name, status);
    }
    lode_input_close(&source);
    return status == LODE_END || status == LODE_ABSENT ? LODE_OK : status;
}

/* ---- the walk ---- */

static lode_status walk_directory(struct walk *walk, const lode_check_options *options)
{
    struct lode_progress progress = {.phase = "measurements", .total = walk->file_count};
    if (options) {
        progress.report = options->on_progress;
        progress.user = options->user;
    }
    for (size_t i = 0; i < walk->file_count; i++) {
        const struct hpcrun_listed *file = &walk->files[i];
        if (file->kind == HPCRUN_FILE_PROFILE)
            LODE_TRY(read_profile(walk, file->name, file->partner ? file->partner->name : NULL));
        else if (file->partner == NULL)
            LODE_TRY(read_lone_trace(walk, file->name));
        LODE_TRY(lode_progress_add(&progress, 1, walk->error));
    }
    return LODE_OK;
}

/* Reads FOLDER/NAME if that is a file of its kind. */
static lode_status read_in_folder(struct walk *walk, const struct folder_kind *kind, const char *name)
{
    char path[NAME_MAX + sizeof KERNEL_FOLDER + 1];
    int length = snprintf(path, sizeof path, "%s/%s", kind->folder, name);
    uint64_t size;
    if (!lode_has_suffix(name, kind->suffix) || length < 0 || (size_t)length >= sizeof path)
        return LODE_OK;
    lode_status status = lode_folder_size(walk->folder, path, &size, walk->error);
    return status == LODE_ABSENT ? LODE_OK
           : status == LODE_OK   ? read_structure(walk, path, kind->read)
                                 : status;
}

/* The files of a folder, in the order of their names; in memory, names begin with its name. */
static lode_status walk_folder(struct walk *walk, const struct folder_kind *kind, struct lode_arena *arena)
{
    size_t prefix = strlen(kind->folder);
    struct lode_folder inner = *walk->folder;
    bool is_memory = walk->folder->directory < 0;
    const char **names;
    size_t count = 0;
    lode_error why; /* the error of the walk may tell of a file that was skipped */
    lode_status status = LODE_OK;
    if (!is_memory)
        status = lode_folder_find_in(&inner, walk->folder, kind->folder, &why);
    if (status == LODE_ABSENT)
        return LODE_OK;
    if (status != LODE_OK)
        return lode_fail(walk->error, status, why.file, why.offset, "%s", why.text);
    status = lode_folder_list(&inner, arena, &names, &count, walk->error);
    if (!is_memory)
        lode_folder_close(&inner);
    for (size_t i = 0; i < count && status == LODE_OK; i++) {
        bool is_inside = strncmp(names[i], kind->folder, prefix) == 0 && names[i][prefix] == '/';
        if (is_memory && !is_inside)
            continue;
        status = read_in_folder(walk, kind, names[i] + (is_memory ? prefix + 1 : 0));
    }
    return status;
}

/* What the only file is. */
enum file_kind {
    FILE_OTHER,
    FILE_PROFILE,
    FILE_TRACE,
    FILE_STRUCTURE,
    FILE_KERNEL,
    FILE_LOGICAL
};

static bool begins_with(struct lode_range bytes, const char *text, size_t length)
{
    return bytes.size >= length && memcmp(bytes.data, text, length) == 0;
}

/* A declaration of its type is among the first bytes. */
static bool begins_like_structure(struct lode_range bytes)
{
    static const char type[] = "<!DOCTYPE HPCToolkitStructure";
    return memmem(bytes.data, bytes.size < 256 ? (size_t)bytes.size : 256, type, sizeof type - 1) != NULL;
}

/* By content, or else by name. */
static enum file_kind kind_of(const char *name, struct lode_range bytes, int *score)
{
    *score = LODE_PROBE_CONTENT;
    enum hpcrun_file file = lode_hpcrun_file_of(bytes);
    if (file != HPCRUN_FILE_OTHER)
        return file == HPCRUN_FILE_PROFILE ? FILE_PROFILE : FILE_TRACE;
    if (begins_like_structure(bytes))
        return FILE_STRUCTURE;
    if (begins_with(bytes, LOGICAL_BEGIN, LOGICAL_BEGIN_SIZE))
        return FILE_LOGICAL;
    *score = LODE_PROBE_MARK;
    if (lode_has_suffix(name, HPCRUN_PROFILE_SUFFIX))
        return FILE_PROFILE;
    if (lode_has_suffix(name, HPCRUN_TRACE_SUFFIX))
        return FILE_TRACE;
    if (lode_has_suffix(name, STRUCT_SUFFIX))
        return FILE_STRUCTURE;
    if (strncmp(name, KERNEL_PREFIX, sizeof KERNEL_PREFIX - 1) == 0 && lode_kernel_begins(bytes))
        return FILE_KERNEL;
    *score = LODE_PROBE_NO;
    return FILE_OTHER;
}

static enum file_kind kind_of_only(const struct lode_folder *folder, int *score)
{
    struct lode_input source;
    enum file_kind kind = FILE_OTHER;
    const char *name = lode_folder_only(folder);
    *score = LODE_PROBE_NO;
    if (lode_input_open(&source, folder, name, NULL) == LODE_OK)
        kind = kind_of(name, source.bytes, score);
    lode_input_close(&source);
    return kind;
}

static lode_status walk_all(struct walk *walk, const lode_check_options *options)
{
    struct lode_arena arena;
    const char *only = lode_folder_only(walk->folder);
    int score;
    if (only) {
        enum file_kind kind = kind_of_only(walk->folder, &score);
        return kind == FILE_TRACE       ? read_trace(walk, only, NULL, true)
               : kind == FILE_STRUCTURE ? read_structure(walk, only, lode_hpcstruct_read)
               : kind == FILE_KERNEL    ? read_structure(walk, only, lode_kernel_read)
               : kind == FILE_LOGICAL   ? read_structure(walk, only, lode_logical_read)
                                        : read_profile(walk, only, NULL);
    }
    lode_arena_init(&arena, SIZE_MAX);
    lode_status status =
        lode_hpcrun_list_files(walk->folder, &arena, &walk->files, &walk->file_count, walk->error);
    if (status == LODE_OK)
        status = walk_directory(walk, options);
    for (size_t i = 0; i < sizeof folder_kinds / sizeof *folder_kinds && status == LODE_OK; i++)
        status = walk_folder(walk, &folder_kinds[i], &arena);
    lode_arena_free(&arena);
    return status;
}

/* ---- the format ---- */

static lode_status open_measurements(lode_measurements **out, const struct lode_folder *folder,
                                     const lode_raw_visitor *visitor, lode_error *error)
{
    lode_measurements *measurements = lode_measurements_new();
    struct walk walk = {.folder = folder,
                        .level = LODE_CHECK_FULL,
                        .measurements = measurements,
                        .visitor = visitor,
                        .error = error};
    LODE_TRY_ALLOC(measurements, error);
    lode_status status = walk_all(&walk, NULL);
    /* A structure file alone has no profile. */
    bool has_any =
        measurements->profiles.count > 0 || (lode_folder_only(folder) && measurements->skips.count == 0);
    if (status == LODE_OK && !has_any)
        status = walk.first_skip != LODE_OK
                     ? walk.first_skip
                     : lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, HPCRUN_NO_PROFILES);
    if (status == LODE_OK)
        *out = measurements;
    else
        lode_measurements_close(measurements);
    return status;
}

static lode_status check(const struct lode_folder *folder, const lode_check_options *options,
                         lode_check_result *result, lode_error *error)
{
    struct lode_report report;
    struct walk walk = {.folder = folder, .level = options->level, .report = &report, .error = error};
    lode_status status = lode_report_open(&report, lode_hpcrun_rules, HPCRUN_RULE_COUNT,
                                          options->limit_per_rule, options->on_finding, options->user, error);
    if (status == LODE_OK)
        status = walk_all(&walk, options);
    *result = report.result;
    lode_report_close(&report);
    return status;
}

static int probe_directory(const struct lode_folder *folder)
{
    return lode_hpcrun_has_files(folder, false) ? LODE_PROBE_MARK : LODE_PROBE_NO;
}

static int probe_contents(const struct lode_folder *folder)
{
    return lode_hpcrun_has_files(folder, true) ? LODE_PROBE_MARK : LODE_PROBE_NO;
}

static int probe_file(const struct lode_folder *folder)
{
    int score;
    kind_of_only(folder, &score);
    return score;
}

const struct lode_format lode_format_hpcrun = {
    .name = FORMAT_NAME,
    .mark = "measurements (.hpcrun)",
    .probe = probe_directory,
    .probe_late = probe_contents,
    .open_measurements = open_measurements,
    .check = check,
    .open_source = lode_hpcrun_source_open,
    .close_source = lode_hpcrun_source_close,
    .rules = lode_hpcrun_rules,
    .rule_count = HPCRUN_RULE_COUNT,
};

/* One file of them. */
const struct lode_format lode_format_hpcrun_file = {
    .name = FORMAT_NAME,
    .is_file = true,
    .probe = probe_file,
    .open_measurements = open_measurements,
    .check = check,
    .open_source = lode_hpcrun_source_open,
    .close_source = lode_hpcrun_source_close,
};
