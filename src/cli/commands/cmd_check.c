/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "output/out.h"
#include "output/progress.h"
#include "output/report.h"
#include "stores/stores.h"

#include <stdio.h>

typedef struct check_options {
    shared_options shared;
    int level;
    int rules;
    int verbose;
} check_options;

/* What the callbacks of a check need. */
typedef struct check_job {
    const check_options *options;
    out *out;
    lode_store_kind kind;
    uint64_t listed; /* findings, as rows */
    progress progress;
} check_job;

static out_style style_of(lode_severity severity)
{
    return severity == LODE_ERROR ? STYLE_ERROR : severity == LODE_WARNING ? STYLE_WARNING : STYLE_DIM;
}

static void say_finding(out *o, const lode_finding *finding)
{
    char where[160] = "";
    if (finding->file[0] && finding->offset != LODE_NO_OFFSET)
        snprintf(where, sizeof where, " %s@0x%llx", finding->file, (unsigned long long)finding->offset);
    else if (finding->file[0])
        snprintf(where, sizeof where, " %s", finding->file);
    out_piece(o, style_of(finding->severity), lode_severity_name(finding->severity));
    out_line(o, " %s%s: %s", finding->rule, where, finding->text);
    out_flush(o);
}

static const out_column finding_columns[] = {
    {"severity", "Severity", OUT_STRING, OUT_ALWAYS}, {"rule", "Rule", OUT_STRING, OUT_ALWAYS},
    {"file", "File", OUT_STRING, OUT_ALWAYS},         {"offset", "Offset", OUT_NUMBER, OUT_ALWAYS},
    {"text", "Text", OUT_STRING, OUT_ALWAYS},
};

static void write_finding(out *o, const lode_finding *finding)
{
    OUT_ROW(o, STYLE_PLAIN, lode_severity_name(finding->severity), finding->rule,
            finding->file[0] ? finding->file : NULL,
            out_u64_if(finding->offset != LODE_NO_OFFSET, finding->offset), finding->text);
}

static int on_finding(void *user, const lode_finding *finding)
{
    check_job *job = user;
    progress_clear(&job->progress);
    job->listed++;
    if (out_format_of(job->out) != OUT_TEXT)
        write_finding(job->out, finding);
    else if (finding->severity != LODE_NOTE || job->options->verbose)
        say_finding(job->out, finding);
    return out_is_lost(job->out);
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    check_job *job = user;
    return progress_report(&job->progress, phase, done, total);
}

/* What was looked at. */
static void say_extent(const check_job *job, const lode_check_result *result)
{
    const char *level = lode_check_level_name((lode_check_level)job->options->level);
    char first[COUNTED_SIZE], second[COUNTED_SIZE], third[COUNTED_SIZE], fourth[COUNTED_SIZE];
    if (job->kind == LODE_STORE_RECORDING) {
        format_counted(first, result->tracks, result->has_requests ? "request" : "task",
                       result->has_requests ? "requests" : "tasks");
        format_counted(second, result->events, "event", "events");
        out_say(job->out, "checked at level %s: %s, %s", level, first, second);
        return;
    }
    if (job->kind == LODE_STORE_MEASUREMENTS) {
        format_counted(first, result->profiles, "profile", "profiles");
        format_counted(second, result->contexts, "node", "nodes");
        format_counted(third, result->values, "value", "values");
        format_counted(fourth, result->samples, "sample", "samples");
        out_say(job->out, "checked at level %s: %s, %s, %s, %s", level, first, second, third, fourth);
        return;
    }
    /* Like 'lode info': without the global context and the summary. Values are stored twice. */
    format_counted(first, result->contexts - (result->contexts > 0), "context", "contexts");
    format_counted(second, result->profiles - (result->profiles > 0), "profile", "profiles");
    format_counted(third, result->values, "stored value", "stored values");
    format_counted(fourth, result->samples, "sample", "samples");
    out_say(job->out, "checked at level %s: %s, %s, %s, %s", level, first, second, third, fourth);
}

static void say_result(const check_job *job, const char *path, const lode_check_result *result)
{
    char errors[COUNTED_SIZE], warnings[COUNTED_SIZE], notes[COUNTED_SIZE], more[COUNTED_SIZE];
    int hides_notes = result->notes > 0 && !job->options->verbose;
    format_counted(errors, result->errors, "error", "errors");
    format_counted(warnings, result->warnings, "warning", "warnings");
    format_counted(notes, result->notes, "note", "notes");
    if (result->suppressed) {
        format_counted(more, result->suppressed, "further finding", "further findings");
        out_say(job->out, "%s of the same rules not listed (--limit 0 lists all)", more);
    }
    out_piece(job->out, result->errors ? STYLE_ERROR : STYLE_HEADING, result->errors ? "damaged" : "sound");
    out_line(job->out, ": %s: %s, %s, %s%s", path, errors, warnings, notes,
             hides_notes ? " (shown with --verbose)" : "");
    say_extent(job, result);
}

static void write_result(const check_job *job, const lode_check_result *result)
{
    out *o = job->out;
    if (out_format_of(o) != OUT_JSON)
        return;
    out_fact_rows(o, job->listed, job->listed + result->suppressed);
    out_break(o);
    out_object(o, "result");
    OUT_FIELDS(o, "sound", result->errors == 0, "errors", result->errors, "warnings", result->warnings,
               "notes", result->notes, "suppressed", result->suppressed);
    if (job->kind == LODE_STORE_RECORDING) {
        OUT_FIELDS(o, "tracks", result->tracks, "events", result->events);
    } else {
        OUT_FIELDS(o, "contexts", result->contexts, "profiles", result->profiles, "values", result->values,
                   "samples", result->samples);
    }
    out_object_end(o);
}

/* A check that broke off has no result, but what it wrote must still be one whole object. */
static void write_failure(out *o, const lode_error *error)
{
    if (out_format_of(o) == OUT_JSON) {
        out_break(o);
        OUT_FIELDS(o, "row_count", out_none(), "is_truncated", 1, "result", out_none(), "error", error->text);
    }
}

static int check(check_job *job, const char *path)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    lode_error error = {0};
    int is_table = out_format_of(job->out) != OUT_TEXT;
    options.level = (lode_check_level)job->options->level;
    options.threads = (unsigned)(job->options->shared.threads < 4096 ? job->options->shared.threads : 4096);
    options.limit_per_rule = job->options->shared.limit;
    options.on_finding = on_finding;
    options.on_progress = on_progress;
    options.user = job;
    options.comm = job->options->shared.comm;
    options.local_ranks = (uint32_t)job->options->shared.local_ranks;
    out_begin(job->out, SCHEMA_CHECK, path);
    OUT_FIELDS(job->out, "level", lode_check_level_name(options.level));
    if (is_table)
        out_table(job->out, OUT_MAIN, "findings", finding_columns, 5, UNIT_COUNT);
    lode_status status = lode_check(path, &options, &result, &error);
    progress_clear(&job->progress);
    if (is_table)
        out_table_end(job->out);
    if (status == LODE_OK) {
        write_result(job, &result);
        say_result(job, path, &result);
    } else {
        write_failure(job->out, &error);
    }
    out_end(job->out);
    if (status != LODE_OK)
        return out_is_lost(job->out) ? EXIT_TROUBLE : store_unopened(path, &error);
    return result.errors ? EXIT_FINDINGS : EXIT_DONE;
}

static const out_column rule_columns[] = {
    {"severity", "Severity", OUT_STRING, OUT_ALWAYS},
    {"level", "Level", OUT_STRING, OUT_ALWAYS},
    {"rule", "Rule", OUT_STRING, OUT_ALWAYS},
    {"summary", "Meaning", OUT_PROSE, OUT_ALWAYS},
};

static int list_rules(out *o)
{
    out_begin(o, SCHEMA_RULES, NULL);
    out_table(o, OUT_MAIN, "rules", rule_columns, 4, UNIT_COUNT);
    for (size_t i = 0; i < lode_rule_count(); i++) {
        const lode_rule *rule = lode_rule_at(i);
        OUT_ROW(o, STYLE_PLAIN, lode_severity_name(rule->severity), lode_check_level_name(rule->level),
                rule->id, rule->summary);
    }
    out_table_end(o);
    out_end(o);
    return EXIT_DONE;
}

static int is_about_rules(const invocation *call)
{
    const check_options *options = call->options;
    return options->rules;
}

static int run_check(const invocation *call)
{
    const check_options *options = call->options;
    check_job job = {.options = options, .out = call->out, .kind = call->kind};
    if (options->rules)
        return list_rules(call->out);
    progress_init(&job.progress);
    return check(&job, call->operands[0]);
}

static const char *const level_choices[] = {
    [LODE_CHECK_QUICK] = "quick", [LODE_CHECK_STRUCTURE] = "structure", [LODE_CHECK_FULL] = "full", NULL};

static const option_spec check_own[] = {
    {"level", 0, OPTION_CHOICE, NULL, level_choices, offsetof(check_options, level)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"verbose", 'v', OPTION_FLAG, NULL, NULL, offsetof(check_options, verbose)},
    {"rules", 0, OPTION_FLAG, NULL, NULL, offsetof(check_options, rules)},
    {0},
};

static const check_options check_defaults = {.shared = {.limit = 20}, .level = LODE_CHECK_STRUCTURE};

const command_spec command_check = {
    .name = "check",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL | FOR_MEASUREMENTS,
    .needs_no_store = is_about_rules,
    .options = {.own = check_own,
                .shared = SHARED_THREADS | SHARED_RANKS | SHARED_JSON | SHARED_CSV | SHARED_COLOR},
    .options_size = sizeof(check_options),
    .defaults = &check_defaults,
    .on_ranks = FOR_ALL | FOR_MEASUREMENTS,
    .run = run_check,
};
