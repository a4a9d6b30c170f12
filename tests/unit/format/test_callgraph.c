/* SPDX-License-Identifier: BSD-3-Clause */
/* Call graphs of GPU binaries, their paths and shares of these, against slow and obvious ways. */
#include "format/hpcrun/scopes/callgraph.h"
#include "format/hpcrun/source/sites.h"
#include "made_recording.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

enum {
    FUNCTIONS = 7,
    CALLS = 12,
    GRAPHS = 3000,
    PATHS = 4096,
    WIDE = 4,
    PLACES = 32, /* of calls in a function */
    NUMBERS = FUNCTIONS * PLACES
};

/* A module with functions at 0x1000, 0x2000... A call is an instruction of its caller. */
static struct hpcstruct_module new_module(unsigned functions)
{
    struct hpcstruct_module module = {.path = "gpubin", .has_calls = true};
    lode_array_init(&module.scopes, sizeof(struct hpcstruct_scope), SIZE_MAX / 64);
    lode_array_init(&module.calls, sizeof(struct hpcstruct_call), SIZE_MAX / 64);
    for (unsigned i = 0; i < functions; i++) {
        struct hpcstruct_scope *scope = lode_array_push(&module.scopes);
        assert_non_null(scope);
        *scope = (struct hpcstruct_scope){.parent = LODE_NO_NUMBER, .kind = HPCSTRUCT_FUNCTION};
        scope->address = 0x1000 * (i + 1ull);
    }
    return module;
}

static void add_call(struct hpcstruct_module *module, uint32_t caller, uint32_t callee, uint32_t place)
{
    struct hpcstruct_call *call = lode_array_push(&module->calls);
    assert_non_null(call);
    *call = (struct hpcstruct_call){
        .callee = 0x1000 * (callee + 1ull), .address = 0x1000 * (caller + 1ull) + place, .function = caller};
}

static void free_module(struct hpcstruct_module *module)
{
    lode_array_free(&module->scopes);
    lode_array_free(&module->calls);
}

static const struct hpcstruct_call *call_of(const struct hpcstruct_module *module, size_t i)
{
    return LODE_ARRAY_AT(&module->calls, struct hpcstruct_call, i);
}

static uint32_t callee_of(const struct hpcstruct_module *module, size_t i)
{
    return (uint32_t)(call_of(module, i)->callee / 0x1000 - 1);
}

/* The slow way. */
struct slow {
    const struct hpcstruct_module *module;
    bool reaches[FUNCTIONS][FUNCTIONS]; /* from callee to caller */
    unsigned order[FUNCTIONS], reached; /* of a search; 0: not yet */
    uint32_t root[FUNCTIONS];
    uint64_t paths[PATHS][FUNCTIONS]; /* the last call first; 0 ends it */
    uint32_t entries[PATHS];
    unsigned count;
};

static void visit(struct slow *slow, uint32_t function)
{
    slow->order[function] = ++slow->reached;
    for (size_t i = 0; i < slow->module->calls.count; i++) {
        uint32_t caller = call_of(slow->module, i)->function;
        if (callee_of(slow->module, i) == function && slow->order[caller] == 0)
            visit(slow, caller);
    }
}

static void find_slow_roots(struct slow *slow)
{
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        slow->reaches[i][i] = true;
    for (size_t i = 0; i < slow->module->calls.count; i++)
        slow->reaches[callee_of(slow->module, i)][call_of(slow->module, i)->function] = true;
    for (unsigned k = 0; k < FUNCTIONS; k++)
        for (unsigned i = 0; i < FUNCTIONS; i++)
            for (unsigned j = 0; j < FUNCTIONS; j++)
                slow->reaches[i][j] |= slow->reaches[i][k] && slow->reaches[k][j];
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        if (slow->order[i] == 0)
            visit(slow, i);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        slow->root[i] = i;
        for (uint32_t j = 0; j < FUNCTIONS; j++)
            if (slow->reaches[i][j] && slow->reaches[j][i] && slow->order[j] < slow->order[slow->root[i]])
                slow->root[i] = j;
    }
}

static bool leads_to(const struct slow *slow, size_t call, uint32_t function)
{
    uint32_t callee = callee_of(slow->module, call), caller = call_of(slow->module, call)->function;
    if (slow->root[callee] == slow->root[caller])
        return false;
    return callee == function || (slow->root[callee] == callee && slow->root[function] == callee);
}

static void climb(struct slow *slow, uint32_t function, uint64_t *calls, unsigned depth)
{
    bool is_called = false;
    for (size_t i = 0; i < slow->module->calls.count; i++) {
        const struct hpcstruct_call *call = call_of(slow->module, i);
        bool is_repeated = false;
        for (size_t k = 0; k < i; k++)
            is_repeated |= leads_to(slow, k, function) && call_of(slow->module, k)->address == call->address;
        if (!leads_to(slow, i, function) || is_repeated)
            continue;
        is_called = true;
        calls[depth] = call->address;
        climb(slow, call->function, calls, depth + 1);
        calls[depth] = 0;
    }
    if (is_called)
        return;
    assert_true(slow->count < PATHS);
    memcpy(slow->paths[slow->count], calls, sizeof slow->paths[0]);
    slow->entries[slow->count++] = function;
}

/* The number of the path with these calls, the last one first. */
static unsigned find_slow(const struct slow *slow, const uint64_t *calls)
{
    for (unsigned i = 0; i < slow->count; i++)
        if (memcmp(slow->paths[i], calls, sizeof slow->paths[0]) == 0)
            return i;
    fail_msg("%s", "a path that is none");
    return 0;
}

static void reverse(const struct hpcrun_paths *found, size_t number, uint64_t *out)
{
    const struct hpcrun_path *path = LODE_ARRAY_AT(&found->paths, struct hpcrun_path, number);
    assert_true(path->count < FUNCTIONS);
    memset(out, 0, FUNCTIONS * sizeof *out);
    for (uint32_t k = 0; k < path->count; k++)
        out[path->count - 1 - k] = *LODE_ARRAY_AT(&found->calls, uint64_t, path->first + k);
}

/* The number of a call. */
static uint32_t number_of(uint64_t call)
{
    return (uint32_t)((call / 0x1000 - 1) * PLACES + call % 0x1000);
}

/* The share of a path: at each call, what its weight is among the calls of paths that end alike. */
static double slow_share(const struct hpcrun_paths *found, const bool *possible, size_t number,
                         const double *weights)
{
    uint64_t own[FUNCTIONS], other[FUNCTIONS];
    double share = 1;
    reverse(found, number, own);
    for (unsigned depth = 0; depth < FUNCTIONS && own[depth] != 0; depth++) {
        uint64_t seen[PATHS];
        double total = 0;
        unsigned count = 0, alike = 0;
        for (size_t i = 0; i < found->paths.count; i++) {
            reverse(found, i, other);
            if (!possible[i] || memcmp(own, other, depth * sizeof *own) != 0)
                continue;
            alike++;
            bool is_new = true;
            for (unsigned k = 0; k < count; k++)
                is_new &= seen[k] != other[depth];
            if (is_new) {
                seen[count++] = other[depth];
                total += weights[number_of(other[depth])];
            }
        }
        if (alike > 1)
            share *= total > 0 ? weights[number_of(own[depth])] / total : 1.0 / count;
    }
    return share;
}

/* One site, whose routes are the paths. */
static void make_site(const struct hpcrun_paths *found, struct hpcrun_sites *sites)
{
    lode_hpcrun_sites_init(sites);
    for (size_t i = 0; i < 2; i++) {
        uint32_t *first = lode_array_push(&sites->firsts);
        assert_non_null(first);
        *first = i == 0 ? 0 : (uint32_t)found->paths.count;
    }
    for (size_t i = 0; i < found->paths.count; i++) {
        const struct hpcrun_path *path = LODE_ARRAY_AT(&found->paths, struct hpcrun_path, i);
        struct hpcrun_site_route *route = lode_array_push(&sites->routes);
        assert_non_null(route);
        *route = (struct hpcrun_site_route){.first = path->first, .count = path->count};
    }
    for (size_t i = 0; i < found->calls.count; i++) {
        uint32_t *call = lode_array_push(&sites->calls);
        assert_non_null(call);
        *call = number_of(*LODE_ARRAY_AT(&found->calls, uint64_t, i));
    }
}

static void check_shares(const struct hpcrun_paths *found, uint64_t *seed)
{
    struct hpcrun_sites sites;
    bool possible[PATHS];
    double shares[PATHS], weights[NUMBERS], sum = 0;
    uint64_t modulus = 1 + made_random(seed) % 11;
    size_t count = found->paths.count, some = 0;
    for (size_t i = 0; i < NUMBERS; i++)
        weights[i] = (double)(made_random(seed) % modulus);
    for (size_t i = 0; i < count; i++)
        some += possible[i] = made_random(seed) % 4 != 0;
    make_site(found, &sites);
    lode_hpcrun_site_share(&sites, 0, possible, weights, shares);
    for (size_t i = 0; i < count; i++) {
        double expected = possible[i] ? slow_share(found, possible, i, weights) : 0;
        assert_true(fabs(shares[i] - expected) < 1e-12);
        sum += shares[i];
    }
    assert_true(fabs(sum - (some > 0)) < 1e-9);
    lode_hpcrun_sites_free(&sites);
}

static void check_paths(const struct hpcrun_callgraph *graph, struct slow *slow, uint32_t function,
                        uint64_t *seed)
{
    struct hpcrun_paths found;
    uint64_t calls[FUNCTIONS] = {0}, before[FUNCTIONS] = {0};
    slow->count = 0;
    climb(slow, function, calls, 0);
    lode_hpcrun_paths_init(&found);
    assert_int_equal(lode_hpcrun_paths_find(graph, function, &found, NULL), LODE_OK);
    assert_int_equal(found.paths.count, slow->count);
    for (size_t i = 0; i < found.paths.count; i++) {
        reverse(&found, i, calls);
        uint32_t entry = LODE_ARRAY_AT(&found.paths, struct hpcrun_path, i)->entry;
        assert_int_equal(entry, slow->entries[find_slow(slow, calls)]);
        for (unsigned k = 0; i > 0; k++) {
            assert_true(k < FUNCTIONS && calls[k] >= before[k]);
            if (calls[k] > before[k])
                break;
        }
        memcpy(before, calls, sizeof before);
    }
    check_shares(&found, seed);
    lode_hpcrun_paths_free(&found);
}

static void paths_and_shares_are_those_of_a_slow_search(void **state)
{
    static struct slow slow;
    uint64_t seed = 19;
    (void)state;
    for (unsigned i = 0; i < GRAPHS; i++) {
        struct hpcstruct_module module = new_module(FUNCTIONS);
        struct hpcrun_callgraph graph;
        unsigned calls = (unsigned)(made_random(&seed) % CALLS);
        for (unsigned k = 0; k < calls; k++)
            add_call(&module, (uint32_t)(made_random(&seed) % FUNCTIONS),
                     (uint32_t)(made_random(&seed) % FUNCTIONS), k % 5 == 4 ? k - 1 : k + 1);
        slow = (struct slow){.module = &module};
        find_slow_roots(&slow);
        assert_int_equal(lode_hpcrun_callgraph_make(&graph, &module, NULL), LODE_OK);
        for (uint32_t k = 0; k < FUNCTIONS; k++)
            check_paths(&graph, &slow, k, &seed);
        lode_hpcrun_callgraph_free(&graph);
        free_module(&module);
    }
}

static void a_binary_without_calls_has_no_graph(void **state)
{
    struct hpcstruct_module module = new_module(2);
    struct hpcrun_callgraph graph;
    lode_error error = {0};
    (void)state;
    module.has_calls = false;
    assert_int_equal(lode_hpcrun_callgraph_make(&graph, &module, &error), LODE_ABSENT);
    assert_string_equal(error.text, "no call graph");
    add_call(&module, 0, 5, 1);
    assert_int_equal(lode_hpcrun_callgraph_make(&graph, &module, &error), LODE_ABSENT);
    assert_string_equal(error.text, "a callee is no function");
    free_module(&module);
}

/* Layers of functions that all call all of the next layer: 4^layers paths. */
static void too_many_paths_are_refused_soon(void **state)
{
    struct hpcstruct_module module = new_module(20 * WIDE);
    struct hpcrun_callgraph graph;
    struct hpcrun_paths paths;
    lode_error error = {0};
    (void)state;
    for (uint32_t i = 0; i < 19 * WIDE; i++)
        for (uint32_t k = 0; k < WIDE; k++)
            add_call(&module, i, (i / WIDE + 1) * WIDE + k, k);
    assert_int_equal(lode_hpcrun_callgraph_make(&graph, &module, NULL), LODE_OK);
    lode_hpcrun_paths_init(&paths);
    assert_int_equal(lode_hpcrun_paths_find(&graph, 6 * WIDE - 1, &paths, NULL), LODE_OK);
    assert_int_equal(paths.paths.count, 4 * 4 * 4 * 4 * 4);
    assert_int_equal(lode_hpcrun_paths_find(&graph, 20 * WIDE - 1, &paths, &error), LODE_ERR_LIMIT);
    lode_hpcrun_paths_free(&paths);
    lode_hpcrun_callgraph_free(&graph);
    free_module(&module);
}

/* A chain of functions, which is longer than any path may be, and a ring of them. */
static void long_chains_and_rings_need_no_stack(void **state)
{
    enum {
        LONG = 200000
    };
    lode_error error = {0};
    (void)state;
    for (unsigned is_ring = 0; is_ring < 2; is_ring++) {
        struct hpcstruct_module module = new_module(LONG);
        struct hpcrun_callgraph graph;
        struct hpcrun_paths paths;
        for (uint32_t i = 0; i + 1 < LONG + is_ring; i++)
            add_call(&module, i, (i + 1) % LONG, 4);
        assert_int_equal(lode_hpcrun_callgraph_make(&graph, &module, NULL), LODE_OK);
        lode_hpcrun_paths_init(&paths);
        lode_status status = lode_hpcrun_paths_find(&graph, LONG - 1, &paths, &error);
        assert_int_equal(status, is_ring ? LODE_OK : LODE_ERR_LIMIT);
        lode_hpcrun_paths_free(&paths);
        lode_hpcrun_callgraph_free(&graph);
        free_module(&module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_and_shares_are_those_of_a_slow_search),
        cmocka_unit_test(a_binary_without_calls_has_no_graph),
        cmocka_unit_test(too_many_paths_are_refused_soon),
        cmocka_unit_test(long_chains_and_rings_need_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
