/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sleep: threads that also work sleep, and processors are idle meanwhile for more than 10 % of what
 * they could do. Guard: threads that only sleep and tell others are timers or clients; sleeps that
 * are shorter after more work, or end at a given time, keep a beat, such as that of a display.
 * Gain: what is lost to sleeping, of all that processors could do; it accounts for that. Whether
 * there is something to wait for instead cannot be told: possible.
 */
#include "analysis/diagnose/calls/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SLEEP_MIN   0.10
#define BEAT_MAX    (-0.7) /* correlation of sleep and work */
#define BEAT_SPREAD 0.02   /* of a period, at most, where work hardly varies */

enum {
    BEATS_MIN = 20
};

static const struct call_pair *find_pair(const struct call_facts *facts, const struct call_loss *loss)
{
    for (size_t i = 0; i < facts->pair_count; i++)
        if (facts->pairs[i].holder == loss->holder && facts->pairs[i].entry == loss->entry)
            return &facts->pairs[i];
    return NULL;
}

/* Whether sleeps make up for work, so that both together take the same time. */
static bool keeps_beat(const struct call_beat *beat)
{
    double n = (double)beat->count, s = (double)beat->slept / n, w = (double)beat->worked / n;
    if (beat->count < BEATS_MIN)
        return false;
    double ss = (double)beat->slept2 / n - s * s, ww = (double)beat->worked2 / n - w * w;
    double both = (double)beat->both / n - s * w;
    return ss > 0 && ww > 0 && both / sqrt(ss * ww) < BEAT_MAX;
}

/* Whether it sleeps until a time, as loops do that keep a beat. */
static bool is_absolute(struct lode_diagnosis *d, const struct call_pair *pair)
{
    const char *name = pair->entry ? lode_diagnose_call_name(d, pair->entry) : "";
    return pair->calls >= BEATS_MIN &&
           (strcmp(name, "clock_nanosleep") == 0 || strstr(name, "sleep_until") != NULL);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    double share = lode_diagnose_call_lost(d, facts->blame->lost[WHY_SLEEP]);
    const struct call_loss *loss = lode_diagnose_call_loss(d, WHY_SLEEP);
    const struct call_pair *pair = loss ? find_pair(facts, loss) : NULL;
    if (pair == NULL || share <= SLEEP_MIN || keeps_beat(&pair->beat) || is_absolute(d, pair))
        return LODE_OK;
    struct draft draft = {.statement = {.id = "sleep", .confidence = LODE_POSSIBLE}};
    const char *name = lode_diagnose_call_pair_name(d, pair);
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, pair->holder);
    draft.statement.text =
        facts->blame->capacity > 1
            ? lode_diagnose_say(
                  d, "Threads sleep while processors are idle, %.0f%% of what these could do, most in %s.",
                  100 * share, name)
            : lode_diagnose_say(d, "The program sleeps %.0f%% of the run time, most in %s.", 100 * share,
                                name);
    draft.statement.advice = "If it waits for something, try to be woken instead.";
    lode_diagnose_show(
        d, &draft, (double)pair->calls, "calls", "%s: %" PRIu64 " calls of %s each", name, pair->calls,
        lode_diagnose_call_amount(d, lode_diagnose_call_pair_time(pair) / (double)pair->calls));
    lode_diagnose_call_show_callers(d, &draft, pair->entry);
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_sleep = {
    "sleep", "threads that also work sleep for more than 10% of what processors could do", CALL_NEEDS, run};
