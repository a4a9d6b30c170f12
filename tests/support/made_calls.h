/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of calls by function: computing them, and their rows. */
#ifndef LODE_TESTS_MADE_CALLS_H
#define LODE_TESTS_MADE_CALLS_H

#include "made_recording.h"
#include "unit.h"
#include <lode/calls.h>
#include <string.h>

static inline lode_calls *compute_calls(const lode_recording *recording, const lode_slice *slice,
                                        const lode_calls_options *options)
{
    lode_calls *calls;
    lode_error error = {0};
    if (lode_calls_compute(&calls, recording, slice, options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return calls;
}

/* The row of a function, or one of zeros. */
static inline const lode_call_row *call_row_of(const lode_calls *calls, const char *name)
{
    static const lode_call_row none;
    for (size_t i = 0; i < lode_calls_count(calls); i++)
        if (strcmp(lode_function_name(lode_calls_at(calls, i)->function), name) == 0)
            return lode_calls_at(calls, i);
    return &none;
}

#endif
