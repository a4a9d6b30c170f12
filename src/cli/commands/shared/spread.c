/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/spread.h"

#include "alloc.h"
#include "output/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_json(out *o, const char *key, const lode_distribution *d)
{
    out_break(o);
    out_object(o, key);
    OUT_FIELDS(o, "count", d->count, "sum", d->sum, "min", d->min, "p5", d->p5, "p25", d->p25, "median",
               d->p50, "mean", d->mean);
    OUT_FIELDS(o, "p75", d->p75, "p95", d->p95, "p99", d->p99, "max", d->max, "stddev", d->stddev,
               "imbalance", d->imbalance);
    out_object_end(o);
}

static const out_column columns[] = {
    {"min", "Min", OUT_REAL, OUT_ALWAYS},       {"p25", "p25", OUT_REAL, OUT_ALWAYS},
    {"median", "Median", OUT_REAL, OUT_ALWAYS}, {"p75", "p75", OUT_REAL, OUT_ALWAYS},
    {"p95", "p95", OUT_REAL, OUT_IF_WIDE},      {"p99", "p99", OUT_REAL, OUT_IF_WIDE},
    {"max", "Max", OUT_REAL, OUT_ALWAYS},
};

static void print_text(out *o, const lode_distribution *d, metric_unit unit)
{
    char sum[NUMBER_SIZE], mean[NUMBER_SIZE], stddev[NUMBER_SIZE], count[NUMBER_SIZE], imbalance[NUMBER_SIZE];
    const double cells[] = {d->min, d->p25, d->p50, d->p75, d->p95, d->p99, d->max};
    format_count(count, d->count);
    format_amount(sum, d->sum, unit);
    if (d->count == 1) {
        out_say(o, "a single value: %s", sum);
        return;
    }
    format_amount(mean, d->mean, unit);
    format_amount(stddev, d->stddev, unit);
    format_percent(imbalance, d->imbalance);
    out_say(o, "count %s, sum %s, mean %s, standard deviation %s", count, sum, mean, stddev);
    out_say(o, "imbalance (max/mean - 1): %s", imbalance);
    out_table(o, OUT_SIDE, "", columns, 7, unit);
    out_row(o, STYLE_PLAIN);
    for (size_t i = 0; i < 7; i++)
        OUT_CELLS(o, cells[i]);
    out_row_end(o);
    out_table_end(o);
}

/* The fields of JSON, as a table of one row. */
static void print_csv(out *o, const char *key, const lode_distribution *d)
{
    static const out_column fields[] = {
        {"count", "", OUT_INTEGER, OUT_DATA_ONLY},  {"sum", "", OUT_REAL, OUT_DATA_ONLY},
        {"min", "", OUT_REAL, OUT_DATA_ONLY},       {"p5", "", OUT_REAL, OUT_DATA_ONLY},
        {"p25", "", OUT_REAL, OUT_DATA_ONLY},       {"median", "", OUT_REAL, OUT_DATA_ONLY},
        {"mean", "", OUT_REAL, OUT_DATA_ONLY},      {"p75", "", OUT_REAL, OUT_DATA_ONLY},
        {"p95", "", OUT_REAL, OUT_DATA_ONLY},       {"p99", "", OUT_REAL, OUT_DATA_ONLY},
        {"max", "", OUT_REAL, OUT_DATA_ONLY},       {"stddev", "", OUT_REAL, OUT_DATA_ONLY},
        {"imbalance", "", OUT_REAL, OUT_DATA_ONLY},
    };
    const double reals[] = {d->sum, d->min, d->p5,  d->p25, d->p50,    d->mean,
                            d->p75, d->p95, d->p99, d->max, d->stddev, d->imbalance};
    out_table(o, OUT_SIDE, key, fields, sizeof fields / sizeof *fields, UNIT_COUNT);
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, d->count);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        OUT_CELLS(o, reals[i]);
    out_row_end(o);
    out_table_end(o);
}

void spread_print(out *o, const char *key, const lode_distribution *d, metric_unit unit)
{
    if (out_format_of(o) == OUT_JSON)
        print_json(o, key, d);
    else if (out_format_of(o) == OUT_CSV)
        print_csv(o, key, d);
    else if (out_format_of(o) == OUT_TEXT && d->count > 0)
        print_text(o, d, unit);
}

void spread_bar(char buffer[BAR_SIZE], double fraction, unsigned width, int is_utf8)
{
    /* Blocks of an eighth of a column each. */
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double share = isfinite(fraction) && fraction > 0 ? (fraction < 1 ? fraction : 1) : 0;
    unsigned steps = is_utf8 ? 8 : 1;
    unsigned length = (unsigned)lround(share * (width < 80 ? width : 80) * steps);
    /* What is there shows. */
    if (length == 0 && share > 0)
        length = 1;
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned i = 0; i < length / steps; i++)
        used += (size_t)snprintf(buffer + used, BAR_SIZE - used, "%s", is_utf8 ? "█" : "#");
    snprintf(buffer + used, BAR_SIZE - used, "%s", parts[length % steps]);
}

static const out_column bin_columns[] = {
    {"from", "From", OUT_REAL, OUT_ALWAYS},
    {"to", "To", OUT_REAL, OUT_ALWAYS},
    {"count", "Profiles", OUT_INTEGER, OUT_ALWAYS},
    {"bar", "", OUT_STRING, OUT_TEXT_ONLY},
};

void spread_histogram(out *o, const char *key, const lode_distribution *d, const double *values, size_t count,
                      size_t bin_count, metric_unit unit)
{
    uint64_t *bins = alloc_array(bin_count, sizeof *bins), most = 1;
    double step = (d->max - d->min) / (double)bin_count;
    lode_histogram_of(bins, bin_count, d->min, d->max, values, count);
    for (size_t i = 0; i < bin_count; i++)
        most = bins[i] > most ? bins[i] : most;
    out_table(o, OUT_SIDE, key, bin_columns, 4, unit);
    for (size_t i = 0; i < bin_count; i++) {
        char bar[BAR_SIZE];
        spread_bar(bar, (double)bins[i] / (double)most, 40, out_is_utf8(o));
        OUT_ROW(o, STYLE_PLAIN, d->min + step * (double)i,
                i + 1 == bin_count ? d->max : d->min + step * (double)(i + 1), bins[i], bar);
    }
    out_table_end(o);
    free(bins);
}
