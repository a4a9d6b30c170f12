/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "host.h"
#include "output/report.h"
#include "stores/rec_session.h"

#include <stdio.h>
#include <stdlib.h>

#define ROW_SIZE   2048 /* bytes for each row with its percentiles, about */
#define TRACK_SIZE 128

typedef struct rec_calls {
    lode_calls *calls;
    tally reading;
} rec_calls;

static void free_calls(void *result)
{
    rec_calls *c = result;
    lode_calls_free(c->calls);
    tally_free(&c->reading);
    free(c);
}

void rec_free_calls(rec_session *s)
{
    host_cache_release(s->calls, free_calls);
    s->calls = NULL;
}

static rec_calls *compute(rec_session *s, const lode_calls_options *options)
{
    lode_error error = {0};
    rec_calls *c = alloc_array(1, sizeof *c);
    lode_status status = lode_calls_compute(&c->calls, s->recording, &s->slice, options, &error);
    progress_clear(&s->progress);
    if (status != LODE_OK) {
        free_calls(c);
        rec_error(s, &error);
        return NULL;
    }
    tally_merge(&c->reading, &s->reading, LODE_NOTE);
    return c;
}

/* Without a filter and in one order, from which all others follow. */
static rec_calls *find_or_compute(rec_session *s, const lode_calls_options *options)
{
    lode_calls_options all = *options;
    char word[64];
    all.sort = LODE_CALLS_BY_TOTAL;
    all.filter = NULL;
    snprintf(word, sizeof word, "calls %d %d", options->merge, (int)options->names);
    char *key = rec_key(s, word);
    rec_calls *c = key ? host_cache_take(key) : NULL;
    if (c) {
        tally_merge(&s->reading, &c->reading, LODE_NOTE);
        free(key);
        return c;
    }
    c = compute(s, key ? &all : options);
    if (key && c)
        host_cache_put(key, c,
                       lode_calls_count(c->calls) * ROW_SIZE +
                           (size_t)lode_calls_track_count(c->calls) * TRACK_SIZE,
                       free_calls);
    else if (key)
        host_cache_abandon(key);
    free(key);
    return c;
}

static lode_status select_rows(rec_rows *rows, rec_session *s, const lode_calls_options *options,
                               lode_error *error)
{
    size_t hidden;
    rows->calls = s->calls->calls;
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
        /* The filter shows a part of a row. */
        rec_free_rows(rows);
        rec_free_calls(s);
        tally_free(&s->reading);
        (void)rec_calls_options(s); /* how many findings are counted */
        s->calls = compute(s, options);
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
