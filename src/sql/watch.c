/* SPDX-License-Identifier: BSD-3-Clause */
#include "sql/watch.h"

#include "sql/engine.h"

#include <time.h>

#define LOOK_NS  UINT64_C(50000000)  /* between two looks */
#define GRACE_NS UINT64_C(300000000) /* for a statement to end by itself */
#define SECOND   UINT64_C(1000000000)

/* A statement that waits for the reader of its rows is not late, but a signal ends it. */
static int is_late(sql_watch *w)
{
    return w->deadline && sql_now() > w->deadline && atomic_load(&w->is_inside);
}

static int is_due(const sql_watch *w)
{
    return w->settings->is_due && w->settings->is_due();
}

static void end_program(const sql_watch *w)
{
    sql_error error;
    sql_fail_stopped(w->settings, !is_due(w), &error);
    w->settings->on_stuck(&error);
}

static void wait_until(sql_watch *w, uint64_t moment)
{
    struct timespec until = {.tv_sec = (time_t)(moment / SECOND), .tv_nsec = (long)(moment % SECOND)};
    pthread_cond_timedwait(&w->changed, &w->lock, &until);
}

/* Looks until the statement has ended, or should have for long enough. */
static void watch_statement(sql_watch *w)
{
    uint64_t since = 0; /* when it was to end; 0: it is not */
    while (w->is_running && !w->is_over) {
        uint64_t now = sql_now();
        if (!is_due(w) && !is_late(w))
            since = 0;
        else if (!since)
            since = now;
        else if (now - since > GRACE_NS)
            end_program(w);
        wait_until(w, now + LOOK_NS);
    }
}

static void *watch(void *user)
{
    sql_watch *w = user;
    pthread_mutex_lock(&w->lock);
    while (!w->is_over) {
        if (w->is_running)
            watch_statement(w);
        else
            pthread_cond_wait(&w->changed, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void sql_watch_open(sql_watch *w, const sql_settings *settings)
{
    pthread_condattr_t attributes;
    *w = (sql_watch){.settings = settings};
    if (!settings->on_stuck)
        return;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    w->is_started = pthread_create(&w->thread, NULL, watch, w) == 0;
    if (!w->is_started) {
        pthread_cond_destroy(&w->changed);
        pthread_mutex_destroy(&w->lock);
    }
}

static void set(sql_watch *w, int is_running, int is_over, uint64_t deadline)
{
    if (!w->is_started)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_running = is_running;
    w->is_over = is_over;
    w->deadline = deadline;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void sql_watch_begin(sql_watch *w, uint64_t deadline)
{
    set(w, 1, 0, deadline);
}

void sql_watch_end(sql_watch *w)
{
    set(w, 0, 0, 0);
}

void sql_watch_close(sql_watch *w)
{
    if (!w->is_started)
        return;
    set(w, 0, 1, 0);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}
