/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads, run time, activities and efficiencies, from what the pass found. */
#include "analysis/diagnose/calls/sweep.h"

#include "base/compare.h"
#include <lode/name.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND         1e9
#define PARENT_JOINING 0.5  /* of its time */
#define RUN_LEFT       0.01 /* of the run time, at least */
#define PARENT_USEFUL  0.01 /* a parent that does less is left out */

/* ---- threads ---- */

void lode_diagnose_call_track_free(struct call_track *track)
{
    free(track->collectives);
    free(track->waits);
    free(track->spans);
}

static int compare_tracks(const void *left, const void *right)
{
    const struct call_track *a = left, *b = right;
    if (a->pid != b->pid)
        return LODE_COMPARE(a->pid, b->pid);
    return a->tid != b->tid ? LODE_COMPARE(a->tid, b->tid) : LODE_COMPARE(a->track, b->track);
}

/* Drops threads without calls, and sorts the others. */
static void keep_tracks(struct lode_diagnosis *d)
{
    struct call_facts *facts = d->calls;
    size_t kept = 0;
    for (size_t i = 0; i < facts->track_count; i++)
        if (facts->tracks[i].calls)
            facts->tracks[kept++] = facts->tracks[i];
        else
            lode_diagnose_call_track_free(&facts->tracks[i]);
    d->run.empty = (uint32_t)(facts->track_count - kept);
    facts->track_count = kept;
    if (kept)
        qsort(facts->tracks, kept, sizeof *facts->tracks, compare_tracks);
}

static void find_interval(struct call_facts *facts)
{
    facts->begin = UINT64_MAX;
    facts->end = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        if (track->is_launcher)
            continue;
        facts->begin = track->begin < facts->begin ? track->begin : facts->begin;
        facts->end = track->end > facts->end ? track->end : facts->end;
    }
    if (facts->begin > facts->end)
        facts->begin = facts->end = 0;
}

/* Outside of all calls, a thread that runs bodies of OpenMP regions waits for the next one. */
static void find_idle(const struct call_facts *facts, struct call_track *track)
{
    if (track->entry == 0 || facts->functions[track->entry - 1].role != ROLE_BODY)
        return;
    track->time[LODE_ACTIVITY_OMP_IDLE] += track->time[LODE_ACTIVITY_COUNT];
    track->time[LODE_ACTIVITY_COUNT] = 0;
}

static void find_parents(struct lode_diagnosis *d)
{
    struct call_facts *facts = d->calls;
    size_t others = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        struct call_track *track = &facts->tracks[i];
        track->is_parent = (double)track->joining > PARENT_JOINING * (double)(track->end - track->begin);
        others += !track->is_parent;
        find_idle(facts, track);
    }
    for (size_t i = 0; others && i < facts->track_count; i++) {
        struct call_track *track = &facts->tracks[i];
        track->is_left_out =
            track->is_parent && (double)track->useful < PARENT_USEFUL * (double)(track->end - track->begin);
        d->run.helpers += track->is_left_out;
    }
    for (size_t i = 0; others == 0 && i < facts->track_count; i++)
        facts->tracks[i].is_parent = false;
}

/* The end of the threads of a process, and whether it uses MPI. */
static size_t find_process(const struct call_facts *facts, size_t first, bool *has_mpi)
{
    size_t i = first;
    *has_mpi = false;
    for (; i < facts->track_count && facts->tracks[i].pid == facts->tracks[first].pid; i++)
        *has_mpi |=
            facts->tracks[i].time[LODE_ACTIVITY_MPI] || facts->tracks[i].time[LODE_ACTIVITY_MPI_STARTUP];
    return i;
}

static void count_processes(struct call_facts *facts)
{
    bool has_mpi;
    for (size_t i = 0; i < facts->track_count; facts->processes++) {
        i = find_process(facts, i, &has_mpi);
        facts->mpi_processes += has_mpi;
    }
}

/* Beside the ranks of an MPI job, other processes started them. */
static void leave_launchers_out(struct lode_diagnosis *d)
{
    struct call_facts *facts = d->calls;
    bool has_mpi;
    for (size_t i = 0, next; facts->mpi_processes && i < facts->track_count; i = next) {
        next = find_process(facts, i, &has_mpi);
        for (size_t k = i; !has_mpi && k < next; k++) {
            d->run.helpers += !facts->tracks[k].is_left_out;
            facts->tracks[k].is_left_out = facts->tracks[k].is_launcher = true;
        }
    }
}

/* ---- slots ---- */

static int compare_begins(const void *left, const void *right)
{
    const struct call_track *const *a = left, *const *b = right;
    return (*a)->begin != (*b)->begin ? LODE_COMPARE((*a)->begin, (*b)->begin) : compare_tracks(*a, *b);
}

/*
 * Each thread gets the first slot that is free when it begins. A tree finds it: `ends` has the ends
 * of slots in its second half, and at each node above the smallest one below.
 */
static void fill_slots(struct call_facts *facts, const struct call_track *const *order, size_t count,
                       uint64_t *ends, size_t leaves)
{
    for (size_t i = 0; i < count; i++) {
        size_t node = 1;
        while (node < leaves)
            node = ends[2 * node] <= order[i]->begin ? 2 * node : 2 * node + 1;
        size_t slot = node - leaves;
        facts->slot_count = slot < facts->slot_count ? facts->slot_count : slot + 1;
        facts->slots[slot].end = order[i]->end;
        facts->slots[slot].useful += order[i]->useful;
        ends[node] = order[i]->end;
        for (node /= 2; node; node /= 2) {
            uint64_t left = ends[2 * node], right = ends[2 * node + 1];
            ends[node] = left < right ? left : right;
        }
    }
}

/* Threads that follow each other share a slot; a parent that waits for the others has none. */
static lode_status make_slots(struct call_facts *facts, lode_error *error)
{
    size_t count = 0, leaves = 1;
    while (leaves < facts->track_count)
        leaves *= 2;
    const struct call_track **order = calloc(facts->track_count + 1, sizeof *order);
    uint64_t *ends = calloc(leaves * 2, sizeof *ends);
    facts->slots = calloc(facts->track_count + 1, sizeof *facts->slots);
    lode_status status = order && ends && facts->slots ? LODE_OK : lode_fail_memory(error);
    for (size_t i = 0; status == LODE_OK && i < facts->track_count; i++)
        if (!facts->tracks[i].is_parent && !facts->tracks[i].is_left_out)
            order[count++] = &facts->tracks[i];
    if (count)
        qsort(order, count, sizeof *order, compare_begins);
    if (status == LODE_OK)
        fill_slots(facts, order, count, ends, leaves);
    for (size_t i = 0; status == LODE_OK && i < facts->track_count; i++)
        if (facts->tracks[i].is_parent && !facts->tracks[i].is_launcher)
            facts->slots[0].useful += facts->tracks[i].useful;
    free(order);
    free(ends);
    return status;
}

/* ---- the run ---- */

/*
 * The name of the program of a thread. A process that was forked may have replaced the program that
 * it began in: its name tells, which Linux cuts to 15 characters.
 */
static const char *program_of(const lode_track *track)
{
    const char *program = lode_path_tail(track->program);
    bool is_same = track->parent == 0 || strncmp(program, track->name, strlen(track->name)) == 0;
    return is_same ? program : track->name;
}

/* That of the first thread that is judged: launchers of an MPI job are not. */
static void name_program(struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    const struct call_track *first = facts->tracks, *end = facts->tracks + facts->track_count;
    while (first < end && first->is_launcher)
        first++;
    const lode_track *track = lode_recording_track(facts->recording, first < end ? first->track : 0);
    d->run.program = track ? program_of(track) : "";
}

static void add_up(struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        d->run.calls += track->calls;
        if (track->is_left_out)
            continue;
        d->run.threads++;
        d->calls->stolen_time += (double)track->stolen;
        d->run.total += (double)(track->end - track->begin) / SECOND;
        for (int a = 0; a < ACTIVITIES; a++)
            d->activities[a] += (double)track->time[a] / SECOND;
    }
    d->run.run_time = d->run.seconds = (double)(facts->end - facts->begin) / SECOND;
    d->run.is_seconds = 1;
    d->run.ranks = facts->mpi_processes > 1 ? facts->mpi_processes : facts->processes;
}

static uint64_t find_cost(const struct call_facts *facts)
{
    enum {
        CALLS_MIN = 100,
        COST_MAX = 100
    };
    uint64_t least = UINT64_MAX;
    for (uint32_t f = 0; f < facts->function_count; f++)
        if (facts->functions[f].outer >= CALLS_MIN) {
            uint64_t median = lode_diagnose_call_quantile(facts, f, 0.5);
            least = median < least ? median : least;
        }
    return least > COST_MAX * 2 / 5 ? (least == UINT64_MAX ? 0 : COST_MAX) : least * 5 / 2;
}

lode_status lode_diagnose_call_facts_conclude(struct lode_diagnosis *d, lode_error *error)
{
    keep_tracks(d);
    count_processes(d->calls);
    find_parents(d);
    leave_launchers_out(d);
    find_interval(d->calls);
    LODE_TRY(make_slots(d->calls, error));
    add_up(d);
    name_program(d);
    d->calls->cost = find_cost(d->calls);
    return LODE_OK;
}

/* ---- efficiencies ---- */

void lode_diagnose_call_efficiency(struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    lode_efficiency *e = &d->efficiency;
    double run = (double)(facts->end - facts->begin), n = (double)facts->slot_count, sum = 0, most = 0;
    bool has_teams = lode_diagnose_call_has_teams(facts);
    d->lacks[CALL_NEED_TEAMS] = !has_teams;
    for (size_t i = 0; i < facts->slot_count; i++) {
        sum += (double)facts->slots[i].useful;
        most = fmax(most, (double)facts->slots[i].useful);
    }
    if (facts->slot_count < 2 || !(run > 0) || !(sum > 0) || d->lacks[CALL_NEED_SOUND] ||
        d->lacks[CALL_NEED_COMPLETE] || d->lacks[CALL_NEED_TIME])
        return;
    most = fmin(most, run);
    double share = 1; /* of a processor, that a thread can have at most */
    if (d->run.processors && n > d->run.processors)
        share = d->run.processors / n;
    e->parallel = fmin(1, sum / (n * share * run));
    e->communication = fmin(1, most / (share * run));
    e->load_balance = fmin(1, e->parallel / e->communication);
    e->useful_low = e->useful_high = e->parallel;
    d->has_efficiency = true;
    if (has_teams && !d->lacks[CALL_NEED_CALM])
        lode_diagnose_call_divide(d);
}

/* ---- for rules ---- */

double lode_diagnose_call_run(const struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    double run = d->run.run_time * SECOND;
    double stolen = facts->slot_count ? facts->stolen_time / (double)facts->slot_count : 0;
    return run - fmin(stolen, (1 - RUN_LEFT) * run);
}

double lode_diagnose_call_share(const struct lode_diagnosis *d, double time)
{
    double whole = (double)d->calls->slot_count * lode_diagnose_call_run(d);
    return whole > 0 ? time / whole : 0;
}

uint64_t lode_diagnose_call_quantile(const struct call_facts *facts, uint32_t function, double q)
{
    const struct lode_sketch *sketch = facts->sketches[function];
    return sketch ? lode_sketch_rank(sketch, lode_sketch_rank_of(q, lode_sketch_count(sketch))) : 0;
}

double lode_diagnose_call_time(const struct lode_diagnosis *d, unsigned activities)
{
    double time = 0;
    for (int a = 0; a < ACTIVITIES; a++)
        time += activities >> a & 1 ? d->activities[a] * SECOND : 0;
    return time;
}

double lode_diagnose_call_pair_time(const struct call_pair *pair)
{
    return (double)pair->running + (double)pair->blocked;
}

struct call_place lode_diagnose_call_place(const struct lode_diagnosis *d, unsigned activities)
{
    const struct call_facts *facts = d->calls;
    struct call_place place = {0};
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (pair->entry == 0 || !(activities >> facts->functions[pair->entry - 1].activity & 1))
            continue;
        double time = lode_diagnose_call_pair_time(pair);
        place.time += time;
        place.calls += pair->calls;
        if (place.best == NULL || time > place.part) {
            place.best = pair;
            place.part = time;
        }
    }
    /* Pairs count threads that are left out, too. */
    place.time = fmin(place.time, lode_diagnose_call_time(d, activities));
    return place;
}

void lode_diagnose_call_facts_free(struct call_facts *facts)
{
    if (facts == NULL)
        return;
    for (size_t i = 0; i < facts->track_count; i++)
        lode_diagnose_call_track_free(&facts->tracks[i]);
    free(facts->tracks);
    free(facts->functions);
    free(facts->sketches);
    free(facts->ranks);
    free(facts->pairs);
    free(facts->edges);
    for (uint32_t f = 0; facts->growths && f < facts->function_count; f++)
        free(facts->growths[f]);
    free(facts->growths);
    lode_diagnose_call_blame_free(facts->blame);
    free(facts->slots);
    lode_arena_free(&facts->arena);
    free(facts);
}
