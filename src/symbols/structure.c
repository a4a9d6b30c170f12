/* SPDX-License-Identifier: BSD-3-Clause */
/* Analyses the functions of offsets. */
#include "structure.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more item of an array. */
#define ROOM_FOR_ONE(items, count, room)                                                                     \
    do {                                                                                                     \
        if ((count) == (room)) {                                                                             \
            (room) = (room) ? 2 * (room) : 256;                                                              \
            (items) = must_grow((items), (room), sizeof *(items));                                           \
        }                                                                                                    \
    } while (0)

void structure_open(struct structure *structure, Elf *elf, Elf *debug)
{
    *structure = (struct structure){0};
    structure->is_open = image_open(&structure->image, elf, debug);
    size_t count = structure->image.extent_count;
    structure->function_of = must_grow(NULL, count, sizeof *structure->function_of);
    memset(structure->function_of, 0, count * sizeof *structure->function_of);
    graph_init(&structure->graph, &structure->image);
}

void structure_close(struct structure *structure)
{
    image_close(&structure->image);
    graph_free(&structure->graph);
    free(structure->function_of);
    free(structure->functions);
    free(structure->loops);
    free(structure->blocks);
    free(structure->exits);
    free(structure->extra);
    free(structure->slots);
}

static int by_offset(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void add_extra(struct structure *structure, uint64_t offset)
{
    ROOM_FOR_ONE(structure->extra, structure->extra_count, structure->extra_room);
    structure->extra[structure->extra_count++] = offset;
}

/* Sorts the offsets that were added, without those that are there twice. */
static void sort_extra(struct structure *structure)
{
    size_t count = 0;
    if (structure->extra_count > 0)
        qsort(structure->extra, structure->extra_count, sizeof *structure->extra, by_offset);
    for (size_t i = 0; i < structure->extra_count; i++)
        if (count == 0 || structure->extra[count - 1] != structure->extra[i])
            structure->extra[count++] = structure->extra[i];
    structure->extra_count = count;
}

void structure_take_all(struct structure *structure, struct answers *answers)
{
    struct image *image = &structure->image;
    uint64_t done = 0; /* extents may overlap */
    for (size_t i = 0; structure->is_open && i < image->extent_count; i++) {
        uint64_t start = image->extents[i].start, end = image->extents[i].end;
        struct code_reader reader;
        bool has_code = code_begin(&reader, image, start, end);
        while (has_code && code_next(&reader))
            if (start + reader.found.at >= done)
                add_extra(structure, start + reader.found.at);
        done = end > done ? end : done;
    }
    sort_extra(structure);
    answers_add(answers, structure->extra, structure->extra_count, true);
    structure->extra_count = 0;
}

uint64_t structure_end(const struct structure *structure, uint64_t offset, uint64_t next)
{
    const struct extent *extent = image_extent(&structure->image, offset);
    return extent && extent->end < next ? extent->end : next;
}

/* ---- one function ---- */

/*
 * The least and the greatest depth of the loops around a branch that have one of its targets, too;
 * one more than that of the loop, 0: no loop has it.
 */
static void find_depths(const struct graph *graph, const struct block *block, uint32_t *least, uint32_t *most)
{
    uint32_t known = NO_INDEX, depth = 0;
    *least = UINT32_MAX;
    *most = 0;
    for (uint32_t i = 0; i < block->edge_count; i++) {
        uint32_t to = graph->blocks[graph->edges.items[block->edge + i].to].loop;
        if (i == 0 || to != known) {
            uint32_t common = graph_common_loop(graph, block->loop, to);
            depth = common == NO_INDEX ? 0 : graph->loops[common].depth + 1;
            known = to;
        }
        *least = depth < *least ? depth : *least;
        *most = depth > *most ? depth : *most;
    }
}

/* A branch leaves each loop around it that one of its targets is in, and another one is not. */
static void add_exits(struct structure *structure, uint32_t number, uint32_t first_loop)
{
    const struct graph *graph = &structure->graph;
    const struct block *block = &graph->blocks[number];
    const struct instruction *last = &graph->code[block->last];
    uint32_t least, most;
    if (last->flow != FLOW_BRANCH && last->flow != FLOW_INDIRECT)
        return;
    find_depths(graph, block, &least, &most);
    least = last->marks & MARK_LEAVES ? 0 : least;
    /* A loop that it does not leave has loops further out that it does not leave, either. */
    for (uint32_t loop = block->loop; loop != NO_INDEX && graph->loops[loop].depth >= least;
         loop = graph->loops[loop].parent) {
        if (graph->loops[loop].depth >= most)
            continue; /* all of its targets are outside */
        ROOM_FOR_ONE(structure->exits, structure->exit_count, structure->exit_room);
        structure->exits[structure->exit_count++] =
            (struct found_exit){graph_address(graph, block->last), first_loop + loop};
    }
}

/* Loops of the graph; used are those that have an offset, and what is around and in them. */
static void add_loops(struct structure *structure, uint32_t first_loop)
{
    const struct graph *graph = &structure->graph;
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        const struct loop *loop = &graph->loops[i];
        uint32_t own = first_loop + i;
        ROOM_FOR_ONE(structure->loops, structure->loop_count, structure->loop_room);
        structure->loops[structure->loop_count++] = (struct found_loop){
            .address = loop->address,
            .parent = loop->parent == NO_INDEX ? NO_INDEX : first_loop + loop->parent,
            .root = loop->parent == NO_INDEX ? own : structure->loops[first_loop + loop->parent].root,
            .merged_to = own,
            .frame = SYMBOLS_NONE,
            .level = SYMBOLS_NONE,
            .file = SYMBOLS_NONE,
            .is_irreducible = loop->is_irreducible};
    }
}

static void add_block(struct structure *structure, const struct answers *answers, const struct block *block,
                      uint32_t first_loop)
{
    const struct graph *graph = &structure->graph;
    uint64_t start = graph_address(graph, block->first);
    uint64_t end = graph_address(graph, block->last) + graph->code[block->last].length;
    uint32_t first;
    ROOM_FOR_ONE(structure->blocks, structure->block_count, structure->block_room);
    structure->blocks[structure->block_count++] = (struct found_block){start, end, first_loop + block->loop};
    if (answers_within(answers, start, end, &first) > 0)
        structure->loops[structure->loops[first_loop + block->loop].root].is_used = true;
}

static int by_block(const void *left, const void *right)
{
    const struct found_block *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Offsets of the instructions in loops that are used, unless they are asked about. */
static void add_instructions(struct structure *structure, const struct answers *answers, uint32_t first_loop)
{
    const struct graph *graph = &structure->graph;
    for (uint32_t i = 0; i < graph->block_count; i++) {
        const struct block *block = &graph->blocks[i];
        if (block->loop == NO_INDEX ||
            !structure->loops[structure->loops[first_loop + block->loop].root].is_used)
            continue;
        add_exits(structure, i, first_loop);
        uint32_t known, first = block->first;
        answers_within(answers, graph_address(graph, first), graph_address(graph, first), &known);
        for (uint32_t at = first; at <= block->last; at++) {
            uint64_t address = graph_address(graph, at);
            while (known < answers->count && answers->offsets[known] < address)
                known++;
            if (known == answers->count || answers->offsets[known] != address)
                add_extra(structure, address);
        }
    }
}

static void analyse(struct structure *structure, const struct answers *answers, const struct extent *extent)
{
    const struct graph *graph = &structure->graph;
    uint32_t first_loop = (uint32_t)structure->loop_count, first_block = (uint32_t)structure->block_count;
    ROOM_FOR_ONE(structure->functions, structure->function_count, structure->function_room);
    struct found_function *function = &structure->functions[structure->function_count++];
    *function = (struct found_function){.extent = extent, .first_block = first_block, .scope = SYMBOLS_NONE};
    if (!graph_read(&structure->graph, extent))
        return;
    add_loops(structure, first_loop);
    for (uint32_t i = 0; i < graph->block_count; i++)
        if (graph->blocks[i].loop != NO_INDEX)
            add_block(structure, answers, &graph->blocks[i], first_loop);
    function->block_count = (uint32_t)structure->block_count - first_block;
    if (function->block_count > 0)
        qsort(structure->blocks + first_block, function->block_count, sizeof *structure->blocks, by_block);
    add_instructions(structure, answers, first_loop);
}

/* ---- all ---- */

/* The number of the function that has an extent, plus 1. */
static uint32_t function_of(struct structure *structure, const struct answers *answers,
                            const struct extent *extent)
{
    size_t own = (size_t)(extent - structure->image.extents);
    if (structure->function_of[own])
        return structure->function_of[own];
    const struct extent *owner = graph_owner(&structure->image, extent);
    size_t number = (size_t)(owner - structure->image.extents);
    if (structure->function_of[number] == 0) {
        analyse(structure, answers, owner);
        structure->function_of[number] = (uint32_t)structure->function_count;
    }
    structure->function_of[own] = structure->function_of[number];
    return structure->function_of[own];
}

void structure_analyse(struct structure *structure, struct answers *answers)
{
    const struct extent *last = NULL;
    for (uint32_t i = 0; structure->is_open && i < answers->count; i++) {
        const struct extent *extent = image_extent(&structure->image, answers->offsets[i]);
        if (extent && extent != last)
            function_of(structure, answers, extent);
        last = extent;
    }
    sort_extra(structure);
    answers_add(answers, structure->extra, structure->extra_count, false);
    free(structure->extra);
    structure->extra = NULL;
    structure->extra_count = structure->extra_room = 0;
}

uint32_t structure_loop(const struct structure *structure, uint64_t offset)
{
    const struct extent *extent = image_extent(&structure->image, offset);
    uint32_t number = extent ? structure->function_of[extent - structure->image.extents] : 0;
    if (number == 0)
        return NO_INDEX;
    const struct found_function *function = &structure->functions[number - 1];
    if (function->block_count == 0)
        return NO_INDEX;
    const struct found_block *blocks = structure->blocks + function->first_block;
    uint32_t low = 0, high = function->block_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (blocks[middle].start <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && offset < blocks[low - 1].end ? blocks[low - 1].loop : NO_INDEX;
}
