/* SPDX-License-Identifier: BSD-3-Clause */
/* A diagnosis of a store, and what it says. */
#include "analysis/calls/calls.h"
#include "analysis/diagnose/calls/facts.h"
#include "analysis/diagnose/profiles/facts.h"
#include "analysis/diagnose/requests/facts.h"

#include "base/comm/ranks.h"
#include "base/options.h"
#include <stdlib.h>

struct lode_diagnosis *lode_diagnose_start(const lode_diagnose_options *options)
{
    lode_diagnosis *d = calloc(1, sizeof *d);
    if (d == NULL)
        return NULL;
    d->options = *options;
    d->run.program = "";
    lode_arena_init(&d->arena, SIZE_MAX);
    lode_array_init(&d->notes, sizeof(lode_quality_note), 1000);
    lode_array_init(&d->statements, sizeof(struct draft), 1000);
    lode_array_init(&d->rules, sizeof(lode_rule_state), 1000);
    return d;
}

static lode_status finish(lode_diagnosis **out, lode_diagnosis *d, lode_status status)
{
    if (status != LODE_OK) {
        lode_diagnosis_free(d);
        return status;
    }
    *out = d;
    return LODE_OK;
}

/* What all ranks are given. */
struct order {
    const lode_database *db;
    const lode_diagnose_options *options;
};

static lode_status make(void **out, const void *context, struct lode_comm *comm, lode_error *error)
{
    const struct order *order = context;
    lode_diagnose_options options = *order->options;
    lode_diagnosis *made = NULL;
    options.comm = comm;
    options.on_progress = ranks_is_first(comm) ? options.on_progress : NULL;
    lode_diagnosis *d = lode_diagnose_start(&options);
    LODE_TRY_ALLOC(d, error);
    lode_status status = finish(&made, d, lode_diagnose_profiles(d, order->db, error));
    *out = made;
    return status;
}

static void free_diagnosis(void *diagnosis)
{
    lode_diagnosis_free(diagnosis);
}

lode_status lode_diagnose(lode_diagnosis **out, const lode_database *db, const lode_diagnose_options *given,
                          lode_error *error)
{
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    const struct order order = {db, &options};
    const struct lode_ranks_result result = {make, free_diagnosis, &order};
    void *made = NULL;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    const struct lode_ranks ranks = {options.comm, options.local_ranks, options.on_progress, options.user};
    LODE_TRY(lode_ranks_make(&made, &ranks, &result, error));
    *out = made;
    return LODE_OK;
}

lode_status lode_diagnose_recording(lode_diagnosis **out, const lode_recording *recording,
                                    const lode_diagnose_options *given, lode_error *error)
{
    return lode_diagnose_with(out, recording, given, NULL, 0, error);
}

lode_status lode_diagnose_with(lode_diagnosis **out, const lode_recording *recording,
                               const lode_diagnose_options *given, struct lode_pass *const *guests,
                               size_t guest_count, lode_error *error)
{
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    lode_diagnosis *d = lode_diagnose_start(&options);
    LODE_TRY_ALLOC(d, error);
    d->guests = guests;
    d->guest_count = guest_count;
    return finish(out, d,
                  lode_recording_has_requests(recording) ? lode_diagnose_requests(d, recording, error)
                                                         : lode_diagnose_calls(d, recording, error));
}

lode_status lode_diagnose_run_pass(const struct lode_diagnosis *d, struct lode_pass *pass, lode_error *error)
{
    struct lode_pass *passes[1 + DIAGNOSE_GUESTS_MAX] = {pass};
    for (size_t i = 0; i < d->guest_count; i++)
        passes[1 + i] = d->guests[i];
    return lode_pass_run_all(passes, 1 + d->guest_count, error);
}

void lode_diagnosis_free(lode_diagnosis *d)
{
    if (d == NULL)
        return;
    lode_diagnose_profile_facts_free(d->profiles);
    lode_diagnose_call_facts_free(d->calls);
    lode_diagnose_request_facts_free(d->requests);
    lode_array_free(&d->notes);
    lode_array_free(&d->statements);
    lode_array_free(&d->rules);
    lode_arena_free(&d->arena);
    free(d);
}

const lode_run *lode_diagnosis_run(const lode_diagnosis *diagnosis)
{
    return &diagnosis->run;
}

double lode_diagnosis_activity(const lode_diagnosis *diagnosis, int activity)
{
    return activity >= 0 && activity < ACTIVITIES ? diagnosis->activities[activity] : 0;
}

const lode_efficiency *lode_diagnosis_efficiency(const lode_diagnosis *diagnosis)
{
    return diagnosis->has_efficiency ? &diagnosis->efficiency : NULL;
}

const lode_quality_note *lode_diagnosis_note(const lode_diagnosis *d, size_t index)
{
    return index < d->notes.count ? LODE_ARRAY_AT(&d->notes, lode_quality_note, index) : NULL;
}

const lode_statement *lode_diagnosis_statement(const lode_diagnosis *d, size_t index)
{
    return index < d->statements.count ? &LODE_ARRAY_AT(&d->statements, struct draft, index)->statement
                                       : NULL;
}

const lode_rule_state *lode_diagnosis_rule(const lode_diagnosis *d, size_t index)
{
    return index < d->rules.count ? LODE_ARRAY_AT(&d->rules, lode_rule_state, index) : NULL;
}

const char *lode_confidence_name(int confidence)
{
    static const char *const names[] = {"weak", "possible", "likely", "sure"};
    return confidence >= 0 && confidence < 4 ? names[confidence] : NULL;
}
