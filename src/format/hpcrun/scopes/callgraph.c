/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/scopes/callgraph.h"
#include "base/compare.h"
#include <stdlib.h>

enum {
    EDGES_MOST = 1 << 22
};

struct edge {
    uint32_t callee, caller;
    uint64_t call;
};

/* Strongly connected components by Tarjan's algorithm, from callee to caller. */
struct components {
    const uint32_t *first;
    const struct hpcrun_caller *callers;
    uint32_t *order;   /* by function: when it was reached, from 1; 0: not yet */
    uint32_t *lowest;  /* by function: the earliest that it leads to */
    uint32_t *root;    /* by function; LODE_NO_NUMBER: not known yet */
    uint32_t *pending; /* reached, without a root */
    uint32_t *path;    /* of the search */
    uint32_t *next;    /* by function: the next caller to look at */
    uint32_t reached, pending_count, depth;
};

static void enter(struct components *c, uint32_t function)
{
    c->order[function] = c->lowest[function] = ++c->reached;
    c->next[function] = c->first[function];
    c->pending[c->pending_count++] = function;
    c->path[c->depth++] = function;
}

static void leave(struct components *c, uint32_t function)
{
    if (c->lowest[function] == c->order[function])
        while (c->root[function] == LODE_NO_NUMBER)
            c->root[c->pending[--c->pending_count]] = function;
    if (--c->depth > 0) {
        uint32_t above = c->path[c->depth - 1];
        if (c->lowest[function] < c->lowest[above])
            c->lowest[above] = c->lowest[function];
    }
}

static void search(struct components *c, uint32_t start)
{
    enter(c, start);
    while (c->depth > 0) {
        uint32_t function = c->path[c->depth - 1];
        if (c->next[function] == c->first[function + 1]) {
            leave(c, function);
            continue;
        }
        uint32_t caller = c->callers[c->next[function]++].function;
        if (c->order[caller] == 0)
            enter(c, caller);
        else if (c->root[caller] == LODE_NO_NUMBER && c->order[caller] < c->lowest[function])
            c->lowest[function] = c->order[caller];
    }
}

/* The root of each function's component. */
static lode_status find_roots(const struct hpcrun_callgraph *graph, uint32_t count, uint32_t *roots,
                              lode_error *error)
{
    uint32_t *memory = calloc((size_t)count * 5 + 1, sizeof *memory);
    LODE_TRY_ALLOC(memory, error);
    struct components c = {.first = graph->first,
                           .callers = graph->callers,
                           .order = memory,
                           .lowest = memory + count,
                           .pending = memory + 2 * (size_t)count,
                           .path = memory + 3 * (size_t)count,
                           .next = memory + 4 * (size_t)count,
                           .root = roots};
    memset(roots, 0xff, count * sizeof *roots);
    for (uint32_t i = 0; i < count; i++)
        if (c.order[i] == 0)
            search(&c, i);
    free(memory);
    return LODE_OK;
}

/* Groups edges by callee; those of a callee stay in their order. */
static lode_status group(struct hpcrun_callgraph *graph, const struct lode_array *edges, uint32_t count,
                         lode_error *error)
{
    lode_hpcrun_callgraph_free(graph);
    graph->first = calloc((size_t)count + 2, sizeof *graph->first);
    graph->callers = malloc((edges->count + 1) * sizeof *graph->callers);
    LODE_TRY_ALLOC(graph->first && graph->callers, error);
    /* Counted one place further, then filled: each ends where the next begins. */
    uint32_t *ends = graph->first + 1;
    for (size_t i = 0; i < edges->count; i++)
        ends[LODE_ARRAY_AT(edges, struct edge, i)->callee + 1]++;
    for (uint32_t i = 0; i < count; i++)
        ends[i + 1] += ends[i];
    for (size_t i = 0; i < edges->count; i++) {
        const struct edge *edge = LODE_ARRAY_AT(edges, struct edge, i);
        graph->callers[ends[edge->callee]++] = (struct hpcrun_caller){edge->call, edge->caller};
    }
    return LODE_OK;
}

LODE_COMPARE_BY_2(compare_callers, struct hpcrun_caller, call, function);

/* Sorts the callers of each function, and drops repeated ones. */
static void settle(struct hpcrun_callgraph *graph, uint32_t count)
{
    uint32_t stored = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = graph->first[i], past = graph->first[i + 1], begin = stored;
        qsort(graph->callers + first, past - first, sizeof *graph->callers, compare_callers);
        for (uint32_t k = first; k < past; k++)
            if (stored == begin || compare_callers(&graph->callers[k], &graph->callers[stored - 1]) != 0)
                graph->callers[stored++] = graph->callers[k];
        graph->first[i] = begin;
    }
    graph->first[count] = stored;
}

static lode_status add_edge(struct lode_array *edges, struct edge edge, lode_error *error)
{
    if (edges->count == EDGES_MOST)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %d calls", EDGES_MOST);
    struct edge *slot = lode_array_push(edges);
    LODE_TRY_ALLOC(slot, error);
    *slot = edge;
    return LODE_OK;
}

static lode_status read_edges(const struct hpcstruct_module *module, struct lode_array *edges,
                              struct lode_map *functions, lode_error *error)
{
    for (uint32_t i = 0; i < module->scopes.count; i++) {
        const struct hpcstruct_scope *scope = LODE_ARRAY_AT(&module->scopes, struct hpcstruct_scope, i);
        bool added;
        if (scope->kind == HPCSTRUCT_FUNCTION)
            LODE_TRY_ALLOC(lode_map_add(functions, scope->address, i, &added), error);
    }
    for (size_t i = 0; i < module->calls.count; i++) {
        const struct hpcstruct_call *call = LODE_ARRAY_AT(&module->calls, struct hpcstruct_call, i);
        const uint32_t *callee = lode_map_get(functions, call->callee);
        if (callee == NULL)
            return lode_fail(error, LODE_ABSENT, module->path, LODE_NO_OFFSET, "a callee is no function");
        LODE_TRY(add_edge(edges, (struct edge){*callee, call->function, call->address}, error));
    }
    return LODE_OK;
}

/* Edges between components; a call to a root is a call to the others of its component, too. */
static lode_status break_cycles(const struct lode_array *edges, const uint32_t *roots, uint32_t count,
                                struct lode_array *out, lode_error *error)
{
    uint32_t *next = malloc(((size_t)count + 1) * sizeof *next); /* of the same root */
    LODE_TRY_ALLOC(next, error);
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < count; i++)
        next[i] = LODE_NO_NUMBER;
    for (uint32_t i = count; i-- > 0;)
        if (roots[i] != i) {
            next[i] = next[roots[i]];
            next[roots[i]] = i;
        }
    for (size_t i = 0; i < edges->count && status == LODE_OK; i++) {
        struct edge edge = *LODE_ARRAY_AT(edges, struct edge, i);
        if (roots[edge.callee] == roots[edge.caller])
            continue;
        status = add_edge(out, edge, error);
        if (roots[edge.callee] != edge.callee)
            continue;
        for (uint32_t k = next[edge.callee]; k != LODE_NO_NUMBER && status == LODE_OK; k = next[k])
            status = add_edge(out, (struct edge){k, edge.caller, edge.call}, error);
    }
    free(next);
    return status;
}

static lode_status make(struct hpcrun_callgraph *out, const struct lode_array *edges,
                        struct lode_array *between, uint32_t count, lode_error *error)
{
    LODE_TRY(group(out, edges, count, error));
    uint32_t *roots = malloc(((size_t)count + 1) * sizeof *roots);
    LODE_TRY_ALLOC(roots, error);
    lode_status status = find_roots(out, count, roots, error);
    if (status == LODE_OK)
        status = break_cycles(edges, roots, count, between, error);
    free(roots);
    LODE_TRY(status);
    LODE_TRY(group(out, between, count, error));
    settle(out, count);
    return LODE_OK;
}

lode_status lode_hpcrun_callgraph_make(struct hpcrun_callgraph *out, const struct hpcstruct_module *module,
                                       lode_error *error)
{
    struct lode_array edges, between;
    struct lode_map functions;
    *out = (struct hpcrun_callgraph){0};
    if (!module->has_calls && module->calls.count == 0)
        return lode_fail(error, LODE_ABSENT, module->path, LODE_NO_OFFSET, "no call graph");
    lode_array_init(&edges, sizeof(struct edge), EDGES_MOST);
    lode_array_init(&between, sizeof(struct edge), EDGES_MOST);
    lode_map_init(&functions);
    lode_status status = read_edges(module, &edges, &functions, error);
    if (status == LODE_OK)
        status = make(out, &edges, &between, (uint32_t)module->scopes.count, error);
    if (status != LODE_OK)
        lode_hpcrun_callgraph_free(out);
    lode_map_free(&functions);
    lode_array_free(&edges);
    lode_array_free(&between);
    return status;
}

void lode_hpcrun_callgraph_free(struct hpcrun_callgraph *graph)
{
    free(graph->first);
    free(graph->callers);
    *graph = (struct hpcrun_callgraph){0};
}
