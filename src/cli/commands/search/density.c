/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by start and duration: cells for scripts, a chart for people. */
#include "alloc.h"
#include "commands/shared/recording.h"
#include "stores/damage.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_COLUMNS 100
#define MINIMUM_COLUMNS 20
#define CHART_FRAME     34 /* columns of the terminal beside the chart */

static const out_column cell_columns[] = {
    {"column", "", OUT_NUMBER, OUT_ALWAYS},         {"begin_ns", "", OUT_MOMENT, OUT_ALWAYS},
    {"end_ns", "", OUT_MOMENT, OUT_ALWAYS},         {"min_duration_ns", "", OUT_TIME, OUT_ALWAYS},
    {"max_duration_ns", "", OUT_TIME, OUT_ALWAYS},  {"requests", "", OUT_INTEGER, OUT_ALWAYS},
    {"total_ns", "", OUT_TIME, OUT_ALWAYS},         {"longest_ns", "", OUT_TIME, OUT_ALWAYS},
    {"longest_number", "", OUT_NUMBER, OUT_ALWAYS},
};

static const out_column chart_columns[] = {
    {"from", "From", OUT_TIME, OUT_ALWAYS},
    {"requests", "Requests", OUT_INTEGER, OUT_ALWAYS},
    {"total", "Total", OUT_TIME, OUT_ALWAYS},
    {"chart", "Over time", OUT_STRING, OUT_ALWAYS},
};

unsigned search_density_columns(const out *o, uint64_t asked)
{
    unsigned width = out_width(o, DEFAULT_COLUMNS);
    if (asked)
        return (unsigned)(asked < SEARCH_COLUMNS_MAX ? asked : SEARCH_COLUMNS_MAX);
    if (out_format_of(o) != OUT_TEXT)
        return DEFAULT_COLUMNS;
    return width > CHART_FRAME + MINIMUM_COLUMNS ? width - CHART_FRAME : MINIMUM_COLUMNS;
}

static void write_cells(out *o, const lode_density *density)
{
    out_table(o, OUT_MAIN, "rows", cell_columns, sizeof cell_columns / sizeof *cell_columns,
              UNIT_NANOSECONDS);
    for (size_t i = 0; i < lode_density_count(density); i++) {
        const lode_density_cell *cell = lode_density_at(density, i);
        OUT_ROW(o, STYLE_PLAIN, cell->column, cell->from, cell->to, cell->min_duration, cell->max_duration,
                cell->tracks, cell->duration, cell->longest_duration, (uint64_t)cell->longest + 1);
    }
    out_table_end(o);
}

static uint64_t most_of(const lode_density *density)
{
    uint64_t most = 0;
    for (size_t i = 0; i < lode_density_count(density); i++)
        if (lode_density_at(density, i)->tracks > most)
            most = lode_density_at(density, i)->tracks;
    return most;
}

static unsigned bits_of(uint64_t count)
{
    unsigned bits = 0;
    for (; count; count >>= 1)
        bits++;
    return bits;
}

/* Darker for more, by powers of two, as counts differ much; one request is never blank. */
static char shade_of(uint64_t count, uint64_t most)
{
    static const char shades[] = ".:-=+*#%@";
    size_t darkest = sizeof shades - 2, levels = most ? bits_of(most) : 1;
    size_t shade = count ? (bits_of(count) - 1) * (darkest + 1) / levels : 0;
    return shades[shade < darkest ? shade : darkest];
}

/* The range of durations that ends with the cell at `last`. Returns where it begins. */
static size_t write_range(out *o, const lode_density *density, size_t last, uint64_t most, char *chart)
{
    unsigned row = lode_density_at(density, last)->row;
    uint64_t count = 0, total = 0;
    size_t first = last + 1;
    memset(chart, ' ', lode_density_columns(density));
    for (; first > 0 && lode_density_at(density, first - 1)->row == row; first--) {
        const lode_density_cell *cell = lode_density_at(density, first - 1);
        chart[cell->column] = shade_of(cell->tracks, most);
        count += cell->tracks;
        total += cell->duration;
    }
    OUT_ROW(o, STYLE_PLAIN, lode_density_at(density, last)->min_duration, count, total, chart);
    return first;
}

/* The longest durations first, as on paper. */
static void write_chart(out *o, const lode_density *density)
{
    unsigned columns = lode_density_columns(density);
    uint64_t from, to, most = most_of(density);
    char *chart = alloc_array((size_t)columns + 1, 1);
    char all[NUMBER_SIZE], width[NUMBER_SIZE], largest[NUMBER_SIZE];
    lode_density_window(density, &from, &to);
    format_count(all, lode_density_found(density));
    format_duration(width, (to - from) / columns);
    format_count(largest, most);
    out_say(
        o,
        "%s found, by duration and by start, in intervals of %s; shades .:-=+*#%%@ are logarithmic, up to %s\n",
        all, width, largest);
    out_table(o, OUT_MAIN, "rows", chart_columns, sizeof chart_columns / sizeof *chart_columns,
              UNIT_NANOSECONDS);
    for (size_t end = lode_density_count(density); end > 0;)
        end = write_range(o, density, end - 1, most, chart);
    out_table_end(o);
    free(chart);
}

void search_density(out *o, rec_session *s, const lode_density *density)
{
    uint64_t from, to;
    lode_density_window(density, &from, &to);
    out_begin(o, SCHEMA_SEARCH_DENSITY, s->path);
    OUT_FIELDS(o, "start_ns", out_digits(s->begin), "from_ns", out_digits(from), "to_ns", out_digits(to),
               "columns", lode_density_columns(density), "requests", lode_density_found(density));
    if (out_format_of(o) != OUT_TEXT)
        write_cells(o, density);
    else if (lode_density_count(density))
        write_chart(o, density);
    else
        out_say(o, "None found.");
    damage_write(o);
    out_end(o);
}
