/* SPDX-License-Identifier: BSD-3-Clause */
/* The map of services as tables: which calls which, and what calls each gets. */
#include "commands/search/search.h"

#include "output/out.h"
#include "stores/damage.h"

static const out_column edge_columns[] = {
    {"calls", "Calls", OUT_INTEGER, OUT_ALWAYS},       {"per_second", "1/s", OUT_REAL, OUT_ALWAYS},
    {"failures", "Failures", OUT_INTEGER, OUT_ALWAYS}, {"failed_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"total_ns", "", OUT_TIME, OUT_DATA_ONLY},         {"p50_ns", "p50", OUT_TIME, OUT_ALWAYS},
    {"p95_ns", "p95", OUT_TIME, OUT_ALWAYS},           {"p99_ns", "p99", OUT_TIME, OUT_ALWAYS},
    {"max_ns", "Max", OUT_TIME, OUT_ALWAYS},           {"caller", "Caller", OUT_STRING, OUT_ALWAYS},
    {"callee", "Callee", OUT_STRING, OUT_ALWAYS},
};

static const out_column service_columns[] = {
    {"entries", "Entries", OUT_INTEGER, OUT_ALWAYS},   {"per_second", "1/s", OUT_REAL, OUT_ALWAYS},
    {"failures", "Failures", OUT_INTEGER, OUT_ALWAYS}, {"failed_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"total_ns", "", OUT_TIME, OUT_DATA_ONLY},         {"p50_ns", "p50", OUT_TIME, OUT_ALWAYS},
    {"p95_ns", "p95", OUT_TIME, OUT_ALWAYS},           {"p99_ns", "p99", OUT_TIME, OUT_ALWAYS},
    {"max_ns", "Max", OUT_TIME, OUT_ALWAYS},           {"calls", "Calls", OUT_INTEGER, OUT_ALWAYS},
    {"name", "Service", OUT_STRING, OUT_ALWAYS},
};

#define COUNT_OF(columns) (sizeof(columns) / sizeof(columns)[0])

static const char *name_of(const lode_module *module)
{
    const char *path = module ? lode_module_path(module) : NULL;
    return path ? path : "(unknown)";
}

static void rate_cells(out *o, const lode_rate *rate, double seconds)
{
    OUT_CELLS(o, rate->count, out_real_if(seconds > 0, (double)rate->count / (seconds > 0 ? seconds : 1)),
              rate->failures, out_share((double)rate->failures, (double)rate->count), rate->total, rate->p50,
              rate->p95, rate->p99, rate->max);
}

static void write_edges(out *o, const lode_service_map *map, double seconds)
{
    const char *none = out_is_prose(o) ? "(none)" : NULL;
    out_table(o, OUT_MAIN, "rows", edge_columns, COUNT_OF(edge_columns), UNIT_COUNT);
    for (size_t i = 0; i < lode_service_map_edge_count(map); i++) {
        const lode_service_edge *edge = lode_service_map_edge(map, i);
        out_row(o, STYLE_PLAIN);
        rate_cells(o, &edge->rate, seconds);
        OUT_CELLS(o, edge->caller ? name_of(edge->caller) : none, name_of(edge->callee));
        out_row_end(o);
    }
    out_table_end(o);
}

static void write_services(out *o, const lode_service_map *map, double seconds)
{
    if (out_is_prose(o))
        out_gap(o);
    out_table(o, OUT_SIDE, "services", service_columns, COUNT_OF(service_columns), UNIT_COUNT);
    for (size_t i = 0; i < lode_service_map_service_count(map); i++) {
        const lode_service *service = lode_service_map_service(map, i);
        out_row(o, STYLE_PLAIN);
        rate_cells(o, &service->rate, seconds);
        OUT_CELLS(o, service->calls, name_of(service->module));
        out_row_end(o);
    }
    out_table_end(o);
}

void search_services(out *o, rec_session *s, const lode_service_map *map, const lode_search_options *asked)
{
    uint64_t requests = lode_service_map_requests(map), duration = lode_service_map_duration(map);
    double seconds = (double)duration / 1e9;
    out_begin(o, SCHEMA_SEARCH_SERVICES, s->path);
    OUT_FIELDS(o, "requests", requests, "duration_ns", duration);
    search_heading(o, s, requests, asked);
    write_edges(o, map, seconds);
    write_services(o, map, seconds);
    damage_write(o);
    out_end(o);
}
