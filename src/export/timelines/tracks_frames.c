/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of a timeline: stacks of a database at function level, made of its contexts; and all
 * frames in one order, for formats that have a table of them.
 */
#include "analysis/calls/calls.h"
#include "analysis/cost/key.h"
#include "base/error.h"
#include "export/timelines/tracks_parts.h"
#include <lode/private/call_events.h>
#include <stdlib.h>
#include <string.h>

/* ---- stacks ---- */

/* What makes a stack: its parent and its innermost frame. */
struct step {
    uint32_t parent, frame;
};

struct finding {
    struct lode_tracks *tracks;
    struct lode_keys keys;       /* of frames */
    struct lode_interner steps;  /* number plus 1 is the stack */
    struct lode_array functions; /* of frames */
};

static const char *label_of(struct lode_tracks *tracks, const lode_context *context)
{
    lode_name_form form = tracks->options.names;
    const lode_function *function = lode_context_function(context);
    size_t length = function ? lode_function_label_as(function, form, NULL, 0)
                             : lode_context_label_as(context, form, NULL, 0);
    char *text = lode_arena_alloc(&tracks->arena, length + 1, 1);
    if (text && function)
        lode_function_label_as(function, form, text, length + 1);
    else if (text)
        lode_context_label_as(context, form, text, length + 1);
    return text;
}

/* The frame of a context that begins a function; LODE_NO_INDEX if out of memory. */
static uint32_t frame_of(struct finding *self, const lode_context *context)
{
    bool added;
    struct lode_key key = lode_key_of_function(context);
    key.function = context->function; /* as recorded: equal records are two frames */
    uint32_t number = lode_keys_add(&self->keys, &key, &added);
    if (number == LODE_NO_INDEX || !added)
        return number;
    lode_function *frame = lode_array_push(&self->functions);
    if (frame == NULL)
        return LODE_NO_INDEX;
    const lode_function *function = lode_context_function(context);
    if (function)
        *frame = *function;
    else
        *frame = (lode_function){.module = context->module, .offset = context->offset};
    frame->index = frame->identity = number;
    frame->name = label_of(self->tracks, context);
    return frame->name ? number : LODE_NO_INDEX;
}

/* The stack of a frame on top of another stack; LODE_NO_NUMBER if out of memory. */
static uint32_t stack_on(struct finding *self, uint32_t parent, uint32_t frame)
{
    struct step step = {parent, frame};
    uint32_t number = frame == LODE_NO_INDEX ? LODE_NO_NUMBER : lode_interner_add(&self->steps, &step, NULL);
    return number == LODE_NO_NUMBER ? LODE_NO_NUMBER : number + 1;
}

static bool find(struct finding *self)
{
    struct lode_tracks *tracks = self->tracks;
    const struct lode_context_tree *tree = &tracks->options.db->tree;
    for (uint32_t i = 1; i < tree->count; i++) {
        const lode_context *context = &tree->nodes[i];
        uint32_t parent = tracks->stack_of[context->parent], stack = parent;
        if (begins_function(context) && context->lexical != LODE_LEXICAL_ENTRY)
            stack = stack_on(self, parent, frame_of(self, context));
        if (stack == LODE_NO_NUMBER)
            return false;
        tracks->stack_of[i] = stack;
    }
    /* Contexts that are not listed share a frame, which is the last. */
    lode_function *frame = lode_array_push(&self->functions);
    if (frame == NULL)
        return false;
    *frame = (lode_function){.index = (uint32_t)self->functions.count - 1, .name = "<unlisted context>"};
    tracks->unlisted = stack_on(self, 0, frame->index);
    return tracks->unlisted != LODE_NO_NUMBER;
}

static bool make_stacks(struct finding *self)
{
    struct lode_tracks *tracks = self->tracks;
    size_t count = self->steps.items.count + 1;
    tracks->stacks = calloc(count, sizeof *tracks->stacks);
    if (tracks->stacks == NULL)
        return false;
    for (size_t i = 1; i < count; i++) {
        const struct step *step = LODE_ARRAY_AT(&self->steps.items, struct step, i - 1);
        tracks->stacks[i] =
            (struct lode_track_stack){step->parent, tracks->stacks[step->parent].depth + 1, step->frame};
    }
    tracks->stack_count = (uint32_t)count;
    return true;
}

lode_status lode_tracks_find_stacks(struct lode_tracks *tracks, lode_error *error)
{
    struct finding self = {.tracks = tracks};
    lode_keys_init(&self.keys);
    lode_interner_init(&self.steps, sizeof(struct step));
    lode_array_init(&self.functions, sizeof(lode_function), UINT32_MAX - 1);
    tracks->stack_of = calloc((size_t)tracks->options.db->tree.count + 1, sizeof *tracks->stack_of);
    bool done = tracks->stack_of && find(&self) && make_stacks(&self);
    tracks->frames = self.functions.items;
    tracks->frame_count = (uint32_t)self.functions.count;
    lode_interner_free(&self.steps);
    lode_keys_free(&self.keys);
    return done ? LODE_OK : lode_fail_memory(error);
}

const lode_function *lode_tracks_stack(const struct lode_tracks *tracks, uint32_t stack, uint32_t *below)
{
    *below = tracks->stacks[stack].parent;
    return &tracks->frames[tracks->stacks[stack].frame];
}

/* ---- ranks ---- */

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
