/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads requests: all of them once, and the slow ones again. */
#include "analysis/diagnose/requests/scan.h"

#include "base/compare.h"
#include <lode/unstable/search.h>
#include <stdlib.h>

struct run {
    struct lode_diagnosis *d;
    struct lode_pass pass;
    struct request *requests; /* by row */
    struct scan *scans;       /* by worker */
    bool is_first;
};

static lode_status begin(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    struct run *run = user;
    struct request *request = &run->requests[row - run->pass.rows];
    uint64_t from = 0, to = 0;
    lode_status status = lode_track_interval(run->pass.recording, row->track, &from, &to, error);
    if (status != LODE_OK && status != LODE_ABSENT)
        return status;
    *request = (struct request){
        .begin = from, .duration = to > from ? to - from : 0, .track = row->track, .entry = UINT32_MAX};
    return lode_diagnose_request_scan_start(&run->scans[worker], request, row->track, request->duration,
                                            error);
}

static lode_status take(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error)
{
    struct run *run = user;
    return lode_diagnose_request_scan_events(&run->scans[worker], events, count, error);
}

static lode_status end(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    struct run *run = user;
    (void)row;
    return lode_diagnose_request_scan_finish(&run->scans[worker], error);
}

static lode_status begin_side(void *user, unsigned worker, uint32_t track, lode_error *error)
{
    struct run *run = user;
    return lode_diagnose_request_scan_side(&run->scans[worker], track, error);
}

/* ---- a pass ---- */

static int on_finding(void *user, const lode_finding *finding)
{
    struct run *run = user;
    run->d->requests->findings += finding->severity != LODE_NOTE;
    return 0;
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const struct run *run = user;
    return run->d->options.on_progress(run->d->options.user, phase, done, total);
}

static lode_status merge_services(struct run *run, lode_error *error)
{
    struct request_facts *facts = run->d->requests;
    if (!run->is_first || run->pass.recording->mains == NULL)
        return LODE_OK;
    facts->services = malloc(sizeof *facts->services);
    LODE_TRY_ALLOC(facts->services, error);
    lode_diagnose_service_tables_init(facts->services);
    for (unsigned i = 0; i < run->pass.threads; i++)
        LODE_TRY_ALLOC(lode_diagnose_service_tables_merge(facts->services, &run->scans[i].services.tables),
                       error);
    return LODE_OK;
}

static lode_status merge(struct run *run, struct request_tables **out, lode_error *error)
{
    struct request_facts *facts = run->d->requests;
    *out = malloc(sizeof **out);
    LODE_TRY_ALLOC(*out, error);
    lode_diagnose_request_tables_init(*out);
    for (unsigned i = 0; i < run->pass.threads; i++) {
        if (!lode_diagnose_tables_merge(*out, &run->scans[i].tables))
            return lode_fail_memory(error);
        if (run->is_first) {
            facts->calls += run->scans[i].calls;
            facts->hidden += run->scans[i].hidden;
        }
    }
    return merge_services(run, error);
}

static lode_status work(struct run *run, struct request_tables **out, lode_error *error)
{
    run->requests = calloc((size_t)run->pass.row_count + 1, sizeof *run->requests);
    run->scans = lode_pass_workers(&run->pass, sizeof *run->scans);
    LODE_TRY_ALLOC(run->requests && run->scans, error);
    for (unsigned i = 0; i < run->pass.threads; i++)
        lode_diagnose_request_scan_open(&run->scans[i], run->pass.recording, run->is_first);
    run->pass.begin = begin;
    run->pass.side = begin_side;
    run->pass.take = take;
    run->pass.end = end;
    run->pass.user = run;
    /* Slow requests are read again, and for the diagnosis only. */
    if (run->is_first)
        LODE_TRY(lode_diagnose_run_pass(run->d, &run->pass, error));
    else
        LODE_TRY(lode_pass_run(&run->pass, error));
    return merge(run, out, error);
}

/* Reads requests; NULL: all. `requests` is for free(). */
static lode_status read_requests(struct lode_diagnosis *d, const uint32_t *tracks, uint32_t count,
                                 struct request **requests, struct request_tables **out, lode_error *error)
{
    struct run run = {.d = d, .is_first = tracks == NULL};
    lode_slice slice = LODE_SLICE_INIT;
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    slice.tracks = tracks;
    slice.track_count = count;
    options.threads = d->options.threads;
    options.pool = d->options.pool;
    options.on_finding = run.is_first ? on_finding : NULL;
    options.on_progress = d->options.on_progress ? on_progress : NULL;
    options.user = &run;
    lode_status status = lode_pass_open(&run.pass, d->requests->recording, &slice, &options, error);
    if (status == LODE_OK) {
        lode_pass_join(&run.pass);
        status = work(&run, out, error);
    }
    for (unsigned i = 0; run.scans && i < run.pass.threads; i++)
        lode_diagnose_request_scan_close(&run.scans[i]);
    free(run.scans);
    lode_pass_close(&run.pass);
    *requests = run.requests;
    return status;
}

/* ---- all requests ---- */

static int compare_requests(const void *left, const void *right)
{
    const struct request *a = left, *b = right;
    return a->begin != b->begin ? LODE_COMPARE(a->begin, b->begin) : LODE_COMPARE(a->track, b->track);
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return LODE_COMPARE(*a, *b);
}

/* Keeps those that are judged, by begin. */
static void arrange(struct request_facts *facts, uint32_t all)
{
    facts->origin = all ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < all; i++) {
        const struct request *request = &facts->requests[i];
        facts->origin = request->begin < facts->origin ? request->begin : facts->origin;
        if (request->flags & REQUEST_JUDGED)
            facts->requests[facts->count++] = *request;
        else
            facts->left_out++;
    }
    if (facts->count)
        qsort(facts->requests, facts->count, sizeof *facts->requests, compare_requests);
    for (uint32_t i = 0; i < facts->count; i++) {
        double duration = (double)facts->requests[i].duration;
        facts->total += duration;
        facts->squares += duration * duration;
    }
    facts->first = facts->count ? facts->requests[0].begin : 0;
    facts->last = facts->count ? facts->requests[facts->count - 1].begin : 0;
}

/* Requests that began earlier and have not ended when a request begins. */
static lode_status count_in_flight(struct request_facts *facts, lode_error *error)
{
    uint64_t *ends = malloc(((size_t)facts->count + 1) * sizeof *ends);
    LODE_TRY_ALLOC(ends, error);
    /* A request without a duration is not in flight: it ends after those that begin with it. */
    for (uint32_t i = 0; i < facts->count; i++) {
        uint64_t duration = facts->requests[i].duration;
        ends[i] = facts->requests[i].begin + (duration ? duration : 1);
    }
    if (facts->count)
        qsort(ends, facts->count, sizeof *ends, compare_numbers);
    for (uint32_t i = 0, begun = 0, ended = 0; i < facts->count; i++) {
        uint64_t now = facts->requests[i].begin;
        while (facts->requests[begun].begin < now)
            begun++;
        while (ended < facts->count && ends[ended] <= now)
            ended++;
        facts->requests[i].in_flight = begun > ended ? begun - ended : 0;
    }
    free(ends);
    return LODE_OK;
}

static lode_status rank_functions(struct request_facts *facts, lode_error *error)
{
    const struct lode_function_table *table = recording_functions(facts->recording);
    uint32_t count = table->count;
    const lode_function **functions = calloc((size_t)count + 1, sizeof(*functions));
    facts->ranks = calloc((size_t)count + 1, sizeof *facts->ranks);
    facts->entry_of = calloc((size_t)count + 1, sizeof *facts->entry_of);
    lode_status status = LODE_OK;
    if (functions == NULL || facts->ranks == NULL || facts->entry_of == NULL)
        status = lode_fail_memory(error);
    for (uint32_t i = 0; status == LODE_OK && i < count; i++)
        functions[i] = lode_function_table_at(table, i);
    if (status == LODE_OK)
        status = lode_rank_functions(functions, count, facts->ranks, error);
    free(functions);
    return status;
}

/* ---- slow requests ---- */

static lode_status read_slow(struct lode_diagnosis *d, lode_error *error)
{
    struct request_facts *facts = d->requests;
    struct request *ignored = NULL;
    uint32_t *tracks = malloc(((size_t)facts->count + 1) * sizeof *tracks), count = 0;
    LODE_TRY_ALLOC(tracks, error);
    for (uint32_t i = 0; i < facts->count; i++)
        if (facts->requests[i].flags & REQUEST_SLOW)
            tracks[count++] = facts->requests[i].track;
    lode_status status = LODE_OK;
    if (count) {
        qsort(tracks, count, sizeof *tracks, lode_compare_u32);
        status = read_requests(d, tracks, count, &ignored, &facts->slow, error);
    }
    free(ignored);
    free(tracks);
    return status;
}

lode_status lode_diagnose_request_facts_read(struct lode_diagnosis *d, lode_error *error)
{
    struct request_facts *facts = d->requests;
    facts->findings = d->options.findings;
    LODE_TRY(read_requests(d, NULL, 0, &facts->requests, &facts->all, error));
    arrange(facts, lode_recording_request_count(facts->recording));
    LODE_TRY(count_in_flight(facts, error));
    LODE_TRY(rank_functions(facts, error));
    LODE_TRY(lode_diagnose_request_facts_entries(facts, error));
    return read_slow(d, error);
}

static void free_tables(struct request_tables *tables)
{
    if (tables)
        lode_diagnose_request_tables_free(tables);
    free(tables);
}

void lode_diagnose_request_facts_free(struct request_facts *facts)
{
    if (facts == NULL)
        return;
    free_tables(facts->all);
    free_tables(facts->slow);
    if (facts->services)
        lode_diagnose_service_tables_free(facts->services);
    free(facts->services);
    free(facts->requests);
    free(facts->entries);
    free(facts->entry_of);
    free(facts->ranks);
    free(facts);
}
