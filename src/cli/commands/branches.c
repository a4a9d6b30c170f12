/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/branches.h"

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
static void find_last(branches *b, const lode_view *view, unsigned depth_count)
{
    unsigned char *is_met = alloc_array(depth_count, 1);
    unsigned met_depth = 0;
    for (size_t i = lode_view_count(view); i-- > 0;) {
        unsigned depth = lode_view_at(view, i)->depth;
        for (; met_depth > depth; met_depth--)
            is_met[met_depth] = 0;
        b->is_last[i] = !is_met[depth];
        is_met[depth] = 1;
        met_depth = depth;
    }
    free(is_met);
}

void branches_init(branches *b, const lode_view *view, unsigned max_levels, int is_utf8)
{
    unsigned depth_count = branches_deepest(view) + 1;
    *b = (branches){.max_levels = max_levels, .is_utf8 = is_utf8};
    b->is_last = alloc_array(lode_view_count(view), 1);
    b->goes_on = alloc_array(depth_count, 1);
    b->text_capacity = (size_t)(max_levels + 2) * PIECE_SIZE + 32;
    b->text = alloc_array(b->text_capacity, 1);
    find_last(b, view, depth_count);
}

const char *branches_of(branches *b, const lode_view *view, size_t index)
{
    const struct pieces *pieces = b->is_utf8 ? &utf8_pieces : &ascii_pieces;
    unsigned depth = lode_view_at(view, index)->depth;
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
    free(b->is_last);
    free(b->goes_on);
    free(b->text);
}
