/* SPDX-License-Identifier: BSD-3-Clause */
#include "help.h"
#include "output/report.h"

typedef struct help_options {
    shared_options shared;
    int man;
} help_options;

static int run_help(const invocation *call)
{
    const help_options *options = call->options;
    const command_spec *about = NULL;
    if (call->operand_count > 0) {
        about = command_find(call->operands[0]);
        if (!about)
            return command_unknown(call->operands[0]);
    }
    if (options->man)
        return man_page(call->out, about);
    return about ? help_command(call->out, about) : help_overview(call->out);
}

static const option_spec help_own[] = {
    {"man", 0, OPTION_FLAG, NULL, NULL, offsetof(help_options, man)},
    {0},
};

const command_spec command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .max_operands = 1,
    .options = {.own = help_own},
    .options_size = sizeof(help_options),
    .run = run_help,
};
