/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by the values of attributes of their outermost calls. */
#include "alloc.h"
#include "commands/shared/recording.h"
#include "output/out.h"
#include "stores/damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 10000 /* combinations of values with a row of their own */

typedef struct request {
    const char *const *values; /* by key; NULL: it does not have the attribute */
    uint64_t duration;
    unsigned value_count;
    int has_failed;
} request;

typedef struct group {
    const request *first; /* sorted by duration */
    size_t count;
    uint64_t errors, total;
} group;

static const out_column number_columns[] = {
    {"requests", "Requests", OUT_INTEGER, OUT_ALWAYS}, {"errors", "Errors", OUT_INTEGER, OUT_ALWAYS},
    {"total_ns", "Total", OUT_TIME, OUT_ALWAYS},       {"mean_ns", "Mean", OUT_REAL, OUT_ALWAYS},
    {"p50_ns", "p50", OUT_TIME, OUT_ALWAYS},           {"p90_ns", "p90", OUT_TIME, OUT_ALWAYS},
    {"p99_ns", "p99", OUT_TIME, OUT_ALWAYS},           {"max_ns", "Max", OUT_TIME, OUT_ALWAYS},
};
#define NUMBER_COUNT (sizeof number_columns / sizeof number_columns[0])

static int compare_texts(const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

static int compare_values(const request *a, const request *b)
{
    int order = 0;
    for (unsigned i = 0; i < a->value_count && order == 0; i++)
        order = compare_texts(a->values[i], b->values[i]);
    return order;
}

static int compare_requests(const void *left, const void *right)
{
    const request *a = left, *b = right;
    int order = compare_values(a, b);
    if (order)
        return order;
    return a->duration < b->duration ? -1 : a->duration > b->duration;
}

static int compare_groups(const void *left, const void *right)
{
    const group *a = left, *b = right;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return compare_values(a->first, b->first);
}

/* `values` has room for those of all rows. */
static request *list_requests(const lode_search *search, const search_keys *keys, const char **values)
{
    size_t count = lode_search_count(search);
    request *requests = alloc_array(count, sizeof *requests);
    for (size_t i = 0; i < count; i++) {
        const lode_search_row *row = lode_search_at(search, i);
        requests[i] = (request){values, row->duration, (unsigned)keys->count, row->errors > 0};
        for (size_t j = 0; j < keys->count; j++)
            *values++ = search_value(row, keys->names[j]);
    }
    if (count)
        qsort(requests, count, sizeof *requests, compare_requests);
    return requests;
}

static size_t list_groups(const request *requests, size_t count, group *groups)
{
    size_t group_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_values(&requests[i], &requests[i - 1]) != 0)
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

/* ---- output ---- */

/* One column with one key; several have a column each, which in JSON is a member of an object. */
typedef struct value_columns {
    out_column all[NUMBER_COUNT + LODE_SEARCH_VALUES];
    char *names[LODE_SEARCH_VALUES];
} value_columns;

static void open_columns(value_columns *columns, const out *o, const search_keys *keys)
{
    out_visibility visibility = out_format_of(o) == OUT_JSON ? OUT_NEVER : OUT_ALWAYS;
    *columns = (value_columns){0};
    memcpy(columns->all, number_columns, sizeof number_columns);
    if (keys->count == 1) {
        columns->all[NUMBER_COUNT] = (out_column){"value", "Value", OUT_STRING, OUT_ALWAYS};
        return;
    }
    for (size_t i = 0; i < keys->count; i++) {
        size_t size = sizeof "value." + strlen(keys->names[i]);
        columns->names[i] = alloc_array(size, 1);
        (void)snprintf(columns->names[i], size, "value.%s", keys->names[i]);
        columns->all[NUMBER_COUNT + i] =
            (out_column){columns->names[i], keys->names[i], OUT_STRING, visibility};
    }
}

static void close_columns(value_columns *columns)
{
    for (size_t i = 0; i < LODE_SEARCH_VALUES; i++)
        free(columns->names[i]);
}

static void write_values(out *o, const search_keys *keys, const request *first)
{
    const char *none = out_format_of(o) == OUT_TEXT ? "(none)" : NULL;
    for (size_t i = 0; i < keys->count; i++)
        OUT_CELLS(o, first->values[i] ? first->values[i] : none);
    if (out_format_of(o) != OUT_JSON)
        return;
    out_object(o, "values");
    for (size_t i = 0; i < keys->count; i++)
        OUT_FIELDS(o, keys->names[i], first->values[i]);
    out_object_end(o);
}

static void write_group(out *o, const search_keys *keys, const group *g)
{
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, g->count, g->errors, g->total, (double)g->total / (double)g->count, percentile(g, 50),
              percentile(g, 90), percentile(g, 99), percentile(g, 100));
    write_values(o, keys, g->first);
    out_row_end(o);
}

/* The keys with commas between them, as --by takes them. */
static char *join_keys(const search_keys *keys)
{
    size_t size = 1;
    for (size_t i = 0; i < keys->count; i++)
        size += strlen(keys->names[i]) + 1;
    char *text = alloc_array(size, 1), *at = text;
    for (size_t i = 0; i < keys->count; i++)
        at = stpcpy(stpcpy(at, i ? "," : ""), keys->names[i]);
    return text;
}

static void begin_groups(out *o, const rec_session *s, const search_keys *keys, uint64_t requests)
{
    char *by = join_keys(keys);
    out_begin(o, SCHEMA_SEARCH_GROUPS, s->path);
    OUT_FIELDS(o, "by", by, "requests", requests);
    out_say(o, "Requests by %s of their outermost call\n", by);
    free(by);
}

void search_groups(out *o, rec_session *s, const lode_search *search, const search_keys *keys, uint64_t limit)
{
    size_t count = lode_search_count(search);
    const char **values = alloc_array(count * keys->count, sizeof *values);
    request *requests = list_requests(search, keys, values);
    group *groups = alloc_array(count, sizeof *groups);
    size_t group_count = list_groups(requests, count, groups);
    size_t shown = limit && limit < group_count ? (size_t)limit : group_count;
    value_columns columns;
    shown = shown < GROUPS_MAX ? shown : GROUPS_MAX;
    open_columns(&columns, o, keys);
    begin_groups(o, s, keys, count);
    out_fact_rows(o, shown, group_count);
    out_table(o, OUT_MAIN, "rows", columns.all, NUMBER_COUNT + keys->count, UNIT_NANOSECONDS);
    for (size_t i = 0; i < shown; i++)
        write_group(o, keys, &groups[i]);
    out_table_end(o);
    out_shown(o, shown, group_count, "values");
    damage_write(o);
    out_end(o);
    close_columns(&columns);
    free(groups);
    free(requests);
    free(values);
}
