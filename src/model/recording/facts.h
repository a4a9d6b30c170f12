/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata that the reader of a format states of a recording, for people. */
#ifndef LODE_MODEL_FACTS_H
#define LODE_MODEL_FACTS_H

#include "model/recording/recording.h"

struct lode_facts {
    lode_recording *recording;
    bool has_memory; /* false: something is missing */
};

/* Room for at most `most` facts in the arena of the recording. */
lode_status lode_facts_begin(struct lode_facts *facts, lode_recording *recording, size_t most,
                             lode_error *error);
/* The key stays where it is; longer values are cut at 95 bytes. */
__attribute__((format(printf, 3, 4))) void lode_facts_add(struct lode_facts *facts, const char *key,
                                                          const char *format, ...);
/* A moment, in nanoseconds since the epoch. */
void lode_facts_add_time(struct lode_facts *facts, const char *key, uint64_t time);
lode_status lode_facts_end(const struct lode_facts *facts, lode_error *error);

#endif
