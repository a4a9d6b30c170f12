/* SPDX-License-Identifier: BSD-3-Clause */
/* The line that is to be recorded: which of its words is the program, and what that one is. */
#ifndef RECORD_PROGRAM_H
#define RECORD_PROGRAM_H

#include "commands/record/binary.h"

#include <stddef.h>

typedef enum interpreter {
    INTERPRETER_NONE,
    INTERPRETER_PYTHON,
    INTERPRETER_NODE
} interpreter;

typedef struct program {
    const char *const *line;
    size_t count;
    const char *launcher; /* of MPI, such as "mpirun"; NULL: none */
    int is_elsewhere;     /* its tasks are not its children: they may be on other machines */
    size_t first;         /* word of the line that is the program: 0 without a launcher */
    char path[PATH_MAX];  /* of the program; "" if it was not found */
    int is_denied;        /* it is there, but cannot be executed */
    binary file;
    interpreter interpreter;
    int version;   /* of Python, such as 311; 0: unknown */
    char name[64]; /* for a store */
} program;

/* Looks at a line of one word or more. */
void program_look(const char *const *line, size_t count, program *found);
/* The name of a store for a process, such as that of /proc/PID/comm. */
void program_name(const char *text, char name[64]);
/* The path of an executable file, as exec finds it; 0 if there is none (errno). */
int program_find(const char *word, char path[PATH_MAX]);
const char *program_base(const char *path);

#endif
