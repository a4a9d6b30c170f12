/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error-burst, error-rate: requests fail, in one period or throughout.
 * Needs: 30 requests that begin at different times.
 * Computation: error-burst: scan statistic. Windows of 1, 3 and 10 % of the time begin at each
 *     failure; the probability of so many other failures among the other requests of the window, if
 *     failures fell on any requests, by the hypergeometric distribution; Bonferroni over all
 *     windows, p < 0.001. error-rate: the rate outside of a burst is above 5 %.
 * Guard: requests of the window are counted, so that many requests are no burst of errors; 5
 *     failures; the lower end of the interval of the rate.
 * Gain: none. Confidence: sure.
 */
#include "analysis/diagnose/requests/facts.h"

#include <inttypes.h>
#include <math.h>

#define BURST_P  0.001
#define RATE_MIN 0.05

enum {
    BURST_MIN = 5,
    WIDTHS = 3
};

struct burst {
    double p; /* adjusted */
    uint32_t failures, requests;
    uint64_t from, to; /* `to` is exclusive */
};

static bool has_failed(const struct request_facts *facts, uint32_t index)
{
    return (facts->requests[index].flags & REQUEST_FAILED) != 0;
}

static uint32_t count_failures(const struct request_facts *facts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->count; i++)
        count += has_failed(facts, i);
    return count;
}

/* The best window of one width; requests are in the order of begins. */
static void scan(const struct request_facts *facts, uint32_t failures, double width, struct burst *best)
{
    uint32_t end = 0, inside = 0;
    for (uint32_t i = 0; i < facts->count; i++) {
        uint64_t from = facts->requests[i].begin;
        while (end < facts->count && (double)(facts->requests[end].begin - from) < width)
            inside += has_failed(facts, end++);
        if (!has_failed(facts, i))
            continue;
        if (inside >= BURST_MIN) {
            double p =
                lode_diagnose_hypergeometric_tail(inside - 1, end - i - 1, failures - 1, facts->count - 1);
            p = fmin(1, p * WIDTHS * failures);
            if (p < best->p)
                *best = (struct burst){p, inside, end - i, from, facts->requests[end - 1].begin + 1};
        }
        inside--;
    }
}

static lode_status run_burst(struct lode_diagnosis *d, lode_error *error)
{
    static const double widths[WIDTHS] = {0.01, 0.03, 0.10};
    struct request_facts *facts = d->requests;
    uint32_t failures = count_failures(facts);
    struct burst best = {.p = BURST_P};
    for (unsigned i = 0; i < WIDTHS; i++)
        scan(facts, failures, widths[i] * (double)(facts->last - facts->first), &best);
    if (best.failures == 0)
        return LODE_OK;
    facts->has_burst = true;
    facts->burst_from = best.from;
    facts->burst_to = best.to;
    double rest = facts->count - best.requests, others = failures - best.failures;
    struct draft draft = {
        .statement = {.id = "error-burst", .confidence = LODE_SURE, .from = best.from, .to = best.to}};
    lode_diagnose_set_text(
        d, &draft, "%" PRIu32 " of %" PRIu32 " failed requests fall into %s of %s, %s after the begin.",
        best.failures, failures, lode_diagnose_request_time(d, fmax(STAMP, (double)(best.to - best.from))),
        lode_diagnose_request_time(d, (double)(facts->last - facts->first)),
        lode_diagnose_request_time(d, (double)(best.from - facts->origin)));
    lode_diagnose_show(d, &draft, (double)best.failures / best.requests, "share",
                       "%.1f%% of the %" PRIu32 " requests in this time fail, %.2g%% "
                       "of the others",
                       100.0 * best.failures / best.requests, best.requests,
                       rest > 0 ? 100 * others / rest : 0);
    LODE_SET_COMMAND(&draft, "search", "--errors",
                     lode_diagnose_request_option(d, "from", lode_diagnose_request_moment(d, best.from)),
                     lode_diagnose_request_option(d, "to", lode_diagnose_request_moment(d, best.to + 1000)));
    lode_diagnose_show(d, &draft, best.p, "probability", "by chance: p = %.2g, adjusted for all periods",
                       best.p);
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run_rate(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    double requests = 0, failures = 0;
    for (uint32_t i = 0; i < facts->count; i++) {
        uint64_t begin = facts->requests[i].begin;
        if (facts->has_burst && begin >= facts->burst_from && begin < facts->burst_to)
            continue;
        requests++;
        failures += has_failed(facts, i);
    }
    struct share rate = lode_diagnose_count_share(failures, requests);
    if (rate.low <= RATE_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "error-rate", .confidence = LODE_SURE}};
    lode_diagnose_set_text(d, &draft, "%.0f of %.0f requests fail%s.", failures, requests,
                           facts->has_burst ? " outside of that time" : "");
    lode_diagnose_show(d, &draft, rate.value, "share", "%.1f%% (95%% interval: %.1f to %.1f%%)",
                       100 * rate.value, 100 * rate.low, 100 * rate.high);
    LODE_SET_COMMAND(&draft, "search", "--errors");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_request_rule_error_burst = {
    "error-burst", "more requests fail in one period than chance explains",
    1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_SPAN, run_burst};
const struct lode_diagnose_rule lode_diagnose_request_rule_error_rate = {
    "error-rate", "more than 5% of the requests fail", 1u << REQUEST_NEED_DATA, run_rate};
