/* SPDX-License-Identifier: BSD-3-Clause */
/* All frames of a timeline in one order, for formats that have a table of them. */
#include "analysis/calls/calls.h"
#include "base/error.h"
#include "export/timelines/tracks_parts.h"
#include <lode/private/call_events.h>
#include <stdlib.h>
#include <string.h>

/* Frames that a lane came across, by their index. */
struct seen {
    const lode_function **items;
    size_t capacity;
};

struct search {
    struct seen all;
    bool failed;
};

static bool put(struct seen *seen, const lode_function *frame)
{
    if (frame->index >= seen->capacity) {
        if (!LODE_GROW_ZEROED(seen->items, seen->capacity, 2 * ((size_t)frame->index + 32)))
            return false;
    }
    seen->items[frame->index] = frame;
    return true;
}

static lode_status take(void *user, void *state, const struct lode_line *line, uint32_t track,
                        const lode_event *events, size_t count, struct lode_wire *out, lode_error *error)
{
    (void)user, (void)line, (void)track, (void)out;
    for (size_t i = 0; i < count; i++)
        if (lode_event_begins(&events[i]))
            LODE_TRY_ALLOC(put(state, events[i].function), error);
    return LODE_OK;
}

/* Called for one lane after the other. */
static void merge(void *user, void *state)
{
    struct search *search = user;
    struct seen *seen = state;
    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->items[i] && !put(&search->all, seen->items[i]))
            search->failed = true;
    free(seen->items);
}

static lode_status rank_them(struct lode_tracks *self, const struct seen *all, lode_error *error)
{
    self->by_rank = calloc(all->capacity + 1, sizeof *self->by_rank);
    self->ranks = calloc(all->capacity + 1, sizeof *self->ranks);
    LODE_TRY_ALLOC(self->by_rank && self->ranks, error);
    for (size_t i = 0; i < all->capacity; i++)
        if (all->items[i]) {
            self->ranks[i] = self->rank_count; /* of a database, the order of the tree */
            self->by_rank[self->rank_count++] = all->items[i];
        }
    if (self->options.db == NULL)
        LODE_TRY(lode_rank_functions(self->by_rank, self->rank_count, self->ranks, error));
    for (size_t i = 0; i < all->capacity; i++)
        if (all->items[i])
            self->by_rank[self->ranks[i]] = all->items[i];
    return LODE_OK;
}

lode_status lode_tracks_find_frames(struct lode_tracks *self, lode_error *error)
{
    struct search search = {0};
    struct lode_encoder encoder = {.alternates = true,
                                   .state_size = sizeof(struct seen),
                                   .user = &search,
                                   .take = take,
                                   .close = merge,
                                   .phase = "finding functions"};
    struct lode_tracks_counts counts;
    lode_status status = lode_tracks_run(self, &encoder, &counts, error);
    if (status == LODE_OK && search.failed)
        status = lode_fail_memory(error);
    if (status == LODE_OK)
        status = rank_them(self, &search.all, error);
    free(search.all.items);
    return status;
}

uint32_t lode_tracks_frame_count(const struct lode_tracks *self)
{
    return self->rank_count;
}

const lode_function *lode_tracks_frame(const struct lode_tracks *self, uint32_t rank)
{
    return self->by_rank[rank];
}

uint32_t lode_tracks_rank(const struct lode_tracks *self, const lode_function *frame)
{
    return self->ranks[frame->index];
}
