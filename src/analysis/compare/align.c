/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/compare/align.h"

#include "analysis/compare/callees.h"
#include "base/compare.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

#define NONE LODE_NO_NUMBER

enum {
    LOOPS_MAX = 64,     /* that are looked into at once */
    VISITED_MAX = 1024, /* nodes that are looked at for them */
    ALIGNED_MAX = 256,  /* loops of a side under one parent */
    LEFT_MAX = 4096     /* slots that are compared with each other */
};

/* A slot that is left, and what it calls. */
struct candidate {
    uint32_t slot, side;
    uint32_t line;
    struct lode_callees callees;
};

static struct lode_slot *slot_at(const struct lode_aligner *self, uint32_t index)
{
    return LODE_ARRAY_AT(self->slots, struct lode_slot, index);
}

static const struct lode_tree_key *key_at(const struct lode_pairing *pairing, uint32_t key)
{
    return LODE_ARRAY_AT(&pairing->keys->items, struct lode_tree_key, key);
}

int lode_tree_keys_compare(const struct lode_pairing *pairing, uint32_t a, uint32_t b)
{
    const struct lode_tree_key *x = key_at(pairing, a), *y = key_at(pairing, b);
    const struct lode_strings *strings = &pairing->names->strings;
    if (a == b)
        return 0;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int result = strcmp(lode_strings_at(strings, x->name), lode_strings_at(strings, y->name));
    if (result == 0)
        result = strcmp(lode_strings_at(strings, x->file), lode_strings_at(strings, y->file));
    return result != 0 ? result : LODE_COMPARE(x->line, y->line);
}

static void join(const struct lode_aligner *self, uint32_t a, uint32_t b, bool is_simple)
{
    struct lode_slot *base = slot_at(self, a), *other = slot_at(self, b);
    base->members[LODE_NEW] = other->members[LODE_NEW];
    base->samples[LODE_NEW] = other->samples[LODE_NEW];
    base->paired_in = self->round;
    base->is_simple = is_simple;
    other->members[LODE_NEW] = NONE;
    other->is_dead = true;
    other->joined = a;
    self->left[LODE_BASE]--;
    self->left[LODE_NEW]--;
}

/* ---- what a slot calls ---- */

/* Functions that a node calls, in its loops too. */
static void find_callees(const struct lode_aligner *self, struct candidate *candidate)
{
    const struct lode_side *side = &self->pairing->sides[candidate->side];
    uint32_t loops[LOOPS_MAX], depth = 0, visited = 0;
    uint32_t member = slot_at(self, candidate->slot)->members[candidate->side];
    while (visited < VISITED_MAX && (depth > 0 || member != NONE)) {
        uint32_t node = depth > 0 ? loops[--depth] : member;
        if (node == member)
            member = self->pairing->next_member[candidate->side][node];
        visited++;
        for (uint32_t i = side->first_child[node]; i < side->first_child[node + 1]; i++, visited++) {
            uint32_t child = side->children[i], key = lode_side_node(side, child)->node.frame;
            if (key_at(self->pairing, key)->kind == LODE_TREE_FUNCTION)
                lode_callees_add(&candidate->callees, key);
            else if (depth < LOOPS_MAX)
                loops[depth++] = child;
        }
    }
}

/* Jaccard's index of callees is at least a half. */
static bool is_alike(const struct lode_callees *a, const struct lode_callees *b)
{
    uint32_t i = 0, k = 0, both = 0;
    while (i < a->count && k < b->count) {
        uint32_t x = a->items[i], y = b->items[k];
        both += x == y;
        i += x <= y;
        k += y <= x;
    }
    return 2 * both >= a->count + b->count - both;
}

/* The slots that are left and were not looked through, of one kind; their number is limited. */
static lode_status find_left(const struct lode_aligner *self, uint32_t kind, bool with_through,
                             struct lode_array *out, lode_error *error)
{
    lode_array_init(out, sizeof(struct candidate), SIZE_MAX);
    for (uint32_t i = 0; i < self->slots->count; i++) {
        const struct lode_slot *slot = slot_at(self, i);
        if (!lode_slot_is_left(slot) || (slot->is_through && !with_through) ||
            key_at(self->pairing, slot->key)->kind != kind)
            continue;
        struct candidate *candidate = lode_array_push(out);
        LODE_TRY_ALLOC(candidate, error);
        candidate->slot = i;
        candidate->side = slot->members[LODE_BASE] == NONE;
        candidate->callees.file = key_at(self->pairing, slot->key)->file;
    }
    return LODE_OK;
}

/* ---- loops ---- */

/* An order that does not depend on numbers of slots. */
static int compare_keys_of(const struct lode_aligner *self, const struct candidate *a,
                           const struct candidate *b)
{
    return lode_tree_keys_compare(self->pairing, slot_at(self, a->slot)->key, slot_at(self, b->slot)->key);
}

static int compare_loops(const void *left, const void *right, void *argument)
{
    const struct candidate *a = left, *b = right;
    const struct lode_aligner *const *self = argument;
    if (a->callees.file != b->callees.file)
        return a->callees.file < b->callees.file ? -1 : 1;
    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return compare_keys_of(*self, a, b);
}

/*
 * The longest sequence of pairs of loops that are alike, both in the order of lines: lengths from
 * (i, k) to the ends.
 */
static void measure(const struct candidate *base, size_t base_count, const struct candidate *other,
                    size_t other_count, uint16_t *length)
{
    size_t row = other_count + 1;
    memset(length, 0, (base_count + 1) * row * sizeof *length);
    for (size_t i = base_count; i-- > 0;)
        for (size_t k = other_count; k-- > 0;) {
            uint16_t best = length[(i + 1) * row + k];
            best = length[i * row + k + 1] > best ? length[i * row + k + 1] : best;
            uint16_t with = (uint16_t)(length[(i + 1) * row + k + 1] + 1);
            length[i * row + k] = with > best && is_alike(&base[i].callees, &other[k].callees) ? with : best;
        }
}

/* Which of two loops to leave out, whichever side they are on. */
static bool is_first(const struct lode_aligner *self, const struct candidate *a, const struct candidate *b)
{
    return a->line != b->line ? a->line < b->line : compare_keys_of(self, a, b) < 0;
}

static void align_file(const struct lode_aligner *self, const struct candidate *base, size_t base_count,
                       const struct candidate *other, size_t other_count, uint16_t *length)
{
    size_t row = other_count + 1, i = 0, k = 0;
    measure(base, base_count, other, other_count, length);
    while (i < base_count && k < other_count) {
        uint16_t best = length[i * row + k], down = length[(i + 1) * row + k],
                 right = length[i * row + k + 1];
        if (length[(i + 1) * row + k + 1] + 1 == best && is_alike(&base[i].callees, &other[k].callees))
            join(self, base[i++].slot, other[k++].slot, false);
        else if (down != right)
            *(down > right ? &i : &k) += 1;
        else
            *(is_first(self, &base[i], &other[k]) ? &i : &k) += 1;
    }
}

static lode_status align_loops(const struct lode_aligner *self, lode_error *error)
{
    struct lode_array loops;
    lode_status status = find_left(self, LODE_TREE_LOOP, false, &loops, error);
    struct candidate *items = loops.items;
    uint16_t *length = NULL;
    if (status == LODE_OK && loops.count > 1)
        length = calloc((size_t)(ALIGNED_MAX + 1) * (ALIGNED_MAX + 1), sizeof *length);
    for (size_t i = 0; length && i < loops.count; i++) {
        const struct lode_slot *slot = slot_at(self, items[i].slot);
        items[i].line =
            lode_side_context(&self->pairing->sides[items[i].side], slot->samples[items[i].side])->line;
        find_callees(self, &items[i]);
    }
    if (length)
        qsort_r(items, loops.count, sizeof *items, compare_loops, &self);
    for (size_t begin = 0, middle, end; length && begin < loops.count; begin = end) {
        for (middle = begin; middle < loops.count &&
                             items[middle].callees.file == items[begin].callees.file &&
                             items[middle].side == LODE_BASE;)
            middle++;
        for (end = middle; end < loops.count && items[end].callees.file == items[begin].callees.file;)
            end++;
        if (middle > begin && end > middle && middle - begin <= ALIGNED_MAX && end - middle <= ALIGNED_MAX)
            align_file(self, items + begin, middle - begin, items + middle, end - middle, length);
    }
    if (status == LODE_OK && loops.count > 1 && length == NULL)
        status = lode_fail_memory(error);
    free(length);
    lode_array_free(&loops);
    return status;
}

/* ---- simple names ---- */

/* A function in the pool, by simple name. */
struct named {
    uint32_t simple, slot;
};

LODE_COMPARE_BY_2(compare_named, struct named, simple, slot);

static lode_status find_simple(const struct lode_aligner *self, uint32_t key, uint32_t *simple,
                               lode_error *error)
{
    char text[1024];
    struct lode_normalizer *names = self->pairing->names;
    uint32_t *known = &self->pairing->simple_of[key];
    if (*known == NONE) {
        const char *name = lode_strings_at(&names->strings, key_at(self->pairing, key)->name);
        bool fits = strnlen(name, sizeof text) < sizeof text &&
                    lode_normal_simple(name, text, sizeof text) < sizeof text;
        *known = key_at(self->pairing, key)->name;
        if (fits)
            LODE_TRY(lode_normal_text(names, text, known, error));
    }
    *simple = *known;
    return LODE_OK;
}

/* Joins the slots of one simple name if each side has one, and they are not the same. */
static void join_named(const struct lode_aligner *self, const struct named *items, size_t count)
{
    uint32_t found[LODE_SIDES] = {NONE, NONE};
    for (size_t i = 0; i < count; i++)
        for (unsigned side = 0; side < LODE_SIDES; side++) {
            if (slot_at(self, items[i].slot)->members[side] == NONE)
                continue;
            if (found[side] != NONE)
                return;
            found[side] = items[i].slot;
        }
    if (found[0] == NONE || found[1] == NONE || found[0] == found[1])
        return;
    if (!slot_at(self, found[0])->is_through && !slot_at(self, found[1])->is_through)
        join(self, found[0], found[1], true);
}

static lode_status align_names(const struct lode_aligner *self, lode_error *error)
{
    struct lode_array named;
    lode_status status = LODE_OK;
    lode_array_init(&named, sizeof(struct named), SIZE_MAX);
    for (uint32_t i = 0; i < self->slots->count && status == LODE_OK; i++) {
        const struct lode_slot *slot = slot_at(self, i);
        if (slot->is_dead || key_at(self->pairing, slot->key)->kind != LODE_TREE_FUNCTION)
            continue;
        struct named *item = lode_array_push(&named);
        status = item ? find_simple(self, slot->key, &item->simple, error) : lode_fail_memory(error);
        if (item)
            item->slot = i;
    }
    struct named *items = named.items;
    if (status == LODE_OK && named.count > 0)
        qsort(items, named.count, sizeof *items, compare_named);
    for (size_t begin = 0, end; status == LODE_OK && begin < named.count; begin = end) {
        for (end = begin; end < named.count && items[end].simple == items[begin].simple;)
            end++;
        join_named(self, items + begin, end - begin);
    }
    lode_array_free(&named);
    return status;
}

lode_status lode_align(const struct lode_aligner *self, lode_error *error)
{
    if (self->slots->count > LEFT_MAX)
        return LODE_OK;
    LODE_TRY(align_names(self, error));
    if (self->left[0] == 0 || self->left[1] == 0)
        return LODE_OK;
    return align_loops(self, error);
}

/* ---- perhaps renamed ---- */

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int result = lode_callees_compare(&a->callees, &b->callees);
    return result != 0 ? result : LODE_COMPARE(a->slot, b->slot);
}

static lode_status describe(const struct lode_aligner *self, struct candidate *candidate, lode_error *error)
{
    const struct lode_side *side = &self->pairing->sides[candidate->side];
    const lode_context *context =
        lode_side_context(side, slot_at(self, candidate->slot)->samples[candidate->side]);
    const lode_function *function = lode_context_function(context);
    find_callees(self, candidate);
    return lode_normal_file(self->pairing->names, lode_normalizer_tree(self->pairing->names, context),
                            function ? function->file : NULL, &candidate->callees.file, error);
}

lode_status lode_find_renamed(const struct lode_aligner *self, lode_error *error)
{
    struct lode_array left = {0};
    if (self->left[0] == 0 || self->left[1] == 0 || self->slots->count > LEFT_MAX)
        return LODE_OK;
    lode_status status = find_left(self, LODE_TREE_FUNCTION, true, &left, error);
    struct candidate *items = left.items;
    for (size_t i = 0; i < left.count && status == LODE_OK; i++)
        status = describe(self, &items[i], error);
    if (status == LODE_OK && left.count > 1)
        qsort(items, left.count, sizeof *items, compare_candidates);
    for (size_t begin = 0, end; status == LODE_OK && begin < left.count; begin = end) {
        for (end = begin;
             end < left.count && lode_callees_compare(&items[begin].callees, &items[end].callees) == 0;)
            end++;
        bool says_something = items[begin].callees.file != 0 || items[begin].callees.count > 0;
        if (end - begin != 2 || !says_something || items[begin].side == items[begin + 1].side)
            continue;
        slot_at(self, items[begin].slot)->renamed = items[begin + 1].slot;
        slot_at(self, items[begin + 1].slot)->renamed = items[begin].slot;
    }
    lode_array_free(&left);
    return status;
}
