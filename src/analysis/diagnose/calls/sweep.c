/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goes through the waits of all threads by time. A processor that is idle is lost to threads that
 * wait for a lock, then to those that sleep or wait for devices, for others to come to a barrier,
 * for others to tell something; what is left is a serial part, or the tail of threads that have
 * more work. Threads that are pre-empted count as working: the machine is not blamed.
 *
 * All threads that wait for the same reason lose the same at each moment. What one of them would
 * have lost since the beginning is a running sum; a wait loses the difference between its end and
 * its beginning. So a change costs the same however many threads there are.
 */
#include "analysis/diagnose/calls/sweep.h"

#include "base/compare.h"
#include "base/memory/map.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORKER_MIN 0.02  /* useful share of its life, of a thread that is a worker */
#define PART_MIN   0.01  /* or of the useful time of all, and */
#define LIFE_MIN   0.005 /* of its life */
#define MOMENT     0.01  /* of the run time */
#define CROWDED    4.0

/* A change of the state of a thread. */
struct change {
    uint64_t time;
    uint32_t track;
    uint32_t wait; /* index + 1; 0: it works; ENDED */
};

#define ENDED UINT32_MAX

struct sweep {
    struct lode_diagnosis *d;
    struct call_blame *blame;
    struct change *changes;
    size_t change_count;
    unsigned char *is_worker;  /* by track */
    unsigned char *is_alive;   /* by track */
    unsigned char *is_starter; /* by track */
    uint32_t *waits;           /* by track: the wait that it is in + 1; 0: it works */
    double *shares;            /* by track: `share` of its reason when the wait began */
    size_t counts[WHY_COUNT];  /* of workers that wait */
    double share[WHY_COUNT];   /* what each of them lost so far, had it always waited */
    size_t working;
    uint64_t working_sum; /* of indices: of one that works alone, its index */
    size_t devices;       /* threads that sleep, or wait for files or the network */
    uint64_t device_sum;
    size_t sleepers; /* that sleep, and are no workers */
    double sleeper_share;
    struct lode_map index;
    struct lode_array losses, alone, tails;
};

/* ---- threads ---- */

static double life_of(const struct call_track *track)
{
    return (double)(track->end - track->begin);
}

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->time != b->time)
        return LODE_COMPARE(a->time, b->time);
    return a->track != b->track ? LODE_COMPARE(a->track, b->track) : LODE_COMPARE(a->wait, b->wait);
}

static lode_status list_changes(struct sweep *s, lode_error *error)
{
    const struct call_facts *facts = s->d->calls;
    size_t most = 0;
    for (size_t i = 0; i < facts->track_count; i++)
        most += 2 * facts->tracks[i].wait_count + 2;
    s->changes = calloc(most + 1, sizeof *s->changes);
    LODE_TRY_ALLOC(s->changes, error);
    for (uint32_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        if (track->is_launcher)
            continue;
        s->changes[s->change_count++] = (struct change){track->begin, i, 0};
        for (uint32_t k = 0; k < track->wait_count; k++) {
            s->changes[s->change_count++] = (struct change){track->waits[k].from, i, k + 1};
            s->changes[s->change_count++] = (struct change){track->waits[k].to, i, 0};
        }
        s->changes[s->change_count++] = (struct change){track->end, i, ENDED};
    }
    qsort(s->changes, s->change_count, sizeof *s->changes, compare_changes);
    return LODE_OK;
}

/* Whether a worker could use a processor after a change: it does not wait for the end of others. */
static bool is_usable(const struct sweep *s, const struct change *change)
{
    const struct call_track *track = &s->d->calls->tracks[change->track];
    if (change->wait == ENDED || !s->is_worker[change->track])
        return false;
    return change->wait == 0 || track->waits[change->wait - 1].why != WHY_JOIN;
}

/* How many workers could work at once, for more than a moment; at most the processors. */
static lode_status find_capacity(struct sweep *s, lode_error *error)
{
    const struct call_facts *facts = s->d->calls;
    size_t now = 0, count = facts->track_count + 1;
    double run = (double)(facts->end - facts->begin), time = 0;
    unsigned char *usable = calloc(count, sizeof *usable);
    double *times = calloc(count, sizeof *times); /* by number of workers */
    bool has_memory = usable && times;
    for (size_t i = 0; has_memory && i < s->change_count; i++) {
        unsigned char *before = &usable[s->changes[i].track], after = is_usable(s, &s->changes[i]);
        now = now + after - *before;
        *before = after;
        times[now] += i + 1 < s->change_count ? (double)(s->changes[i + 1].time - s->changes[i].time) : 0;
    }
    size_t most = has_memory ? count - 1 : 0;
    while (most > 1 && (time += times[most]) <= MOMENT * run)
        most--;
    free(usable);
    free(times);
    LODE_TRY_ALLOC(has_memory, error);
    uint32_t processors = s->d->run.processors;
    s->blame->capacity = (double)(processors && most > processors ? processors : most);
    return LODE_OK;
}

/* ---- one moment ---- */

static const struct call_wait *wait_of(const struct sweep *s, uint32_t track)
{
    return s->waits[track] ? &s->d->calls->tracks[track].waits[s->waits[track] - 1] : NULL;
}

static bool add_loss(struct sweep *s, const struct call_wait *wait, double time)
{
    bool added;
    uint32_t *place = lode_map_add(&s->index, (uint64_t)wait->holder << 32 | wait->entry, 0, &added);
    if (place == NULL)
        return false;
    if (added) {
        struct call_loss *loss = lode_array_push(&s->losses);
        if (loss == NULL)
            return false;
        *place = (uint32_t)s->losses.count - 1;
        *loss = (struct call_loss){wait->holder, wait->entry, wait->why, 0};
    }
    LODE_ARRAY_AT(&s->losses, struct call_loss, *place)->lost += time;
    return true;
}

static void blame_waits(struct sweep *s, enum call_why why, double time)
{
    s->blame->lost[why] += time;
    s->share[why] += time / (double)s->counts[why];
}

static void blame_sleepers(struct sweep *s, double time)
{
    s->blame->lost[WHY_SLEEP] += time;
    s->sleeper_share += time / (double)s->sleepers;
}

static bool add_alone(const struct sweep *s, struct lode_array *list, uint64_t from, uint64_t to)
{
    struct call_alone *last = list->count ? LODE_ARRAY_AT(list, struct call_alone, list->count - 1) : NULL;
    if (last && last->to == from && last->track == s->working_sum) {
        last->to = to;
        return true;
    }
    struct call_alone *alone = lode_array_push(list);
    if (alone)
        *alone = (struct call_alone){from, to, (uint32_t)s->working_sum};
    return alone != NULL;
}

/* One thread is active, be it in a device, and others wait for it to tell them something. */
static void add_lockstep(struct sweep *s, double idle, double time)
{
    if (s->working + s->devices == 1)
        s->blame->lockstep[s->working ? s->working_sum : s->device_sum] +=
            fmin(idle, (double)s->counts[WHY_COND] * time);
}

static bool pass(struct sweep *s, uint64_t from, uint64_t to)
{
    static const enum call_why order[] = {WHY_LOCK, WHY_FILE, WHY_SLEEP, WHY_NET, WHY_SPINS};
    struct call_blame *blame = s->blame;
    double time = (double)(to - from), working = (double)s->working;
    double rest = fmax(0, blame->capacity - working) * time;
    if (working >= CROWDED * (double)s->d->run.processors && s->d->run.processors) {
        blame->crowded += time;
        blame->wanted += time * working;
    }
    if (rest > 0 && s->counts[WHY_COND])
        add_lockstep(s, rest, time);
    for (size_t i = 0; rest > 0 && i < sizeof order / sizeof *order; i++) {
        double part = fmin(rest, (double)s->counts[order[i]] * time);
        if (part > 0)
            blame_waits(s, order[i], part);
        rest -= part;
    }
    if (!(rest > 0))
        return true;
    /* Workers wait for a thread that only sleeps, and tells them something then. */
    if (s->working == 0 && s->counts[WHY_COND] && s->sleepers) {
        blame_sleepers(s, rest);
        return true;
    }
    if (s->working == 0) {
        double part = fmin(rest, (double)s->counts[WHY_OTHER] * time);
        blame->nobody += s->devices ? 0 : rest - part;
        if (part > 0)
            blame_waits(s, WHY_OTHER, part);
        return true;
    }
    double barrier = fmin(rest, (double)s->counts[WHY_BARRIER] * time);
    if (barrier > 0)
        blame_waits(s, WHY_BARRIER, barrier);
    double cond = fmin(rest - barrier, (double)s->counts[WHY_COND] * time);
    if (cond > 0)
        blame_waits(s, WHY_COND, cond);
    if (s->working == 1)
        blame->waited_for[s->working_sum] += cond;
    rest -= barrier + cond;
    bool is_serial = s->working == 1 && s->is_starter[s->working_sum];
    *(is_serial ? &blame->serial : &blame->tail) += rest;
    return s->working > 1 || !(rest > 0) || add_alone(s, is_serial ? &s->alone : &s->tails, from, to);
}

/* ---- all moments ---- */

/* A thread enters or leaves a state: `number` is 1 or -1 (as an unsigned number). */
static void count_state(struct sweep *s, uint32_t track, size_t number)
{
    const struct call_wait *wait = wait_of(s, track);
    bool is_worker = s->is_worker[track];
    if (wait == NULL) {
        s->working += number;
        s->working_sum += number * track;
        return;
    }
    if (wait->why == WHY_SLEEP || wait->why == WHY_FILE || wait->why == WHY_NET) {
        s->devices += number;
        s->device_sum += number * track;
    }
    if (is_worker)
        s->counts[wait->why] += number;
    else if (wait->why == WHY_SLEEP)
        s->sleepers += number;
}

/* The running sum that a wait of a thread takes part in; NULL: nothing is lost to it. */
static const double *share_of(const struct sweep *s, uint32_t track, const struct call_wait *wait)
{
    if (s->is_worker[track])
        return &s->share[wait->why];
    return wait->why == WHY_SLEEP ? &s->sleeper_share : NULL;
}

static bool leave_state(struct sweep *s, uint32_t track)
{
    const struct call_wait *wait = wait_of(s, track);
    const double *share = wait ? share_of(s, track, wait) : NULL;
    count_state(s, track, (size_t)-1);
    return share == NULL || !(*share > s->shares[track]) || add_loss(s, wait, *share - s->shares[track]);
}

static void enter_state(struct sweep *s, uint32_t track, uint32_t number)
{
    s->waits[track] = number;
    const struct call_wait *wait = wait_of(s, track);
    const double *share = wait ? share_of(s, track, wait) : NULL;
    s->shares[track] = share ? *share : 0;
    count_state(s, track, 1);
}

static bool apply(struct sweep *s, const struct change *change)
{
    uint32_t track = change->track;
    bool is_sound = !s->is_alive[track] || leave_state(s, track);
    s->is_alive[track] = change->wait != ENDED;
    if (s->is_alive[track])
        enter_state(s, track, change->wait);
    return is_sound;
}

static int compare_losses(const void *left, const void *right, void *argument)
{
    const struct call_loss *a = left, *b = right;
    const uint32_t *ranks = argument;
    if (a->lost != b->lost)
        return a->lost > b->lost ? -1 : 1;
    uint32_t x = a->holder ? ranks[a->holder - 1] + 1 : 0, y = b->holder ? ranks[b->holder - 1] + 1 : 0;
    if (x != y)
        return LODE_COMPARE(x, y);
    x = a->entry ? ranks[a->entry - 1] + 1 : 0;
    y = b->entry ? ranks[b->entry - 1] + 1 : 0;
    return LODE_COMPARE(x, y);
}

static lode_status go_through(struct sweep *s, lode_error *error)
{
    const struct call_facts *facts = s->d->calls;
    uint64_t last = facts->begin;
    for (size_t i = 0; i < s->change_count; i++) {
        const struct change *change = &s->changes[i];
        if (change->time > last && !pass(s, last, change->time))
            return lode_fail_memory(error);
        last = change->time > last ? change->time : last;
        if (!apply(s, change))
            return lode_fail_memory(error);
    }
    return LODE_OK;
}

static void find_workers(struct sweep *s)
{
    const struct call_facts *facts = s->d->calls;
    double all = 0;
    for (size_t i = 0; i < facts->track_count; i++)
        all += facts->tracks[i].is_launcher ? 0 : (double)facts->tracks[i].useful;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        double useful = (double)track->useful;
        s->is_worker[i] =
            !track->is_launcher && (useful >= WORKER_MIN * life_of(track) ||
                                    (useful >= PART_MIN * all && useful >= LIFE_MIN * life_of(track)));
    }
}

/* First threads of processes; a process that was started, and has one thread, started nobody. */
static lode_status find_starters(struct sweep *s, lode_error *error)
{
    const struct call_facts *facts = s->d->calls;
    struct lode_map threads; /* by process: their number */
    size_t first = 0;
    bool done = true, added;
    lode_map_init(&threads);
    for (size_t i = 0; i < facts->track_count && done; i++) {
        uint32_t *number = lode_map_add(&threads, (uint64_t)facts->tracks[i].pid, 0, &added);
        done = number != NULL;
        if (done)
            ++*number;
        first = facts->tracks[i].begin < facts->tracks[first].begin ? i : first;
    }
    for (size_t i = 0; i < facts->track_count && done; i++) {
        const struct call_track *track = &facts->tracks[i];
        bool has_others =
            track->pid == facts->tracks[first].pid || *lode_map_get(&threads, (uint64_t)track->pid) > 1;
        s->is_starter[i] = track->pid == track->tid && has_others;
    }
    lode_map_free(&threads);
    return done ? LODE_OK : lode_fail_memory(error);
}

static void close(struct sweep *s)
{
    free(s->is_starter);
    free(s->changes);
    free(s->is_worker);
    free(s->is_alive);
    free(s->waits);
    free(s->shares);
    lode_map_free(&s->index);
    lode_array_free(&s->losses);
    lode_array_free(&s->alone);
    lode_array_free(&s->tails);
}

static lode_status sweep(struct sweep *s, lode_error *error)
{
    struct call_facts *facts = s->d->calls;
    struct call_blame *blame = s->blame;
    size_t count = facts->track_count + 1;
    s->is_worker = calloc(count, sizeof *s->is_worker);
    s->is_alive = calloc(count, sizeof *s->is_alive);
    s->is_starter = calloc(count, sizeof *s->is_starter);
    s->waits = calloc(count, sizeof *s->waits);
    s->shares = calloc(count, sizeof *s->shares);
    blame->waited_for = calloc(count, sizeof *blame->waited_for);
    blame->lockstep = calloc(count, sizeof *blame->lockstep);
    LODE_TRY_ALLOC(s->is_worker && s->is_alive && s->is_starter && s->waits && s->shares &&
                       blame->waited_for && blame->lockstep,
                   error);
    find_workers(s);
    LODE_TRY(find_starters(s, error));
    LODE_TRY(list_changes(s, error));
    LODE_TRY(find_capacity(s, error));
    blame->whole = blame->capacity * (double)(facts->end - facts->begin);
    LODE_TRY(go_through(s, error));
    if (s->losses.count)
        qsort_r(s->losses.items, s->losses.count, s->losses.item_size, compare_losses, facts->ranks);
    blame->losses = s->losses.items;
    blame->loss_count = s->losses.count;
    blame->alone = s->alone.items;
    blame->alone_count = s->alone.count;
    blame->tails = s->tails.items;
    blame->tail_count = s->tails.count;
    s->losses.items = s->alone.items = s->tails.items = NULL;
    return LODE_OK;
}

lode_status lode_diagnose_call_sweep(struct lode_diagnosis *d, lode_error *error)
{
    struct sweep s = {.d = d};
    d->calls->blame = s.blame = calloc(1, sizeof *s.blame);
    LODE_TRY_ALLOC(s.blame, error);
    lode_map_init(&s.index);
    lode_array_init(&s.losses, sizeof(struct call_loss), UINT32_MAX - 1);
    lode_array_init(&s.alone, sizeof(struct call_alone), UINT32_MAX - 1);
    lode_array_init(&s.tails, sizeof(struct call_alone), UINT32_MAX - 1);
    lode_status status = sweep(&s, error);
    close(&s);
    return status;
}

void lode_diagnose_call_blame_free(struct call_blame *blame)
{
    if (blame == NULL)
        return;
    free(blame->waited_for);
    free(blame->lockstep);
    free(blame->alone);
    free(blame->tails);
    free(blame->losses);
    free(blame);
}

/* ---- for rules ---- */

double lode_diagnose_call_lost(const struct lode_diagnosis *d, double time)
{
    const struct call_blame *blame = d->calls->blame;
    return blame->whole > 0 ? time / blame->whole : 0;
}

double lode_diagnose_call_unused(const struct lode_diagnosis *d)
{
    const struct call_blame *blame = d->calls->blame;
    double lost = blame->serial + blame->tail + blame->lost[WHY_LOCK] + blame->lost[WHY_COND] +
                  blame->lost[WHY_BARRIER] + blame->lost[WHY_SPINS] + blame->lost[WHY_OTHER];
    return lode_diagnose_call_lost(d, fmax(0, lost - d->calls->lock_excused));
}

const struct call_loss *lode_diagnose_call_loss(const struct lode_diagnosis *d, enum call_why why)
{
    const struct call_blame *blame = d->calls->blame;
    for (size_t i = 0; i < blame->loss_count; i++)
        if (blame->losses[i].why == why)
            return &blame->losses[i];
    return NULL;
}
