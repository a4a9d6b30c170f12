/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by the value of an attribute of their outermost call. */
#include "alloc.h"
#include "commands/recording.h"

#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 10000 /* values with a row of their own */

typedef struct request {
    const char *value; /* NULL: it does not have the attribute */
    uint64_t duration;
    int has_failed;
} request;

typedef struct group {
    const request *first; /* sorted by duration */
    size_t count;
    uint64_t errors, total;
} group;

static const out_column columns[] = {
    {"requests", "Requests", OUT_INTEGER, OUT_ALWAYS}, {"errors", "Errors", OUT_INTEGER, OUT_ALWAYS},
    {"total_ns", "Total", OUT_TIME, OUT_ALWAYS},       {"mean_ns", "Mean", OUT_REAL, OUT_ALWAYS},
    {"p50_ns", "p50", OUT_TIME, OUT_ALWAYS},           {"p90_ns", "p90", OUT_TIME, OUT_ALWAYS},
    {"p99_ns", "p99", OUT_TIME, OUT_ALWAYS},           {"max_ns", "Max", OUT_TIME, OUT_ALWAYS},
    {"value", "Value", OUT_STRING, OUT_ALWAYS},
};

static int compare_values(const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

static int compare_requests(const void *left, const void *right)
{
    const request *a = left, *b = right;
    int order = compare_values(a->value, b->value);
    if (order)
        return order;
    return a->duration < b->duration ? -1 : a->duration > b->duration;
}

static int compare_groups(const void *left, const void *right)
{
    const group *a = left, *b = right;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return compare_values(a->first->value, b->first->value);
}

/* Rows have the attribute, or none. */
static request *list_requests(const lode_search *search)
{
    size_t count = lode_search_count(search);
    request *requests = alloc_array(count, sizeof *requests);
    for (size_t i = 0; i < count; i++) {
        const lode_search_row *row = lode_search_at(search, i);
        requests[i] = (request){NULL, row->duration, row->errors > 0};
        if (row->value_count)
            requests[i].value = row->values[0].value;
    }
    if (count)
        qsort(requests, count, sizeof *requests, compare_requests);
    return requests;
}

static size_t list_groups(const request *requests, size_t count, group *groups)
{
    size_t group_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_values(requests[i].value, requests[i - 1].value) != 0)
            groups[group_count++] = (group){.first = &requests[i]};
        group *last = &groups[group_count - 1];
        last->count++;
        last->errors += requests[i].has_failed != 0;
        last->total += requests[i].duration;
    }
    if (group_count)
        qsort(groups, group_count, sizeof *groups, compare_groups);
    return group_count;
}

/* The shortest duration that so many percent of the requests do not exceed. */
static uint64_t percentile(const group *g, unsigned percent)
{
    size_t others = g->count / 100 * (100 - percent) + g->count % 100 * (100 - percent) / 100;
    return g->first[g->count - 1 - others].duration;
}

static void write_group(out *o, const group *g)
{
    out_row(o, STYLE_PLAIN);
    out_cell_u64(o, g->count);
    out_cell_u64(o, g->errors);
    out_cell_u64(o, g->total);
    out_cell_real(o, (double)g->total / (double)g->count);
    out_cell_u64(o, percentile(g, 50));
    out_cell_u64(o, percentile(g, 90));
    out_cell_u64(o, percentile(g, 99));
    out_cell_u64(o, percentile(g, 100));
    if (g->first->value || out_format_of(o) != OUT_TEXT)
        out_cell_text(o, g->first->value);
    else
        out_cell_text(o, "(none)");
    out_row_end(o);
}

void search_groups(out *o, rec_session *s, const lode_search *search, const char *key, uint64_t limit)
{
    size_t count = lode_search_count(search);
    request *requests = list_requests(search);
    group *groups = alloc_array(count, sizeof *groups);
    size_t group_count = list_groups(requests, count, groups);
    size_t shown = limit && limit < group_count ? (size_t)limit : group_count;
    shown = shown < GROUPS_MAX ? shown : GROUPS_MAX;
    out_begin(o, SCHEMA_SEARCH_GROUPS, s->path);
    out_fact_text(o, "by", key);
    out_fact_u64(o, "requests", count);
    out_fact_rows(o, shown, group_count);
    out_say(o, "Requests by %s of their outermost call\n", key);
    out_table(o, OUT_MAIN, "rows", columns, sizeof columns / sizeof columns[0], UNIT_NANOSECONDS);
    for (size_t i = 0; i < shown; i++)
        write_group(o, &groups[i]);
    out_table_end(o);
    out_shown(o, shown, group_count, "values");
    rec_say_findings(o, s, 0);
    out_end(o);
    free(groups);
    free(requests);
}
