/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call graph of a GPU binary, without recursion. A sample inside a GPU kernel has no call path:
 * the graph gives all paths that can lead to it, from functions that nobody calls.
 */
#ifndef LODE_FORMAT_HPCRUN_CALLGRAPH_H
#define LODE_FORMAT_HPCRUN_CALLGRAPH_H

#include "format/hpcrun/scopes/structure.h"

enum {
    HPCRUN_PATHS_MOST = 4096, /* to a function */
    HPCRUN_CALLS_MOST = 1024  /* of a path */
};

struct hpcrun_caller {
    uint64_t call;     /* address of the instruction */
    uint32_t function; /* that it is in */
};

/* Functions are scopes of the module. */
struct hpcrun_callgraph {
    uint32_t *first;               /* by function: its first caller; one more ends the last */
    struct hpcrun_caller *callers; /* of a function: rising, different */
};

/*
 * Calls inside a cycle of functions are left out. A call from outside to the root of a cycle is a
 * call to each of its functions: hpcprof's root is the first one that a search from callee to
 * caller reaches. LODE_ABSENT: the binary has no call graph, or a callee is no function.
 */
lode_status lode_hpcrun_callgraph_make(struct hpcrun_callgraph *out, const struct hpcstruct_module *module,
                                       lode_error *error);
void lode_hpcrun_callgraph_free(struct hpcrun_callgraph *graph);

/* From a function that nobody calls, by calls, outermost first. */
struct hpcrun_path {
    uint32_t entry;
    uint32_t first, count; /* in `calls` */
};

struct hpcrun_paths {
    struct lode_array paths; /* struct hpcrun_path: ordered by their calls, the last call first */
    struct lode_array calls; /* uint64_t */
};

void lode_hpcrun_paths_init(struct hpcrun_paths *paths);
void lode_hpcrun_paths_free(struct hpcrun_paths *paths);
/* Replaces `out` by the paths to a function. LODE_ERR_LIMIT: there are too many. */
lode_status lode_hpcrun_paths_find(const struct hpcrun_callgraph *graph, uint32_t function,
                                   struct hpcrun_paths *out, lode_error *error);

#endif
