/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "output/report.h"
#include "stores/rec_result.h"
#include "text/label.h"

#include <stdio.h>
#include <stdlib.h>

void rec_free_calls(rec_session *s)
{
    rec_release_result(s->calls);
    s->calls = NULL;
    s->estimate = NULL;
}

static int compute(rec_result *result, rec_session *s, const lode_calls_options *options)
{
    lode_error error = {0};
    lode_calls_options all = *options;
    lode_status status = lode_calls_compute(&result->joint.calls, s->recording, &s->slice, options, &error);
    all.parts = 0;
    if (status == LODE_ABSENT && options->parts > 0)
        status = lode_calls_compute(&result->joint.calls, s->recording, &s->slice, &all, &error);
    return status == LODE_OK ? EXIT_DONE : rec_error(s, &error);
}

/* As the first screen of the page has them. */
static int is_usual(const lode_calls_options *options)
{
    return options->merge && options->names == name_form(names_of_recordings(NAMES_BY_STORE));
}

/* A host keeps them without a filter and in one order, from which all others follow. */
static rec_result *find_or_compute(rec_session *s, const lode_calls_options *options)
{
    lode_calls_options all = *options;
    char word[64];
    if (!s->is_borrowed)
        return rec_take_result(s, "", compute, options);
    if (rec_has_joint(s) && is_usual(options))
        return rec_take_joint(s);
    all.sort = LODE_CALLS_BY_TOTAL;
    all.parts = 0;
    all.filter = NULL;
    snprintf(word, sizeof word, "calls %d %d", options->merge, (int)options->names);
    return rec_take_result(s, word, compute, &all);
}

/* The filter shows a part of a row: for this command only. */
static rec_result *compute_again(rec_session *s, const lode_calls_options *options)
{
    lode_calls_options same = *options;
    same.parts = s->estimate ? options->parts : 0;
    rec_free_calls(s);
    tally_free(&s->reading);
    (void)rec_calls_options(s); /* how many findings are counted */
    return rec_make_result(s, compute, &same);
}

static lode_status select_rows(rec_rows *rows, rec_session *s, const lode_calls_options *options,
                               lode_error *error)
{
    size_t hidden;
    rows->calls = s->calls->joint.calls;
    s->estimate = lode_calls_estimate(rows->calls);
    rows->order = alloc_array(lode_calls_count(rows->calls) + 1, sizeof *rows->order);
    /* What the filter hides was not computed at all, unless the calls come from a host. */
    lode_status status =
        lode_calls_select(rows->calls, options->sort, s->is_borrowed ? options->filter : NULL, rows->order,
                          &rows->count, &hidden, error);
    rows->hidden = lode_calls_hidden(rows->calls) + hidden;
    return status;
}

int rec_compute_calls(rec_session *s, const lode_calls_options *options, rec_rows *rows)
{
    lode_error error = {0};
    *rows = (rec_rows){0};
    s->calls = find_or_compute(s, options);
    if (!s->calls)
        return EXIT_TROUBLE;
    lode_status status = select_rows(rows, s, options, &error);
    if (status == LODE_ABSENT) {
        rec_free_rows(rows);
        s->calls = compute_again(s, options);
        if (!s->calls)
            return EXIT_TROUBLE;
        status = select_rows(rows, s, options, &error);
    }
    return status == LODE_OK ? EXIT_DONE : rec_error(s, &error);
}

void rec_free_rows(rec_rows *rows)
{
    free(rows->order);
    rows->order = NULL;
}
