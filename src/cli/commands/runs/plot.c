/* SPDX-License-Identifier: BSD-3-Clause */
/* A series of runs as a picture: of characters, and as SVG. */
#include "commands/runs/runs.h"

#include "alloc.h"
#include "draw/svg.h"
#include "output/report.h"

#include <inttypes.h>
#include <lode/private/statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The range of the axis: never empty. */
typedef struct range {
    double low, high;
} range;

static range range_of(const runs_plot *plot)
{
    range r = {plot->values[0], plot->values[0]};
    for (size_t i = 1; i < plot->count; i++) {
        r.low = fmin(r.low, plot->values[i]);
        r.high = fmax(r.high, plot->values[i]);
    }
    if (!(r.high > r.low)) {
        double room = r.low != 0 ? fabs(r.low) / 2 : 1;
        r.low -= room;
        r.high += room;
    }
    return r;
}

/* Between 0 and 1. */
static double height_of(range r, double value)
{
    double height = (value - r.low) / (r.high - r.low);
    return height < 0 ? 0 : height > 1 ? 1 : height;
}

/* Where a run is, between 0 and 1. */
static double place_of(const runs_plot *plot, size_t index)
{
    return plot->count < 2 ? 0.5 : (double)index / (double)(plot->count - 1);
}

/* ---- characters ---- */

#define ROWS        12
#define COLUMNS_MAX 200
#define WIDTH       80

typedef struct canvas {
    char cells[ROWS][COLUMNS_MAX]; /* 0: nothing, '.': a change, 'o': runs */
    size_t columns;
} canvas;

static size_t cell_of(double place, size_t count)
{
    return (size_t)(place * (double)(count - 1) + 0.5);
}

static void draw_changes(canvas *picture, const runs_plot *plot)
{
    for (size_t i = 0; plot->changes && i < lode_change_points_count(plot->changes); i++) {
        size_t index = lode_change_points_at(plot->changes, i)->index;
        size_t column = cell_of(place_of(plot, index), picture->columns);
        for (size_t row = 0; row < ROWS; row++)
            picture->cells[row][column] = '.';
    }
}

static void draw_runs(canvas *picture, const runs_plot *plot, range r)
{
    for (size_t i = 0; i < plot->count; i++) {
        size_t row = ROWS - 1 - cell_of(height_of(r, plot->values[i]), ROWS);
        picture->cells[row][cell_of(place_of(plot, i), picture->columns)] = 'o';
    }
}

static void print_row(out *o, const canvas *picture, size_t row)
{
    int is_utf8 = out_is_utf8(o);
    size_t last = picture->columns;
    while (last > 0 && picture->cells[row][last - 1] == 0)
        last--;
    for (size_t i = 0; i < last; i++) {
        char cell = picture->cells[row][i];
        if (cell == 'o')
            out_piece(o, STYLE_HOT, is_utf8 ? "\u2022" : "o");
        else if (cell == '.')
            out_piece(o, STYLE_WARNING, is_utf8 ? "\u250a" : ":");
        else
            out_piece(o, STYLE_PLAIN, " ");
    }
    out_gap(o);
}

static void print_axis(out *o, const runs_plot *plot, size_t indent, size_t columns)
{
    char first[64], last[64];
    const char *line = out_is_utf8(o) ? "\u2500" : "-";
    out_print(o, "%*s%s", (int)indent, "", out_is_utf8(o) ? "\u2514" : "+");
    for (size_t i = 0; i < columns; i++)
        out_piece(o, STYLE_PLAIN, line);
    out_gap(o);
    snprintf(first, sizeof first, "run %" PRId64, plot->points[0].run);
    snprintf(last, sizeof last, "run %" PRId64, plot->points[plot->count - 1].run);
    size_t room = columns > strlen(first) + strlen(last) ? columns - strlen(first) - strlen(last) : 1;
    if (plot->count > 1)
        out_line(o, "%*s %s%*s%s", (int)indent, "", first, (int)room, "", last);
    else
        out_line(o, "%*s %s", (int)indent, "", first);
}

void runs_plot_text(out *o, const runs_plot *plot)
{
    char labels[ROWS][NUMBER_SIZE];
    range r = range_of(plot);
    size_t indent = 0, width = out_width(o, WIDTH);
    canvas picture = {.columns = 0};
    for (size_t row = 0; row < ROWS; row++) {
        double value = r.high - (r.high - r.low) * (double)row / (ROWS - 1);
        labels[row][0] = '\0';
        if (row == 0 || row == ROWS - 1 || row == ROWS / 2)
            format_amount(labels[row], value, plot->unit);
        indent = strlen(labels[row]) > indent ? strlen(labels[row]) : indent;
    }
    indent++;
    picture.columns = width > indent + 12 ? width - indent - 1 : 10;
    picture.columns = picture.columns > COLUMNS_MAX ? COLUMNS_MAX : picture.columns;
    draw_changes(&picture, plot);
    draw_runs(&picture, plot, r);
    for (size_t row = 0; row < ROWS; row++) {
        out_print(o, "%*s %s", (int)indent - 1, labels[row], out_is_utf8(o) ? "\u2502" : "|");
        print_row(o, &picture, row);
    }
    print_axis(o, plot, indent, picture.columns);
}

/* ---- SVG ---- */

#define LEFT   100.0
#define TOP    50.0
#define AREA_X 660.0
#define AREA_Y 260.0

static double x_of(const runs_plot *plot, size_t index)
{
    return LEFT + AREA_X * place_of(plot, index);
}

static double y_of(range r, double value)
{
    return TOP + AREA_Y * (1 - height_of(r, value));
}

static void put_axes(out *o, const runs_plot *plot, range r)
{
    char amount[NUMBER_SIZE], begun[NUMBER_SIZE];
    for (int i = 0; i <= 4; i++) {
        double value = r.low + (r.high - r.low) * i / 4, y = y_of(r, value);
        format_amount(amount, value, plot->unit);
        out_print(o, "<path d='M%.1f %.1fH%.1f' stroke='#dddddd'/>\n", LEFT, y, LEFT + AREA_X);
        out_print(o, "<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>\n", LEFT - 8, y + 4, amount);
    }
    for (int i = 0; i < 2 && (i == 0 || plot->count > 1); i++) {
        const run_point *point = &plot->points[i ? plot->count - 1 : 0];
        format_utc(begun, point->begun);
        begun[sizeof "2026-03-02" - 1] = '\0';
        out_print(o, "<text x='%.1f' y='%.1f' text-anchor='%s'>run %" PRId64 ", %s</text>\n",
                  i ? LEFT + AREA_X : LEFT, TOP + AREA_Y + 20, i ? "end" : "start", point->run, begun);
    }
}

/* The mean from one change to the next. */
static void put_levels(out *o, const runs_plot *plot, range r)
{
    size_t count = plot->changes ? lode_change_points_count(plot->changes) : 0, begin = 0;
    for (size_t i = 0; i <= count; i++) {
        size_t end = i < count ? lode_change_points_at(plot->changes, i)->index : plot->count;
        double sum = 0;
        for (size_t k = begin; k < end; k++)
            sum += plot->values[k];
        double y = y_of(r, sum / (double)(end - begin));
        out_print(o, "<path d='M%.1f %.1fH%.1f' stroke='#e8590c' stroke-width='2'/>\n", x_of(plot, begin), y,
                  x_of(plot, end - 1));
        begin = end;
    }
}

static void put_changes(out *o, const runs_plot *plot)
{
    for (size_t i = 0; plot->changes && i < lode_change_points_count(plot->changes); i++) {
        const lode_change_point *point = lode_change_points_at(plot->changes, i);
        double x = (x_of(plot, point->index - 1) + x_of(plot, point->index)) / 2;
        out_print(o, "<path d='M%.1f %.1fV%.1f' stroke='#e8590c' stroke-dasharray='4 4'/>\n", x, TOP,
                  TOP + AREA_Y);
        out_print(o,
                  "<text x='%.1f' y='%.1f' text-anchor='middle' fill='#c92a2a'>%+.1f%% at run %" PRId64
                  "</text>\n",
                  x, TOP - 6, point->before != 0 ? 100 * (point->after / point->before - 1) : 0.0,
                  plot->points[point->index].run);
    }
}

static void put_runs(out *o, const runs_plot *plot, range r)
{
    char amount[NUMBER_SIZE], begun[NUMBER_SIZE];
    double radius = plot->count > 300 ? 1.5 : 3;
    for (size_t i = 0; i < plot->count; i++) {
        format_amount(amount, plot->values[i], plot->unit);
        format_utc(begun, plot->points[i].begun);
        out_print(o,
                  "<circle cx='%.1f' cy='%.1f' r='%.1f' fill='#1971c2'><title>run %" PRId64
                  ", %s: %s</title></circle>\n",
                  x_of(plot, i), y_of(r, plot->values[i]), radius, plot->points[i].run, begun, amount);
    }
}

int runs_plot_svg(const char *path, const runs_plot *plot)
{
    out_settings settings = {.format = OUT_TEXT, .color = COLOR_NEVER, .file = path};
    out *o = out_open(&settings);
    range r = range_of(plot);
    if (!o)
        return EXIT_TROUBLE;
    out_print(o, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 800 360' font-family='sans-serif' "
                 "font-size='12'>\n<rect width='800' height='360' fill='white'/>\n");
    out_print(o, "<text x='%.1f' y='22' font-size='15'>", LEFT);
    svg_text(o, plot->title);
    out_print(o, ": ");
    svg_text(o, plot->metric);
    out_print(o, "</text>\n");
    put_axes(o, plot, r);
    put_levels(o, plot, r);
    put_runs(o, plot, r);
    put_changes(o, plot);
    out_print(o, "</svg>\n");
    return out_close(o, EXIT_DONE);
}
