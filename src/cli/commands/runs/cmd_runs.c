/* SPDX-License-Identifier: BSD-3-Clause */
/* lode runs: a catalogue of runs, for trends. */
#include "commands/runs/runs.h"

#include "output/out.h"
#include "output/report.h"
#include "stores/stores.h"
#include "text/suggest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const actions[] = {"add",    "list",   "trend", "check",   "remove", "copy", "flush",
                                      "status", "retain", "init",  "migrate", "grant",  NULL};
#define ACTION_COUNT (sizeof actions / sizeof *actions - 1)

/* ---- add ---- */

static void say_added(const invocation *call, const run_record *run)
{
    out *o = call->out;
    char *path = runs_catalogue_path(call->options),
         *labels = runs_labels_text(run->labels, run->label_count);
    out_begin(o, SCHEMA_RUNS_ADD, NULL);
    OUT_FIELDS(o, "catalogue", path, "run", (uint64_t)run->id, "path", run->path, "begun_ns",
               out_digits(run->begun), "metric_count", run->total_count, "cost_count", run->cost_count);
    runs_labels_write(o, run->labels, run->label_count);
    out_say(o, "run %" PRId64 " added to %s: %s, %s of functions (%s)", run->id, path,
            COUNTED(run->total_count, "metric", "metrics"), COUNTED(run->cost_count, "cost", "costs"),
            labels);
    out_end(o);
    free(labels);
    free(path);
}

/* A server is asked once if the run can go to the spool. */
static int open_to_add(catalogue **c, const runs_options *options, char **spool)
{
    char *address = runs_catalogue_path(options);
    int is_server = address && catalogue_is_server(address);
    *spool = is_server ? runs_spool(address, options) : NULL;
    int status = !address    ? EXIT_TROUBLE
                 : is_server ? runs_open_server(c, address, options, *spool != NULL)
                             : runs_open(c, options, CATALOGUE_WRITE);
    free(address);
    return status;
}

static int add_gathered(const invocation *call, runs_gathered *gathered)
{
    const runs_options *options = call->options;
    catalogue *c = NULL;
    catalogue_error error;
    char *spool = NULL;
    run_record run = *runs_gathered_record(gathered);
    run_sameness sameness = options->is_again ? RUN_NEVER_SAME : RUN_OF_SAME_STORE;
    int status = open_to_add(&c, options, &spool);
    int added = status == EXIT_DONE ? catalogue_add(c, &run, sameness, &error) : -1;
    if (status == EXIT_DONE && added < 0)
        status = error.is_away && spool ? runs_spool_add(call, spool, &run, sameness, error.text)
                                        : runs_failed(&error);
    else if (added == 1)
        status = report("%s is run %" PRId64 " of the catalogue already; use --again to add it again",
                        run.path, run.id);
    if (added == 0 && spool)
        runs_spool_deliver(c, spool);
    catalogue_close(c);
    free(spool);
    if (added == 0)
        say_added(call, &run);
    return status;
}

int runs_add(const invocation *call, const char *store)
{
    runs_gathered *gathered = NULL;
    lode_error error = {0};
    invocation of_store = *call;
    char *meant =
        lode_store_probe(store, &of_store.kind, &error) == LODE_OK ? NULL : store_meant(store, FOR_ALL);
    const char *path = meant ? meant : store;
    int status =
        lode_store_probe(path, &of_store.kind, &error) == LODE_OK ? EXIT_DONE : store_unopened(path, &error);
    if (status == EXIT_DONE && of_store.kind == LODE_STORE_MEASUREMENTS)
        status = store_unanalysed(path);
    if (status == EXIT_DONE)
        status = runs_gather(&gathered, &of_store, path);
    if (status == EXIT_DONE)
        status = add_gathered(call, gathered);
    runs_gathered_free(gathered);
    free(meant);
    return status;
}

/* ---- remove ---- */

static int runs_remove(const invocation *call, const char *number)
{
    char *end = NULL;
    catalogue *c = NULL;
    catalogue_error error;
    unsigned long long run = strtoull(number, &end, 10);
    if (end == number || *end || number[0] == '-' || run == 0 || run > INT64_MAX)
        return report("a run is a number, as 'lode runs list' shows it, not '%.40s' (see 'lode help runs')",
                      number);
    int status = runs_open(&c, call->options, CATALOGUE_WRITE);
    if (status != EXIT_DONE)
        return status;
    int removed = catalogue_remove(c, (int64_t)run, &error);
    catalogue_close(c);
    if (removed < 0)
        return runs_failed(&error);
    char *path = runs_catalogue_path(call->options);
    if (removed == 1) {
        status = report("%s has no run %llu", path, run);
    } else {
        out *o = call->out;
        out_begin(o, SCHEMA_RUNS_REMOVE, NULL);
        OUT_FIELDS(o, "catalogue", path, "run", run);
        out_say(o, "run %llu removed from %s", run, path);
        out_end(o);
    }
    free(path);
    return status;
}

/* ---- the command ---- */

/* After the action; those in brackets may be missing. */
static const char *const operands[][2] = {
    [RUNS_ADD] = {"[STORE]"},     [RUNS_TREND] = {"[FUNCTION]"}, [RUNS_REMOVE] = {"RUN"},
    [RUNS_COPY] = {"FROM", "TO"}, [RUNS_RETAIN] = {"TIME"},      [RUNS_GRANT] = {"ROLE", "LEVEL"},
};

static int find_action(const char *word)
{
    for (size_t i = 0; i < ACTION_COUNT; i++)
        if (strcmp(word, actions[i]) == 0)
            return (int)i;
    return -1;
}

static int check_options(const runs_options *options, int action)
{
    if (action != RUNS_ADD && (options->time || options->is_again))
        return report("--time and --again are for 'lode runs add' (see 'lode help runs')");
    if (action != RUNS_TREND && options->svg)
        return report("--svg is for 'lode runs trend' (see 'lode help runs')");
    if (action != RUNS_TREND && action != RUNS_CHECK &&
        (options->is_inclusive || options->same || options->min_change >= 0))
        return report("--inclusive, --same and --min-change are for 'lode runs trend' and 'lode runs check' "
                      "(see 'lode help runs')");
    if (action != RUNS_CHECK && (options->history || options->run))
        return report("--history and --run are for 'lode runs check' (see 'lode help runs')");
    if (action != RUNS_LIST && action != RUNS_TREND && action != RUNS_CHECK && action != RUNS_COPY &&
        (options->since || options->until))
        return report("--since and --until are not for 'lode runs %s' (see 'lode help runs')",
                      actions[action]);
    if (action >= RUNS_REMOVE && action != RUNS_COPY && options->labels.count)
        return report("--label is not for 'lode runs %s' (see 'lode help runs')", actions[action]);
    return EXIT_DONE;
}

static int runs_usage(const invocation *call)
{
    int action = find_action(call->operands[0]);
    const char *meant = action < 0 ? suggest(call->operands[0], actions, ACTION_COUNT) : NULL;
    if (meant)
        return report("unknown argument '%s'; did you mean '%s'? (see 'lode help runs')", call->operands[0],
                      meant);
    if (action < 0)
        return report(
            "unknown argument '%s': expected add, list, trend, check, remove, copy, flush, status, retain, init, "
            "migrate or grant (see 'lode help runs')",
            call->operands[0]);
    for (size_t i = 0; i < 2; i++)
        if (operands[action][i] && operands[action][i][0] != '[' && call->operand_count < i + 2)
            return report("missing argument: %s (see 'lode help runs')", operands[action][i]);
    for (size_t i = 0; i < 2; i++)
        if (!operands[action][i] && call->operand_count > i + 1)
            return report("unexpected argument '%s' (see 'lode help runs')", call->operands[i + 1]);
    return check_options(call->options, action);
}

static int run_runs(const invocation *call)
{
    int action = find_action(call->operands[0]);
    if (action == RUNS_LIST)
        return runs_list(call);
    if (action == RUNS_CHECK)
        return runs_check(call);
    if (action == RUNS_REMOVE)
        return runs_remove(call, call->operands[1]);
    if (action == RUNS_COPY)
        return runs_copy_all(call, call->operands[1], call->operands[2]);
    if (action == RUNS_FLUSH)
        return runs_flush(call);
    if (action == RUNS_STATUS)
        return runs_status(call);
    if (action == RUNS_RETAIN)
        return runs_retain(call, call->operands[1]);
    if (action == RUNS_INIT || action == RUNS_MIGRATE)
        return runs_set_up(call, action == RUNS_INIT);
    if (action == RUNS_GRANT)
        return runs_grant(call, call->operands[1], call->operands[2]);
    if (action == RUNS_TREND)
        return runs_trend(call, call->operand_count > 1 ? call->operands[1] : NULL);
    if (call->operand_count > 1)
        return runs_add(call, call->operands[1]);
    char *store = store_default(FOR_ALL, "STORE", "runs");
    int status = store ? runs_add(call, store) : EXIT_TROUBLE;
    free(store);
    return status;
}

static const option_spec runs_own[] = {
    {"catalogue", 0, OPTION_TEXT, "FILE|ADDRESS", NULL, offsetof(runs_options, catalogue)},
    {"project", 0, OPTION_TEXT, "NAME", NULL, offsetof(runs_options, project)},
    {"label", 0, OPTION_TEXTS, "NAME=VALUE", NULL, offsetof(runs_options, labels)},
    {"time", 0, OPTION_TEXT, "TIME", NULL, offsetof(runs_options, time)},
    {"again", 0, OPTION_FLAG, NULL, NULL, offsetof(runs_options, is_again)},
    {"since", 0, OPTION_TEXT, "TIME", NULL, offsetof(runs_options, since)},
    {"until", 0, OPTION_TEXT, "TIME", NULL, offsetof(runs_options, until)},
    {"same", 0, OPTION_TEXT, "NAME[,NAME]...", NULL, offsetof(runs_options, same)},
    {"inclusive", 0, OPTION_FLAG, NULL, NULL, offsetof(runs_options, is_inclusive)},
    {"min-change", 0, OPTION_PERCENT, "PERCENT", NULL, offsetof(runs_options, min_change)},
    {"history", 0, OPTION_COUNT, "N", NULL, offsetof(runs_options, history)},
    {"run", 0, OPTION_COUNT, "N", NULL, offsetof(runs_options, run)},
    {"svg", 0, OPTION_TEXT, "FILE", NULL, offsetof(runs_options, svg)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {0},
};

static const runs_options runs_defaults = {.shared = {.limit = RUNS_NO_LIMIT}, .min_change = -1};

const command_spec command_runs = {
    .name = "runs",
    .operands =
        "add|list|trend|check|remove|copy|flush|status|retain|init|migrate|grant [STORE|FUNCTION|RUN]",
    .min_operands = 1,
    .max_operands = 3,
    .options = {.own = runs_own,
                .shared = SHARED_METRICS | SHARED_STRICT | SHARED_THREADS | SHARED_JSON | SHARED_CSV |
                          SHARED_COLOR | SHARED_VERBOSE},
    .options_size = sizeof(runs_options),
    .defaults = &runs_defaults,
    .usage = runs_usage,
    .run = run_runs,
};
