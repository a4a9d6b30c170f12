/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/replay/words.h"
#include "output/out.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"

#define PROGRESS_EVENTS 65536

typedef struct replay_options {
    shared_options shared;
    int times;
    double min_fraction;
} replay_options;

enum {
    COLUMN_COUNT = 15
};

static const out_column columns[COLUMN_COUNT] = {
    {"time_ns", "", OUT_MOMENT, OUT_DATA_ONLY},   {"tid", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"track", "", OUT_NUMBER, OUT_DATA_ONLY},     {"kind", "", OUT_STRING, OUT_DATA_ONLY},
    {"instant", "", OUT_STRING, OUT_DATA_ONLY},   {"depth", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"duration_ns", "", OUT_TIME, OUT_DATA_ONLY}, {"name", "", OUT_STRING, OUT_DATA_ONLY},
    {"values", "", OUT_STRING, OUT_DATA_ONLY},    {"symbol", "", OUT_STRING, OUT_DATA_ONLY},
    {"module", "", OUT_STRING, OUT_DATA_ONLY},    {"failed", "", OUT_BOOL, OUT_DATA_ONLY},
    {"preempted", "", OUT_BOOL, OUT_DATA_ONLY},   {"made", "", OUT_BOOL, OUT_DATA_ONLY},
    {"moved", "", OUT_BOOL, OUT_DATA_ONLY},
};

/* Where events end up: in a program text, or in rows. */
typedef struct replay_job {
    out *out;
    rec_session *session;
    replay_words words;
    replay_text *text; /* NULL: rows */
    uint64_t rows, limit;
    int has_more; /* rows beyond the limit */
} replay_job;

static void function_cells(out *o, const lode_event *event)
{
    int has_function = event->kind != LODE_EVENT_INSTANT && event->kind != LODE_EVENT_LOST;
    OUT_CELLS(o, has_function ? lode_function_name(event->function) : NULL,
              has_function ? path_of_module(lode_function_module(event->function)) : NULL);
}

static void write_row(void *user, const replay_event *shown)
{
    static const char *const kinds[] = {"enter", "leave", "sched_out", "sched_in", "instant", "lost"};
    static const char *const instants[] = {NULL, "attribute", "exception", "numbers"};
    replay_job *job = user;
    const lode_event *event = &shown->event;
    const lode_track *track = lode_recording_track(job->session->recording, shown->track);
    out *o = job->out;
    if (job->limit && job->rows >= job->limit) {
        job->has_more = 1;
        return;
    }
    job->rows++;
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, event->time);
    if (track) {
        OUT_CELLS(o, (uint64_t)track->tid, lode_track_number(job->session->recording, track->index));
    } else {
        OUT_CELLS(o, out_none(), out_none());
    }
    OUT_CELLS(o, kinds[event->kind], instants[lode_event_instant(job->session->recording, event)],
              shown->level, out_u64_if(shown->has_duration, shown->duration), replay_name(&job->words, event),
              event->data ? replay_values(&job->words, shown) : NULL);
    if (out_format_of(o) == OUT_JSON)
        replay_write_arguments(o, &job->words, shown);
    function_cells(o, event);
    OUT_CELLS(o, (event->flags & LODE_EVENT_FAILED) != 0, (event->flags & LODE_EVENT_PREEMPTED) != 0,
              (event->flags & LODE_EVENT_MADE) != 0, (event->flags & LODE_EVENT_MOVED) != 0);
    out_row_end(o);
}

static int is_over(const replay_job *job)
{
    if (out_has_failed(job->out))
        return 1;
    return job->text ? replay_text_is_full(job->text) : job->has_more;
}

/* Output on a terminal is progress enough. */
static void show_progress(rec_session *s, uint64_t time)
{
    uint64_t from = s->slice.from > s->begin ? s->slice.from : s->begin;
    uint64_t to = s->slice.to && s->slice.to < s->end ? s->slice.to : s->end;
    if (time > from && to > from)
        rec_on_progress(s, "replay", time - from, to - from);
}

static int read_events(replay_job *job, replay *r)
{
    rec_session *s = job->session;
    lode_merge *merge = NULL;
    lode_error error = {0};
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    const lode_event *event;
    uint32_t track;
    int shows_progress = !out_is_terminal(job->out) && s->has_interval;
    options.strict = s->shared->strict;
    options.on_finding = rec_on_finding;
    options.user = s;
    lode_status status = lode_merge_open(&merge, s->recording, &s->slice, &options, &error);
    for (uint64_t i = 0; status == LODE_OK && !is_over(job); i++) {
        status = lode_merge_next(merge, &event, &track, &error);
        if (status == LODE_OK)
            replay_push(r, event, track);
        if (status == LODE_OK && shows_progress && i % PROGRESS_EVENTS == 0)
            show_progress(s, event->time);
    }
    lode_merge_close(merge);
    progress_clear(&s->progress);
    return status < 0 ? rec_error(s, &error) : EXIT_DONE;
}

static int replay_into(replay_job *job, replay_sink sink, void *user)
{
    const lode_slice *slice = &job->session->slice;
    replay_limits settings = {slice->from, slice->to, slice->depth, slice->min_time};
    replay *r = replay_open(lode_recording_track_count(job->session->recording), &settings, sink, user);
    int status = read_events(job, r);
    if (!is_over(job))
        replay_finish(r);
    replay_close(r);
    return status;
}

static int replay_as_text(replay_job *job, int shows_times)
{
    rec_session *s = job->session;
    job->text = replay_text_open(job->out, &job->words, shows_times ? s->begin : LODE_NO_OFFSET, job->limit);
    int status = replay_into(job, replay_text_add, job->text);
    replay_text_finish(job->text);
    int is_cut = replay_text_is_full(job->text);
    if (status == EXIT_DONE && replay_text_lines(job->text) == 0)
        out_say(job->out, "No events.");
    if (is_cut)
        out_say(job->out, "\nshowing %s; there are more (--limit 0 shows all)",
                COUNTED(job->limit, "line", "lines"));
    replay_text_close(job->text);
    return status;
}

/* Rows beyond the limit are not counted: that would take as long as listing them. */
static void write_row_count(const replay_job *job)
{
    if (out_format_of(job->out) != OUT_JSON)
        return;
    OUT_FIELDS(job->out, "row_count", job->has_more ? out_none() : out_u64(job->rows), "is_truncated",
               job->has_more);
}

static int replay_as_rows(replay_job *job)
{
    rec_session *s = job->session;
    out_begin(job->out, SCHEMA_REPLAY, s->path);
    rec_write_slice(job->out, s);
    OUT_FIELDS(job->out, "begin_ns", out_digits(s->begin), "end_ns", out_digits(s->end));
    out_table(job->out, OUT_MAIN, "rows", columns, COLUMN_COUNT, UNIT_NANOSECONDS);
    int status = replay_into(job, write_row, job);
    out_table_end(job->out);
    write_row_count(job);
    damage_write(job->out);
    out_end(job->out);
    return status;
}

static int replay_as(replay_job *job, const replay_options *options)
{
    int has_requests = lode_recording_has_requests(job->session->recording);
    replay_trace_options settings = {options->min_fraction, options->times, job->limit};
    if (options->min_fraction > 0 && !has_requests)
        return report("%s has no requests; --min-percent is for recordings of requests", job->session->path);
    if (out_format_of(job->out) != OUT_TEXT)
        return replay_as_rows(job);
    if (has_requests)
        return replay_traces(job->out, job->session, &job->words, &settings);
    return replay_as_text(job, options->times);
}

static int run_replay(const invocation *call)
{
    const replay_options *options = call->options;
    rec_session s;
    int status = rec_open_requests(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = rec_find_interval(&s);
    if (status == EXIT_DONE) {
        replay_job job = {.out = call->out, .session = &s, .limit = call->shared->limit};
        replay_words_init(&job.words, s.recording, call->shared->names);
        status = replay_as(&job, options);
        replay_words_free(&job.words);
    }
    rec_close(&s);
    return status;
}

static const option_spec replay_own[] = {
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"times", 0, OPTION_FLAG, NULL, NULL, offsetof(replay_options, times)},
    {"min-percent", 0, OPTION_PERCENT, "P", NULL, offsetof(replay_options, min_fraction)},
    {0},
};

const command_spec command_replay = {
    .name = "replay",
    .operands = "[REC]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_RECORDINGS,
    .options = {.own = replay_own,
                .shared = SHARED_SLICE | SHARED_DEPTH | SHARED_NAMES | SHARED_NO_SCHED | SHARED_STRICT |
                          SHARED_MEMORY | SHARED_JSON | SHARED_CSV | SHARED_COLOR | SHARED_VERBOSE},
    .options_size = sizeof(replay_options),
    .run = run_replay,
};
