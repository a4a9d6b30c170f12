/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include "alloc.h"
#include "help.h"
#include "host.h"
#include "job.h"
#include "options/kinds.h"
#include "options/operands.h"
#include "options/shell_words.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/stores.h"

#include <lode/private/measured.h>
#include <stdlib.h>
#include <string.h>

static int check_usage(invocation *call, operand_list *operands)
{
    const command_spec *command = call->command;
    const char *name = command->name;
    int is_storeless = command->needs_no_store && command->needs_no_store(call);
    size_t most = is_storeless ? 0 : command->max_operands;
    if (call->shared->json && (call->shared->csv || call->shared->csv_raw))
        return report("--json and --csv cannot be used together (see 'lode help %s')", name);
    if (call->shared->markdown && (call->shared->json || call->shared->csv || call->shared->csv_raw))
        return report("--markdown and --%s cannot be used together (see 'lode help %s')",
                      call->shared->json ? "json" : "csv", name);
    if (call->shared->table && !call->shared->csv && !call->shared->csv_raw)
        return report("--table is for --csv (see 'lode help %s')", name);
    if (call->operand_count > most)
        return report("unexpected argument '%s' (see 'lode help %s')", call->operands[most], name);
    if (!is_storeless && operands_complete(call, operands) != EXIT_DONE)
        return EXIT_TROUBLE;
    if (!is_storeless && call->operand_count < command->min_operands)
        return operands_missing(call);
    return command->usage ? command->usage(call) : EXIT_DONE;
}

static int check_measurements(const invocation *call)
{
    const command_spec *command = call->command;
    unsigned stores = FOR_MEASUREMENTS | (command->builds_measurements ? FOR_DATABASES : 0u);
    const option_spec *misplaced = option_misplaced(&command->options, call->given, stores);
    if (!(command->stores & FOR_MEASUREMENTS))
        return store_unanalysed(call->operands[0]);
    if (misplaced)
        return report("--%s is not for measurements (see 'lode help %s')", misplaced->name, command->name);
    return EXIT_DONE;
}

static int refuse_recording(const invocation *call)
{
    char *quoted = shell_quote(call->operands[0], 0);
    report(
        "%s is a recording; 'lode %s' is for databases: run 'lode build %s -o DATABASE' and open the result",
        call->operands[0], call->command->name, quoted);
    free(quoted);
    return EXIT_TROUBLE;
}

/* A command that is for one kind of store, or an option that is, is refused for another. */
static int check_kind(const invocation *call)
{
    const command_spec *command = call->command;
    if (call->kind == LODE_STORE_MEASUREMENTS)
        return check_measurements(call);
    int is_recording = call->kind == LODE_STORE_RECORDING;
    unsigned store = is_recording ? FOR_RECORDINGS : FOR_DATABASES;
    const char *is = is_recording ? "a recording" : "a database", *path = call->operands[0];
    const char *wanted = is_recording ? "databases" : "recordings";
    const option_spec *misplaced = option_misplaced(&command->options, call->given, store);
    if (!(command->stores & store))
        return is_recording ? refuse_recording(call)
                            : report("%s is a database; 'lode %s' is for recordings (see 'lode help')", path,
                                     command->name);
    if (misplaced)
        return report("%s is %s; --%s is for %s (see 'lode help %s')", path, is, misplaced->name, wanted,
                      command->name);
    return EXIT_DONE;
}

static int find_kind(invocation *call, operand_list *operands)
{
    lode_error error = {0};
    if (!call->command->stores || call->command->has_sides || call->operand_count == 0)
        return EXIT_DONE;
    const host_store *open = host_find_store(call->operands[0]);
    if (open) {
        call->kind = open->kind;
        return check_kind(call);
    }
    lode_status status = lode_store_probe(call->operands[0], &call->kind, &error);
    if (status != LODE_OK) {
        operands_settle(call, operands);
        status = lode_store_probe(call->operands[0], &call->kind, &error);
    }
    if (status != LODE_OK)
        return store_unopened(call->operands[0], &error);
    /* What is measured can be opened, too: then it is for commands of databases. */
    unsigned takes = call->command->stores & (FOR_DATABASES | FOR_MEASUREMENTS);
    if (call->kind == LODE_STORE_DATABASE && takes == FOR_MEASUREMENTS &&
        lode_store_is_measured(call->operands[0]))
        call->kind = LODE_STORE_MEASUREMENTS;
    return check_kind(call);
}

/* Whether an option names a file or store that is written. */
static int is_target(const char *name)
{
    static const char *const names[] = {"output", "pdf", "junit", "report", "svg", "dot"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

#define LOCAL_RANKS_MAX 1024

/* All tasks of a launcher would write the same file or store, unless they share out the work. */
static int check_job(const invocation *call)
{
    option_entry list[OPTION_LIST_MAX];
    size_t count = option_list(&call->command->options, list);
    const shared_options *shared = call->shared;
    if (host_current())
        return EXIT_DONE;
    /* Tasks on their own have different things to say. */
    if (call->command->on_ranks)
        report_quietly(job_is_quiet((job_kind)shared->mpi));
    if (shared->local_ranks > LOCAL_RANKS_MAX)
        return report("--local-ranks takes at most %d", LOCAL_RANKS_MAX);
    if (call->command->on_ranks)
        return EXIT_DONE;
    for (size_t i = 0; i < count; i++)
        if ((call->given >> i & 1) && is_target(list[i].option->name))
            return job_check_alone(call->command->name);
    return EXIT_DONE;
}

static int run_with_output(invocation *call)
{
    const shared_options *shared = call->shared;
    out_settings settings = {
        .color = shared->color, .file = shared->output, .is_silent = !job_is_first(shared->comm)};
    int is_json = shared->json || (call->command->is_json && !shared->help);
    settings.format = is_json                          ? OUT_JSON
                      : shared->csv || shared->csv_raw ? OUT_CSV
                      : shared->markdown               ? OUT_MARKDOWN
                                                       : OUT_TEXT;
    settings.is_raw = shared->csv_raw;
    settings.table = shared->table;
    settings.store = call->kind == LODE_STORE_RECORDING      ? "recording"
                     : call->kind == LODE_STORE_MEASUREMENTS ? "measurements"
                                                             : "database";
    settings.on_end = damage_write_rest;
    call->out = out_open(&settings);
    if (!call->out)
        return EXIT_TROUBLE;
    damage_begin();
    int status = shared->help ? help_command(call->out, call->command) : call->command->run(call);
    status = report_lost(out_close(call->out, status));
    /* A command that fails has said why. */
    if (status != EXIT_TROUBLE)
        damage_say(shared->verbose ? LODE_NOTE : LODE_WARNING);
    damage_begin();
    return status;
}

/* With the rules of --kinds or, without, those of the host. */
static int run_with_kinds(invocation *call)
{
    const host *h = host_current();
    lode_kind_rules *kinds;
    int status = kinds_open(&kinds, call->shared->help ? NULL : call->shared->kinds);
    call->kinds = kinds || !h ? kinds : h->kinds;
    call->kinds_path = kinds || !h ? call->shared->kinds : h->kinds_path;
    if (status == EXIT_DONE)
        status = run_with_output(call);
    lode_kind_rules_free(kinds);
    return status;
}

static int is_shared_out(const invocation *call)
{
    unsigned stores = call->kind == LODE_STORE_RECORDING      ? FOR_RECORDINGS
                      : call->kind == LODE_STORE_MEASUREMENTS ? FOR_MEASUREMENTS
                                                              : FOR_DATABASES;
    return (call->command->on_ranks & stores) != 0;
}

/* Alone, or together with the other tasks of a launcher. The first one writes and speaks. */
static int run_in_job(invocation *call, shared_options *shared)
{
    lode_comm *comm = NULL;
    if (!call->command->on_ranks || shared->help || host_current())
        return run_with_kinds(call);
    int status = job_join(&comm, (job_kind)shared->mpi, shared->local_ranks > 0);
    if (status != EXIT_DONE)
        return status;
    if (is_shared_out(call))
        shared->comm = comm;
    if (shared->comm || job_is_first(comm))
        status = run_with_kinds(call);
    return job_leave(comm, status);
}

int command_run(const command_spec *command, int count, char **arguments)
{
    option_result parsed = {0};
    parsed.values = alloc_array(1, command->options_size);
    parsed.operands = alloc_array((size_t)count + 1, sizeof *parsed.operands);
    operand_list operands = {.items = parsed.operands};
    if (command->defaults)
        memcpy(parsed.values, command->defaults, command->options_size);
    int status = EXIT_TROUBLE;
    if (option_parse(&command->options, command->name, count, arguments, &parsed) != 0) {
        report("%s (see 'lode help %s')", parsed.problem, command->name);
    } else {
        invocation call = {.command = command,
                           .options = parsed.values,
                           .shared = parsed.values,
                           .operands = parsed.operands,
                           .operand_count = parsed.operand_count,
                           .given = parsed.given};
        status = call.shared->help ? EXIT_DONE : check_job(&call);
        if (status == EXIT_DONE && !call.shared->help)
            status = check_usage(&call, &operands);
        if (status == EXIT_DONE && !call.shared->help)
            status = find_kind(&call, &operands);
        if (status == EXIT_DONE)
            status = run_in_job(&call, parsed.values);
    }
    free(operands.found);
    free(parsed.operands);
    free(parsed.values);
    return status;
}
