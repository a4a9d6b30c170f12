/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Things that are expensive, and done for each item: processes and threads that are started
 * (processes, threads), libraries that are loaded (loading), memory that is mapped (mapping),
 * exceptions that are thrown (exceptions), what is prepared again (preparing).
 * Guard: how often, and a share of the run time. Gain: the time of the calls, without what
 * recording them cost; it accounts for that. Likely.
 */
#include "analysis/diagnose/calls/sweep.h"
#include "base/text/count.h"

#include <inttypes.h>
#include <math.h>

#define SHARE_MIN   0.05
#define EACH_MIN    0.01
#define THREADS_MIN 0.10
#define PREPARE_MIN 0.10
#define SHORT_LIFE  10e6  /* nanoseconds */
#define ITEM_MAX    1e6   /* useful, of a thread: starting it takes a tenth of that or less */
#define THROW_MIN   500.0 /* nanoseconds for each */

enum {
    PROCESSES_MIN = 20,
    THREADS_COUNT = 100,
    LOADS_MIN = 20,
    MAPS_MIN = 1000,
    MAPS_EACH = 100,
    THROWS_MIN = 1000,
    PREPARED_MIN = 100
};

/* Calls of library functions with a role, and the place with the most. */
struct use {
    uint64_t calls;
    double time, part;            /* part: in `best` */
    const struct call_pair *best; /* NULL: none */
};

static struct use find_use(const struct lode_diagnosis *d, enum call_role role)
{
    const struct call_facts *facts = d->calls;
    struct use use = {0};
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (pair->entry == 0 || pair->holder == 0 || facts->functions[pair->entry - 1].role != role)
            continue;
        double time = fmax(0, lode_diagnose_call_pair_time(pair) - (double)pair->calls * (double)facts->cost);
        use.calls += pair->calls;
        use.time += time;
        if (use.best == NULL || time > use.part) {
            use.best = pair;
            use.part = time;
        }
    }
    return use;
}

/* Of the time that threads want to run, or that the run has if that is more. */
static double share_of(const struct lode_diagnosis *d, double time)
{
    return fmin(1, lode_diagnose_call_share(d, time));
}

static struct draft begin(struct lode_diagnosis *d, const char *id, double share, uint32_t function)
{
    struct draft draft = {.statement = {.id = id, .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, function);
    return draft;
}

static void show(struct lode_diagnosis *d, struct draft *draft, const struct call_pair *pair)
{
    lode_diagnose_show(
        d, draft, (double)pair->calls, "calls", "%s: %s of %s each", lode_diagnose_call_pair_name(d, pair),
        LODE_COUNTED(pair->calls, "call", "calls"),
        lode_diagnose_call_amount(d, lode_diagnose_call_pair_time(pair) / fmax(1, (double)pair->calls)));
    lode_diagnose_call_show_callers(d, draft, pair->entry);
}

/* ---- processes and threads ---- */

/* What a function that starts processes waits for them: their ends, and what they write. */
static double find_waiting(const struct call_facts *facts, uint32_t holder)
{
    double time = 0;
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        const struct call_function *entry = pair->entry ? &facts->functions[pair->entry - 1] : NULL;
        if (entry && pair->holder == holder &&
            (entry->role == ROLE_JOIN || entry->activity == LODE_ACTIVITY_FILE))
            time += lode_diagnose_call_pair_time(pair);
    }
    return time;
}

static lode_status run_processes(struct lode_diagnosis *d, lode_error *error)
{
    struct use use = find_use(d, ROLE_PROCESS);
    if (use.best == NULL || use.calls < PROCESSES_MIN || use.best->holder == 0)
        return LODE_OK;
    double time = use.time + find_waiting(d->calls, use.best->holder);
    double share = fmin(1, time / (d->run.run_time * 1e9));
    if (share <= SHARE_MIN)
        return LODE_OK;
    struct draft draft = begin(d, "processes", share, use.best->holder);
    lode_diagnose_set_text(d, &draft, "%s starts %s: that and waiting for them takes %.0f%% of the run time.",
                           draft.statement.function, LODE_COUNTED(use.calls, "process", "processes"),
                           100 * share);
    draft.statement.advice = "Try to do in the program what they do.";
    show(d, &draft, use.best);
    LODE_ADD_EXPLAINS(&draft, "file-io", "efficiency", "serial");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* Threads that live for a short time. */
static size_t count_short(const struct call_facts *facts, double *useful)
{
    size_t count = 0;
    *useful = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        if (track->pid == track->tid || (double)(track->end - track->begin) > SHORT_LIFE)
            continue;
        count++;
        *useful += (double)track->useful;
    }
    return count;
}

static lode_status run_threads(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_blame *blame = d->calls->blame;
    struct use use = find_use(d, ROLE_SPAWN);
    double useful, lost = blame->serial + blame->nobody + blame->lost[WHY_OTHER];
    size_t count = count_short(d->calls, &useful);
    double share = fmax(lode_diagnose_call_lost(d, lost), use.time / (d->run.run_time * 1e9));
    if (use.best == NULL || count < THREADS_COUNT || use.calls < THREADS_COUNT || share <= THREADS_MIN ||
        useful > ITEM_MAX * (double)count)
        return LODE_OK;
    struct draft draft = begin(d, "threads", fmin(1, share), use.best->holder);
    lode_diagnose_set_text(
        d, &draft,
        "%s starts %s, which work %s each: starting and ending them takes %.0f%% of what processors could do.",
        draft.statement.function, LODE_COUNTED(use.calls, "thread", "threads"),
        lode_diagnose_call_amount(d, useful / (double)count), 100 * fmin(1, share));
    draft.statement.advice = "Try to keep threads, and give them several items.";
    show(d, &draft, use.best);
    LODE_ADD_EXPLAINS(&draft, "efficiency", "serial");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* ---- calls that are not made for each item without need ---- */

static lode_status run_loading(struct lode_diagnosis *d, lode_error *error)
{
    struct use use = find_use(d, ROLE_LOAD);
    double share = share_of(d, use.time);
    if (use.best == NULL || use.calls < LOADS_MIN || share <= SHARE_MIN)
        return LODE_OK;
    struct draft draft = begin(d, "loading", share, use.best->holder);
    lode_diagnose_set_text(d, &draft, "%s loads and unloads libraries again and again, for %.0f%% of %s.",
                           draft.statement.function, 100 * share,
                           lode_diagnose_call_basis(d, "the run time"));
    draft.statement.advice = "Try to keep libraries open.";
    show(d, &draft, use.best);
    return lode_diagnose_add_statement(d, &draft, error);
}

/* Page faults then are own time of the function, and may be much more. */
static bool maps_in_each_call(const struct call_facts *facts, const struct call_pair *pair)
{
    uint64_t calls = facts->functions[pair->holder - 1].calls;
    return calls >= MAPS_EACH && pair->calls >= calls;
}

static lode_status run_mapping(struct lode_diagnosis *d, lode_error *error)
{
    struct use use = find_use(d, ROLE_MAP);
    double share = share_of(d, use.time);
    bool is_often = use.calls >= MAPS_MIN && share > SHARE_MIN;
    if (use.best == NULL || (!is_often && !(maps_in_each_call(d->calls, use.best) && share > EACH_MIN)))
        return LODE_OK;
    struct draft draft = begin(d, "mapping", share, use.best->holder);
    draft.statement.confidence = is_often ? LODE_LIKELY : LODE_POSSIBLE;
    lode_diagnose_set_text(
        d, &draft,
        "%s maps and unmaps memory again and again, for %.0f%% of %s; page faults come on top of that.",
        draft.statement.function, 100 * share, lode_diagnose_call_basis(d, "the run time"));
    draft.statement.advice = "Try to keep the memory.";
    show(d, &draft, use.best);
    LODE_ADD_EXPLAINS(&draft, "allocation");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* The largest number of calls of one function that throws, by the function that calls it most. */
static const struct call_pair *find_thrower(const struct call_facts *facts)
{
    const struct call_pair *best = NULL;
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (pair->entry && pair->holder && facts->functions[pair->entry - 1].role == ROLE_THROW &&
            (best == NULL || pair->calls > best->calls))
            best = pair;
    }
    return best;
}

/* Unwinding is time of the function that throws. */
static lode_status run_exceptions(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    const struct call_pair *best = find_thrower(facts);
    if (best == NULL || best->calls < THROWS_MIN)
        return LODE_OK;
    double own = (double)facts->functions[best->holder - 1].own;
    double share = share_of(d, own + lode_diagnose_call_pair_time(best));
    if (share <= SHARE_MIN || own < THROW_MIN * (double)best->calls)
        return LODE_OK;
    struct draft draft = begin(d, "exceptions", share, best->holder);
    lode_diagnose_set_text(d, &draft, "%s throws %s: they and its own work take %.0f%% of %s.",
                           draft.statement.function, LODE_COUNTED(best->calls, "exception", "exceptions"),
                           100 * share, lode_diagnose_call_basis(d, "the run time"));
    draft.statement.advice = "Try to return what is expected to happen often.";
    show(d, &draft, best);
    lode_diagnose_show(d, &draft, own / (double)best->calls / 1e9, "seconds", "%s for each of them",
                       lode_diagnose_call_amount(d, own / (double)best->calls));
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run_preparing(struct lode_diagnosis *d, lode_error *error)
{
    struct use use = find_use(d, ROLE_PREPARE);
    double share = share_of(d, use.time);
    if (use.best == NULL || use.calls < PREPARED_MIN || share <= PREPARE_MIN)
        return LODE_OK;
    struct draft draft = begin(d, "preparing", share, use.best->holder);
    lode_diagnose_set_text(d, &draft, "%s prepares the same things again and again, for %.0f%% of %s: %s.",
                           draft.statement.function, 100 * share, lode_diagnose_call_basis(d, "the run time"),
                           lode_diagnose_call_name(d, use.best->entry));
    draft.statement.advice = "Try to prepare them once.";
    show(d, &draft, use.best);
    LODE_ADD_EXPLAINS(&draft, "allocation", "churn");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_processes = {
    "processes", "starting processes, and waiting for them, takes more than 5% of the run time", CALL_NEEDS,
    run_processes};
const struct lode_diagnose_rule lode_diagnose_call_rule_threads = {
    "threads", "100 or more threads live shortly, and starting them takes more than 10%", CALL_NEEDS,
    run_threads};
const struct lode_diagnose_rule lode_diagnose_call_rule_loading = {
    "loading", "libraries are loaded 20 times or more, for more than 5% of the run time", CALL_NEEDS,
    run_loading};
const struct lode_diagnose_rule lode_diagnose_call_rule_mapping = {
    "mapping", "memory is mapped 1,000 times or more, for more than 5% of the run time", CALL_NEEDS,
    run_mapping};
const struct lode_diagnose_rule lode_diagnose_call_rule_exceptions = {
    "exceptions", "1,000 or more exceptions take more than 5% of the run time", CALL_NEEDS, run_exceptions};
const struct lode_diagnose_rule lode_diagnose_call_rule_preparing = {
    "preparing", "things that can be stored are prepared 100 times or more, for more than 10%", CALL_NEEDS,
    run_preparing};
