/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops by one depth-first search: Wei, Mao, Zou and Chen, "A New Algorithm for Identifying Loops
 * in Decompilation" (2007). Natural loops are those of dominators; of a loop with several entries,
 * the one that is met first is the header.
 */
#include "answer.h"
#include "graph.h"

#include <stdlib.h>
#include <string.h>

struct node {
    uint32_t header;   /* of the innermost loop around it; NO_INDEX: none */
    uint32_t position; /* on the path from the entry, from 1 on; 0: not on it */
    uint32_t next;     /* edge that is followed next */
    uint32_t loop;     /* of a header */
    bool is_seen, is_header, is_irreducible;
};

/* Nests of loops with many entries can take quadratic time: then they are left alone. */
struct search {
    struct node *nodes;
    uint32_t *path, length;
    uint64_t steps; /* that are left */
};

static bool take_step(struct search *search)
{
    search->steps -= search->steps > 0;
    return search->steps > 0;
}

/* Block `at` is in the loop of `header`: sorts that among the loops that it is in so far. */
static void tag_header(struct search *search, uint32_t at, uint32_t header)
{
    struct node *nodes = search->nodes;
    if (at == header || header == NO_INDEX)
        return;
    while (nodes[at].header != NO_INDEX && take_step(search)) {
        uint32_t known = nodes[at].header;
        if (known == header)
            return;
        if (nodes[known].position < nodes[header].position) {
            nodes[at].header = header;
            at = header;
            header = known;
        } else
            at = known;
    }
    nodes[at].header = header;
}

/* An edge to a block that was left before: it may enter loops there, beside their headers. */
static void reenter(struct search *search, uint32_t from, uint32_t to)
{
    struct node *nodes = search->nodes;
    for (uint32_t at = nodes[to].header; at != NO_INDEX && take_step(search); at = nodes[at].header) {
        if (nodes[at].position > 0) {
            tag_header(search, from, at);
            return;
        }
        nodes[at].is_irreducible = true;
    }
}

/* Follows the next edge of the last block of the path. False: all were followed. */
static bool advance(const struct graph *graph, struct search *search, uint32_t from)
{
    const struct block *block = &graph->blocks[from];
    struct node *nodes = search->nodes;
    if (nodes[from].next == block->edge_count)
        return false;
    uint32_t to = graph->edges.items[block->edge + nodes[from].next++].to;
    if (!nodes[to].is_seen) {
        nodes[to].is_seen = true;
        search->path[search->length] = to;
        nodes[to].position = ++search->length;
    } else if (nodes[to].position > 0) {
        nodes[to].is_header = true;
        tag_header(search, from, to);
    } else
        reenter(search, from, to);
    return true;
}

/* False: it takes too long. */
static bool search_all(const struct graph *graph, struct node *nodes)
{
    struct search search = {.nodes = nodes,
                            .path = must_grow(NULL, graph->block_count, sizeof *search.path),
                            .length = 1,
                            .steps = STEPS_EACH * (graph->block_count + graph->edges.count + 1)};
    search.path[0] = 0;
    nodes[0].is_seen = true;
    nodes[0].position = 1;
    while (search.length > 0 && search.steps > 0) {
        uint32_t at = search.path[search.length - 1];
        if (advance(graph, &search, at))
            continue;
        nodes[at].position = 0;
        search.length--;
        if (search.length > 0)
            tag_header(&search, search.path[search.length - 1], nodes[at].header);
    }
    free(search.path);
    return search.steps > 0;
}

static void add_loop(struct graph *graph, struct node *nodes, uint32_t header)
{
    if (graph->loop_count == graph->loop_room) {
        graph->loop_room = graph->loop_room ? 2 * graph->loop_room : 64;
        graph->loops = must_grow(graph->loops, graph->loop_room, sizeof *graph->loops);
    }
    uint32_t outer = nodes[header].header;
    uint32_t parent = outer == NO_INDEX ? NO_INDEX : nodes[outer].loop;
    uint32_t depth = parent == NO_INDEX ? 0 : graph->loops[parent].depth + 1;
    nodes[header].loop = depth < LOOPS_DEEP ? graph->loop_count : parent;
    if (depth == LOOPS_DEEP)
        return;
    graph->loops[graph->loop_count++] =
        (struct loop){.address = graph_address(graph, graph->blocks[header].first),
                      .header = header,
                      .parent = parent,
                      .depth = depth,
                      .is_irreducible = nodes[header].is_irreducible};
}

/* Parents first: the chain of headers that have no loop yet, from the outside in. */
static void add_loops(struct graph *graph, struct node *nodes)
{
    uint32_t *chain = must_grow(NULL, graph->block_count, sizeof *chain);
    for (uint32_t i = 0; i < graph->block_count; i++) {
        uint32_t count = 0;
        for (uint32_t at = i; at != NO_INDEX && nodes[at].is_header && nodes[at].loop == NO_INDEX;
             at = nodes[at].header)
            chain[count++] = at;
        while (count > 0)
            add_loop(graph, nodes, chain[--count]);
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        uint32_t header = nodes[i].is_header ? i : nodes[i].header;
        graph->blocks[i].loop = header == NO_INDEX ? NO_INDEX : nodes[header].loop;
    }
    free(chain);
}

static bool is_inside(const struct graph *graph, uint32_t loop, uint32_t outer)
{
    while (loop != NO_INDEX && loop > outer) /* parents have smaller numbers */
        loop = graph->loops[loop].parent;
    return loop == outer;
}

/* Edges into an irreducible loop enter it at several blocks. */
static void find_entries(struct graph *graph)
{
    for (size_t i = 0; i < graph->edges.count; i++) {
        uint32_t from = graph->blocks[graph->edges.items[i].from].loop, to = graph->edges.items[i].to;
        uint64_t address = graph_address(graph, graph->blocks[to].first);
        uint32_t at = graph->blocks[to].loop;
        for (; at != NO_INDEX && at != from && graph->loops[at].is_irreducible; at = graph->loops[at].parent)
            if (address < graph->loops[at].address && !is_inside(graph, from, at))
                graph->loops[at].address = address;
    }
}

void graph_find_loops(struct graph *graph)
{
    struct node *nodes;
    if (graph->block_count == 0)
        return;
    nodes = must_grow(NULL, graph->block_count, sizeof *nodes);
    for (uint32_t i = 0; i < graph->block_count; i++)
        nodes[i] = (struct node){.header = NO_INDEX, .loop = NO_INDEX};
    if (search_all(graph, nodes)) {
        add_loops(graph, nodes);
        find_entries(graph);
    } else
        graph->image->has_gaps = true;
    free(nodes);
}
