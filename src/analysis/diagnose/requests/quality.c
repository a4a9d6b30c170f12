/* SPDX-License-Identifier: BSD-3-Clause */
/* What a store of requests cannot tell: said before anything else. */
#include "analysis/diagnose/requests/services/speak.h"
#include "base/text/count.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEYS_SHOWN = 3,
    LATE_SHOWN = 3,
    LATE_MIN = 5,         /* calls, and half of them */
    CORRELATION_MIN = 100 /* requests */
};

#define HIDDEN_MAX 0.05 /* share of calls that are not recorded */

static lode_status look_at_damage(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    /* A clock that is off is a fact about hosts, and no damage. */
    uint64_t clocks = facts->recording->quality.clocks;
    uint64_t findings = facts->findings > clocks ? facts->findings - clocks : 0;
    if (findings)
        LODE_TRY(
            lode_diagnose_add_note(d, "damaged", LODE_NOTE_DAMAGED, (double)findings,
                                   lode_diagnose_say(d, "The store is damaged: %s ('lode check' lists them).",
                                                     LODE_COUNTED(findings, "finding", "findings")),
                                   error));
    if (facts->left_out)
        return lode_diagnose_add_note(
            d, "cut-off", LODE_NOTE_LEFT_OUT, facts->left_out,
            lode_diagnose_say(d, "Left out: %s without an end, or with a part that is lost.",
                              LODE_COUNTED(facts->left_out, "request", "requests")),
            error);
    return LODE_OK;
}

static lode_status look_at_number(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    bool has_entry = false;
    for (uint32_t i = 0; i < facts->entry_count; i++)
        has_entry = has_entry || facts->entries[i].count >= REQUESTS_MIN;
    d->lacks[REQUEST_NEED_ENTRY] = !has_entry;
    d->lacks[REQUEST_NEED_MANY] = facts->count < CORRELATION_MIN;
    d->lacks[REQUEST_NEED_DATA] = facts->count < REQUESTS_MIN || facts->total <= 0;
    d->lacks[REQUEST_NEED_SPAN] = facts->last <= facts->first;
    d->run.can_judge = !d->lacks[REQUEST_NEED_DATA];
    if (facts->count >= REQUESTS_MIN && facts->total > 0)
        return LODE_OK;
    if (facts->count >= REQUESTS_MIN)
        return lode_diagnose_add_note(d, "no-durations", LODE_NOTE_TOO_LITTLE, 0,
                                      "The requests have no durations: nothing is judged.", error);
    return lode_diagnose_add_note(d, "few-requests", LODE_NOTE_TOO_LITTLE, facts->count,
                                  lode_diagnose_say(d, "Only %s: too few to judge. Record at least %d.",
                                                    LODE_COUNTED(facts->count, "request", "requests"),
                                                    REQUESTS_MIN),
                                  error);
}

/* Requests begin at milliseconds: of shorter ones, it is not known which were in flight. */
static lode_status look_at_clock(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    double mean = facts->count ? facts->total / facts->count : 0;
    d->lacks[REQUEST_NEED_CLOCK] = mean < 2 * (double)STAMP;
    if (!d->lacks[REQUEST_NEED_CLOCK] || d->lacks[REQUEST_NEED_DATA])
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "clock", LODE_NOTE_BIASED, mean / STAMP,
        lode_diagnose_say(d,
                          "Requests take %s on average, and begin at full milliseconds: how many "
                          "were in flight is not judged.",
                          lode_diagnose_request_time(d, mean)),
        error);
}

static lode_status look_at_calls(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    double calls = (double)facts->calls + (double)facts->hidden;
    double hidden = calls > 0 ? (double)facts->hidden / calls : 0;
    if (hidden <= HIDDEN_MAX)
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "short-calls", LODE_NOTE_LEFT_OUT, hidden,
        lode_diagnose_say(d,
                          "%.0f%% of the calls are too short to be recorded: their time counts as "
                          "that of their callers, and repeated ones are not seen.",
                          100 * hidden),
        error);
}

/* Attributes with too many values, by name: most are ids. */
static lode_status look_at_values(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_tables *tables = d->requests->all;
    const char *names = NULL;
    uint32_t many = 0;
    for (uint32_t key = 0; key < tables->keys.items.count; key++)
        many += tables_has_many_values(tables, key);
    for (uint32_t shown = 0; shown < many && shown < KEYS_SHOWN; shown++) {
        const char *next = NULL;
        for (uint32_t key = 0; key < tables->keys.items.count; key++) {
            const char *name = lode_strings_at(&tables->keys, key);
            bool is_after = names == NULL || strcmp(name, names) > 0;
            if (tables_has_many_values(tables, key) && is_after && (!next || strcmp(name, next) < 0))
                next = name;
        }
        names = next;
        LODE_TRY(lode_diagnose_add_note(
            d, "many-values", LODE_NOTE_LEFT_OUT, VALUES_MAX,
            lode_diagnose_say(d, "Left out: the attribute %s, which has more than %d values.", next,
                              VALUES_MAX),
            error));
    }
    return LODE_OK;
}

static lode_status look_at_tables(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_tables *tables = d->requests->all;
    d->lacks[REQUEST_NEED_ATTRIBUTES] = tables->has_many_keys;
    const struct service_tables *services = d->requests->services;
    d->lacks[REQUEST_NEED_STATEMENTS] = tables->has_many_statements || (services && services->has_many_sums);
    d->lacks[REQUEST_NEED_SERVICES] = services == NULL;
    d->lacks[REQUEST_NEED_FEATURES] = services && services->has_many_features;
    if (tables->has_many_keys)
        LODE_TRY(lode_diagnose_add_note(
            d, "many-keys", LODE_NOTE_BIASED, KEYS_MAX,
            lode_diagnose_say(d, "Requests have more than %d kinds of attributes: none is looked at.",
                              KEYS_MAX),
            error));
    else
        LODE_TRY(look_at_values(d, error));
    if (tables->has_many_statements)
        return lode_diagnose_add_note(
            d, "many-statements", LODE_NOTE_BIASED, STATEMENTS_MAX,
            lode_diagnose_say(
                d, "Requests have more than %d different statements: repeated ones are not looked for.",
                STATEMENTS_MAX),
            error);
    return LODE_OK;
}

/* ---- instrumentation ---- */

static lode_status look_at_clocks(struct lode_diagnosis *d, lode_error *error)
{
    const struct lode_recording_quality *quality = &d->requests->recording->quality;
    if (quality->clocks == 0)
        return LODE_OK;
    double by = (double)quality->clock_by;
    const char *more =
        quality->clocks == 1
            ? ""
            : lode_diagnose_say(d, " (and %s)", LODE_COUNTED(quality->clocks - 1, "other", "others"));
    return lode_diagnose_add_note(
        d, "clock-offset", LODE_NOTE_BIASED, by / 1e9,
        lode_diagnose_say(
            d, "The clock of %s%s is %s by about %s: its calls were moved into those of their callers.",
            quality->clock_of, more, by > 0 ? "behind" : "ahead",
            lode_diagnose_request_time(d, by > 0 ? by : -by)),
        error);
}

static lode_status look_at_losses(struct lode_diagnosis *d, lode_error *error)
{
    const struct lode_recording_quality *quality = &d->requests->recording->quality;
    if (quality->lost_callers)
        LODE_TRY(lode_diagnose_add_note(
            d, "missing-spans", LODE_NOTE_LEFT_OUT, (double)quality->lost_callers,
            lode_diagnose_say(
                d, "%s a caller that is not in the store: it was lost, sampled away, or is in other files.",
                LODE_COUNTED(quality->lost_callers, "call has", "calls have")),
            error));
    if (quality->dropped)
        return lode_diagnose_add_note(
            d, "dropped", LODE_NOTE_LEFT_OUT, (double)quality->dropped,
            lode_diagnose_say(
                d, "Limits of the recorder removed %s.",
                LODE_COUNTED(quality->dropped, "attribute, event or link", "attributes, events or links")),
            error);
    return LODE_OK;
}

/* Calls that nobody waits for: their time is not in that of requests. */
static lode_status look_at_late_calls(struct lode_diagnosis *d, lode_error *error)
{
    size_t count = 0;
    struct service_found *found = lode_diagnose_service_list(d->requests, SUM_LATE, &count);
    LODE_TRY_ALLOC(found, error);
    lode_status status = LODE_OK;
    for (size_t i = 0, said = 0; i < count && said < LATE_SHOWN && status == LODE_OK; i++) {
        const struct service_sum *all = lode_diagnose_service_calls_of(d->requests, found[i].key->function);
        uint64_t late = found[i].sum->calls;
        if (all == NULL || late < LATE_MIN || 2 * late < all->calls)
            continue;
        status = lode_diagnose_add_note(
            d, "late-calls", LODE_NOTE_LEFT_OUT, (double)late,
            lode_diagnose_say(d, "%s ends after its caller in %" PRIu64 " of %s: nobody waits for it.",
                              lode_diagnose_service_name(d, found[i].key->function), late,
                              LODE_COUNTED(all->calls, "call", "calls")),
            error);
        said++;
    }
    free(found);
    return status;
}

static lode_status look_at_services(struct lode_diagnosis *d, lode_error *error)
{
    if (d->requests->services == NULL)
        return LODE_OK;
    LODE_TRY(look_at_clocks(d, error));
    LODE_TRY(look_at_losses(d, error));
    return look_at_late_calls(d, error);
}

lode_status lode_diagnose_request_quality(struct lode_diagnosis *d, lode_error *error)
{
    LODE_TRY(look_at_damage(d, error));
    LODE_TRY(look_at_number(d, error));
    LODE_TRY(look_at_clock(d, error));
    LODE_TRY(look_at_calls(d, error));
    LODE_TRY(look_at_services(d, error));
    return look_at_tables(d, error);
}
