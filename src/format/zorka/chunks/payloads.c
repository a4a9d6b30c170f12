/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/chunks/payloads.h"

#include <stdlib.h>
#include <string.h>

static void free_payload(struct zor_payload *payload)
{
    if (payload)
        lode_zor_unpacker_free(&payload->unpacker);
    free(payload);
}

struct zor_payloads *lode_zor_payloads_new(void)
{
    struct zor_payloads *self = calloc(1, sizeof *self);
    if (self)
        pthread_mutex_init(&self->lock, NULL);
    return self;
}

void lode_zor_payloads_free(struct zor_payloads *self)
{
    if (self == NULL)
        return;
    for (size_t i = 0; i < self->count; i++)
        free_payload(self->idle[i]);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Call this and the functions below with the lock held. */
static struct zor_payload *remove_at(struct zor_payloads *self, size_t at)
{
    struct zor_payload *payload = self->idle[at];
    self->count--;
    self->bytes -= payload->unpacker.capacity;
    memmove(&self->idle[at], &self->idle[at + 1], (self->count - at) * sizeof *self->idle);
    return payload;
}

/* The payload of a chunk, or else the oldest one if there are enough. */
static struct zor_payload *find(struct zor_payloads *self, uint32_t chunk)
{
    for (size_t i = self->count; i-- > 0;)
        if (self->idle[i]->chunk == chunk)
            return remove_at(self, i);
    return self->count == ZOR_IDLE_MAX ? remove_at(self, 0) : NULL;
}

struct zor_payload *lode_zor_payload_take(struct zor_payloads *self, const struct zor_data *data,
                                          const struct zor_chunk *chunk, uint32_t index)
{
    pthread_mutex_lock(&self->lock);
    struct zor_payload *payload = find(self, index);
    pthread_mutex_unlock(&self->lock);
    if (payload == NULL)
        payload = calloc(1, sizeof *payload);
    else if (payload->chunk == index)
        return payload;
    if (payload == NULL)
        return NULL;
    payload->chunk = index;
    if (lode_zor_unpack(&payload->unpacker, data, chunk, &payload->bytes, &payload->damage))
        return payload;
    free_payload(payload);
    return NULL;
}

/* Makes space for `bytes`: removes the oldest one if there would be too much, or returns NULL. */
static struct zor_payload *make_room(struct zor_payloads *self, size_t bytes)
{
    bool is_full = self->count == ZOR_IDLE_MAX || bytes > ZOR_IDLE_BYTES - self->bytes;
    return is_full ? remove_at(self, 0) : NULL;
}

void lode_zor_payload_give(struct zor_payloads *self, struct zor_payload *payload)
{
    struct zor_payload *old;
    if (payload == NULL)
        return;
    do {
        pthread_mutex_lock(&self->lock);
        old = make_room(self, payload->unpacker.capacity);
        if (old == NULL) {
            self->idle[self->count++] = payload;
            self->bytes += payload->unpacker.capacity;
        }
        pthread_mutex_unlock(&self->lock);
        free_payload(old);
    } while (old);
}
