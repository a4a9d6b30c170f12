/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/rec_tasks.h"

#include "alloc.h"
#include "commands/rec_traces.h"
#include "output/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK_NAME_SIZE 256

typedef enum match {
    BY_TID,
    BY_PID,
    BY_NAME,
    BY_PART_OF_NAME
} match;

static int is_number(const char *text, int32_t *number)
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
    if (strncmp(task, "pid=", 4) == 0 && is_number(task + 4, &number))
        return mark(recording, is_taken, BY_PID, NULL, number);
    if (is_number(task, &number))
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
    for (uint32_t i = 0; i < count; i++)
        if ((!s->shared->tasks || is_task[i]) && (!s->shared->ids || is_trace[i]))
            s->tracks[taken++] = i;
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
        status = rec_mark_traces(s, is_trace, ids);
    if (status == EXIT_DONE && take_tracks(s, is_task, is_trace) == 0)
        status = report("%s: no trace of --id is one of a task of --task", s->path);
    free(is_task);
    free(is_trace);
    return status;
}
