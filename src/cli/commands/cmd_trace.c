/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/trace_draw.h"
#include "output/report.h"
#include "session.h"
#include "text/label.h"

#include <stdio.h>

#define COLUMNS_BOUND 10000

typedef struct trace_options {
    shared_options shared;
    uint64_t depth;
    uint64_t columns;
    uint64_t rows;
} trace_options;

static const out_column share_columns[] = {
    {"letter", "", OUT_STRING, OUT_ALWAYS},     {"nanoseconds", "Time", OUT_TIME, OUT_ALWAYS},
    {"percent", "%", OUT_PERCENT, OUT_ALWAYS},  {"samples", "Samples", OUT_INTEGER, OUT_ALWAYS},
    {"context", "", OUT_NUMBER, OUT_DATA_ONLY}, {"name", "Function", OUT_STRING, OUT_ALWAYS},
};

static void write_share(out *o, char letter, const lode_timeline_share *share, double total, const char *name)
{
    out_row(o, trace_style_of(letter));
    out_cell_text(o, (char[]){letter, '\0'});
    out_cell_u64(o, share->nanoseconds);
    out_cell_share(o, (double)share->nanoseconds, total);
    out_cell_u64(o, share->samples);
    if (share->context)
        out_cell_u64(o, lode_context_id(share->context));
    else
        out_cell_none(o);
    out_cell_text(o, name);
    out_row_end(o);
}

/* With a limit, the functions without a letter are one row. */
static void print_shares(out *o, const lode_timeline *timeline, const trace_key *key, uint64_t limit)
{
    label l = {0};
    double total = 0;
    lode_timeline_share others = {0};
    size_t other_count = 0;
    for (size_t i = 0; i < key->count; i++)
        total += (double)lode_timeline_share_at(timeline, i)->nanoseconds;
    out_table(o, OUT_MAIN, "rows", share_columns, 6, UNIT_COUNT);
    for (size_t i = 0; i < key->count; i++) {
        const lode_timeline_share *share = lode_timeline_share_at(timeline, i);
        if (limit && key->letters[i] == LETTER_OTHER) {
            others.nanoseconds += share->nanoseconds;
            others.samples += share->samples;
            other_count++;
            continue;
        }
        write_share(o, key->letters[i], share, total,
                    trace_is_idle(share) ? "(not running)"
                    : share->context     ? label_context(&l, share->context)
                                         : "(not listed)");
    }
    if (other_count) {
        char name[64];
        snprintf(name, sizeof name, "(%zu other functions)", other_count);
        write_share(o, LETTER_OTHER, &others, total, name);
    }
    out_table_end(o);
    label_free(&l);
}

static void print_window(out *o, const lode_timeline *timeline, uint64_t start, unsigned columns)
{
    uint64_t from, to;
    char begin[NUMBER_SIZE], end[NUMBER_SIZE], bin[NUMBER_SIZE], samples[NUMBER_SIZE];
    char date[2 * NUMBER_SIZE];
    lode_timeline_window(timeline, &from, &to);
    format_duration(begin, from > start ? from - start : 0);
    format_duration(end, to > start ? to - start : 0);
    format_duration(bin, (to - from) / columns);
    format_count(samples, lode_timeline_samples(timeline));
    format_start(date, start);
    out_fact_moment(o, "start_ns", start);
    out_fact_bool(o, "is_utc", time_is_utc(start));
    out_fact_moment(o, "from_ns", from);
    out_fact_moment(o, "to_ns", to);
    out_fact_u64(o, "columns", columns);
    out_fact_u64(o, "samples", lode_timeline_samples(timeline));
    if (lode_timeline_share_count(timeline) == 0)
        out_say(o, "No samples in the time window.");
    else
        out_say(o, "%s to %s after %s: %s samples; one column is %s\n", begin, end, date, samples, bin);
}

static int compute(session *s, const trace_options *options, unsigned columns, uint64_t *start,
                   lode_timeline **timeline)
{
    lode_timeline_options settings = LODE_TIMELINE_OPTIONS_INIT;
    lode_error error = {0};
    int window = session_window(s, start, &settings.from, &settings.to);
    if (window != EXIT_DONE)
        return window;
    settings.columns = columns;
    settings.depth = (unsigned)(options->depth < UINT32_MAX ? options->depth : UINT32_MAX);
    settings.selection = s->selection;
    settings.threads = (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
    settings.on_progress = progress_report;
    settings.user = &s->progress;
    lode_status status = lode_timeline_compute(timeline, s->db, &settings, &error);
    progress_clear(&s->progress);
    return status == LODE_OK ? EXIT_DONE : session_error(s, &error);
}

static void print_trace(out *o, const session *s, const trace_options *options, const lode_timeline *timeline,
                        const trace_lines *lines, uint64_t start, unsigned columns)
{
    trace_key key;
    trace_key_init(&key, timeline, options->shared.limit);
    out_begin(o, SCHEMA_TRACE, s->path);
    out_fact_text(o, "selection", s->shared->profiles);
    print_window(o, timeline, start, columns);
    out_fact_u64(o, "function_count", key.count);
    out_fact_u64(o, "line_count", lines->count);
    out_fact_u64(o, "lines_without_samples", trace_empty_lines(timeline, lines, columns));
    if (out_format_of(o) == OUT_JSON)
        trace_write(o, timeline, lines, &key, columns, options->rows, s->db);
    else if (out_format_of(o) == OUT_TEXT)
        trace_draw(o, timeline, lines, &key, columns, options->rows, start);
    out_gap(o);
    print_shares(o, timeline, &key, options->shared.limit);
    out_end(o);
    trace_key_free(&key);
}

static int draw(const invocation *call, session *s)
{
    const trace_options *options = call->options;
    lode_timeline *timeline = NULL;
    trace_lines lines;
    lode_error error = {0};
    uint64_t start = 0;
    int status = EXIT_DONE;
    if (trace_lines_init(&lines, s, &error) < 0)
        status = session_error(s, &error);
    unsigned columns = trace_columns(call->out, &lines);
    if (options->columns)
        columns = (unsigned)(options->columns < COLUMNS_BOUND ? options->columns : COLUMNS_BOUND);
    if (status == EXIT_DONE)
        status = compute(s, options, columns, &start, &timeline);
    if (status == EXIT_DONE)
        print_trace(call->out, s, options, timeline, &lines, start, columns);
    lode_timeline_free(timeline);
    trace_lines_free(&lines);
    return status;
}

static int run_trace(const invocation *call)
{
    session s;
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = draw(call, &s);
    session_close(&s);
    return status;
}

static const option_spec trace_own[] = {
    {"depth", 'd', OPTION_COUNT, "N", NULL, offsetof(trace_options, depth)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"rows", 0, OPTION_COUNT, "N", NULL, offsetof(trace_options, rows)},
    {"columns", 0, OPTION_COUNT, "N", NULL, offsetof(trace_options, columns)},
    {0},
};

static const trace_options trace_defaults = {.shared = {.limit = 15}, .rows = 40};

const command_spec command_trace = {
    .name = "trace",
    .operands = "[DB]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_DATABASES,
    .options = {.own = trace_own,
                .shared = SHARED_PROFILES | SHARED_TIMES | SHARED_THREADS | SHARED_JSON | SHARED_CSV |
                          SHARED_COLOR},
    .options_size = sizeof(trace_options),
    .defaults = &trace_defaults,
    .run = run_trace,
};
