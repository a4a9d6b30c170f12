/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options, declared as data: the parser, the help texts and the manual pages all read the same tables.
 *
 * Every command keeps its options in one struct that begins with a shared_options, so that an offset says where a
 * value goes, whoever declares the option.
 */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <stddef.h>
#include <stdint.h>

typedef enum option_kind {
    OPTION_FLAG,    /* int: set to 1 */
    OPTION_TEXT,    /* const char * */
    OPTION_COUNT,   /* uint64_t */
    OPTION_SIZE,    /* uint64_t: bytes */
    OPTION_REAL,    /* double */
    OPTION_PERCENT, /* double: a fraction */
    OPTION_MOMENT,  /* time_point */
    OPTION_CHOICE,  /* int: index into `choices` */
    OPTION_CHOICES  /* unsigned: one bit per choice; lists and repeats add up */
} option_kind;

/* A point in time, either since the first sample or since the epoch. */
typedef struct time_point {
    int is_given;
    int is_absolute;
    uint64_t nanoseconds;
} time_point;

typedef struct option_spec {
    const char *name; /* without the dashes; NULL ends a table */
    char letter;      /* or 0 */
    option_kind kind;
    const char *argument; /* what the argument is called; NULL: none, or the choices */
    const char *const *choices;
    size_t offset;
    const char *help;
} option_spec;

/* Options that mean the same in every command that has them. */
typedef struct shared_options {
    int help;
    int json;
    int csv;
    int color;
    const char *metric;
    const char *profiles;
    const char *output;
    uint64_t threads;
    uint64_t limit;
    int sort;
    time_point from;
    time_point to;
} shared_options;

enum {
    SHARED_JSON = 1u << 0,
    SHARED_CSV = 1u << 1,
    SHARED_METRIC = 1u << 2,
    SHARED_PROFILES = 1u << 3,
    SHARED_THREADS = 1u << 4,
    SHARED_COLOR = 1u << 5
};

/* In the order of the choices of --color. */
enum {
    COLOR_AUTO,
    COLOR_ALWAYS,
    COLOR_NEVER
};

/* The options of one command: its own, and those it shares. --help is always there. */
typedef struct option_set {
    const option_spec *own; /* ends with a NULL name; may be NULL */
    unsigned shared;        /* SHARED_... */
} option_set;

#define OPTION_LIST_MAX 32

/* All options of a set, for people in the order to show. Returns how many there are. */
size_t option_list(const option_set *set, const option_spec *list[OPTION_LIST_MAX]);

/* The argument as a help text shows it, such as "N" or "auto|always|never"; "" if there is none. */
void option_argument(const option_spec *option, char *buffer, size_t capacity);

typedef struct option_result {
    void *values;          /* a struct that begins with shared_options, holding the defaults */
    const char **operands; /* room for as many as there are arguments */
    size_t operand_count;
    char problem[256]; /* what is wrong, in words, if parsing fails */
} option_result;

/* Reads the arguments after the command's name. Returns 0, or -1 and the problem. */
int option_parse(const option_set *set, const char *command, int count, char **arguments,
                 option_result *result);

#endif
