/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops by one depth-first search, as Wei, Mao, Zou and Chen define them ("A New Algorithm for
 * Identifying Loops in Decompilation", 2007): a loop has a header and what reaches it among the
 * blocks that the search met below it. Natural loops are those of dominators; of a loop with
 * several entries, the one that is met first is the header. Also with many entries, they are found
 * in almost linear time: Ramalingam, "Identifying Loops in Almost Linear Time" (1999).
 */
#include "answer.h"
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* An edge of the graph that is not one of the search; numbers are blocks. */
struct link {
    uint32_t from, to;
    uint32_t next; /* link of the same list; NO_INDEX: the last */
};

struct node {
    uint32_t header;     /* of the innermost loop around it; NO_INDEX: none */
    uint32_t above;      /* the block that the search came from */
    uint32_t depth;      /* of the search */
    uint32_t edge;       /* that is followed next */
    uint32_t unfinished; /* itself while its edges are followed, then towards such a block above */
    uint32_t outermost;  /* itself, or towards the header of the outermost loop around it so far */
    uint32_t back;       /* a list of links: from below, so it is a header */
    uint32_t meeting;    /* of links between blocks below it that are under no other such block */
    uint32_t entries;    /* of links to it, or to what is in its loop */
    uint32_t lowest;     /* depth of the block where links meet that go to it, or into its loop */
    uint32_t loop;       /* of a header */
    bool is_seen, is_header, is_irreducible;
};

struct search {
    struct graph *graph;
    struct node *nodes;
    struct link *links;
    uint32_t *order; /* blocks as they are met */
    uint32_t *body;  /* what a loop has directly */
    uint32_t link_count, count;
};

static void add_link(struct search *search, uint32_t *list, uint32_t from, uint32_t to)
{
    search->links[search->link_count] = (struct link){from, to, *list};
    *list = search->link_count++;
}

static uint32_t nearest_unfinished(struct search *search, uint32_t at)
{
    struct node *nodes = search->nodes;
    for (; nodes[at].unfinished != at; at = nodes[at].unfinished, search->graph->steps++)
        nodes[at].unfinished = nodes[nodes[at].unfinished].unfinished;
    return at;
}

static uint32_t outermost(struct search *search, uint32_t at)
{
    struct node *nodes = search->nodes;
    for (; nodes[at].outermost != at; at = nodes[at].outermost, search->graph->steps++)
        nodes[at].outermost = nodes[nodes[at].outermost].outermost;
    return at;
}

/* ---- the search ---- */

static void meet(struct search *search, uint32_t block, uint32_t from)
{
    struct node *node = &search->nodes[block];
    node->is_seen = true;
    node->above = from;
    node->depth = from == block ? 0 : search->nodes[from].depth + 1;
    search->order[search->count++] = block;
}

/* Follows the next edge of a block; returns the block that is searched then. */
static uint32_t advance(struct search *search, uint32_t from)
{
    const struct block *block = &search->graph->blocks[from];
    struct node *nodes = search->nodes, *node = &nodes[from];
    if (node->edge == block->edge_count) {
        node->unfinished = node->above;
        return node->above;
    }
    uint32_t to = search->graph->edges.items[block->edge + node->edge++].to;
    if (!nodes[to].is_seen) {
        meet(search, to, from);
        return to;
    }
    uint32_t top = nearest_unfinished(search, to);
    if (top == to)
        add_link(search, &nodes[to].back, from, to);
    else {
        add_link(search, &nodes[top].meeting, from, to);
        if (nodes[top].depth < nodes[to].lowest)
            nodes[to].lowest = nodes[top].depth;
    }
    return from;
}

/* A block that was left before its edges had ended would be on the way to itself for ever. */
static void search_all(struct search *search)
{
    uint32_t at = 0;
    meet(search, 0, 0);
    while (at != 0 || search->nodes[0].edge < search->graph->blocks[0].edge_count) {
        at = advance(search, at);
        search->graph->steps++;
    }
}

/* ---- headers, from the innermost loops out ---- */

/* Links whose ends are all below a block now go to the loops around these ends. */
static void move_links(struct search *search, struct node *node)
{
    for (uint32_t i = node->meeting, next; i != NO_INDEX; i = next) {
        struct node *to = &search->nodes[outermost(search, search->links[i].to)];
        next = search->links[i].next;
        search->links[i].next = to->entries;
        to->entries = i;
        search->graph->steps++;
    }
}

static uint32_t add_to_body(struct search *search, uint32_t header, uint32_t block, uint32_t count)
{
    uint32_t at = outermost(search, block);
    search->graph->steps++;
    if (at == header || search->nodes[at].header != NO_INDEX)
        return count;
    search->nodes[at].header = header;
    search->body[count] = at;
    return count + 1;
}

/* What goes back to a header, and what that is reached from. */
static void find_body(struct search *search, uint32_t header)
{
    struct node *nodes = search->nodes, *top = &nodes[header];
    uint32_t count = 0;
    for (uint32_t i = top->back; i != NO_INDEX; i = search->links[i].next)
        count = add_to_body(search, header, search->links[i].from, count);
    top->is_header = top->back != NO_INDEX;
    for (uint32_t k = 0; k < count; k++) {
        const struct node *node = &nodes[search->body[k]];
        count = add_to_body(search, header, node->above, count);
        for (uint32_t i = node->entries; i != NO_INDEX; i = search->links[i].next)
            count = add_to_body(search, header, search->links[i].from, count);
    }
    for (uint32_t k = 0; k < count; k++) {
        struct node *node = &nodes[search->body[k]];
        node->outermost = header;
        top->is_irreducible |= node->lowest < top->depth;
        top->lowest = node->lowest < top->lowest ? node->lowest : top->lowest;
    }
}

static void find_headers(struct search *search)
{
    for (uint32_t i = search->count; i-- > 0;) {
        move_links(search, &search->nodes[search->order[i]]);
        find_body(search, search->order[i]);
    }
}

/* ---- loops ---- */

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

uint32_t graph_common_loop(const struct graph *graph, uint32_t one, uint32_t other)
{
    const struct loop *loops = graph->loops;
    while (one != other && one != NO_INDEX && other != NO_INDEX) {
        if (loops[one].depth >= loops[other].depth)
            one = loops[one].parent;
        else
            other = loops[other].parent;
    }
    return one == other ? one : NO_INDEX;
}

/* Edges into an irreducible loop enter it at several blocks. */
static void find_entries(struct graph *graph)
{
    for (size_t i = 0; i < graph->edges.count; i++) {
        uint32_t from = graph->blocks[graph->edges.items[i].from].loop, to = graph->edges.items[i].to;
        uint32_t at = graph->blocks[to].loop;
        if (at == from || at == NO_INDEX || !graph->loops[at].is_irreducible)
            continue;
        uint64_t address = graph_address(graph, graph->blocks[to].first);
        uint32_t common = graph_common_loop(graph, at, from);
        for (; at != common && graph->loops[at].is_irreducible; at = graph->loops[at].parent)
            if (address < graph->loops[at].address)
                graph->loops[at].address = address;
    }
}

void graph_find_loops(struct graph *graph)
{
    uint32_t count = graph->block_count;
    if (count == 0)
        return;
    struct search search = {.graph = graph,
                            .nodes = must_grow(NULL, count, sizeof *search.nodes),
                            .links = must_grow(NULL, graph->edges.count, sizeof *search.links),
                            .order = must_grow(NULL, count, sizeof *search.order),
                            .body = must_grow(NULL, count, sizeof *search.body)};
    for (uint32_t i = 0; i < count; i++)
        search.nodes[i] = (struct node){.header = NO_INDEX,
                                        .loop = NO_INDEX,
                                        .unfinished = i,
                                        .outermost = i,
                                        .back = NO_INDEX,
                                        .meeting = NO_INDEX,
                                        .entries = NO_INDEX,
                                        .lowest = UINT32_MAX};
    search_all(&search);
    find_headers(&search);
    add_loops(graph, search.nodes);
    find_entries(graph);
    free(search.nodes);
    free(search.links);
    free(search.order);
    free(search.body);
}
