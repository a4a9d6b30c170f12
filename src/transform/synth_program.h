/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that was never written: who calls whom, and a walk over that, up and down around a usual depth. */
#ifndef LODE_TRANSFORM_SYNTH_PROGRAM_H
#define LODE_TRANSFORM_SYNTH_PROGRAM_H

#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    SYNTH_CHOICES = 8, /* of a caller; some callees have several, so that a few paths are taken mostly */
    SYNTH_LEAF_CHOICES = 4,
    SYNTH_ROOTS = 2 /* functions that nobody calls, the first ones */
};

struct synth_callees {
    uint32_t calls[SYNTH_CHOICES];       /* functions that call others */
    uint32_t leaves[SYNTH_LEAF_CHOICES]; /* functions that do not */
};

struct synth_program {
    struct synth_callees *functions;
    uint32_t leaf_count;   /* the last ones */
    uint8_t *enter, *leaf; /* by depth, of 256: a call that goes deeper; one that does not is in between */
};

/* splitmix64 of several numbers: streams that do not depend on each other or on who draws them. */
static inline uint64_t synth_draw(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = seed + a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1b54a32d192ed03);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A step in time from 25 bits: each doubling is half as frequent, as durations of calls are. */
static inline uint64_t synth_step(uint64_t random)
{
    unsigned doubled = (unsigned)__builtin_ctz((unsigned)(random & 0xfff) | 0x1000);
    return (16 + (random >> 12 & 0xf)) << doubled;
}

/* Makes it of so many functions, with calls that are at most `depth` deep. False if there is no memory. */
bool lode_synth_program_make(struct synth_program *program, struct lode_arena *arena, uint32_t functions,
                             uint32_t depth, uint64_t seed);

/* A walk under way; its outermost call has begun. */
struct synth_walk {
    const struct synth_program *program;
    uint64_t state;  /* of the numbers */
    uint64_t left;   /* beginnings and ends of calls to come */
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

/* What comes next; the calls that are open take one of what is left each. The depth is then that behind it; `function` is which, and `random` has 48 bits left. */
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
