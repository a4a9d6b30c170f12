/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of graphs against their definition, which is slow, on random graphs; and the work that
 * functions take, hostile ones too, which is linear in their size. Work is counted, not timed.
 */
#include "symbols/answer.h"
#include "symbols/graph.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum {
    SMALL = 12, /* blocks of a random graph */
    BASE = 4096,
    STEPS_MOST = 30 /* for each block and edge */
};

static uint32_t state = 1;

static uint32_t chance(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return below ? (state >> 8) % below : 0;
}

/* ---- graphs without code ---- */

static void free_image(struct image *image)
{
    image_close(image);
    *image = (struct image){0};
}

/* One instruction for each block; edges are those of `from`, in their order. */
static void begin_graph(struct graph *graph, struct image *image, uint32_t blocks)
{
    graph_init(graph, image);
    graph->code = must_grow(NULL, blocks, sizeof *graph->code);
    graph->blocks = must_grow(NULL, blocks, sizeof *graph->blocks);
    graph->code_count = graph->block_count = blocks;
    graph->pieces[0] = (struct piece){.start = BASE, .end = BASE + blocks, .count = blocks};
    graph->piece_count = 1;
    for (uint32_t i = 0; i < blocks; i++)
        graph->code[i] = (struct instruction){.at = i, .length = 1};
}

static void begin_block(struct graph *graph, uint32_t block)
{
    graph->blocks[block] =
        (struct block){.first = block, .last = block, .edge = (uint32_t)graph->edges.count, .loop = NO_INDEX};
}

static void add_edge(struct graph *graph, uint32_t block, uint32_t to)
{
    edges_add(&graph->edges, block, to);
    graph->blocks[block].edge_count++;
}

/* ---- the definition ---- */

struct tree {
    uint32_t above[SMALL], order[SMALL], count;
    bool is_seen[SMALL];
};

static void search(struct tree *tree, const struct graph *graph, uint32_t block)
{
    tree->is_seen[block] = true;
    tree->order[tree->count++] = block;
    for (uint32_t i = 0; i < graph->blocks[block].edge_count; i++) {
        uint32_t to = graph->edges.items[graph->blocks[block].edge + i].to;
        if (tree->is_seen[to])
            continue;
        tree->above[to] = block;
        search(tree, graph, to);
    }
}

static bool is_below(const struct tree *tree, uint32_t block, uint32_t top)
{
    while (block != top && tree->above[block] != NO_INDEX)
        block = tree->above[block];
    return block == top;
}

/* Whether a block reaches the top of a part of the tree by edges in that part. */
static bool reaches(const struct tree *tree, const struct graph *graph, uint32_t block, uint32_t top)
{
    bool is_reached[SMALL] = {false};
    is_reached[block] = true;
    for (uint32_t round = 0; round < SMALL; round++)
        for (size_t i = 0; i < graph->edges.count; i++) {
            const struct edge *edge = &graph->edges.items[i];
            if (!is_reached[edge->from] || !is_below(tree, edge->from, top))
                continue;
            if (edge->to == top)
                return true;
            is_reached[edge->to] |= is_below(tree, edge->to, top);
        }
    return false;
}

/* The nearest block above that a block reaches below that; NO_INDEX: it is in no loop. */
static uint32_t header_of(const struct tree *tree, const struct graph *graph, uint32_t block)
{
    for (uint32_t at = tree->above[block]; at != NO_INDEX; at = tree->above[at])
        if (reaches(tree, graph, block, at))
            return at;
    return NO_INDEX;
}

static bool is_in(const struct tree *tree, const struct graph *graph, uint32_t block, uint32_t header)
{
    return tree->is_seen[block] && block != header && is_below(tree, block, header) &&
           reaches(tree, graph, block, header);
}

/* An edge goes from elsewhere to another block than the header. */
static bool has_entries(const struct tree *tree, const struct graph *graph, uint32_t header)
{
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.items[i];
        if (tree->is_seen[edge->from] && !is_below(tree, edge->from, header) &&
            is_in(tree, graph, edge->to, header))
            return true;
    }
    return false;
}

static void check_block(const struct tree *tree, const struct graph *graph, uint32_t block)
{
    bool is_header = reaches(tree, graph, block, block);
    uint32_t outer = header_of(tree, graph, block), number = graph->blocks[block].loop;
    if (is_header) {
        assert_int_not_equal(number, NO_INDEX);
        const struct loop *loop = &graph->loops[number];
        assert_int_equal(loop->header, block);
        assert_int_equal(loop->is_irreducible, has_entries(tree, graph, block));
        number = loop->parent;
    }
    assert_int_equal(number == NO_INDEX ? NO_INDEX : graph->loops[number].header, outer);
}

static void loops_are_those_of_the_definition(void **unused)
{
    uint32_t loops = 0, irreducible = 0;
    for (unsigned round = 0; round < 5000; round++) {
        struct image image = {0};
        struct graph graph;
        struct tree tree = {.count = 0};
        uint32_t blocks = 1 + chance(SMALL);
        begin_graph(&graph, &image, blocks);
        for (uint32_t i = 0; i < blocks; i++) {
            begin_block(&graph, i);
            for (uint32_t k = chance(4); k > 0; k--)
                add_edge(&graph, i, chance(blocks));
        }
        graph_find_loops(&graph);
        memset(tree.above, 0xff, sizeof tree.above);
        search(&tree, &graph, 0);
        for (uint32_t i = 0; i < tree.count; i++)
            check_block(&tree, &graph, tree.order[i]);
        for (uint32_t i = 0; i < graph.loop_count; i++)
            irreducible += graph.loops[i].is_irreducible;
        loops += graph.loop_count;
        graph_free(&graph);
    }
    assert_true(loops > 5000 && irreducible > 500);
    (void)unused;
}

/* ---- work ---- */

/* Every block jumps anywhere: nearly all loops have several entries. */
static void fill_anywhere(struct graph *graph, uint32_t i, uint32_t blocks)
{
    if (i + 1 < blocks)
        add_edge(graph, i, i + 1);
    add_edge(graph, i, chance(blocks));
}

/* The first half goes in, the second half back out, each to its own header. */
static void fill_nested(struct graph *graph, uint32_t i, uint32_t blocks)
{
    if (i + 1 < blocks)
        add_edge(graph, i, i + 1);
    if (i >= blocks / 2)
        add_edge(graph, i, blocks - 1 - i);
}

/* As nested, and each loop can be entered behind its header: a walk for each edge is quadratic. */
static void fill_entered(struct graph *graph, uint32_t i, uint32_t blocks)
{
    fill_nested(graph, i, blocks);
    if (i < blocks / 2)
        add_edge(graph, i, blocks / 2 + chance(blocks / 2));
}

/* Jumps back over a few blocks. */
static void fill_ladder(struct graph *graph, uint32_t i, uint32_t blocks)
{
    if (i + 1 < blocks)
        add_edge(graph, i, i + 1);
    add_edge(graph, i, i - chance(i < 4 ? i + 1 : 5));
}

typedef void (*fill_fn)(struct graph *graph, uint32_t i, uint32_t blocks);

static uint64_t steps_of(fill_fn fill, uint32_t blocks)
{
    struct image image = {0};
    struct graph graph;
    begin_graph(&graph, &image, blocks);
    for (uint32_t i = 0; i < blocks; i++) {
        begin_block(&graph, i);
        fill(&graph, i, blocks);
    }
    graph_find_loops(&graph);
    uint64_t each = graph.steps / (blocks + graph.edges.count);
    assert_true(graph.loop_count > 0 && !image.has_gaps);
    graph_free(&graph);
    return each;
}

static void the_search_for_loops_is_linear(void **unused)
{
    static const fill_fn fills[] = {fill_anywhere, fill_nested, fill_entered, fill_ladder};
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        for (uint32_t blocks = 100; blocks <= 100000; blocks *= 10)
            assert_in_range(steps_of(fills[i], blocks), 1, STEPS_MOST);
    assert_in_range(steps_of(fill_entered, 1000000), 1, STEPS_MOST);
    (void)unused;
}

/* ---- code ---- */

static void put_u32(uint8_t *at, uint64_t number)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> 8 * i);
}

/*
 * cmp $most,%edi; ja to the next switch; lea table(%rip),%rax; movslq (%rax,%rdi,4),%rdx;
 * add %rax,%rdx; jmp *%rdx
 */
static size_t put_switch(uint8_t *code, size_t at, uint32_t most, size_t table)
{
    static const uint8_t pattern[] = {0x81, 0xff, 0,    0,    0,    0,    0x0f, 0x87, 18,   0,
                                      0,    0,    0x48, 0x8d, 0x05, 0,    0,    0,    0,    0x48,
                                      0x63, 0x14, 0xb8, 0x48, 0x01, 0xc2, 0xff, 0xe2, 0x66, 0x90};
    memcpy(code + at, pattern, sizeof pattern);
    put_u32(code + at + 2, most);
    put_u32(code + at + 15, table - (at + 19));
    return sizeof pattern;
}

/* Steps for each switch of a function of switches whose table is their own code. */
static uint64_t steps_of_tables(size_t switches, uint32_t most, bool has_lea)
{
    size_t size = 30 * switches + 1, last = 0;
    uint8_t *code = must_grow(NULL, size, 1);
    for (size_t i = 0, at = 0; i < switches; i++, at += 30) {
        put_switch(code, at, most, chance((uint32_t)at + 1));
        if (!has_lea)
            memset(code + at + 12, 0x90, 7); /* as if another place had set the register */
    }
    code[size - 1] = 0xc3;
    struct image image = {.machine = MACHINE_X86_64,
                          .segments = must_grow(NULL, 1, sizeof *image.segments),
                          .segment_count = 1,
                          .extents = must_grow(NULL, 1, sizeof *image.extents),
                          .extent_count = 1,
                          .last_extent = &last};
    image.segments[0] = (struct segment){
        .start = BASE, .end = BASE + size, .bytes = code, .known = calloc(size, 1), .is_code = true};
    image.extents[0] = (struct extent){.start = BASE, .end = BASE + size, .name = "f"};
    struct graph graph;
    graph_init(&graph, &image);
    assert_true(graph_read(&graph, &image.extents[0]) && !image.is_spent);
    uint64_t each = graph.steps / switches;
    graph_free(&graph);
    image.last_extent = NULL;
    free_image(&image);
    free(code);
    return each;
}

static void jump_tables_are_linear(void **unused)
{
    for (size_t switches = 10; switches <= 10000; switches *= 10) {
        assert_in_range(steps_of_tables(switches, 127, true), 30, 300);
        assert_in_range(steps_of_tables(switches, TABLE_MOST - 1, true), 30, 2500);
        assert_in_range(steps_of_tables(switches, 127, false), 1, 300);
    }
    (void)unused;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_those_of_the_definition),
        cmocka_unit_test(the_search_for_loops_is_linear),
        cmocka_unit_test(jump_tables_are_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
