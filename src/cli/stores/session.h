/* SPDX-License-Identifier: BSD-3-Clause */
/* Common start of commands on databases: the open database, requested metric and profiles. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "options/metric_list.h"
#include "options/option.h"
#include "output/out.h"
#include "output/progress.h"

#include <lode/unstable.h>

typedef struct session {
    const char *path;
    const shared_options *shared;
    lode_database *db;
    int is_borrowed;           /* the host has it open */
    lode_selection *selection; /* NULL: all profiles */
    const lode_metric *metric; /* NULL: none was asked for, or no single one */
    metric_list metrics;       /* all that were asked for */
    progress progress;
    char *cost_key; /* of the costs that were computed last, in the host's cache; NULL: not there */
} session;

/*
 * Returns EXIT_DONE, or EXIT_TROUBLE after a message; session_close is due in both cases. More than
 * one metric, and formulas, are for commands that use session_open_metrics.
 */
int session_open(session *s, const char *path, const shared_options *shared);
int session_open_metrics(session *s, const char *path, const shared_options *shared);
/* The database that is built from measurements (measured.h). */
int session_open_measured(session *s, const char *path, const shared_options *shared);
void session_close(session *s);

/* Sets the error for records that share content and exceed the file of their part in total. */
lode_status session_shared(const lode_database *db, lode_part part, lode_error *error);
/* Says what the library said about this database. */
int session_error(session *s, const lode_error *error);

/* Takes the default metric, if none was asked for. */
int session_need_metric(session *s);
/* The sum over all profiles of a metric, execution scope, at the global context; 0 if none. */
double session_metric_total(const session *s, const lode_metric *metric);

/* Says, in text, that nobody asked for the metric that is shown, if there are others. */
void session_say_default(out *o, const session *s);

/* Whether --from or --to was given. */
int session_has_window(const session *s);
/*
 * The time window that --from and --to give in the trace lines, and where these begin. Without
 * both options, from the first sample to the last. EXIT_TROUBLE after a message.
 */
int session_window(session *s, uint64_t *start, uint64_t *from, uint64_t *to);

/*
 * The costs of the session's metric and profiles; with a time window, from trace lines. A host may
 * have them already.
 */
int session_cost(session *s, lode_cost **cost);
/* NULL is allowed. */
void session_free_cost(lode_cost *cost);

/* Hotspots of the costs that were computed last; a host may have them. EXIT_TROUBLE: a message. */
int session_hotspots(session *s, const lode_cost *cost, const lode_hotspot_options *options,
                     lode_hotspots **rows);
/* NULL is allowed. */
void session_free_hotspots(lode_hotspots *rows);

#endif
