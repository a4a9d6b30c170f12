/* SPDX-License-Identifier: BSD-3-Clause */
/* One page: what the data cannot tell, where the time goes, what limits the run. */
#include "commands/diagnose/diagnose.h"

#include "options/shell_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATEMENTS_SHOWN = 5,
    OF_SERVICES_SHOWN = 8, /* of requests: those of different endpoints do not hide each other */
    RULE_WIDTH = 19        /* ids of rules, and two blanks */
};

#define GAIN_SHOWN  0.05
#define SHARE_SHOWN 0.005

/* ---- against --base ---- */

lode_statement_change diagnose_change(const lode_diagnosis *base, const lode_statement *statement,
                                      const lode_statement **before)
{
    lode_statement_change change = LODE_STATEMENT_UNKNOWN;
    *before = NULL;
    if (lode_diagnosis_change(base, statement, &change, before, NULL) != LODE_OK)
        return LODE_STATEMENT_UNKNOWN;
    return change;
}

int diagnose_is_gone(const diagnose_page *page, const lode_statement *before)
{
    const lode_statement *now;
    return diagnose_change(page->diagnosis, before, &now) == LODE_STATEMENT_NEW;
}

/* ---- the first lines ---- */

static void say_wrapped(out *o, const char *lead, const char *text, size_t indent)
{
    out_print(o, "%s", lead);
    out_wrap(o, text, indent, indent, out_width(o, 80));
}

/* A paragraph of its own. */
static void say_sentence(out *o, const char *text)
{
    if (out_format_of(o) == OUT_MARKDOWN)
        out_say(o, "%s", text);
    else
        say_wrapped(o, "", text, 0);
}

static void say_formatted(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say_formatted(out *o, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        say_sentence(o, text);
        free(text);
    }
}

/* A recording of function calls. */
static void say_calls(out *o, const diagnose_page *page, const lode_run *run)
{
    char time[NUMBER_SIZE], size[2 * COUNTED_SIZE], machine[COUNTED_SIZE + 8] = "";
    if (run->ranks > 1)
        (void)snprintf(size, sizeof size, "%s, %s", COUNTED(run->ranks, "process", "processes"),
                       COUNTED(run->threads, "thread", "threads"));
    else
        (void)snprintf(size, sizeof size, "%s", COUNTED(run->threads, "thread", "threads"));
    if (run->processors)
        (void)snprintf(machine, sizeof machine, " on %s",
                       COUNTED(run->processors, "processor", "processors"));
    format_amount(time, run->run_time, UNIT_SECONDS);
    say_formatted(o, "%s: %s%s, run time %s, %s", run->program[0] ? run->program : page->path, size, machine,
                  time, COUNTED(run->calls, "call", "calls"));
}

static void say_requests(out *o, const diagnose_page *page)
{
    const lode_run *run = lode_diagnosis_run(page->diagnosis);
    char time[NUMBER_SIZE], mean[NUMBER_SIZE];
    format_amount(time, run->seconds, UNIT_SECONDS);
    format_amount(mean, run->requests ? run->total / (double)run->requests : 0, UNIT_SECONDS);
    say_formatted(o, "%s: %s in %s, %s, %s on average", page->path,
                  COUNTED(run->requests, "request", "requests"), time,
                  COUNTED(run->entry_points, "entry point", "entry points"), mean);
}

static void say_run(out *o, const diagnose_page *page)
{
    const lode_run *run = lode_diagnosis_run(page->diagnosis);
    char time[NUMBER_SIZE], samples[NUMBER_SIZE], size[96];
    if (run->source == LODE_RUN_CALLS) {
        say_calls(o, page, run);
        return;
    }
    if (run->source == LODE_RUN_REQUESTS) {
        say_requests(o, page);
        return;
    }
    if (run->metric == NULL) {
        say_sentence(o, page->path);
        return;
    }
    if (run->ranks > 1 && run->threads % run->ranks == 0)
        (void)snprintf(size, sizeof size, "%s x %s", COUNTED(run->ranks, "rank", "ranks"),
                       COUNTED(run->threads / run->ranks, "thread", "threads"));
    else if (run->ranks > 1)
        (void)snprintf(size, sizeof size, "%s, %s", COUNTED(run->ranks, "rank", "ranks"),
                       COUNTED(run->threads, "thread", "threads"));
    else
        (void)snprintf(size, sizeof size, "%s", COUNTED(run->threads, "thread", "threads"));
    const char *metric = lode_metric_name(run->metric);
    int length =
        (int)(strstr(metric, " (sec)") ? strstr(metric, " (sec)") - metric : (ptrdiff_t)strlen(metric));
    metric_unit unit = unit_of_metric(metric);
    int is_time = unit == UNIT_SECONDS || unit == UNIT_NANOSECONDS;
    format_amount(time, run->run_time, unit);
    format_count(samples, run->samples);
    say_formatted(o, "%s: %s, run time %s%s%s, %s%s%.*s", run->program[0] ? run->program : page->path, size,
                  time, is_time ? "" : " ", is_time ? "" : metric, run->samples ? samples : "",
                  run->samples ? " samples of " : "", length, metric);
}

static const out_column activity_columns[] = {
    {"activity", "", OUT_STRING, OUT_DATA_ONLY},
    {"title", "Time of threads", OUT_PROSE, OUT_ALWAYS},
    {"percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"time", "Total", OUT_REAL, OUT_ALWAYS},
};

static void print_activities(out *o, const lode_diagnosis *d)
{
    const lode_run *run = lode_diagnosis_run(d);
    int is_prose = out_is_prose(o);
    out_table(o, OUT_MAIN, "activities", activity_columns, 4,
              run->metric       ? unit_of_metric(lode_metric_name(run->metric))
              : run->is_seconds ? UNIT_SECONDS
                                : UNIT_COUNT);
    for (int i = 0; (run->metric || run->is_seconds) && i <= LODE_ACTIVITY_COUNT; i++) {
        double time = lode_diagnosis_activity(d, i);
        if (time <= 0 || (is_prose && time < SHARE_SHOWN * run->total))
            continue;
        int is_known = i < LODE_ACTIVITY_COUNT;
        OUT_ROW(o, STYLE_PLAIN, is_known ? lode_activity_name(i) : "unknown",
                is_known ? lode_activity_title(i) : "no function", out_share(time, run->total), time);
    }
    out_table_end(o);
}

static const out_column part_columns[] = {
    {"part", "Efficiency", OUT_PROSE, OUT_TEXT_ONLY},
    {"percent", "%", OUT_PERCENT, OUT_TEXT_ONLY},
    {"meaning", "", OUT_PROSE, OUT_TEXT_ONLY},
};

/* A part of the run time of threads, the first of which is useful. */
typedef struct part {
    const char *name;
    double share;
    char meaning[48];
} part;

enum {
    PARTS_MAX = 4
};

/* Parts that add up to the run time. */
static size_t list_parts(const lode_efficiency *e, int has_mpi, part parts[PARTS_MAX])
{
    parts[0] = (part){.name = "useful work", .share = e->parallel};
    (void)snprintf(parts[0].meaning, sizeof parts[0].meaning, "parallel efficiency %.2f", e->parallel);
    if (!e->is_hybrid) {
        parts[1] = (part){.name = "unequal work", .share = e->communication - e->parallel};
        (void)snprintf(parts[1].meaning, sizeof parts[1].meaning, "load balance %.2f", e->load_balance);
        parts[2] = (part){"waiting", 1 - e->communication, "communication, locks, off-CPU"};
        return 3;
    }
    parts[1] = (part){.name = has_mpi ? "MPI and off-CPU" : "off-CPU", .share = 1 - e->process};
    (void)snprintf(parts[1].meaning, sizeof parts[1].meaning, "load balance of processes %.2f",
                   e->rank_balance);
    parts[2] = (part){"serial parts", 1 - e->serial, "other threads wait for the first"};
    parts[3] = (part){"OpenMP regions", 1 - e->openmp, "unequal parts, runtime"};
    return 4;
}

/* A loss below zero is none; the others shrink, so that all parts still add up. */
static void settle_losses(part *parts, size_t count)
{
    double all = 0, positive = 0;
    for (size_t i = 1; i < count; i++) {
        all += parts[i].share;
        positive += parts[i].share > 0 ? parts[i].share : 0;
    }
    for (size_t i = 1; i < count; i++)
        parts[i].share = all > 0 && parts[i].share > 0 ? parts[i].share * (all / positive) : 0;
}

static size_t parts_of(const lode_diagnosis *d, part parts[PARTS_MAX])
{
    const lode_efficiency *e = lode_diagnosis_efficiency(d);
    size_t count = e ? list_parts(e, lode_diagnosis_activity(d, LODE_ACTIVITY_MPI) > 0, parts) : 0;
    settle_losses(parts, count);
    return count;
}

static void print_efficiency(out *o, const lode_diagnosis *d)
{
    part parts[PARTS_MAX];
    size_t count = parts_of(d, parts);
    if (count == 0)
        return;
    out_gap(o);
    out_table(o, OUT_SIDE, "parts", part_columns, 3, UNIT_COUNT);
    for (size_t i = 0; i < count; i++) {
        OUT_ROW(o, STYLE_PLAIN, parts[i].name, parts[i].share, parts[i].meaning);
    }
    out_table_end(o);
}

/* Of what threads could do; also if no rule calls it a problem. */
static void say_largest_loss(out *o, const lode_diagnosis *d)
{
    part parts[PARTS_MAX];
    size_t count = parts_of(d, parts), largest = 1;
    for (size_t i = 2; i < count; i++)
        if (parts[i].share > parts[largest].share)
            largest = i;
    if (count)
        out_say(o, "Largest loss: %s, %.1f%% of the time of threads.", parts[largest].name,
                100 * parts[largest].share);
}

/* ---- commands ---- */

/* Whether what a command prints depends on rules for kinds. */
static int follows_kinds(const lode_evidence *evidence)
{
    int is_by_kind = 0;
    for (size_t i = 1; i < LODE_EVIDENCE_WORDS && evidence->command[i]; i++)
        is_by_kind |=
            strcmp(evidence->command[i - 1], "--by") == 0 && strcmp(evidence->command[i], "kind") == 0;
    return is_by_kind || strcmp(evidence->command[0], "efficiency") == 0;
}

size_t diagnose_command(const diagnose_page *page, const lode_evidence *evidence,
                        const char *words[DIAGNOSE_WORDS])
{
    size_t count = 0;
    if (evidence->command[0] == NULL)
        return 0;
    words[count++] = "lode";
    for (size_t i = 0; i < LODE_EVIDENCE_WORDS && evidence->command[i]; i++)
        words[count++] = evidence->command[i];
    if (page->kinds_path && follows_kinds(evidence)) {
        words[count++] = "--kinds";
        words[count++] = page->kinds_path;
    }
    words[count++] = page->path;
    return count;
}

/* A line with one more word, quoted; frees the old one. */
static char *add_word(char *line, const char *word)
{
    char *quoted = shell_quote(word, 0), *longer = NULL;
    if (line == NULL || quoted == NULL || asprintf(&longer, "%s %s", line, quoted) < 0)
        longer = NULL;
    free(quoted);
    free(line);
    return longer;
}

/* A command line that shows more; free() it. NULL: there is none. */
static char *command_of(const lode_evidence *evidence, const diagnose_page *page)
{
    const char *words[DIAGNOSE_WORDS];
    size_t count = diagnose_command(page, evidence, words);
    char *line = count ? strdup(words[0]) : NULL;
    for (size_t i = 1; i < count; i++)
        line = add_word(line, words[i]);
    return line;
}

static void say_command(out *o, const lode_evidence *evidence, const diagnose_page *page)
{
    char *line = command_of(evidence, page);
    if (line) {
        out_print(o, "     ");
        out_write(o, line, strlen(line));
        out_print(o, "\n");
    }
    free(line);
}

/* ", new", ", was 12%"; "" without --base. */
static void describe_change(char text[64], const diagnose_page *page, const lode_statement *statement)
{
    static const char *const words[] = {"as before", "new", "more", "less", "base not judged"};
    const lode_statement *before;
    text[0] = '\0';
    if (page->base == NULL)
        return;
    lode_statement_change change = diagnose_change(page->base, statement, &before);
    if (change != LODE_STATEMENT_SAME && before && before->has_gain)
        (void)snprintf(text, 64, "; %s: was %.0f%%", words[change], 100 * before->gain);
    else
        (void)snprintf(text, 64, "; %s", words[change]);
}

/* Statements of the base that are not made of this run. */
static void say_gone(out *o, const diagnose_page *page)
{
    const lode_statement *before;
    for (size_t i = 0; page->base && (before = lode_diagnosis_statement(page->base, i)) != NULL; i++)
        if (diagnose_is_gone(page, before) && out_format_of(o) == OUT_MARKDOWN) {
            out_say(o, "Gone: %s", before->text);
        } else if (diagnose_is_gone(page, before)) {
            out_gap(o);
            say_wrapped(o, "Gone: ", before->text, 6);
        }
}

static void say_statement(out *o, unsigned number, const lode_statement *statement, const diagnose_page *page)
{
    int of_requests = lode_diagnosis_run(page->diagnosis)->source == LODE_RUN_REQUESTS;
    char lead[16], gain[160], change[64];
    describe_change(change, page, statement);
    (void)snprintf(lead, sizeof lead, "%u. ", number);
    say_wrapped(o, lead, statement->text, 3);
    if (statement->has_gain) {
        (void)snprintf(gain, sizeof gain, "%s %.0f%% of the %s, %s%s",
                       statement->is_bound ? "at most" : "accounts for", 100 * statement->gain,
                       of_requests ? "time of all requests" : "run",
                       lode_confidence_name((int)statement->confidence), change);
    } else {
        (void)snprintf(gain, sizeof gain, "%s%s", lode_confidence_name((int)statement->confidence), change);
    }
    say_wrapped(o, "   ", gain, 3);
    for (size_t i = 0; i < statement->evidence_count; i++)
        say_wrapped(o, "   - ", statement->evidence[i].text, 5);
    if (statement->advice)
        say_wrapped(o, "     ", statement->advice, 5);
    if (statement->evidence_count)
        say_command(o, &statement->evidence[0], page);
}

/* ---- Markdown ---- */

static const out_column statement_columns[] = {
    {"number", "#", OUT_NUMBER, OUT_TEXT_ONLY},
    {"gain", "Gain", OUT_PERCENT, OUT_TEXT_ONLY},
    {"text", "Statement", OUT_PROSE, OUT_TEXT_ONLY},
    {"confidence", "Confidence", OUT_PROSE, OUT_TEXT_ONLY},
    {"command", "Shows more", OUT_STRING, OUT_TEXT_ONLY},
};

/* A row below a statement. */
static void put_detail(out *o, const char *text, const char *command)
{
    OUT_ROW(o, STYLE_PLAIN, out_none(), out_none(), text, out_none(), command);
}

static void put_statement(out *o, unsigned number, const lode_statement *statement, const diagnose_page *page)
{
    char change[64], confidence[96];
    describe_change(change, page, statement);
    (void)snprintf(confidence, sizeof confidence, "%s%s", lode_confidence_name((int)statement->confidence),
                   change);
    OUT_ROW(o, STYLE_PLAIN, number, statement->has_gain ? out_real(statement->gain) : out_none(),
            statement->text, confidence, out_none());
    for (size_t i = 0; i < statement->evidence_count; i++) {
        char *line = command_of(&statement->evidence[i], page);
        put_detail(o, statement->evidence[i].text, line);
        free(line);
    }
    if (statement->advice)
        put_detail(o, statement->advice, NULL);
}

static int is_hot_spot(const lode_statement *statement)
{
    return strcmp(statement->id, "hot-spot") == 0;
}

static int is_shown(const lode_run *run, const lode_statement *statement, unsigned shown)
{
    unsigned most = run->source == LODE_RUN_REQUESTS ? OF_SERVICES_SHOWN : STATEMENTS_SHOWN;
    return shown < most && statement->confidence != LODE_WEAK &&
           (!statement->has_gain || statement->gain >= GAIN_SHOWN);
}

static void say_hot_spot(out *o, const diagnose_page *page, const lode_statement *statement)
{
    out_gap(o);
    if (out_format_of(o) == OUT_MARKDOWN) {
        char *line = command_of(&statement->evidence[0], page);
        out_say(o, "Most work: %s%s%s", statement->text, line ? " Shows more: " : "", line ? line : "");
        free(line);
        return;
    }
    say_wrapped(o, "Most work: ", statement->text, 11);
    say_command(o, &statement->evidence[0], page);
}

/* Rules that could not look, by reason; those that need several threads or ranks, and more, too. */
static void say_not_looked(out *o, const lode_diagnosis *d)
{
    const lode_rule_state *rule, *other;
    for (size_t i = 0; (rule = lode_diagnosis_rule(d, i)) != NULL; i++) {
        char text[1024];
        size_t length = 0, before = 0;
        for (size_t k = 0; !rule->ran && k < i && (other = lode_diagnosis_rule(d, k)) != NULL; k++)
            before += !other->ran && strcmp(other->reason, rule->reason) == 0;
        if (rule->ran || before)
            continue;
        text[0] = '\0';
        for (size_t k = i; (other = lode_diagnosis_rule(d, k)) != NULL; k++)
            if (!other->ran && strcmp(other->reason, rule->reason) == 0 && length < sizeof text)
                length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "",
                                           other->id);
        if (length < sizeof text)
            (void)snprintf(text + length, sizeof text - length, " (%s)", rule->reason);
        if (out_format_of(o) == OUT_MARKDOWN)
            out_say(o, "Not looked at: %s", text);
        else
            say_wrapped(o, "Not looked at: ", text, 15);
    }
}

static int has_note(const lode_diagnosis *d, const char *id)
{
    const lode_quality_note *note;
    size_t i = 0;
    while ((note = lode_diagnosis_note(d, i)) != NULL && strcmp(note->id, id) != 0)
        i++;
    return note != NULL;
}

/* What most time of threads goes into. Being pre-empted is nothing that a program does. */
static void say_largest(out *o, const lode_diagnosis *d)
{
    int largest = 0, is_preempted = has_note(d, "pre-empted");
    double all = 0;
    for (int a = 0; a <= LODE_ACTIVITY_COUNT; a++) {
        if (is_preempted && a == LODE_ACTIVITY_OFF_CPU)
            continue;
        all += lode_diagnosis_activity(d, a);
        if (lode_diagnosis_activity(d, a) > lode_diagnosis_activity(d, largest))
            largest = a;
    }
    if (all > 0 && largest < LODE_ACTIVITY_COUNT)
        out_say(o, "Most time: %s, %.0f%% of the time of threads%s.", lode_activity_title(largest),
                100 * lode_diagnosis_activity(d, largest) / all, is_preempted ? " without off-CPU time" : "");
}

static void say_nothing(out *o, const lode_diagnosis *d, unsigned hidden, int all)
{
    out_gap(o);
    if (!lode_diagnosis_run(d)->can_judge) {
        out_say(o, "The data do not allow a statement.");
        return;
    }
    if (hidden == 0)
        out_say(o, "Nothing stands out.");
    say_largest(o, d);
    say_largest_loss(o, d);
    if (!all)
        say_not_looked(o, d);
}

static void say_statements(out *o, const diagnose_page *page)
{
    const lode_diagnosis *d = page->diagnosis;
    const lode_statement *statement, *hot = NULL;
    unsigned shown = 0, hidden = 0;
    int is_markdown = out_format_of(o) == OUT_MARKDOWN;
    for (size_t i = 0; (statement = lode_diagnosis_statement(d, i)) != NULL; i++) {
        if (is_hot_spot(statement)) {
            hot = statement;
        } else if (!page->all && !is_shown(lode_diagnosis_run(d), statement, shown)) {
            hidden++;
        } else if (is_markdown) {
            if (shown == 0)
                out_table(o, OUT_SIDE, "statements", statement_columns, 5, UNIT_COUNT);
            put_statement(o, ++shown, statement, page);
        } else {
            out_gap(o);
            say_statement(o, ++shown, statement, page);
        }
    }
    if (is_markdown && shown)
        out_table_end(o);
    if (shown == 0)
        say_nothing(o, d, hidden, page->all);
    if (hidden)
        out_say(o, "%s (--all)", COUNTED(hidden, "smaller one", "smaller ones"));
    if (hot)
        say_hot_spot(o, page, hot);
    say_gone(o, page);
}

static void say_rule(out *o, const lode_rule_state *rule)
{
    char text[512], label[RULE_WIDTH + 1];
    (void)snprintf(text, sizeof text, "%s%s%s", rule->summary,
                   rule->ran ? "" : "; not looked at: ", rule->ran ? "" : rule->reason);
    (void)snprintf(label, sizeof label, "%-*s", RULE_WIDTH, rule->id);
    if (out_format_of(o) == OUT_MARKDOWN)
        out_entry(o, rule->id, "%s", text);
    else
        say_wrapped(o, label, text, RULE_WIDTH);
}

static void say_rules(out *o, const lode_diagnosis *d)
{
    const lode_rule_state *rule;
    out_gap(o);
    out_heading(o, "Rules");
    for (size_t i = 0; (rule = lode_diagnosis_rule(d, i)) != NULL; i++)
        say_rule(o, rule);
}

static out_schema schema_of(const lode_diagnosis *d)
{
    return lode_diagnosis_run(d)->source == LODE_RUN_PROFILES ? SCHEMA_DIAGNOSE : SCHEMA_DIAGNOSE_RECORDING;
}

void diagnose_print(out *o, const diagnose_page *page)
{
    const lode_diagnosis *d = page->diagnosis;
    const lode_run *run = lode_diagnosis_run(d);
    const lode_quality_note *note;
    out_begin(o, schema_of(d), page->path);
    if (out_format_of(o) == OUT_JSON)
        diagnose_json(o, page);
    else if (out_is_prose(o))
        say_run(o, page);
    for (size_t i = 0; out_is_prose(o) && (note = lode_diagnosis_note(d, i)) != NULL; i++)
        say_sentence(o, note->text);
    if (!out_is_prose(o) || (run->total > 0 && run->source != LODE_RUN_REQUESTS)) {
        out_gap(o);
        print_activities(o, d);
    }
    if (out_format_of(o) == OUT_CSV)
        diagnose_csv(o, page);
    if (out_is_prose(o)) {
        print_efficiency(o, d);
        say_statements(o, page);
        if (page->all)
            say_rules(o, d);
        out_gap(o);
        out_say(o, "Not known: %s",
                run->source == LODE_RUN_REQUESTS ? "what happens outside of the recorded methods."
                                                 : "how much runs of this program differ.");
    }
    out_end(o);
}
