/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over all events, in parallel over tracks, and the sums of its workers. */
#include "analysis/diagnose/calls/part.h"

#include "base/compare.h"
#include "model/recording/recording.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLLECTIVES_MAX = 1 << 16, /* of a track */
    COLLECTIVES_ALL = 1 << 22, /* of all */
    WAITS_MAX = 1 << 16,       /* of a track */
    WAITS_MIN = 64,            /* of a track, however many there are */
    WAITS_ALL = 1 << 21        /* of all */
};

struct reading {
    struct lode_diagnosis *d;
    struct lode_pass pass;
    size_t collectives_max, waits_max; /* of a track */
    struct call_worker *workers;
    struct call_join **joins; /* by track, of those that are cut */
    pthread_mutex_t lock;     /* protects joins */
    struct call_worker **all; /* workers and those of joins: their sums are those of all tracks */
    unsigned all_count;
    struct lode_map index; /* from pairs of functions to pairs + 1 */
    struct lode_array pairs;
    struct lode_map edge_index;
    struct lode_array edges;
};

/* ---- the pass ---- */

static lode_status begin_track(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    struct reading *r = user;
    (void)error;
    lode_diagnose_call_worker_begin(&r->workers[worker], row);
    return LODE_OK;
}

static lode_status take(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error)
{
    struct reading *r = user;
    return lode_diagnose_call_worker_take(&r->workers[worker], events, count, error);
}

static lode_status resume(void *user, unsigned worker, const struct lode_cut *cut, lode_error *error)
{
    struct reading *r = user;
    return lode_diagnose_call_worker_resume(&r->workers[worker], cut, error);
}

static lode_status stop(void *user, unsigned worker, const struct lode_cut *cut, lode_error *error)
{
    struct reading *r = user;
    return lode_diagnose_call_worker_stop(&r->workers[worker], cut, error);
}

static lode_status open_worker(const struct reading *r, struct call_worker *worker, lode_error *error)
{
    return lode_diagnose_call_worker_open(worker, r->d, r->collectives_max, r->waits_max, error);
}

/* The join of a track; others wait. */
static lode_status find_join(struct reading *r, const lode_track_row *row, struct call_join **out,
                             lode_error *error)
{
    struct call_join *join = r->joins[row->track];
    if (join == NULL) {
        join = r->joins[row->track] = lode_workers_new(1, sizeof *join);
        LODE_TRY_ALLOC(join, error);
        join->is_open = true;
        join->row.track = row->track;
        LODE_TRY(open_worker(r, &join->w, error));
        lode_diagnose_call_worker_begin(&join->w, row);
    }
    *out = join;
    return LODE_OK;
}

static lode_status end_piece(struct reading *r, struct call_worker *worker, const lode_track_row *row,
                             lode_error *error)
{
    struct call_track *track = &r->d->calls->tracks[row->track];
    struct call_part *part;
    struct call_join *join;
    lode_status status = lode_diagnose_call_worker_leave(worker, &part, error);
    part->row = *row;
    pthread_mutex_lock(&r->lock);
    if (status == LODE_OK)
        status = find_join(r, row, &join, error);
    if (status == LODE_OK)
        status = lode_diagnose_call_join(join, part, track, error);
    else
        lode_diagnose_call_part_free(part);
    if (status == LODE_OK) {
        track->begin = join->row.begin;
        track->end = join->row.end;
    }
    pthread_mutex_unlock(&r->lock);
    return status;
}

static lode_status end_track(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    struct reading *r = user;
    struct call_track *track = &r->d->calls->tracks[row->track];
    if (r->workers[worker].part)
        return end_piece(r, &r->workers[worker], row, error);
    LODE_TRY(lode_diagnose_call_worker_end(&r->workers[worker], track, error));
    track->begin = row->begin;
    track->end = row->end;
    return LODE_OK;
}

static void close_workers(struct reading *r)
{
    for (unsigned i = 0; r->workers && i < r->pass.threads; i++)
        lode_diagnose_call_worker_close(&r->workers[i]);
    for (uint32_t i = 0; r->joins && i < r->pass.row_count; i++)
        if (r->joins[i]) {
            lode_diagnose_call_join_close(r->joins[i]);
            free(r->joins[i]);
            r->joins[i] = NULL;
        }
}

static lode_status open_workers(struct reading *r, lode_error *error)
{
    for (unsigned i = 0; i < r->pass.threads; i++)
        LODE_TRY(open_worker(r, &r->workers[i], error));
    return LODE_OK;
}

/* Pieces of tracks were read that do not fit: all begins again. */
static lode_status restart(void *user, lode_error *error)
{
    struct reading *r = user;
    struct call_facts *facts = r->d->calls;
    close_workers(r);
    for (size_t i = 0; i < facts->track_count; i++)
        lode_diagnose_call_track_free(&facts->tracks[i]);
    memset(facts->tracks, 0, facts->track_count * sizeof *facts->tracks);
    memset(r->workers, 0, r->pass.threads * sizeof *r->workers);
    return open_workers(r, error);
}

static int count_finding(void *user, const lode_finding *finding)
{
    struct reading *r = user;
    r->d->calls->findings += finding->severity != LODE_NOTE;
    return 0;
}

/* Findings and progress have one user. */
static int pass_progress_on(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const struct reading *r = user;
    return r->d->options.on_progress(r->d->options.user, phase, done, total);
}

/* Their sums, in any order. */
static lode_status list_workers(struct reading *r, lode_error *error)
{
    r->all_count = 0;
    r->all = calloc(r->pass.threads + (size_t)r->pass.row_count, sizeof *r->all);
    LODE_TRY_ALLOC(r->all, error);
    for (unsigned i = 0; i < r->pass.threads; i++)
        r->all[r->all_count++] = &r->workers[i];
    for (uint32_t i = 0; i < r->pass.row_count; i++)
        if (r->joins[i])
            r->all[r->all_count++] = &r->joins[i]->w;
    return LODE_OK;
}

static lode_status read_tracks(struct reading *r, lode_error *error)
{
    struct call_facts *facts = r->d->calls;
    size_t most = COLLECTIVES_ALL / ((size_t)r->pass.row_count + 1);
    r->collectives_max = most < COLLECTIVES_MAX ? most : COLLECTIVES_MAX;
    size_t waits = WAITS_ALL / ((size_t)r->pass.row_count + 1);
    r->waits_max = waits < WAITS_MIN ? WAITS_MIN : waits < WAITS_MAX ? waits : WAITS_MAX;
    lode_pass_cut(&r->pass);
    facts->track_count = r->pass.row_count;
    facts->tracks = calloc(facts->track_count + 1, sizeof *facts->tracks);
    r->joins = calloc((size_t)r->pass.row_count + 1, sizeof *r->joins);
    r->workers = lode_pass_workers(&r->pass, sizeof *r->workers);
    LODE_TRY_ALLOC(facts->tracks && r->joins && r->workers, error);
    LODE_TRY(open_workers(r, error));
    r->pass.begin = begin_track;
    r->pass.take = take;
    r->pass.end = end_track;
    r->pass.resume = resume;
    r->pass.stop = stop;
    r->pass.restart = restart;
    r->pass.user = r;
    LODE_TRY(lode_diagnose_run_pass(r->d, &r->pass, error));
    return list_workers(r, error);
}

/* ---- functions ---- */

static void add_function(struct call_function *sum, const struct call_function *more)
{
    if (!more->is_known)
        return;
    sum->calls += more->calls;
    sum->outer += more->outer;
    sum->own += more->own;
    sum->held += more->held;
    sum->total += more->total;
    sum->spent += more->spent;
    sum->most = more->most > sum->most ? more->most : sum->most;
    sum->argued += more->argued;
    sum->repeated += more->repeated;
    sum->repeated_time += more->repeated_time;
    sum->activity = more->activity;
    sum->role = more->role;
    sum->effect = more->effect;
    sum->spins = more->spins;
    sum->is_known = true;
}

static lode_status add_functions(struct reading *r, lode_error *error)
{
    struct call_facts *facts = r->d->calls;
    struct lode_sketches **sets = calloc((size_t)r->all_count + 1, sizeof *sets);
    for (unsigned i = 0; i < r->all_count; i++) {
        if (r->all[i]->capacity > facts->function_count)
            facts->function_count = r->all[i]->capacity;
        facts->has_sched |= r->all[i]->has_sched;
        if (sets)
            sets[i] = &r->all[i]->sketches;
    }
    facts->functions = calloc((size_t)facts->function_count + 1, sizeof *facts->functions);
    facts->sketches = calloc((size_t)facts->function_count + 1, sizeof *facts->sketches);
    bool has_memory = sets && facts->functions && facts->sketches;
    for (uint32_t f = 0; has_memory && f < facts->function_count; f++) {
        for (unsigned i = 0; i < r->all_count; i++)
            if (f < r->all[i]->capacity)
                add_function(&facts->functions[f], &r->all[i]->functions[f]);
        if (facts->functions[f].outer)
            has_memory = (facts->sketches[f] = lode_sketch_sum(sets, r->all_count, f, &facts->arena)) != NULL;
    }
    free(sets);
    return has_memory ? LODE_OK : lode_fail_memory(error);
}

static lode_status rank_functions(struct call_facts *facts, lode_error *error)
{
    size_t count = 0;
    const lode_function **functions = calloc((size_t)facts->function_count + 1, sizeof *functions);
    facts->ranks = calloc((size_t)facts->function_count + 1, sizeof *facts->ranks);
    lode_status status = functions && facts->ranks ? LODE_OK : lode_fail_memory(error);
    for (uint32_t f = 0; functions && f < facts->function_count; f++)
        if (facts->functions[f].is_known)
            functions[count++] = lode_function_table_at(recording_functions(facts->recording), f);
    if (status == LODE_OK)
        status = lode_rank_functions(functions, count, facts->ranks, error);
    free(functions);
    return status;
}

/* ---- pairs ---- */

static bool add_pair(struct reading *r, const struct call_pair *more)
{
    bool added;
    uint32_t *place = lode_map_add(&r->index, (uint64_t)more->holder << 32 | more->entry, 0, &added);
    if (place == NULL)
        return false;
    if (added) {
        struct call_pair *copy = lode_array_push(&r->pairs);
        *place = (uint32_t)r->pairs.count;
        if (copy)
            *copy = *more;
        return copy != NULL;
    }
    struct call_pair *sum = LODE_ARRAY_AT(&r->pairs, struct call_pair, *place - 1);
    sum->calls += more->calls;
    sum->running += more->running;
    sum->blocked += more->blocked;
    sum->waiting += more->waiting;
    sum->long_calls += more->long_calls;
    sum->bytes += more->bytes;
    sum->sized += more->sized;
    sum->locked += more->locked;
    sum->beat.count += more->beat.count;
    sum->beat.slept += more->beat.slept;
    sum->beat.worked += more->beat.worked;
    sum->beat.slept2 += more->beat.slept2;
    sum->beat.worked2 += more->beat.worked2;
    sum->beat.both += more->beat.both;
    if (more->longest)
        lode_diagnose_call_pair_note(sum, more->from, more->to, more->track);
    return true;
}

static uint64_t rank_of(const struct call_facts *facts, uint32_t function)
{
    return function ? facts->ranks[function - 1] + UINT64_C(1) : 0;
}

static int compare_pairs(const void *left, const void *right, void *argument)
{
    const struct call_pair *a = left, *b = right;
    const struct call_facts *facts = argument;
    uint64_t x = rank_of(facts, a->holder), y = rank_of(facts, b->holder);
    return x != y ? LODE_COMPARE(x, y) : LODE_COMPARE(rank_of(facts, a->entry), rank_of(facts, b->entry));
}

static lode_status add_pairs(struct reading *r, lode_error *error)
{
    struct call_facts *facts = r->d->calls;
    for (unsigned i = 0; i < r->all_count; i++)
        for (size_t p = 0; p < r->all[i]->pairs.count; p++)
            if (!add_pair(r, LODE_ARRAY_AT(&r->all[i]->pairs, struct call_pair, p)))
                return lode_fail_memory(error);
    facts->pairs = r->pairs.items;
    facts->pair_count = r->pairs.count;
    r->pairs.items = NULL;
    if (facts->pair_count)
        qsort_r(facts->pairs, facts->pair_count, sizeof *facts->pairs, compare_pairs, facts);
    return LODE_OK;
}

/* ---- edges and growth ---- */

static bool add_edge(struct reading *r, const struct call_edge *more)
{
    bool added;
    uint32_t *place = lode_map_add(&r->edge_index, (uint64_t)more->caller << 32 | more->callee, 0, &added);
    if (place == NULL)
        return false;
    if (added) {
        struct call_edge *copy = lode_array_push(&r->edges);
        *place = (uint32_t)r->edges.count;
        if (copy)
            *copy = *more;
        return copy != NULL;
    }
    struct call_edge *sum = LODE_ARRAY_AT(&r->edges, struct call_edge, *place - 1);
    sum->calls += more->calls;
    sum->running += more->running;
    return true;
}

static int compare_edges(const void *left, const void *right, void *argument)
{
    const struct call_edge *a = left, *b = right;
    const struct call_facts *facts = argument;
    uint64_t x = rank_of(facts, a->caller), y = rank_of(facts, b->caller);
    return x != y ? LODE_COMPARE(x, y) : LODE_COMPARE(rank_of(facts, a->callee), rank_of(facts, b->callee));
}

static lode_status add_edges(struct reading *r, lode_error *error)
{
    struct call_facts *facts = r->d->calls;
    for (unsigned i = 0; i < r->all_count; i++)
        for (size_t e = 0; e < r->all[i]->seen.edges.count; e++)
            if (!add_edge(r, LODE_ARRAY_AT(&r->all[i]->seen.edges, struct call_edge, e)))
                return lode_fail_memory(error);
    facts->edges = r->edges.items;
    facts->edge_count = r->edges.count;
    r->edges.items = NULL;
    if (facts->edge_count)
        qsort_r(facts->edges, facts->edge_count, sizeof *facts->edges, compare_edges, facts);
    return LODE_OK;
}

static void add_growth(struct call_growth *sum, const struct call_growth *more)
{
    for (size_t i = 0; i < CALL_STEPS; i++) {
        sum->steps[i].calls += more->steps[i].calls;
        sum->steps[i].numbers += more->steps[i].numbers;
        sum->steps[i].callees += more->steps[i].callees;
        sum->steps[i].running += more->steps[i].running;
    }
}

/* Those of the first worker that has them are moved; others are added to them. */
static lode_status add_growths(struct reading *r, lode_error *error)
{
    struct call_facts *facts = r->d->calls;
    facts->growths = calloc((size_t)facts->function_count + 1, sizeof *facts->growths);
    LODE_TRY_ALLOC(facts->growths, error);
    for (unsigned i = 0; i < r->all_count; i++)
        for (uint32_t f = 0; f < r->all[i]->capacity; f++) {
            struct call_growth **more = &r->all[i]->seen.growths[f];
            if (*more && facts->growths[f])
                add_growth(facts->growths[f], *more);
            else if (*more) {
                facts->growths[f] = *more;
                *more = NULL;
            }
        }
    return LODE_OK;
}

/* ---- all ---- */

static void close(struct reading *r)
{
    close_workers(r);
    pthread_mutex_destroy(&r->lock);
    free(r->workers);
    free(r->joins);
    free(r->all);
    lode_map_free(&r->index);
    lode_array_free(&r->pairs);
    lode_map_free(&r->edge_index);
    lode_array_free(&r->edges);
    lode_pass_close(&r->pass);
}

lode_status lode_diagnose_call_facts_read(struct lode_diagnosis *d, lode_error *error)
{
    struct reading r = {.d = d};
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    options.threads = d->options.threads;
    options.pool = d->options.pool;
    options.on_finding = count_finding;
    options.on_progress = d->options.on_progress ? pass_progress_on : NULL;
    options.user = &r;
    pthread_mutex_init(&r.lock, NULL);
    lode_map_init(&r.index);
    lode_array_init(&r.pairs, sizeof(struct call_pair), UINT32_MAX - 1);
    lode_map_init(&r.edge_index);
    lode_array_init(&r.edges, sizeof(struct call_edge), UINT32_MAX - 1);
    lode_arena_init(&d->calls->arena, SIZE_MAX);
    d->calls->has_sched = d->calls->recording->has_sched;
    lode_status status = lode_pass_open(&r.pass, d->calls->recording, NULL, &options, error);
    if (status == LODE_OK)
        status = read_tracks(&r, error);
    if (status == LODE_OK)
        status = add_functions(&r, error);
    if (status == LODE_OK)
        status = rank_functions(d->calls, error);
    if (status == LODE_OK)
        status = add_pairs(&r, error);
    if (status == LODE_OK)
        status = add_edges(&r, error);
    if (status == LODE_OK)
        status = add_growths(&r, error);
    close(&r);
    return status;
}
