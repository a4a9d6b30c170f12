/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and amounts in texts about calls. */
#include "analysis/diagnose/calls/facts.h"

#include "base/text/count.h"
#include "model/recording/recording.h"
#include <lode/name.h>

enum {
    NAME_MAX_SHOWN = 160
};

const char *lode_diagnose_call_name(struct lode_diagnosis *d, uint32_t function)
{
    char name[NAME_MAX_SHOWN];
    if (function == 0)
        return "code outside of functions";
    lode_function_label_as(lode_function_table_at(recording_functions(d->calls->recording), function - 1),
                           LODE_NAME_SIMPLE, name, sizeof name);
    return lode_diagnose_say(d, "%s", name);
}

const char *lode_diagnose_call_pair_name(struct lode_diagnosis *d, const struct call_pair *pair)
{
    if (pair->entry == 0)
        return lode_diagnose_call_name(d, pair->holder);
    if (pair->holder == 0)
        return lode_diagnose_call_name(d, pair->entry);
    return lode_diagnose_say(d, "%s below %s", lode_diagnose_call_name(d, pair->entry),
                             lode_diagnose_call_name(d, pair->holder));
}

const char *lode_diagnose_call_most(const struct call_place *place)
{
    return place->part > 0.5 * place->time ? "most" : "the largest part";
}

const char *lode_diagnose_call_basis(struct lode_diagnosis *d, const char *words)
{
    return d->calls->stolen > CALL_PREEMPTED_MAX ? lode_diagnose_say(d, "%s without pre-emption", words)
                                                 : words;
}

const char *lode_diagnose_call_amount(struct lode_diagnosis *d, double nanoseconds)
{
    if (nanoseconds >= 1e9)
        return lode_diagnose_say(d, "%.3g s", nanoseconds / 1e9);
    if (nanoseconds >= 1e6)
        return lode_diagnose_say(d, "%.3g ms", nanoseconds / 1e6);
    return nanoseconds >= 1e3 ? lode_diagnose_say(d, "%.3g us", nanoseconds / 1e3)
                              : lode_diagnose_say(d, "%.0f ns", nanoseconds);
}

const char *lode_diagnose_call_times(struct lode_diagnosis *d, double times)
{
    return times < 999.5 ? lode_diagnose_say(d, "%.3g times", times)
                         : lode_diagnose_say(d, "%s", LODE_COUNTED((uint64_t)(times + 0.5), "time", "times"));
}

const char *lode_diagnose_call_thread(struct lode_diagnosis *d, const struct call_track *track)
{
    if (d->calls->processes > 1 && track->pid != track->tid)
        return lode_diagnose_say(d, "thread %d of process %d", track->tid, track->pid);
    return lode_diagnose_say(d, d->calls->processes > 1 ? "process %d" : "thread %d", track->tid);
}

void lode_diagnose_call_gain(struct draft *draft, double gain)
{
    lode_diagnose_set_gain_within(draft, gain, gain, gain);
}

void lode_diagnose_call_show_callers(struct lode_diagnosis *d, struct draft *draft, uint32_t function)
{
    LODE_SET_COMMAND(draft, "tree", "--callers", lode_diagnose_call_name(d, function));
}
