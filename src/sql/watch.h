/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that looks whether a statement ends when it has to. SQLite asks between its
 * instructions only, and one call of printf() or replace() is an instruction that can take hours.
 */
#ifndef SQL_WATCH_H
#define SQL_WATCH_H

#include "sql/sql.h"

#include <pthread.h>
#include <stdatomic.h>

/* For those who have the lock, but for the settings and what is atomic. */
typedef struct sql_watch {
    const sql_settings *settings;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_started, is_over;
    int is_running;       /* a statement is */
    uint64_t deadline;    /* of the statement; 0: none */
    atomic_int is_inside; /* of SQLite, not of what is done with rows */
} sql_watch;

/* Does nothing if the settings have no on_stuck. */
void sql_watch_open(sql_watch *w, const sql_settings *settings);
void sql_watch_close(sql_watch *w);
/* A statement begins; it has to end at the deadline. */
void sql_watch_begin(sql_watch *w, uint64_t deadline);
void sql_watch_end(sql_watch *w);

#endif
