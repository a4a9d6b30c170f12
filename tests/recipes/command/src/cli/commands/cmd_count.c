/* SPDX-License-Identifier: BSD-3-Clause */
/* lode count: how many functions a database has. */
#include "command.h"
#include "output/report.h"
#include "stores/session.h"

typedef struct count_options {
    shared_options shared;
    int contexts;
} count_options;

static int run_count(const invocation *call)
{
    const count_options *options = call->options;
    lode_database *db;
    lode_error error = {0};
    if (lode_database_open(&db, call->operands[0], &error) != LODE_OK)
        return report_error(call->operands[0], &error);
    out_print(call->out, "%lu\n",
              (unsigned long)(options->contexts ? lode_database_context_count(db)
                                                : lode_database_function_count(db)));
    lode_database_close(db);
    return EXIT_DONE;
}

static const option_spec count_own[] = {
    {"contexts", 0, OPTION_FLAG, NULL, NULL, offsetof(count_options, contexts)},
    {0},
};

const command_spec command_count = {
    .name = "count",
    .operands = "DATABASE",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_DATABASES,
    .options = {.own = count_own},
    .options_size = sizeof(count_options),
    .run = run_count,
};
