/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/shared/rewrite.h"
#include "interrupt.h"
#include "job.h"
#include "options/formats.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/session.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STORES_MAX SIZE_MAX

typedef struct convert_options {
    shared_options shared;
    const char *target;
    int force, drop_unlisted;
    int format, layout; /* UNSAID, or indices of choices */
} convert_options;

/* Of --format and --layout; else indices of their choices. */
enum {
    UNSAID = -1
};

static const char *family_of(const convert_options *options)
{
    return options->format == UNSAID ? NULL : format_choices[options->format];
}

static const char *layout_of(const convert_options *options)
{
    return options->layout == UNSAID ? NULL : layout_choices[options->layout];
}

/* Whether --format names a format of stores of another kind. */
static int is_of_other_kind(const convert_options *options, lode_store_kind kind)
{
    lode_format_info format;
    return options->format != UNSAID && format_find(family_of(options), NULL, &format) && format.kind != kind;
}

/* A conversion under way. */
typedef struct conversion {
    session *session;
    out *out;
} conversion;

static int on_remark(void *user, const lode_finding *finding)
{
    conversion *c = user;
    progress_clear(&c->session->progress);
    out_say(c->out, "%s %s: %s%s%s", lode_severity_name(finding->severity), finding->rule, finding->file,
            finding->file[0] ? ": " : "", finding->text);
    return out_is_lost(c->out);
}

static int on_conversion(void *user, const char *phase, uint64_t done, uint64_t total)
{
    conversion *c = user;
    return progress_report(&c->session->progress, phase, done, total);
}

/* Nothing is printed when all went well: what was asked for is there. */
static int convert(session *s, const convert_options *options, out *o)
{
    conversion c = {s, o};
    lode_error error = {0};
    lode_convert_options settings = LODE_CONVERT_OPTIONS_INIT;
    settings.force = options->force;
    settings.drop_unlisted = options->drop_unlisted;
    settings.threads = (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
    settings.memory = options->shared.memory;
    settings.sources = s->path;
    settings.on_progress = on_conversion;
    settings.on_finding = on_remark;
    settings.user = &c;
    settings.to = family_of(options);
    settings.comm = options->shared.comm;
    settings.local_ranks = (uint32_t)options->shared.local_ranks;
    /* Before anything is written: a source that cannot be read any more leaves nothing. */
    if (damage_refuse(&(damage_request){s->path, s->db, DAMAGE_WRITE_BYTES, s->shared->threads}) != EXIT_DONE)
        return EXIT_TROUBLE;
    /* The first process has the output; the others have nothing to clear away. */
    if (job_is_first(settings.comm))
        interrupt_hold();
    if (lode_convert(s->db, options->target, &settings, &error) == LODE_OK) {
        progress_clear(&s->progress);
        damage_copied(options->target);
        return EXIT_DONE;
    }
    /* These are about what was read. */
    if (error.status == LODE_ERR_CORRUPT || error.status == LODE_ERR_LIMIT)
        return session_error(s, &error);
    progress_clear(&s->progress);
    return report_unwritten(options->target, &error);
}

static int convert_database(const invocation *call)
{
    const convert_options *options = call->options;
    session s;
    if (is_of_other_kind(options, LODE_STORE_DATABASE))
        return report("%s is a database; it cannot be converted to a recording", call->operands[0]);
    if (call->operand_count > 1)
        return report("%s is a database; use 'lode merge' for several databases", call->operands[0]);
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = convert(&s, options, call->out);
    session_close(&s);
    return status;
}

/* NULL: that of the first recording. */
static const char *target_of(const convert_options *options)
{
    lode_format_info format;
    int is_said = options->format != UNSAID || options->layout != UNSAID;
    return is_said && format_find(family_of(options), layout_of(options), &format) ? format.name : NULL;
}

static int convert_recordings(const invocation *call)
{
    const convert_options *options = call->options;
    rewrite_request request = {options->target, options->force, target_of(options)};
    if (is_of_other_kind(options, LODE_STORE_RECORDING))
        return report("%s is a recording; use 'lode build' to make a database", call->operands[0]);
    return rewrite_recordings(call, &request);
}

static int convert_usage(const invocation *call)
{
    const convert_options *options = call->options;
    if (!options->target)
        return report("missing option: -o/--output (see 'lode help convert')");
    lode_format_info format;
    if (layout_of(options) && !format_find(family_of(options), layout_of(options), &format))
        return report("--layout needs --format %s (see 'lode help convert')", format_with_layouts());
    return EXIT_DONE;
}

static int run_convert(const invocation *call)
{
    return call->kind == LODE_STORE_RECORDING ? convert_recordings(call) : convert_database(call);
}

static const option_spec convert_own[] = {
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(convert_options, target)},
    {"format", 0, OPTION_CHOICE, "FORMAT", format_choices, offsetof(convert_options, format)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(convert_options, force)},
    {0},
};

static const option_spec convert_of_databases[] = {
    {"drop-unlisted", 0, OPTION_FLAG, NULL, NULL, offsetof(convert_options, drop_unlisted)},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(convert_options, shared.memory)},
    {0},
};

static const option_spec convert_of_recordings[] = {
    {"layout", 0, OPTION_CHOICE, NULL, layout_choices, offsetof(convert_options, layout)},
    {0},
};

static const convert_options convert_defaults = {.format = UNSAID, .layout = UNSAID};

const command_spec command_convert = {
    .name = "convert",
    .operands = "[STORE...]",
    .min_operands = 1,
    .max_operands = STORES_MAX,
    .stores = FOR_ALL,
    .options = {.own = convert_own,
                .of_databases = convert_of_databases,
                .of_recordings = convert_of_recordings,
                .shared = SHARED_SLICE | SHARED_DEPTH | SHARED_STRICT | SHARED_THREADS | SHARED_RANKS},
    .options_size = sizeof(convert_options),
    .defaults = &convert_defaults,
    .on_ranks = FOR_DATABASES,
    .usage = convert_usage,
    .run = run_convert,
};
