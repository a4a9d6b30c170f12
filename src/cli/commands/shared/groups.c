/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/groups.h"

#include "alloc.h"
#include "commands/context/find.h"
#include "commands/shared/id_tuple.h"
#include "commands/shared/recording.h"
#include "commands/shared/spread.h"
#include "output/report.h"
#include "stores/session.h"
#include "text/label.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 20
#define NAME_SIZE 256

/* A profile, or a group of profiles. */
typedef struct group_row {
    lode_spread_group amounts; /* of a profile: `first` is its number */
    char *name;                /* of a group; of a profile, only if sorted by it */
} group_row;

typedef struct answer {
    const groups_question *question;
    session s;
    lode_spread *spread;
    lode_spread_groups *groups; /* NULL: by profile */
    unsigned kinds[LODE_GROUP_KINDS];
    size_t kind_count;
    unsigned matrix[2]; /* kinds of ids */
    group_row *rows;
    size_t count;
    size_t context_count; /* of the function */
    lode_distribution distribution;
} answer;

/* ---- what is asked ---- */

static void take_contexts(const context_matches *matches, const lode_context ***contexts, size_t *count)
{
    *contexts = alloc_array(matches->count + 1, sizeof **contexts);
    for (size_t i = 0; i < matches->count; i++)
        if (enclosing_function(matches->items[i].context) == matches->items[i].context)
            (*contexts)[(*count)++] = matches->items[i].context;
}

static int find_contexts(answer *a, const lode_context ***contexts)
{
    lode_cost *cost = NULL;
    context_matches matches = {0};
    lode_error error = {0};
    int status = session_cost(&a->s, &cost);
    if (status != EXIT_DONE)
        return status;
    if (context_find(&matches, cost, a->question->function, &error) != LODE_OK)
        status = session_error(&a->s, &error);
    take_contexts(&matches, contexts, &a->context_count);
    if (status == EXIT_DONE && a->context_count == 0)
        status = report("%s: no function matches '%s'", a->s.path, a->question->function);
    context_matches_free(&matches);
    session_free_cost(cost);
    return status;
}

static int compute_spread(answer *a)
{
    const lode_context **contexts = NULL;
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_error error = {0};
    int status = a->question->function ? find_contexts(a, &contexts) : EXIT_DONE;
    options.metric = a->s.metric;
    options.selection = a->s.selection;
    options.contexts = contexts;
    options.context_count = a->context_count;
    options.threads = (unsigned)(a->s.shared->threads < 4096 ? a->s.shared->threads : 4096);
    options.on_progress = progress_report;
    options.user = &a->s.progress;
    options.comm = a->s.shared->comm;
    options.local_ranks = (uint32_t)a->s.shared->local_ranks;
    if (status == EXIT_DONE && lode_spread_compute(&a->spread, a->s.db, &options, &error) != LODE_OK)
        status = session_error(&a->s, &error);
    progress_clear(&a->s.progress);
    free(contexts);
    return status;
}

static int compute(answer *a)
{
    lode_error error = {0};
    if (a->question->by &&
        lode_database_find_kinds(a->s.db, a->question->by, a->kinds, &a->kind_count, &error) != LODE_OK)
        return session_error(&a->s, &error);
    if (a->question->plot && plots_find_kinds(&a->s, a->question->plot, a->matrix) != EXIT_DONE)
        return EXIT_TROUBLE;
    int status = compute_spread(a);
    if (status == EXIT_DONE && a->question->by &&
        lode_spread_group_by(&a->groups, a->spread, a->kinds, a->kind_count, &error) != LODE_OK)
        return session_error(&a->s, &error);
    return status;
}

/* ---- rows ---- */

static char *name_group(const answer *a, const lode_spread_group *group)
{
    char name[ID_TUPLE_NAME_SIZE];
    size_t length = id_tuple_name(name, a->s.db, group->ids, a->kind_count);
    char *copy = alloc_array(length + 1, 1);
    return memcpy(copy, name, length + 1);
}

static char *name_profile(const answer *a, uint32_t profile)
{
    label l = {0};
    const char *name = label_profile(&l, a->s.db, profile);
    size_t size = strlen(name) + 1;
    char *copy = memcpy(alloc_array(size, 1), name, size);
    label_free(&l);
    return copy;
}

static void take_groups(answer *a)
{
    a->count = lode_spread_groups_count(a->groups);
    a->rows = alloc_array(a->count, sizeof *a->rows);
    for (size_t i = 0; i < a->count; i++) {
        a->rows[i].amounts = *lode_spread_groups_at(a->groups, i);
        a->rows[i].name = name_group(a, &a->rows[i].amounts);
    }
}

static void take_profiles(answer *a)
{
    a->count = lode_spread_count(a->spread);
    a->rows = alloc_array(a->count, sizeof *a->rows);
    for (size_t i = 0; i < a->count; i++) {
        const lode_spread_row *row = lode_spread_at(a->spread, i);
        a->rows[i].amounts = (lode_spread_group){.first = row->profile,
                                                 .profiles = 1,
                                                 .inclusive = row->inclusive,
                                                 .exclusive = row->exclusive,
                                                 .total = row->total,
                                                 .min = row->inclusive,
                                                 .max = row->inclusive};
        if (a->question->sort == LODE_PROFILES_BY_IDS)
            a->rows[i].name = name_profile(a, row->profile);
    }
}

static int compare_first(const void *left, const void *right)
{
    const group_row *a = left, *b = right;
    return a->amounts.first < b->amounts.first ? -1 : a->amounts.first > b->amounts.first;
}

static int compare_value(const void *left, const void *right)
{
    const group_row *a = left, *b = right;
    if (a->amounts.inclusive != b->amounts.inclusive)
        return a->amounts.inclusive > b->amounts.inclusive ? -1 : 1;
    return compare_first(left, right);
}

static int compare_name(const void *left, const void *right)
{
    const group_row *a = left, *b = right;
    int order = strverscmp(a->name, b->name);
    return order ? order : compare_first(left, right);
}

/* Groups are in the order of their ids already. */
static void sort_rows(answer *a)
{
    lode_profile_order sort = a->question->sort;
    if (a->count && sort != LODE_PROFILES_BY_INDEX)
        qsort(a->rows, a->count, sizeof *a->rows,
              sort == LODE_PROFILES_BY_IDS ? compare_name : compare_value);
}

static void measure(answer *a)
{
    double *values = alloc_array(a->count, sizeof *values);
    for (size_t i = 0; i < a->count; i++)
        values[i] = a->rows[i].amounts.inclusive;
    lode_distribution_of(&a->distribution, values, a->count);
    free(values);
}

/* ---- output ---- */

enum {
    COLUMN_PROFILE,
    COLUMN_PROFILES,
    COLUMN_VALUE,
    COLUMN_OF_MEAN,
    COLUMN_EXCLUSIVE,
    COLUMN_OF_TOTAL,
    COLUMN_MIN,
    COLUMN_MEAN,
    COLUMN_MAX,
    COLUMN_IMBALANCE,
    COLUMN_BAR,
    COLUMN_NAME,
    COLUMN_IDS, /* two for each kind: its numbers */
    COLUMN_COUNT = COLUMN_IDS + 2 * LODE_GROUP_KINDS
};

static const out_column all_columns[COLUMN_IDS] = {
    {"profile", "#", OUT_NUMBER, OUT_NEVER},
    {"profiles", "Profiles", OUT_INTEGER, OUT_NEVER},
    {"value", "Total", OUT_REAL, OUT_ALWAYS},
    {"percent_of_mean", "% of mean", OUT_PERCENT, OUT_ALWAYS},
    {"exclusive", "Exclusive", OUT_REAL, OUT_NEVER},
    {"percent_of_total", "% of all", OUT_PERCENT, OUT_NEVER},
    {"min", "Min", OUT_REAL, OUT_NEVER},
    {"mean", "Mean", OUT_REAL, OUT_NEVER},
    {"max", "Max", OUT_REAL, OUT_NEVER},
    {"imbalance_percent", "Imbalance", OUT_PERCENT, OUT_NEVER},
    {"bar", "", OUT_STRING, OUT_TEXT_IF_WIDE},
    {"name", "Profile", OUT_STRING, OUT_ALWAYS},
};

typedef struct column_set {
    out_column items[COLUMN_COUNT];
    char keys[2 * LODE_GROUP_KINDS][64];
    size_t count;
} column_set;

/* A kind as the name of a column. Names in files can be anything. */
static void name_column(char key[64], const answer *a, size_t kind, const char *suffix)
{
    const char *name = lode_database_id_kind_name(a->s.db, a->kinds[kind]);
    size_t length = name ? strlen(name) : 0;
    int is_word = length > 0 && length < 32;
    for (size_t i = 0; is_word && i < length; i++)
        is_word = isalnum((unsigned char)name[i]) || name[i] == '_';
    if (is_word)
        snprintf(key, 64, "%s%s", name, suffix);
    else
        snprintf(key, 64, "kind%u%s", a->kinds[kind], suffix);
    for (size_t i = 0; key[i]; i++)
        key[i] = (char)tolower((unsigned char)key[i]);
    /* A kind that is called as a column is. */
    for (size_t i = 0; i < COLUMN_IDS; i++)
        if (strcmp(key, all_columns[i].key) == 0)
            snprintf(key, 64, "kind%u%s", a->kinds[kind], suffix);
}

static void set_columns(column_set *columns, const answer *a)
{
    static const int of_groups[] = {COLUMN_PROFILES, COLUMN_MEAN, COLUMN_MIN, COLUMN_MAX, COLUMN_IMBALANCE};
    memcpy(columns->items, all_columns, sizeof all_columns);
    for (size_t i = 0; a->groups && i < sizeof of_groups / sizeof *of_groups; i++)
        columns->items[of_groups[i]].visibility =
            of_groups[i] == COLUMN_MIN || of_groups[i] == COLUMN_MEAN ? OUT_DATA_ONLY : OUT_ALWAYS;
    if (a->groups)
        columns->items[COLUMN_NAME].title = "Group";
    else
        columns->items[COLUMN_PROFILE].visibility = OUT_ALWAYS;
    if (a->question->function) {
        columns->items[COLUMN_VALUE].title = "Inclusive";
        columns->items[COLUMN_EXCLUSIVE].visibility = columns->items[COLUMN_OF_TOTAL].visibility = OUT_ALWAYS;
    }
    columns->count = COLUMN_IDS;
    if (!a->groups)
        columns->items[columns->count++] = (out_column)ID_TUPLE_COLUMN;
    for (size_t i = 0; i < a->kind_count; i++) {
        char(*keys)[64] = &columns->keys[2 * i];
        name_column(keys[0], a, i, "");
        name_column(keys[1], a, i, "_physical");
        columns->items[columns->count++] = (out_column){keys[0], "", OUT_NUMBER, OUT_CSV_ONLY};
        columns->items[columns->count++] = (out_column){keys[1], "", OUT_STRING, OUT_CSV_ONLY};
    }
}

static void write_ids(out *o, const answer *a, const lode_id *ids)
{
    for (size_t i = 0; i < a->kind_count; i++) {
        char physical[24];
        snprintf(physical, sizeof physical, "%" PRIu64, ids[i].physical);
        OUT_CELLS(o, ids[i].logical, ids[i].flags & LODE_ID_PHYSICAL ? physical : NULL);
    }
}

static void write_row(out *o, const answer *a, const group_row *row, int has_bar, label *l)
{
    const lode_spread_group *amounts = &row->amounts;
    const lode_distribution *d = &a->distribution;
    double mean = amounts->inclusive / amounts->profiles;
    char bar[BAR_SIZE];
    spread_bar(bar, d->max > 0 ? amounts->inclusive / d->max : 0, BAR_WIDTH, out_is_utf8(o));
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, amounts->first, amounts->profiles, amounts->inclusive,
              d->mean != 0 ? amounts->inclusive / d->mean : 0, amounts->exclusive,
              out_share(amounts->inclusive, amounts->total), amounts->min, mean, amounts->max,
              mean != 0 ? amounts->max / mean - 1 : 0, has_bar ? bar : NULL,
              row->name ? row->name : label_profile(l, a->s.db, amounts->first));
    write_ids(o, a, amounts->ids);
    if (a->groups)
        id_tuple_write(o, a->s.db, amounts->ids, a->kind_count);
    else
        id_tuple_cell(o, a->s.db, amounts->first);
    out_row_end(o);
}

static size_t shown_count(const answer *a)
{
    uint64_t limit = a->s.shared->limit;
    return limit && limit < a->count ? (size_t)limit : a->count;
}

static void write_rows(out *o, const answer *a)
{
    size_t shown = shown_count(a);
    column_set columns;
    label l = {0};
    int has_bars = 0;
    /* Bars of values that are all about the same say nothing. */
    for (size_t i = 0; i < shown; i++)
        has_bars |= a->rows[i].amounts.inclusive < a->distribution.max * (1 - 1.0 / BAR_WIDTH);
    set_columns(&columns, a);
    out_table(o, OUT_MAIN, "rows", columns.items, columns.count,
              unit_of_metric(lode_metric_name(a->s.metric)));
    for (size_t i = 0; i < shown; i++)
        write_row(o, a, &a->rows[i], has_bars, &l);
    out_table_end(o);
    out_shown(o, shown, a->count, a->groups ? "groups" : "profiles");
    label_free(&l);
}

static void write_heading(out *o, const answer *a)
{
    const char *function = a->question->function, *profiles = a->s.shared->profiles;
    const char *name = lode_metric_name(a->s.metric);
    OUT_FIELDS(o, "metric", name, "selection", profiles, "function", function, "by", a->question->by);
    if (function)
        OUT_FIELDS(o, "contexts", a->context_count);
    out_fact_rows(o, shown_count(a), a->count);
    OUT_FIELDS(o, "empty_profiles", lode_spread_empty(a->spread), "profiles_without_metric",
               lode_spread_without(a->spread));
    if (a->groups)
        OUT_FIELDS(o, "profiles_without_ids", lode_spread_groups_without(a->groups));
    out_say(o, "%s%s%s by %s%s%s", name, function ? " of " : "", function ? function : "",
            a->groups ? a->question->by : "profile", profiles ? ", " : "", profiles ? profiles : "");
    session_say_default(o, &a->s);
    out_gap(o);
}

static void say_not_counted(out *o, uint32_t count, const char *what)
{
    if (count)
        out_say(o, "%s%s %s not counted", COUNTED(count, "profile", "profiles"), what,
                count > 1 ? "are" : "is");
}

static int write_plots(out *o, answer *a)
{
    const plot_options *options = a->question->plot;
    if (!options || a->groups)
        return EXIT_DONE;
    lode_profile_value *values = alloc_array(a->count, sizeof *values);
    for (size_t i = 0; i < a->count; i++)
        values[i] = (lode_profile_value){a->rows[i].amounts.first, a->rows[i].amounts.inclusive, 0};
    int status = plots_print(o, &a->s, options, a->matrix, values, a->count, a->question->sort);
    free(values);
    return status;
}

static int write_answer(out *o, answer *a, out_schema schema)
{
    out_begin(o, schema, a->s.path);
    write_heading(o, a);
    write_rows(o, a);
    if (a->count == 0)
        out_say(o, "No profile has this metric.");
    out_gap(o);
    spread_print(o, "distribution", &a->distribution, unit_of_metric(lode_metric_name(a->s.metric)));
    say_not_counted(o, lode_spread_empty(a->spread), " without values");
    say_not_counted(o, lode_spread_without(a->spread), " without this metric");
    if (a->groups)
        say_not_counted(o, lode_spread_groups_without(a->groups), " without such ids");
    int status = write_plots(o, a);
    out_end(o);
    return status;
}

static void free_answer(answer *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->rows[i].name);
    free(a->rows);
    lode_spread_groups_free(a->groups);
    lode_spread_free(a->spread);
    session_close(&a->s);
}

int groups_database(const invocation *call, const groups_question *question)
{
    answer a = {.question = question};
    int status = session_open(&a.s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = session_need_metric(&a.s);
    if (status == EXIT_DONE)
        status = compute(&a);
    if (status == EXIT_DONE) {
        if (a.groups)
            take_groups(&a);
        else
            take_profiles(&a);
        sort_rows(&a);
        measure(&a);
        status = write_answer(call->out, &a,
                              call->command == &command_top ? SCHEMA_TOP_GROUPS : SCHEMA_PROFILES_GROUPS);
    }
    free_answer(&a);
    return status;
}
