/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "output/out.h"
#include "output/report.h"
#include "stores/measured.h"
#include "stores/tally.h"

#include <lode/private/structure.h>
#include <stdint.h>

typedef struct structure_options {
    shared_options shared;
    const char *target;
    int force;
    uint64_t debug_size_most;
} structure_options;

/* What the callbacks need. */
typedef struct structure_job {
    out *out;
    uint64_t listed, limit; /* loops; 0: no limit */
    tally findings;
} structure_job;

static const out_column loop_columns[] = {
    {"file", "File", OUT_STRING, OUT_ALWAYS},
    {"line", "Line", OUT_NUMBER, OUT_ALWAYS},
    {"depth", "Depth", OUT_INTEGER, OUT_ALWAYS},
    {"address", "Address", OUT_ADDRESS, OUT_ALWAYS},
    {"function", "Function", OUT_STRING, OUT_ALWAYS},
    {"function_address", "Begin", OUT_ADDRESS, OUT_DATA_ONLY},
    {"binary", "Binary", OUT_STRING, OUT_DATA_ONLY},
};

static int on_loop(void *user, const lode_structure_loop *loop)
{
    structure_job *job = user;
    if (job->limit > 0 && job->listed >= job->limit)
        return 0;
    job->listed++;
    OUT_ROW(job->out, STYLE_PLAIN, loop->file, out_u64_if(loop->line > 0, loop->line), loop->depth,
            loop->address, loop->function, loop->function_address, loop->binary);
    return out_is_lost(job->out);
}

static int on_finding(void *user, const lode_finding *finding)
{
    structure_job *job = user;
    tally_add(&job->findings, finding);
    report("%s: %s", finding->file, finding->text);
    return 0;
}

/* A line was said of each already. */
static void write_findings(structure_job *job)
{
    if (out_format_of(job->out) != OUT_JSON)
        return;
    out_break(job->out);
    out_array(job->out, "findings");
    tally_write(job->out, &job->findings, NULL);
    out_array_end(job->out);
}

static void write_result(structure_job *job, const structure_options *options,
                         const lode_structure_result *result)
{
    char functions[COUNTED_SIZE], loops[COUNTED_SIZE];
    format_counted(functions, result->functions, "function", "functions");
    format_counted(loops, result->loops, "loop", "loops");
    out_fact_rows(job->out, job->listed, result->loops);
    out_break(job->out);
    OUT_OBJECT(job->out, "result", "functions", result->functions, "inlined", result->inlined, "loops",
               result->loops, "statements", result->statements, "file", options->target);
    write_findings(job);
    if (options->target)
        out_say(job->out, "%s: %s, %s", options->target, functions, loops);
    else
        out_shown(job->out, job->listed, result->loops, "loops");
    if (result->lacks_lines)
        out_say(job->out, "A binary has no debug information: its loops have addresses and no lines.");
}

static int run_structure(const invocation *call)
{
    const structure_options *options = call->options;
    structure_job job = {.out = call->out, .limit = call->shared->limit};
    int is_listed = !options->target || out_format_of(call->out) != OUT_TEXT;
    lode_structure_options settings = {.target = options->target,
                                       .force = options->force,
                                       .debug_size_most = options->debug_size_most,
                                       .on_finding = on_finding,
                                       .on_loop = is_listed ? on_loop : NULL,
                                       .user = &job};
    lode_structure_result result = {0};
    lode_error error = {0};
    plugin symbols;
    settings.symbols_program = measured_symbols(&symbols);
    out_begin(call->out, SCHEMA_STRUCTURE, NULL);
    if (is_listed)
        out_table(call->out, OUT_MAIN, "loops", loop_columns, 7, UNIT_COUNT);
    lode_status status =
        lode_structure_write(call->operands, call->operand_count, &settings, &result, &error);
    if (is_listed)
        out_table_end(call->out);
    if (status == LODE_OK)
        write_result(&job, options, &result);
    out_end(call->out);
    tally_free(&job.findings);
    if (status == LODE_ERR_ARGUMENT && options->target && !options->force)
        return report("%s: already exists; use --force to replace it", options->target);
    return status == LODE_OK ? EXIT_DONE : report_error(error.file, &error);
}

static const option_spec structure_own[] = {
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(structure_options, target)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(structure_options, force)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"debug-max-size", 0, OPTION_SIZE, "SIZE", NULL, offsetof(structure_options, debug_size_most)},
    {0},
};

static const structure_options structure_defaults = {.shared = {.limit = 20}};

const command_spec command_structure = {
    .name = "structure",
    .operands = "BINARY...",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .options = {.own = structure_own, .shared = SHARED_JSON | SHARED_CSV | SHARED_COLOR},
    .options_size = sizeof(structure_options),
    .defaults = &structure_defaults,
    .run = run_structure,
};
