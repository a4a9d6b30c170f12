/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs commands in a forked process: pays the start of a sanitizer only once. */
#ifndef LODE_TESTS_CAMPAIGN_RUN_H
#define LODE_TESTS_CAMPAIGN_RUN_H

#include "commands.h"

enum outcome {
    RUN_DONE,   /* the command ended, well or not */
    RUN_CRASH,  /* a signal, or what a sanitizer says */
    RUN_HANG,   /* exceeded its CPU time, or made no progress */
    RUN_SILENT, /* it says that all is well, and what it wrote is damaged */
    RUN_DOUBT,  /* the same, but what is found is a warning */
    RUN_LEFT,   /* it failed and left something, or wrote beside its output */
};

struct result {
    enum outcome outcome;
    int status;
    double seconds; /* of CPU time */
    size_t written; /* bytes of text and of the output */
    size_t check_errors, check_warnings;
    bool checked;
};

enum {
    MOST_SECONDS = 2
};

/*
 * Runs commands in the current directory, where `in` is, in as few processes as possible. Messages
 * of a failed command N are in `said-N`, those of the check of its output in `checked-N`. Returns
 * the largest memory of a process in KiB.
 */
long run_commands(const struct command *commands, size_t count, struct result *results);

/* What the sanitizer says it is, or the rule that is broken. */
void run_signature(char *to, size_t size, const struct result *result, size_t number);

#endif
