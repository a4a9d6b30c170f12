/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode compare --diagnose`: what changed in kind, from the diagnoses of both runs. */
#include "commands/compare/compare.h"

#include "commands/diagnose/diagnose.h"
#include "options/shell_words.h"
#include "output/out.h"
#include "output/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TWO_SIDED_95 1.959963984540054 /* standard errors of a 95 % interval */
#define SHARE_SHOWN  0.01              /* of the time of threads: less is left out */
#define REASON_SIZE  1024

/* ---- diagnoses ---- */

static int diagnose_run(lode_diagnosis **diagnosis, side_run *run, const invocation *call)
{
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    lode_error error = {0};
    int is_database = run->kind == LODE_STORE_DATABASE;
    progress *shown = is_database ? &run->database.progress : &run->recording.progress;
    options.kinds = call->kinds;
    options.threads = (unsigned)call->shared->threads;
    options.on_progress = progress_report;
    options.user = shown;
    lode_status status = is_database
                             ? lode_diagnose(diagnosis, run->database.db, &options, &error)
                             : lode_diagnose_recording(diagnosis, run->recording.recording, &options, &error);
    progress_clear(shown);
    if (status == LODE_OK)
        return EXIT_DONE;
    return is_database ? session_error(&run->database, &error) : rec_error(&run->recording, &error);
}

int compare_diagnose(compare_job *job)
{
    side_run *base = &job->sides.runs[0], *now = &job->sides.runs[1];
    if (!job->options->diagnose || base->kind != now->kind)
        return EXIT_DONE;
    int status = diagnose_run(&job->base_diagnosis, base, job->call);
    return status == EXIT_DONE ? diagnose_run(&job->new_diagnosis, now, job->call) : status;
}

/* ---- what cannot be compared ---- */

static int is_judged(const lode_diagnosis *d, const char *path, char reason[REASON_SIZE])
{
    const lode_quality_note *note = lode_diagnosis_note(d, 0);
    if (lode_diagnosis_run(d)->can_judge)
        return 1;
    (void)snprintf(reason, REASON_SIZE, "%s: %s", path,
                   note ? note->text : "The data do not allow a statement.");
    return 0;
}

/* Times of different metrics have no difference. */
static int has_same_metric(const lode_run *a, const lode_run *b)
{
    if (a->source != b->source)
        return 0;
    if (a->metric == NULL || b->metric == NULL)
        return a->metric == b->metric;
    return strcmp(lode_metric_name(a->metric), lode_metric_name(b->metric)) == 0;
}

static int can_compare(const compare_job *job, char reason[REASON_SIZE])
{
    const lode_diagnosis *base = job->base_diagnosis, *now = job->new_diagnosis;
    reason[0] = '\0';
    if (base == NULL || now == NULL) {
        (void)snprintf(reason, REASON_SIZE, "one store is a recording, the other a database");
        return 0;
    }
    if (!is_judged(base, job->sides.runs[0].path, reason) || !is_judged(now, job->sides.runs[1].path, reason))
        return 0;
    if (has_same_metric(lode_diagnosis_run(base), lode_diagnosis_run(now)))
        return 1;
    (void)snprintf(reason, REASON_SIZE, "the time of both runs was measured in different ways");
    return 0;
}

/* ---- activities ---- */

static const out_column activity_columns[] = {
    {"activity", "", OUT_STRING, OUT_DATA_ONLY},
    {"title", "Time of threads", OUT_PROSE, OUT_ALWAYS},
    {"base_percent", "Base", OUT_PERCENT, OUT_ALWAYS},
    {"new_percent", "New", OUT_PERCENT, OUT_ALWAYS},
    {"difference", "Difference", OUT_CHANGE, OUT_ALWAYS},
    {"base", "", OUT_REAL, OUT_DATA_ONLY},
    {"new", "", OUT_REAL, OUT_DATA_ONLY},
    {"sampling_error", "", OUT_REAL, OUT_DATA_ONLY},
};
#define ACTIVITY_COLUMNS (sizeof activity_columns / sizeof *activity_columns)

/* Of a time by samples: that of one sample, times the time. Times of calls are exact. */
static double variance_of(const lode_run *run, double time)
{
    return run->samples ? fabs(time) * run->total / (double)run->samples : 0;
}

/* A row for an activity that changed; returns whether it did. */
static int print_activity(out *o, const compare_job *job, int activity)
{
    const lode_run *a = lode_diagnosis_run(job->base_diagnosis), *b = lode_diagnosis_run(job->new_diagnosis);
    double base = lode_diagnosis_activity(job->base_diagnosis, activity);
    double now = lode_diagnosis_activity(job->new_diagnosis, activity);
    double error = sqrt(variance_of(a, base) + variance_of(b, now));
    int is_known = activity < LODE_ACTIVITY_COUNT;
    /* Also false if one of them is no number. */
    int has_changed =
        fabs(now - base) > TWO_SIDED_95 * error && fabs(now - base) >= SHARE_SHOWN * fmax(a->total, b->total);
    if (!has_changed)
        return 0;
    OUT_ROW(o, STYLE_PLAIN, is_known ? lode_activity_name(activity) : "unknown",
            is_known ? lode_activity_title(activity) : "no function", out_share(base, a->total),
            out_share(now, b->total), now - base, base, now, error);
    return 1;
}

static int has_activities(const compare_job *job)
{
    return lode_diagnosis_run(job->new_diagnosis)->source != LODE_RUN_REQUESTS;
}

static void print_activities(out *o, const compare_job *job, int can)
{
    const lode_run *run = can ? lode_diagnosis_run(job->new_diagnosis) : NULL;
    int count = 0;
    metric_unit unit = run && run->metric ? unit_of_metric(lode_metric_name(run->metric)) : UNIT_SECONDS;
    out_table(o, OUT_SIDE, "activities", activity_columns, ACTIVITY_COLUMNS, unit);
    for (int i = 0; can && has_activities(job) && i <= LODE_ACTIVITY_COUNT; i++)
        count += print_activity(o, job, i);
    out_table_end(o);
    if (can && has_activities(job) && count == 0)
        out_say(o, "No activity of threads changed by 1%% of the run and more than the sampling error.");
}

/* ---- statements ---- */

/* The next statement that is not weak and that the other diagnosis does not have; NULL: none. */
static const lode_statement *next_new(const lode_diagnosis *d, const lode_diagnosis *other, size_t *index)
{
    const lode_statement *statement, *match;
    while ((statement = lode_diagnosis_statement(d, (*index)++)) != NULL)
        if (statement->confidence != LODE_WEAK &&
            diagnose_change(other, statement, &match) == LODE_STATEMENT_NEW)
            return statement;
    return NULL;
}

static void json_statements(out *o, const char *key, const lode_diagnosis *d, const lode_diagnosis *other)
{
    const lode_statement *statement;
    size_t i = 0;
    out_array(o, key);
    while (other && (statement = next_new(d, other, &i)) != NULL) {
        OUT_OBJECT(o, NULL, "id", statement->id, "confidence",
                   lode_confidence_name((int)statement->confidence), "text", statement->text, "function",
                   statement->function);
    }
    out_array_end(o);
}

static size_t say_statements(out *o, const char *word, const lode_diagnosis *d, const lode_diagnosis *other)
{
    const lode_statement *statement;
    size_t i = 0, count = 0;
    for (; (statement = next_new(d, other, &i)) != NULL; count++)
        out_say(o, "%s: %s: %s", word, statement->id, statement->text);
    return count;
}

/* ---- everything ---- */

static void print_json(out *o, const compare_job *job, const char *reason)
{
    int can = reason == NULL;
    json_statements(o, "new_statements", job->new_diagnosis, can ? job->base_diagnosis : NULL);
    json_statements(o, "gone_statements", job->base_diagnosis, can ? job->new_diagnosis : NULL);
    OUT_FIELDS(o, "not_judged", reason);
    out_array(o, "diagnose_command");
    const char *kinds = job->call->kinds_path;
    const char *const words[] = {
        "lode", "diagnose", job->sides.runs[1].path, "--base", job->sides.runs[0].path, "--kinds", kinds};
    for (size_t i = 0; can && i < sizeof words / sizeof *words - (kinds ? 0 : 2); i++)
        OUT_ELEMENTS(o, words[i]);
    out_array_end(o);
}

static void say_kinds(out *o, const compare_job *job)
{
    size_t count = say_statements(o, "new", job->new_diagnosis, job->base_diagnosis);
    count += say_statements(o, "gone", job->base_diagnosis, job->new_diagnosis);
    if (count == 0)
        out_say(o, "No statement of 'lode diagnose' is new or gone.");
    const char *file = job->call->kinds_path;
    char *base = shell_quote(job->sides.runs[0].path, 0), *now = shell_quote(job->sides.runs[1].path, 0);
    char *kinds = shell_quote(file ? file : "", 0);
    const char *option = file ? " --kinds " : "", *argument = file ? kinds : "";
    if (base && now && kinds && out_format_of(o) == OUT_MARKDOWN)
        out_say(o, "more: lode diagnose %s --base %s%s%s", now, base, option, argument);
    else if (base && now && kinds)
        out_line(o, "more: lode diagnose %s --base %s%s%s", now, base, option, argument);
    free(kinds);
    free(base);
    free(now);
}

void compare_print_kinds(out *o, const compare_job *job)
{
    char reason[REASON_SIZE];
    if (!job->options->diagnose)
        return;
    int can = can_compare(job, reason);
    out_gap(o);
    if (!can)
        out_say(o, "What changed in kind is not known: %s", reason);
    if (!out_is_prose(o) || (can && has_activities(job)))
        print_activities(o, job, can);
    if (out_format_of(o) == OUT_JSON)
        print_json(o, job, can ? NULL : reason);
    else if (out_is_prose(o) && can)
        say_kinds(o, job);
}
