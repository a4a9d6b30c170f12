/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/context/find.h"
#include "commands/context/values.h"
#include "commands/shared/id_tuple.h"
#include "commands/shared/plots.h"
#include "commands/shared/spread.h"
#include "output/out.h"
#include "output/report.h"
#include "stores/session.h"
#include "text/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHOWN_MATCHES  10
#define PATH_HEAD      8 /* steps of a long path that are shown at both of its ends */
#define PATH_TAIL      24
#define HISTOGRAM_BINS 12

typedef struct context_options {
    shared_options shared;
    const char *scope;
    int all;
    plot_options plot;
} context_options;

/* What is asked about. `context` is NULL for an id that has values but is not listed. */
typedef struct target {
    uint32_t id;
    const lode_context *context;
    const char *scope;
    context_question question;
    unsigned matrix[2]; /* kinds of ids */
} target;

static const out_column match_columns[] = {
    {"inclusive", "Inclusive", OUT_REAL, OUT_ALWAYS},
    {"context", "Context", OUT_NUMBER, OUT_ALWAYS},
    {"caller", "Caller", OUT_STRING, OUT_ALWAYS},
    {"name", "Name", OUT_STRING, OUT_ALWAYS},
};

static void print_matches(out *o, const session *s, const context_matches *matches, const char *text)
{
    size_t shown = matches->count < SHOWN_MATCHES ? matches->count : SHOWN_MATCHES;
    int names = names_of_database(s->db, NAMES_BY_STORE);
    label name = {0}, caller = {0};
    OUT_FIELDS(o, "match_count", matches->count, "function_count", matches->functions,
               "is_match_list_truncated", shown < matches->count);
    if (matches->count < 2)
        return;
    char functions[COUNTED_SIZE + 4] = "";
    if (matches->functions > 1)
        snprintf(functions, sizeof functions, " of %s", COUNTED(matches->functions, "function", "functions"));
    out_say(o,
            "%s contexts%s match '%s'; showing the most expensive one. Others can be selected by number%s:",
            GROUPED(matches->count), functions, text, shown < matches->count ? ", such as" : "");
    out_table(o, OUT_SIDE, "matches", match_columns, 4, unit_of_metric(lode_metric_name(s->metric)));
    for (size_t i = 0; i < shown; i++) {
        const lode_context *context = matches->items[i].context, *parent = lode_context_parent(context);
        OUT_ROW(o, STYLE_PLAIN, matches->items[i].inclusive, lode_context_id(context),
                parent ? label_context_as(&caller, enclosing_function(parent), names) : NULL,
                label_context_as(&name, context, names));
    }
    out_table_end(o);
    out_gap(o);
    label_free(&name);
    label_free(&caller);
}

static const out_column path_columns[] = {
    {"context", "Context", OUT_NUMBER, OUT_ALWAYS},
    {"relation", "By", OUT_STRING, OUT_DATA_ONLY},
    {"name", "Call path", OUT_STRING, OUT_ALWAYS},
};

/* From the root down to the context; the middle of a long path is only counted in text. */
static void print_path(out *o, const lode_context *context, int names)
{
    uint32_t count = lode_context_depth(context) + 1;
    const lode_context **path = alloc_array(count, sizeof *path);
    label l = {0};
    for (uint32_t i = count; i-- > 0 && context; context = lode_context_parent(context))
        path[i] = context;
    int is_cut = out_format_of(o) == OUT_TEXT && count > PATH_HEAD + PATH_TAIL + 1;
    out_table(o, OUT_SIDE, "path", path_columns, 3, UNIT_COUNT);
    for (uint32_t i = 0; i < count; i++) {
        char gap[64];
        int is_gap = is_cut && i == PATH_HEAD;
        snprintf(gap, sizeof gap, "(%u more)", count - PATH_HEAD - PATH_TAIL);
        if (is_gap)
            i = count - PATH_TAIL - 1;
        OUT_ROW(o, is_gap ? STYLE_DIM : STYLE_PLAIN, is_gap ? out_none() : out_u64(lode_context_id(path[i])),
                lode_relation_name(lode_context_relation(path[i])),
                is_gap ? gap : label_context_as(&l, path[i], names));
    }
    out_table_end(o);
    label_free(&l);
    free(path);
}

static int print_plots(out *o, session *s, const context_options *options, const target *t,
                       const context_values *v)
{
    lode_profile_value *values = alloc_array(v->count, sizeof *values);
    if (v->count)
        memcpy(values, v->items, v->count * sizeof *values);
    int status = plots_print(o, s, &options->plot, t->matrix, values, v->count,
                             (lode_profile_order)options->shared.sort);
    free(values);
    return status;
}

static const out_column value_columns[] = {
    {"profile", "#", OUT_NUMBER, OUT_ALWAYS},
    {"value", "Value", OUT_REAL, OUT_ALWAYS},
    {"deviation", "From median", OUT_REAL, OUT_ALWAYS},
    {"name", "Profile", OUT_STRING, OUT_ALWAYS},
    ID_TUPLE_COLUMN,
};

static void print_values(out *o, const session *s, const lode_profile_value *values, size_t count,
                         metric_unit unit)
{
    label l = {0};
    out_table(o, OUT_MAIN, "rows", value_columns, 5, unit);
    for (size_t i = 0; i < count; i++) {
        out_row(o, STYLE_PLAIN);
        OUT_CELLS(o, values[i].profile, values[i].value, values[i].deviation,
                  label_profile(&l, s->db, values[i].profile));
        id_tuple_cell(o, s->db, values[i].profile);
        out_row_end(o);
    }
    out_table_end(o);
    label_free(&l);
}

static void say_outliers(out *o, size_t outliers, size_t count)
{
    const char *meaning = "(more than 1.5 interquartile ranges beyond the quartiles)";
    if (outliers)
        out_say(o, "\n%s %s:", COUNTED(outliers, "outlier", "outliers"), meaning);
    else if (count > 1)
        out_say(o, "\nNo outliers %s", meaning);
}

static void print_rows(out *o, const session *s, const context_options *options, context_values *v,
                       metric_unit unit)
{
    uint64_t limit = options->shared.limit;
    size_t outliers = options->all ? v->count : lode_profile_outliers(v->items, v->count, &v->distribution);
    size_t shown = !options->all && limit && limit < outliers ? (size_t)limit : outliers;
    OUT_FIELDS(o, "outliers_only", !options->all);
    out_fact_rows(o, shown, outliers);
    if (!options->all) {
        say_outliers(o, outliers, v->count);
    } else {
        out_gap(o);
    }
    print_values(o, s, v->items, shown, unit);
    out_shown(o, shown, outliers, "outliers");
}

static void print_spread(out *o, const session *s, const context_options *options, const target *t,
                         context_values *v)
{
    const char *name = lode_metric_name(s->metric);
    metric_unit unit = unit_of_metric(name);
    const lode_distribution *d = &v->distribution;
    OUT_FIELDS(o, "metric", name, "scope", t->scope, "selection", s->shared->profiles, "profiles", v->count,
               "profiles_without_value", v->zeros, "empty_profiles", v->empty, "values_by_context",
               !v->is_by_profile, "adds_up", !v->is_cct_wrong && !v->is_profile_wrong);
    out_say(o, "\n%s, %s scope, over %s", name, t->scope, COUNTED(v->count, "profile", "profiles"));
    session_say_default(o, s);
    if (v->zeros)
        out_say(o, "%s as zero",
                COUNTED(v->zeros, "of them has no value here and counts",
                        "of them have no value here and count"));
    if (v->empty)
        out_say(o, "%s not counted", COUNTED(v->empty, "empty profile is", "empty profiles are"));
    if (v->is_by_profile)
        out_say(o, "(%s %s: searched every profile)", lode_database_part_file(s->db, LODE_PART_CONTEXT),
                v->is_cct_wrong ? "does not add up to the summary" : "is missing or damaged");
    spread_print(o, "distribution", d, unit);
    if (d->max > d->min) {
        out_gap(o);
        spread_histogram(o, "histogram", d, v->values, v->count, HISTOGRAM_BINS, unit);
    } else if (v->count > 1) {
        out_say(o, "All profiles have the same value.");
    }
    print_rows(o, s, options, v, unit);
}

/* The id of the sum over profiles. Values of profiles need not add up under a custom scope. */
static void find_sum(const session *s, const lode_scope *scope, context_question *question)
{
    lode_metric_statistic statistic;
    if (lode_scope_kind(scope) == LODE_SCOPE_CUSTOM)
        return;
    for (uint32_t i = 0; lode_metric_statistic_at(s->metric, i, &statistic) == LODE_OK; i++) {
        if (statistic.scope != scope || statistic.combine != LODE_COMBINE_SUM ||
            strcmp(statistic.formula, "$$") != 0)
            continue;
        question->has_sum = 1;
        question->sum_id = statistic.id;
    }
}

/* The id of the metric's values under the requested scope, or the execution scope. */
static int find_scope(const session *s, const char *wanted, target *t)
{
    lode_metric_scope scope;
    char names[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; lode_metric_scope_at(s->metric, i, &scope) == LODE_OK; i++) {
        const char *name = lode_scope_name(scope.scope);
        int is_it =
            wanted ? strcasecmp(name, wanted) == 0 : lode_scope_kind(scope.scope) == LODE_SCOPE_EXECUTION;
        if (is_it) {
            t->scope = name;
            t->question.metric_id = scope.id;
            find_sum(s, scope.scope, &t->question);
            return EXIT_DONE;
        }
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name);
    }
    return report("%s: metric '%s' has no scope '%s'; it has %s", s->path, lode_metric_name(s->metric),
                  wanted ? wanted : "execution", names[0] ? names : "none");
}

/* Ids that the metadata does not list may have values nevertheless. */
static int has_values(const lode_database *db, uint32_t id)
{
    lode_block block;
    return lode_context_block(db, id, &block, NULL) == LODE_OK && lode_block_value_count(&block) > 0;
}

static int find_target(session *s, const char *text, context_matches *matches, target *t)
{
    lode_cost *cost = NULL;
    lode_error error = {0};
    if (context_is_id(text, &t->id)) {
        t->context = lode_database_context(s->db, t->id);
        if (!t->context && !has_values(s->db, t->id))
            return report("%s: there is no context %u", s->path, t->id);
        return EXIT_DONE;
    }
    if (session_cost(s, &cost) != EXIT_DONE)
        return EXIT_TROUBLE;
    lode_status status = context_find(matches, cost, text, &error);
    session_free_cost(cost);
    if (status != LODE_OK)
        return session_error(s, &error);
    t->context = matches->items[0].context;
    t->id = lode_context_id(t->context);
    return EXIT_DONE;
}

/* What was found to be wrong on the way. */
static int say_damage(const session *s, const target *t, const context_values *v)
{
    const char *cct = lode_database_part_file(s->db, LODE_PART_CONTEXT);
    const char *profile = lode_database_part_file(s->db, LODE_PART_PROFILE);
    if (v->is_cct_wrong)
        report(
            "warning: %s: %s differs from the summary at context %u; using the values of %s (details: 'lode check --level full')",
            s->path, cct, t->id, profile);
    if (v->is_profile_wrong)
        report(
            "warning: %s: the profiles do not add up to the summary at context %u (details: 'lode check --level full')",
            s->path, t->id);
    return v->is_cct_wrong || v->is_profile_wrong ? EXIT_FINDINGS : EXIT_DONE;
}

static int print_context(const invocation *call, session *s, const context_matches *matches, const target *t)
{
    const context_options *options = call->options;
    out *o = call->out;
    context_values values = {0};
    lode_error error = {0};
    label l = {0};
    int status = EXIT_DONE;
    context_question question = t->question;
    int names = names_of_database(s->db, NAMES_BY_STORE);
    question.context_id = t->id;
    if (context_values_read(&values, s->db, s->selection, &question, &error) < 0) {
        status = session_error(s, &error);
    } else {
        out_begin(o, SCHEMA_CONTEXT, s->path);
        OUT_FIELDS(o, "context", t->id, "name", t->context ? label_context_as(&l, t->context, names) : NULL);
        print_matches(o, s, matches, call->operands[1]);
        if (t->context)
            print_path(o, t->context, names);
        else
            out_say(o, "Context %u is not listed in %s: its cost is included in its nearest listed caller",
                    t->id, lode_database_part_file(s->db, LODE_PART_META));
        print_spread(o, s, options, t, &values);
        status = print_plots(o, s, options, t, &values);
        out_end(o);
        if (status == EXIT_DONE)
            status = say_damage(s, t, &values);
    }
    label_free(&l);
    context_values_free(&values);
    return status;
}

static int context_usage(const invocation *call)
{
    const context_options *options = call->options;
    return plots_usage(&options->plot, "context");
}

static int run_context(const invocation *call)
{
    const context_options *options = call->options;
    session s;
    target t = {0};
    context_matches matches = {0};
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = session_need_metric(&s);
    if (status == EXIT_DONE)
        status = find_scope(&s, options->scope, &t);
    if (status == EXIT_DONE)
        status = plots_find_kinds(&s, &options->plot, t.matrix);
    if (status == EXIT_DONE)
        status = find_target(&s, call->operands[1], &matches, &t);
    if (status == EXIT_DONE)
        status = print_context(call, &s, &matches, &t);
    context_matches_free(&matches);
    session_close(&s);
    return status;
}

/* Of bins. */

static const option_spec context_own[] = {
    {"scope", 0, OPTION_TEXT, "SCOPE", NULL, offsetof(context_options, scope)},
    {"all", 0, OPTION_FLAG, NULL, NULL, offsetof(context_options, all)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"bins", 0, OPTION_COUNT, "N", NULL, offsetof(context_options, plot.bins)},
    {"sort", 's', OPTION_CHOICE, "ORDER", profile_sort_choices, offsetof(shared_options, sort)},
    {"matrix", 0, OPTION_TEXT, "KEY,KEY", NULL, offsetof(context_options, plot.matrix)},
    {0},
};

static const context_options context_defaults = {.shared = {.limit = 10}};

const command_spec command_context = {
    .name = "context",
    .operands = "[DB] CONTEXT",
    .min_operands = 2,
    .max_operands = 2,
    .stores = FOR_DATABASES,
    .options = {.own = context_own,
                .shared = SHARED_METRIC | SHARED_PROFILES | SHARED_THREADS | SHARED_JSON | SHARED_CSV |
                          SHARED_COLOR | SHARED_VERBOSE},
    .options_size = sizeof(context_options),
    .defaults = &context_defaults,
    .usage = context_usage,
    .run = run_context,
};
