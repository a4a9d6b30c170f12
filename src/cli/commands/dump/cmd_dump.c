/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/dump/dump.h"
#include "output/report.h"
#include "stores/session.h"

typedef struct dump_options {
    shared_options shared;
    unsigned only; /* bits in the order of the choices; 0: all */
} dump_options;

/* In the order of the bits DUMP_... */
static const char *const only_choices[] = {"meta", "profiles", "contexts", "traces", NULL};

static lode_status dump(out *o, const lode_database *db, unsigned only, lode_error *error)
{
    lode_status status = LODE_OK;
    out_begin(o, SCHEMA_DUMP, NULL);
    OUT_FIELDS(o, "format", lode_database_format(db));
    if (only & DUMP_META)
        dump_meta(o, db);
    if (only & DUMP_PROFILES)
        status = dump_profiles(o, db, error);
    if (status >= 0 && (only & DUMP_CONTEXTS))
        status = dump_contexts(o, db, error);
    if (status >= 0 && (only & DUMP_TRACES))
        status = dump_traces(o, db, error);
    out_end(o);
    return status;
}

static int run_dump(const invocation *call)
{
    const dump_options *options = call->options;
    unsigned only = options->only ? options->only : ~0u;
    session s;
    lode_error error = {0};
    if (call->kind == LODE_STORE_MEASUREMENTS)
        return dump_measurements(call->out, call->operands[0], only);
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE && dump(call->out, s.db, only, &error) < 0)
        status = session_error(&s, &error);
    session_close(&s);
    return status;
}

static const option_spec dump_own[] = {
    {"only", 0, OPTION_CHOICES, "PART[,PART]...", only_choices, offsetof(dump_options, only)},
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(shared_options, output)},
    {0},
};

const command_spec command_dump = {
    .name = "dump",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_DATABASES | FOR_MEASUREMENTS,
    .options = {.own = dump_own},
    .is_json = 1,
    .options_size = sizeof(dump_options),
    .run = run_dump,
};
