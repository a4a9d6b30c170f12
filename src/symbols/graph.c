/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions that a function reaches, and the blocks that they form. */
#include "graph.h"
#include "answer.h"

#include <stdlib.h>
#include <string.h>

/* ---- pieces ---- */

void graph_init(struct graph *graph, struct image *image)
{
    *graph = (struct graph){.image = image};
}

void graph_free(struct graph *graph)
{
    free(graph->code);
    free(graph->jump_from);
    free(graph->work);
    free(graph->open);
    free(graph->jumps.items);
    free(graph->blocks);
    free(graph->edges.items);
    free(graph->loops);
}

void edges_add(struct edges *edges, uint32_t from, uint32_t to)
{
    if (edges->count == edges->room) {
        edges->room = edges->room ? 2 * edges->room : 64;
        edges->items = must_grow(edges->items, edges->room, sizeof *edges->items);
    }
    edges->items[edges->count++] = (struct edge){from, to};
}

static const struct piece *piece_of(const struct graph *graph, uint32_t index)
{
    uint32_t at = 0;
    while (at + 1 < graph->piece_count && index >= graph->pieces[at + 1].first)
        at++;
    return &graph->pieces[at];
}

uint64_t graph_address(const struct graph *graph, uint32_t index)
{
    return piece_of(graph, index)->start + graph->code[index].at;
}

/* Decodes all of an extent. False: it is too much, or there is no code. */
static bool add_piece(struct graph *graph, const struct extent *extent, bool is_shared)
{
    struct image *image = graph->image;
    struct code_reader reader;
    if (!code_begin(&reader, image, extent->start, extent->end) || graph->piece_count == PIECES_MOST ||
        graph->is_full || !image_spend(image, extent->end - extent->start))
        return false;
    struct piece *piece = &graph->pieces[graph->piece_count++];
    *piece = (struct piece){
        .start = extent->start, .end = extent->end, .first = graph->code_count, .is_shared = is_shared};
    while (graph->code_count <= CODE_MOST && code_next(&reader)) {
        if (graph->code_count == graph->code_room) {
            graph->code_room = graph->code_room ? 2 * graph->code_room : 1024;
            graph->code = must_grow(graph->code, graph->code_room, sizeof *graph->code);
        }
        graph->code[graph->code_count++] = reader.found;
    }
    graph->is_full = graph->code_count > CODE_MOST;
    if (graph->is_full) {
        image->has_gaps = true;
        graph->code_count = piece->first;
        graph->piece_count--;
        return false;
    }
    piece->count = graph->code_count - piece->first;
    return true;
}

uint32_t graph_find(const struct graph *graph, uint64_t address)
{
    for (uint32_t i = 0; i < graph->piece_count; i++) {
        const struct piece *piece = &graph->pieces[i];
        if (address < piece->start || address >= piece->end)
            continue;
        uint32_t low = piece->first, high = piece->first + piece->count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (graph->code[middle].at <= address - piece->start)
                low = middle + 1;
            else
                high = middle;
        }
        return low > piece->first ? low - 1 : NO_INDEX;
    }
    return NO_INDEX;
}

/* A jump of the extent into the middle of [start, end). */
static bool jumps_into(struct image *image, const struct extent *extent, uint64_t start, uint64_t end)
{
    struct code_reader reader;
    bool is_possible = code_begin(&reader, image, extent->start, extent->end) &&
                       image_spend(image, extent->end - extent->start);
    while (is_possible && code_next(&reader))
        if ((reader.found.flow == FLOW_JUMP || reader.found.flow == FLOW_BRANCH) &&
            reader.found.target > start && reader.found.target < end)
            return true;
    return false;
}

/*
 * A part of a function has a name that says so, or none, and the function jumps there. Without a
 * name, nobody calls it, and it jumps back into the middle of the function.
 */
const struct extent *graph_owner(struct image *image, const struct extent *extent)
{
    if (extent->name && strstr(extent->name, ".cold") == NULL)
        return extent;
    struct extent *known = &image->extents[extent - image->extents];
    if (known->owner)
        return &image->extents[known->owner - 1];
    image_find_calls(image);
    const struct extent *owner = extent->jumper ? &image->extents[extent->jumper - 1] : extent;
    bool is_part =
        owner != extent &&
        (extent->name || (!extent->is_called && jumps_into(image, extent, owner->start, owner->end)));
    owner = is_part ? owner : extent;
    known->owner = (uint32_t)(owner - image->extents) + 1;
    return owner;
}

uint32_t graph_resolve(struct graph *graph, uint64_t address)
{
    uint32_t found = graph_find(graph, address);
    if (found != NO_INDEX)
        return found;
    const struct extent *extent = image_extent(graph->image, address);
    if (extent == NULL)
        return NO_INDEX;
    bool is_entry = image_function(graph->image, address) != NULL;
    bool is_part = graph_owner(graph->image, extent) == graph->function;
    if (!is_part && (is_entry || image_stub(graph->image, address)))
        return NO_INDEX; /* a tail call; all stubs are one extent, which may be large */
    if (!add_piece(graph, extent, !is_part))
        return NO_INDEX;
    return graph_find(graph, address);
}

/* ---- calls: the number of rounds bounds the recursion. NOLINTBEGIN(misc-no-recursion) ---- */

static bool name_returns(const struct slot *slot)
{
    return slot == NULL || slot->name == NULL || !is_endless_name(slot->name);
}

/* Whether execution goes on after a call, or a jump to the begin of a function. */
static bool callee_returns(struct graph *graph, const struct instruction *call)
{
    if (call->flow == FLOW_CALL_INDIRECT || call->flow == FLOW_TAIL)
        return call->target == 0 || name_returns(image_slot(graph->image, call->target));
    struct extent *callee = image_function(graph->image, call->target);
    const char *stub = callee && callee->name ? NULL : image_stub(graph->image, call->target);
    if (stub)
        return !is_endless_name(stub);
    return callee == NULL || callee == graph->function || graph_returns(graph->image, callee, graph->round);
}

/* ---- walking ---- */

static void add_index(uint32_t **items, uint32_t *count, uint32_t *room, uint32_t index)
{
    if (*count == *room) {
        *room = *room ? 2 * *room : 256;
        *items = must_grow(*items, *room, sizeof **items);
    }
    (*items)[(*count)++] = index;
}

static void push(struct graph *graph, uint32_t index)
{
    graph->code[index].marks |= MARK_LEADER;
    if (!(graph->code[index].marks & MARK_REACHED))
        add_index(&graph->work, &graph->work_count, &graph->work_room, index);
}

static void follow(struct graph *graph, uint32_t index)
{
    uint32_t to = graph_resolve(graph, graph->code[index].target);
    if (to != NO_INDEX) {
        push(graph, to);
        return;
    }
    struct instruction jump = graph->code[index];
    graph->code[index].marks |= MARK_LEAVES;
    graph->is_returning |= callee_returns(graph, &jump);
}

static void follow_indirect(struct graph *graph, uint32_t index)
{
    size_t first = graph->jumps.count;
    if (graph->image->machine == MACHINE_X86_64 && graph_read_table(graph, index)) {
        graph->code[index].marks |= MARK_TABLE;
        for (size_t i = first; i < graph->jumps.count; i++)
            push(graph, graph->jumps.items[i].to);
    } else {
        add_index(&graph->open, &graph->open_count, &graph->open_room, index);
        graph->is_returning = true;
    }
}

/* False: execution does not go on at the next instruction. */
static bool step(struct graph *graph, uint32_t index)
{
    struct instruction found = graph->code[index];
    switch (found.flow) {
    case FLOW_BRANCH:
        follow(graph, index);
        return true;
    case FLOW_JUMP:
        follow(graph, index);
        return false;
    case FLOW_CALL:
    case FLOW_CALL_INDIRECT:
        return callee_returns(graph, &found);
    case FLOW_INDIRECT:
        follow_indirect(graph, index);
        return false;
    case FLOW_TAIL:
        graph->is_returning |= callee_returns(graph, &found);
        return false;
    case FLOW_RETURN:
        graph->is_returning = true;
        return false;
    case FLOW_STOP:
        return false;
    default:
        return true;
    }
}

/* At the end of a piece, another function may begin at once: hand-written code goes on there. */
static void leave_piece(struct graph *graph, const struct piece *piece)
{
    struct extent *next = image_function(graph->image, piece->end);
    if (next && next != graph->function)
        graph->is_returning |= graph_returns(graph->image, next, graph->round);
}

static void walk(struct graph *graph)
{
    while (graph->work_count > 0) {
        uint32_t at = graph->work[--graph->work_count];
        const struct piece *piece = piece_of(graph, at);
        uint32_t end = piece->first + piece->count;
        for (; at < end && !(graph->code[at].marks & MARK_REACHED); at++) {
            graph->code[at].marks |= MARK_REACHED;
            bool goes_on = step(graph, at);
            if (!goes_on) {
                graph->code[at].marks |= MARK_END;
                break;
            }
            if (graph->code[at].flow == FLOW_BRANCH && at + 1 < end)
                graph->code[at + 1].marks |= MARK_LEADER;
        }
        if (at == end)
            leave_piece(graph, piece);
    }
}

/* ---- indirect jumps without a table ---- NOLINTEND(misc-no-recursion) */

static void reach_from_open(struct graph *graph, uint32_t to)
{
    for (uint32_t i = 0; i < graph->open_count && graph->jumps.count < EDGES_MOST; i++)
        edges_add(&graph->jumps, graph->open[i], to);
    push(graph, to);
    walk(graph);
}

/*
 * Code that nothing else reaches, behind code that does not go on: a jump whose targets are not
 * known leads there. Pieces of other functions have code that is theirs.
 */
static void guess_targets(struct graph *graph)
{
    for (uint32_t k = 0; k < graph->piece_count && graph->open_count > 0; k++) {
        uint32_t first = graph->pieces[k].first, end = first + graph->pieces[k].count;
        bool is_ended = false;
        for (uint32_t i = first; i < end && !graph->pieces[k].is_shared; i++) {
            const struct instruction *one = &graph->code[i];
            if (one->marks & MARK_REACHED) {
                is_ended = (one->marks & MARK_END) != 0;
            } else if (is_ended && one->flow != FLOW_PADDING) {
                reach_from_open(graph, i);
                is_ended = (graph->code[i].marks & MARK_END) != 0;
            }
        }
    }
}

/* ---- blocks ---- */

static void add_blocks(struct graph *graph)
{
    bool is_open = false;
    graph->block_count = 0;
    for (uint32_t i = 0; i < graph->code_count; i++) {
        const struct instruction *one = &graph->code[i];
        bool begins_piece = one->at == 0;
        if (!(one->marks & MARK_REACHED)) {
            is_open = false;
            continue;
        }
        if (!is_open || begins_piece || one->marks & MARK_LEADER) {
            if (graph->block_count == graph->block_room) {
                graph->block_room = graph->block_room ? 2 * graph->block_room : 256;
                graph->blocks = must_grow(graph->blocks, graph->block_room, sizeof *graph->blocks);
            }
            graph->blocks[graph->block_count++] = (struct block){.first = i, .last = i, .loop = NO_INDEX};
        }
        graph->blocks[graph->block_count - 1].last = i;
        is_open = !(one->marks & MARK_END);
    }
}

static uint32_t block_of(const struct graph *graph, uint32_t index)
{
    uint32_t low = 0, high = graph->block_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph->blocks[middle].first <= index)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && index <= graph->blocks[low - 1].last ? low - 1 : NO_INDEX;
}

static int by_from(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static void add_edge(struct graph *graph, uint32_t from, uint32_t to_instruction)
{
    uint32_t to = to_instruction == NO_INDEX ? NO_INDEX : block_of(graph, to_instruction);
    if (to != NO_INDEX)
        edges_add(&graph->edges, from, to);
}

static void add_edges(struct graph *graph)
{
    struct edges *jumps = &graph->jumps;
    size_t jump = 0;
    if (jumps->count > 0)
        qsort(jumps->items, jumps->count, sizeof *jumps->items, by_from);
    graph->edges.count = 0;
    for (uint32_t i = 0; i < graph->block_count; i++) {
        struct block *block = &graph->blocks[i];
        const struct instruction *last = &graph->code[block->last];
        block->edge = (uint32_t)graph->edges.count;
        if (!(last->marks & MARK_END) && i + 1 < graph->block_count &&
            graph->blocks[i + 1].first == block->last + 1 && graph->code[block->last + 1].at != 0)
            edges_add(&graph->edges, i, i + 1);
        if ((last->flow == FLOW_BRANCH || last->flow == FLOW_JUMP) && !(last->marks & MARK_LEAVES))
            add_edge(graph, i, graph_find(graph, last->target));
        while (jump < jumps->count && jumps->items[jump].from < block->last)
            jump++;
        for (; jump < jumps->count && jumps->items[jump].from == block->last; jump++)
            if (jump == 0 || by_from(&jumps->items[jump - 1], &jumps->items[jump]) != 0)
                add_edge(graph, i, jumps->items[jump].to);
        block->edge_count = (uint32_t)graph->edges.count - block->edge;
    }
}

/* ---- all ---- */

/* RETURN_ROUNDS bounds the recursion. NOLINTBEGIN(misc-no-recursion) */
static bool begin(struct graph *graph, const struct extent *function, unsigned round)
{
    graph->function = function;
    graph->round = round;
    graph->piece_count = graph->code_count = graph->jump_count = graph->work_count = 0;
    graph->jumps.count = graph->edges.count = 0;
    graph->open_count = graph->block_count = graph->loop_count = 0;
    graph->entry_count = 0;
    graph->is_returning = graph->is_full = false;
    if (!add_piece(graph, function, false) || graph->code_count == 0)
        return false;
    push(graph, 0);
    walk(graph);
    return true;
}

bool graph_read(struct graph *graph, const struct extent *function)
{
    if (!begin(graph, function, RETURN_ROUNDS - 1))
        return !graph->image->is_spent;
    guess_targets(graph);
    add_blocks(graph);
    add_edges(graph);
    graph_find_loops(graph);
    return true;
}

bool graph_returns(struct image *image, struct extent *function, unsigned round)
{
    struct graph graph;
    if (round > 0 && !graph_returns(image, function, round - 1))
        return false;
    if (function->returns[round] != RETURNS_UNKNOWN)
        return function->returns[round] == RETURNS_YES;
    graph_init(&graph, image);
    bool returns = !begin(&graph, function, round - 1) || graph.is_returning;
    graph_free(&graph);
    function->returns[round] = returns ? RETURNS_YES : RETURNS_NO;
    return returns;
}

/* NOLINTEND(misc-no-recursion) */
