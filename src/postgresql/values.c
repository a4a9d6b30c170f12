/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs of some runs, function by function. A row of the server has all functions of a run: it is
 * read once for each metric, not once for each function.
 */
#include "select.h"

#include <stdlib.h>
#include <string.h>

typedef struct cached_cost {
    int32_t function;
    double exclusive, inclusive;
} cached_cost;

/* In the order of functions. */
struct cached_run {
    int64_t run;
    cached_cost *costs;
    size_t count;
};

static int by_function(const void *left, const void *right)
{
    const cached_cost *a = left, *b = right;
    return a->function < b->function ? -1 : a->function > b->function;
}

void server_forget_values(session *s)
{
    cost_cache *cache = &s->cache;
    for (size_t i = 0; i < cache->cost_count; i++)
        free(cache->costs[i].costs);
    free(cache->costs);
    free(cache->runs);
    *cache = (cost_cache){.runs = NULL};
}

static int is_cached(const cost_cache *cache, const run_set *set, int64_t metric)
{
    return cache->runs && cache->metric == metric && cache->count == set->count &&
           memcmp(cache->runs, set->runs, set->count * sizeof *set->runs) == 0;
}

/* The months in which the runs are: a plan without them looks into all. */
static int find_months(session *s, const run_set *set, int64_t months[2], catalogue_error *error)
{
    parameters p = {.count = 0};
    put_integers(&p, set->runs, set->count);
    PGresult *result = session_ask(s, "SELECT min(begun_ns), max(begun_ns) FROM lode.run WHERE id = ANY($1)",
                                   &p, "ii", ASK_AGAIN, error);
    parameters_free(&p);
    if (!result)
        return -1;
    for (int i = 0; i < 2; i++)
        months[i] = PQntuples(result) == 1 ? cell_integer(result, 0, i) : 0;
    PQclear(result);
    return 0;
}

static int keep_run(struct cached_run *to, const PGresult *result, int row)
{
    array functions = cell_array(result, row, 1), exclusive = cell_array(result, row, 2),
          inclusive = cell_array(result, row, 3);
    *to = (struct cached_run){cell_integer(result, row, 0), NULL, 0};
    to->costs = calloc((size_t)functions.count + 1, sizeof *to->costs);
    if (!to->costs)
        return -1;
    while (functions.count && exclusive.count && inclusive.count) {
        cached_cost cost = {array_int(&functions), array_real(&exclusive), array_real(&inclusive)};
        to->costs[to->count++] = cost;
    }
    qsort(to->costs, to->count, sizeof *to->costs, by_function);
    return 0;
}

static int keep_all(session *s, const PGresult *result, const run_set *set, int64_t metric)
{
    cost_cache *cache = &s->cache;
    int rows = PQntuples(result);
    cache->runs = malloc((set->count + 1) * sizeof *cache->runs);
    cache->costs = calloc((size_t)rows + 1, sizeof *cache->costs);
    if (!cache->runs || !cache->costs)
        return -1;
    memcpy(cache->runs, set->runs, set->count * sizeof *set->runs);
    cache->count = set->count;
    cache->metric = metric;
    for (int row = 0; row < rows; row++)
        if (keep_run(&cache->costs[cache->cost_count++], result, row) != 0)
            return -1;
    return 0;
}

static int fill_cache(session *s, const run_set *set, int64_t metric, catalogue_error *error)
{
    int64_t months[2];
    parameters p = {.count = 0};
    server_forget_values(s);
    if (find_months(s, set, months, error) != 0)
        return -1;
    put_integers(&p, set->runs, set->count);
    put_integer(&p, metric);
    put_time(&p, (uint64_t)months[0]);
    put_time(&p, (uint64_t)months[1]);
    PGresult *result =
        session_ask(s,
                    "SELECT c.run, c.functions, c.exclusive, c.inclusive FROM lode.cost c WHERE c.run = "
                    "ANY($1) AND c.metric = $2::int4 AND c.begun BETWEEN $3 AND $4",
                    &p, "iIDD", ASK_AGAIN, error);
    parameters_free(&p);
    if (!result)
        return -1;
    int status = keep_all(s, result, set, metric);
    PQclear(result);
    if (status == 0)
        return 0;
    server_forget_values(s);
    return session_no_memory(s, error);
}

static int give_totals(session *s, const run_set *set, int64_t metric, run_value_fn on_value, void *user,
                       catalogue_error *error)
{
    parameters p = {.count = 0};
    put_integers(&p, set->runs, set->count);
    put_integer(&p, metric);
    PGresult *result =
        session_ask(s,
                    "SELECT r.id, r.totals[array_position(r.metrics, $2::int4)] FROM lode.run r WHERE r.id = "
                    "ANY($1) AND $2::int4 = ANY(r.metrics)",
                    &p, "id", ASK_AGAIN, error);
    parameters_free(&p);
    for (int row = 0; result && row < PQntuples(result); row++)
        on_value(user, cell_integer(result, row, 0), cell_real(result, row, 1));
    int status = result ? 0 : -1;
    PQclear(result);
    return status;
}

int server_values(catalogue *of, const run_set *set, int64_t metric, int64_t function, int is_inclusive,
                  run_value_fn on_value, void *user, catalogue_error *error)
{
    session *s = session_of(of);
    const cached_cost wanted = {(int32_t)function, 0, 0};
    if (function == 0)
        return give_totals(s, set, metric, on_value, user, error);
    if (!is_cached(&s->cache, set, metric) && fill_cache(s, set, metric, error) != 0)
        return -1;
    for (size_t i = 0; i < s->cache.cost_count; i++) {
        const struct cached_run *run = &s->cache.costs[i];
        const cached_cost *cost =
            run->count ? bsearch(&wanted, run->costs, run->count, sizeof *run->costs, by_function) : NULL;
        if (cost)
            on_value(user, run->run, is_inclusive ? cost->inclusive : cost->exclusive);
    }
    return 0;
}
