/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything of one run: for copies. */
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    run_record record;
    run_label *labels;
    run_total *totals;
    run_cost *costs;
    buffer texts; /* of labels, each with its NUL; not moved any more when they are referred to */
} reader;

static int take_labels(reader *r, const PGresult *result)
{
    size_t size;
    array all[2] = {cell_array(result, 0, 7), cell_array(result, 0, 8)};
    size_t count = all[0].count < all[1].count ? all[0].count : all[1].count;
    r->labels = calloc(count + 1, sizeof *r->labels);
    for (size_t i = 0; i < 2 * count; i++) {
        const char *text = array_text(&all[i % 2], &size);
        buffer_put(&r->texts, text, size);
        buffer_put(&r->texts, "", 1);
    }
    if (!r->labels || r->texts.is_out_of_memory)
        return -1;
    const char *at = r->texts.bytes;
    for (size_t i = 0; at && i < count; i++) {
        r->labels[i].name = at;
        r->labels[i].value = at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    r->record.labels = r->labels;
    r->record.label_count = count;
    return 0;
}

static int take_totals(reader *r, const PGresult *result)
{
    int rows = PQntuples(result);
    r->totals = calloc((size_t)rows + 1, sizeof *r->totals);
    if (!r->totals)
        return -1;
    for (int row = 0; row < rows; row++)
        r->totals[row] = (run_total){cell_text(result, row, 1), cell_real(result, row, 2)};
    r->record.totals = r->totals;
    r->record.total_count = (size_t)rows;
    return 0;
}

static size_t index_of(const PGresult *totals, int64_t metric)
{
    size_t index = 0;
    while (index < (size_t)PQntuples(totals) && cell_integer(totals, (int)index, 0) != metric)
        index++;
    return index;
}

static double real_or_nan(const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column) ? (double)NAN : cell_real(result, row, column);
}

static int take_costs(reader *r, const PGresult *result, const PGresult *totals)
{
    int rows = PQntuples(result);
    r->costs = calloc((size_t)rows + 1, sizeof *r->costs);
    if (!r->costs)
        return -1;
    for (int row = 0; row < rows; row++) {
        run_cost cost = {.name = cell_text(result, row, 1),
                         .module = cell_text(result, row, 2),
                         .file = cell_text(result, row, 3),
                         .metric = index_of(totals, cell_integer(result, row, 0)),
                         .exclusive = cell_real(result, row, 4),
                         .inclusive = cell_real(result, row, 5),
                         .min = real_or_nan(result, row, 6),
                         .max = real_or_nan(result, row, 7)};
        if (cost.metric < r->record.total_count && isfinite(cost.exclusive) && isfinite(cost.inclusive))
            r->costs[r->record.cost_count++] = cost;
    }
    r->record.costs = r->costs;
    return 0;
}

static PGresult *ask_about(session *s, int64_t run, const char *sql, const char *types,
                           catalogue_error *error)
{
    statement to;
    PGresult *result = NULL;
    if (statement_begin(&to, s, sql, error) == 0) {
        put_integer(&to.values, run);
        result = statement_ask(&to, s, types, error);
    }
    statement_free(&to);
    return result;
}

static const char run_sql[] =
    "SELECT r.begun_ns, r.added_ns, r.modified_ns, r.bytes, r.profiles, r.path, r.format, l.names, l.strings FROM "
    "lode.run r CROSS JOIN LATERAL (SELECT array_agg(key ORDER BY key COLLATE \"C\") AS names, array_agg(value "
    "ORDER BY key COLLATE \"C\") AS strings FROM jsonb_each_text(r.labels)) l WHERE r.project = $1::int4 AND r.id = "
    "$2";
static const char totals_sql[] =
    "SELECT m.id::int8, m.name, x.total FROM lode.run r, unnest(r.metrics, r.totals) WITH ORDINALITY x(metric, "
    "total, i) JOIN lode.metric m ON m.id = x.metric WHERE r.project = $1::int4 AND r.id = $2 ORDER BY x.i";
static const char costs_sql[] =
    "SELECT c.metric::int8, f.name, f.module, f.file, x.e, x.i, x.low, x.high FROM lode.cost c, "
    "unnest(c.functions, c.exclusive, c.inclusive, c.minimum, c.maximum) x(f, e, i, low, high) JOIN "
    "lode.function f ON f.id = x.f WHERE c.run = $2 AND c.begun = (SELECT r.begun FROM lode.run r WHERE r.id = "
    "$2 AND r.project = $1::int4) AND x.e <> 'NaN'";

static void take_run(run_record *record, const PGresult *result, int64_t run)
{
    record->id = run;
    record->begun = cell_unsigned(result, 0, 0);
    record->added = cell_unsigned(result, 0, 1);
    record->modified = cell_unsigned(result, 0, 2);
    record->bytes = cell_unsigned(result, 0, 3);
    record->profiles = cell_unsigned(result, 0, 4);
    record->path = cell_text(result, 0, 5);
    record->format = cell_text(result, 0, 6);
}

int server_read(catalogue *of, int64_t run, run_record_fn on_record, void *user, catalogue_error *error)
{
    session *s = session_of(of);
    reader r = {.labels = NULL};
    PGresult *about = ask_about(s, run, run_sql, "iiiiittTT", error);
    PGresult *totals = about ? ask_about(s, run, totals_sql, "itd", error) : NULL;
    PGresult *costs = totals ? ask_about(s, run, costs_sql, "itttdddd", error) : NULL;
    int status = costs ? 0 : -1;
    if (status == 0 && PQntuples(about) == 0)
        status = 1;
    if (status == 0) {
        take_run(&r.record, about, run);
        if (take_labels(&r, about) != 0 || take_totals(&r, totals) != 0 || take_costs(&r, costs, totals) != 0)
            status = session_no_memory(s, error);
    }
    if (status == 0)
        status = on_record(user, &r.record) == 0 ? 0 : -1;
    free(r.labels);
    free(r.totals);
    free(r.costs);
    buffer_free(&r.texts);
    PQclear(costs);
    PQclear(totals);
    PQclear(about);
    return status;
}
