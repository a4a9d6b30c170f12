/* SPDX-License-Identifier: BSD-3-Clause */
/* A synthetic program: a call graph, and a random walk over it around a usual depth. */
#ifndef LODE_MODEL_SYNTH_PROGRAM_H
#define LODE_MODEL_SYNTH_PROGRAM_H

#include "base/memory/arena.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    SYNTH_CHOICES = 8, /* per caller; some callees repeat, for a few hot paths */
    SYNTH_LEAF_CHOICES = 4,
    SYNTH_ROOTS = 2 /* functions without callers, the first ones */
};

struct synth_callees {
    uint32_t calls[SYNTH_CHOICES];       /* callees that call others */
    uint32_t leaves[SYNTH_LEAF_CHOICES]; /* callees that do not */
};

struct synth_program {
    struct synth_callees *functions;
    uint32_t leaf_count;   /* the last functions */
    uint8_t *enter, *leaf; /* thresholds by depth, of 256: enter; leaf call */
};

/* splitmix64 of several numbers: independent streams, reproducible in any order. */
static inline uint64_t synth_draw(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = seed + a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1b54a32d192ed03);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A time step from 25 random bits: each doubling is half as frequent, like real durations. */
static inline uint64_t synth_step(uint64_t random)
{
    unsigned doubled = (unsigned)__builtin_ctz((unsigned)(random & 0xfff) | 0x1000);
    return (16 + (random >> 12 & 0xf)) << doubled;
}

/* Makes a program with calls at most `depth` deep. False if out of memory. */
bool lode_synth_program_make(struct synth_program *program, struct lode_arena *arena, uint32_t functions,
                             uint32_t depth, uint64_t seed);

/* A walk in progress; its outermost call has begun. */
struct synth_walk {
    const struct synth_program *program;
    uint64_t state;  /* of the random numbers */
    uint64_t left;   /* remaining enters and leaves */
    uint32_t depth;  /* open calls */
    uint32_t *stack; /* their functions */
};

enum synth_move {
    SYNTH_STAY,
    SYNTH_ENTER, /* a call begins */
    SYNTH_LEAF,  /* a call begins and ends */
    SYNTH_LEAVE  /* a call ends */
};

static inline uint64_t synth_next(struct synth_walk *walk)
{
    walk->state += UINT64_C(0x9e3779b97f4a7c15);
    return synth_draw(walk->state, 0, 0);
}

/*
 * The next move. Sets `function`, and `random` to 48 unused bits; the depth is that after the move.
 * Each open call uses up one of what is left.
 */
static inline enum synth_move synth_move(struct synth_walk *walk, uint32_t *function, uint64_t *random)
{
    uint64_t drawn = synth_next(walk);
    uint32_t depth = walk->depth, top = walk->stack[depth - 1];
    const struct synth_callees *callees = &walk->program->functions[top];
    unsigned chance = walk->left > depth ? (unsigned)(drawn & 0xff) : 0xff;
    drawn >>= 8;
    *random = drawn >> 8;
    if (chance < walk->program->enter[depth]) {
        *function = walk->stack[walk->depth++] = callees->calls[drawn & (SYNTH_CHOICES - 1)];
        return SYNTH_ENTER;
    }
    if (chance < walk->program->leaf[depth]) {
        *function = callees->leaves[drawn & (SYNTH_LEAF_CHOICES - 1)];
        return SYNTH_LEAF;
    }
    if (walk->left != depth && depth <= 1)
        return SYNTH_STAY;
    *function = top;
    walk->depth--;
    return SYNTH_LEAVE;
}

#endif
