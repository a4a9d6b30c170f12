/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/export.h"

#include "base/options.h"
#include "export/formats.h"
#include "export/replace.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct lode_export_format *const formats[] = {
#define EXPORT_FORMAT(name, file) &lode_export_##name,
#include "export/formats.def"
};

enum {
    FORMATS = sizeof formats / sizeof *formats
};

/* ---- formats ---- */

static bool is_available(const struct lode_export_format *format)
{
    return format->is_available == NULL || format->is_available();
}

static unsigned compressions_of(const struct lode_export_format *format)
{
    unsigned bits = format->compressions | 1U << format->usual | 1U << LODE_COMPRESSION_NONE;
    if (!lode_compression_is_available(LODE_COMPRESSION_ZSTD))
        bits &= ~(1U << LODE_COMPRESSION_ZSTD);
    return bits & ~(1U << LODE_COMPRESSION_DEFAULT);
}

size_t lode_export_count(void)
{
    return FORMATS;
}

lode_status lode_export_at_sized(size_t index, lode_export_info *out, size_t out_size)
{
    if (index >= FORMATS)
        return LODE_NOT_FOUND;
    const struct lode_export_format *format = formats[index];
    lode_export_info info = {
        .name = format->name,
        .description = format->description,
        .suffix = format->suffix,
        .holds = format->holds,
        .loses = format->loses,
        .is_directory = format->is_directory,
        .compressions = compressions_of(format),
        .is_available = is_available(format),
        .needs = is_available(format) ? NULL : format->needs,
        .names = format->names,
    };
    lode_result_give(out, out_size, &info, sizeof info);
    return LODE_OK;
}

static lode_status find_format(struct lode_export *job, lode_error *error)
{
    const char *name = job->options->format ? job->options->format : "pprof";
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(formats[i]->name, name) == 0)
            job->format = formats[i];
    if (job->format == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "there is no format '%s' to export to", name ? name : "");
    if (is_available(job->format))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                     "this library was built without the export format '%s', which needs %s", name,
                     job->format->needs);
}

static lode_status choose_compression(struct lode_export *job, lode_error *error)
{
    lode_compression asked = job->options->compression;
    job->compression = asked == LODE_COMPRESSION_DEFAULT ? job->format->usual : asked;
    if (job->compression == LODE_COMPRESSION_DEFAULT)
        job->compression = LODE_COMPRESSION_NONE;
    if (asked == LODE_COMPRESSION_DEFAULT || compressions_of(job->format) >> asked & 1)
        return LODE_OK;
    if (job->format->compressions >> asked & 1)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "this library was built without zstd: " LODE_ZSTD_FROM ", or use gzip");
    return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                     "format '%s' has no such compression: its readers do not unpack it", job->format->name);
}

/* ---- running ---- */

lode_status lode_export_lost(const struct lode_export *job, const char *rule, lode_error *error,
                             const char *text, ...)
{
    char line[256], full[64];
    va_list arguments;
    if (job->options->on_finding == NULL)
        return LODE_OK;
    snprintf(full, sizeof full, LODE_EXPORT_RULE "%s", rule);
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    lode_finding finding = {full, LODE_NOTE, "", LODE_NO_OFFSET, line};
    if (job->options->on_finding(job->options->user, &finding) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled");
}

struct lode_progress lode_export_progress(const struct lode_export *job, const char *phase, uint64_t total)
{
    return (struct lode_progress){job->options->on_progress, job->options->user, phase, 0, total};
}

static bool writes_directory(const struct lode_export *job)
{
    return job->format->is_directory && !(job->format->one_table_is_a_file && job->options->table);
}

static lode_compression compression_of_file(const struct lode_export *job)
{
    return job->format->packs_itself ? LODE_COMPRESSION_NONE : job->compression;
}

static lode_status run_stream(struct lode_export *job, lode_error *error)
{
    if (job->options->write == NULL && job->options->fd < 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there is nowhere to write to");
    if (job->format->needs_path || writes_directory(job))
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "format '%s' needs a path; it cannot be streamed", job->format->name);
    LODE_TRY(lode_export_file_to(&job->file, job->options, compression_of_file(job), error));
    LODE_TRY(job->format->run(job, error));
    LODE_TRY(lode_export_report_losses(job, error));
    return lode_export_file_finish(&job->file, error);
}

static lode_status run_into(struct lode_export *job, lode_error *error)
{
    if (job->output->is_file && !job->format->needs_path)
        LODE_TRY(lode_export_file_create(&job->file, job->output, NULL, compression_of_file(job), error));
    if (!job->output->is_file)
        LODE_TRY(lode_export_mark(job->output, job->format->name, error));
    LODE_TRY(job->format->run(job, error));
    LODE_TRY(lode_export_report_losses(job, error));
    if (job->file)
        LODE_TRY(lode_export_file_finish(&job->file, error));
    return lode_output_commit(job->output, error);
}

static lode_status run_output(struct lode_export *job, const char *path, lode_error *error)
{
    struct lode_output output = LODE_OUTPUT_INIT;
    job->output = &output;
    lode_status status =
        writes_directory(job)
            ? lode_output_create(&output, path, job->options->force ? &lode_replace_export : NULL, error)
            : lode_output_create_file(&output, path, job->options->force, error);
    if (status == LODE_OK)
        status = run_into(job, error);
    lode_export_file_abandon(job->file);
    job->file = NULL;
    lode_output_close(&output);
    job->output = NULL;
    return status;
}

static lode_status export_store(struct lode_export *job, const char *path, const lode_export_options *given,
                                lode_error *error)
{
    job->given = (lode_export_options)LODE_EXPORT_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&job->given, given, error));
    lode_export_count_repairs(job);
    job->options = &job->given;
    LODE_TRY(find_format(job, error));
    LODE_TRY(choose_compression(job, error));
    if (path)
        return run_output(job, path, error);
    lode_status status = run_stream(job, error);
    lode_export_file_abandon(job->file);
    return status;
}

lode_status lode_export_database(const lode_database *db, const char *path,
                                 const lode_export_options *options, lode_error *error)
{
    struct lode_export job = {.db = db};
    return export_store(&job, path, options, error);
}

lode_status lode_export_recording(const lode_recording *recording, const char *path,
                                  const lode_export_options *options, lode_error *error)
{
    struct lode_export job = {.recording = recording};
    return export_store(&job, path, options, error);
}
