/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops around offsets, and functions that have no symbol. First the functions that have offsets
 * are analysed, which adds offsets: the instructions of their loops, so that debug information also
 * tells what is inlined there. Then loops find their place among the scopes of each offset.
 */
#ifndef SYMBOLS_STRUCTURE_H
#define SYMBOLS_STRUCTURE_H

#include "answer.h"
#include "graph.h"

/* A loop, of all functions that were analysed. */
struct found_loop {
    uint64_t address;
    uint32_t parent;    /* before it; NO_INDEX: none */
    uint32_t root;      /* the outermost one around it, or itself */
    uint32_t merged_to; /* itself, or the loop that it is a part of */
    uint32_t frame;     /* the scope of the function, or inlined function, that has all of it */
    uint32_t level;     /* the same, for the branches that leave it */
    uint32_t file, line;
    bool is_irreducible, is_used, has_frame, has_level;
};

struct found_block {
    uint64_t start, end;
    uint32_t loop;
};

/* A branch out of a loop. */
struct found_exit {
    uint64_t address;
    uint32_t loop;
};

struct found_function {
    const struct extent *extent;
    uint32_t first_block, block_count; /* by start: those in loops */
    uint32_t scope;                    /* SYMBOLS_NONE: not known yet */
};

struct structure {
    struct image image;
    struct graph graph;
    bool is_open;
    uint32_t *function_of; /* by extent: plus 1; 0: not analysed */
    struct found_function *functions;
    size_t function_count, function_room;
    struct found_loop *loops; /* parents first */
    size_t loop_count, loop_room;
    struct found_block *blocks;
    size_t block_count, block_room;
    struct found_exit *exits;
    size_t exit_count, exit_room;
    uint64_t *extra; /* offsets of instructions in loops */
    size_t extra_count, extra_room;
    uint32_t *slots; /* a hash table of scopes: numbers plus 1 */
    size_t slot_count, slot_used;
};

/* `debug`: as of image_open. With a processor that is unknown, there are no loops. */
void structure_open(struct structure *structure, Elf *elf, Elf *debug);
void structure_close(struct structure *structure);
/* All instructions become offsets. */
void structure_take_all(struct structure *structure, struct answers *answers);
/* Finds loops, and adds offsets. */
void structure_analyse(struct structure *structure, struct answers *answers);
/* Gives loops lines and places; `lines.c` of this folder. */
void structure_place_loops(struct structure *structure, const struct answers *answers);
/* Puts loops among the scopes of all offsets. */
void structure_apply(struct structure *structure, struct answers *answers);
/* Names stubs of the procedure linkage table, after all others have names. */
void name_stubs(const struct structure *structure, struct answers *answers);
/* The end of the code at an offset, before `next`. */
uint64_t structure_end(const struct structure *structure, uint64_t offset, uint64_t next);

/* The innermost loop around an offset; NO_INDEX: none. */
uint32_t structure_loop(const struct structure *structure, uint64_t offset);

#endif
