/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Firefox Profiler: a processed profile, which is JSON. Version 60 is the first one with tables
 * that all threads share; the profiler upgrades old versions, so this is never changed. A sample is
 * a change of the stack, with the time to the next one as its weight.
 *
 * Samples of a thread are columns, and numbers of stacks are those of the file. So workers pass
 * events on, and the writer, which gets them in order, makes the columns of one thread at a time.
 */
#include "base/error.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/json.h"
#include "export/timelines/firefox_tables.h"
#include "export/timelines/tracks.h"
#include <inttypes.h>
#include <lode/private/call_events.h>
#include <stdio.h>

enum {
    EVENT_SIZE = 15, /* of an event, for estimates */
    SIZE_MAX_IN_BROWSER = 200 * 1000 * 1000,
    FLUSH = 64 * 1024,
    DECIMALS = 6, /* of milliseconds: nanoseconds */
    TEXT_BYTES = 1000
};

enum category {
    CATEGORY_OTHER,
    CATEGORY_IDLE
};

/* What workers pass on: the kind, then what it has. */
enum record {
    RECORD_BEGIN = 'B',  /* uint32_t line */
    RECORD_ENTER = 'E',  /* uint64_t time, frame, uint8_t category */
    RECORD_LEAVE = 'L',  /* uint64_t time */
    RECORD_MARKER = 'M', /* uint64_t time, two texts with their end */
    RECORD_END = 'Z'
};

struct sample {
    uint64_t time, weight;
    uint32_t stack;
    bool is_there;
};

struct worker {
    struct lode_wire text;
    struct lode_arguments arguments;
};

struct firefox {
    struct lode_timeline base;
    struct lode_wire out;
    struct firefox_tables tables;
    /* The thread that is being written. */
    const struct lode_line *line;
    struct lode_array open; /* uint32_t: stacks */
    uint64_t since;         /* the last change */
    struct sample pending;
    uint64_t sample_count, marker_count;
    struct lode_wire stack_column, time_column, weight_column;
    struct lode_wire name_column, start_column, data_column;
};

/* ---- workers ---- */

static void put_time(struct lode_wire *out, char kind, uint64_t time)
{
    wire_raw(out, &kind, 1);
    wire_raw(out, &time, sizeof time);
}

static lode_status begin(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                         lode_error *error)
{
    char kind = RECORD_BEGIN;
    (void)user, (void)state, (void)error;
    wire_raw(out, &kind, 1);
    wire_raw(out, &line->index, sizeof line->index);
    return LODE_OK;
}

/* "key=value key=value", cut at a character. */
static void put_values(struct worker *worker)
{
    struct lode_wire *text = &worker->text;
    text->count = 0;
    for (size_t i = 0; i < worker->arguments.count && text->count < TEXT_BYTES; i++) {
        const lode_argument *argument = &worker->arguments.items[i];
        json_text(text, i ? " " : "");
        lode_wire_clean(text, argument->name, strlen(argument->name));
        json_text(text, argument->name[0] ? "=" : "");
        lode_wire_argument(text, argument);
    }
    if (text->count > TEXT_BYTES) {
        text->count = TEXT_BYTES;
        while (text->count > 0 && (text->bytes[text->count] & 0xC0) == 0x80)
            text->count--;
    }
}

static lode_status pass_marker(const struct firefox *self, struct worker *worker, uint32_t track,
                               const lode_event *event, struct lode_wire *out, lode_error *error)
{
    const lode_recording *recording = self->base.job->recording;
    bool is_loss = event->kind == LODE_EVENT_LOST;
    const char *name = is_loss ? "records lost" : lode_event_name(recording, event);
    if (!is_loss && lode_event_instant(recording, event) == LODE_INSTANT_EXCEPTION)
        name = "exception";
    worker->arguments.count = 0;
    if (self->base.has_values && !is_loss && event->data_size > 0)
        LODE_TRY(lode_tracks_arguments(self->base.tracks, track, event, &worker->arguments, error));
    put_values(worker);
    put_time(out, RECORD_MARKER, event->time);
    lode_wire_clean(out, name, strlen(name));
    wire_raw(out, "", 1);
    wire_raw(out, worker->text.bytes, worker->text.count);
    wire_raw(out, "", 1);
    return worker->text.failed ? lode_fail_memory(error) : LODE_OK;
}

static lode_status pass(const struct firefox *self, struct worker *worker, uint32_t track,
                        const lode_event *event, struct lode_wire *out, lode_error *error)
{
    uint8_t category = event->kind == LODE_EVENT_SCHED_OUT ? CATEGORY_IDLE : CATEGORY_OTHER;
    if (lode_event_ends(event)) {
        put_time(out, RECORD_LEAVE, event->time);
        return LODE_OK;
    }
    if (!lode_event_begins(event))
        return pass_marker(self, worker, track, event, out, error);
    put_time(out, RECORD_ENTER, event->time);
    wire_raw(out, &event->function, sizeof event->function);
    wire_raw(out, &category, sizeof category);
    return LODE_OK;
}

static lode_status take(void *user, void *state, const struct lode_line *line, uint32_t track,
                        const lode_event *events, size_t count, struct lode_wire *out, lode_error *error)
{
    (void)line;
    for (size_t i = 0; i < count; i++)
        LODE_TRY(pass(user, state, track, &events[i], out, error));
    return LODE_OK;
}

static lode_status end(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                       lode_error *error)
{
    char kind = RECORD_END;
    (void)user, (void)state, (void)line, (void)error;
    wire_raw(out, &kind, 1);
    return LODE_OK;
}

static void close(void *user, void *state)
{
    struct worker *worker = state;
    (void)user;
    wire_free(&worker->text);
    free(worker->arguments.items);
}

/* ---- the columns of a thread ---- */

static void put_comma(struct lode_wire *column)
{
    if (column->count > 0)
        json_text(column, ",");
}

static void put_stack(struct lode_wire *column, uint32_t stack)
{
    put_comma(column);
    if (stack == FIREFOX_NONE)
        json_text(column, "null");
    else
        json_number(column, stack);
}

static void put_milliseconds(struct lode_wire *column, uint64_t nanoseconds)
{
    put_comma(column);
    json_decimal(column, nanoseconds, DECIMALS);
}

static void flush_sample(struct firefox *self)
{
    struct sample *sample = &self->pending;
    if (!sample->is_there)
        return;
    put_stack(&self->stack_column, sample->stack);
    put_milliseconds(&self->time_column, sample->time - self->base.base);
    put_milliseconds(&self->weight_column, sample->weight);
    self->sample_count++;
    sample->is_there = false;
}

static uint32_t current(const struct firefox *self)
{
    return self->open.count == 0 ? FIREFOX_NONE : *LODE_ARRAY_AT(&self->open, uint32_t, self->open.count - 1);
}

/* The stack held from the last change to `time`. */
static void go_to(struct firefox *self, uint64_t time)
{
    struct sample *sample = &self->pending;
    uint32_t stack = current(self);
    if (time <= self->since)
        return;
    if (!sample->is_there || sample->stack != stack) {
        flush_sample(self);
        *sample = (struct sample){self->since, 0, stack, true};
    }
    sample->weight += time - self->since;
    self->since = time;
}

static lode_status enter(struct firefox *self, const lode_function *frame, uint8_t category,
                         lode_error *error)
{
    uint32_t number;
    LODE_TRY(
        lode_firefox_stack(&self->tables, self->base.tracks, current(self), frame, category, &number, error));
    uint32_t *top = lode_array_push(&self->open);
    LODE_TRY_ALLOC(top, error);
    *top = number;
    return LODE_OK;
}

static lode_status put_marker(struct firefox *self, uint64_t time, const char *name, const char *text,
                              lode_error *error)
{
    uint32_t number;
    LODE_TRY_ALLOC(lode_firefox_string(&self->tables, name, &number), error);
    put_comma(&self->name_column);
    json_number(&self->name_column, number);
    put_milliseconds(&self->start_column, time > self->base.base ? time - self->base.base : 0);
    put_comma(&self->data_column);
    if (text[0]) {
        json_text(&self->data_column, "{\"type\":\"Text\",\"name\":");
        json_string(&self->data_column, text);
        json_text(&self->data_column, "}");
    } else {
        json_text(&self->data_column, "null");
    }
    self->marker_count++;
    return LODE_OK;
}

/* ---- the file ---- */

static lode_status write_column(struct firefox *self, const char *name, struct lode_wire *column,
                                lode_error *error)
{
    if (column->failed)
        return lode_fail_memory(error);
    json_text(&self->out, name);
    LODE_TRY(lode_wire_flush(&self->out, self->base.job->file, 1, error));
    size_t count = column->count;
    column->count = 0;
    LODE_TRY(lode_export_write(self->base.job->file, column->bytes, count, error));
    json_text(&self->out, "]");
    return LODE_OK;
}

static void put_thread_head(struct firefox *self)
{
    const struct lode_line *line = self->line;
    const struct lode_tracks_process *process = lode_tracks_process(self->base.tracks, line->process);
    struct lode_wire *out = &self->out;
    json_text(out, line->index ? ",\n{\"processType\":\"default\",\"processName\":"
                               : "\n{\"processType\":\"default\",\"processName\":");
    json_string(out, process->name);
    json_text(out, ",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":");
    json_decimal(out, line->begin > self->base.base ? line->begin - self->base.base : 0, DECIMALS);
    json_text(out, ",\"unregisterTime\":null,\"pausedRanges\":[],\"name\":");
    json_string(out, line->name);
    json_text(out, process->first_line == line->index ? ",\"isMainThread\":true,\"pid\":\""
                                                      : ",\"isMainThread\":false,\"pid\":\"");
    json_number(out, (uint64_t)process->pid);
    json_text(out, "\",\"tid\":");
    json_number(out, (uint64_t)line->tid);
}

static lode_status write_thread(struct firefox *self, lode_error *error)
{
    struct lode_wire *out = &self->out;
    put_thread_head(self);
    LODE_TRY(write_column(self, ",\n\"samples\":{\"stack\":[", &self->stack_column, error));
    LODE_TRY(write_column(self, ",\"time\":[", &self->time_column, error));
    LODE_TRY(write_column(self, ",\"weight\":[", &self->weight_column, error));
    json_text(out, ",\"weightType\":\"tracing-ms\"");
    firefox_length(out, self->sample_count);
    LODE_TRY(write_column(self, ",\n\"markers\":{\"data\":[", &self->data_column, error));
    LODE_TRY(write_column(self, ",\"name\":[", &self->name_column, error));
    LODE_TRY(write_column(self, ",\"startTime\":[", &self->start_column, error));
    firefox_constant(out, ",\"endTime\":[", "null", self->marker_count);
    firefox_constant(out, ",\"phase\":[", "0", self->marker_count);
    firefox_constant(out, ",\"category\":[", "0", self->marker_count);
    firefox_length(out, self->marker_count);
    json_text(out, "}");
    return lode_wire_flush(&self->out, self->base.job->file, FLUSH, error);
}

/* ---- what workers passed on ---- */

/* Copies from records, which are whole. */
static void get(const uint8_t **at, void *value, size_t size)
{
    memcpy(value, *at, size);
    *at += size;
}

static void begin_thread(struct firefox *self, const uint8_t **at)
{
    uint32_t index;
    get(at, &index, sizeof index);
    self->line = lode_tracks_line(self->base.tracks, index);
    self->since = self->line->begin;
    self->sample_count = self->marker_count = 0;
    self->pending.is_there = false;
    self->open.count = 0;
}

/* The end of a thread is a sample of no length: it is not running any more. */
static lode_status end_thread(struct firefox *self, lode_error *error)
{
    self->open.count = 0;
    if (self->pending.is_there && self->pending.stack != FIREFOX_NONE) {
        flush_sample(self);
        self->pending = (struct sample){self->since, 0, FIREFOX_NONE, true};
    }
    flush_sample(self);
    return write_thread(self, error);
}

static lode_status follow(struct firefox *self, char kind, uint64_t time, const uint8_t **at,
                          lode_error *error)
{
    if (kind == RECORD_MARKER) {
        const char *name = (const char *)*at, *text = name + strlen(name) + 1;
        *at = (const uint8_t *)text + strlen(text) + 1;
        return put_marker(self, time, name, text, error);
    }
    go_to(self, time);
    if (kind == RECORD_ENTER) {
        const lode_function *frame;
        uint8_t category;
        get(at, &frame, sizeof frame);
        get(at, &category, sizeof category);
        return enter(self, frame, category, error);
    }
    if (self->open.count > 0)
        lode_array_pop(&self->open);
    return LODE_OK;
}

static lode_status write(void *user, const void *bytes, size_t size, lode_error *error)
{
    struct firefox *self = user;
    const uint8_t *at = bytes, *stop = at + size;
    while (at < stop) {
        char kind = (char)*at++;
        uint64_t time;
        if (kind == RECORD_BEGIN) {
            begin_thread(self, &at);
        } else if (kind == RECORD_END) {
            LODE_TRY(end_thread(self, error));
        } else {
            get(&at, &time, sizeof time);
            LODE_TRY(follow(self, kind, time, &at, error));
        }
    }
    return LODE_OK;
}

static void put_meta(struct firefox *self)
{
    struct lode_wire *out = &self->out;
    const struct lode_export *job = self->base.job;
    const char *title = job->options->title;
    int64_t offset = lode_tracks_utc_offset(self->base.tracks);
    if (title == NULL)
        title = job->db ? lode_database_title(job->db) : "recording";
    json_text(out, "{\"meta\":{\"interval\":1,\"startTime\":");
    json_decimal(out, job->db || offset ? self->base.base + (uint64_t)offset : 0, DECIMALS);
    json_text(out, ",\"processType\":0,\"stackwalk\":1,\"version\":24,\"preprocessedProfileVersion\":60,"
                   "\"symbolicated\":true,\"product\":");
    json_string(out, title);
    json_text(out, ",\"importedFrom\":\"lode ");
    json_text(out, lode_version());
    json_text(out, "\",\"categories\":["
                   "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
                   "{\"name\":\"Idle\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]}],"
                   "\"markerSchema\":[],"
                   "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}},\n"
                   "\"threads\":[");
}

static lode_status write_all(struct firefox *self, lode_error *error)
{
    struct lode_encoder encoder = {.state_size = sizeof(struct worker),
                                   .user = self,
                                   .begin = begin,
                                   .take = take,
                                   .end = end,
                                   .close = close,
                                   .write = write};
    struct lode_tracks_counts counts;
    LODE_TRY(lode_tracks_warn(self->base.tracks, self->base.job, EVENT_SIZE, SIZE_MAX_IN_BROWSER,
                              "profiler.firefox.com", error));
    put_meta(self);
    LODE_TRY(lode_tracks_run(self->base.tracks, &encoder, &counts, error));
    LODE_TRY(lode_firefox_tables_write(&self->tables, &self->out, self->base.job->file, error));
    return lode_tracks_report(self->base.job, &counts, error);
}

static void free_all(struct firefox *self)
{
    struct lode_wire *const wires[] = {&self->out,           &self->stack_column, &self->time_column,
                                       &self->weight_column, &self->name_column,  &self->start_column,
                                       &self->data_column};
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++)
        wire_free(wires[i]);
    lode_firefox_tables_free(&self->tables);
    lode_array_free(&self->open);
    lode_tracks_close(self->base.tracks);
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    struct firefox self = {0};
    lode_firefox_tables_init(&self.tables);
    lode_array_init(&self.open, sizeof(uint32_t), UINT32_MAX);
    lode_status status = lode_timeline_open(&self.base, job, error);
    if (status == LODE_OK)
        status = write_all(&self, error);
    free_all(&self);
    return status;
}

const struct lode_export_format lode_export_firefox = {
    .name = "firefox",
    .description = "Firefox Profiler (JSON): profiler.firefox.com",
    .suffix = ".firefox.json",
    .names = "*.firefox.json *.profile.json",
    .loses = "metrics and values; arguments of calls; calls that took no time",
    .holds = LODE_EXPORT_TIMELINE,
    .compressions = 1U << LODE_COMPRESSION_GZIP,
    .run = run,
};
