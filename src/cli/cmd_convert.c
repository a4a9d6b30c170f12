/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "report.h"
#include "session.h"

typedef struct convert_options {
    shared_options shared;
    const char *target;
    int force, drop_unlisted;
    uint64_t memory;
} convert_options;

/* Nothing is printed when all went well: what was asked for is there. */
static int convert(session *s, const convert_options *options)
{
    lode_error error = {0};
    lode_convert_options wishes = LODE_CONVERT_OPTIONS_INIT;
    wishes.force = options->force;
    wishes.drop_unlisted = options->drop_unlisted;
    wishes.threads = (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
    wishes.memory = options->memory;
    wishes.sources = s->path;
    wishes.on_progress = progress_report;
    wishes.user = &s->progress;
    if (lode_convert(s->db, options->target, &wishes, &error) == LODE_OK)
        return EXIT_DONE;
    progress_clear(&s->progress);
    return report_unwritten(options->target, &error);
}

static int run_convert(const invocation *call)
{
    const convert_options *options = call->options;
    session s;
    if (!options->target)
        return report("where should the new database go? Say -o NEW (see 'lode help convert')");
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = convert(&s, options);
    session_close(&s);
    return status;
}

static const option_spec convert_own[] = {
    {"output", 'o', OPTION_TEXT, "NEW", NULL, offsetof(convert_options, target),
     "the directory to write; it appears only when it is complete"},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(convert_options, force),
     "replace a database that is there"},
    {"drop-unlisted", 0, OPTION_FLAG, NULL, NULL, offsetof(convert_options, drop_unlisted),
     "leave out values at contexts that meta.db does not list; what is left does not add up to the totals"},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(convert_options, memory),
     "memory for work on values, such as 500M or 2G (default a quarter of the machine's)"},
    {0},
};

static const char *const convert_description[] = {
    "Writes a database anew in one canonical form of HPCToolkit 4.0: contexts in depth-first order with "
    "siblings in a "
    "fixed order, profiles in the order of their ids, and the summary and the values by context computed "
    "again. What it "
    "means stays the same. Equal content in the same order gives equal bytes, however many "
    "threads are used.",
    "Values at contexts that meta.db does not list are kept, numbered behind the listed ones, unless "
    "--drop-unlisted is "
    "given. Source files that were copied into the database come along.",
    "The new database is there whole or not at all; what a killed run has left is cleared by the next one.",
    NULL,
};

static const command_example convert_examples[] = {
    {"lode convert db -o canonical-db", "A copy that compares byte by byte with other copies."},
    {"lode convert --drop-unlisted --memory 1G db -o smaller-db", "Without values that no viewer shows."},
    {NULL, NULL},
};

const command_spec command_convert = {
    .name = "convert",
    .summary = "a database written anew in canonical form",
    .operands = "DB",
    .min_operands = 1,
    .max_operands = 1,
    .description = convert_description,
    .examples = convert_examples,
    .options = {convert_own, SHARED_THREADS},
    .options_size = sizeof(convert_options),
    .run = run_convert,
};
