/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/recording.h"
#include "commands/info/info.h"

#include "alloc.h"
#include "output/out.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_TASKS   20
#define SHOWN_MODULES 6
#define LABEL_GAP     2

/* What the tracks of a recording add up to. */
typedef struct track_sum {
    uint64_t bytes;
    uint32_t processes;
} track_sum;

static int compare_pids(const void *left, const void *right)
{
    const int32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static track_sum add_up(const lode_recording *recording)
{
    track_sum sum = {0};
    uint32_t tracks = lode_recording_track_count(recording), count = 0;
    int32_t *pids = alloc_array(tracks, sizeof *pids);
    for (uint32_t i = 0; i < tracks; i++) {
        const lode_track *track = lode_recording_track(recording, i);
        /* There may be millions of requests, and few processes. */
        if (count == 0 || pids[count - 1] != track->pid)
            pids[count++] = track->pid;
        sum.bytes += track->bytes;
    }
    if (count)
        qsort(pids, count, sizeof *pids, compare_pids);
    for (uint32_t i = 0; i < count; i++)
        sum.processes += i == 0 || pids[i] != pids[i - 1];
    free(pids);
    return sum;
}

/* Of what the recorder noted, this says which run it was; the rest is about the machine. */
static const char *const first_keys[] = {"command line", "exit status", "recorded", "elapsed",
                                         "host",         "recorder",    "stores",   "chunks",
                                         "layout",       "request ids", NULL};

static int is_first(const lode_fact *fact)
{
    for (size_t i = 0; first_keys[i]; i++)
        if (strcmp(fact->key, first_keys[i]) == 0)
            return 1;
    return 0;
}

/* Keys are written in small letters; those with points are names of properties. */
static void say_fact(out *o, const lode_fact *fact)
{
    char label[64];
    snprintf(label, sizeof label, "%s", fact->key);
    if (label[0] >= 'a' && label[0] <= 'z' && strchr(label, '.') == NULL)
        label[0] = (char)(label[0] - 'a' + 'A');
    out_entry(o, label, "%s", fact->value);
}

/* Labels line up with the longest of them. */
static void set_label_width(out *o, const lode_recording *recording, int is_verbose)
{
    size_t width = sizeof "Findings" - 1;
    for (size_t i = 0; i < lode_recording_fact_count(recording); i++) {
        const lode_fact *fact = lode_recording_fact(recording, i);
        size_t length = strlen(fact->key);
        if (length > width && length < 32 && (is_verbose || is_first(fact)))
            width = length;
    }
    out_labels(o, width + LABEL_GAP);
}

static void say_facts(out *o, const lode_recording *recording, int is_verbose)
{
    size_t count = lode_recording_fact_count(recording), said = 0;
    for (size_t i = 0; i < count && is_verbose; i++, said++)
        say_fact(o, lode_recording_fact(recording, i));
    for (size_t k = 0; first_keys[k] && !is_verbose; k++) {
        for (size_t i = 0; i < count; i++) {
            const lode_fact *fact = lode_recording_fact(recording, i);
            if (strcmp(fact->key, first_keys[k]) == 0) {
                say_fact(o, fact);
                said++;
            }
        }
    }
    if (said < count)
        out_entry(o, "...", "%s (shown with --verbose)",
                  COUNTED(count - said, "more metadata item", "more metadata items"));
}

static void say_tasks(out *o, const rec_session *s, const track_sum *sum)
{
    char tracks[NUMBER_SIZE], bytes[NUMBER_SIZE];
    format_count(tracks, lode_recording_request_count(s->recording));
    format_bytes(bytes, sum->bytes);
    out_entry(o, lode_recording_has_requests(s->recording) ? "Requests" : "Tasks",
              "%s in %s, with %s of records", tracks, COUNTED(sum->processes, "process", "processes"), bytes);
}

static void say_span(out *o, const rec_session *s)
{
    char duration[NUMBER_SIZE], begin[NUMBER_SIZE];
    uint64_t utc;
    format_duration(duration, s->end - s->begin);
    if (s->begin == 0 && s->end == 0) {
        out_entry(o, "Duration", "no events");
    } else if (rec_utc(s, s->begin, &utc)) {
        format_utc(begin, utc);
        out_entry(o, "Duration", "%s from %s (@%llu)", duration, begin, (unsigned long long)s->begin);
    } else {
        out_entry(o, "Duration", "%s from @%llu", duration, (unsigned long long)s->begin);
    }
}

static void say_modules(out *o, const lode_recording *recording, int is_verbose)
{
    uint32_t count = lode_recording_module_count(recording);
    uint32_t shown = is_verbose || count <= SHOWN_MODULES ? count : SHOWN_MODULES;
    size_t capacity = 64, used = 0;
    for (uint32_t i = 0; i < shown; i++)
        capacity += strlen(lode_path_tail(lode_module_path(lode_recording_module(recording, i)))) + 2;
    char *list = alloc_array(capacity, 1);
    for (uint32_t i = 0; i < shown; i++)
        used += (size_t)snprintf(list + used, capacity - used, "%s%s", i ? ", " : "",
                                 lode_path_tail(lode_module_path(lode_recording_module(recording, i))));
    if (shown < count)
        snprintf(list + used, capacity - used, " and %u more (shown with --verbose)", count - shown);
    out_entry(o, "Modules", "%u%s%s", count, count ? ": " : "", list);
    free(list);
}

static void say_findings(out *o, rec_session *s)
{
    char *text = tally_text(&s->opening);
    if (text[0])
        out_entry(o, "Findings", "%s", text + strcspn(text, ":") + 2);
    else
        out_entry(o, "Findings", "none while opening");
    free(text);
}

enum {
    COLUMN_TID = 2,
    COLUMN_ID = 9, /* text: only of traces */
    TASK_COLUMN_COUNT = 12
};

static const out_column task_columns[TASK_COLUMN_COUNT] = {
    {"track", "#", OUT_NUMBER, OUT_DATA_ONLY},         {"pid", "Process", OUT_NUMBER, OUT_ALWAYS},
    {"tid", "Task", OUT_NUMBER, OUT_ALWAYS},           {"parent", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"bytes", "Records", OUT_BYTES, OUT_ALWAYS},       {"begin_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"end_ns", "", OUT_MOMENT, OUT_DATA_ONLY},         {"begin", "Begins", OUT_TIME, OUT_TEXT_ONLY},
    {"duration_ns", "Duration", OUT_TIME, OUT_ALWAYS}, {"id", "Request", OUT_STRING, OUT_DATA_ONLY},
    {"name", "Name", OUT_STRING, OUT_ALWAYS},          {"program", "Program", OUT_STRING, OUT_IF_WIDE},
};

static int write_task(out *o, rec_session *s, uint32_t index)
{
    const lode_track *track = lode_recording_track(s->recording, index);
    lode_error error = {0};
    uint64_t begin = 0, end = 0;
    lode_status status = lode_track_interval(s->recording, index, &begin, &end, &error);
    int has_interval = status == LODE_OK;
    if (status < 0)
        return rec_error(s, &error);
    OUT_ROW(o, STYLE_PLAIN, index, (uint64_t)track->pid, (uint64_t)track->tid,
            out_u64_if(track->parent != 0, (uint64_t)track->parent), track->bytes,
            out_u64_if(has_interval, begin), out_u64_if(has_interval, end),
            out_u64_if(has_interval, begin - s->begin), out_u64_if(has_interval, end - begin),
            track->id[0] ? track->id : NULL, track->name, track->program[0] ? track->program : NULL);
    return EXIT_DONE;
}

static int write_tasks(out *o, rec_session *s, int is_verbose)
{
    uint32_t count = lode_recording_request_count(s->recording);
    uint64_t limit = s->shared->limit ? s->shared->limit : is_verbose ? count : SHOWN_TASKS;
    uint32_t shown = limit < count ? (uint32_t)limit : count;
    int status = EXIT_DONE;
    out_column columns[TASK_COLUMN_COUNT];
    memcpy(columns, task_columns, sizeof columns);
    if (lode_recording_has_requests(s->recording)) {
        columns[COLUMN_TID].title = "Thread";
        columns[COLUMN_ID].visibility = OUT_ALWAYS;
    }
    out_fact_rows(o, shown, count);
    out_table(o, OUT_MAIN, "tasks", columns, TASK_COLUMN_COUNT, UNIT_COUNT);
    for (uint32_t i = 0, written = 0; written < shown && status == EXIT_DONE; i++) {
        if (lode_track_main(s->recording, i) != i)
            continue;
        status = write_task(o, s, i);
        written++;
    }
    out_table_end(o);
    if (shown < count) {
        char all[COUNTED_SIZE];
        out_say(o, "showing %s of %s (--verbose shows all)", GROUPED(shown), rec_count_tracks(all, s, count));
    }
    return status;
}

static void print_text(out *o, rec_session *s, const track_sum *sum, int is_verbose)
{
    set_label_width(o, s->recording, is_verbose);
    out_entry(o, "Format", "%s", lode_recording_format(s->recording));
    say_facts(o, s->recording, is_verbose);
    say_tasks(o, s, sum);
    say_span(o, s);
    say_modules(o, s->recording, is_verbose);
    say_findings(o, s);
    out_gap(o);
}

/* A string, like all points in time. */
static void json_utc_offset(out *o, const lode_recording *recording)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)lode_recording_utc_offset(recording));
    OUT_FIELDS(o, "utc_offset_ns", digits);
}

static void print_json(out *o, rec_session *s, const track_sum *sum)
{
    OUT_FIELDS(o, "format", lode_recording_format(s->recording), "bytes", sum->bytes, "processes",
               sum->processes, "begin_ns", out_digits(s->begin), "end_ns", out_digits(s->end));
    json_utc_offset(o, s->recording);
    out_break(o);
    out_array(o, "facts");
    for (size_t i = 0; i < lode_recording_fact_count(s->recording); i++) {
        const lode_fact *fact = lode_recording_fact(s->recording, i);
        out_break(o);
        OUT_OBJECT(o, NULL, "key", fact->key, "value", fact->value);
    }
    out_array_end(o);
    out_break(o);
    out_array(o, "modules");
    for (uint32_t i = 0; i < lode_recording_module_count(s->recording); i++)
        OUT_ELEMENTS(o, lode_module_path(lode_recording_module(s->recording, i)));
    out_array_end(o);
    damage_with_notes(&s->opening);
    damage_write(o);
}

int info_recording(const invocation *call, int is_verbose)
{
    out *o = call->out;
    rec_session s;
    int status = rec_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = rec_find_interval(&s);
    if (status == EXIT_DONE) {
        track_sum sum = add_up(s.recording);
        out_begin(o, SCHEMA_INFO_RECORDING, s.path);
        if (is_verbose)
            info_json_fingerprint(o, s.path);
        if (out_format_of(o) == OUT_JSON)
            print_json(o, &s, &sum);
        else
            print_text(o, &s, &sum, is_verbose);
        status = write_tasks(o, &s, is_verbose || out_format_of(o) != OUT_TEXT);
        out_end(o);
    }
    rec_close(&s);
    return status;
}
