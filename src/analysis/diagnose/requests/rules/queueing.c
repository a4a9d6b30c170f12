/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queueing: requests take longer when more are in flight.
 * Needs: 100 requests, begins that are exact enough.
 * Computation: Spearman's rank correlation of the duration, in medians of the entry point, and the
 *     number of requests in flight when the request begins; lower end of the interval above 0.5.
 * Guard: long requests are in flight longer, so that only what began earlier counts; a tenth of the
 *     requests meets 4 or more in flight.
 * Gain: none. Confidence: likely.
 * Explains: gap; slow-method, if its slow requests are the crowded ones: these have more of the
 *     excess than their share of the requests, by at least half of the rest, and Fisher's exact
 *     test has p < 0.01.
 */
#include "analysis/diagnose/requests/facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define CORRELATION_MIN 0.50
/* Standard error of atanh(r) of ranks: sqrt(1.06 / (n - 3)). */
#define RANK_VARIANCE 1.06
#define NORMAL_95     1.959963984540054
#define CROWD_P       0.01

enum {
    FLIGHT_MIN = 4
};

static int compare_doubles(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The median of values, which are sorted. */
static double median_of(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Durations, in medians, of requests that meet `from` to `to` others. */
static double duration_with(const struct request_facts *facts, uint32_t from, uint32_t to, double *scratch)
{
    size_t count = 0;
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct request *request = &facts->requests[i];
        double median = facts->entries[request->entry].median;
        if (request->in_flight >= from && request->in_flight <= to && median > 0)
            scratch[count++] = (double)request->duration / median;
    }
    return median_of(scratch, count);
}

/*
 * Requests that meet so many others are crowded: more than the median, or as many if none meets
 * more, as under a steady load.
 */
static uint32_t find_crowd(const struct request_facts *facts, double *scratch)
{
    for (uint32_t i = 0; i < facts->count; i++)
        scratch[i] = facts->requests[i].in_flight;
    double middle = floor(median_of(scratch, facts->count));
    return (uint32_t)(scratch[facts->count - 1] > middle ? middle + 1 : middle);
}

/* Whether the slow requests of which slow-method speaks are slow because they are crowded. */
static bool explains_slow(const struct request_facts *facts, uint32_t crowd)
{
    uint64_t crowded = 0, slow = 0, both = 0;
    double excess = 0, inside = 0;
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct request *request = &facts->requests[i];
        const struct entry *entry = &facts->entries[request->entry];
        bool is_crowded = request->in_flight >= crowd;
        crowded += is_crowded;
        if (!(request->flags & REQUEST_SLOW) || !entry->has_slow_method)
            continue;
        slow++;
        both += is_crowded;
        excess += (double)request->duration - entry->usual;
        inside += is_crowded ? (double)request->duration - entry->usual : 0;
    }
    double share = (double)crowded / facts->count;
    return inside > (1 + share) / 2 * excess &&
           lode_diagnose_hypergeometric_tail(both, slow, crowded, facts->count) < CROWD_P;
}

static lode_status say(struct lode_diagnosis *d, double r, double low, double *scratch, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    uint32_t crowd = find_crowd(facts, scratch);
    double few = crowd > 0 ? duration_with(facts, 0, crowd - 1, scratch) : 0;
    double many = duration_with(facts, crowd, UINT32_MAX, scratch);
    struct draft draft = {.statement = {.id = "queueing", .confidence = LODE_LIKELY}};
    const char *times =
        few > 0 ? lode_diagnose_say(d, ": %.3g times as long if %" PRIu32 " or more are, as they begin",
                                    many / few, crowd)
                : "";
    lode_diagnose_set_text(
        d, &draft, "Requests take longer when more are in flight%s. They likely wait for each other.", times);
    lode_diagnose_show(d, &draft, r, "correlation",
                       "rank correlation of duration and requests in flight: %.2f "
                       "(at least %.2f)",
                       r, low);
    LODE_SET_COMMAND(&draft, "search", "--density");
    LODE_ADD_EXPLAINS(&draft, "gap");
    if (explains_slow(facts, crowd))
        LODE_ADD_EXPLAINS(&draft, "slow-method");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    double *scratch = calloc(2 * (size_t)facts->count + 1, sizeof *scratch);
    LODE_TRY_ALLOC(scratch, error);
    double *flight = scratch + facts->count, r = 0;
    uint32_t crowded = 0;
    for (uint32_t i = 0; i < facts->count; i++) {
        double median = facts->entries[facts->requests[i].entry].median;
        scratch[i] = median > 0 ? (double)facts->requests[i].duration / median : 0;
        flight[i] = facts->requests[i].in_flight;
        crowded += facts->requests[i].in_flight >= FLIGHT_MIN;
    }
    lode_status status = LODE_OK;
    if (crowded >= facts->count / 10)
        status = lode_diagnose_rank_correlation(&r, scratch, flight, facts->count, error);
    double half = NORMAL_95 * sqrt(RANK_VARIANCE / (facts->count - 3.0));
    double low = r < 1 ? tanh(atanh(r) - half) : 1;
    if (status == LODE_OK && low > CORRELATION_MIN)
        status = say(d, r, low, scratch, error);
    free(scratch);
    return status;
}

const struct lode_diagnose_rule lode_diagnose_request_rule_queueing = {
    "queueing", "requests take longer when more are in flight as they begin",
    1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_MANY | 1u << REQUEST_NEED_SPAN | 1u << REQUEST_NEED_CLOCK,
    run};
