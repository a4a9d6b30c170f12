/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lode record: chooses a tool, says what it chose, and runs it. It is a launcher: perf, uftrace and
 * hpcrun record.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "commands/record/launch.h"
#include "commands/record/permit.h"
#include "commands/record/program.h"
#include "commands/record/words.h"
#include "options/option.h"

/* Exit statuses besides those of the program: as env(1) and timeout(1) have them. */
enum {
    RECORD_FAILED = 125, /* nothing was recorded, or it cannot be read */
    RECORD_DENIED = 126, /* the program is there, but cannot be executed */
    RECORD_NOT_FOUND = 127
};

typedef enum record_tool {
    TOOL_PERF,
    TOOL_UFTRACE,
    TOOL_HPCRUN,
    TOOL_COUNT,
    TOOL_UNSAID = -1
} record_tool;

typedef enum record_stacks {
    STACKS_FP,
    STACKS_DWARF,
    STACKS_LBR,
    STACKS_NONE,
    STACKS_UNSAID = -1
} record_stacks;

typedef enum record_then {
    THEN_DIAGNOSE,
    THEN_TOP,
    THEN_VIEW,
    THEN_NONE,
    THEN_UNSAID = -1
} record_then;

extern const char *const tool_choices[], *const stacks_choices[], *const then_choices[];

typedef struct record_options {
    shared_options shared;
    int tool, stacks, then;
    const char *name;
    uint64_t time, pid, frequency, min_time, repeat;
    int off_cpu, dry_run;
} record_options;

/* ---- what will be run (plan.c, choose.c) ---- */

typedef struct plan {
    const record_options *options;
    const program *program; /* of no words: a process that runs is recorded */
    record_tool tool;
    permit permitted; /* for perf */
    record_stacks stacks;
    /* Each task of a launcher runs this program with the tool, which cannot see it otherwise. */
    int is_per_task;
    words added;
} plan;

/* Decides, and says why if `is_said`. EXIT_DONE, or the exit status after a message. */
int plan_make(plan *p, const record_options *options, const program *found, int is_said);
void plan_free(plan *p);
/* The argument vector for a store of this name. */
void plan_words(const plan *p, const char *store, words *list);
/* Why a tool was chosen; EXIT_DONE, or the exit status after a message. */
int choose_tool(plan *p, int is_said);
/* What is added to the environment of an interpreter, so that its functions have names. */
void plan_interpreter(plan *p, int is_said);

/* ---- where it goes (place.c) ---- */

typedef struct store_place {
    char name[PATH_MAX];  /* without what follows */
    char store[PATH_MAX]; /* what is opened */
    char about[PATH_MAX]; /* the small file beside it */
    unsigned number;      /* of the name; 0: none */
} store_place;

/* Finds a name that is free and, unless it is a rehearsal, takes it. EXIT_DONE, or a message. */
int place_take(store_place *place, const plan *p, int is_rehearsal);
/* The same name with another number, whether it is there or not. */
void place_sibling(const store_place *place, const plan *p, unsigned number, char store[PATH_MAX]);
/* Whether something was recorded: the file of perf is complete, a directory has files. */
int place_is_filled(const store_place *place, record_tool tool);
/* Removes what was taken and not filled. */
void place_discard(const store_place *place);
/* Bytes of all files of the store. */
uint64_t place_bytes(const store_place *place);

/* ---- the file beside it (about.c) ---- */

typedef struct about_run {
    uint64_t begin, end; /* nanoseconds since the epoch; 0: not yet */
    int status;
    int is_ended; /* by its time */
} about_run;

/* EXIT_DONE, or EXIT_TROUBLE after a message. */
int about_write(const plan *p, const store_place *place, const words *command, const about_run *run);

#endif
