/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/diagnose.h"
#include "output/report.h"
#include "rec_session.h"
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_FILE_MAX (1u << 20)

typedef struct diagnose_options {
    shared_options shared;
    const char *kinds;
    const char *fail_on;
    const char *base;
    int all, deep;
} diagnose_options;

/* What fails: statements of this confidence and gain, and above. */
typedef struct threshold {
    int confidence;
    double gain;
} threshold;

/* "likely", "sure:10%". Never for less than a likely statement. */
static int read_threshold(threshold *t, const char *text)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    *t = (threshold){LODE_LIKELY, 0};
    if (length == strlen("sure") && strncmp(text, "sure", length) == 0)
        t->confidence = LODE_SURE;
    else if (length != strlen("likely") || strncmp(text, "likely", length) != 0)
        return report("--fail-on takes likely or sure, and a gain, such as likely:10%%, not '%.60s'", text);
    if (colon) {
        char *end = NULL;
        double percent = strtod(colon + 1, &end);
        int is_number = end != colon + 1 && percent >= 0 && percent <= 100;
        if (!is_number || (*end && strcmp(end, "%") != 0))
            return report("--fail-on takes a gain of 0%% to 100%%, not '%.60s'", colon + 1);
        t->gain = percent / 100;
    }
    return EXIT_DONE;
}

int diagnose_open_kinds(lode_kind_rules **kinds, const char *path)
{
    lode_error error = {0};
    if (path == NULL)
        return EXIT_DONE;
    char *text = malloc(KINDS_FILE_MAX + 1);
    if (text == NULL)
        return report("out of memory");
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, KINDS_FILE_MAX + 1, file) : 0;
    int status = EXIT_DONE;
    if (file == NULL || ferror(file))
        status = report("%s: %s", path, strerror(errno));
    else if (size > KINDS_FILE_MAX)
        status = report("%s: larger than 1 MiB", path);
    else if (lode_kind_rules_parse(kinds, text, size, &error) != LODE_OK)
        status = report_error(path, &error);
    if (file)
        fclose(file);
    free(text);
    return status;
}

/* With a base, only what is new counts. */
static int counts(const diagnose_page *page, const threshold *t, const lode_statement *statement)
{
    const lode_statement *before;
    if (!statement->has_gain || (int)statement->confidence < t->confidence || statement->gain < t->gain)
        return 0;
    return page->base == NULL || diagnose_change(page->base, statement, &before) == LODE_STATEMENT_NEW;
}

static int judge(const diagnose_page *page, const threshold *t)
{
    const lode_statement *statement;
    for (size_t i = 0; (statement = lode_diagnosis_statement(page->diagnosis, i)) != NULL; i++)
        if (counts(page, t, statement))
            return EXIT_FINDINGS;
    if (!lode_diagnosis_run(page->diagnosis)->can_judge)
        return report("%s: the data do not allow a statement", page->path);
    if (page->base && !lode_diagnosis_run(page->base)->can_judge)
        return report("%s: the data do not allow a statement", page->base_path);
    return EXIT_DONE;
}

/* Prints a diagnosis, and says whether it fails. */
static int conclude(const invocation *call, const diagnose_page *page)
{
    const diagnose_options *options = call->options;
    threshold t = {0};
    diagnose_print(call->out, page);
    if (options->fail_on == NULL)
        return EXIT_DONE;
    int status = read_threshold(&t, options->fail_on);
    return status == EXIT_DONE ? judge(page, &t) : status;
}

static lode_diagnose_options options_of(const invocation *call, const lode_kind_rules *kinds, progress *shown)
{
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    options.kinds = kinds;
    options.threads = (unsigned)call->shared->threads;
    options.on_progress = progress_report;
    options.user = shown;
    options.read_limit = ((const diagnose_options *)call->options)->deep ? UINT64_MAX : 0;
    return options;
}

/* An open store and its diagnosis. */
typedef struct diagnosed {
    lode_store_kind kind;
    int is_open;
    session database;
    rec_session recording;
    lode_diagnosis *diagnosis;
} diagnosed;

static int diagnose_database(diagnosed *d, const invocation *call, const char *path,
                             const lode_kind_rules *kinds)
{
    session *s = &d->database;
    lode_error error = {0};
    int status = session_open(s, path, call->shared);
    if (status != EXIT_DONE)
        return status;
    lode_diagnose_options options = options_of(call, kinds, &s->progress);
    if (lode_diagnose(&d->diagnosis, s->db, &options, &error) != LODE_OK)
        status = session_error(s, &error);
    progress_clear(&s->progress);
    return status;
}

static int diagnose_recording(diagnosed *d, const invocation *call, const char *path,
                              const lode_kind_rules *kinds)
{
    rec_session *s = &d->recording;
    lode_error error = {0};
    int status = rec_open(s, path, call->shared);
    if (status != EXIT_DONE)
        return status;
    lode_diagnose_options options = options_of(call, kinds, &s->progress);
    for (size_t i = 0; i < s->opening.count; i++)
        options.findings += s->opening.items[i].severity == LODE_NOTE ? 0 : s->opening.items[i].count;
    if (lode_diagnose_recording(&d->diagnosis, s->recording, &options, &error) != LODE_OK)
        status = rec_error(s, &error);
    progress_clear(&s->progress);
    return status;
}

static int diagnose(diagnosed *d, const invocation *call, const char *path, const lode_kind_rules *kinds)
{
    d->is_open = 1;
    return d->kind == LODE_STORE_DATABASE ? diagnose_database(d, call, path, kinds)
                                          : diagnose_recording(d, call, path, kinds);
}

static int diagnose_base(diagnosed *d, const invocation *call, const char *path, const lode_kind_rules *kinds)
{
    lode_error error = {0};
    if (path == NULL)
        return EXIT_DONE;
    if (lode_store_probe(path, &d->kind, &error) != LODE_OK)
        return report_error(path, &error);
    if (d->kind != call->kind)
        return report("%s and %s are stores of different kinds", path, call->operands[0]);
    return diagnose(d, call, path, kinds);
}

static void close_diagnosed(diagnosed *d)
{
    lode_diagnosis_free(d->diagnosis);
    if (d->is_open && d->kind == LODE_STORE_DATABASE)
        session_close(&d->database);
    else if (d->is_open)
        rec_close(&d->recording);
}

static int run_diagnose(const invocation *call)
{
    const diagnose_options *options = call->options;
    lode_kind_rules *kinds = NULL;
    diagnosed now = {.kind = call->kind}, before = {0};
    int status = diagnose_open_kinds(&kinds, options->kinds);
    if (status == EXIT_DONE)
        status = diagnose_base(&before, call, options->base, kinds);
    if (status == EXIT_DONE)
        status = diagnose(&now, call, call->operands[0], kinds);
    if (status == EXIT_DONE) {
        const diagnose_page page = {call->operands[0], now.diagnosis, before.diagnosis, options->base,
                                    options->all};
        status = conclude(call, &page);
    }
    close_diagnosed(&now);
    close_diagnosed(&before);
    lode_kind_rules_free(kinds);
    return status;
}

static int diagnose_usage(const invocation *call)
{
    const diagnose_options *options = call->options;
    threshold t;
    return options->fail_on ? read_threshold(&t, options->fail_on) : EXIT_DONE;
}

static const option_spec diagnose_own[] = {
    {"all", 0, OPTION_FLAG, NULL, NULL, offsetof(diagnose_options, all)},
    {"deep", 0, OPTION_FLAG, NULL, NULL, offsetof(diagnose_options, deep)},
    {"kinds", 0, OPTION_TEXT, "FILE", NULL, offsetof(diagnose_options, kinds)},
    {"base", 0, OPTION_TEXT, "STORE", NULL, offsetof(diagnose_options, base)},
    {"fail-on", 0, OPTION_TEXT, "CONFIDENCE[:GAIN]", NULL, offsetof(diagnose_options, fail_on)},
    {0},
};

const command_spec command_diagnose = {
    .name = "diagnose",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL,
    .options = {.own = diagnose_own,
                .shared = SHARED_THREADS | SHARED_JSON | SHARED_CSV | SHARED_MARKDOWN | SHARED_COLOR |
                          SHARED_VERBOSE},
    .options_size = sizeof(diagnose_options),
    .usage = diagnose_usage,
    .run = run_diagnose,
};
