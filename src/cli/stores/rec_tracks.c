/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks and requests by what people call them. */
#include "stores/rec_session.h"

#include "alloc.h"
#include "output/report.h"
#include "text/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests, by their numbers and ids ---- */

#define ID_SIZE      128
#define DIGITS_LEAST 4 /* of an id */

/* A decimal number; ids may begin with 0. False if it is not a possible track. */
static int is_track_number(const char *text, uint64_t *number)
{
    size_t length = strlen(text);
    if (text[0] == '0' || length == 0 || length > 10 || strspn(text, "0123456789") != length)
        return 0;
    *number = strtoull(text, NULL, 10);
    return 1;
}

/* Whether an id begins with these digits, whatever dashes either has. */
static int begins_with(const char *id, const char *digits)
{
    for (;; id++, digits++) {
        id += strspn(id, "-");
        digits += strspn(digits, "-");
        if (!*digits)
            return 1;
        if (tolower((unsigned char)*id) != tolower((unsigned char)*digits))
            return 0;
    }
}

static size_t count_digits(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += isxdigit((unsigned char)*text) != 0;
    return count;
}

static int report_ambiguous(const rec_session *s, const char *digits, uint32_t first, uint32_t second)
{
    return report("%s: several requests have an id that begins with '%s', such as %s and %s; use more digits",
                  s->path, digits, lode_recording_track(s->recording, first)->id,
                  lode_recording_track(s->recording, second)->id);
}

static int mark_id(const rec_session *s, unsigned char *is_taken, const char *digits)
{
    uint32_t count = lode_recording_track_count(s->recording), found = count;
    for (uint32_t i = 0; i < count; i++) {
        if (lode_track_main(s->recording, i) != i ||
            !begins_with(lode_recording_track(s->recording, i)->id, digits))
            continue;
        if (found < count)
            return report_ambiguous(s, digits, found, i);
        found = i;
    }
    if (found == count)
        return report("%s: no request has an id that begins with '%s' ('lode search --json %s' lists them)",
                      s->path, digits, s->path);
    is_taken[found] = 1;
    return EXIT_DONE;
}

/* A number that is too large for one may be the digits of an id. */
static int mark_trace(const rec_session *s, unsigned char *is_taken, const char *text)
{
    uint32_t count = lode_recording_track_count(s->recording);
    size_t digits = count_digits(text);
    uint64_t number;
    int is_counted = is_track_number(text, &number);
    if (is_counted && number <= count) {
        is_taken[lode_track_main(s->recording, (uint32_t)number - 1)] = 1;
        return EXIT_DONE;
    }
    if (digits == 0 || strspn(text, "0123456789abcdefABCDEF-") != strlen(text))
        return report("%s: '%s' is neither the number nor the id of a request ('lode search %s' lists them)",
                      s->path, text, s->path);
    if (is_counted && digits < DIGITS_LEAST)
        return report("%s: no request %s; there are %s ('lode search %s' lists them)", s->path, text,
                      GROUPED(count), s->path);
    if (digits < DIGITS_LEAST)
        return report("%s: --id needs at least %d digits of an id, not '%s'", s->path, DIGITS_LEAST, text);
    return mark_id(s, is_taken, text);
}

static int mark_traces(const rec_session *s, unsigned char *is_taken, const char *list)
{
    int status = EXIT_DONE;
    if (!lode_recording_has_requests(s->recording))
        return report("%s: --id is for recordings of requests; use --task to select tasks", s->path);
    if (!*list)
        return report("--id needs the number or the id of a request");
    while (*list && status == EXIT_DONE) {
        char text[ID_SIZE];
        size_t length = strcspn(list, ",");
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), list);
        status = mark_trace(s, is_taken, text);
        list += length + (list[length] == ',');
    }
    return status;
}

/* ---- tasks ---- */

#define TASK_NAME_SIZE 256

typedef enum match {
    BY_TID,
    BY_PID,
    BY_NAME,
    BY_PART_OF_NAME
} match;

static int is_task_id(const char *text, int32_t *number)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);
    *number = (int32_t)value;
    return end != text && *end == '\0' && value >= 0 && value <= INT32_MAX;
}

static int matches(const lode_track *track, match by, const char *name, int32_t number)
{
    switch (by) {
    case BY_TID:
        return track->tid == number;
    case BY_PID:
        return track->pid == number;
    case BY_NAME:
        return strcmp(track->name, name) == 0;
    case BY_PART_OF_NAME:
        return strstr(track->name, name) != NULL;
    }
    return 0;
}

/* Marks the tracks that match. Returns how many do. */
static uint32_t mark(const lode_recording *recording, unsigned char *is_taken, match by, const char *name,
                     int32_t number)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < lode_recording_track_count(recording); i++) {
        if (matches(lode_recording_track(recording, i), by, name, number)) {
            is_taken[i] = 1;
            found++;
        }
    }
    return found;
}

/* A number is a thread; a name is one that is equal or, if none is, one that contains it. */
static uint32_t mark_task(const lode_recording *recording, unsigned char *is_taken, const char *task)
{
    int32_t number;
    if (strncmp(task, "pid=", 4) == 0 && is_task_id(task + 4, &number))
        return mark(recording, is_taken, BY_PID, NULL, number);
    if (is_task_id(task, &number))
        return mark(recording, is_taken, BY_TID, NULL, number);
    uint32_t found = mark(recording, is_taken, BY_NAME, task, 0);
    return found ? found : mark(recording, is_taken, BY_PART_OF_NAME, task, 0);
}

static int mark_list(const rec_session *s, unsigned char *is_taken, const char *list)
{
    while (*list) {
        char task[TASK_NAME_SIZE];
        size_t length = strcspn(list, ",");
        snprintf(task, sizeof task, "%.*s", (int)(length < sizeof task ? length : sizeof task - 1), list);
        if (length == 0 || mark_task(s->recording, is_taken, task) == 0)
            return report("%s: no task '%s' ('lode info %s' lists them)", s->path, task, s->path);
        list += length + (list[length] == ',');
    }
    return EXIT_DONE;
}

/* Traces that are chosen by their ids must be of the tasks that are chosen, too. */
static uint32_t take_tracks(rec_session *s, const unsigned char *is_task, const unsigned char *is_trace)
{
    uint32_t count = lode_recording_track_count(s->recording), taken = 0;
    s->tracks = alloc_array(count, sizeof *s->tracks);
    for (uint32_t i = 0; i < count; i++) {
        /* Side tracks come with the main track of their request. */
        uint32_t main = lode_track_main(s->recording, i);
        if ((!s->shared->tasks || is_task[main]) && (!s->shared->ids || is_trace[main]))
            s->tracks[taken++] = i;
    }
    s->slice.tracks = s->tracks;
    s->slice.track_count = taken;
    return taken;
}

int rec_choose_tracks(rec_session *s)
{
    const char *tasks = s->shared->tasks, *ids = s->shared->ids;
    uint32_t count = lode_recording_track_count(s->recording);
    unsigned char *is_task = alloc_array(count, 1), *is_trace = alloc_array(count, 1);
    int status = EXIT_DONE;
    if (tasks && !*tasks)
        status = report("--task needs the name or the id of a task");
    else if (tasks)
        status = mark_list(s, is_task, tasks);
    if (status == EXIT_DONE && ids)
        status = mark_traces(s, is_trace, ids);
    if (status == EXIT_DONE && take_tracks(s, is_task, is_trace) == 0)
        status = report("%s: no request of --id belongs to a task of --task", s->path);
    free(is_task);
    free(is_trace);
    return status;
}
