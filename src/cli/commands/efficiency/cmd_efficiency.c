/* SPDX-License-Identifier: BSD-3-Clause */
/* How well threads were used: in all, by groups of them, over time. */
#include "commands/diagnose/diagnose.h"
#include "commands/efficiency/efficiency.h"
#include "commands/shared/id_tuple.h"
#include "output/out.h"
#include "output/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a store ---- */

int efficiency_open(efficiency_store *store, const invocation *call, const char *path)
{
    const efficiency_options *asked = call->options;
    lode_efficiency_options options = LODE_EFFICIENCY_OPTIONS_INIT;
    lode_error error = {0};
    int status = session_open(&store->s, path, call->shared);
    if (status == EXIT_DONE && asked->by &&
        lode_database_find_kinds(store->s.db, asked->by, store->kinds, &store->kind_count, &error) != LODE_OK)
        status = session_error(&store->s, &error);
    if (status == EXIT_DONE && (asked->phases || session_has_window(&store->s)))
        status = session_window(&store->s, &store->start, &options.from, &options.to);
    if (status != EXIT_DONE)
        return status;
    options.kinds = call->kinds;
    options.by = store->kinds;
    options.by_count = store->kind_count;
    options.phases = asked->phases;
    options.threads = (unsigned)call->shared->threads;
    options.on_progress = progress_report;
    options.user = &store->s.progress;
    if (lode_efficiencies_compute(&store->efficiencies, store->s.db, &options, &error) != LODE_OK)
        status = session_error(&store->s, &error);
    progress_clear(&store->s.progress);
    return status;
}

void efficiency_close(efficiency_store *store)
{
    lode_efficiencies_free(store->efficiencies);
    session_close(&store->s);
}

void efficiency_say_notes(out *o, const efficiency_store *store)
{
    const lode_quality_note *note;
    for (size_t i = 0; (note = lode_efficiencies_note(store->efficiencies, i)) != NULL; i++)
        out_say(o, "%s", note->text);
}

static void json_notes(out *o, const lode_efficiencies *e)
{
    const lode_quality_note *note;
    if (out_format_of(o) != OUT_JSON)
        return;
    out_array(o, "quality");
    for (size_t i = 0; (note = lode_efficiencies_note(e, i)) != NULL; i++)
        diagnose_json_note(o, note);
    out_array_end(o);
}

/* ---- one store ---- */

enum {
    COLUMN_SERIAL = 9, /* and OpenMP */
    COLUMN_PROCESS = 8,
    COLUMN_COUNT = 19
};

static const out_column columns[COLUMN_COUNT] = {
    {"from_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"to_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"parallel_percent", "Parallel", OUT_PERCENT, OUT_ALWAYS},
    {"low_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"high_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"load_balance_percent", "Balance", OUT_PERCENT, OUT_ALWAYS},
    {"communication_percent", "Comm.", OUT_PERCENT, OUT_ALWAYS},
    {"is_hybrid", "", OUT_BOOL, OUT_DATA_ONLY},
    {"process_percent", "Process", OUT_PERCENT, OUT_ALWAYS},
    {"serial_percent", "Serial", OUT_PERCENT, OUT_ALWAYS},
    {"openmp_percent", "OpenMP", OUT_PERCENT, OUT_ALWAYS},
    {"rank_balance_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"rank_communication_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"run_time", "", OUT_REAL, OUT_DATA_ONLY},
    {"useful", "Useful", OUT_REAL, OUT_IF_WIDE},
    {"ranks", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"threads", "Threads", OUT_INTEGER, OUT_ALWAYS},
    {"is_group", "", OUT_BOOL, OUT_DATA_ONLY},
    {"name", "Which", OUT_STRING, OUT_ALWAYS},
};

/* "rank 3", "1.2s to 1.4s", "1.2s to 1.4s, rank 3"; free() it. */
static char *name_of(const efficiency_store *store, const lode_efficiency_row *row)
{
    char group[ID_TUPLE_NAME_SIZE] = "", from[NUMBER_SIZE], to[NUMBER_SIZE], *name = NULL;
    if (row->is_group)
        id_tuple_name(group, store->s.db, row->ids, store->kind_count);
    if (row->to == 0)
        return strdup(row->is_group ? group : "all threads");
    format_duration(from, row->from - store->start);
    format_duration(to, row->to - store->start);
    if (asprintf(&name, "%s to %s%s%s", from, to, row->is_group ? ", " : "", group) < 0)
        return NULL;
    return name;
}

static void write_shares(out *o, const lode_efficiency *e)
{
    const double shares[] = {e->process, e->serial, e->openmp, e->rank_balance, e->rank_communication};
    OUT_CELLS(o, e->parallel, e->useful_low, e->useful_high, e->load_balance, e->communication,
              e->is_hybrid != 0);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        OUT_CELLS(o, e->is_hybrid ? out_real(shares[i]) : out_none());
}

static void write_row(out *o, const efficiency_store *store, const lode_efficiency_row *row)
{
    char *name = name_of(store, row);
    out_row(o, row->is_group ? STYLE_PLAIN : STYLE_HEADING);
    if (row->to) {
        OUT_CELLS(o, row->from, row->to);
    } else {
        OUT_CELLS(o, out_none(), out_none());
    }
    write_shares(o, row->efficiency);
    OUT_CELLS(o, row->run_time, row->useful, row->ranks, row->threads, row->is_group != 0, name);
    id_tuple_write(o, store->s.db, row->ids, row->is_group ? store->kind_count : 0);
    out_row_end(o);
    free(name);
}

static int is_hybrid(const lode_efficiencies *e)
{
    const lode_efficiency_row *row = lode_efficiencies_at(e, 0);
    return row && row->efficiency->is_hybrid;
}

static void write_rows(out *o, const efficiency_store *store, const char *metric)
{
    const lode_efficiencies *e = store->efficiencies;
    size_t count = lode_efficiencies_count(e);
    uint64_t limit = store->s.shared->limit;
    size_t shown = limit && limit < count ? (size_t)limit : count;
    out_column shown_columns[COLUMN_COUNT];
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        shown_columns[i] = columns[i];
        if (!is_hybrid(e) && i >= COLUMN_PROCESS && i < COLUMN_SERIAL + 2)
            shown_columns[i].visibility = OUT_DATA_ONLY;
    }
    out_fact_rows(o, shown, count);
    out_table(o, OUT_MAIN, "rows", shown_columns, COLUMN_COUNT, unit_of_metric(metric));
    for (size_t i = 0; i < shown; i++)
        write_row(o, store, lode_efficiencies_at(e, i));
    out_table_end(o);
    out_shown(o, shown, count, "rows");
}

static void write_heading(out *o, const efficiency_store *store, const char *metric)
{
    const lode_efficiencies *e = store->efficiencies;
    const lode_run *run = lode_efficiencies_run(e);
    char time[NUMBER_SIZE];
    OUT_FIELDS(o, "metric", metric, "run_time", run->run_time, "samples", run->samples, "threads_without_ids",
               lode_efficiencies_without(e), "reason", lode_efficiencies_reason(e));
    json_notes(o, e);
    format_amount(time, run->run_time, unit_of_metric(metric ? metric : ""));
    if (metric)
        out_say(o, "%s: %s of %s, run time %s", metric, COUNTED(run->threads, "thread", "threads"),
                COUNTED(run->ranks, "rank", "ranks"), time);
    efficiency_say_notes(o, store);
    out_gap(o);
}

static void print_store(out *o, const efficiency_store *store)
{
    const lode_efficiencies *e = store->efficiencies;
    const lode_run *run = lode_efficiencies_run(e);
    const char *metric = run->metric ? lode_metric_name(run->metric) : NULL,
               *reason = lode_efficiencies_reason(e);
    uint32_t without = lode_efficiencies_without(e);
    out_begin(o, SCHEMA_EFFICIENCY, store->s.path);
    write_heading(o, store, metric);
    if (reason)
        out_say(o, "Efficiencies cannot be told: %s.", reason);
    if (!reason || !out_is_prose(o))
        write_rows(o, store, metric ? metric : "");
    if (without)
        out_say(o, "%s in no group",
                COUNTED(without, "thread without such ids is", "threads without such ids are"));
    if (!reason) {
        out_gap(o);
        out_say(o, "Parallel = Balance x Comm.: useful work / (threads x run time)");
    }
    if (is_hybrid(e))
        out_say(o, "Parallel = Process + Serial + OpenMP - 200%%: each is 100%% less its losses");
    out_end(o);
}

static int run_one(const invocation *call)
{
    efficiency_store store = {0};
    int status = efficiency_open(&store, call, call->operands[0]);
    if (status == EXIT_DONE)
        print_store(call->out, &store);
    efficiency_close(&store);
    return status;
}

/* ---- the command ---- */

static int run_efficiency(const invocation *call)
{
    return call->operand_count > 1 ? efficiency_scaling(call) : run_one(call);
}

static int efficiency_usage(const invocation *call)
{
    const efficiency_options *options = call->options;
    int is_part = options->by || options->phases || call->shared->from.is_given || call->shared->to.is_given;
    if (call->operand_count > 1 && is_part)
        return report("--by, --phases, --from and --to are for one STORE (see 'lode help efficiency')");
    if (call->operand_count < 2 && options->weak)
        return report("--weak is for several stores (see 'lode help efficiency')");
    if (options->phases > LODE_PHASES_MAX)
        return report("--phases takes at most %d", LODE_PHASES_MAX);
    return EXIT_DONE;
}

static const option_spec efficiency_own[] = {
    {"by", 'b', OPTION_TEXT, "KEY[,KEY]...", NULL, offsetof(efficiency_options, by)},
    {"phases", 0, OPTION_COUNT, "N", NULL, offsetof(efficiency_options, phases)},
    {"weak", 0, OPTION_FLAG, NULL, NULL, offsetof(efficiency_options, weak)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {0},
};

static const efficiency_options efficiency_defaults = {.shared = {.limit = 50}};

const command_spec command_efficiency = {
    .name = "efficiency",
    .operands = "[STORE...]",
    .min_operands = 1,
    .max_operands = TEXT_LIST_MAX,
    .stores = FOR_DATABASES,
    .options = {.own = efficiency_own,
                .shared = SHARED_TIMES | SHARED_STRICT | SHARED_THREADS | SHARED_JSON | SHARED_CSV |
                          SHARED_MARKDOWN | SHARED_COLOR | SHARED_KINDS},
    .options_size = sizeof(efficiency_options),
    .defaults = &efficiency_defaults,
    .usage = efficiency_usage,
    .run = run_efficiency,
};
