/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which line a loop has, as hpcstruct decides it: the smallest one of the branches that leave it,
 * at the level of inlining that all of the loop has. A branch that is inlined deeper counts with
 * the line of its call. No loop has a larger line than one in it.
 */
#include "structure.h"

#include <string.h>

/* The function, or inlined function, of a scope. */
static uint32_t frame_of(const struct answers *answers, uint32_t scope)
{
    while (scope != SYMBOLS_NONE && answers->scopes[scope].kind == SYMBOLS_LINE)
        scope = answers->scopes[scope].parent;
    return scope;
}

/* The frame around a frame; SYMBOLS_NONE: it is a function. */
static uint32_t outer_frame(const struct answers *answers, uint32_t frame)
{
    return frame_of(answers, answers->scopes[frame].parent);
}

static uint32_t depth_of(const struct answers *answers, uint32_t frame)
{
    uint32_t depth = 0;
    for (; frame != SYMBOLS_NONE; frame = outer_frame(answers, frame))
        depth++;
    return depth;
}

/* The innermost frame around both; SYMBOLS_NONE: they are in different functions. */
static uint32_t common_frame(const struct answers *answers, uint32_t one, uint32_t other)
{
    if (one == other)
        return one;
    uint32_t depth = depth_of(answers, one), more = depth_of(answers, other);
    for (; depth > more; depth--)
        one = outer_frame(answers, one);
    for (; more > depth; more--)
        other = outer_frame(answers, other);
    while (one != other) {
        one = outer_frame(answers, one);
        other = outer_frame(answers, other);
    }
    return one;
}

static void join(const struct answers *answers, uint32_t *frame, bool *is_known, uint32_t other)
{
    *frame = *is_known ? common_frame(answers, *frame, other) : other;
    *is_known = true;
}

static void find_frames(struct structure *structure, const struct answers *answers)
{
    for (uint32_t i = 0; i < answers->count; i++) {
        uint32_t number = structure_loop(structure, answers->offsets[i]);
        if (number == NO_INDEX)
            continue;
        struct found_loop *loop = &structure->loops[number];
        join(answers, &loop->frame, &loop->has_frame, frame_of(answers, answers->found[i].scope));
    }
    for (size_t i = structure->loop_count; i-- > 0;) {
        const struct found_loop *loop = &structure->loops[i];
        if (loop->parent == NO_INDEX || !loop->has_frame)
            continue;
        struct found_loop *outer = &structure->loops[loop->parent];
        join(answers, &outer->frame, &outer->has_frame, loop->frame);
    }
}

/* The scope of a branch; SYMBOLS_NONE: unknown. */
static uint32_t scope_of_exit(const struct answers *answers, const struct found_exit *exit)
{
    uint32_t at;
    return answers_within(answers, exit->address, exit->address + 1, &at) ? answers->found[at].scope
                                                                          : SYMBOLS_NONE;
}

static void find_levels(struct structure *structure, const struct answers *answers)
{
    for (size_t i = 0; i < structure->exit_count; i++) {
        struct found_loop *loop = &structure->loops[structure->exits[i].loop];
        uint32_t scope = scope_of_exit(answers, &structure->exits[i]);
        if (scope != SYMBOLS_NONE)
            join(answers, &loop->level, &loop->has_level, frame_of(answers, scope));
    }
    for (size_t i = 0; i < structure->loop_count; i++)
        if (!structure->loops[i].has_level)
            structure->loops[i].level = structure->loops[i].frame;
}

/* ---- lines ---- */

static const char *base_name(const struct answers *answers, uint32_t file)
{
    const char *path = file == SYMBOLS_NONE ? "" : answers->strings[file], *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A branch's file and line, or those of the call that has it, in a frame. */
static const struct scope *line_in(const struct answers *answers, uint32_t scope, uint32_t frame)
{
    while (scope != SYMBOLS_NONE) {
        const struct scope *at = &answers->scopes[scope];
        if (at->kind == SYMBOLS_LINE && (frame == SYMBOLS_NONE || at->parent == frame))
            return at;
        scope = at->parent;
    }
    return NULL;
}

/* Branches in the function's own file come first; else the file of the first branch counts. */
static void use_exit(const struct answers *answers, struct found_loop *loop, const struct scope *line)
{
    const struct scope *frame = loop->level == SYMBOLS_NONE ? NULL : &answers->scopes[loop->level];
    uint32_t own = frame && frame->kind == SYMBOLS_FUNCTION ? frame->file : SYMBOLS_NONE;
    const char *wanted = base_name(answers, own), *file = base_name(answers, line->file);
    bool is_first = loop->file == SYMBOLS_NONE;
    bool is_own = own != SYMBOLS_NONE && strcmp(file, wanted) == 0;
    bool was_own = !is_first && own != SYMBOLS_NONE && strcmp(base_name(answers, loop->file), wanted) == 0;
    bool is_same = !is_first && strcmp(base_name(answers, loop->file), file) == 0;
    if (is_first || (is_own && !was_own)) {
        loop->file = line->file;
        loop->line = line->line;
    } else if (is_same && line->line < loop->line)
        loop->line = line->line;
}

static void use_exits(struct structure *structure, const struct answers *answers)
{
    for (size_t i = 0; i < structure->exit_count; i++) {
        struct found_loop *loop = &structure->loops[structure->exits[i].loop];
        uint32_t scope = scope_of_exit(answers, &structure->exits[i]);
        const struct scope *line = line_in(answers, scope, loop->level);
        if (line && line->file != SYMBOLS_NONE)
            use_exit(answers, loop, line);
    }
}

/* Children have larger numbers than parents. */
static void use_inner_loops(struct structure *structure, const struct answers *answers)
{
    for (size_t i = structure->loop_count; i-- > 0;) {
        struct found_loop *loop = &structure->loops[i];
        uint32_t parent = loop->parent;
        if (loop->file == SYMBOLS_NONE && loop->level != SYMBOLS_NONE)
            loop->file = answers->scopes[loop->level].file;
        if (parent == NO_INDEX || loop->file == SYMBOLS_NONE || loop->line == 0)
            continue;
        struct found_loop *outer = &structure->loops[parent];
        bool is_same = outer->level == loop->level &&
                       strcmp(base_name(answers, outer->file), base_name(answers, loop->file)) == 0;
        bool is_bare = outer->file == SYMBOLS_NONE && outer->level == loop->level;
        if (is_bare)
            outer->file = loop->file;
        if (is_bare || (is_same && loop->line < outer->line))
            outer->line = loop->line;
    }
}

/* An irreducible loop in one of the same line is a part of that: one loop with several entries. */
static void merge_loops(struct structure *structure)
{
    for (size_t i = 0; i < structure->loop_count; i++) {
        struct found_loop *loop = &structure->loops[i];
        if (loop->parent == NO_INDEX || !loop->is_irreducible)
            continue;
        uint32_t outer = structure->loops[loop->parent].merged_to;
        const struct found_loop *parent = &structure->loops[outer];
        if (parent->is_irreducible && parent->file == loop->file && parent->line == loop->line)
            loop->merged_to = outer;
    }
}

void structure_place_loops(struct structure *structure, const struct answers *answers)
{
    find_frames(structure, answers);
    find_levels(structure, answers);
    use_exits(structure, answers);
    use_inner_loops(structure, answers);
    merge_loops(structure);
}
