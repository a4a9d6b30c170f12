/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/idle.h"
#include <pthread.h>
#include <stdlib.h>

enum {
    IDLE_MAX = 8
};

struct zor_cursors {
    pthread_mutex_t lock;
    struct zor_cursor *idle[IDLE_MAX];
    unsigned count;
};

struct zor_cursors *lode_zor_cursors_new(void)
{
    struct zor_cursors *cursors = calloc(1, sizeof *cursors);
    if (cursors)
        pthread_mutex_init(&cursors->lock, NULL);
    return cursors;
}

struct zor_cursor *lode_zor_cursors_take(struct zor_cursors *cursors)
{
    pthread_mutex_lock(&cursors->lock);
    struct zor_cursor *cursor = cursors->count > 0 ? cursors->idle[--cursors->count] : NULL;
    pthread_mutex_unlock(&cursors->lock);
    return cursor;
}

bool lode_zor_cursors_keep(struct zor_cursors *cursors, struct zor_cursor *cursor)
{
    pthread_mutex_lock(&cursors->lock);
    bool has_room = cursors->count < IDLE_MAX;
    if (has_room)
        cursors->idle[cursors->count++] = cursor;
    pthread_mutex_unlock(&cursors->lock);
    return has_room;
}

void lode_zor_cursors_end(struct zor_cursors *cursors)
{
    if (cursors)
        pthread_mutex_destroy(&cursors->lock);
    free(cursors);
}
