/* SPDX-License-Identifier: BSD-3-Clause */
/* What a store of requests cannot tell: said before anything else. */
#include "analysis/diagnose/requests/facts.h"
#include "base/text/count.h"

#include <inttypes.h>
#include <string.h>

enum {
    KEYS_SHOWN = 3,
    CORRELATION_MIN = 100 /* requests */
};

#define HIDDEN_MAX 0.05 /* share of calls that are not recorded */

static lode_status look_at_damage(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    if (facts->findings)
        LODE_TRY(
            lode_diagnose_add_note(d, "damaged", LODE_NOTE_DAMAGED, (double)facts->findings,
                                   lode_diagnose_say(d, "The store is damaged: %s ('lode check' lists them).",
                                                     LODE_COUNTED(facts->findings, "finding", "findings")),
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
    d->lacks[REQUEST_NEED_STATEMENTS] = tables->has_many_statements;
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

lode_status lode_diagnose_request_quality(struct lode_diagnosis *d, lode_error *error)
{
    LODE_TRY(look_at_damage(d, error));
    LODE_TRY(look_at_number(d, error));
    LODE_TRY(look_at_clock(d, error));
    LODE_TRY(look_at_calls(d, error));
    return look_at_tables(d, error);
}
