/* SPDX-License-Identifier: BSD-3-Clause */
/* From call events of any recording to a tree of contexts with calls and own time. */
#ifndef LODE_ANALYSIS_CALLTREE_BUILDER_H
#define LODE_ANALYSIS_CALLTREE_BUILDER_H

#include "base/io/spool.h"
#include "model/database/tree.h"
#include "model/recording/cuts.h"
#include <lode/event.h>

enum {
    LODE_CALLTREE_RECENT = 8 /* remembered children: more than most callers have */
};

/* The part of a context that remains after all events are read. */
struct lode_calltree_counts {
    struct lode_tree_node base;
    uint64_t calls; /* with LODE_CALLTREE_OFF_CPU */
    uint64_t self;  /* nanoseconds */
};

/* A context while events are read: one cache line. */
struct lode_calltree_node {
    struct lode_calltree_counts counts;
    uint64_t tags;                           /* a byte per child, from its frame; may collide */
    uint32_t children[LODE_CALLTREE_RECENT]; /* some callees; 0 where unused */
};

/* Flag in the calls of a node: it is off-CPU time. */
#define LODE_CALLTREE_OFF_CPU (UINT64_C(1) << 63)

static inline uint8_t calltree_tag(uint32_t frame)
{
    return (uint8_t)(frame * UINT32_C(0x9e3779b1) >> 24);
}

/* A remembered child whose tag matches: possibly the right one, possibly 0. Branch-free. */
static inline uint32_t calltree_recall(const struct lode_calltree_node *node, uint32_t frame)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t differing = node->tags ^ ones * calltree_tag(frame);
    /* The lowest zero byte is exact; there is always an end. */
    uint64_t zeros = (differing - ones) & ~differing & tops;
    return node->children[(unsigned)__builtin_ctzll(zeros | UINT64_C(1) << 63) / 8];
}

/* Decisions of the builder's user. */
struct lode_calltree_hooks {
    /* The frame number of a function; LODE_NO_NUMBER if out of memory. Called once per function. */
    uint32_t (*identify)(void *user, const lode_function *function);
    /* An instant event or a failed call, in the call of `node` at this depth. May be NULL. */
    lode_status (*note)(void *user, const lode_event *event, uint32_t node, size_t depth, lode_error *error);
    void *user;
};

struct lode_calltree_builder {
    struct lode_content_tree tree; /* of struct lode_calltree_node */
    struct lode_calltree_hooks hooks;
    uint32_t *frames; /* by function index */
    uint32_t function_count;

    /* The current track. */
    uint32_t *stack; /* open calls; the first is outside of all calls */
    size_t depth, stack_capacity;
    uint64_t time; /* of the last call event */
    bool has_begun;
    bool is_below;       /* the track begins inside of calls of another one */
    uint64_t outer_self; /* of the innermost of those, before the track */
    uint32_t *touched;   /* nodes with nonzero calls */
    uint32_t touched_count, touched_capacity;

    /* Samples: time of the last one; with a resolution, the pending one and when it is due. */
    uint64_t trace; /* as in lode_build_options */
    struct lode_spool samples;
    uint64_t sample_count; /* of the track */
    uint64_t written, due;
    uint64_t waiting_time;
    uint32_t waiting;
    bool is_idle; /* no call was open at the last written one */
};

/* `trace` as in lode_build_options; the caller opens `samples` if needed. Always close it. */
lode_status lode_calltree_builder_open(struct lode_calltree_builder *builder,
                                       const struct lode_calltree_hooks *hooks, uint64_t trace,
                                       lode_error *error);
void lode_calltree_builder_close(struct lode_calltree_builder *builder);
/* Clears functions: the next track is of another recording. */
void lode_calltree_builder_forget(struct lode_calltree_builder *builder);
/* Starts a track. `entry` is the node outside of all calls. */
lode_status lode_calltree_builder_begin(struct lode_calltree_builder *builder, uint32_t entry,
                                        lode_error *error);
/* Puts the track that was started below calls of another one, the outermost first. */
lode_status lode_calltree_builder_below(struct lode_calltree_builder *builder,
                                        const lode_function *const *callers, size_t count, lode_error *error);
/* After begin: the track was cut here. Its open calls count where they began. */
lode_status lode_calltree_builder_resume(struct lode_calltree_builder *builder, const struct lode_cut *cut,
                                         lode_error *error);
/* Balanced, chronological events. */
lode_status lode_calltree_builder_take(struct lode_calltree_builder *builder, const lode_event *events,
                                       size_t count, lode_error *error);
/* Writes the pending sample. */
lode_status lode_calltree_builder_end(struct lode_calltree_builder *builder, lode_error *error);
/* Makes a node remember one of its children. */
void lode_calltree_remember(const struct lode_content_tree *tree, uint32_t node, uint32_t child);

static inline struct lode_calltree_node *calltree_nodes(const struct lode_content_tree *tree)
{
    return tree->nodes.bytes;
}

/*
 * Spooled samples, little-endian: 15 bits of time since the last one, or LODE_SAMPLE_FAR, and a bit
 * that says that a call ended. If far, 64 bits of time follow. If no call ended, 32 bits for the
 * current node follow; else it is the parent of the last one.
 */
enum {
    LODE_SAMPLE_FAR = 0x7fff,
    LODE_SAMPLE_ENDED = 0x8000,
    LODE_SAMPLE_MAX = 14 /* bytes */
};

#endif
