/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts loops among the scopes of offsets. */
#include "structure.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHAIN_MOST = 1024 /* scopes around an offset */
};

/* ---- equal scopes are one ---- */

static size_t hash_of(const struct scope *scope)
{
    uint64_t hash = scope->parent;
    hash = (hash ^ scope->kind) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ scope->file) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 29 ^ scope->line ^ (uint64_t)scope->name << 32) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(hash ^ hash >> 31 ^ scope->address);
}

static bool is_same(const struct scope *a, const struct scope *b)
{
    bool is_function = a->kind == SYMBOLS_FUNCTION || a->kind == SYMBOLS_INLINED;
    return a->parent == b->parent && a->kind == b->kind && a->name == b->name && a->file == b->file &&
           a->line == b->line && a->address == b->address && (!is_function || a->function == b->function);
}

static void place(struct structure *structure, const struct answers *answers, uint32_t number)
{
    size_t mask = structure->slot_count - 1, at = hash_of(&answers->scopes[number]) & mask;
    while (structure->slots[at] != 0)
        at = (at + 1) & mask;
    structure->slots[at] = number + 1;
}

static void make_room(struct structure *structure, const struct answers *answers)
{
    uint32_t *old = structure->slots;
    size_t count = structure->slot_count;
    if (2 * (structure->slot_used + 1) < count)
        return;
    structure->slot_count = count ? 2 * count : 1024;
    structure->slots = must_grow(NULL, structure->slot_count, sizeof *structure->slots);
    memset(structure->slots, 0, structure->slot_count * sizeof *structure->slots);
    for (size_t i = 0; i < count; i++)
        if (old[i])
            place(structure, answers, old[i] - 1);
    free(old);
}

static uint32_t intern(struct structure *structure, struct answers *answers, struct scope scope)
{
    make_room(structure, answers);
    size_t mask = structure->slot_count - 1, at = hash_of(&scope) & mask;
    for (; structure->slots[at] != 0; at = (at + 1) & mask)
        if (is_same(&answers->scopes[structure->slots[at] - 1], &scope))
            return structure->slots[at] - 1;
    structure->slot_used++;
    if (scope.kind != SYMBOLS_FUNCTION && scope.kind != SYMBOLS_INLINED)
        scope.function = SYMBOLS_NONE; /* only functions are distinguished by it */
    uint32_t number = answers_scope(answers, scope);
    structure->slots[at] = number + 1;
    return number;
}

/* ---- functions ---- */

static struct found_function *function_at(const struct structure *structure, uint64_t address)
{
    const struct extent *extent = image_extent(&structure->image, address);
    uint32_t number = extent ? structure->function_of[extent - structure->image.extents] : 0;
    return number ? &structure->functions[number - 1] : NULL;
}

/*
 * A function begins where its hot part does. Debug information may have a cold part first, or, of a
 * function with several ranges, no begin at all.
 */
static void correct_address(const struct structure *structure, struct scope *scope, uint64_t offset)
{
    const struct found_function *function = function_at(structure, offset);
    if (function == NULL || scope->address == function->extent->start)
        return;
    if (scope->address == 0 || function_at(structure, scope->address) == function)
        scope->address = function->extent->start;
}

/* The scope of a function that begins at its extent; `known`: a scope of it that may be that. */
static uint32_t scope_of(struct structure *structure, struct answers *answers, uint64_t offset,
                         uint32_t known)
{
    struct found_function *function = function_at(structure, offset);
    if (function == NULL)
        return known;
    bool is_part = function->extent != image_extent(&structure->image, offset);
    /* Debug information knows parts; symbols do not. */
    if (known != SYMBOLS_NONE && (answers->scopes[known].file != SYMBOLS_NONE || !is_part)) {
        if (!is_part && function->scope == SYMBOLS_NONE)
            function->scope = known;
        return known;
    }
    if (function->scope == SYMBOLS_NONE)
        function->scope =
            answers_scope(answers, (struct scope){.parent = SYMBOLS_NONE,
                                                  .name = answers_string(answers, function->extent->name),
                                                  .file = SYMBOLS_NONE,
                                                  .function = SYMBOLS_NONE,
                                                  .address = function->extent->start,
                                                  .kind = SYMBOLS_FUNCTION});
    return function->scope;
}

/* Functions of symbols, first those of the extents that begin functions: parts refer to them. */
static void name_functions(struct structure *structure, struct answers *answers)
{
    for (unsigned parts = 0; parts < 2; parts++)
        for (uint32_t i = 0; i < answers->count; i++) {
            struct found *found = &answers->found[i];
            uint32_t scope = found->scope;
            const struct found_function *function = function_at(structure, answers->offsets[i]);
            bool is_part =
                function && function->extent != image_extent(&structure->image, answers->offsets[i]);
            if (is_part == (parts == 1) &&
                (scope == SYMBOLS_NONE || answers->scopes[scope].parent == SYMBOLS_NONE))
                found->scope = scope_of(structure, answers, answers->offsets[i], scope);
        }
}

/* ---- chains ---- */

/* The loop and those around it, from the outermost in, without those that are merged. */
static uint32_t nest_of(const struct structure *structure, uint32_t loop, uint32_t nest[CHAIN_MOST])
{
    uint32_t count = 0;
    for (; loop != NO_INDEX && count < CHAIN_MOST; loop = structure->loops[loop].parent)
        if (structure->loops[loop].merged_to == loop)
            nest[count++] = loop;
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t swapped = nest[i];
        nest[i] = nest[count - 1 - i];
        nest[count - 1 - i] = swapped;
    }
    return count;
}

static uint32_t add_loop(struct structure *structure, struct answers *answers, uint32_t parent, uint32_t loop)
{
    const struct found_loop *found = &structure->loops[loop];
    return intern(structure, answers,
                  (struct scope){.parent = parent,
                                 .name = SYMBOLS_NONE,
                                 .file = found->file,
                                 .line = found->line,
                                 .function = SYMBOLS_NONE,
                                 .address = found->address,
                                 .kind = SYMBOLS_LOOP});
}

/* The innermost scope of an offset, with loops after the frames that have them. */
static uint32_t rebuild(struct structure *structure, struct answers *answers, uint64_t offset, uint32_t scope,
                        uint32_t innermost)
{
    uint32_t nest[CHAIN_MOST], chain[CHAIN_MOST], count = 0, loop = 0;
    uint32_t loops = nest_of(structure, innermost, nest);
    for (uint32_t at = scope; at != SYMBOLS_NONE && count < CHAIN_MOST; at = answers->scopes[at].parent)
        chain[count++] = at;
    if (count == CHAIN_MOST || count == 0)
        return scope;
    uint32_t made = chain[count - 1];
    correct_address(structure, &answers->scopes[made], offset);
    for (uint32_t i = count; i-- > 0;) {
        struct scope one = answers->scopes[chain[i]];
        if (i + 1 < count) {
            one.parent = made;
            made = intern(structure, answers, one);
        }
        bool is_outermost = i + 1 == count;
        for (; loop < loops; loop++) {
            uint32_t frame = structure->loops[nest[loop]].frame;
            if (frame != chain[i] && !(is_outermost && frame == SYMBOLS_NONE))
                break;
            made = add_loop(structure, answers, made, nest[loop]);
        }
    }
    return made;
}

void structure_apply(struct structure *structure, struct answers *answers)
{
    if (!structure->is_open)
        return;
    name_functions(structure, answers);
    structure_place_loops(structure, answers);
    uint32_t last_scope = SYMBOLS_NONE, last_loop = NO_INDEX, made = SYMBOLS_NONE;
    for (uint32_t i = 0; i < answers->count; i++) {
        uint32_t *scope = &answers->found[i].scope;
        if (answers->is_extra[i])
            continue;
        /* Instructions that follow each other often have the same, in one loop. */
        uint32_t loop = structure_loop(structure, answers->offsets[i]);
        if (loop == NO_INDEX || loop != last_loop || *scope != last_scope) {
            last_scope = *scope;
            last_loop = loop;
            made = rebuild(structure, answers, answers->offsets[i], *scope, loop);
        }
        *scope = made;
    }
}
