/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to people, on standard error: one line each. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <lode/unstable.h>

enum exit_status {
    EXIT_DONE = 0,
    EXIT_FINDINGS = 1, /* a check was carried out and found errors */
    EXIT_TROUBLE = 2   /* what was asked for could not be done */
};

/* Whether to print nothing: another process of the job does. */
void report_quietly(int is_quiet);
/* Prints "lode: ..." and returns EXIT_TROUBLE, for `return report(...)` at the end of a command. */
int report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a text of any length, such as a command that is to be typed. */
void report_whole(const char *text);
/* The same for an error of the library about `subject`: a path, or NULL. */
int report_error(const char *subject, const lode_error *error);
/* Before a store is closed: notes whether one of its files has become shorter while it was read. */
void report_look(const char *path);
/* Says so, once, and returns EXIT_TROUBLE; `status` if nothing was noted. */
int report_lost(int status);
/* Likewise for a store that was not written: explains how to replace an existing one. */
int report_unwritten(const char *path, const lode_error *error);
/* Replaces the progress line; "" removes it. Only if standard error is a terminal. */
void report_status(const char *text);

#endif
