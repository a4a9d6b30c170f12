/* SPDX-License-Identifier: BSD-3-Clause */
/* The map of services as a picture: callers on the left, callees on the right; and for Graphviz. */
#include "commands/search/search.h"

#include "alloc.h"
#include "command.h"
#include "draw/svg.h"
#include "output/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOX_X          170.0
#define BOX_Y          56.0
#define COLUMN         360.0
#define ROW            110.0
#define MARGIN         30.0
#define NAME_MAX_SHOWN 24 /* bytes of a name in a box */

typedef struct map_layout {
    const lode_service_map *map;
    size_t count;
    unsigned *columns, *rows; /* by service */
    unsigned column_count, row_count;
} map_layout;

static const char *name_of(const lode_module *module)
{
    const char *path = module ? lode_module_path(module) : NULL;
    return path ? path : "(unknown)";
}

static size_t index_of(const map_layout *layout, const lode_module *module)
{
    size_t i = 0;
    while (i < layout->count && lode_service_map_service(layout->map, i)->module != module)
        i++;
    return i;
}

/* ---- layout ---- */

/* Callees are right of their callers; services that call each other end the search. */
static void find_columns(map_layout *layout)
{
    int has_moved = 1;
    for (size_t round = 0; round < layout->count && has_moved; round++) {
        has_moved = 0;
        for (size_t i = 0; i < lode_service_map_edge_count(layout->map); i++) {
            const lode_service_edge *edge = lode_service_map_edge(layout->map, i);
            size_t callee = index_of(layout, edge->callee);
            if (!edge->caller)
                continue;
            unsigned column = layout->columns[index_of(layout, edge->caller)] + 1;
            if (column > layout->columns[callee] && column < layout->count) {
                layout->columns[callee] = column;
                has_moved = 1;
            }
        }
    }
}

static void open_layout(map_layout *layout, const lode_service_map *map)
{
    *layout = (map_layout){.map = map, .count = lode_service_map_service_count(map)};
    layout->columns = alloc_array(layout->count, sizeof *layout->columns);
    layout->rows = alloc_array(layout->count, sizeof *layout->rows);
    find_columns(layout);
    for (size_t i = 0; i < layout->count; i++) {
        for (size_t j = 0; j < i; j++)
            layout->rows[i] += layout->columns[j] == layout->columns[i];
        if (layout->columns[i] >= layout->column_count)
            layout->column_count = layout->columns[i] + 1;
        if (layout->rows[i] >= layout->row_count)
            layout->row_count = layout->rows[i] + 1;
    }
}

static void close_layout(map_layout *layout)
{
    free(layout->columns);
    free(layout->rows);
}

static double x_of(const map_layout *layout, size_t service)
{
    return MARGIN + COLUMN * layout->columns[service];
}

static double y_of(const map_layout *layout, size_t service)
{
    return MARGIN + ROW * layout->rows[service] + (layout->columns[service] % 2) * ROW / 3;
}

/* ---- SVG ---- */

static void put_rate(out *o, const lode_rate *rate)
{
    char p95[NUMBER_SIZE], failed[NUMBER_SIZE];
    format_duration(p95, rate->p95);
    format_percent(failed, (double)rate->failures / (double)(rate->count ? rate->count : 1));
    out_print(o, "%s, p95 %s", GROUPED(rate->count), p95);
    if (rate->failures)
        out_print(o, ", %s failed", failed);
}

static void put_name(out *o, const char *name)
{
    char shown[NAME_MAX_SHOWN + sizeof "..."];
    if (strlen(name) <= NAME_MAX_SHOWN)
        (void)snprintf(shown, sizeof shown, "%s", name);
    else
        (void)snprintf(shown, sizeof shown, "%.*s...", NAME_MAX_SHOWN, name);
    svg_text(o, shown);
}

static void put_service(out *o, const map_layout *layout, size_t index)
{
    const lode_service *service = lode_service_map_service(layout->map, index);
    double x = x_of(layout, index), y = y_of(layout, index);
    const char *stroke = service->rate.failures ? "#c92a2a" : "#495057";
    out_print(o,
              "<g><rect x='%.1f' y='%.1f' width='%.0f' height='%.0f' rx='6' fill='#f1f3f5' stroke='%s'/>"
              "<text x='%.1f' y='%.1f' font-size='14'>",
              x, y, BOX_X, BOX_Y, stroke, x + 10, y + 22);
    put_name(o, name_of(service->module));
    out_print(o, "</text><text x='%.1f' y='%.1f' font-size='10'>", x + 10, y + 42);
    put_rate(o, &service->rate);
    out_print(o, "</text><title>");
    svg_text(o, name_of(service->module));
    out_print(o, "</title></g>\n");
}

/* From the right of the caller to the left of the callee; back below both. */
static void put_edge(out *o, const map_layout *layout, const lode_service_edge *edge)
{
    size_t from = index_of(layout, edge->caller), to = index_of(layout, edge->callee);
    double x = x_of(layout, from) + BOX_X, y = y_of(layout, from) + BOX_Y / 2;
    double end_x = x_of(layout, to), end_y = y_of(layout, to) + BOX_Y / 2;
    double bend = end_x > x ? (end_x - x) / 2 : COLUMN / 2, width = 1 + log10((double)edge->rate.count + 1);
    const char *stroke = edge->rate.failures ? "#c92a2a" : "#1971c2";
    out_print(
        o,
        "<path d='M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f' fill='none' stroke='%s' stroke-width='%.1f' "
        "opacity='0.7' marker-end='url(#arrow)'/>\n",
        x, y, x + bend, y, end_x - bend, end_y, end_x - 4, end_y, stroke, width);
    out_print(o, "<text x='%.1f' y='%.1f' font-size='10' text-anchor='middle'>", (x + end_x) / 2,
              (y + end_y) / 2 - 6);
    put_rate(o, &edge->rate);
    out_print(o, "</text>\n");
}

int search_services_svg(const char *path, const lode_service_map *map)
{
    map_layout layout;
    if (lode_service_map_service_count(map) == 0)
        return report("nothing was found to draw");
    open_layout(&layout, map);
    out *o = svg_open(path, (unsigned)(2 * MARGIN + COLUMN * (layout.column_count - 1) + BOX_X),
                      (unsigned)(2 * MARGIN + ROW * layout.row_count + ROW / 3));
    if (o) {
        out_print(o, "<defs><marker id='arrow' viewBox='0 0 8 8' refX='6' refY='4' markerWidth='8' "
                     "markerHeight='8' markerUnits='userSpaceOnUse' orient='auto'><path d='M0 0L8 4L0 8z' "
                     "fill='#495057'/></marker></defs>\n");
        for (size_t i = 0; i < lode_service_map_edge_count(map); i++)
            if (lode_service_map_edge(map, i)->caller)
                put_edge(o, &layout, lode_service_map_edge(map, i));
        for (size_t i = 0; i < layout.count; i++)
            put_service(o, &layout, i);
    }
    close_layout(&layout);
    return o ? svg_close(o) : EXIT_TROUBLE;
}

/* ---- Graphviz ---- */

/* In quotes, with quotes and backslashes escaped. */
static void put_quoted(out *o, const char *text)
{
    out_print(o, "\"");
    while (*text) {
        size_t plain = strcspn(text, "\"\\");
        out_write(o, text, plain);
        text += plain;
        if (*text) {
            out_print(o, "\\");
            out_write(o, text++, 1);
        }
    }
    out_print(o, "\"");
}

int search_services_dot(const char *path, const lode_service_map *map)
{
    out_settings settings = {.format = OUT_TEXT, .color = COLOR_NEVER, .file = path};
    out *o = out_open(&settings);
    if (!o)
        return EXIT_TROUBLE;
    out_print(o, "digraph services {\n  rankdir=LR;\n  node [shape=box];\n");
    for (size_t i = 0; i < lode_service_map_service_count(map); i++) {
        out_print(o, "  ");
        put_quoted(o, name_of(lode_service_map_service(map, i)->module));
        out_print(o, ";\n");
    }
    for (size_t i = 0; i < lode_service_map_edge_count(map); i++) {
        const lode_service_edge *edge = lode_service_map_edge(map, i);
        if (!edge->caller)
            continue;
        out_print(o, "  ");
        put_quoted(o, name_of(edge->caller));
        out_print(o, " -> ");
        put_quoted(o, name_of(edge->callee));
        out_print(o, " [label=\"");
        put_rate(o, &edge->rate);
        out_print(o, "\"%s];\n", edge->rate.failures ? ", color=red" : "");
    }
    out_print(o, "}\n");
    return out_close(o, EXIT_DONE);
}
