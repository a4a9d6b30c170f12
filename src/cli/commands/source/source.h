/* SPDX-License-Identifier: BSD-3-Clause */
/* Annotated source: which file and lines, and what they cost. */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "command.h"

/* The cost of one line. Of recordings: self and total time in nanoseconds, and calls. */
typedef struct source_cost {
    uint32_t line;
    double exclusive, inclusive;
    uint64_t calls;
} source_cost;

/* A function that has a cost. */
typedef struct source_function {
    const lode_function *function;
    double exclusive;
} source_function;

/* What is asked for. Files of one path are one file. */
typedef struct source_target {
    const lode_file *file;
    const lode_function *function; /* NULL: a file, or a line of it */
    uint32_t line;                 /* of the definition, or the line that was asked for; 0: none */
    uint32_t first, last;          /* lines to show; 0 and 0: of the whole file */
    uint32_t *lines;               /* of a function, ascending: the only ones to show; NULL: all */
    size_t line_count;
} source_target;

/* Functions in the order of falling cost, and all source files. Starts as all zero. */
typedef struct source_functions {
    source_function *items;
    size_t count, capacity;
    const lode_file **files;
    size_t file_count, file_capacity;
} source_functions;

typedef struct source_costs {
    source_cost *items; /* by line */
    size_t count, capacity;
    double total;          /* of the store */
    double file_exclusive; /* of all lines of the file */
    double without_line;   /* in the file, but at no known line */
} source_costs;

typedef struct source_settings {
    shared_options shared;
    uint64_t around;
    int all;
    text_list source_paths;
} source_settings;

/*
 * Finds what `text` (NULL: the function with the highest cost) names: FILE:LINE, a function or a
 * file. EXIT_TROUBLE after a message.
 */
int source_find(source_target *target, const source_functions *functions, const char *text, const char *store,
                int names);
/* Adds a function to the list; sort with source_functions_sort. */
void source_functions_add(source_functions *functions, const lode_function *function, double exclusive);
void source_functions_sort(source_functions *functions);
void source_functions_add_file(source_functions *functions, const lode_file *file);
void source_functions_free(source_functions *functions);
int source_same_file(const lode_file *a, const lode_file *b);

/* Adds the cost of a line; sort and merge with source_costs_finish. */
void source_costs_add(source_costs *costs, const source_cost *cost);
void source_costs_finish(source_costs *costs);

/* Prints the table, for either kind of store. */
void source_print(const invocation *call, const source_target *target, const source_costs *costs,
                  metric_unit unit);

#endif
