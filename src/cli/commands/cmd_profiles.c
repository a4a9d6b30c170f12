/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/shared/groups.h"
#include "commands/shared/id_tuple.h"
#include "commands/shared/plots.h"
#include "commands/shared/recording.h"
#include "commands/shared/spread.h"
#include "output/report.h"
#include "stores/session.h"
#include "text/label.h"

#include <stdlib.h>
#include <string.h>

typedef struct profiles_options {
    shared_options shared;
    const char *function;
    const char *by;
    plot_options plot;
} profiles_options;

typedef struct profile_row {
    uint32_t profile;
    double value;
    char *name; /* only if sorted by it */
} profile_row;

typedef struct profile_rows {
    profile_row *items;
    size_t count;
    uint32_t empty;   /* profiles without any value */
    uint32_t without; /* profiles with values, but not of this metric */
} profile_rows;

/* From the values of the root context, where the database has them; else from every profile. */
static int gather(profile_rows *rows, session *s)
{
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread = NULL;
    lode_error error = {0};
    uint16_t metric_id;
    if (lode_metric_id(s->metric, LODE_SCOPE_EXECUTION, &metric_id) != LODE_OK)
        return report("%s: metric '%s' has no execution scope", s->path, lode_metric_name(s->metric));
    options.metric = s->metric;
    options.selection = s->selection;
    options.on_progress = progress_report;
    options.user = &s->progress;
    options.comm = s->shared->comm;
    options.local_ranks = (uint32_t)s->shared->local_ranks;
    lode_status status = lode_spread_compute(&spread, s->db, &options, &error);
    progress_clear(&s->progress);
    if (status != LODE_OK)
        return session_error(s, &error);
    rows->count = lode_spread_count(spread);
    rows->items = alloc_array(rows->count, sizeof *rows->items);
    for (size_t i = 0; i < rows->count; i++) {
        const lode_spread_row *row = lode_spread_at(spread, i);
        rows->items[i] = (profile_row){row->profile, row->total, NULL};
    }
    rows->empty = lode_spread_empty(spread);
    rows->without = lode_spread_without(spread);
    lode_spread_free(spread);
    return EXIT_DONE;
}

static int compare_index(const void *left, const void *right)
{
    const profile_row *a = left, *b = right;
    return a->profile < b->profile ? -1 : a->profile > b->profile;
}

static int compare_value(const void *left, const void *right)
{
    const profile_row *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return compare_index(left, right);
}

/* "rank 2" before "rank 10". */
static int compare_name(const void *left, const void *right)
{
    const profile_row *a = left, *b = right;
    int order = strverscmp(a->name, b->name);
    return order ? order : compare_index(left, right);
}

static void sort_rows(profile_rows *rows, const session *s, int sort)
{
    static int (*const orders[])(const void *, const void *) = {[LODE_PROFILES_BY_VALUE] = compare_value,
                                                                [LODE_PROFILES_BY_IDS] = compare_name,
                                                                [LODE_PROFILES_BY_INDEX] = compare_index};
    label l = {0};
    for (size_t i = 0; sort == LODE_PROFILES_BY_IDS && i < rows->count; i++) {
        rows->items[i].name = strdup(label_profile(&l, s->db, rows->items[i].profile));
        if (!rows->items[i].name)
            exit(report("out of memory"));
    }
    if (rows->count)
        qsort(rows->items, rows->count, sizeof *rows->items, orders[sort]);
    label_free(&l);
}

static void distribution(lode_distribution *d, const profile_rows *rows)
{
    double *values = alloc_array(rows->count, sizeof *values);
    for (size_t i = 0; i < rows->count; i++)
        values[i] = rows->items[i].value;
    lode_distribution_of(d, values, rows->count);
    free(values);
}

#define BAR_WIDTH 20

static const out_column columns[] = {
    {"profile", "#", OUT_NUMBER, OUT_ALWAYS},
    {"value", "Total", OUT_REAL, OUT_ALWAYS},
    {"percent_of_mean", "% of mean", OUT_PERCENT, OUT_ALWAYS},
    {"bar", "", OUT_STRING, OUT_TEXT_IF_WIDE},
    {"name", "Profile", OUT_STRING, OUT_ALWAYS},
    ID_TUPLE_COLUMN,
};

/* Bars of values that are all about the same say nothing. */
static int are_bars_worth_it(const profile_row *rows, size_t count, double max)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].value < max * (1 - 1.0 / BAR_WIDTH))
            return 1;
    return 0;
}

static size_t shown_count(const session *s, const profile_rows *rows)
{
    uint64_t limit = s->shared->limit;
    return limit && limit < rows->count ? (size_t)limit : rows->count;
}

static void print_rows(out *o, const session *s, const profile_rows *rows, const lode_distribution *d)
{
    size_t shown = shown_count(s, rows);
    int has_bars = are_bars_worth_it(rows->items, shown, d->max);
    label l = {0};
    out_table(o, OUT_MAIN, "rows", columns, 6, unit_of_metric(lode_metric_name(s->metric)));
    for (size_t i = 0; i < shown; i++) {
        const profile_row *row = &rows->items[i];
        char bar[BAR_SIZE];
        spread_bar(bar, d->max > 0 ? row->value / d->max : 0, BAR_WIDTH, out_is_utf8(o));
        out_row(o, STYLE_PLAIN);
        OUT_CELLS(o, row->profile, row->value, d->mean != 0 ? row->value / d->mean : 0, has_bars ? bar : NULL,
                  label_profile(&l, s->db, row->profile));
        id_tuple_cell(o, s->db, row->profile);
        out_row_end(o);
    }
    out_table_end(o);
    out_shown(o, shown, rows->count, "profiles");
    label_free(&l);
}

static void say_left_out(out *o, const profile_rows *rows)
{
    if (rows->empty)
        out_say(o, "%s not counted", COUNTED(rows->empty, "empty profile is", "empty profiles are"));
    if (rows->without)
        out_say(o, "%s not counted",
                COUNTED(rows->without, "profile without this metric is", "profiles without this metric are"));
}

static int print_plots(out *o, session *s, const plot_options *options, const unsigned kinds[2],
                       const profile_rows *rows)
{
    lode_profile_value *values = alloc_array(rows->count, sizeof *values);
    for (size_t i = 0; i < rows->count; i++)
        values[i] = (lode_profile_value){rows->items[i].profile, rows->items[i].value, 0};
    int status = plots_print(o, s, options, kinds, values, rows->count, (lode_profile_order)s->shared->sort);
    free(values);
    return status;
}

static int print_profiles(out *o, session *s, const profile_rows *rows, const plot_options *options,
                          const unsigned kinds[2])
{
    const char *name = lode_metric_name(s->metric);
    lode_distribution d;
    distribution(&d, rows);
    out_begin(o, SCHEMA_PROFILES_DATABASE, s->path);
    OUT_FIELDS(o, "metric", name, "selection", s->shared->profiles);
    out_fact_rows(o, shown_count(s, rows), rows->count);
    OUT_FIELDS(o, "empty_profiles", rows->empty, "profiles_without_metric", rows->without);
    out_say(o, "%s by profile%s%s", name, s->shared->profiles ? ", " : "",
            s->shared->profiles ? s->shared->profiles : "");
    session_say_default(o, s);
    out_gap(o);
    print_rows(o, s, rows, &d);
    if (rows->count == 0)
        out_say(o, "No profile has this metric.");
    out_gap(o);
    spread_print(o, "distribution", &d, unit_of_metric(name));
    say_left_out(o, rows);
    int status = print_plots(o, s, options, kinds, rows);
    out_end(o);
    return status;
}

static int profiles_database(const invocation *call)
{
    const profiles_options *options = call->options;
    unsigned kinds[2];
    session s;
    profile_rows rows = {0};
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = session_need_metric(&s);
    if (status == EXIT_DONE)
        status = plots_find_kinds(&s, &options->plot, kinds);
    if (status == EXIT_DONE)
        status = gather(&rows, &s);
    if (status == EXIT_DONE) {
        sort_rows(&rows, &s, call->shared->sort);
        status = print_profiles(call->out, &s, &rows, &options->plot, kinds);
    }
    for (size_t i = 0; i < rows.count; i++)
        free(rows.items[i].name);
    free(rows.items);
    session_close(&s);
    return status;
}

static int profiles_usage(const invocation *call)
{
    const profiles_options *options = call->options;
    if (options->by && (options->plot.bins || options->plot.matrix))
        return report("--by cannot be combined with --bins or --matrix (see 'lode help profiles')");
    return plots_usage(&options->plot, "profiles");
}

static int run_profiles(const invocation *call)
{
    const profiles_options *options = call->options;
    groups_question question = {options->function, options->by, (lode_profile_order)call->shared->sort,
                                &options->plot};
    if (call->kind == LODE_STORE_RECORDING)
        return profiles_recording(call, &options->plot);
    return options->function || options->by ? groups_database(call, &question) : profiles_database(call);
}

static const option_spec profiles_own[] = {
    {"sort", 's', OPTION_CHOICE, "ORDER", profile_sort_choices, offsetof(shared_options, sort)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"bins", 0, OPTION_COUNT, "N", NULL, offsetof(profiles_options, plot.bins)},
    {0},
};

static const option_spec profiles_of_databases[] = {
    {"function", 0, OPTION_TEXT, "NAME", NULL, offsetof(profiles_options, function)},
    {"by", 'b', OPTION_TEXT, "KEY[,KEY]...", NULL, offsetof(profiles_options, by)},
    {"matrix", 0, OPTION_TEXT, "KEY,KEY", NULL, offsetof(profiles_options, plot.matrix)},
    {0},
};

static const option_spec profiles_of_recordings[] = {
    {"threads", 0, OPTION_COUNT, "N", NULL, offsetof(shared_options, threads)},
    {0},
};

static const profiles_options profiles_defaults = {.shared = {.limit = 20}};

const command_spec command_profiles = {
    .name = "profiles",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL,
    .options = {.own = profiles_own,
                .of_databases = profiles_of_databases,
                .of_recordings = profiles_of_recordings,
                .shared = SHARED_METRIC | SHARED_PROFILES | SHARED_SLICE | SHARED_DEPTH | SHARED_STRICT |
                          SHARED_MEMORY | SHARED_RANKS | SHARED_JSON | SHARED_CSV | SHARED_COLOR |
                          SHARED_VERBOSE},
    .options_size = sizeof(profiles_options),
    .defaults = &profiles_defaults,
    .on_ranks = FOR_DATABASES,
    .usage = profiles_usage,
    .run = run_profiles,
};
