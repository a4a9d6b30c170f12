/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks the critical path of a request from its end, and adds up by function what it takes and what
 * it would save. A request is as deep as it likes: frames are on a stack of their own.
 */
#include "analysis/search/path.h"
#include "base/compare.h"
#include "base/error.h"
#include <stdlib.h>

/* A callee, cut at the part of its caller that is on the path. */
struct kid {
    uint64_t begin, end;
    uint32_t call;
};

struct frame {
    uint32_t call;  /* LODE_NO_CALL: what is around several outermost calls */
    uint32_t depth; /* callers */
    uint64_t from;  /* of the part that is on the path */
    uint64_t at;    /* the path is known from here on */
    size_t kids, next;
    /* It could be this much shorter until a callee beside it decides; then it is a scope. */
    uint64_t slack;
    bool is_scope;
    size_t outer; /* where the gains of the scope around it begin */
};

/* What the steps of a function would save, within a scope. */
struct gain {
    uint32_t slot;
    size_t before; /* gain_at of the scopes around */
    uint64_t amount;
};

/* ---- tallies ---- */

static bool make_room(struct lode_path_walk *walk, uint32_t slot)
{
    size_t count = walk->tally_count ? walk->tally_count : 256;
    while (count <= slot)
        count *= 2;
    return slot < walk->tally_count || LODE_GROW_ZEROED(walk->tallies, walk->tally_count, count);
}

static bool add_gain(struct lode_path_walk *walk, uint32_t slot, uint64_t amount)
{
    struct lode_path_tally *tally = &walk->tallies[slot];
    if (tally->gain_at > walk->scope) {
        LODE_ARRAY_AT(&walk->gains, struct gain, tally->gain_at - 1)->amount += amount;
        return true;
    }
    struct gain *gain = lode_array_push(&walk->gains);
    if (gain == NULL)
        return false;
    *gain = (struct gain){slot, tally->gain_at, amount};
    tally->gain_at = walk->gains.count;
    return true;
}

/* Gains of a scope are bounded by its slack, and become those of the scope around it. */
static bool close_scope(struct lode_path_walk *walk, const struct frame *frame)
{
    size_t begin = walk->scope, end = walk->gains.count;
    for (size_t i = end; i > begin; i--) {
        const struct gain *gain = LODE_ARRAY_AT(&walk->gains, struct gain, i - 1);
        walk->tallies[gain->slot].gain_at = gain->before;
    }
    /* Each is read before its place is taken. */
    walk->gains.count = begin;
    walk->scope = frame->outer;
    for (size_t i = begin; i < end; i++) {
        struct gain gain = *LODE_ARRAY_AT(&walk->gains, struct gain, i);
        uint64_t amount = gain.amount < frame->slack ? gain.amount : frame->slack;
        if (!add_gain(walk, gain.slot, amount))
            return false;
    }
    return true;
}

static bool add_step(struct lode_path_walk *walk, const struct frame *frame, uint64_t begin, uint64_t end)
{
    const struct lode_request_call *call =
        frame->call == LODE_NO_CALL ? NULL : lode_request_call_at(walk->request, frame->call);
    uint32_t slot = call ? call->function->index + 1 : 0;
    lode_path_step *step = lode_array_push(&walk->steps);
    if (step == NULL || !make_room(walk, slot))
        return false;
    *step = (lode_path_step){.function = call ? call->function : NULL,
                             .begin = begin,
                             .end = end,
                             .depth = frame->depth,
                             .has_failed = call && call->has_failed,
                             .track = call ? lode_request_track_of(walk->request, frame->call) : UINT32_MAX};
    struct lode_path_tally *tally = &walk->tallies[slot];
    tally->function = step->function;
    tally->steps++;
    tally->now += end - begin;
    return add_gain(walk, slot, end - begin);
}

/* ---- the path ---- */

/* The one that ends last first; of equal ones that which begins last. */
static int compare_kids(const void *left, const void *right)
{
    const struct kid *a = left, *b = right;
    if (a->end != b->end)
        return LODE_COMPARE(b->end, a->end);
    return a->begin != b->begin ? LODE_COMPARE(b->begin, a->begin) : LODE_COMPARE(b->call, a->call);
}

static bool list_kids(struct lode_path_walk *walk, uint32_t list, uint64_t from, uint64_t to)
{
    const struct lode_request *request = walk->request;
    size_t first = walk->kids.count;
    for (uint32_t i = request->first[list]; i != LODE_NO_CALL; i = request->next[i]) {
        const struct lode_request_call *call = lode_request_call_at(request, i);
        if (call->begin >= to || call->end <= from || call->end <= call->begin)
            continue;
        struct kid *kid = lode_array_push(&walk->kids);
        if (kid == NULL)
            return false;
        *kid = (struct kid){call->begin > from ? call->begin : from, call->end < to ? call->end : to, i};
    }
    if (walk->kids.count - first > 1)
        qsort(LODE_ARRAY_AT(&walk->kids, struct kid, first), walk->kids.count - first, sizeof(struct kid),
              compare_kids);
    return true;
}

static struct frame *push(struct lode_path_walk *walk, uint32_t call, uint64_t from, uint64_t to)
{
    uint32_t list = call == LODE_NO_CALL ? lode_request_count(walk->request) : call;
    size_t kids = walk->kids.count;
    struct frame *frame = list_kids(walk, list, from, to) ? lode_array_push(&walk->frames) : NULL;
    if (frame)
        *frame = (struct frame){.call = call, .from = from, .at = to, .kids = kids, .next = kids};
    return frame;
}

/* Follows the next callee of the innermost frame; false at the end of them, or without memory. */
static bool follow(struct lode_path_walk *walk, bool *has_memory)
{
    struct frame *frame = LODE_ARRAY_AT(&walk->frames, struct frame, walk->frames.count - 1);
    const struct kid *kids = walk->kids.items;
    while (frame->next < walk->kids.count && kids[frame->next].end > frame->at)
        frame->next++; /* it ran beside one that was followed */
    if (frame->next == walk->kids.count)
        return false;
    struct kid kid = kids[frame->next++];
    uint64_t other = frame->next < walk->kids.count ? kids[frame->next].end : 0;
    uint32_t depth = frame->depth + (frame->call != LODE_NO_CALL);
    *has_memory = frame->at == kid.end || add_step(walk, frame, kid.end, frame->at);
    frame->at = kid.begin;
    struct frame *callee = *has_memory ? push(walk, kid.call, kid.begin, kid.end) : NULL;
    *has_memory = callee != NULL;
    if (callee == NULL)
        return false;
    callee->depth = depth;
    callee->outer = walk->scope;
    callee->is_scope = other > kid.begin;
    if (callee->is_scope) {
        callee->slack = kid.end - other;
        walk->scope = walk->gains.count;
    }
    return true;
}

/* The begin of the innermost call is reached. */
static bool pop(struct lode_path_walk *walk)
{
    struct frame frame = *LODE_ARRAY_AT(&walk->frames, struct frame, walk->frames.count - 1);
    if (frame.at > frame.from && !add_step(walk, &frame, frame.from, frame.at))
        return false;
    walk->kids.count = frame.kids;
    lode_array_pop(&walk->frames);
    return !frame.is_scope || close_scope(walk, &frame);
}

/* The outermost call, or what is around several. */
static bool push_root(struct lode_path_walk *walk)
{
    const struct lode_request *request = walk->request;
    uint32_t first = request->first[lode_request_count(request)];
    if (first == LODE_NO_CALL)
        return true;
    bool is_one = request->next[first] == LODE_NO_CALL;
    uint64_t from = UINT64_MAX, to = 0;
    for (uint32_t i = first; i != LODE_NO_CALL; i = request->next[i]) {
        const struct lode_request_call *call = lode_request_call_at(request, i);
        from = call->begin < from ? call->begin : from;
        to = call->end > to ? call->end : to;
    }
    walk->time += to - from;
    return push(walk, is_one ? first : LODE_NO_CALL, from, to) != NULL;
}

static void begin(struct lode_path_walk *walk, const struct lode_request *request)
{
    if (walk->steps.item_size == 0) {
        lode_array_init(&walk->steps, sizeof(lode_path_step), SIZE_MAX);
        lode_array_init(&walk->frames, sizeof(struct frame), SIZE_MAX);
        lode_array_init(&walk->kids, sizeof(struct kid), SIZE_MAX);
        lode_array_init(&walk->gains, sizeof(struct gain), SIZE_MAX);
    }
    walk->request = request;
    walk->requests++;
    walk->scope = 0;
    walk->steps.count = walk->frames.count = walk->kids.count = walk->gains.count = 0;
}

static void add_request(struct lode_path_walk *walk)
{
    for (size_t i = 0; i < walk->gains.count; i++) {
        const struct gain *gain = LODE_ARRAY_AT(&walk->gains, struct gain, i);
        struct lode_path_tally *tally = &walk->tallies[gain->slot];
        tally->requests++;
        tally->time += tally->now;
        tally->max = tally->now > tally->max ? tally->now : tally->max;
        tally->saves += gain->amount;
        tally->now = 0;
        tally->gain_at = 0;
    }
}

lode_status lode_path_walk_take(struct lode_path_walk *walk, const struct lode_request *request,
                                lode_error *error)
{
    begin(walk, request);
    bool has_memory = push_root(walk);
    while (has_memory && walk->frames.count > 0)
        if (!follow(walk, &has_memory) && has_memory)
            has_memory = pop(walk);
    LODE_TRY_ALLOC(has_memory, error);
    add_request(walk);
    return LODE_OK;
}

void lode_path_walk_free(struct lode_path_walk *walk)
{
    lode_array_free(&walk->steps);
    lode_array_free(&walk->frames);
    lode_array_free(&walk->kids);
    lode_array_free(&walk->gains);
    free(walk->tallies);
}
