/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recording/synth_program.h"

enum {
    USUAL_DEPTH = 9
};

/* The call graph. The last quarter are leaves. A caller takes one of two callees mostly. */
static void make_calls(struct synth_program *program, uint32_t count, uint64_t seed)
{
    uint32_t inner = count - program->leaf_count;
    for (uint32_t i = 0; i < count; i++) {
        struct synth_callees *function = &program->functions[i];
        uint64_t random = synth_draw(seed, 1, i);
        for (unsigned k = 0; k < SYNTH_CHOICES; k++)
            function->calls[k] = SYNTH_ROOTS + (uint32_t)((k > 1 ? random : synth_draw(random, 2, i)) >> 16) %
                                                   (inner - SYNTH_ROOTS);
        for (unsigned k = 0; k < SYNTH_LEAF_CHOICES; k++)
            function->leaves[k] =
                inner + (uint32_t)(synth_draw(random, 3, (k + 1) / 2) >> 16) % program->leaf_count;
    }
}

/* Below the usual depth calls are more likely than returns, above it less. */
static void make_chances(struct synth_program *program, uint32_t depth)
{
    uint32_t usual = depth * 2 / 5;
    usual = usual < USUAL_DEPTH ? usual : USUAL_DEPTH;
    for (uint32_t d = 0; d <= depth; d++) {
        int64_t lean = ((int64_t)usual - d) * 6;
        lean = lean < -60 ? -60 : lean;
        program->enter[d] = d + 1 >= depth ? 0 : (uint8_t)(75 + lean);
        /* No calls at the deepest level; no return from the outermost before the end. */
        program->leaf[d] = d >= depth ? 0 : d <= 1 ? 255 : (uint8_t)(program->enter[d] + 106);
    }
}

bool lode_synth_program_make(struct synth_program *program, struct lode_arena *arena, uint32_t functions,
                             uint32_t depth, uint64_t seed)
{
    program->functions = lode_arena_alloc(arena, functions, sizeof *program->functions);
    program->enter = lode_arena_alloc(arena, (size_t)depth + 1, 1);
    program->leaf = lode_arena_alloc(arena, (size_t)depth + 1, 1);
    if (!program->functions || !program->enter || !program->leaf)
        return false;
    program->leaf_count = (functions - SYNTH_ROOTS) / 4 + 1;
    make_calls(program, functions, seed);
    make_chances(program, depth);
    return true;
}
