/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/session.h"

#include "host.h"
#include "options/moment.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/measured.h"
#include "stores/stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COST_SIZE 32 /* bytes for each context, about */

int session_error(session *s, const lode_error *error)
{
    progress_clear(&s->progress);
    return report_error(s->path, error);
}

lode_status session_shared(const lode_database *db, lode_part part, lode_error *error)
{
    *error = (lode_error){.status = LODE_ERR_CORRUPT, .offset = LODE_NO_OFFSET};
    snprintf(error->file, sizeof error->file, "%s", lode_database_part_file(db, part));
    snprintf(error->text, sizeof error->text,
             "records share their content: their total size exceeds the file");
    return LODE_ERR_CORRUPT;
}

static int parse_options(session *s)
{
    const shared_options *shared = s->shared;
    const char *path = s->path;
    lode_error error = {0};
    if (metric_list_parse(&s->metrics, s->db, path, &shared->metrics, &error) != LODE_OK)
        return session_error(s, &error);
    s->metric = metric_list_single(&s->metrics);
    if (shared->profiles && lode_selection_parse(&s->selection, s->db, shared->profiles, &error) != LODE_OK)
        return session_error(s, &error);
    return EXIT_DONE;
}

int session_open_metrics(session *s, const char *path, const shared_options *shared)
{
    lode_error error = {0};
    *s = (session){.path = path, .shared = shared};
    progress_init(&s->progress);
    const host_store *open = host_find_store(path);
    s->is_borrowed = open && open->db;
    if (s->is_borrowed) {
        s->db = open->db;
        damage_add(path, &open->opening);
        damage_add(path, &open->checking);
    } else if (lode_database_open(&s->db, path, &error) != LODE_OK) {
        return store_unopened(path, &error);
    } else {
        damage_check(&(damage_request){path, s->db, DAMAGE_READ_BYTES, shared->threads});
    }
    return parse_options(s);
}

int session_open_measured(session *s, const char *path, const shared_options *shared)
{
    *s = (session){.path = path, .shared = shared};
    progress_init(&s->progress);
    return measured_open(&s->db, path, shared) == EXIT_DONE ? parse_options(s) : EXIT_TROUBLE;
}

int session_open(session *s, const char *path, const shared_options *shared)
{
    int status = session_open_metrics(s, path, shared);
    /* An accumulator is a metric like others here: there is no mean of a call path. */
    if (status == EXIT_DONE && s->metrics.count == 1 && !s->metric)
        s->metric = s->metrics.items[0].accumulator;
    if (status == EXIT_DONE && s->metrics.count > 0 && !s->metric)
        return report(
            "%s: --metric takes one metric here; several, 'all' and formulas are for 'lode top' and "
            "'lode tree'",
            path);
    return status;
}

void session_close(session *s)
{
    metric_list_free(&s->metrics);
    free(s->cost_key);
    progress_clear(&s->progress);
    lode_selection_free(s->selection);
    report_look(s->path);
    if (!s->is_borrowed)
        lode_database_close(s->db);
}

double session_metric_total(const session *s, const lode_metric *metric)
{
    return metric_total(s->db, metric);
}

int session_need_metric(session *s)
{
    lode_error error = {0};
    if (!s->metric && lode_database_default_metric(s->db, &s->metric, &error) != LODE_OK)
        return session_error(s, &error);
    return EXIT_DONE;
}

void session_say_default(out *o, const session *s)
{
    unsigned count = 0;
    if (s->shared->metrics.count || !s->shared->verbose)
        return;
    for (uint32_t i = 0; i < lode_database_metric_count(s->db); i++)
        count += session_metric_total(s, lode_database_metric(s->db, i)) != 0;
    if (count > 1)
        out_say(o, "(the default of %s; --metric selects another, 'lode info' lists them)",
                COUNTED(count, "metric", "metrics"));
}

int session_has_window(const session *s)
{
    return s->shared->from.is_given || s->shared->to.is_given;
}

int session_window(session *s, uint64_t *start, uint64_t *from, uint64_t *to)
{
    uint64_t end = 0;
    if (lode_database_trace_bounds(s->db, start, &end) != LODE_OK)
        return report("%s: the database has no traces", s->path);
    store_clock clock = {.path = s->path, .begin = *start, .end = end, .has_utc = time_is_utc(*start)};
    if (moment_resolve(&s->shared->from, "from", &clock, *start, from) != EXIT_DONE ||
        moment_resolve(&s->shared->to, "to", &clock, end < UINT64_MAX ? end + 1 : end, to) != EXIT_DONE)
        return EXIT_TROUBLE;
    if (*from >= *to && session_has_window(s))
        return report("%s: --from must be before --to and before the end of the traces", s->path);
    if (!session_has_window(s))
        *from = *to = 0;
    return EXIT_DONE;
}

static unsigned session_threads(const session *s)
{
    return (unsigned)(s->shared->threads < 4096 ? s->shared->threads : 4096);
}

static int window_cost(session *s, lode_cost **cost)
{
    lode_error error = {0};
    lode_window_cost_options options = LODE_WINDOW_COST_OPTIONS_INIT;
    uint64_t start;
    if (s->shared->metrics.count)
        return report("%s: --metric cannot be used with --from and --to: trace lines have times only",
                      s->path);
    int status = session_window(s, &start, &options.from, &options.to);
    if (status != EXIT_DONE)
        return status;
    options.selection = s->selection;
    options.threads = session_threads(s);
    options.on_progress = progress_report;
    options.user = &s->progress;
    options.comm = s->shared->comm;
    options.local_ranks = (uint32_t)s->shared->local_ranks;
    if (lode_cost_compute_window(cost, s->db, &options, &error) != LODE_OK)
        return session_error(s, &error);
    return EXIT_DONE;
}

static int profile_cost(session *s, lode_cost **cost)
{
    lode_error error = {0};
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    options.metric = s->metric;
    options.selection = s->selection;
    options.threads = session_threads(s);
    options.on_progress = progress_report;
    options.user = &s->progress;
    options.comm = s->shared->comm;
    options.local_ranks = (uint32_t)s->shared->local_ranks;
    if (lode_cost_compute(cost, s->db, &options, &error) != LODE_OK)
        return session_error(s, &error);
    if (!s->is_borrowed && !s->selection)
        damage_check_cost(s->path, *cost);
    return EXIT_DONE;
}

static void free_cost(void *cost)
{
    lode_cost_free(cost);
}

void session_free_cost(lode_cost *cost)
{
    host_cache_release(cost, free_cost);
}

/* All that costs depend on. Metrics and databases stay where they are while a host has them. */
static char *key_of_cost(session *s)
{
    const time_point *from = &s->shared->from, *to = &s->shared->to;
    char *key = NULL;
    if (!s->metric && !session_has_window(s) &&
        lode_database_default_metric(s->db, &s->metric, NULL) != LODE_OK)
        return NULL;
    if (from->is_calendar || to->is_calendar ||
        asprintf(&key, "cost %p %p %d %d %" PRIu64 " %d %d %" PRIu64 " %s", (const void *)s->db,
                 (const void *)s->metric, from->is_given, from->is_absolute, from->nanoseconds, to->is_given,
                 to->is_absolute, to->nanoseconds, s->shared->profiles ? s->shared->profiles : "") < 0)
        return NULL;
    return key;
}

int session_cost(session *s, lode_cost **cost)
{
    free(s->cost_key);
    s->cost_key = s->is_borrowed ? key_of_cost(s) : NULL;
    const char *key = s->cost_key;
    *cost = key ? host_cache_take(key) : NULL;
    int is_cached = *cost != NULL, status = EXIT_DONE;
    if (!is_cached)
        status = session_has_window(s) ? window_cost(s, cost) : profile_cost(s, cost);
    if (!is_cached && key && status == EXIT_DONE)
        host_cache_put(key, *cost, (size_t)lode_database_context_count(s->db) * COST_SIZE, free_cost);
    else if (!is_cached && key)
        host_cache_abandon(key);
    progress_clear(&s->progress);
    if (status == EXIT_DONE)
        s->metric = lode_cost_metric(*cost);
    return status;
}

/* ---- hotspots ---- */

static void free_hotspots(void *rows)
{
    lode_hotspots_free(rows);
}

void session_free_hotspots(lode_hotspots *rows)
{
    host_cache_release(rows, free_hotspots);
}

/* NULL with a filter: its patterns would be part of the key. */
static char *key_of_hotspots(const session *s, const lode_hotspot_options *options)
{
    char *key = NULL;
    if (!s->cost_key || options->filter ||
        asprintf(&key, "hotspots %d %d %d %s", (int)options->by, (int)options->sort, (int)options->names,
                 s->cost_key) < 0)
        return NULL;
    return key;
}

/* From the same rows in another order, if there are some. */
static int make_hotspots(session *s, const lode_cost *cost, const lode_hotspot_options *options,
                         const lode_hotspots *known, lode_hotspots **rows)
{
    lode_error error = {0};
    char *key = key_of_hotspots(s, options);
    *rows = key ? host_cache_take(key) : NULL;
    int is_cached = *rows != NULL;
    lode_status status = is_cached ? LODE_OK
                         : known   ? lode_hotspots_sorted(rows, known, options->sort, &error)
                                   : lode_hotspots_select(rows, cost, options, &error);
    if (!is_cached && key && status == LODE_OK)
        host_cache_put(key, *rows, lode_hotspots_count(*rows) * sizeof(lode_hotspot), free_hotspots);
    else if (!is_cached && key)
        host_cache_abandon(key);
    free(key);
    return status == LODE_OK ? EXIT_DONE : session_error(s, &error);
}

int session_hotspots(session *s, const lode_cost *cost, const lode_hotspot_options *options,
                     lode_hotspots **rows)
{
    lode_hotspot_options first = *options;
    lode_hotspots *known = NULL;
    int status = EXIT_DONE;
    /* With a host, all orders are made from one. */
    first.sort = LODE_SORT_EXCLUSIVE;
    if (s->cost_key && !options->filter && options->sort != first.sort)
        status = make_hotspots(s, cost, &first, NULL, &known);
    if (status == EXIT_DONE)
        status = make_hotspots(s, cost, options, known, rows);
    session_free_hotspots(known);
    return status;
}
