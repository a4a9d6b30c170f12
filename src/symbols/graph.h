/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control flow graph of a function, and its loops. A function is its extent and the pieces that
 * it jumps into: cold parts, and code that it shares with others.
 */
#ifndef SYMBOLS_GRAPH_H
#define SYMBOLS_GRAPH_H

#include "image.h"

enum {
    MARK_REACHED = 1,
    MARK_LEADER = 2, /* a block begins */
    MARK_END = 4,    /* execution does not go on behind it */
    MARK_LEAVES = 8, /* it may go to another function */
    MARK_TABLE = 16, /* an indirect jump whose targets are known */
    PIECES_MOST = 64,
    CODE_MOST = 1 << 22,  /* instructions of a graph */
    EDGES_MOST = 1 << 20, /* of indirect jumps */
    TABLE_MOST = 1 << 14, /* entries of a table */
    LOOPS_DEEP = 64,      /* loops in each other; those further in belong to the last one */
    NOWHERE = -1
};

#define NO_INDEX UINT32_MAX

struct piece {
    uint64_t start, end;
    uint32_t first, count; /* instructions */
    bool is_shared;        /* of another function */
};

struct edge {
    uint32_t from, to;
};

struct edges {
    struct edge *items;
    size_t count, room;
};

struct block {
    uint32_t first, last; /* instructions, inclusive */
    uint32_t edge, edge_count;
    uint32_t loop; /* the innermost; NO_INDEX: none */
};

struct loop {
    uint64_t address; /* the smallest one of its entries */
    uint32_t header;  /* a block */
    uint32_t parent;  /* a loop; NO_INDEX: none */
    uint32_t depth;   /* of loops around it */
    bool is_irreducible;
};

struct graph {
    struct image *image;
    const struct extent *function;
    unsigned round; /* of what is known of callees */
    struct piece pieces[PIECES_MOST];
    uint32_t piece_count;
    struct instruction *code;
    uint32_t code_count, code_room;
    bool is_full;                   /* a piece has more code than there is room for */
    uint32_t *jump_from;            /* by instruction: the first jump to it, or NO_INDEX */
    uint32_t jump_count, jump_room; /* of instructions */
    uint64_t leas[16];              /* by register: the address that lea gives it; 0: none */
    uint64_t entry_count;           /* of tables that were read */
    uint32_t *work;                 /* instructions that are to be walked */
    uint32_t work_count, work_room;
    struct edges jumps; /* of indirect jumps, between instructions */
    uint32_t *open;     /* indirect jumps without a table */
    uint32_t open_count, open_room;
    bool is_returning;
    struct block *blocks;
    uint32_t block_count, block_room;
    struct edges edges; /* between blocks, by their first */
    struct loop *loops; /* parents before their children */
    uint32_t loop_count, loop_room;
    uint64_t steps; /* that loops and tables took so far: linear in blocks and edges */
};

/* Memory is used again from one function to the next. */
void graph_init(struct graph *graph, struct image *image);
void graph_free(struct graph *graph);
/* Finds blocks and loops. False: the budget is spent. */
bool graph_read(struct graph *graph, const struct extent *function);
/* Whether a function may return, as far as `round` tells. */
bool graph_returns(struct image *image, struct extent *function, unsigned round);

/* The function that an extent without a name of its own is a part of; else the extent. */
const struct extent *graph_owner(struct image *image, const struct extent *extent);

uint64_t graph_address(const struct graph *graph, uint32_t index);
/* The instruction that has an address, in the pieces so far; NO_INDEX: none. */
uint32_t graph_find(const struct graph *graph, uint64_t address);
/* The same; a piece is added if the address is in code that is shared, or a cold part. */
uint32_t graph_resolve(struct graph *graph, uint64_t address);
void edges_add(struct edges *edges, uint32_t from, uint32_t to);

/* Adds the targets of an indirect jump of x86-64 to `jumps`. False: it has no table. */
bool graph_read_table(struct graph *graph, uint32_t index);
/* Finds loops from blocks and edges. */
void graph_find_loops(struct graph *graph);
/* The innermost loop around both loops, or one of them; NO_INDEX: none. */
uint32_t graph_common_loop(const struct graph *graph, uint32_t one, uint32_t other);

#endif
