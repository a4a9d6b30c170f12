/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/report/report.h"
#include "output/place.h"
#include "output/report.h"
#include "stores/damage.h"
#include "view/document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NOTES_MAX  ((size_t)256 << 10)
#define SIZE_LEAST ((uint64_t)512 << 10)

typedef struct report_options {
    shared_options shared;
    const char *title, *notes, *pdf;
    uint64_t max_size;
    int is_anonymous, force;
} report_options;

static int is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

static int ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), size = strlen(end);
    return length > size && strcasecmp(path + length - size, end) == 0;
}

/* One file: the page, or what a browser prints of it. */
static int check_path(const report_options *options)
{
    const char *path = options->shared.output;
    if (path && options->pdf)
        return report("-o and --pdf cannot be used together (see 'lode help report')");
    if (!path && !options->pdf)
        return report("missing option: -o/--output ('-' is standard output; see 'lode help report')");
    if (path && !is_standard(path) && !ends_with(path, ".html") && !ends_with(path, ".htm"))
        return report("'%s' does not end in .html (see 'lode help report')", path);
    if (options->pdf && !is_standard(options->pdf) && !ends_with(options->pdf, ".pdf"))
        return report("'%s' does not end in .pdf (see 'lode help report')", options->pdf);
    return EXIT_DONE;
}

static int report_usage(const invocation *call)
{
    const report_options *options = call->options;
    const char *path = options->pdf ? options->pdf : call->shared->output;
    if (check_path(options) != EXIT_DONE)
        return EXIT_TROUBLE;
    if (options->max_size < SIZE_LEAST)
        return report("--max-size must be at least 512K (see 'lode help report')");
    if (document_is_possible() != EXIT_DONE || (options->pdf && report_has_browser() != EXIT_DONE))
        return EXIT_TROUBLE;
    return is_standard(path) ? EXIT_DONE : place_is_free(path, options->force);
}

/* The text of a file of the user; NULL after a message. */
static char *read_notes(const char *path)
{
    char *text = alloc_array(NOTES_MAX + 2, 1);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, NOTES_MAX + 1, file) : 0;
    int status = EXIT_DONE;
    if (!file || ferror(file))
        status = report("%s: %s", path, strerror(errno));
    else if (size > NOTES_MAX)
        status = report("%s: notes are at most 256 KiB", path);
    else if (memchr(text, '\0', size))
        status = report("%s: is not a text", path);
    if (file)
        (void)fclose(file);
    if (status == EXIT_DONE)
        return text;
    free(text);
    return NULL;
}

static int run_report(const invocation *call)
{
    const report_options *options = call->options;
    char *notes = options->notes ? read_notes(options->notes) : NULL;
    if (options->notes && !notes)
        return EXIT_TROUBLE;
    const report_settings settings = {.title = options->title,
                                      .notes = notes,
                                      .is_anonymous = options->is_anonymous,
                                      .max_size = options->max_size,
                                      .paths = call->operands,
                                      .path_count = call->operand_count,
                                      .kinds = call->kinds,
                                      .kinds_path = call->kinds_path};
    int status =
        options->pdf ? report_write_pdf(options->pdf, &settings) : report_write(call->out, &settings);
    free(notes);
    if (status == EXIT_DONE)
        damage_copied(options->pdf ? options->pdf : call->shared->output);
    return status;
}

static const option_spec report_own[] = {
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(shared_options, output)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(report_options, force)},
    {"pdf", 0, OPTION_TEXT, "PATH", NULL, offsetof(report_options, pdf)},
    {"title", 0, OPTION_TEXT, "TEXT", NULL, offsetof(report_options, title)},
    {"notes", 0, OPTION_TEXT, "FILE", NULL, offsetof(report_options, notes)},
    {"anonymous", 0, OPTION_FLAG, NULL, NULL, offsetof(report_options, is_anonymous)},
    {"max-size", 0, OPTION_SIZE, "SIZE", NULL, offsetof(report_options, max_size)},
    {0},
};

static const report_options report_defaults = {.max_size = REPORT_MAX_SIZE};

const command_spec command_report = {
    .name = "report",
    .operands = "STORE...",
    .min_operands = 1,
    .max_operands = VIEW_STORES_MAX,
    .stores = FOR_ALL,
    .has_sides = 1,
    .options = {.own = report_own, .shared = SHARED_KINDS},
    .options_size = sizeof(report_options),
    .defaults = &report_defaults,
    .usage = report_usage,
    .run = run_report,
};
