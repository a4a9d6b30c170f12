/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/branches.h"

#include "alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of three columns may take this many bytes. */
#define PIECE_SIZE 9

static const struct pieces {
    const char *on, *none, *fork, *end, *deeper;
} utf8_pieces = {"│ ", "  ", "├─", "└─", "⋯"}, ascii_pieces = {"| ", "  ", "|-", "`-", "+"};

unsigned branches_deepest(const lode_view *view)
{
    unsigned depth = 0;
    for (size_t i = 0; i < lode_view_count(view); i++)
        if (lode_view_at(view, i)->depth > depth)
            depth = lode_view_at(view, i)->depth;
    return depth;
}

/* From the end: a row is the last of its siblings if none was met since a row above their depth. */
static void find_last(branches *b, size_t count, unsigned depth_count)
{
    unsigned char *is_met = alloc_array(depth_count, 1);
    unsigned met_depth = 0;
    for (size_t i = count; i-- > 0;) {
        unsigned depth = b->depths[i];
        for (; met_depth > depth; met_depth--)
            is_met[met_depth] = 0;
        b->is_last[i] = !is_met[depth];
        is_met[depth] = 1;
        met_depth = depth;
    }
    free(is_met);
}

void branches_init_depths(branches *b, const unsigned *depths, size_t count, unsigned max_levels, int is_utf8)
{
    unsigned deepest = 0;
    *b = (branches){.max_levels = max_levels, .is_utf8 = is_utf8};
    b->depths = alloc_array(count + 1, sizeof *b->depths);
    for (size_t i = 0; i < count; i++) {
        b->depths[i] = depths[i];
        deepest = depths[i] > deepest ? depths[i] : deepest;
    }
    b->is_last = alloc_array(count + 1, 1);
    b->goes_on = alloc_array((size_t)deepest + 1, 1);
    b->text_capacity = (size_t)(max_levels + 2) * PIECE_SIZE + 32;
    b->text = alloc_array(b->text_capacity, 1);
    find_last(b, count, deepest + 1);
}

void branches_init(branches *b, const lode_view *view, unsigned max_levels, int is_utf8)
{
    size_t count = lode_view_count(view);
    unsigned *depths = alloc_array(count + 1, sizeof *depths);
    for (size_t i = 0; i < count; i++)
        depths[i] = lode_view_at(view, i)->depth;
    branches_init_depths(b, depths, count, max_levels, is_utf8);
    free(depths);
}

const char *branches_of(branches *b, size_t index)
{
    const struct pieces *pieces = b->is_utf8 ? &utf8_pieces : &ascii_pieces;
    unsigned depth = b->depths[index];
    unsigned drawn = depth < b->max_levels ? depth : b->max_levels;
    size_t used = 0;
    b->text[0] = '\0';
    b->goes_on[depth] = !b->is_last[index];
    for (unsigned level = 1; level <= drawn; level++) {
        const char *piece = level < depth       ? (b->goes_on[level] ? pieces->on : pieces->none)
                            : b->is_last[index] ? pieces->end
                                                : pieces->fork;
        used += (size_t)snprintf(b->text + used, b->text_capacity - used, "%s", piece);
    }
    if (depth > drawn)
        snprintf(b->text + used, b->text_capacity - used, "%s%u", pieces->deeper, depth - drawn);
    return b->text;
}

void branches_free(branches *b)
{
    free(b->depths);
    free(b->is_last);
    free(b->goes_on);
    free(b->text);
}
