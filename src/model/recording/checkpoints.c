/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recording/checkpoints.h"

#include "base/memory/array.h"
#include <stdlib.h>
#include <string.h>

struct lode_checkpoint_list {
    struct lode_array items; /* of struct lode_checkpoint *, by time */
    uint64_t sound;          /* until then */
};

struct lode_checkpoints *lode_checkpoints_open(uint32_t track_count)
{
    struct lode_checkpoints *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->tracks = calloc((size_t)track_count + 1, sizeof *self->tracks);
    if (self->tracks == NULL) {
        free(self);
        return NULL;
    }
    pthread_mutex_init(&self->lock, NULL);
    self->track_count = track_count;
    self->limit = LODE_CHECKPOINT_LIMIT;
    self->step = LODE_CHECKPOINT_STEP;
    for (uint32_t i = 0; i < track_count; i++)
        lode_array_init(&self->tracks[i].items, sizeof(struct lode_checkpoint *), UINT32_MAX);
    return self;
}

static struct lode_checkpoint *at(const struct lode_array *items, size_t index)
{
    return *LODE_ARRAY_AT(items, struct lode_checkpoint *, index);
}

void lode_checkpoints_close(struct lode_checkpoints *self)
{
    if (self == NULL)
        return;
    for (uint32_t i = 0; i < self->track_count; i++) {
        struct lode_array *items = &self->tracks[i].items;
        for (size_t k = 0; k < items->count; k++)
            free(at(items, k));
        lode_array_free(items);
    }
    pthread_mutex_destroy(&self->lock);
    free(self->tracks);
    free(self);
}

static void add(struct lode_checkpoints *self, struct lode_array *items, const struct lode_checkpoint *from)
{
    size_t size = sizeof *from + from->count * sizeof *from->calls;
    if ((items->count && at(items, items->count - 1)->time >= from->time) ||
        size + sizeof(void *) > self->limit - self->bytes)
        return;
    struct lode_checkpoint *copy = malloc(size);
    struct lode_checkpoint **added = copy ? lode_array_push(items) : NULL;
    if (added == NULL) {
        free(copy);
        return;
    }
    *added = memcpy(copy, from, size);
    self->bytes += size + sizeof(void *);
}

void lode_checkpoints_add(struct lode_checkpoints *self, uint32_t track, const struct lode_checkpoint *from)
{
    if (self == NULL || track >= self->track_count)
        return;
    pthread_mutex_lock(&self->lock);
    add(self, &self->tracks[track].items, from);
    pthread_mutex_unlock(&self->lock);
}

void lode_checkpoints_sound(struct lode_checkpoints *self, uint32_t track, uint64_t to)
{
    if (self == NULL || track >= self->track_count)
        return;
    pthread_mutex_lock(&self->lock);
    if (to > self->tracks[track].sound)
        self->tracks[track].sound = to;
    pthread_mutex_unlock(&self->lock);
}

const struct lode_checkpoint *lode_checkpoints_find(struct lode_checkpoints *self, uint32_t track,
                                                    uint64_t from, uint64_t to)
{
    if (self == NULL || track >= self->track_count)
        return NULL;
    pthread_mutex_lock(&self->lock);
    const struct lode_array *items = &self->tracks[track].items;
    size_t first = 0, end = to <= self->tracks[track].sound ? items->count : 0;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (at(items, middle)->time <= from)
            first = middle + 1;
        else
            end = middle;
    }
    const struct lode_checkpoint *found = first ? at(items, first - 1) : NULL;
    pthread_mutex_unlock(&self->lock);
    return found;
}
