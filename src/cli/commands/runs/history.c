/* SPDX-License-Identifier: BSD-3-Clause */
/* Which runs are the history of a run, and which metric and function of them is meant. */
#include "commands/runs/runs.h"

#include "alloc.h"
#include "options/metric_list.h"
#include "output/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LISTED 8 /* candidates of a name that is not unique */

/* ---- runs with the same labels ---- */

static int take_run(void *user, const run_row *run)
{
    runs_history *h = user;
    h->run = run->id;
    h->begun = run->begun;
    h->default_metric = run->metric ? runs_copy(run->metric) : NULL;
    for (size_t i = 0; i < run->label_count; i++)
        runs_label_set(&h->known, run->labels[i].name, run->labels[i].value);
    return 1;
}

/* A label that the run does not have selects nothing. */
static void keep_same(runs_history *h, const char *names)
{
    while (*names) {
        char name[80];
        size_t length = strcspn(names, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        for (size_t i = 0; i < h->known.count; i++)
            if (strcmp(h->known.items[i].name, name) == 0)
                runs_label_set(&h->same, name, h->known.items[i].value);
        names += length;
        names += *names == ',';
    }
}

/* What is the same replaces what was asked for: the run has both. */
static void narrow(runs_history *h)
{
    for (size_t i = 0; i < h->same.count; i++)
        runs_label_set(&h->labels, h->same.items[i].name, h->same.items[i].value);
    h->filter.labels = h->labels.items;
    h->filter.label_count = h->labels.count;
}

int runs_history_open(runs_history *h, catalogue *c, const runs_options *options)
{
    catalogue_error error;
    *h = (runs_history){.run = 0};
    if (runs_filter(&h->filter, &h->labels, options) != EXIT_DONE)
        return EXIT_TROUBLE;
    run_filter newest = h->filter;
    newest.limit = 1;
    newest.only = (int64_t)(options->run & INT64_MAX);
    if (catalogue_list(c, &newest, take_run, h, &error) != 0)
        return runs_failed(&error);
    if (h->run == 0)
        return report("the catalogue has no such run (see 'lode runs list')");
    keep_same(h, options->same ? options->same : "title");
    narrow(h);
    return EXIT_DONE;
}

void runs_history_close(runs_history *h)
{
    runs_labels_free(&h->labels);
    runs_labels_free(&h->same);
    runs_labels_free(&h->known);
    free(h->default_metric);
    free(h->metric_name);
}

/* ---- metrics ---- */

/* How well a name is what was typed; the best one is meant, if it is the only one. */
enum {
    NO_MATCH,
    MATCH_PATTERN,
    MATCH_PART,
    MATCH_SIMPLE,
    MATCH_ANY_CASE,
    MATCH_WHOLE
};

typedef struct candidates {
    const char *text;
    int is_pattern;
    int best;
    size_t count;
    int64_t id;
    char *names[LISTED];
} candidates;

static void free_names(candidates *found)
{
    for (size_t i = 0; i < LISTED; i++) {
        free(found->names[i]);
        found->names[i] = NULL;
    }
    found->count = 0;
}

static void take(candidates *found, int match, int64_t id, const char *name)
{
    if (match == NO_MATCH || match < found->best)
        return;
    if (match > found->best)
        free_names(found);
    found->best = match;
    found->id = found->count == 0 ? id : found->id;
    if (found->count < LISTED)
        found->names[found->count] = runs_copy(name);
    found->count++;
}

/* EXIT_TROUBLE after a message unless there is exactly one. */
static int settle(candidates *found, const char *what, char **name)
{
    char list[1024] = "";
    size_t used = 0;
    if (found->count == 1) {
        *name = found->names[0];
        found->names[0] = NULL;
        return EXIT_DONE;
    }
    if (found->count == 0)
        return report("no %s in the catalogue matches '%s'", what, found->text);
    for (size_t i = 0; i < found->count && i < LISTED && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.100s", i ? "; " : "", found->names[i]);
    return report("'%s' matches %zu %ss: %s%s", found->text, found->count, what, list,
                  found->count > LISTED ? "; ..." : "");
}

static int match_metric(void *user, int64_t id, const char *name, double value)
{
    candidates *found = user;
    size_t length = strlen(found->text);
    int is_start = strncasecmp(name, found->text, length) == 0;
    (void)value;
    take(found,
         strcmp(name, found->text) == 0                     ? MATCH_WHOLE
         : strcasecmp(name, found->text) == 0               ? MATCH_ANY_CASE
         : is_start && strncmp(name + length, " (", 2) == 0 ? MATCH_SIMPLE
         : strcasestr(name, found->text)                    ? MATCH_PART
                                                            : NO_MATCH,
         id, name);
    return 0;
}

int runs_wants_all(const runs_options *options)
{
    return options->shared.metrics.count == 1 && metric_is_all(options->shared.metrics.items[0]);
}

int runs_history_metric(runs_history *h, catalogue *c, const runs_options *options)
{
    catalogue_error error;
    candidates found = {.best = NO_MATCH};
    if (options->shared.metrics.count > 1 || runs_wants_all(options))
        return report("one --metric at a time (see 'lode help runs')");
    found.text = options->shared.metrics.count ? options->shared.metrics.items[0] : h->default_metric;
    if (!found.text)
        return report("run %" PRId64 " has no metric", h->run);
    int status = catalogue_metrics(c, 0, match_metric, &found, &error) == 0
                     ? settle(&found, "metric", &h->metric_name)
                     : runs_failed(&error);
    h->metric = found.id;
    free_names(&found);
    return status;
}

/* ---- functions ---- */

/* "*" is any characters, "?" one; in time that is proportional to both lengths. */
static int fits(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return 0;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* Names are as in a comparison: demangled, with parameters. */
static int is_without_parameters(const char *name, const char *text)
{
    size_t length = strlen(text);
    return length > 0 && strncmp(name, text, length) == 0 && strchr("(<", name[length]) && name[length];
}

static int match_function(void *user, int64_t id, const char *name, double value)
{
    candidates *found = user;
    (void)value;
    take(found,
         strcmp(name, found->text) == 0                 ? MATCH_WHOLE
         : strcasecmp(name, found->text) == 0           ? MATCH_ANY_CASE
         : is_without_parameters(name, found->text)     ? MATCH_SIMPLE
         : strcasestr(name, found->text)                ? MATCH_PART
         : found->is_pattern && fits(found->text, name) ? MATCH_PATTERN
                                                        : NO_MATCH,
         id, name);
    return 0;
}

int runs_find_function(catalogue *c, const char *text, int64_t *id, char **name)
{
    catalogue_error error;
    int exact = catalogue_find_function(c, text, id, &error);
    if (exact < 0)
        return runs_failed(&error);
    if (exact == 1) {
        *name = runs_copy(text);
        return EXIT_DONE;
    }
    candidates found = {.text = text, .is_pattern = strpbrk(text, "*?") != NULL, .best = NO_MATCH};
    int status = catalogue_functions(c, match_function, &found, &error) == 0
                     ? settle(&found, "function", name)
                     : runs_failed(&error);
    *id = found.id;
    free_names(&found);
    return status;
}

/* ---- runs for people ---- */

static int describe(void *user, const run_row *run)
{
    char **text = user, begun[NUMBER_SIZE];
    const char *commit = run_label_value(run, "commit"), *branch = run_label_value(run, "branch");
    format_utc(begun, run->begun);
    begun[sizeof "2026-03-02 09:00" - 1] = '\0';
    size_t size = 128 + (commit ? strlen(commit) : 0) + (branch ? strlen(branch) : 0);
    *text = alloc_array(size, 1);
    snprintf(*text, size, "run %" PRId64 ", %s%s%.40s%s%s", run->id, begun, commit ? ", commit=" : "",
             commit ? commit : "", branch ? ", branch=" : "", branch ? branch : "");
    return 1;
}

char *runs_describe(catalogue *c, int64_t run)
{
    catalogue_error error;
    run_filter filter = {.only = run};
    char *text = NULL;
    if (catalogue_list(c, &filter, describe, &text, &error) != 0 || !text)
        return runs_copy("a run");
    return text;
}
