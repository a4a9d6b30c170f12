/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/rec_session.h"

#include "host.h"
#include "options/moment.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define ESTIMATE_PARTS     256
#define FINDINGS_PER_TRACK 100 /* that a pass over all calls hands on, of each rule */

int rec_error(rec_session *s, const lode_error *error)
{
    progress_clear(&s->progress);
    return report_error(s->path, error);
}

int rec_on_finding(void *user, const lode_finding *finding)
{
    rec_session *s = user;
    tally_add(&s->reading, finding);
    return 0;
}

int rec_on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    rec_session *s = user;
    return progress_report(&s->progress, phase, done, total);
}

static int on_opening(void *user, const lode_finding *finding)
{
    rec_session *s = user;
    tally_add(&s->opening, finding);
    return 0;
}

static int open_recording(rec_session *s, const char *path, const shared_options *shared, const char *ids)
{
    lode_error error = {0};
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    *s = (rec_session){.path = path, .shared = shared, .slice = LODE_SLICE_INIT};
    progress_init(&s->progress);
    const host_store *open = shared->strict ? NULL : host_find_store(path);
    s->is_borrowed = open && open->recording;
    if (s->is_borrowed) {
        s->recording = open->recording;
        tally_merge(&s->opening, &open->opening, LODE_NOTE);
        damage_add(path, &open->checking);
        damage_attach(path, &s->opening, &s->reading);
        return EXIT_DONE;
    }
    options.strict = shared->strict;
    options.on_finding = on_opening;
    options.on_progress = rec_on_progress;
    options.user = s;
    options.threads = rec_threads(s);
    options.memory = shared->memory;
    options.ids = ids;
    char *directory = store_cache();
    options.index_directory = directory;
    lode_store_kind kind = LODE_STORE_RECORDING;
    lode_status status = lode_open(NULL, &s->recording, &kind, path, &options, &error);
    free(directory);
    progress_clear(&s->progress);
    if (status != LODE_OK && kind == LODE_STORE_DATABASE)
        return report("%s is a database; expected a recording", path);
    if (status != LODE_OK)
        return store_unopened(path, &error);
    damage_check(&(damage_request){path, NULL, DAMAGE_READ_BYTES, shared->threads});
    damage_attach(path, &s->opening, &s->reading);
    return EXIT_DONE;
}

int rec_open(rec_session *s, const char *path, const shared_options *shared)
{
    return open_recording(s, path, shared, NULL);
}

/* Notes are not damage; data always has them. */
static lode_severity least_shown(const rec_session *s)
{
    return s->shared->verbose || s->shows_notes ? LODE_NOTE : LODE_WARNING;
}

void rec_close(rec_session *s)
{
    rec_free_calltree(s);
    rec_free_calls(s);
    rec_free_diagnosis(s);
    progress_clear(&s->progress);
    damage_detach(&s->opening, least_shown(s));
    tally_free(&s->opening);
    tally_free(&s->reading);
    free(s->tracks);
    report_look(s->path);
    if (!s->is_borrowed)
        lode_recording_close(s->recording);
}

int rec_find_interval(rec_session *s)
{
    lode_error error = {0};
    int is_first = 1;
    if (s->has_interval)
        return EXIT_DONE;
    for (uint32_t i = 0; i < lode_recording_track_count(s->recording); i++) {
        uint64_t begin, end;
        lode_status status = lode_track_interval(s->recording, i, &begin, &end, &error);
        if (status < 0)
            return rec_error(s, &error);
        if (status != LODE_OK)
            continue;
        s->begin = is_first || begin < s->begin ? begin : s->begin;
        s->end = is_first || end > s->end ? end : s->end;
        is_first = 0;
    }
    uint64_t end;
    if (lode_recording_is_part(s->recording, &end)) {
        s->begin = 0;
        s->end = end;
    }
    s->has_interval = 1;
    return EXIT_DONE;
}

static int set_window(rec_session *s)
{
    const time_point *from = &s->shared->from, *to = &s->shared->to;
    if (!from->is_given && !to->is_given)
        return EXIT_DONE;
    int status = rec_find_interval(s);
    if (status != EXIT_DONE)
        return status;
    uint64_t utc;
    store_clock clock = {.path = s->path, .begin = s->begin, .end = s->end};
    clock.has_utc = rec_utc(s, s->begin, &utc);
    clock.utc_offset = clock.has_utc ? utc - s->begin : 0;
    if (moment_resolve(from, "from", &clock, 0, &s->slice.from) != EXIT_DONE ||
        moment_resolve(to, "to", &clock, 0, &s->slice.to) != EXIT_DONE)
        return EXIT_TROUBLE;
    int is_empty = to->is_given && s->slice.from >= s->slice.to;
    if (is_empty || s->slice.from > s->end)
        return report("%s: --from must be before --to and before the end of the recording", s->path);
    return EXIT_DONE;
}

/* Of the metrics that a recording has, times of calls are asked for. */
static int choose_metric(rec_session *s)
{
    const text_list *metrics = &s->shared->metrics;
    if (metrics->count > 1)
        return report("%s is a recording; --metric takes one of time and running", s->path);
    const char *name = metrics->count ? metrics->items[0] : "time";
    s->is_running = strcasecmp(name, "running") == 0;
    if (!s->is_running && strcasecmp(name, "time") != 0)
        return report("%s: a recording has the metrics time and running, not '%s'", s->path, name);
    return s->is_running ? rec_needs_sched(s) : EXIT_DONE;
}

static int open_slice(rec_session *s, const char *path, const shared_options *shared, const char *ids)
{
    int status = open_recording(s, path, shared, ids);
    if (status == EXIT_DONE)
        status = set_window(s);
    if (status == EXIT_DONE && (shared->tasks || shared->ids))
        status = rec_choose_tracks(s);
    if (status != EXIT_DONE)
        return status;
    s->slice.depth = (uint32_t)(shared->depth < UINT32_MAX ? shared->depth : 0);
    s->slice.min_time = shared->min_time;
    s->slice.no_sched = shared->no_sched && !shared->sched;
    return choose_metric(s);
}

int rec_open_slice(rec_session *s, const char *path, const shared_options *shared)
{
    return open_slice(s, path, shared, NULL);
}

/* Tasks and a time window are those of the whole store. */
int rec_open_requests(rec_session *s, const char *path, const shared_options *shared)
{
    int is_part = !shared->tasks && !shared->from.is_given && !shared->to.is_given;
    return open_slice(s, path, shared, is_part ? shared->ids : NULL);
}

int rec_needs_sched(const rec_session *s)
{
    if (lode_recording_has_sched(s->recording))
        return EXIT_DONE;
    return report("%s: off-CPU time was not recorded, so running time is not known", s->path);
}

int rec_utc(const rec_session *s, uint64_t time, uint64_t *utc)
{
    int64_t offset = lode_recording_utc_offset(s->recording);
    if (offset <= 0 || time > (uint64_t)INT64_MAX - (uint64_t)offset)
        return 0;
    *utc = time + (uint64_t)offset;
    return 1;
}

uint32_t rec_track_count(const rec_session *s)
{
    uint32_t count = 0;
    if (!s->slice.tracks)
        return lode_recording_request_count(s->recording);
    for (uint32_t i = 0; i < s->slice.track_count; i++)
        count += lode_track_main(s->recording, s->slice.tracks[i]) == s->slice.tracks[i];
    return count;
}

const char *rec_track_word(const rec_session *s)
{
    return lode_recording_has_requests(s->recording) ? "request" : "task";
}

const char *rec_count_tracks(char buffer[COUNTED_SIZE], const rec_session *s, uint64_t count)
{
    return lode_recording_has_requests(s->recording) ? format_counted(buffer, count, "request", "requests")
                                                     : format_counted(buffer, count, "task", "tasks");
}

void rec_say_tracks(char *text, size_t capacity, const rec_session *s)
{
    char words[COUNTED_SIZE];
    snprintf(text, capacity, "%s", rec_count_tracks(words, s, rec_track_count(s)));
}

unsigned rec_threads(const rec_session *s)
{
    return (unsigned)(s->shared->threads < 4096 ? s->shared->threads : 4096);
}

lode_calls_options rec_calls_options(rec_session *s)
{
    s->reading.cap = FINDINGS_PER_TRACK;
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    options.threads = rec_threads(s);
    options.strict = s->shared->strict;
    options.is_running = s->is_running;
    options.parts = s->shared->estimate ? ESTIMATE_PARTS : 0;
    options.on_finding = rec_on_finding;
    options.on_progress = rec_on_progress;
    options.user = s;
    return options;
}

void rec_write_slice(out *o, const rec_session *s)
{
    OUT_FIELDS(o, "task_count", rec_track_count(s));
    if (s->slice.from)
        OUT_FIELDS(o, "from_ns", out_digits(s->slice.from));
    if (s->slice.to)
        OUT_FIELDS(o, "to_ns", out_digits(s->slice.to));
    if (s->shared->tasks)
        OUT_FIELDS(o, "task", s->shared->tasks);
    if (s->shared->ids)
        OUT_FIELDS(o, "id", s->shared->ids);
    if (s->slice.depth)
        OUT_FIELDS(o, "depth", s->slice.depth);
    if (s->slice.min_time)
        OUT_FIELDS(o, "min_time_ns", s->slice.min_time);
    if (s->is_running)
        OUT_FIELDS(o, "metric", "running");
    if (s->estimate)
        OUT_OBJECT(o, "estimate", "parts", s->estimate->parts, "parts_read", s->estimate->parts_read, "bytes",
                   s->estimate->bytes, "bytes_read", s->estimate->bytes_read);
}

void rec_say_estimate(out *o, const rec_session *s)
{
    char read[NUMBER_SIZE], all[NUMBER_SIZE], parts[NUMBER_SIZE];
    if (s->estimate == NULL)
        return;
    format_bytes(read, s->estimate->bytes_read);
    format_bytes(all, s->estimate->bytes);
    format_count(parts, s->estimate->parts_read);
    const char *of = COUNTED(s->estimate->parts, "part", "parts");
    /* In CSV, no column may say it. */
    if (out_format_of(o) == OUT_CSV)
        report("note: estimated from %s of %s, in %s of %s", read, all, parts, of);
    out_say(o, "Estimated from %s of %s, in %s of %s", read, all, parts, of);
}
