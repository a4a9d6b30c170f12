/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/trace/boxes.h"
#include "commands/trace/draw.h"
#include "commands/trace/image.h"
#include "commands/trace/save.h"
#include "commands/trace/stacks.h"
#include "options/moment.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"
#include "stores/session.h"
#include "text/label.h"

#include <stdio.h>
#include <stdlib.h>

#define COLUMNS_BOUND 10000
#define KEYS_SIZE     1024 /* rows and columns of probes of the whole run */

typedef struct trace_options {
    shared_options shared;
    uint64_t depth;
    uint64_t columns;
    uint64_t rows;
    int merge, probes, boxes;
    int idle;           /* lode_picture_idle */
    const char *target; /* of a picture; NULL: none */
    int force;
    uint64_t width, height;
    time_point at;
} trace_options;

static const char *const idle_choices[] = {"dominant", "last", NULL};

static const out_column share_columns[] = {
    {"letter", "", OUT_STRING, OUT_ALWAYS},     {"nanoseconds", "Time", OUT_TIME, OUT_ALWAYS},
    {"percent", "%", OUT_PERCENT, OUT_ALWAYS},  {"samples", "Samples", OUT_INTEGER, OUT_ALWAYS},
    {"context", "", OUT_NUMBER, OUT_DATA_ONLY}, {"name", "Function", OUT_STRING, OUT_ALWAYS},
    {"kind", "", OUT_STRING, OUT_DATA_ONLY},
};
#define SHARE_COLUMN_COUNT (sizeof share_columns / sizeof *share_columns)

static void write_share(const invocation *call, char letter, const lode_timeline_share *share, double total,
                        const char *name)
{
    out *o = call->out;
    out_row(o, trace_style_of(letter));
    OUT_CELLS(o, ((char[]){letter, '\0'}), share->nanoseconds, out_share((double)share->nanoseconds, total),
              share->samples, share->context ? out_u64(lode_context_id(share->context)) : out_none(), name);
    if (share->is_idle)
        OUT_CELLS(o, lode_kind_name(LODE_KIND_IDLE));
    else if (share->context || share->function)
        OUT_CELLS(o, lode_kind_name((int)lode_kind_by_rules(call->kinds, share->context, share->function)));
    else
        OUT_CELLS(o, out_none());
    out_row_end(o);
}

static const char *name_of(label *l, const lode_timeline_share *share, int names)
{
    if (trace_is_idle(share) && (share->context || !share->function))
        return "(not running)";
    if (share->context)
        return label_context_as(l, share->context, names);
    return share->function ? label_name(l, share->function, names) : "(not listed)";
}

/* With a limit, the functions without a letter are one row. */
static void print_shares(const invocation *call, const trace_key *key, int names)
{
    out *o = call->out;
    uint64_t limit = call->shared->limit;
    label l = {0};
    double total = 0;
    lode_timeline_share others = {0};
    size_t other_count = 0;
    for (size_t i = 0; i < key->count; i++)
        total += (double)key->shares[i].nanoseconds;
    out_table(o, OUT_MAIN, "rows", share_columns, SHARE_COLUMN_COUNT, UNIT_COUNT);
    for (size_t i = 0; i < key->count; i++) {
        const lode_timeline_share *share = &key->shares[i];
        if (limit && key->letters[i] == LETTER_OTHER) {
            others.nanoseconds += share->nanoseconds;
            others.samples += share->samples;
            other_count++;
            continue;
        }
        write_share(call, key->letters[i], share, total, name_of(&l, share, names));
    }
    if (other_count) {
        char name[64];
        snprintf(name, sizeof name, "(%zu other functions)", other_count);
        write_share(call, LETTER_OTHER, &others, total, name);
    }
    out_table_end(o);
    label_free(&l);
}

/* `utc` is the start in UTC, where that is known. */
static void print_window(out *o, const trace_drawing *d, const trace_key *key, uint64_t utc)
{
    uint64_t from, to, count = d->picture ? lode_picture_samples(d->picture) : 0;
    char begin[NUMBER_SIZE], end[NUMBER_SIZE], bin[NUMBER_SIZE], samples[NUMBER_SIZE];
    char date[2 * NUMBER_SIZE];
    if (d->timeline) {
        lode_timeline_window(d->timeline, &from, &to);
        count = lode_timeline_samples(d->timeline);
    } else {
        lode_picture_window(d->picture, &from, &to);
    }
    format_duration(begin, from > d->start ? from - d->start : 0);
    format_duration(end, to > d->start ? to - d->start : 0);
    format_duration(bin, (to - from) / d->columns);
    format_count(samples, count);
    format_start(date, utc);
    OUT_FIELDS(o, "start_ns", out_digits(d->start), "is_utc", time_is_utc(d->start), "from_ns",
               out_digits(from), "to_ns", out_digits(to), "columns", d->columns, "samples", count);
    if (key->count == 0)
        out_say(o, "No samples in the time window.");
    else
        out_say(o, "%s to %s after %s: %s samples; one column is %s\n", begin, end, date, samples, bin);
}

static unsigned bounded(uint64_t value)
{
    return (unsigned)(value < UINT32_MAX ? value : UINT32_MAX);
}

/* Lines as they are drawn, from top to bottom. */
static uint32_t *order_of(const trace_lines *lines)
{
    uint32_t *order = alloc_array(lines->count + 1, sizeof *order);
    for (size_t i = 0; i < lines->count; i++)
        order[i] = lines->items[i].line;
    return order;
}

static lode_picture_options picture_settings(const trace_options *options, const trace_drawing *d,
                                             const uint32_t *order)
{
    lode_picture_options settings = LODE_PICTURE_OPTIONS_INIT;
    settings.columns = d->columns;
    settings.rows = options->target ? d->plan.rows : bounded(options->rows);
    settings.depth = bounded(options->depth);
    settings.quality = options->probes ? LODE_PICTURE_PROBES : LODE_PICTURE_EXACT;
    settings.idle = (lode_picture_idle)options->idle;
    settings.threads = (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
    settings.lines = order;
    settings.line_count = (uint32_t)d->lines.count;
    return settings;
}

/* Colours follow the shares of the whole run, so that they stay in other time windows. */
static lode_status whole_run(session *s, const trace_options *options, lode_picture **keys, lode_error *error)
{
    lode_picture_options settings = LODE_PICTURE_OPTIONS_INIT;
    settings.columns = settings.rows = KEYS_SIZE;
    settings.quality = LODE_PICTURE_PROBES;
    settings.depth = bounded(options->depth);
    return lode_picture_compute(keys, s->db, &settings, error);
}

static int compute_picture(session *s, const trace_options *options, trace_drawing *d)
{
    lode_error error = {0};
    uint32_t *order = order_of(&d->lines);
    lode_picture_options settings = picture_settings(options, d, order);
    int window = session_window(s, &d->start, &settings.from, &settings.to);
    settings.on_progress = progress_report;
    settings.user = &s->progress;
    lode_status status = LODE_OK;
    lode_picture *keys = NULL;
    if (window == EXIT_DONE && options->target && session_has_window(s))
        status = whole_run(s, options, &keys, &error);
    settings.keys = keys;
    if (window == EXIT_DONE && status == LODE_OK)
        status = lode_picture_compute(&d->picture, s->db, &settings, &error);
    if (d->picture)
        image_hues_of(d->hues, keys ? keys : d->picture, d->kinds);
    progress_clear(&s->progress);
    lode_picture_free(keys);
    free(order);
    return window != EXIT_DONE ? window : status == LODE_OK ? EXIT_DONE : session_error(s, &error);
}

static int compute(session *s, const trace_options *options, trace_drawing *d)
{
    lode_timeline_options settings = LODE_TIMELINE_OPTIONS_INIT;
    lode_error error = {0};
    int window = session_window(s, &d->start, &settings.from, &settings.to);
    if (window != EXIT_DONE)
        return window;
    settings.columns = d->columns;
    settings.depth = bounded(options->depth);
    settings.selection = s->selection;
    settings.threads = (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
    settings.on_progress = progress_report;
    settings.user = &s->progress;
    lode_status status = lode_timeline_compute(&d->timeline, s->db, &settings, &error);
    progress_clear(&s->progress);
    return status == LODE_OK ? EXIT_DONE : session_error(s, &error);
}

static void write_timeline(out *o, const trace_drawing *d, const trace_key *key, const trace_options *options)
{
    trace_table table = {.out = o,
                         .timeline = d->timeline,
                         .lines = &d->lines,
                         .key = key,
                         .columns = d->columns,
                         .db = d->db,
                         .names = d->names,
                         .name = name_of};
    if (out_has_table(o, OUT_SIDE, "timeline"))
        trace_table_write(&table, options->rows);
}

/* Rows are functions; lines that have samples are drawn, up to --rows. */
static void write_counts(out *o, const trace_drawing *d, const trace_key *key, uint64_t rows)
{
    size_t others = 0;
    for (size_t i = 0; i < key->count; i++)
        others += key->letters[i] == LETTER_OTHER;
    OUT_FIELDS(o, "row_count", key->count, "is_truncated", others > 0, "line_count", d->lines.count);
    if (d->picture) {
        OUT_FIELDS(o, "is_exact", lode_picture_samples(d->picture) > 0 || key->count == 0);
        return;
    }
    uint64_t empty = trace_empty_lines(d->timeline, &d->lines, d->columns);
    OUT_FIELDS(o, "lines_without_samples", empty, "is_timeline_truncated",
               rows && rows < d->lines.count - empty);
}

static void print_rows(const invocation *call, const trace_drawing *d, const trace_key *key)
{
    const trace_options *options = call->options;
    out *o = call->out;
    out_format format = out_format_of(o);
    if (d->picture && format == OUT_JSON)
        trace_write_picture(o, d, key);
    else if (d->picture)
        trace_draw_picture(o, d, key);
    else if (format == OUT_JSON)
        trace_write(o, d->timeline, &d->lines, key, d->columns, options->rows, d->db, d->recording);
    else if (format == OUT_TEXT)
        trace_draw(o, d->timeline, &d->lines, key, d->columns, options->rows, d->start);
    else
        write_timeline(o, d, key, options);
}

static void print_trace(const invocation *call, const trace_drawing *d)
{
    const trace_options *options = call->options;
    trace_key key;
    out *o = call->out;
    int64_t offset = d->recording ? lode_recording_utc_offset(d->recording) : 0;
    if (d->picture)
        trace_key_of_picture(&key, d->picture, options->shared.limit);
    else
        trace_key_init(&key, d->timeline, options->shared.limit);
    print_window(o, d, &key, d->start + (uint64_t)offset);
    write_counts(o, d, &key, options->rows);
    print_rows(call, d, &key);
    out_gap(o);
    print_shares(call, &key, d->names);
    trace_key_free(&key);
}

static void choose_size(const invocation *call, trace_drawing *d)
{
    const trace_options *options = call->options;
    d->columns = trace_columns(call->out, &d->lines);
    if (options->columns)
        d->columns = (unsigned)(options->columns < COLUMNS_BOUND ? options->columns : COLUMNS_BOUND);
    if (options->target) {
        d->plan = image_plan_of(&d->lines, options->width, options->height);
        d->columns = d->plan.plot_width;
    }
}

static void drawing_free(trace_drawing *d)
{
    lode_timeline_free(d->timeline);
    lode_picture_free(d->picture);
    trace_lines_free(&d->lines);
}

/* Call paths at --at. */
static int print_stacks(const invocation *call, const trace_drawing *d, store_clock *clock)
{
    const trace_options *options = call->options;
    lode_error error = {0};
    uint64_t time;
    if (moment_resolve(&options->at, "at", clock, 0, &time) != EXIT_DONE)
        return EXIT_TROUBLE;
    out_begin(call->out, d->db ? SCHEMA_TRACE_STACKS : SCHEMA_TRACE_RECORDING_STACKS, clock->path);
    lode_status status = trace_write_stacks(call->out, d, time, options->rows, &error);
    out_end(call->out);
    return status == LODE_OK ? EXIT_DONE : report_error(clock->path, &error);
}

static int stacks_of_database(const invocation *call, session *s, trace_drawing *d)
{
    uint64_t end;
    if (lode_database_trace_bounds(s->db, &d->start, &end) != LODE_OK)
        return report("%s: the database has no traces", s->path);
    store_clock clock = {.path = s->path, .begin = d->start, .end = end, .has_utc = time_is_utc(d->start)};
    return print_stacks(call, d, &clock);
}

/* Calls by depth, of --boxes. */
static int print_boxes(const invocation *call, const trace_drawing *d, const uint64_t window[2],
                       progress *shown, const char *path)
{
    const trace_options *options = call->options;
    trace_boxes wanted = {.from = window[0],
                          .to = window[1],
                          .rows = options->rows,
                          .depth = bounded(options->depth),
                          .on_progress = progress_report,
                          .user = shown};
    lode_error error = {0};
    out_begin(call->out, d->db ? SCHEMA_TRACE_BOXES : SCHEMA_TRACE_RECORDING_BOXES, path);
    lode_status status = trace_write_boxes(call->out, d, &wanted, &error);
    progress_clear(shown);
    out_end(call->out);
    return status == LODE_OK ? EXIT_DONE : report_error(path, &error);
}

static int boxes_of_database(const invocation *call, session *s, trace_drawing *d)
{
    uint64_t window[2];
    int status = session_window(s, &d->start, &window[0], &window[1]);
    if (status == EXIT_DONE && !session_has_window(s) &&
        lode_database_trace_bounds(s->db, &window[0], &window[1]) == LODE_OK && window[1] < UINT64_MAX)
        window[1]++;
    return status == EXIT_DONE ? print_boxes(call, d, window, &s->progress, s->path) : status;
}

static int trace_database(const invocation *call)
{
    const trace_options *options = call->options;
    session s;
    trace_drawing d = {.kinds = call->kinds};
    lode_error error = {0};
    int status = session_open(&s, call->operands[0], call->shared);
    int only_sampled = options->target != NULL || options->merge;
    if (status == EXIT_DONE && trace_lines_init(&d.lines, &s, only_sampled, &error) < 0)
        status = session_error(&s, &error);
    choose_size(call, &d);
    d.db = s.db;
    d.names = status == EXIT_DONE ? names_of_database(s.db, call->shared->names) : NAMES_FULL;
    if (status == EXIT_DONE && (options->at.is_given || options->boxes)) {
        status = options->boxes ? boxes_of_database(call, &s, &d) : stacks_of_database(call, &s, &d);
        drawing_free(&d);
        session_close(&s);
        return status;
    }
    if (status == EXIT_DONE)
        status =
            options->merge || options->target ? compute_picture(&s, options, &d) : compute(&s, options, &d);
    if (status == EXIT_DONE && options->target) {
        status = trace_save(&d, &d.plan, options->target, s.path, name_of);
    } else if (status == EXIT_DONE) {
        out_begin(call->out, options->merge ? SCHEMA_TRACE_MERGED : SCHEMA_TRACE, s.path);
        OUT_FIELDS(call->out, "selection", s.shared->profiles);
        print_trace(call, &d);
        out_end(call->out);
    }
    drawing_free(&d);
    session_close(&s);
    return status;
}

/* ---- recordings ---- */

static lode_status compute_tracks(rec_session *s, const trace_options *options, trace_drawing *d,
                                  const uint64_t window[2], lode_error *error)
{
    lode_timeline_options settings = LODE_TIMELINE_OPTIONS_INIT;
    settings.from = window[0];
    settings.to = window[1];
    settings.columns = d->columns;
    settings.depth = bounded(options->depth);
    settings.threads = rec_threads(s);
    settings.on_progress = rec_on_progress;
    settings.user = s;
    return lode_timeline_compute_recording(&d->timeline, s->recording, &s->slice, &settings, error);
}

static lode_status draw_tracks(rec_session *s, const trace_options *options, trace_drawing *d,
                               const uint64_t window[2], lode_error *error)
{
    uint32_t *order = order_of(&d->lines);
    lode_picture_options settings = picture_settings(options, d, order);
    settings.from = window[0];
    settings.to = window[1];
    settings.on_progress = rec_on_progress;
    settings.user = s;
    lode_picture *keys = NULL;
    lode_status status = LODE_OK;
    if (options->target && (window[0] || window[1])) {
        lode_picture_options whole = LODE_PICTURE_OPTIONS_INIT;
        whole.columns = 1;
        whole.depth = settings.depth;
        status = lode_picture_compute_recording(&keys, s->recording, NULL, &whole, error);
    }
    settings.keys = keys;
    if (status == LODE_OK)
        status = lode_picture_compute_recording(&d->picture, s->recording, NULL, &settings, error);
    if (d->picture)
        image_hues_of(d->hues, keys ? keys : d->picture, d->kinds);
    lode_picture_free(keys);
    free(order);
    return status;
}

/* The time window of a slice, or all of the recording. */
static void find_window(const rec_session *s, uint64_t window[2])
{
    window[0] = s->slice.from ? s->slice.from : s->begin;
    window[1] = s->slice.to ? s->slice.to : s->end < UINT64_MAX ? s->end + 1 : s->end;
}

static int boxes_of_recording(const invocation *call, rec_session *s, trace_drawing *d)
{
    uint64_t window[2];
    int status = rec_find_interval(s);
    d->start = s->begin;
    find_window(s, window);
    return status == EXIT_DONE ? print_boxes(call, d, window, &s->progress, s->path) : status;
}

static int compute_recording(rec_session *s, const trace_options *options, trace_drawing *d)
{
    lode_error error = {0};
    uint64_t window[2] = {0, 0};
    int status = rec_find_interval(s);
    if (status != EXIT_DONE)
        return status;
    d->start = s->begin;
    if (s->slice.from || s->slice.to)
        find_window(s, window);
    lode_status done = options->merge || options->target ? draw_tracks(s, options, d, window, &error)
                                                         : compute_tracks(s, options, d, window, &error);
    progress_clear(&s->progress);
    return done == LODE_OK ? EXIT_DONE : rec_error(s, &error);
}

static int stacks_of_recording(const invocation *call, rec_session *s, trace_drawing *d)
{
    uint64_t utc;
    int status = rec_find_interval(s);
    if (status != EXIT_DONE)
        return status;
    d->start = s->begin;
    store_clock clock = {.path = s->path, .begin = s->begin, .end = s->end};
    clock.has_utc = rec_utc(s, s->begin, &utc);
    clock.utc_offset = clock.has_utc ? utc - s->begin : 0;
    return print_stacks(call, d, &clock);
}

static int trace_recording(const invocation *call)
{
    const trace_options *options = call->options;
    rec_session s;
    trace_drawing d = {.kinds = call->kinds, .names = names_of_recordings(call->shared->names)};
    int status = rec_open_slice(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE) {
        trace_lines_of_recording(&d.lines, s.recording, &s.slice);
        d.recording = s.recording;
        choose_size(call, &d);
        status = options->boxes         ? boxes_of_recording(call, &s, &d)
                 : options->at.is_given ? stacks_of_recording(call, &s, &d)
                                        : compute_recording(&s, options, &d);
    }
    if (status == EXIT_DONE && options->target) {
        status = trace_save(&d, &d.plan, options->target, s.path, name_of);
    } else if (status == EXIT_DONE && !options->at.is_given && !options->boxes) {
        out_begin(call->out, options->merge ? SCHEMA_TRACE_RECORDING_MERGED : SCHEMA_TRACE_RECORDING, s.path);
        print_trace(call, &d);
        damage_write(call->out);
        out_end(call->out);
    }
    drawing_free(&d);
    rec_close(&s);
    return status;
}

static int run_trace(const invocation *call)
{
    const trace_options *options = call->options;
    if ((options->probes || options->idle) && !options->merge && !options->target)
        return report("--probes and --idle-time need --merge or -o (see 'lode help trace')");
    if ((options->width || options->height || options->force) && !options->target)
        return report("--width, --height and --force need -o (see 'lode help trace')");
    if (options->width > IMAGE_WIDTH_MAX || options->height > IMAGE_HEIGHT_MAX)
        return report("--width must be up to %d, and --height up to %d (see 'lode help trace')",
                      IMAGE_WIDTH_MAX, IMAGE_HEIGHT_MAX);
    if ((options->at.is_given || options->boxes) && (options->merge || options->target))
        return report("--at and --boxes cannot be used with --merge or -o (see 'lode help trace')");
    if (options->at.is_given && options->boxes)
        return report("--at cannot be used with --boxes (see 'lode help trace')");
    if (options->target && trace_save_usage(options->target, options->force) != EXIT_DONE)
        return EXIT_TROUBLE;
    if (options->merge && out_format_of(call->out) == OUT_CSV)
        return report("--merge cannot be used with --csv (see 'lode help trace')");
    return call->kind == LODE_STORE_RECORDING ? trace_recording(call) : trace_database(call);
}

static const option_spec trace_own[] = {
    {"depth", 'd', OPTION_COUNT, "N", NULL, offsetof(trace_options, depth)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"rows", 0, OPTION_COUNT, "N", NULL, offsetof(trace_options, rows)},
    {"columns", 0, OPTION_COUNT, "N", NULL, offsetof(trace_options, columns)},
    {"merge", 0, OPTION_FLAG, NULL, NULL, offsetof(trace_options, merge)},
    {"idle-time", 0, OPTION_CHOICE, NULL, idle_choices, offsetof(trace_options, idle)},
    {"probes", 0, OPTION_FLAG, NULL, NULL, offsetof(trace_options, probes)},
    {"at", 0, OPTION_MOMENT, "TIME", NULL, offsetof(trace_options, at)},
    {"boxes", 0, OPTION_FLAG, NULL, NULL, offsetof(trace_options, boxes)},
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(trace_options, target)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(trace_options, force)},
    {"width", 0, OPTION_COUNT, "PIXELS", NULL, offsetof(trace_options, width)},
    {"height", 0, OPTION_COUNT, "PIXELS", NULL, offsetof(trace_options, height)},
    {0},
};

static const trace_options trace_defaults = {.shared = {.limit = 15, .names = NAMES_BY_STORE}, .rows = 40};

const command_spec command_trace = {
    .name = "trace",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL,
    .options = {.own = trace_own,
                .shared = SHARED_PROFILES | SHARED_TIMES | SHARED_TRACKS | SHARED_NAMES | SHARED_THREADS |
                          SHARED_JSON | SHARED_CSV | SHARED_COLOR | SHARED_KINDS},
    .options_size = sizeof(trace_options),
    .defaults = &trace_defaults,
    .run = run_trace,
};
