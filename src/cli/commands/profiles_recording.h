/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode profiles` on recordings: what each task took. */
#ifndef CLI_PROFILES_RECORDING_H
#define CLI_PROFILES_RECORDING_H

#include "command.h"

/* In the order of the choices of --sort. */
enum {
    SORT_VALUE,
    SORT_NAME,
    SORT_INDEX
};

int profiles_recording(const invocation *call);

#endif
