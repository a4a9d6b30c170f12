/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands, declared as data: what they are called, what they take, what runs them. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "options/option.h"
#include "output/out.h"

#include <lode/unstable.h>

typedef struct command_spec command_spec;

/* One call of a command. */
typedef struct invocation {
    const command_spec *command;
    const void *options;          /* the command's struct */
    const shared_options *shared; /* the beginning of the same */
    const char *const *operands;
    size_t operand_count;
    uint64_t given;               /* options, as in option_result */
    lode_store_kind kind;         /* of the store that the first operand names, if any */
    const lode_kind_rules *kinds; /* of --kinds, or of the host; NULL: none */
    const char *kinds_path;       /* of their file; NULL: none */
    out *out;
} invocation;

struct command_spec {
    const char *name;
    const char *operands; /* as in a synopsis */
    size_t min_operands, max_operands;
    unsigned stores; /* FOR_...: what the first operand may be; 0: not a store */
    /* Measurements stand for the database that is built from them, and take its options. */
    int builds_measurements;
    int has_sides; /* all operands are stores; the command opens them, and checks the options */
    /* May be NULL: the command needs a store. Whether the options ask for something without one. */
    int (*needs_no_store)(const invocation *call);
    option_set options;
    int is_json; /* without being asked */
    size_t options_size;
    const void *defaults; /* NULL: all zero */
    /*
     * FOR_...: stores that the tasks of a launcher share out; of others, the first task does all.
     * 0: the command does not use MPI.
     */
    unsigned on_ranks;
    /* May be NULL. Validates the call before the store is opened; EXIT_DONE if it is valid. */
    int (*usage)(const invocation *call);
    int (*run)(const invocation *call);
};

/* Every command of the table. */
#define COMMAND_GROUP(title)
#define COMMAND(name) extern const command_spec command_##name;
#include "commands.def"
#undef COMMAND
#undef COMMAND_GROUP

/* NULL past the last. */
const command_spec *command_at(size_t index);
/* The title of the group that begins with this command; NULL if none does. */
const char *command_group_at(size_t index);
/* NULL if there is none of that name. */
const command_spec *command_find(const char *name);
/* Runs a command with the arguments that follow its name; returns the exit status. */
int command_run(const command_spec *command, int count, char **arguments);
/* Says on standard error that there is no such command, and which one may have been meant. */
int command_unknown(const char *name);

#endif
