/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, and costs of functions over many runs. */
#include "select.h"

#include <stdlib.h>
#include <string.h>

/* ---- metrics and functions ---- */

static int name_rows(PGresult *result, run_name_fn on_name, void *user)
{
    for (int row = 0; result && row < PQntuples(result); row++)
        if (on_name(user, cell_integer(result, row, 0), cell_text(result, row, 1),
                    cell_real(result, row, 2)) != 0)
            break;
    int status = result ? 0 : -1;
    PQclear(result);
    return status;
}

int server_metrics(catalogue *of, int64_t run, run_name_fn on_metric, void *user, catalogue_error *error)
{
    session *s = session_of(of);
    statement to;
    PGresult *result = NULL;
    int status = statement_begin(
        &to, s,
        run ? "SELECT m.id::int8, m.name, x.total FROM lode.run r, unnest(r.metrics, r.totals) "
              "x(metric, total) JOIN lode.metric m ON m.id = x.metric WHERE r.id = $2 AND r.project = "
              "$1::int4 ORDER BY m.id"
            : "SELECT m.id::int8, m.name, 0::float8 FROM lode.metric m WHERE m.project = $1::int4 AND "
              "$2 IS NOT NULL ORDER BY m.id",
        error);
    if (status == 0) {
        put_integer(&to.values, run);
        result = statement_ask(&to, s, "itd", error);
    }
    statement_free(&to);
    return name_rows(result, on_metric, user);
}

int server_functions(catalogue *of, run_name_fn on_function, void *user, catalogue_error *error)
{
    session *s = session_of(of);
    statement to;
    PGresult *result = NULL;
    int status =
        statement_begin(&to, s,
                        "SELECT f.id::int8, f.name, 0::float8 FROM lode.function f WHERE f.project = "
                        "$1::int4 ORDER BY f.name COLLATE \"C\"",
                        error);
    if (status == 0)
        result = statement_ask(&to, s, "itd", error);
    statement_free(&to);
    return name_rows(result, on_function, user);
}

int server_find_function(catalogue *of, const char *name, int64_t *id, catalogue_error *error)
{
    session *s = session_of(of);
    statement to;
    PGresult *result = NULL;
    int status = statement_begin(&to, s,
                                 "SELECT f.id::int8 FROM lode.function f WHERE f.project = $1::int4 AND "
                                 "f.digest = lode.digest($2)",
                                 error);
    if (status == 0) {
        put_text(&to.values, name);
        result = statement_ask(&to, s, "i", error);
    }
    statement_free(&to);
    int found = result ? PQntuples(result) > 0 : -1;
    *id = found == 1 ? cell_integer(result, 0, 0) : 0;
    PQclear(result);
    return found;
}

/* ---- the series of one function ---- */

/* OFFSET 0: the place of the function is computed once, and each array is read once. */
#define COST_SERIES                                                                                            \
    "SELECT c.run, c.begun_ns, y.e, c.inclusive[x.i] FROM lode.cost c CROSS JOIN LATERAL (SELECT "             \
    "array_position(c.functions, $3::int4) AS i OFFSET 0) x CROSS JOIN LATERAL (SELECT c.exclusive[x.i] AS e " \
    "OFFSET 0) y"
#define TOTAL_SERIES                                                                                         \
    "SELECT r.id, r.begun_ns, r.totals[x.i], r.totals[x.i] FROM lode.run r CROSS JOIN LATERAL "              \
    "(SELECT array_position(r.metrics, $2::int4) AS i OFFSET 0) x"

static int write_series(statement *to, session *s, const run_filter *filter, int64_t metric, int64_t function,
                        catalogue_error *error)
{
    if (statement_begin(to, s, function ? COST_SERIES : TOTAL_SERIES, error) != 0)
        return -1;
    put_integer(&to->values, metric);
    if (function)
        put_integer(&to->values, function);
    int status = function ? select_costs(to, s, filter, error) : select_runs(to, s, filter, error);
    buffer_text(&to->sql, function ? " AND c.metric = $2::int4 AND y.e <> 'NaN'" : " AND x.i IS NOT NULL");
    if (filter->limit)
        select_order(to, filter, function ? "c" : "r", function ? "run" : "id");
    return status;
}

int server_series(catalogue *of, const run_filter *filter, int64_t metric, int64_t function,
                  run_point **points, size_t *count, catalogue_error *error)
{
    session *s = session_of(of);
    statement to;
    PGresult *result = NULL;
    if (write_series(&to, s, filter, metric, function, error) == 0)
        result = statement_ask(&to, s, "iidd", error);
    statement_free(&to);
    if (!result)
        return -1;
    int rows = PQntuples(result);
    *points = calloc((size_t)rows + 1, sizeof **points);
    for (int row = 0; *points && row < rows; row++)
        (*points)[(*count)++] = (run_point){cell_integer(result, row, 0), cell_unsigned(result, row, 1),
                                            cell_real(result, row, 2), cell_real(result, row, 3)};
    PQclear(result);
    return *points ? 0 : session_no_memory(s, error);
}

/* ---- the functions of one run ---- */

int server_run_functions(catalogue *of, int64_t run, int64_t metric, run_function **functions, size_t *count,
                         catalogue_error *error)
{
    session *s = session_of(of);
    statement to;
    PGresult *result = NULL;
    int status = statement_begin(
        &to, s,
        "SELECT f.id::int8, f.name, x.e, x.i FROM lode.cost c, unnest(c.functions, c.exclusive, c.inclusive) "
        "x(f, e, i) JOIN lode.function f ON f.id = x.f WHERE c.project = $1::int4 AND c.run = $2 AND c.metric = "
        "$3::int4 AND c.begun = $4 AND x.e <> 'NaN'",
        error);
    int64_t begun = 0;
    if (status == 0 && session_find_run(s, run, &begun, error) >= 0) {
        put_integer(&to.values, run);
        put_integer(&to.values, metric);
        put_time(&to.values, (uint64_t)begun);
        result = statement_ask(&to, s, "itdd", error);
    }
    statement_free(&to);
    if (!result)
        return -1;
    int rows = PQntuples(result);
    *functions = calloc((size_t)rows + 1, sizeof **functions);
    status = *functions ? 0 : session_no_memory(s, error);
    for (int row = 0; status == 0 && row < rows; row++) {
        char *name = strdup(cell_text(result, row, 1));
        if (name)
            (*functions)[(*count)++] = (run_function){cell_integer(result, row, 0), name,
                                                      cell_real(result, row, 2), cell_real(result, row, 3)};
        else
            status = session_no_memory(s, error);
    }
    PQclear(result);
    return status;
}
