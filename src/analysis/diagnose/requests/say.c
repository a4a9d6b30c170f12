/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, times and options in texts about requests. */
#include "analysis/diagnose/requests/facts.h"

#include <inttypes.h>
#include <lode/name.h>

enum {
    NAME_SHOWN = 400
};

const lode_function *lode_diagnose_request_function(const struct lode_diagnosis *d, uint32_t index)
{
    return lode_function_table_at(recording_functions(d->requests->recording), index);
}

const char *lode_diagnose_request_method(struct lode_diagnosis *d, const lode_function *function)
{
    char name[NAME_SHOWN];
    lode_function_label(function, name, sizeof name);
    return lode_diagnose_say(d, "%s", name);
}

const char *lode_diagnose_request_time(struct lode_diagnosis *d, double nanoseconds)
{
    if (nanoseconds >= 1e9)
        return lode_diagnose_say(d, "%.3g s", nanoseconds / 1e9);
    if (nanoseconds >= 1e6)
        return lode_diagnose_say(d, "%.3g ms", nanoseconds / 1e6);
    return lode_diagnose_say(d, "%.3g us", nanoseconds / 1e3);
}

const char *lode_diagnose_request_option(struct lode_diagnosis *d, const char *option, const char *value)
{
    return lode_diagnose_say(d, "--%s=%s", option, value);
}

const char *lode_diagnose_request_duration(struct lode_diagnosis *d, double nanoseconds)
{
    return lode_diagnose_say(d, "%" PRIu64 "us", (uint64_t)(nanoseconds / 1e3));
}

const char *lode_diagnose_request_moment(struct lode_diagnosis *d, uint64_t time)
{
    uint64_t first = d->requests->origin;
    return lode_diagnose_say(d, "%" PRIu64 "us", (time > first ? time - first : 0) / 1000);
}
