/* SPDX-License-Identifier: BSD-3-Clause */
/* From the events of calls to a tree of contexts with their calls and own time: what happens for every event, of any recording. */
#ifndef LODE_ANALYSIS_CALLTREE_BUILDER_H
#define LODE_ANALYSIS_CALLTREE_BUILDER_H

#include "base/spool.h"
#include "model/tree.h"
#include <lode/event.h>

enum {
    LODE_CALLTREE_RECENT = 8 /* children that a node remembers: more than most callers call */
};

/* What stays of a context when all events were read. */
struct lode_calltree_counts {
    struct lode_tree_node base;
    uint64_t calls; /* and LODE_CALLTREE_OFF_CPU */
    uint64_t self;  /* nanoseconds */
};

/* A context while events are read: one cache line. */
struct lode_calltree_node {
    struct lode_calltree_counts counts;
    uint64_t tags; /* a byte for each child below, made from its frame; which may be that of another too */
    uint32_t children[LODE_CALLTREE_RECENT]; /* some that were called; 0 where there are fewer */
};

/* In the calls of a node: it stands for off-CPU time. */
#define LODE_CALLTREE_OFF_CPU (UINT64_C(1) << 63)

static inline uint8_t calltree_tag(uint32_t frame)
{
    return (uint8_t)(frame * UINT32_C(0x9e3779b1) >> 24);
}

/*
 * The child of a node whose frame has the tag of this one, if the node remembers one: perhaps the right one, perhaps 0. No branch depends
 * on which it is.
 */
static inline uint32_t calltree_recall(const struct lode_calltree_node *node, uint32_t frame)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t differing = node->tags ^ ones * calltree_tag(frame);
    /* The lowest byte that is zero is found for certain; there is always an end. */
    uint64_t zeros = (differing - ones) & ~differing & tops;
    return node->children[(unsigned)__builtin_ctzll(zeros | UINT64_C(1) << 63) / 8];
}

/* What the user of a builder decides. */
struct lode_calltree_hooks {
    /* The number of the frame that a function has in the tree; LODE_NO_NUMBER if there is no memory. Asked once for each function. */
    uint32_t (*identify)(void *user, const lode_function *function);
    /* An instant event, or the end of a call that failed, in the call that `node` stands for, which is `depth` deep. May be NULL. */
    lode_status (*note)(void *user, const lode_event *event, uint32_t node, size_t depth, lode_error *error);
    void *user;
};

struct lode_calltree_builder {
    struct lode_content_tree tree; /* of struct lode_calltree_node */
    struct lode_calltree_hooks hooks;
    uint32_t *frames; /* by index of function in the recording */
    uint32_t function_count;

    /* The track that is being read. */
    uint32_t *stack; /* open calls; the first is what is outside of all calls */
    size_t depth, stack_capacity;
    uint64_t time; /* of the last event of a call */
    bool has_begun;
    uint32_t *touched; /* nodes whose calls are not 0 */
    uint32_t touched_count, touched_capacity;

    /* Samples: the time of the last one that was written; with a resolution, the one that waits, and when it is due. */
    uint64_t trace; /* as in lode_build_options */
    struct lode_spool samples;
    uint64_t sample_count; /* of the track */
    uint64_t written, due;
    uint64_t waiting_time;
    uint32_t waiting;
    bool is_idle; /* no call was open at the last one that was written */
};

/* `trace` is as in lode_build_options; the caller opens `samples` if there are any. Close it in every case. */
lode_status lode_calltree_builder_open(struct lode_calltree_builder *builder,
                                       const struct lode_calltree_hooks *hooks, uint64_t trace,
                                       lode_error *error);
void lode_calltree_builder_close(struct lode_calltree_builder *builder);
/* Forgets functions: the next track is of another recording. */
void lode_calltree_builder_forget(struct lode_calltree_builder *builder);
/* Begins with a track. `entry` is the node that stands for what is outside of all calls. */
lode_status lode_calltree_builder_begin(struct lode_calltree_builder *builder, uint32_t entry,
                                        lode_error *error);
/* Balanced events, in chronological order. */
lode_status lode_calltree_builder_take(struct lode_calltree_builder *builder, const lode_event *events,
                                       size_t count, lode_error *error);
/* Writes the sample that waits. */
lode_status lode_calltree_builder_end(struct lode_calltree_builder *builder, lode_error *error);
/* Lets a node remember one of its children. */
void lode_calltree_remember(const struct lode_content_tree *tree, uint32_t node, uint32_t child);

static inline struct lode_calltree_node *calltree_nodes(const struct lode_content_tree *tree)
{
    return tree->nodes.bytes;
}

/*
 * Samples as spooled, little-endian: 15 bits of time since the last one, or LODE_SAMPLE_FAR, and then a bit that says that a call has
 * ended. If it is far, 64 bits of time follow; if no call has ended, 32 bits for the node that is current now. Else it is the parent of
 * the last one.
 */
enum {
    LODE_SAMPLE_FAR = 0x7fff,
    LODE_SAMPLE_ENDED = 0x8000,
    LODE_SAMPLE_MAX = 14 /* bytes */
};

#endif
