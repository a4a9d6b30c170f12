/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of threads and processes. Viewers group by them: thread numbers must be positive and
 * unique over the whole file, and without a thread of the number of its process, they show one
 * that is not there.
 */
#include "base/error.h"
#include "base/memory/map.h"
#include "export/timelines/tracks_parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct numbers {
    struct lode_map used;
    int32_t next; /* the last one that was given */
};

/* Takes a recorded number if it is good and free. */
static bool take(struct numbers *numbers, int32_t number, bool *taken)
{
    *taken = false;
    return number <= 0 || lode_map_add(&numbers->used, (uint32_t)number, 1, taken) != NULL;
}

/* A number that is free. There are more of them than lines can be. */
static bool give(struct numbers *numbers, int32_t *number)
{
    bool taken = false;
    while (!taken) {
        numbers->next = numbers->next == INT32_MAX ? 1 : numbers->next + 1;
        if (!take(numbers, numbers->next, &taken))
            return false;
    }
    *number = numbers->next;
    return true;
}

/* "worker (tid 7)": keeps the recorded number. */
static const char *with_number(struct lode_tracks *self, const char *name, const char *what, int32_t number)
{
    size_t size = strlen(name) + 32;
    char *text = lode_arena_alloc(&self->arena, size, 1);
    if (text)
        snprintf(text, size, "%s (%s %" PRId32 ")", name, what, number);
    return text;
}

static bool number_threads(struct lode_tracks *self, struct numbers *numbers)
{
    uint8_t *renumbered = calloc((size_t)self->line_count + 1, 1);
    bool done = renumbered != NULL, taken;
    for (uint32_t i = 0; i < self->line_count && done; i++) {
        done = take(numbers, self->lines[i].tid, &taken);
        renumbered[i] = !taken;
        if (taken && self->lines[i].tid > numbers->next)
            numbers->next = self->lines[i].tid;
    }
    for (uint32_t i = 0; i < self->line_count && done; i++) {
        struct lode_line *line = &self->lines[i];
        int32_t recorded = line->tid;
        if (!renumbered[i])
            continue;
        done = give(numbers, &line->tid);
        /* The names of profiles say it all. */
        if (done && self->options.db == NULL)
            line->name = with_number(self, line->name, "tid", recorded);
        done = done && line->name;
    }
    free(renumbered);
    return done;
}

/* Whether a thread of another process has the number: viewers would show it in both. */
static bool is_of_another(const struct lode_map *owners, uint32_t process, int32_t pid)
{
    const uint32_t *owner = lode_map_get(owners, (uint32_t)pid);
    return owner && *owner != process;
}

/*
 * A process without a good number gets that of its first thread. No other has it: a recorded
 * number that is that of a thread of another process is not good.
 */
static bool number_processes(struct lode_tracks *self)
{
    struct lode_map owners; /* processes by thread number */
    bool done = true, added;
    lode_map_init(&owners);
    for (uint32_t i = 0; i < self->line_count && done; i++)
        done = lode_map_add(&owners, (uint32_t)self->lines[i].tid, self->lines[i].process, &added) != NULL;
    for (uint32_t i = 0; i < self->process_count && done; i++) {
        struct lode_tracks_process *process = &self->processes[i];
        int32_t recorded = process->pid;
        if (recorded > 0 && !is_of_another(&owners, i, recorded))
            continue;
        process->pid = self->lines[process->first_line].tid;
        if (recorded > 0)
            process->name = with_number(self, process->name, "pid", recorded);
        done = process->name != NULL;
    }
    lode_map_free(&owners);
    return done;
}

lode_status lode_tracks_number_lines(struct lode_tracks *self, lode_error *error)
{
    struct numbers threads = {.next = 0};
    lode_map_init(&threads.used);
    /* New numbers are above those of processes too. */
    for (uint32_t i = 0; i < self->process_count; i++)
        if (self->processes[i].pid > threads.next)
            threads.next = self->processes[i].pid;
    bool done = number_threads(self, &threads) && number_processes(self);
    lode_map_free(&threads.used);
    return done ? LODE_OK : lode_fail_memory(error);
}
