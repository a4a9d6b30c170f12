/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slow-thread, imbalance: one thread or rank has more useful work than others, which wait for it.
 * slow-thread: one of at least three has more than 1.5 times the work of all others, which differ
 * by less than 1.3. imbalance: load balance below 0.90 for ranks, 0.85 for threads.
 * Needs: several threads, and running time. Guard: like with like (groups.c); the others really
 * waited for a third of what they work less: with a common queue, one that is pre-empted has less
 * work and does not wait; 5 % of the run time. With more threads than processors, the gain is at
 * most the share of the processors that was idle, and threads that made the same calls in less than
 * twice the time are not judged: they share processors, or have slower ones.
 * Gain: (largest - mean work) / run time. Likely.
 */
#include "analysis/diagnose/calls/groups.h"

#include <math.h>
#include <stdlib.h>

#define RANKS_MIN   0.10
#define THREADS_MIN 0.15
#define GAIN_MIN    0.05
#define SLOW_MIN    1.5
#define ALIKE_MAX   1.3
#define WAITED_MIN  (1.0 / 3)
#define SHARING_MAX 2.0
#define CALLS_ALIKE 0.01
#define PLACE_MIN   0.30 /* of the difference, for a function to be named */

enum {
    CALLS_MIN = 1000
};

/* By how much the slowest exceeds the others; 0: it is not one alone. */
static double find_slow(const struct call_group *group)
{
    double most = 0, least = HUGE_VAL;
    for (size_t i = 0; i < group->count; i++) {
        if (i == group->longest)
            continue;
        most = fmax(most, group->members[i].work);
        least = fmin(least, group->members[i].work);
    }
    bool is_alone =
        group->count > 2 && least > 0 && most < ALIKE_MAX * least && group->most > SLOW_MIN * most;
    return is_alone ? group->most / most : 0;
}

static const char *describe(struct lode_diagnosis *d, const struct call_group *group,
                            const struct call_member *member)
{
    if (group->kind != GROUP_RANKS)
        return lode_diagnose_call_thread(d, member->track);
    return lode_diagnose_say(d, "rank %u (process %d)", member->rank, member->track->pid);
}

/* The function in which a thread does more than others. */
struct excess {
    uint32_t function; /* + 1; 0: none */
    double time, mean; /* with library functions that it calls */
};

static struct excess find_excess(const struct call_facts *facts, const struct call_group *group)
{
    struct excess best = {0};
    const struct call_busy *busy = group->members[group->longest].track->busy;
    double threads = (double)group->count;
    if (group->kind == GROUP_RANKS) {
        threads = 0;
        for (size_t i = 0; i < facts->track_count; i++)
            threads += !facts->tracks[i].is_left_out;
    }
    for (size_t i = 0; i < CALL_BUSY && busy[i].function; i++) {
        double time = (double)busy[i].time,
               mean = (double)facts->functions[busy[i].function - 1].held / threads;
        if (time - mean > fmax(best.time - best.mean, PLACE_MIN * (group->most - group->mean)))
            best = (struct excess){busy[i].function, time, mean};
    }
    return best;
}

static lode_status state(struct lode_diagnosis *d, const struct call_group *group,
                         const struct excess *excess, const char *id, const char *text, double gain,
                         lode_error *error)
{
    const struct call_member *longest = &group->members[group->longest];
    struct draft draft = {.statement = {.id = id, .confidence = LODE_LIKELY, .is_bound = 1, .text = text}};
    lode_diagnose_call_gain(&draft, gain);
    draft.statement.function = excess->function ? lode_diagnose_call_name(d, excess->function) : NULL;
    draft.statement.has_thread = 1;
    draft.statement.thread = longest->track->tid;
    draft.statement.has_rank = group->kind == GROUP_RANKS;
    draft.statement.rank = longest->rank;
    lode_diagnose_show(d, &draft, group->most / 1e9, "seconds", "%s works %s, the mean is %s",
                       describe(d, group, longest), lode_diagnose_call_amount(d, group->most),
                       lode_diagnose_call_amount(d, group->mean));
    LODE_SET_COMMAND(&draft, "profiles");
    if (excess->function) {
        lode_diagnose_show(d, &draft, excess->time / 1e9, "seconds",
                           "there, %s with its library calls takes %s, the mean is %s",
                           draft.statement.function, lode_diagnose_call_amount(d, excess->time),
                           lode_diagnose_call_amount(d, excess->mean));
        lode_diagnose_call_show_callers(d, &draft, excess->function);
    }
    LODE_ADD_EXPLAINS(&draft, group->kind == GROUP_RANKS ? "mpi" : "omp-imbalance");
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    if (group->kind == GROUP_OPENMP)
        LODE_ADD_EXPLAINS(&draft, "serial");
    return lode_diagnose_add_statement(d, &draft, error);
}

static bool has_few_processors(const struct lode_diagnosis *d, const struct call_group *group)
{
    return d->run.processors && group->count > d->run.processors;
}

/* The share of the processors that no thread used; with a processor for each thread, all. */
static double find_unused(const struct lode_diagnosis *d, const struct call_group *group)
{
    double running = 0, whole = (double)d->run.processors * d->run.run_time * 1e9;
    for (size_t i = 0; i < d->calls->track_count; i++)
        running += (double)d->calls->tracks[i].running;
    return has_few_processors(d, group) && whole > 0 ? fmax(0, 1 - running / whole) : 1;
}

/* Threads that share processors need unequal time for the same calls. */
static bool are_same_calls(const struct lode_diagnosis *d, const struct call_group *group, double *least)
{
    double few = HUGE_VAL, many = 0;
    *least = HUGE_VAL;
    for (size_t i = 0; i < group->count; i++) {
        few = fmin(few, (double)group->members[i].track->calls);
        many = fmax(many, (double)group->members[i].track->calls);
        *least = fmin(*least, group->members[i].work);
    }
    return has_few_processors(d, group) && few >= CALLS_MIN && many - few <= CALLS_ALIKE * few &&
           group->most < SHARING_MAX * *least;
}

static lode_status note_same_calls(struct lode_diagnosis *d, const struct call_group *group, double least,
                                   lode_error *error)
{
    return lode_diagnose_add_note(
        d, "same-calls", LODE_NOTE_BIASED, group->most / least,
        lode_diagnose_say(d,
                          "%zu %s on %u processors made the same number of calls in %s to %s: "
                          "they may share processors, or have slower ones. Unequal work is not judged.",
                          group->count, group->kind == GROUP_RANKS ? "ranks" : "threads", d->run.processors,
                          lode_diagnose_call_amount(d, least), lode_diagnose_call_amount(d, group->most)),
        error);
}

static lode_status judge(struct lode_diagnosis *d, const struct call_group *group, bool is_for_slow,
                         lode_error *error)
{
    static const char *const nouns[] = {"Ranks", "OpenMP threads", "Threads"};
    double excess = group->most - group->mean, least;
    double gain = fmin(excess / lode_diagnose_call_run(d), find_unused(d, group));
    double lost = group->most > 0 ? excess / group->most : 0, slow = find_slow(group);
    if (gain < GAIN_MIN || group->loss < WAITED_MIN * excess ||
        lost <= (group->kind == GROUP_RANKS ? RANKS_MIN : THREADS_MIN) || (slow > 0) != is_for_slow)
        return LODE_OK;
    if (are_same_calls(d, group, &least))
        return note_same_calls(d, group, least, error);
    const struct call_member *longest = &group->members[group->longest];
    struct excess place = find_excess(d->calls, group);
    const char *name = describe(d, group, longest), *in = place.function ? ", in " : "",
               *function = place.function ? lode_diagnose_call_name(d, place.function) : "";
    const char *text =
        is_for_slow ? lode_diagnose_say(d, "One of %zu %s, %s, has %.1f times the work of the others%s%s.",
                                        group->count, group->kind == GROUP_RANKS ? "ranks" : "threads", name,
                                        slow, in, function)
                    : lode_diagnose_say(d, "%s have unequal work: load balance %.2f. %s%s has the most%s%s.",
                                        nouns[group->kind], 1 - lost,
                                        name[0] == 't'   ? "T"
                                        : name[0] == 'r' ? "R"
                                                         : "P",
                                        name + 1, in, function);
    return state(d, group, &place, is_for_slow ? "slow-thread" : "imbalance", text, gain, error);
}

static lode_status run_either(struct lode_diagnosis *d, bool is_for_slow, lode_error *error)
{
    struct call_group group;
    LODE_TRY(lode_diagnose_call_group_find(d, &group, error));
    lode_status status = group.count > 1 ? judge(d, &group, is_for_slow, error) : LODE_OK;
    free(group.members);
    return status;
}

static lode_status run_imbalance(struct lode_diagnosis *d, lode_error *error)
{
    return run_either(d, false, error);
}

static lode_status run_slow(struct lode_diagnosis *d, lode_error *error)
{
    return run_either(d, true, error);
}

enum {
    NEEDS = CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_RUNNING
};

const struct lode_diagnose_rule lode_diagnose_call_rule_imbalance = {
    "imbalance", "threads or ranks have unequal work, and wait for the one with the most", NEEDS,
    run_imbalance};
const struct lode_diagnose_rule lode_diagnose_call_rule_slow_thread = {
    "slow-thread", "one thread or rank has more than 1.5 times the work of all others", NEEDS, run_slow};
