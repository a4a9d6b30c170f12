/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the numbers of calls say.
 * busy-wait: while other threads work, a function calls a short one 1,000 times or more in each
 * of its calls, and its name, or the other's, says that it waits; or a thread gives the
 * processor away 10,000 times or more. 10 % of what processors could do. Or a function that waits
 * by its name calls nothing, for 20 us or more: 20 %.
 * cache: a function that is a cache by its name calls another in 90 % of its calls. 20 % of the
 * run.
 * rising: calls of a function get longer in proportion to their number below one call, over
 * three doublings of the number. 10 % of the run. Possible: triangular loops are meant so.
 * repeated: where arguments were recorded, 90 % of the calls of a function have those of an earlier
 * call on the thread. 10 % of the run. Possible: it may have other input.
 * omp-calls: threads call the OpenMP runtime 100,000 times or more, for more than 5 % of their
 * time.
 * Gain: the time of these calls; they account for it.
 */
#include "analysis/diagnose/calls/sweep.h"
#include "base/text/count.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BUSY_MIN   0.10
#define BUSY_EACH  1000.0
#define LOOP_MIN   0.20
#define LOOP_EACH  20e3 /* nanoseconds */
#define CACHE_MIN  0.20
#define MISSES_MIN 0.90
#define GROWTH_MIN 0.10
#define FOLLOWS    0.7 /* of what is proportional to the number */
#define OMP_MIN    0.05
#define SAME_MIN   0.90
#define REPEAT_MIN 0.10

enum {
    BUSY_CALLS = 50000,
    YIELDS_MIN = 10000,
    CACHE_CALLS = 100,
    ARGUED_MIN = 100,
    OMP_CALLS = 100000
};

/* Whether a name has one of these words, in any case. */
static bool has_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        for (const char *at = name; *at; at++)
            if (strncasecmp(at, *words, strlen(*words)) == 0)
                return true;
    return false;
}

/* ---- busy waiting ---- */

static bool is_leaf(const struct call_facts *facts, uint32_t function)
{
    for (size_t i = 0; i < facts->edge_count; i++)
        if (facts->edges[i].caller == function)
            return false;
    return true;
}

static bool waits_by_name(struct lode_diagnosis *d, const struct call_edge *edge)
{
    static const char *const words[] = {"wait", "poll", "spin",    "ready",    "avail", "done",  "empty",
                                        "full", "idle", "pending", "finished", "try",   "until", NULL};
    return has_word(lode_diagnose_call_name(d, edge->caller), words) ||
           has_word(lode_diagnose_call_name(d, edge->callee), words);
}

static const struct call_edge *find_spinning(struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    const struct call_edge *best = NULL;
    for (size_t i = 0; i < facts->edge_count; i++) {
        const struct call_edge *edge = &facts->edges[i];
        if (edge->caller && edge->calls >= BUSY_CALLS &&
            (double)edge->calls >= BUSY_EACH * (double)facts->functions[edge->caller - 1].calls &&
            (best == NULL || edge->calls > best->calls) && is_leaf(facts, edge->callee) &&
            waits_by_name(d, edge))
            best = edge;
    }
    return best;
}

/* A function that waits by its name, calls nothing and takes long: a loop that reads memory. */
static uint32_t find_loop(struct lode_diagnosis *d)
{
    static const char *const words[] = {"wait", "spin", "poll", "until", "idle", NULL};
    const struct call_facts *facts = d->calls;
    uint32_t best = 0;
    for (uint32_t f = 0; f < facts->function_count; f++) {
        const struct call_function *function = &facts->functions[f];
        if (function->is_known && function->activity == LODE_ACTIVITY_OWN &&
            (double)function->own > LOOP_EACH * (double)function->calls &&
            (best == 0 || function->own > facts->functions[best - 1].own) && is_leaf(facts, f + 1) &&
            has_word(lode_diagnose_call_name(d, f + 1), words))
            best = f + 1;
    }
    return best;
}

static lode_status say_loop(struct lode_diagnosis *d, uint32_t loop, lode_error *error)
{
    const struct call_function *function = &d->calls->functions[loop - 1];
    double share = fmin(1, lode_diagnose_call_lost(d, (double)function->own));
    if (share <= LOOP_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "busy-wait", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, loop);
    lode_diagnose_set_text(d, &draft,
                           "%s waits busily, without a call, for %.0f%% of what processors could do.",
                           draft.statement.function, 100 * share);
    draft.statement.advice = "Try to be woken: a condition, a semaphore, a future.";
    lode_diagnose_show(d, &draft, (double)function->calls, "calls", "%s of %s each",
                       LODE_COUNTED(function->calls, "call", "calls"),
                       lode_diagnose_call_amount(d, (double)function->own / (double)function->calls));
    lode_diagnose_call_show_callers(d, &draft, loop);
    LODE_ADD_EXPLAINS(&draft, "efficiency", "oversubscribed");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run_busy(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    const struct call_edge *edge = find_spinning(d);
    const struct call_pair *yields = NULL;
    for (size_t i = 0; edge == NULL && i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (pair->entry && pair->holder && facts->functions[pair->entry - 1].spins &&
            pair->calls >= YIELDS_MIN && (yields == NULL || pair->calls > yields->calls))
            yields = pair;
    }
    uint32_t waiter = edge ? edge->caller : yields ? yields->holder : 0;
    uint32_t tested = edge ? edge->callee : yields ? yields->entry : 0;
    uint64_t calls = edge ? edge->calls : yields ? yields->calls : 0;
    uint32_t loop = waiter ? 0 : find_loop(d);
    if (waiter == 0)
        return loop ? say_loop(d, loop, error) : LODE_OK;
    const struct call_function *function = &facts->functions[waiter - 1];
    double time = (double)function->total + (yields ? (double)yields->running : 0);
    double share = fmin(1, lode_diagnose_call_lost(d, time));
    if (share <= BUSY_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "busy-wait", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, waiter);
    lode_diagnose_set_text(
        d, &draft, "%s waits busily: it calls %s %s in each call, for %.0f%% of what processors could do.",
        draft.statement.function, lode_diagnose_call_name(d, tested),
        lode_diagnose_call_times(d, (double)calls / (double)function->calls), 100 * share);
    draft.statement.advice = "Try to be woken: a condition, a semaphore, a future.";
    lode_diagnose_show(d, &draft, (double)calls, "calls", "%s", LODE_COUNTED(calls, "call", "calls"));
    lode_diagnose_call_show_callers(d, &draft, tested);
    LODE_ADD_EXPLAINS(&draft, "efficiency", "lock");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* ---- caches ---- */

static lode_status run_cache(struct lode_diagnosis *d, lode_error *error)
{
    static const char *const words[] = {"cache", "memo", "lru", NULL};
    const struct call_facts *facts = d->calls;
    const struct call_edge *best = NULL;
    double most = 0;
    for (size_t i = 0; i < facts->edge_count; i++) {
        const struct call_edge *edge = &facts->edges[i];
        const struct call_function *caller = edge->caller ? &facts->functions[edge->caller - 1] : NULL;
        if (caller == NULL || edge->calls < CACHE_CALLS || edge->calls > caller->calls ||
            (double)edge->calls < MISSES_MIN * (double)caller->calls ||
            !has_word(lode_diagnose_call_name(d, edge->caller), words))
            continue;
        double time = (double)facts->functions[edge->callee - 1].spent;
        if (time > most) {
            best = edge;
            most = time;
        }
    }
    double share = fmin(1, lode_diagnose_call_share(d, most));
    if (best == NULL || share <= CACHE_MIN)
        return LODE_OK;
    uint64_t calls = facts->functions[best->caller - 1].calls;
    const char *callee = lode_diagnose_call_name(d, best->callee);
    struct draft draft = {.statement = {.id = "cache", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, best->caller);
    lode_diagnose_set_text(
        d, &draft,
        "%s seldom has what it is asked for: it calls %s in %.0f%% of its calls, for %.0f%% of %s.",
        draft.statement.function, callee, 100 * (double)best->calls / (double)calls, 100 * share,
        lode_diagnose_call_basis(d, "the run time"));
    draft.statement.advice = "Try a larger cache, or other keys.";
    lode_diagnose_show(d, &draft, (double)best->calls, "calls", "%" PRIu64 " of %s", best->calls,
                       LODE_COUNTED(calls, "call", "calls"));
    lode_diagnose_call_show_callers(d, &draft, best->callee);
    LODE_ADD_EXPLAINS(&draft, "sleep", "file-io", "small-io");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* ---- growth ---- */

/* Of the mean of calls, what is due to their number; 0: they do not grow. */
struct rise {
    double part;
    bool is_counted; /* of calls that they make; else of their time */
};

/* Each step has numbers twice as high: means that follow them, three times, grow. */
static struct rise find_rise(const struct call_growth *growth)
{
    enum {
        STEPS_MIN = 4,
        CALLS_MIN = 32
    };
    const struct call_step *steps = growth->steps;
    size_t last = CALL_STEPS;
    while (last > 0 && steps[last - 1].calls < CALLS_MIN)
        last--;
    if (last < STEPS_MIN)
        return (struct rise){0};
    bool by_calls = true, by_time = true;
    for (size_t i = last - STEPS_MIN + 1; i < last; i++) {
        double a = (double)steps[i - 1].calls, b = (double)steps[i].calls;
        if (steps[i - 1].calls < CALLS_MIN / 2)
            return (struct rise){0};
        double expected = FOLLOWS * ((double)steps[i].numbers / b) / ((double)steps[i - 1].numbers / a);
        by_calls &= (double)steps[i].callees / b > expected * (double)steps[i - 1].callees / a;
        by_time &= (double)steps[i].running / b > expected * (double)steps[i - 1].running / a;
    }
    if (!by_calls && !by_time)
        return (struct rise){0};
    const struct call_step *first = &steps[last - STEPS_MIN], *end = &steps[last - 1];
    double low = (double)(by_calls ? first->callees : first->running) / (double)first->calls;
    double high = (double)(by_calls ? end->callees : end->running) / (double)end->calls;
    return (struct rise){high > 0 ? 1 - low / high : 0, by_calls};
}

static lode_status run_growth(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    struct rise best = {0};
    uint32_t growing = 0;
    double most = 0;
    for (uint32_t f = 0; f < facts->function_count; f++) {
        const struct call_function *function = &facts->functions[f];
        if (!function->is_known || function->activity != LODE_ACTIVITY_OWN || facts->growths[f] == NULL)
            continue;
        struct rise rise = find_rise(facts->growths[f]);
        double part = rise.part * (double)function->total;
        if (part > most || (part == most && most > 0 && facts->ranks[f] < facts->ranks[growing - 1])) {
            growing = f + 1;
            most = part;
            best = rise;
        }
    }
    double share = fmin(1, lode_diagnose_call_share(d, most));
    if (growing == 0 || share <= GROWTH_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "rising", .confidence = LODE_POSSIBLE}};
    const struct call_function *function = &facts->functions[growing - 1];
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, growing);
    lode_diagnose_set_text(
        d, &draft, "Calls of %s %s with their number: all %s together take time with its square.",
        draft.statement.function, best.is_counted ? "make more and more calls" : "take longer and longer",
        LODE_COUNTED(function->calls, "call", "calls"));
    draft.statement.advice = "If it looks through or copies what exists, try an index, or to append.";
    lode_diagnose_show(
        d, &draft, share, "share", "%s on average, the longest %s",
        lode_diagnose_call_amount(d, (double)function->total / fmax(1, (double)function->outer)),
        lode_diagnose_call_amount(d, (double)function->most));
    lode_diagnose_call_show_callers(d, &draft, growing);
    LODE_ADD_EXPLAINS(&draft, "copy", "allocation");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* ---- arguments ---- */

static lode_status run_repeated(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    uint32_t best = 0;
    for (uint32_t f = 0; f < facts->function_count; f++) {
        const struct call_function *function = &facts->functions[f];
        if (function->argued < ARGUED_MIN || (double)function->repeated < SAME_MIN * (double)function->argued)
            continue;
        uint64_t most = best ? facts->functions[best - 1].repeated_time : 0;
        if (function->repeated_time > most ||
            (best && function->repeated_time == most && facts->ranks[f] < facts->ranks[best - 1]))
            best = f + 1;
    }
    const struct call_function *function = best ? &facts->functions[best - 1] : NULL;
    double share = best ? fmin(1, lode_diagnose_call_share(d, (double)function->repeated_time)) : 0;
    if (function == NULL || share <= REPEAT_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "repeated", .confidence = LODE_POSSIBLE}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, best);
    lode_diagnose_set_text(
        d, &draft, "%s repeats calls with the same arguments: %.0f%% of %s, for %.0f%% of %s.",
        draft.statement.function, 100 * (double)function->repeated / (double)function->argued,
        LODE_COUNTED(function->argued, "call", "calls"), 100 * share,
        lode_diagnose_call_basis(d, "the run time"));
    draft.statement.advice = "If nothing else is its input, try to keep its results.";
    lode_diagnose_show(d, &draft, (double)(function->argued - function->repeated), "calls",
                       "%s with new arguments",
                       LODE_COUNTED(function->argued - function->repeated, "call", "calls"));
    lode_diagnose_call_show_callers(d, &draft, best);
    LODE_ADD_EXPLAINS(&draft, "recursion");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* ---- OpenMP ---- */

static lode_status run_omp(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    const struct call_pair *best = NULL;
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        const struct call_function *entry = pair->entry ? &facts->functions[pair->entry - 1] : NULL;
        if (entry && CALL_OPENMP >> entry->activity & 1 && entry->role == ROLE_NONE &&
            pair->calls >= OMP_CALLS && (best == NULL || pair->running > best->running))
            best = pair;
    }
    double share = best ? fmin(1, lode_diagnose_call_share(d, (double)best->running)) : 0;
    if (best == NULL || share <= OMP_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "omp-calls", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, best->holder);
    lode_diagnose_set_text(
        d, &draft,
        "%s calls the OpenMP runtime %s, for %.0f%% of %s: parts of loops, or tasks, are too small.",
        draft.statement.function, LODE_COUNTED(best->calls, "time", "times"), 100 * share,
        lode_diagnose_call_basis(d, "the run time"));
    draft.statement.advice = "Try schedule(static), or larger parts.";
    lode_diagnose_show(d, &draft, (double)best->calls, "calls", "%s: %s",
                       lode_diagnose_call_pair_name(d, best), LODE_COUNTED(best->calls, "call", "calls"));
    lode_diagnose_call_show_callers(d, &draft, best->entry);
    LODE_ADD_EXPLAINS(&draft, "omp-imbalance", "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_busy_wait = {
    "busy-wait", "a function waits busily for more than 10% of what processors could do",
    CALL_NEEDS | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_NAMES, run_busy};
const struct lode_diagnose_rule lode_diagnose_call_rule_cache = {
    "cache",
    "a cache does not have what it is asked for in 90% of its calls, for more than 20% of the run time",
    CALL_NEEDS | 1u << CALL_NEED_NAMES, run_cache};
const struct lode_diagnose_rule lode_diagnose_call_rule_growth = {
    "rising", "calls of a function get longer with their number, for more than 10% of the run time",
    CALL_NEEDS, run_growth};
const struct lode_diagnose_rule lode_diagnose_call_rule_repeated = {
    "repeated", "calls with the arguments of earlier ones take more than 10% of the run time", CALL_NEEDS,
    run_repeated};
const struct lode_diagnose_rule lode_diagnose_call_rule_omp_calls = {
    "omp-calls", "100,000 or more calls of the OpenMP runtime take more than 5% of the run time", CALL_NEEDS,
    run_omp};
