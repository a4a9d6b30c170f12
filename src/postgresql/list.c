/* SPDX-License-Identifier: BSD-3-Clause */
#include "select.h"

#include <stdlib.h>
#include <string.h>

/* Labels of one run: texts that end with NUL, in one piece of memory. */
typedef struct labels {
    run_label items[CATALOGUE_LABELS_MAX];
    buffer texts;
} labels;

/* Names and values are arrays of the same length, in the order of names. */
static size_t take_labels(labels *l, array names, array values)
{
    size_t count = 0, offsets[CATALOGUE_LABELS_MAX][2];
    l->texts.size = 0;
    for (; names.count && values.count && count < CATALOGUE_LABELS_MAX; count++)
        for (int i = 0; i < 2; i++) {
            size_t size;
            const char *text = array_text(i ? &values : &names, &size);
            offsets[count][i] = l->texts.size;
            buffer_put(&l->texts, text, size);
            buffer_put(&l->texts, "", 1);
        }
    if (l->texts.is_out_of_memory)
        return 0;
    for (size_t i = 0; i < count; i++)
        l->items[i] = (run_label){l->texts.bytes + offsets[i][0], l->texts.bytes + offsets[i][1]};
    return count;
}

static run_row row_of(const PGresult *r, int row, labels *l)
{
    int has_total = !PQgetisnull(r, row, 10);
    return (run_row){.id = cell_integer(r, row, 0),
                     .begun = cell_unsigned(r, row, 1),
                     .added = cell_unsigned(r, row, 2),
                     .bytes = cell_unsigned(r, row, 3),
                     .profiles = cell_unsigned(r, row, 4),
                     .path = cell_text(r, row, 5),
                     .format = cell_text(r, row, 6),
                     .labels = l->items,
                     .label_count = take_labels(l, cell_array(r, row, 7), cell_array(r, row, 8)),
                     .metric = has_total ? cell_text(r, row, 9) : NULL,
                     .total = has_total ? cell_real(r, row, 10) : 0};
}

#define LIST_HEAD                                                                                              \
    "SELECT r.id, r.begun_ns, r.added_ns, r.bytes, r.profiles, r.path, r.format, l.names, l.strings, m.name, " \
    "r.totals[array_position(r.metrics, m.id)] FROM lode.run r CROSS JOIN LATERAL (SELECT "                    \
    "array_agg(key ORDER BY key COLLATE \"C\") AS names, array_agg(value ORDER BY key COLLATE \"C\") AS "      \
    "strings FROM jsonb_each_text(r.labels)) l LEFT JOIN lode.metric m ON m.id = "

int server_list(catalogue *of, const run_filter *filter, run_row_fn on_run, void *user,
                catalogue_error *error)
{
    session *s = session_of(of);
    statement to;
    labels *l = calloc(1, sizeof *l);
    int status = statement_begin(&to, s, LIST_HEAD, error);
    if (status == 0 && filter->metric)
        buffer_format(&to.sql,
                      "(SELECT x.id FROM lode.metric x WHERE x.project = $1::int4 AND x.digest = "
                      "lode.digest($%d))",
                      put_text(&to.values, filter->metric));
    else if (status == 0)
        buffer_text(&to.sql, "r.metrics[1]");
    if (status == 0)
        status = l ? select_runs(&to, s, filter, error) : session_no_memory(s, error);
    PGresult *result = NULL;
    if (status == 0) {
        select_order(&to, filter, "r", "id");
        result = statement_ask(&to, s, "iiiiittTTtd", error);
        status = result ? 0 : -1;
    }
    for (int row = 0; status == 0 && row < PQntuples(result); row++) {
        run_row found = row_of(result, row, l);
        if (on_run(user, &found) != 0)
            break;
    }
    PQclear(result);
    statement_free(&to);
    if (l)
        buffer_free(&l->texts);
    free(l);
    return status;
}

int server_count(catalogue *of, const run_filter *filter, uint64_t *count, catalogue_error *error)
{
    session *s = session_of(of);
    statement to;
    PGresult *result = NULL;
    int status = statement_begin(&to, s, "SELECT count(*) FROM lode.run r", error);
    if (status == 0)
        status = select_runs(&to, s, filter, error);
    if (status == 0)
        status = (result = statement_ask(&to, s, "i", error)) ? 0 : -1;
    *count = status == 0 && PQntuples(result) == 1 ? cell_unsigned(result, 0, 0) : 0;
    PQclear(result);
    statement_free(&to);
    return status;
}

int server_runs(catalogue *of, const run_filter *filter, int64_t **runs, size_t *count,
                catalogue_error *error)
{
    session *s = session_of(of);
    statement to;
    PGresult *result = NULL;
    int status = statement_begin(&to, s, "SELECT r.id FROM lode.run r", error);
    if (status == 0)
        status = select_runs(&to, s, filter, error);
    if (status == 0) {
        select_order(&to, filter, "r", "id");
        status = (result = statement_ask(&to, s, "i", error)) ? 0 : -1;
    }
    statement_free(&to);
    int rows = status == 0 ? PQntuples(result) : 0;
    *runs = calloc((size_t)rows + 1, sizeof **runs);
    if (status == 0 && !*runs)
        status = session_no_memory(s, error);
    for (int row = 0; status == 0 && row < rows; row++)
        (*runs)[(*count)++] = cell_integer(result, row, 0);
    PQclear(result);
    return status;
}
