/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options, declared as data: the parser, the help and the manual pages read the same tables.
 *
 * Every command has its options in one struct that begins with a shared_options; an offset says
 * where a value goes.
 */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include "text/calendar.h"

#include <lode/pool.h>

#include <stddef.h>
#include <stdint.h>

typedef enum option_kind {
    OPTION_FLAG,         /* int: set to 1 */
    OPTION_TEXT,         /* const char * */
    OPTION_TEXTS,        /* text_list: repeats add up */
    OPTION_STORES,       /* text_list: all arguments up to the next option */
    OPTION_COUNT,        /* uint64_t */
    OPTION_SIZE,         /* uint64_t: bytes */
    OPTION_REAL,         /* double */
    OPTION_PERCENT,      /* double: a fraction */
    OPTION_MOMENT,       /* time_point */
    OPTION_SPAN,         /* uint64_t: nanoseconds */
    OPTION_SPAN_OR_WORD, /* span_or_word: nanoseconds, or one of `choices` */
    OPTION_CHOICE,       /* int: index into `choices` */
    OPTION_CHOICES       /* unsigned: one bit per choice; lists and repeats add up */
} option_kind;

/* A point in time: after the first sample or event, in the clock of the store, or on the wall. */
typedef struct time_point {
    int is_given;
    int is_absolute;
    int is_calendar;
    uint64_t nanoseconds;
    calendar_time calendar; /* if so */
} time_point;

/* Nanoseconds, or one of the words that an option takes instead. */
typedef struct span_or_word {
    int word; /* index into `choices`; -1: none */
    uint64_t nanoseconds;
} span_or_word;

#define TEXT_LIST_MAX 64

/* What an option says that can be given several times. */
typedef struct text_list {
    const char *items[TEXT_LIST_MAX];
    size_t count;
} text_list;

typedef struct option_spec {
    const char *name; /* without the dashes; NULL ends a table */
    char letter;      /* or 0 */
    option_kind kind;
    const char *argument; /* what the argument is called, before any choices; NULL: none */
    const char *const *choices;
    size_t offset;
} option_spec;

/* Options that mean the same in every command that has them. */
typedef struct shared_options {
    int help;
    int json;
    int csv;
    int csv_raw;
    int markdown;
    const char *table; /* of several in CSV */
    int color;
    text_list metrics;
    const char *profiles;
    const char *output;
    uint64_t threads;
    uint64_t memory; /* budget in bytes; 0: the default */
    uint64_t limit;
    int sort;
    time_point from;
    time_point to;
    const char *tasks;
    const char *ids; /* of traces */
    uint64_t depth;
    uint64_t min_time;
    int names;
    int strict;
    int verbose;
    text_list include, exclude; /* patterns of functions */
    int no_sched;               /* off-CPU time is no call, */
    int sched;                  /* but for this */
    int estimate;               /* from a part of the events */
    const char *kinds;          /* a file of rules; NULL: none */
    int mpi;                    /* job_kind */
    uint64_t local_ranks;
    lode_comm *comm; /* no option: of tasks that run this call together; NULL: it is alone */
} shared_options;

enum {
    SHARED_JSON = 1u << 0,
    SHARED_CSV = 1u << 1,
    SHARED_METRIC = 1u << 2,   /* one */
    SHARED_METRICS = 1u << 13, /* several, or all */
    SHARED_PROFILES = 1u << 3,
    SHARED_THREADS = 1u << 4,
    SHARED_COLOR = 1u << 5,
    SHARED_MIN_TIME = 1u << 6,
    SHARED_DEPTH = 1u << 7,
    SHARED_NAMES = 1u << 8,
    SHARED_STRICT = 1u << 9,
    SHARED_FILTER = 1u << 20, /* --include, --exclude */
    SHARED_VERBOSE = 1u << 22,
    SHARED_MARKDOWN = 1u << 23,
    SHARED_NO_SCHED = 1u << 21,   /* off-CPU time is no call */
    SHARED_SCHED = 1u << 24,      /* it is one */
    SHARED_ANY_METRIC = 1u << 25, /* one, of recordings as well */
    SHARED_ANY_METRICS = 1u << 26,
    SHARED_KINDS = 1u << 27,                        /* rules for kinds of functions */
    SHARED_MEMORY = 1u << 28,                       /* of recordings that are read at once */
    SHARED_ESTIMATE = 1u << 29,                     /* of recordings, from a part of the events */
    SHARED_RANKS = 1u << 14,                        /* of a job, or of this process */
    SHARED_WINDOW = 1u << 10,                       /* --from, --to, --task and --id */
    SHARED_TIMES = 1u << 11,                        /* --from and --to, for all stores */
    SHARED_TRACKS = 1u << 12,                       /* --task and --id */
    SHARED_SLICE = SHARED_WINDOW | SHARED_MIN_TIME, /* a part of a recording */
    /* a part of a recording, or a time window of a database */
    SHARED_PART = SHARED_TIMES | SHARED_TRACKS | SHARED_MIN_TIME
};

/* The kinds of stores that an option or a command is for. */
enum {
    FOR_DATABASES = 1u << 0,
    FOR_RECORDINGS = 1u << 1,
    FOR_MEASUREMENTS = 1u << 2, /* of commands; options that are for all are for these, too */
    FOR_ALL = FOR_DATABASES | FOR_RECORDINGS
};

enum {
    COLOR_AUTO,
    COLOR_ALWAYS,
    COLOR_NEVER
};

enum {
    NAMES_SIMPLE,
    NAMES_FULL,
    NAMES_RAW,
    NAMES_BY_STORE /* not given: names_of_database, names_of_recordings */
};

/* Own and shared options of a command, and --help. Tables end with a NULL name; may be NULL. */
typedef struct option_set {
    const option_spec *own;
    const option_spec *of_databases; /* that have no meaning for another kind of store */
    const option_spec *of_recordings;
    unsigned shared;     /* SHARED_... */
    int ends_at_operand; /* what follows the first operand belongs to another program */
} option_set;

/* The number of bits for given options; a command with more options aborts the program. */
#define OPTION_LIST_MAX 64

typedef struct option_entry {
    const option_spec *option;
    unsigned stores; /* FOR_... */
} option_entry;

/* All options of a set, for people in the order to show. Returns how many there are. */
size_t option_list(const option_set *set, option_entry list[OPTION_LIST_MAX]);

/* The argument as a help text shows it, such as "N" or "auto|always|never"; "" if there is none. */
void option_argument(const option_spec *option, char *buffer, size_t capacity);

typedef struct option_result {
    void *values;          /* a struct that begins with shared_options, holding the defaults */
    const char **operands; /* room for as many as there are arguments */
    size_t operand_count;
    uint64_t given;    /* a bit for each of option_list */
    char problem[256]; /* what is wrong, in words, if parsing fails */
} option_result;

/* Reads the arguments after the command's name. Returns 0, or -1 and the problem. */
int option_parse(const option_set *set, const char *command, int count, char **arguments,
                 option_result *result);

/* The first given option that is not for stores of this kind (FOR_...); NULL if none. */
const option_spec *option_misplaced(const option_set *set, uint64_t given, unsigned store);

#endif
