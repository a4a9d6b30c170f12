/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * long-tail: a few calls of a function are much slower than the others: what calls take above the
 * median is more than 10 % of the run time, 35 % if threads were pre-empted often.
 * Guard: useful running time; median of 2 us or more; 100 calls; the slowest takes 10 medians; the
 * 95 % percentile at most 5, otherwise there are two kinds of calls.
 * Of functions that call each other, the one with the least total time is named.
 * Gain: what calls take above the median / run time. Likely.
 */
#include "analysis/diagnose/calls/facts.h"

#include <inttypes.h>
#include <math.h>

#define TAIL_MIN      0.10
#define TAIL_MIN_BUSY 0.35
#define OFTEN         0.10
#define MOST_MIN      10.0
#define P95_MAX       5.0
#define NEARLY        0.90

enum {
    CALLS_MIN = 100,
    SLOW_MAX = 10000, /* calls that are looked at */
    MEDIAN_MIN = 2000 /* nanoseconds */
};

/* What calls that take 5 medians or more take above the median. At most 5 % of the calls do. */
static double sum_slow(const struct call_facts *facts, uint32_t f, double median)
{
    const struct lode_sketch *sketch = facts->sketches[f];
    uint64_t count = lode_sketch_count(sketch);
    double sum = 0;
    for (uint64_t rank = count; rank > 0 && count - rank < SLOW_MAX; rank--) {
        double took = (double)lode_sketch_rank(sketch, rank);
        if (took < P95_MAX * median)
            break;
        sum += took - median;
    }
    return sum;
}

/* What slow calls take above the median; 0: no tail. */
static double find_excess(const struct call_facts *facts, uint32_t f)
{
    const struct call_function *function = &facts->functions[f];
    if (!function->is_known || function->activity != LODE_ACTIVITY_OWN || function->outer < CALLS_MIN)
        return 0;
    double median = (double)lode_diagnose_call_quantile(facts, f, 0.5),
           p95 = (double)lode_diagnose_call_quantile(facts, f, 0.95);
    if (median < MEDIAN_MIN || p95 > P95_MAX * median || (double)function->most <= MOST_MIN * median)
        return 0;
    return sum_slow(facts, f, median);
}

static bool is_better(const struct call_facts *facts, uint32_t f, uint32_t old)
{
    uint64_t a = facts->functions[f].total, b = facts->functions[old].total;
    return a != b ? a < b : facts->ranks[f] < facts->ranks[old];
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    double most = 0;
    uint32_t slow = 0;
    for (uint32_t f = 0; f < facts->function_count; f++)
        most = fmax(most, find_excess(facts, f));
    if (lode_diagnose_call_share(d, most) <= (facts->stolen > OFTEN ? TAIL_MIN_BUSY : TAIL_MIN))
        return LODE_OK;
    for (uint32_t f = 0; f < facts->function_count; f++)
        if (find_excess(facts, f) >= NEARLY * most && (slow == 0 || is_better(facts, f, slow - 1)))
            slow = f + 1;
    struct draft draft = {.statement = {.id = "long-tail", .confidence = LODE_LIKELY}};
    const char *name = lode_diagnose_call_name(d, slow);
    const struct call_function *function = &facts->functions[slow - 1];
    lode_diagnose_call_gain(&draft, lode_diagnose_call_share(d, find_excess(facts, slow - 1)));
    draft.statement.function = name;
    lode_diagnose_set_text(d, &draft,
                           "A few calls of %s are slow: what calls take above the median is %.0f%% of %s.",
                           name, 100 * draft.statement.gain, lode_diagnose_call_basis(d, "the run time"));
    lode_diagnose_show(
        d, &draft, (double)function->most / 1e9, "seconds",
        "%" PRIu64 " calls: median %s, 95%% below %s, longest %s, running", function->outer,
        lode_diagnose_call_amount(d, (double)lode_diagnose_call_quantile(facts, slow - 1, 0.5)),
        lode_diagnose_call_amount(d, (double)lode_diagnose_call_quantile(facts, slow - 1, 0.95)),
        lode_diagnose_call_amount(d, (double)function->most));
    lode_diagnose_call_show_callers(d, &draft, slow);
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_long_tail = {
    "long-tail", "a few slow calls of a function take more than 10% of the run time",
    CALL_NEEDS | 1u << CALL_NEED_NAMES | 1u << CALL_NEED_RUNNING, run};
