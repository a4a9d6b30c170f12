/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling builders on many threads and appending them in order. */
#ifndef LODE_TRANSFORM_PROFILES_H
#define LODE_TRANSFORM_PROFILES_H

#include <lode/writer.h>

/* Begins a profile builder and fills it with profile number `item`; several threads do so at once. */
typedef lode_status (*lode_fill_fn)(void *context, uint64_t item, lode_profile_builder *builder,
                                    lode_error *error);

struct lode_profiles {
    lode_writer *writer;
    uint64_t count;
    lode_fill_fn fill;
    void *context;
    unsigned threads; /* 0: one per processor */
    const char *phase;
    lode_progress_fn on_progress;
    void *user;
};

lode_status lode_write_profiles(const struct lode_profiles *profiles, lode_error *error);

#endif
