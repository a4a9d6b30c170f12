/* SPDX-License-Identifier: BSD-3-Clause */
/* Other programs: they start with the signals that a program expects. */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <sys/types.h>

typedef struct process_settings {
    const char *program;         /* its path */
    char *const *arguments;      /* as of execve */
    char *const *variables;      /* of its environment */
    int input, output, messages; /* open files: what it reads, writes and says */
    int has_own_group;
} process_settings;

/* 0, or -1: it cannot be started. */
int process_start(pid_t *pid, const process_settings *settings);

#endif
