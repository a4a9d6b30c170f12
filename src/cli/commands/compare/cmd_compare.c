/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/compare/compare.h"
#include "commands/shared/group_choices.h"
#include "options/filter.h"
#include "output/report.h"
#include "text/label.h"
#include "text/suggest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const scaling_choices[] = {"strong", "weak", NULL};
static const char *const sort_choices[] = {[COMPARE_BY_DIFFERENCE] = "difference",
                                           [COMPARE_BY_RATIO] = "ratio",
                                           [COMPARE_BY_BASE] = "base",
                                           [COMPARE_BY_NEW] = "new",
                                           [COMPARE_BY_NAME] = "name",
                                           NULL};

/* Whether rows are groups of contexts. The others are groups of profiles. */
static int find_by(const compare_options *options, lode_group_by *by, const char **name)
{
    if (group_find(options->by, code_group_choices, by)) {
        *name = group_name(*by);
        return 1;
    }
    *name = options->by;
    return 0;
}

static int has_sides(const invocation *call)
{
    const compare_options *options = call->options;
    return options->base.count > 0 || options->new_stores.count > 0;
}

static int has_parts(const compare_options *options)
{
    const side_part *base = &options->base_part, *new_part = &options->new_part;
    return base->from.is_given || base->to.is_given || base->ids || new_part->from.is_given ||
           new_part->to.is_given || new_part->ids;
}

/* Diagnoses are of whole runs, and stand above rows by function and the like. */
static int diagnose_usage(const invocation *call, int is_by_contexts)
{
    const compare_options *options = call->options;
    const shared_options *shared = call->shared;
    if (!options->diagnose && shared->kinds)
        return report("--kinds is for --diagnose (see 'lode help compare')");
    if (!options->diagnose)
        return EXIT_DONE;
    if (!is_by_contexts || options->tree || options->scaling >= 0 || options->explain)
        return report(
            "--diagnose is for --by function, line, loop, module or file (see 'lode help compare')");
    if (options->base.count > 1 || options->new_stores.count > 1)
        return report("--diagnose is for one run of each (see 'lode help compare')");
    if (shared->profiles || shared->from.is_given || shared->to.is_given || shared->tasks || shared->ids ||
        shared->depth || shared->min_time || shared->sched || has_parts(options))
        return report("--diagnose is for whole runs, not for a part of them (see 'lode help compare')");
    return EXIT_DONE;
}

static int compare_usage(const invocation *call)
{
    const compare_options *options = call->options;
    const shared_options *shared = call->shared;
    lode_group_by by = LODE_BY_FUNCTION;
    const char *name, *meant = NULL;
    if (has_sides(call) && (options->base.count == 0 || options->new_stores.count == 0))
        return report("--base and --new belong together (see 'lode help compare')");
    if (!(options->confidence > 0 && options->confidence < 1))
        return report("--confidence is between 0 and 100 (see 'lode help compare')");
    int is_by_contexts = find_by(options, &by, &name);
    if (!is_by_contexts)
        meant = suggest_choice(options->by, code_group_choices);
    if (meant)
        return report("--by is function, line, loop, module or file, or a kind of id, not '%.40s'; did you "
                      "mean %s? (see 'lode help compare')",
                      options->by, meant);
    if ((options->tree || options->scaling >= 0) &&
        (options->by || options->inclusive || options->normalize || shared->include.count ||
         shared->exclude.count))
        return report(
            "--tree and --scaling have no --by, --inclusive, --normalize, --include and --exclude (see 'lode help "
            "compare')");
    int is_by_function = is_by_contexts && by == LODE_BY_FUNCTION && !options->tree && options->scaling < 0;
    if (options->statistic != STATISTIC_SUM && !is_by_function)
        return report("--statistic is for --by function (see 'lode help compare')");
    if (options->function && is_by_contexts)
        return report("--function is for --by rank, thread or another kind of id (see 'lode help compare')");
    if ((shared->include.count || shared->exclude.count) && !(is_by_contexts && by == LODE_BY_FUNCTION))
        return report("--include and --exclude are for --by function (see 'lode help compare')");
    return diagnose_usage(call, is_by_contexts);
}

/* ---- the comparison ---- */

static int compare_costs(compare_job *job)
{
    lode_compare_options options = LODE_COMPARE_OPTIONS_INIT;
    lode_error error = {0};
    size_t first_new = job->base_runs * job->sides.metric_count;
    options.base_scales = job->scales;
    options.new_scales = job->scales + first_new;
    options.by = job->by;
    options.names = name_form(job->names);
    options.rules = job->rules;
    options.filter = job->filter;
    lode_status status = lode_compare(&job->comparison, job->costs, job->base_runs, job->costs + first_new,
                                      job->new_runs, job->sides.metric_count, &options, &error);
    if (status != LODE_OK)
        return report("%s", error.text);
    return side_use_statistic(&job->sides, job->comparison, job->base_runs, job->options->statistic);
}

static int open_sides(compare_job *job)
{
    const compare_options *options = job->options;
    const invocation *call = job->call;
    const char *paths[2 * TEXT_LIST_MAX] = {NULL};
    side_part parts[2 * TEXT_LIST_MAX] = {{.ids = NULL}};
    job->base_runs = has_sides(call) ? options->base.count : 1;
    job->new_runs = has_sides(call) ? options->new_stores.count : 1;
    for (size_t i = 0; i < job->base_runs; i++)
        paths[i] = has_sides(call) ? options->base.items[i] : call->operands[0];
    for (size_t i = 0; i < job->new_runs; i++)
        paths[job->base_runs + i] = has_sides(call) ? options->new_stores.items[i] : call->operands[1];
    for (size_t i = 0; i < job->base_runs + job->new_runs; i++)
        parts[i] = i < job->base_runs ? options->base_part : options->new_part;
    shared_options shared = *call->shared;
    invocation asked = *call;
    asked.shared = &shared;
    /* Waiting is a part of what limits scaling; elsewhere it is noise. */
    if (shared.metrics.count == 0 && options->scaling < 0)
        shared.metrics.items[shared.metrics.count++] = SIDE_RUNNING_OR_TIME;
    int status = side_open_parts(&job->sides, &asked, paths, parts, job->base_runs + job->new_runs);
    if (status == EXIT_DONE) {
        side_costs(&job->sides, &job->costs, &job->scales);
        job->names = side_names(&job->sides, call->shared->names);
    }
    return status;
}

static int compare_and_print(compare_job *job, int is_by_contexts)
{
    if (job->options->scaling >= 0)
        return compare_print_scaling(job);
    if (job->options->tree)
        return compare_print_tree(job);
    if (!is_by_contexts)
        return compare_print_profiles(job);
    int status = compare_costs(job);
    if (status == EXIT_DONE)
        status = compare_diagnose(job);
    return status == EXIT_DONE ? compare_print_rows(job) : status;
}

static int run_compare(const invocation *call)
{
    compare_job job = {.call = call, .options = call->options};
    int is_by_contexts = find_by(job.options, &job.by, &job.by_name);
    int status = compare_open_rules(&job.rules, job.options->rules);
    if (status == EXIT_DONE)
        status = open_sides(&job);
    if (status == EXIT_DONE)
        status = filter_open(&job.filter, call->shared);
    if (status == EXIT_DONE)
        status = job.options->explain ? compare_print_rules(&job) : compare_and_print(&job, is_by_contexts);
    lode_comparison_free(job.comparison);
    lode_diagnosis_free(job.base_diagnosis);
    lode_diagnosis_free(job.new_diagnosis);
    lode_filter_close(job.filter);
    lode_name_rules_close(job.rules);
    free(job.costs);
    free(job.scales);
    side_close(&job.sides);
    return status;
}

static const option_spec compare_own[] = {
    {"base", 0, OPTION_STORES, "STORE...", NULL, offsetof(compare_options, base)},
    {"new", 0, OPTION_STORES, "STORE...", NULL, offsetof(compare_options, new_stores)},
    {"by", 'b', OPTION_TEXT, "KEY[,KEY]...", code_group_choices, offsetof(compare_options, by)},
    {"sort", 's', OPTION_CHOICE, "ORDER", sort_choices, offsetof(shared_options, sort)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"metric", 'm', OPTION_TEXTS, "METRIC[,METRIC]...", NULL, offsetof(shared_options, metrics)},
    {"function", 0, OPTION_TEXT, "NAME", NULL, offsetof(compare_options, function)},
    {"tree", 0, OPTION_FLAG, NULL, NULL, offsetof(compare_options, tree)},
    {"min-percent", 0, OPTION_PERCENT, "P", NULL, offsetof(compare_options, min_share)},
    {"scaling", 0, OPTION_CHOICE, NULL, scaling_choices, offsetof(compare_options, scaling)},
    {"ranks-base", 0, OPTION_COUNT, "N", NULL, offsetof(compare_options, ranks_base)},
    {"ranks-new", 0, OPTION_COUNT, "N", NULL, offsetof(compare_options, ranks_new)},
    {"from-base", 0, OPTION_MOMENT, "TIME", NULL, offsetof(compare_options, base_part.from)},
    {"to-base", 0, OPTION_MOMENT, "TIME", NULL, offsetof(compare_options, base_part.to)},
    {"from-new", 0, OPTION_MOMENT, "TIME", NULL, offsetof(compare_options, new_part.from)},
    {"to-new", 0, OPTION_MOMENT, "TIME", NULL, offsetof(compare_options, new_part.to)},
    {"statistic", 0, OPTION_CHOICE, NULL, statistic_choices, offsetof(compare_options, statistic)},
    {"inclusive", 0, OPTION_FLAG, NULL, NULL, offsetof(compare_options, inclusive)},
    {"normalize", 0, OPTION_FLAG, NULL, NULL, offsetof(compare_options, normalize)},
    {"all", 0, OPTION_FLAG, NULL, NULL, offsetof(compare_options, all)},
    {"name-rules", 0, OPTION_TEXT, "FILE", NULL, offsetof(compare_options, rules)},
    {"explain-match", 0, OPTION_FLAG, NULL, NULL, offsetof(compare_options, explain)},
    {"diagnose", 0, OPTION_FLAG, NULL, NULL, offsetof(compare_options, diagnose)},
    {"confidence", 0, OPTION_PERCENT, "PERCENT", NULL, offsetof(compare_options, confidence)},
    {0},
};

static const option_spec compare_of_recordings[] = {
    {"id-base", 0, OPTION_TEXT, "ID[,ID]...", NULL, offsetof(compare_options, base_part.ids)},
    {"id-new", 0, OPTION_TEXT, "ID[,ID]...", NULL, offsetof(compare_options, new_part.ids)},
    {0},
};

static const compare_options compare_defaults = {
    .shared = {.limit = 20, .names = NAMES_BY_STORE, .no_sched = 1},
    .scaling = -1,
    .confidence = 0.95,
    .min_share = 0.01};

const command_spec command_compare = {
    .name = "compare",
    .operands = "BASE NEW",
    .min_operands = 2,
    .max_operands = 2,
    .stores = FOR_ALL,
    .has_sides = 1,
    .needs_no_store = has_sides,
    .options = {.own = compare_own,
                .of_recordings = compare_of_recordings,
                .shared = SHARED_PROFILES | SHARED_PART | SHARED_DEPTH | SHARED_NAMES | SHARED_FILTER |
                          SHARED_SCHED | SHARED_STRICT | SHARED_MEMORY | SHARED_THREADS | SHARED_JSON |
                          SHARED_CSV | SHARED_MARKDOWN | SHARED_COLOR | SHARED_VERBOSE | SHARED_KINDS},
    .options_size = sizeof(compare_options),
    .defaults = &compare_defaults,
    .usage = compare_usage,
    .run = run_compare,
};
