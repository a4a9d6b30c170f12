/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs nodes from the root down. What lies below a pair is pooled by key: first the children of
 * its nodes; then, as long as both sides have something left, nodes without a counterpart are
 * looked through: their children are pooled too, as if they were inlined. Every node is pooled
 * once.
 */
#include "analysis/compare/pair.h"

#include "analysis/compare/align.h"
#include "base/error.h"
#include "base/memory/map.h"
#include <stdlib.h>
#include <string.h>

#define NONE LODE_NO_NUMBER

enum {
    SINGLE_ROUNDS = 16 /* in which only nodes with a hit are looked through, per pair */
};

/* The newest slot of a key, and the pair in question when it was made. */
struct newest {
    uint32_t stamp, slot;
};

struct range {
    uint32_t next, end;
};

struct pool {
    struct lode_pairing *pairing;
    struct newest *newest;                  /* by key */
    unsigned char *is_expanded[LODE_SIDES]; /* by node: its children were pooled */
    struct lode_array slots;                /* struct lode_slot: of the current pair */
    struct lode_array pooled;               /* struct fresh: all nodes, parents before children */
    struct lode_array fresh;                /* struct fresh: those that may be looked through */
    struct lode_map kept;                   /* by parent and key: pairs of one side */
    struct lode_array hits;                 /* struct hit */
    struct lode_array ranges;               /* struct range: pairs whose children are not pooled */
    uint32_t stamp;                         /* of the current pair */
    uint32_t round;
    uint32_t left[LODE_SIDES]; /* slots of one side only */
    lode_error *error;
};

/* A node that was pooled and not looked through. */
struct fresh {
    uint32_t side, node, slot;
};

/* A slot, looked through, has a child that would pair with another slot. */
struct hit {
    uint32_t through, target;
};

static struct lode_slot *slot_at(const struct pool *self, uint32_t index)
{
    return LODE_ARRAY_AT(&self->slots, struct lode_slot, index);
}

static uint32_t key_of(const struct pool *self, unsigned side, uint32_t node)
{
    return lode_side_node(&self->pairing->sides[side], node)->node.frame;
}

/* ---- pooling ---- */

/* The slot for a node: the newest of its key, unless that was paired in an earlier round. */
static struct lode_slot *find_slot(struct pool *self, uint32_t key)
{
    struct newest *newest = &self->newest[key];
    if (newest->stamp == self->stamp) {
        struct lode_slot *slot = slot_at(self, newest->slot);
        while (slot->is_dead)
            slot = slot_at(self, slot->joined);
        if (lode_slot_is_left(slot) || slot->paired_in == self->round)
            return slot;
    }
    struct lode_slot *slot = lode_array_push(&self->slots);
    if (slot == NULL)
        return NULL;
    *slot = (struct lode_slot){.key = key,
                               .members = {NONE, NONE},
                               .samples = {NONE, NONE},
                               .pair = NONE,
                               .below = NONE,
                               .renamed = NONE};
    *newest = (struct newest){self->stamp, (uint32_t)self->slots.count - 1};
    return slot;
}

static lode_status pool_node(struct pool *self, unsigned side, uint32_t node)
{
    struct lode_slot *slot = find_slot(self, key_of(self, side, node));
    struct fresh *pooled = slot ? lode_array_push(&self->pooled) : NULL;
    struct fresh *fresh = slot && self->round > 1 ? lode_array_push(&self->fresh) : NULL;
    LODE_TRY_ALLOC(pooled && (fresh || self->round == 1), self->error);
    *pooled = (struct fresh){side, node, (uint32_t)(slot - slot_at(self, 0))};
    if (fresh)
        *fresh = *pooled;
    bool was_left = lode_slot_is_left(slot), was_empty = slot->samples[0] == NONE && slot->samples[1] == NONE;
    self->pairing->next_member[side][node] = slot->members[side];
    if (slot->samples[side] == NONE)
        slot->samples[side] = node;
    slot->members[side] = node;
    if (was_empty) {
        self->left[side]++;
    } else if (was_left && !lode_slot_is_left(slot)) {
        slot->paired_in = self->round;
        self->left[1 - side]--;
    }
    return LODE_OK;
}

static lode_status pool_children(struct pool *self, unsigned side, uint32_t node)
{
    const struct lode_side *tree = &self->pairing->sides[side];
    if (self->is_expanded[side][node])
        return LODE_OK;
    self->is_expanded[side][node] = 1;
    for (uint32_t i = tree->first_child[node]; i < tree->first_child[node + 1]; i++)
        LODE_TRY(pool_node(self, side, tree->children[i]));
    return LODE_OK;
}

/* ---- looking through ---- */

/* The slot that a child of a node of one side would pair with; NONE if there is none. */
static uint32_t find_target(const struct pool *self, unsigned side, uint32_t child)
{
    uint32_t key = key_of(self, side, child);
    if (self->newest[key].stamp != self->stamp)
        return NONE;
    uint32_t index = self->newest[key].slot;
    const struct lode_slot *slot = slot_at(self, index);
    return lode_slot_is_left(slot) && slot->members[side] == NONE && !slot->is_through ? index : NONE;
}

static lode_status find_hits(struct pool *self, const struct fresh *fresh)
{
    const struct lode_side *tree = &self->pairing->sides[fresh->side];
    for (uint32_t i = tree->first_child[fresh->node]; i < tree->first_child[fresh->node + 1]; i++) {
        uint32_t target = find_target(self, fresh->side, tree->children[i]);
        if (target == NONE)
            continue;
        struct hit *hit = lode_array_push(&self->hits);
        LODE_TRY_ALLOC(hit, self->error);
        *hit = (struct hit){fresh->slot, target};
    }
    return LODE_OK;
}

static int compare_hits(const void *left, const void *right, void *argument)
{
    const struct pool *self = argument;
    const struct hit *a = left, *b = right;
    int result =
        lode_tree_keys_compare(self->pairing, slot_at(self, a->target)->key, slot_at(self, b->target)->key);
    if (result != 0)
        return result;
    return lode_tree_keys_compare(self->pairing, slot_at(self, a->through)->key,
                                  slot_at(self, b->through)->key);
}

/* What pairs with something inside a node that is looked through stays whole itself. */
static void accept_hits(struct pool *self)
{
    struct hit *hits = self->hits.items;
    qsort_r(hits, self->hits.count, sizeof *hits, compare_hits, self);
    for (size_t i = 0; i < self->hits.count; i++) {
        struct lode_slot *through = slot_at(self, hits[i].through), *target = slot_at(self, hits[i].target);
        if (through->is_target || target->is_through)
            continue;
        through->is_through = true;
        target->is_target = true;
    }
    for (size_t i = 0; i < self->slots.count; i++)
        slot_at(self, (uint32_t)i)->is_target = false;
}

static struct lode_slot *live_slot(const struct pool *self, uint32_t index)
{
    struct lode_slot *slot = slot_at(self, index);
    while (slot->is_dead)
        slot = slot_at(self, slot->joined);
    return slot;
}

/* Looks through nodes of slots that are marked; others stay fresh unless they are paired. */
static lode_status look_through(struct pool *self)
{
    size_t count = self->fresh.count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct fresh fresh = *LODE_ARRAY_AT(&self->fresh, struct fresh, i);
        struct lode_slot *slot = live_slot(self, fresh.slot);
        if (slot->is_through)
            LODE_TRY(pool_children(self, fresh.side, fresh.node));
        else if (lode_slot_is_left(slot))
            *LODE_ARRAY_AT(&self->fresh, struct fresh, kept++) = fresh;
    }
    struct fresh *items = self->fresh.items;
    memmove(items + kept, items + count, (self->fresh.count - count) * sizeof *items);
    self->fresh.count -= count - kept;
    return LODE_OK;
}

static bool has_fresh(const struct pool *self, bool *through)
{
    bool any = false;
    *through = false;
    for (size_t i = 0; i < self->fresh.count; i++) {
        const struct lode_slot *slot = live_slot(self, LODE_ARRAY_AT(&self->fresh, struct fresh, i)->slot);
        any = any || lode_slot_is_left(slot);
        *through = *through || slot->is_through;
    }
    return any;
}

/* Chooses what is looked through in this round: what has hits; else everything that is left. */
static lode_status choose(struct pool *self)
{
    self->hits.count = 0;
    for (size_t i = 0; self->round <= SINGLE_ROUNDS && i < self->fresh.count; i++) {
        const struct fresh *fresh = LODE_ARRAY_AT(&self->fresh, struct fresh, i);
        if (lode_slot_is_left(live_slot(self, fresh->slot)))
            LODE_TRY(find_hits(self, fresh));
    }
    if (self->hits.count > 0) {
        accept_hits(self);
        return LODE_OK;
    }
    for (size_t i = 0; i < self->fresh.count; i++) {
        struct lode_slot *slot = live_slot(self, LODE_ARRAY_AT(&self->fresh, struct fresh, i)->slot);
        slot->is_through = slot->is_through || lode_slot_is_left(slot);
    }
    return LODE_OK;
}

/* ---- pairs ---- */

static struct lode_pair *add_pair(struct pool *self, uint32_t parent, uint32_t key)
{
    struct lode_pair *pair = lode_array_push(&self->pairing->pairs);
    if (pair)
        *pair = (struct lode_pair){.parent = parent, .key = key, .members = {NONE, NONE}, .renamed = NONE};
    return pair;
}

static void take_member(struct pool *self, struct lode_pair *pair, unsigned side, uint32_t node)
{
    self->pairing->next_member[side][node] = pair->members[side];
    pair->members[side] = node;
    self->pairing->pair_of[side][node] = (uint32_t)(pair - lode_pair_at(self->pairing, 0));
}

/* The pair of a node of one side only: it stays below the pair of its parent. */
static lode_status keep_left(struct pool *self, struct lode_slot *slot, const struct fresh *node,
                             uint32_t process)
{
    struct lode_pairing *pairing = self->pairing;
    uint32_t above = lode_side_node(&pairing->sides[node->side], node->node)->node.parent;
    uint32_t parent = pairing->pair_of[node->side][above], index = (uint32_t)pairing->pairs.count;
    bool added = slot->below == NONE;
    uint32_t *known = &slot->below;
    if (parent != process)
        known = lode_map_add(&self->kept, (uint64_t)parent << 32 | slot->key, index, &added);
    LODE_TRY_ALLOC(known, self->error);
    if (added) {
        LODE_TRY_ALLOC(add_pair(self, parent, slot->key), self->error);
        *known = index;
        slot->pairs++;
    }
    take_member(self, lode_pair_at(pairing, *known), node->side, node->node);
    if (slot->pair == NONE)
        slot->pair = *known;
    return LODE_OK;
}

static lode_status keep_paired(struct pool *self, struct lode_slot *slot, uint32_t parent)
{
    struct lode_pair *pair = add_pair(self, parent, slot->key);
    LODE_TRY_ALLOC(pair, self->error);
    slot->pair = (uint32_t)self->pairing->pairs.count - 1;
    pair->marks = slot->is_simple ? LODE_MATCHED_SIMPLE : 0;
    for (unsigned side = 0; side < LODE_SIDES; side++)
        for (uint32_t node = slot->members[side], next; node != NONE; node = next) {
            next = self->pairing->next_member[side][node];
            take_member(self, pair, side, node);
        }
    return LODE_OK;
}

static void note_renamed(struct pool *self)
{
    for (uint32_t i = 0; i < self->slots.count; i++) {
        const struct lode_slot *slot = slot_at(self, i);
        /* Under several parents, it is not clear which one is meant. */
        if (slot->renamed == NONE || slot->pairs != 1 || slot_at(self, slot->renamed)->pairs != 1)
            continue;
        struct lode_pair *pair = lode_pair_at(self->pairing, slot->pair);
        pair->renamed = slot_at(self, slot->renamed)->pair;
        pair->marks |= LODE_PERHAPS_RENAMED;
    }
}

/* Nodes of one side are in the order in which they were pooled: parents have their pair first. */
static lode_status keep_slots(struct pool *self, uint32_t parent)
{
    for (uint32_t i = 0; i < self->slots.count; i++) {
        struct lode_slot *slot = slot_at(self, i);
        if (!slot->is_dead && !lode_slot_is_left(slot))
            LODE_TRY(keep_paired(self, slot, parent));
    }
    for (size_t i = 0; i < self->pooled.count; i++) {
        const struct fresh *node = LODE_ARRAY_AT(&self->pooled, struct fresh, i);
        struct lode_slot *slot = slot_at(self, node->slot);
        if (lode_slot_is_left(slot))
            LODE_TRY(keep_left(self, slot, node, parent));
    }
    note_renamed(self);
    return LODE_OK;
}

static lode_status make_fresh(struct pool *self)
{
    for (size_t i = 0; i < self->pooled.count; i++) {
        struct fresh *fresh = lode_array_push(&self->fresh);
        LODE_TRY_ALLOC(fresh, self->error);
        *fresh = *LODE_ARRAY_AT(&self->pooled, struct fresh, i);
    }
    return LODE_OK;
}

/* Looks through until one side has nothing left, or nothing can be looked through. */
static lode_status look_deeper(struct pool *self)
{
    bool through = false;
    LODE_TRY(make_fresh(self));
    while (has_fresh(self, &through) || through) {
        bool both = self->left[0] > 0 && self->left[1] > 0;
        if (!both && !through)
            break;
        self->round++;
        if (both)
            LODE_TRY(choose(self));
        LODE_TRY(look_through(self));
        struct lode_aligner aligner = {self->pairing, &self->slots, self->round, self->left};
        if (self->left[0] > 0 && self->left[1] > 0)
            LODE_TRY(lode_align(&aligner, self->error));
    }
    return LODE_OK;
}

static lode_status process(struct pool *self, uint32_t index)
{
    self->stamp++;
    self->round = 1;
    self->slots.count = self->fresh.count = self->pooled.count = 0;
    self->left[0] = self->left[1] = 0;
    for (unsigned side = 0; side < LODE_SIDES; side++)
        for (uint32_t node = lode_pair_at(self->pairing, index)->members[side]; node != NONE;
             node = self->pairing->next_member[side][node])
            LODE_TRY(pool_children(self, side, node));
    struct lode_aligner aligner = {self->pairing, &self->slots, self->round, self->left};
    if (self->left[0] > 0 && self->left[1] > 0)
        LODE_TRY(lode_align(&aligner, self->error));
    if (self->left[0] > 0 && self->left[1] > 0)
        LODE_TRY(look_deeper(self));
    LODE_TRY(lode_find_renamed(&aligner, self->error));
    return keep_slots(self, index);
}

/* Depth first: nodes of both sides are in that order, so what a pair needs is near in memory. */
static lode_status descend(struct pool *self)
{
    size_t before = 1;
    while (before < self->pairing->pairs.count || self->ranges.count > 0) {
        if (before < self->pairing->pairs.count) {
            struct range *range = lode_array_push(&self->ranges);
            LODE_TRY_ALLOC(range, self->error);
            *range = (struct range){(uint32_t)before, (uint32_t)self->pairing->pairs.count};
        }
        struct range *range = LODE_ARRAY_AT(&self->ranges, struct range, self->ranges.count - 1);
        uint32_t next = range->next++;
        if (range->next == range->end)
            lode_array_pop(&self->ranges);
        before = self->pairing->pairs.count;
        LODE_TRY(process(self, next));
    }
    return LODE_OK;
}

static lode_status pair_all(struct pool *self)
{
    struct lode_pairing *pairing = self->pairing;
    size_t keys = pairing->keys->items.count;
    self->newest = calloc(keys + 1, sizeof *self->newest);
    pairing->simple_of = malloc((keys + 1) * sizeof *pairing->simple_of);
    LODE_TRY_ALLOC(self->newest && pairing->simple_of, self->error);
    memset(pairing->simple_of, 0xff, (keys + 1) * sizeof *pairing->simple_of);
    for (unsigned side = 0; side < LODE_SIDES; side++) {
        size_t count = pairing->sides[side].tree.count;
        self->is_expanded[side] = calloc(count, 1);
        pairing->next_member[side] = calloc(count, sizeof(uint32_t));
        pairing->pair_of[side] = calloc(count, sizeof(uint32_t));
        LODE_TRY_ALLOC(self->is_expanded[side] && pairing->next_member[side] && pairing->pair_of[side],
                       self->error);
        pairing->next_member[side][LODE_TREE_ROOT] = NONE;
    }
    struct lode_pair *root = add_pair(self, 0, NONE);
    LODE_TRY_ALLOC(root, self->error);
    root->members[0] = root->members[1] = LODE_TREE_ROOT;
    LODE_TRY(process(self, 0));
    return descend(self);
}

lode_status lode_pairing_make(struct lode_pairing *pairing, lode_error *error)
{
    struct pool self = {.pairing = pairing, .error = error};
    lode_array_init(&pairing->pairs, sizeof(struct lode_pair), NONE - 1);
    lode_array_init(&self.slots, sizeof(struct lode_slot), NONE - 1);
    lode_array_init(&self.fresh, sizeof(struct fresh), SIZE_MAX);
    lode_array_init(&self.pooled, sizeof(struct fresh), SIZE_MAX);
    lode_map_init(&self.kept);
    lode_array_init(&self.hits, sizeof(struct hit), SIZE_MAX);
    lode_array_init(&self.ranges, sizeof(struct range), SIZE_MAX);
    lode_status status = pair_all(&self);
    lode_array_free(&self.slots);
    lode_array_free(&self.fresh);
    lode_array_free(&self.pooled);
    lode_map_free(&self.kept);
    lode_array_free(&self.hits);
    lode_array_free(&self.ranges);
    free(self.newest);
    free(self.is_expanded[0]);
    free(self.is_expanded[1]);
    return status;
}

void lode_pairing_free(struct lode_pairing *pairing)
{
    lode_array_free(&pairing->pairs);
    free(pairing->simple_of);
    for (unsigned side = 0; side < LODE_SIDES; side++) {
        free(pairing->next_member[side]);
        free(pairing->pair_of[side]);
    }
}
