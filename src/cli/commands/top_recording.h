/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode top` on recordings: what functions took, and what their callers and callees did. */
#ifndef CLI_TOP_RECORDING_H
#define CLI_TOP_RECORDING_H

#include "command.h"

typedef struct top_settings {
    lode_calls_sort sort;
    const char *callers, *callees; /* of a function; NULL: not asked for */
} top_settings;

int top_recording(const invocation *call, const top_settings *settings);

#endif
