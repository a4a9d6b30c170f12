/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unpacked chunks that the cursors of a recording share. A cursor owns one while it reads, and
 * returns it before its call ends. A few idle ones are cached, so that traces of one chunk unpack
 * it once, and memory does not grow with the number of open cursors.
 */
#ifndef LODE_ZORKA_PAYLOADS_H
#define LODE_ZORKA_PAYLOADS_H

#include "format/zorka/chunks/chunks.h"
#include <pthread.h>

enum {
    ZOR_IDLE_MAX = 8,
    ZOR_IDLE_BYTES = 2 * ZOR_CHUNK_MAX
};

struct zor_payload {
    struct lode_range bytes;
    struct zor_damage damage;
    uint32_t chunk; /* index among all chunks */
    struct zor_unpacker unpacker;
};

struct zor_payloads {
    pthread_mutex_t lock;
    struct zor_payload *idle[ZOR_IDLE_MAX]; /* the most recently returned one is last */
    size_t count, bytes;
};

/* NULL if out of memory. */
struct zor_payloads *lode_zor_payloads_new(void);
/* NULL is allowed. */
void lode_zor_payloads_free(struct zor_payloads *self);

/* The payload of a chunk. NULL if out of memory. MT: any thread. */
struct zor_payload *lode_zor_payload_take(struct zor_payloads *self, const struct zor_data *data,
                                          const struct zor_chunk *chunk, uint32_t index);
/* NULL is allowed. MT: any thread. */
void lode_zor_payload_give(struct zor_payloads *self, struct zor_payload *payload);

#endif
