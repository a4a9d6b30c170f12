/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of --from and --to in the clock of a store. */
#ifndef CLI_MOMENT_H
#define CLI_MOMENT_H

#include "options/option.h"

/* The clock of a store, and the interval that the store covers in it. */
typedef struct store_clock {
    const char *path;
    uint64_t begin, end;
    int has_utc;
    uint64_t utc_offset; /* UTC is this much later than the clock, if that is known */
} store_clock;

/* A time in the clock of the store, `otherwise` if it is not given. EXIT_DONE, or a message. */
int moment_resolve(const time_point *moment, const char *option, const store_clock *clock, uint64_t otherwise,
                   uint64_t *out);

#endif
