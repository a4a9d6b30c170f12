/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock: threads wait more than 5 % of their time for locks. Time: calls of functions that take a
 * lock, if they took 2 us or more, without pre-emption. Recorders may miss such calls: where a
 * function releases locks much more often than it takes them, the time that it is blocked itself.
 * Needs: off-CPU events, several threads.
 * Guard: locks have to be in use, over all threads that hold them: for 20 % of the run time, and,
 * if threads were pre-empted, so much of the work that the lock were in use half of the time on an
 * idle machine. Otherwise holders were pre-empted, and nothing is said but a note.
 * Gain: what processors that are idle meanwhile could do, of all that processors could; at most the
 * share of the time that threads wait. It accounts for that: what taking a lock and waking threads
 * cost is not in it. Likely. What is done while locks are held is said, if it waits: for files, the
 * network, or by sleeping.
 */
#include "analysis/diagnose/calls/sweep.h"

#include <math.h>

#define WAIT_MIN   0.05
#define USE_MIN    0.20
#define DEMAND_MIN 0.50
#define SATURATED  1.00
#define INSIDE_MIN 0.30
#define INSIDE                                                                                               \
    (CALL_SET(FILE) | CALL_SET(NET) | CALL_SET(SLEEP) | CALL_SET(ALLOC) | CALL_SET(THREAD) | CALL_SET(LOADER))

struct use {
    double waiting, holding, useful, threads;
    double judged; /* time of threads without joins and pre-emption */
};

/* ---- calls that were not recorded ---- */

/* Calls of one function that take and release locks. */
struct balance {
    uint64_t takes, drops;
};

/* Pairs of one function follow each other, the one without a library function first. */
static struct balance count_calls(const struct call_facts *facts, const struct call_pair *first)
{
    struct balance b = {0};
    const struct call_pair *end = facts->pairs + facts->pair_count;
    for (const struct call_pair *pair = first; pair < end && pair->holder == first->holder; pair++) {
        enum call_role role =
            pair->entry ? (enum call_role)facts->functions[pair->entry - 1].role : ROLE_NONE;
        b.takes += role == ROLE_TAKE ? pair->calls : 0;
        b.drops += role == ROLE_DROP ? pair->calls : 0;
    }
    return b;
}

/* What a function waits for locks: in calls that take them, or itself. */
static uint64_t waiting_of(const struct call_facts *facts, const struct call_pair *pair)
{
    enum {
        DROPS_MIN = 100,
        MISSED = 10
    };
    if (pair->entry)
        return facts->functions[pair->entry - 1].role == ROLE_TAKE ? pair->waiting : 0;
    if (pair->blocked == 0 || pair->holder == 0)
        return 0;
    struct balance b = count_calls(facts, pair);
    return b.drops >= DROPS_MIN && b.drops > MISSED * b.takes ? pair->blocked : 0;
}

/* ---- facts ---- */

static struct use measure(const struct lode_diagnosis *d)
{
    struct use use = {0};
    for (size_t i = 0; i < d->calls->track_count; i++) {
        const struct call_track *track = &d->calls->tracks[i];
        use.holding += (double)track->holding;
        use.useful += (double)track->useful;
        use.threads += track->holding > 0;
        use.judged += (double)(track->end - track->begin) - (double)track->joining - (double)track->stolen;
    }
    for (size_t i = 0; i < d->calls->pair_count; i++)
        use.waiting += (double)waiting_of(d->calls, &d->calls->pairs[i]);
    return use;
}

/* Functions in which threads wait, the longest first. */
static void find_users(const struct lode_diagnosis *d, const struct call_pair *users[2])
{
    const struct call_facts *facts = d->calls;
    uint64_t most[2] = {0, 0};
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        uint64_t waiting = waiting_of(facts, pair);
        if (waiting > most[0]) {
            users[1] = users[0];
            most[1] = most[0];
            users[0] = pair;
            most[0] = waiting;
        } else if (waiting > most[1]) {
            users[1] = pair;
            most[1] = waiting;
        }
    }
}

/* What is lost; if calls that take locks were not recorded, their waiting. */
static double gain_of(const struct lode_diagnosis *d, const struct use *use)
{
    const struct call_pair *users[2] = {NULL, NULL};
    find_users(d, users);
    double share = lode_diagnose_call_share(d, use->waiting);
    bool is_recorded = users[0] && users[0]->entry;
    return is_recorded ? fmin(share, lode_diagnose_call_lost(d, d->calls->blame->lost[WHY_LOCK])) : share;
}

/* Calls that wait, are made while locks are held, and take most of that time; NULL: none. */
static const struct call_pair *find_inside(const struct lode_diagnosis *d, double holding)
{
    const struct call_facts *facts = d->calls;
    const struct call_pair *best = NULL;
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (pair->entry && INSIDE >> facts->functions[pair->entry - 1].activity & 1 &&
            (double)pair->locked > INSIDE_MIN * holding && (best == NULL || pair->locked > best->locked))
            best = pair;
    }
    return best;
}

static lode_status state(struct lode_diagnosis *d, const struct use *use, double share, double rho,
                         lode_error *error)
{
    const struct call_pair *users[2] = {NULL, NULL};
    find_users(d, users);
    if (users[0] == NULL)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "lock", .confidence = LODE_LIKELY}};
    const char *first = lode_diagnose_call_name(d, users[0]->holder);
    bool has_second = users[1] && users[1]->holder != users[0]->holder &&
                      (double)waiting_of(d->calls, users[1]) > 0.2 * use->waiting;
    draft.statement.function = first;
    const struct call_pair *inside = find_inside(d, use->holding);
    lode_diagnose_call_gain(&draft, gain_of(d, use));
    lode_diagnose_set_text(
        d, &draft, "Threads wait %.0f%% of %s for locks that are taken in %s%s%s%s%s.", 100 * share,
        lode_diagnose_call_basis(d, "their time"), first, has_second ? " and " : "",
        has_second ? lode_diagnose_call_name(d, users[1]->holder) : "", inside ? ", and held during " : "",
        inside ? lode_diagnose_call_pair_name(d, inside) : "");
    if (inside) {
        lode_diagnose_show(
            d, &draft, (double)inside->locked / 1e9, "seconds", "%s: %.0f%% of the time that locks are held",
            lode_diagnose_call_pair_name(d, inside), 100 * (double)inside->locked / use->holding);
        lode_diagnose_call_show_callers(d, &draft, inside->entry);
    }
    double waiting = (double)waiting_of(d->calls, users[0]);
    lode_diagnose_show(
        d, &draft, waiting / 1e9, "seconds", "%s",
        users[0]->entry
            ? lode_diagnose_say(d, "%s: %s in %llu long calls", lode_diagnose_call_pair_name(d, users[0]),
                                lode_diagnose_call_amount(d, waiting),
                                (unsigned long long)users[0]->long_calls)
            : lode_diagnose_say(d, "%s waits %s; most of its calls that take locks were not recorded", first,
                                lode_diagnose_call_amount(d, waiting)));
    lode_diagnose_call_show_callers(d, &draft, users[0]->entry ? users[0]->entry : users[0]->holder);
    lode_diagnose_show(d, &draft, rho, "share", "threads hold locks for %.0f%% of the run time, all together",
                       100 * rho);
    LODE_ADD_EXPLAINS(&draft, "efficiency", "file-io", "sleep");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    struct use use = measure(d);
    double share = use.judged > 0 ? use.waiting / use.judged : 0;
    double rho = use.holding / (d->run.run_time * 1e9);
    double demand = use.useful > 0 ? use.threads * use.holding / use.useful : 0;
    bool is_disturbed = !d->calls->is_calm || d->lacks[CALL_NEED_PROCESSORS];
    if (share <= WAIT_MIN || gain_of(d, &use) <= WAIT_MIN)
        return LODE_OK;
    if ((rho >= USE_MIN && (!is_disturbed || demand >= DEMAND_MIN)) || demand >= SATURATED)
        return state(d, &use, share, rho, error);
    d->calls->lock_excused = use.waiting;
    return lode_diagnose_add_note(
        d, "lock-not-judged", LODE_NOTE_BIASED, share,
        lode_diagnose_say(d,
                          "Threads wait %.0f%% of their time for locks, which are held for %.0f%% of "
                          "the run time: threads may have been pre-empted while they had them. Not judged.",
                          100 * share, 100 * rho),
        error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_lock = {
    "lock", "threads wait more than 5% of their time for locks",
    CALL_NEEDS | 1u << CALL_NEED_SCHED | 1u << CALL_NEED_THREADS, run};
