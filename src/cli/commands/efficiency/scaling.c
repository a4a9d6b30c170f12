/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiencies of runs with different numbers of threads: what keeps a program from scaling. */
#include "alloc.h"
#include "commands/efficiency/efficiency.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

/* Of a run that says nothing. */
static const lode_efficiency_row no_row;

/* What is compared of a run. */
typedef struct run_figures {
    const lode_efficiency_row *row;
    double cycles, instructions;
} run_figures;

enum {
    COLUMN_IPC = 9, /* and what follows from it */
    COLUMN_COUNT = 14
};

static const out_column columns[COLUMN_COUNT] = {
    {"parallel_percent", "Parallel", OUT_PERCENT, OUT_ALWAYS},
    {"load_balance_percent", "Balance", OUT_PERCENT, OUT_IF_WIDE},
    {"communication_percent", "Comm.", OUT_PERCENT, OUT_IF_WIDE},
    {"computation_percent", "Computation", OUT_PERCENT, OUT_ALWAYS},
    {"global_percent", "Global", OUT_PERCENT, OUT_ALWAYS},
    {"run_time", "Run time", OUT_REAL, OUT_ALWAYS},
    {"speedup", "Speedup", OUT_REAL, OUT_ALWAYS},
    {"useful", "Useful", OUT_REAL, OUT_IF_WIDE},
    {"ranks", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"ipc", "IPC", OUT_REAL, OUT_NEVER},
    {"ipc_percent", "IPC scaling", OUT_PERCENT, OUT_NEVER},
    {"instructions_percent", "Instr. scaling", OUT_PERCENT, OUT_NEVER},
    {"threads", "Threads", OUT_INTEGER, OUT_ALWAYS},
    {"path", "Store", OUT_STRING, OUT_ALWAYS},
};

static out_value ratio(double part, double whole)
{
    return part > 0 && whole > 0 ? out_real(part / whole) : out_none();
}

/* A total of a run, or, with weak scaling, its part for each thread. */
static double amount(double total, const run_figures *run, int is_weak)
{
    if (run->row->threads == 0)
        return 0;
    return is_weak ? total / (double)run->row->threads : total;
}

static void write_row(out *o, const char *path, const run_figures *base, const run_figures *run, int is_weak,
                      metric_unit unit)
{
    const lode_efficiency *e = run->row->efficiency;
    if (e == NULL) {
        out_row(o, STYLE_DIM);
        for (size_t i = 0; i + 1 < COLUMN_COUNT; i++)
            OUT_CELLS(o, out_none());
        OUT_CELLS(o, path);
        out_row_end(o);
        return;
    }
    double before = amount(base->row->useful, base, is_weak), now = amount(run->row->useful, run, is_weak);
    double ipc = run->cycles > 0 ? run->instructions / run->cycles : 0;
    double base_ipc = base->cycles > 0 ? base->instructions / base->cycles : 0;
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, e->parallel, e->load_balance, e->communication, ratio(before, now),
              ratio(before * e->parallel, now), run->row->run_time);
    out_unit(o, UNIT_COUNT);
    OUT_CELLS(o, ratio(base->row->run_time, run->row->run_time));
    out_unit(o, unit);
    OUT_CELLS(o, run->row->useful, run->row->ranks);
    out_unit(o, UNIT_COUNT);
    OUT_CELLS(o, ratio(run->instructions, run->cycles), ratio(ipc, base_ipc),
              ratio(amount(base->instructions, base, is_weak), amount(run->instructions, run, is_weak)));
    out_unit(o, unit);
    OUT_CELLS(o, run->row->threads, path);
    out_row_end(o);
}

static const char *metric_of(const efficiency_store *store)
{
    const lode_run *run = lode_efficiencies_run(store->efficiencies);
    return run->metric ? lode_metric_name(run->metric) : "";
}

static void print_runs(const invocation *call, const efficiency_store *stores, const run_figures *runs)
{
    const efficiency_options *options = call->options;
    out *o = call->out;
    int is_weak = options->weak, has_counters = 1;
    const char *metric = metric_of(&stores[0]);
    out_column shown[COLUMN_COUNT];
    memcpy(shown, columns, sizeof shown);
    for (size_t i = 0; i < call->operand_count; i++)
        has_counters &= runs[i].cycles > 0 && runs[i].instructions > 0;
    for (size_t i = COLUMN_IPC; i < COLUMN_IPC + 3; i++)
        shown[i].visibility = has_counters && i != COLUMN_IPC ? OUT_ALWAYS : OUT_DATA_ONLY;
    out_begin(o, SCHEMA_EFFICIENCY_SCALING, NULL);
    OUT_FIELDS(o, "metric", metric, "scaling", is_weak ? "weak" : "strong");
    out_say(o, "%s, %s scaling; the first store is the reference", metric, is_weak ? "weak" : "strong");
    for (size_t i = 0; i < call->operand_count && out_is_prose(o); i++) {
        if (lode_efficiencies_note(stores[i].efficiencies, 0))
            out_say(o, "%s:", call->operands[i]);
        efficiency_say_notes(o, &stores[i]);
        if (lode_efficiencies_reason(stores[i].efficiencies))
            out_say(o, "%s: efficiencies cannot be told: %s.", call->operands[i],
                    lode_efficiencies_reason(stores[i].efficiencies));
    }
    out_gap(o);
    out_fact_rows(o, call->operand_count, call->operand_count);
    out_table(o, OUT_MAIN, "rows", shown, COLUMN_COUNT, unit_of_metric(metric));
    for (size_t i = 0; i < call->operand_count; i++)
        write_row(o, call->operands[i], &runs[0], &runs[i], is_weak, unit_of_metric(metric));
    out_table_end(o);
    out_gap(o);
    out_say(o, "Global = Parallel x Computation; Computation: useful time%s of the reference / of the run",
            is_weak ? " per thread" : "");
    out_end(o);
}

static int open_all(const invocation *call, efficiency_store *stores, run_figures *runs)
{
    for (size_t i = 0; i < call->operand_count; i++) {
        int status = efficiency_open(&stores[i], call, call->operands[i]);
        if (status != EXIT_DONE)
            return status;
        runs[i].row = lode_efficiencies_at(stores[i].efficiencies, 0);
        runs[i].row = runs[i].row ? runs[i].row : &no_row;
        lode_efficiencies_counters(stores[i].efficiencies, &runs[i].cycles, &runs[i].instructions);
        const char *first = metric_of(&stores[0]), *metric = metric_of(&stores[i]);
        if (runs[0].row->efficiency && runs[i].row->efficiency && strcmp(first, metric) != 0)
            return report("%s has %s, but %s has %s: their times cannot be compared", call->operands[0],
                          first, call->operands[i], metric);
    }
    return EXIT_DONE;
}

int efficiency_scaling(const invocation *call)
{
    efficiency_store *stores = alloc_array(call->operand_count, sizeof *stores);
    run_figures *runs = alloc_array(call->operand_count, sizeof *runs);
    int status = open_all(call, stores, runs);
    if (status == EXIT_DONE)
        print_runs(call, stores, runs);
    for (size_t i = 0; i < call->operand_count; i++)
        efficiency_close(&stores[i]);
    free(stores);
    free(runs);
    return status;
}
