/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/diagnose/diagnose.h"
#include "output/report.h"
#include "stores/rec_session.h"
#include "stores/session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct diagnose_options {
    shared_options shared;
    const char *fail_on;
    const char *base;
    int all, deep;
} diagnose_options;

/* What fails: statements of this confidence and gain, and above. */
typedef struct threshold {
    int confidence;
    double percent;
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
        t->percent = percent;
    }
    return EXIT_DONE;
}

/* Gains are compared as they are printed: in whole per cent. */
static int counts(const threshold *t, const lode_statement *statement)
{
    return statement->has_gain && (int)statement->confidence >= t->confidence &&
           rint(100 * statement->gain) >= t->percent;
}

/* A rule could not look at the base. */
static int refuse_base(const diagnose_page *page, const char *id)
{
    const lode_rule_state *rule;
    size_t i = 0;
    while ((rule = lode_diagnosis_rule(page->base, i)) != NULL && strcmp(rule->id, id) != 0)
        i++;
    return report("%s: cannot tell what is new: rule '%s' could not look at it%s%s", page->base_path, id,
                  rule && rule->reason ? ": " : "", rule && rule->reason ? rule->reason : "");
}

/* With a base, only what is new counts; what may be new is trouble. */
static int judge(const diagnose_page *page, const threshold *t)
{
    const lode_statement *statement, *before;
    const char *not_judged = NULL; /* a rule that could not look at the base */
    for (size_t i = 0; (statement = lode_diagnosis_statement(page->diagnosis, i)) != NULL; i++) {
        if (!counts(t, statement))
            continue;
        lode_statement_change change =
            page->base ? diagnose_change(page->base, statement, &before) : LODE_STATEMENT_NEW;
        if (change == LODE_STATEMENT_NEW)
            return EXIT_FINDINGS;
        if (change == LODE_STATEMENT_UNKNOWN)
            not_judged = statement->id;
    }
    if (!lode_diagnosis_run(page->diagnosis)->can_judge)
        return report("%s: the data do not allow a statement", page->path);
    if (page->base && !lode_diagnosis_run(page->base)->can_judge)
        return report("%s: the data do not allow a statement", page->base_path);
    return not_judged ? refuse_base(page, not_judged) : EXIT_DONE;
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

static lode_diagnose_options options_of(const invocation *call, progress *shown)
{
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    options.kinds = call->kinds;
    options.threads = (unsigned)call->shared->threads;
    options.on_progress = progress_report;
    options.user = shown;
    options.comm = call->shared->comm;
    options.local_ranks = (uint32_t)call->shared->local_ranks;
    options.read_limit = ((const diagnose_options *)call->options)->deep ? UINT64_MAX : 0;
    return options;
}

/* An open store and its diagnosis. */
typedef struct diagnosed {
    lode_store_kind kind;
    int is_open;
    session database;
    rec_session recording;
    const lode_diagnosis *diagnosis;
    lode_diagnosis *own; /* the same, unless a host has it */
} diagnosed;

static int open_store(diagnosed *d, const invocation *call, const char *path)
{
    d->is_open = 1;
    return d->kind == LODE_STORE_DATABASE ? session_open(&d->database, path, call->shared)
                                          : rec_open(&d->recording, path, call->shared);
}

static int diagnose_database(diagnosed *d, const invocation *call)
{
    session *s = &d->database;
    lode_error error = {0};
    int status = EXIT_DONE;
    lode_diagnose_options options = options_of(call, &s->progress);
    if (lode_diagnose(&d->own, s->db, &options, &error) != LODE_OK)
        status = session_error(s, &error);
    progress_clear(&s->progress);
    d->diagnosis = d->own;
    return status;
}

static int diagnose_recording(diagnosed *d, const invocation *call)
{
    rec_session *s = &d->recording;
    lode_error error = {0};
    int status = rec_find_diagnosis(s, &d->diagnosis);
    if (status != EXIT_DONE || d->diagnosis)
        return status;
    lode_diagnose_options options = options_of(call, &s->progress);
    options.findings = rec_damage(s);
    if (lode_diagnose_recording(&d->own, s->recording, &options, &error) != LODE_OK)
        status = rec_error(s, &error);
    progress_clear(&s->progress);
    d->diagnosis = d->own;
    return status;
}

/* Nothing, if it is not open. */
static int diagnose(diagnosed *d, const invocation *call)
{
    if (!d->is_open)
        return EXIT_DONE;
    return d->kind == LODE_STORE_DATABASE ? diagnose_database(d, call) : diagnose_recording(d, call);
}

static int refuse_kinds(const invocation *call, const char *base)
{
    return report("%s and %s are stores of different kinds", base, call->operands[0]);
}

/* Opens both stores, if they can be compared. */
static int open_stores(diagnosed *now, diagnosed *before, const invocation *call, const char *base)
{
    lode_error error = {0};
    if (base && lode_store_probe(base, &before->kind, &error) != LODE_OK)
        return report_error(base, &error);
    if (base && before->kind != now->kind)
        return refuse_kinds(call, base);
    int status = base ? open_store(before, call, base) : EXIT_DONE;
    if (status == EXIT_DONE)
        status = open_store(now, call, call->operands[0]);
    if (status != EXIT_DONE || base == NULL || now->kind == LODE_STORE_DATABASE)
        return status;
    int has_requests = lode_recording_has_requests(now->recording.recording);
    return has_requests == lode_recording_has_requests(before->recording.recording)
               ? EXIT_DONE
               : refuse_kinds(call, base);
}

static void close_diagnosed(diagnosed *d)
{
    lode_diagnosis_free(d->own);
    if (d->is_open && d->kind == LODE_STORE_DATABASE)
        session_close(&d->database);
    else if (d->is_open)
        rec_close(&d->recording);
}

static int run_diagnose(const invocation *call)
{
    const diagnose_options *options = call->options;
    diagnosed now = {.kind = call->kind}, before = {0};
    int status = open_stores(&now, &before, call, options->base);
    if (status == EXIT_DONE)
        status = diagnose(&before, call);
    if (status == EXIT_DONE)
        status = diagnose(&now, call);
    if (status == EXIT_DONE) {
        const diagnose_page page = {call->operands[0], now.diagnosis, before.diagnosis,
                                    options->base,     options->all,  call->kinds_path};
        status = conclude(call, &page);
    }
    close_diagnosed(&now);
    close_diagnosed(&before);
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
                .shared = SHARED_MEMORY | SHARED_THREADS | SHARED_RANKS | SHARED_JSON | SHARED_CSV |
                          SHARED_MARKDOWN | SHARED_COLOR | SHARED_VERBOSE | SHARED_KINDS},
    .options_size = sizeof(diagnose_options),
    .on_ranks = FOR_DATABASES,
    .usage = diagnose_usage,
    .run = run_diagnose,
};
