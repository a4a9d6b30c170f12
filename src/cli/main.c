/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "complete.h"
#include "formats.h"
#include "help.h"
#include "interrupt.h"
#include "job.h"
#include "operands.h"
#include "output/report.h"
#include "stores.h"

#include <locale.h>
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

/* A command that is for one kind of store, or an option that is, is refused for another. */
static int check_kind(const invocation *call)
{
    const command_spec *command = call->command;
    int is_recording = call->kind == LODE_STORE_RECORDING;
    unsigned store = is_recording ? FOR_RECORDINGS : FOR_DATABASES;
    const char *is = is_recording ? "a recording" : "a database", *path = call->operands[0];
    const char *wanted = is_recording ? "databases" : "recordings";
    const option_spec *misplaced = option_misplaced(&command->options, call->given, store);
    if (!(command->stores & store))
        return report("%s is %s; 'lode %s' is for %s (see 'lode help')", path, is, command->name, wanted);
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
    lode_status status = lode_store_probe(call->operands[0], &call->kind, &error);
    if (status != LODE_OK) {
        operands_settle(call, operands);
        status = lode_store_probe(call->operands[0], &call->kind, &error);
    }
    return status == LODE_OK ? check_kind(call) : store_unopened(call->operands[0], &error);
}

static int run_with_output(invocation *call)
{
    const shared_options *shared = call->shared;
    out_settings settings = {.color = shared->color, .file = shared->output};
    int is_json = shared->json || (call->command->is_json && !shared->help);
    settings.format = is_json                          ? OUT_JSON
                      : shared->csv || shared->csv_raw ? OUT_CSV
                      : shared->markdown               ? OUT_MARKDOWN
                                                       : OUT_TEXT;
    settings.is_raw = shared->csv_raw;
    settings.table = shared->table;
    settings.store = call->kind == LODE_STORE_RECORDING ? "recording" : "database";
    call->out = out_open(&settings);
    if (!call->out)
        return EXIT_TROUBLE;
    int status = shared->help ? help_command(call->out, call->command) : call->command->run(call);
    return out_close(call->out, status);
}

static int run(const command_spec *command, int count, char **arguments)
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
        status = call.shared->help ? EXIT_DONE : check_usage(&call, &operands);
        if (status == EXIT_DONE && !call.shared->help)
            status = find_kind(&call, &operands);
        if (status == EXIT_DONE)
            status = report_lost(run_with_output(&call));
    }
    free(operands.found);
    free(parsed.operands);
    free(parsed.values);
    return status;
}

/* `lode --help` and `lode --version` are what people try first. */
static const char *command_name(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return "version";
    return word;
}

/* A locale that is not installed here, as after ssh, still says which characters can be shown. */
static void set_characters(void)
{
    if (setlocale(LC_CTYPE, ""))
        return;
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *name = NULL;
    for (size_t i = 0; i < 3 && (!name || name[0] == '\0'); i++)
        name = getenv(variables[i]);
    if (name && (strcasestr(name, ".utf-8") || strcasestr(name, ".utf8")))
        setlocale(LC_CTYPE, "C.UTF-8");
}

int main(int argc, char **argv)
{
    set_characters();
    interrupt_init();
    formats_init();
    /* Without a guard, a file that shrinks ends the program. */
    (void)!lode_guard_install(NULL);
    /* Somebody who types the name alone wants to know what it can do. */
    const char *name = argc < 2 ? "help" : command_name(argv[1]);
    const command_spec *command = command_find(name);
    /* For scripts of shells; it has no help and no options. */
    if (argc > 1 && strcmp(argv[1], "complete") == 0)
        return complete_run(argc - 2, argv + 2);
    /* What is wrong with the words of a command is wrong for all processes of a job. */
    if (!command || command->joins_job)
        report_quietly(job_is_quiet());
    int given = argc < 2 ? 0 : argc - 2;
    /* `lode --version` answers in one line. */
    static char short_version[] = "--short";
    if (argc >= 2 && argv[1][0] == '-' && strcmp(name, "version") == 0) {
        argv[1] = short_version;
        given++;
    }
    return interrupt_leave(command ? run(command, given, argv + argc - given) : command_unknown(name));
}
