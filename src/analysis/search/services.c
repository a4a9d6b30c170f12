/* SPDX-License-Identifier: BSD-3-Clause */
/* The map of services: calls from one to another. */
#include "analysis/search/rates.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include <stdlib.h>
#include <string.h>

struct pair {
    uint32_t caller, callee; /* modules plus 1; 0: none */
};

struct worker {
    _Alignas(LODE_WORKER_ALIGN) struct lode_array items; /* struct lode_rate_item */
    struct lode_interner pairs;                          /* struct pair: groups of items */
    uint64_t *calls;                                     /* by module */
    uint64_t requests, begin, end;
};

struct lode_service_map {
    lode_service_edge *edges;
    size_t edge_count;
    lode_service *services;
    size_t service_count;
    uint64_t requests, begin, end;
};

struct run {
    const lode_recording *recording;
    struct worker *workers;
    unsigned count;
    struct lode_rate_item *items;
    size_t item_count;
    struct lode_interner pairs;
};

/* ---- reading ---- */

static uint32_t number_of(const lode_module *module)
{
    return module ? module->index + 1 : 0;
}

static lode_status add_call(struct worker *worker, const struct lode_request *request, uint32_t index,
                            lode_error *error)
{
    const struct lode_request_call *call = lode_request_call_at(request, index);
    bool has_caller = call->parent != LODE_NO_CALL;
    struct pair pair = {.callee = number_of(call->function->module)};
    if (has_caller)
        pair.caller = number_of(lode_request_call_at(request, call->parent)->function->module);
    worker->calls[pair.callee]++;
    worker->begin = call->begin < worker->begin ? call->begin : worker->begin;
    worker->end = call->end > worker->end ? call->end : worker->end;
    if (has_caller && pair.caller == pair.callee)
        return LODE_OK;
    struct lode_rate_item *item = lode_array_push(&worker->items);
    LODE_TRY_ALLOC(item, error);
    item->duration = call->end - call->begin;
    item->has_failed = call->has_failed;
    item->group = lode_interner_add(&worker->pairs, &pair, NULL);
    return item->group == LODE_NO_NUMBER ? lode_fail_memory(error) : LODE_OK;
}

static lode_status take(void *user, unsigned index, struct lode_request *request, lode_error *error)
{
    struct run *run = user;
    struct worker *worker = &run->workers[index];
    worker->requests++;
    for (uint32_t i = 0; i < lode_request_count(request); i++)
        LODE_TRY(add_call(worker, request, i, error));
    return LODE_OK;
}

static lode_status open_workers(void *user, unsigned count, lode_error *error)
{
    struct run *run = user;
    run->workers = lode_workers_new(count, sizeof *run->workers);
    LODE_TRY_ALLOC(run->workers, error);
    run->count = count;
    for (unsigned i = 0; i < count; i++) {
        struct worker *worker = &run->workers[i];
        lode_array_init(&worker->items, sizeof(struct lode_rate_item), SIZE_MAX);
        lode_interner_init(&worker->pairs, sizeof(struct pair));
        worker->begin = UINT64_MAX;
        worker->calls = calloc((size_t)run->recording->module_count + 1, sizeof *worker->calls);
        LODE_TRY_ALLOC(worker->calls, error);
    }
    return LODE_OK;
}

static void close_run(struct run *run)
{
    for (unsigned i = 0; i < run->count; i++) {
        lode_array_free(&run->workers[i].items);
        lode_interner_free(&run->workers[i].pairs);
        free(run->workers[i].calls);
    }
    lode_interner_free(&run->pairs);
    free(run->workers);
    free(run->items);
}

/* ---- edges ---- */

static lode_status gather(struct run *run, lode_error *error)
{
    size_t count = 0;
    for (unsigned i = 0; i < run->count; i++)
        count += run->workers[i].items.count;
    run->items = calloc(count + 1, sizeof *run->items);
    LODE_TRY_ALLOC(run->items, error);
    for (unsigned i = 0; i < run->count; i++) {
        const struct worker *worker = &run->workers[i];
        for (size_t j = 0; j < worker->items.count; j++) {
            struct lode_rate_item item = *LODE_ARRAY_AT(&worker->items, struct lode_rate_item, j);
            item.group = lode_interner_add(
                &run->pairs, LODE_ARRAY_AT(&worker->pairs.items, struct pair, item.group), NULL);
            if (item.group == LODE_NO_NUMBER)
                return lode_fail_memory(error);
            run->items[run->item_count++] = item;
        }
    }
    return LODE_OK;
}

static const lode_module *module_at(const struct run *run, uint32_t number)
{
    return number ? &run->recording->modules[number - 1] : NULL;
}

static int compare_modules(const lode_module *a, const lode_module *b)
{
    int order = strcmp(a ? a->path : "", b ? b->path : "");
    return order ? order : LODE_COMPARE(number_of(a), number_of(b));
}

static int compare_edges(const void *left, const void *right)
{
    const lode_service_edge *a = left, *b = right;
    int order = compare_modules(a->caller, b->caller);
    return order ? order : compare_modules(a->callee, b->callee);
}

static int compare_services(const void *left, const void *right)
{
    return compare_modules(((const lode_service *)left)->module, ((const lode_service *)right)->module);
}

/* Items of one group are contiguous and sorted by duration. */
static lode_status make_edges(lode_service_map *map, const struct run *run, lode_error *error)
{
    map->edges = calloc(run->pairs.items.count + 1, sizeof *map->edges);
    LODE_TRY_ALLOC(map->edges, error);
    if (run->item_count > 1)
        qsort(run->items, run->item_count, sizeof *run->items, lode_compare_rate_items);
    for (size_t i = 0, end; i < run->item_count; i = end) {
        const struct pair *pair = LODE_ARRAY_AT(&run->pairs.items, struct pair, run->items[i].group);
        for (end = i; end < run->item_count && run->items[end].group == run->items[i].group;)
            end++;
        map->edges[map->edge_count++] = (lode_service_edge){.caller = module_at(run, pair->caller),
                                                            .callee = module_at(run, pair->callee),
                                                            .rate = lode_rate_of(&run->items[i], end - i)};
    }
    if (map->edge_count > 1)
        qsort(map->edges, map->edge_count, sizeof *map->edges, compare_edges);
    return LODE_OK;
}

/* ---- services ---- */

/* Items become those of callees. */
static lode_status make_services(lode_service_map *map, const struct run *run, lode_error *error)
{
    uint32_t modules = run->recording->module_count;
    map->services = calloc((size_t)modules + 1, sizeof *map->services);
    LODE_TRY_ALLOC(map->services, error);
    for (size_t i = 0; i < run->item_count; i++)
        run->items[i].group = LODE_ARRAY_AT(&run->pairs.items, struct pair, run->items[i].group)->callee;
    if (run->item_count > 1)
        qsort(run->items, run->item_count, sizeof *run->items, lode_compare_rate_items);
    for (size_t i = 0, end; i < run->item_count; i = end) {
        uint32_t number = run->items[i].group;
        lode_service *service = &map->services[map->service_count++];
        for (end = i; end < run->item_count && run->items[end].group == number;)
            end++;
        *service =
            (lode_service){.module = module_at(run, number), .rate = lode_rate_of(&run->items[i], end - i)};
        for (unsigned w = 0; w < run->count; w++)
            service->calls += run->workers[w].calls[number];
    }
    if (map->service_count > 1)
        qsort(map->services, map->service_count, sizeof *map->services, compare_services);
    return LODE_OK;
}

static lode_status compute(lode_service_map *map, struct run *run, const lode_search_options *options,
                           lode_error *error)
{
    struct lode_visit visit = {
        .recording = run->recording, .options = options, .request = take, .open = open_workers, .user = run};
    LODE_TRY(lode_visit_requests(&visit, error));
    LODE_TRY(gather(run, error));
    map->begin = UINT64_MAX;
    for (unsigned i = 0; i < run->count; i++) {
        const struct worker *worker = &run->workers[i];
        map->requests += worker->requests;
        map->begin = worker->begin < map->begin ? worker->begin : map->begin;
        map->end = worker->end > map->end ? worker->end : map->end;
    }
    LODE_TRY(make_edges(map, run, error));
    return make_services(map, run, error);
}

lode_status lode_service_map_compute(lode_service_map **out, const lode_recording *recording,
                                     const lode_search_options *options, lode_error *error)
{
    lode_search_options settings = LODE_SEARCH_OPTIONS_INIT;
    struct run run = {.recording = recording};
    *out = NULL;
    LODE_TRY(lode_options_take(&settings, options, error));
    if (!recording->has_requests || recording->module_count == 0)
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET,
                         "the recording has no services; spans of OpenTelemetry, Jaeger and Zipkin do");
    lode_service_map *map = calloc(1, sizeof *map);
    LODE_TRY_ALLOC(map, error);
    lode_interner_init(&run.pairs, sizeof(struct pair));
    lode_status status = compute(map, &run, &settings, error);
    close_run(&run);
    if (status == LODE_OK)
        *out = map;
    else
        lode_service_map_free(map);
    return status;
}

void lode_service_map_free(lode_service_map *map)
{
    if (map == NULL)
        return;
    free(map->edges);
    free(map->services);
    free(map);
}

LODE_GETTER(size_t, lode_service_map_edge_count, lode_service_map, edge_count);
LODE_GETTER(size_t, lode_service_map_service_count, lode_service_map, service_count);
LODE_GETTER(uint64_t, lode_service_map_requests, lode_service_map, requests);

uint64_t lode_service_map_duration(const lode_service_map *map)
{
    return map->end > map->begin ? map->end - map->begin : 0;
}

const lode_service_edge *lode_service_map_edge(const lode_service_map *map, size_t index)
{
    return index < map->edge_count ? &map->edges[index] : NULL;
}

const lode_service *lode_service_map_service(const lode_service_map *map, size_t index)
{
    return index < map->service_count ? &map->services[index] : NULL;
}
