/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates and percentiles over time as a picture: how many above, how long below. */
#include "commands/search/search.h"

#include "draw/svg.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH       900.0
#define LEFT        90.0
#define AREA_X      640.0
#define COUNT_TOP   40.0
#define COUNT_AREA  140.0
#define TIME_TOP    230.0
#define TIME_AREA   220.0
#define HEIGHT      500
#define LEGEND_LEFT (LEFT + AREA_X + 16)

/* What both parts have in common. */
typedef struct axes {
    uint64_t begin, end, interval;
    uint64_t most, longest;
    size_t groups; /* that are drawn */
} axes;

typedef enum series {
    SERIES_COUNT,
    SERIES_FAILURES,
    SERIES_P50,
    SERIES_P95,
    SERIES_P99
} series;

static uint64_t value_of(const lode_rate *rate, series which)
{
    const uint64_t values[] = {rate->count, rate->failures, rate->p50, rate->p95, rate->p99};
    return values[which];
}

static axes axes_of(const lode_rates *rates, const rates_question *question)
{
    axes a = {.begin = UINT64_MAX, .interval = question->interval, .most = 1, .longest = 1};
    a.groups = lode_rates_count(rates) < SVG_COLOURS ? lode_rates_count(rates) : SVG_COLOURS;
    for (size_t i = 0; i < a.groups; i++) {
        const lode_rates_group *group = lode_rates_at(rates, i);
        for (size_t j = 0; j < group->row_count; j++) {
            const lode_rates_row *row = &group->rows[j];
            uint64_t longest = a.groups == 1 ? row->rate.p99 : row->rate.p95;
            a.begin = row->begin < a.begin ? row->begin : a.begin;
            a.end = row->begin + a.interval > a.end ? row->begin + a.interval : a.end;
            a.most = row->rate.count > a.most ? row->rate.count : a.most;
            a.longest = longest > a.longest ? longest : a.longest;
        }
    }
    return a;
}

static double x_of(const axes *a, uint64_t time)
{
    return LEFT + AREA_X * (double)(time - a->begin) / (double)(a->end - a->begin);
}

/* The middle of an interval, from the top. */
static void put_point(out *o, const axes *a, const lode_rates_row *row, series which, int is_first)
{
    int is_count = which <= SERIES_FAILURES;
    double top = is_count ? COUNT_TOP : TIME_TOP, area = is_count ? COUNT_AREA : TIME_AREA;
    double share = (double)value_of(&row->rate, which) / (double)(is_count ? a->most : a->longest);
    out_print(o, "%s%.1f %.1f", is_first ? "M" : "L", x_of(a, row->begin + a->interval / 2),
              top + area * (1 - share));
}

/* Intervals without requests interrupt the line. */
static void put_line(out *o, const axes *a, const lode_rates_group *group, series which, const char *colour)
{
    out_print(o, "<path fill='none' stroke='%s' stroke-width='2' stroke-linecap='round' d='", colour);
    for (size_t i = 0; i < group->row_count; i++) {
        int follows = i > 0 && group->rows[i - 1].begin + a->interval == group->rows[i].begin;
        put_point(o, a, &group->rows[i], which, !follows);
        if (!follows)
            out_print(o, "h0.1");
    }
    out_print(o, "'/>\n");
}

static void put_axis(out *o, double top, double area, uint64_t most, int is_time)
{
    char amount[NUMBER_SIZE];
    for (unsigned i = 0; i <= 2; i++) {
        double y = top + area * (1 - i / 2.0);
        if (is_time)
            format_duration(amount, most * i / 2);
        else
            format_amount(amount, (double)most * i / 2, UNIT_COUNT);
        out_print(o, "<path d='M%.1f %.1fH%.1f' stroke='#dddddd'/>\n", LEFT, y, LEFT + AREA_X);
        out_print(o, "<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>\n", LEFT - 8, y + 4, amount);
    }
}

static void put_times(out *o, const axes *a)
{
    char begin[NUMBER_SIZE], end[NUMBER_SIZE];
    format_utc(begin, a->begin);
    format_utc(end, a->end);
    out_print(o, "<text x='%.1f' y='%.1f'>%s</text>\n", LEFT, TIME_TOP + TIME_AREA + 20, begin);
    out_print(o, "<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>\n", LEFT + AREA_X,
              TIME_TOP + TIME_AREA + 20, end);
}

static void put_legend(out *o, size_t line, const char *colour, const char *text)
{
    double y = TIME_TOP + 12 + 18 * (double)line;
    out_print(o, "<path d='M%.1f %.1fh14' stroke='%s' stroke-width='3'/><text x='%.1f' y='%.1f'>",
              LEGEND_LEFT, y - 4, colour, LEGEND_LEFT + 20, y);
    svg_text(o, text);
    out_print(o, "</text>\n");
}

/* One group has three percentiles; of several, each has the 95th. */
static void put_series(out *o, const axes *a, const lode_rates *rates, const rates_question *question)
{
    static const char *const names[] = {"p50", "p95", "p99"};
    for (size_t i = 0; i < a->groups; i++) {
        const lode_rates_group *group = lode_rates_at(rates, i);
        char *name = search_group_name(group, question->keys->count);
        put_line(o, a, group, SERIES_COUNT, svg_colour(i));
        put_line(o, a, group, SERIES_FAILURES, "#c92a2a");
        for (size_t j = 0; j < 3 && a->groups == 1; j++) {
            put_line(o, a, group, (series)(SERIES_P50 + j), svg_colour(j));
            put_legend(o, j, svg_colour(j), names[j]);
        }
        if (a->groups > 1) {
            put_line(o, a, group, SERIES_P95, svg_colour(i));
            put_legend(o, i, svg_colour(i), name);
        }
        free(name);
    }
}

int search_rates_svg(const char *path, const lode_rates *rates, const rates_question *question)
{
    axes a = axes_of(rates, question);
    if (lode_rates_count(rates) == 0)
        return report("nothing was found to draw");
    out *o = svg_open(path, (unsigned)WIDTH, HEIGHT);
    if (!o)
        return EXIT_TROUBLE;
    char interval[NUMBER_SIZE];
    format_duration(interval, a.interval);
    out_print(o, "<text x='%.1f' y='22' font-size='15'>%s in %s; failures are red</text>\n", LEFT,
              question->is_calls ? "Calls" : "Requests", interval);
    out_print(o, "<text x='%.1f' y='%.1f' font-size='15'>%s</text>\n", LEFT, TIME_TOP - 14,
              a.groups == 1 ? "Duration" : "Duration that 95 % do not exceed");
    put_axis(o, COUNT_TOP, COUNT_AREA, a.most, 0);
    put_axis(o, TIME_TOP, TIME_AREA, a.longest, 1);
    put_times(o, &a);
    put_series(o, &a, rates, question);
    return svg_close(o);
}
