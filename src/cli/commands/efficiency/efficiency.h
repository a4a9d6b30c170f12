/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `lode efficiency`. */
#ifndef CLI_COMMANDS_EFFICIENCY_H
#define CLI_COMMANDS_EFFICIENCY_H

#include "command.h"
#include "stores/session.h"

typedef struct efficiency_options {
    shared_options shared;
    const char *by;
    uint64_t phases;
    int weak;
} efficiency_options;

/* An open database and its efficiencies. */
typedef struct efficiency_store {
    session s;
    unsigned kinds[LODE_GROUP_KINDS]; /* of groups */
    size_t kind_count;
    uint64_t start; /* of trace lines */
    lode_efficiencies *efficiencies;
} efficiency_store;

/* EXIT_DONE, or EXIT_TROUBLE after a message; efficiency_close is due in both cases. */
int efficiency_open(efficiency_store *store, const invocation *call, const char *path);
void efficiency_close(efficiency_store *store);
/* What the data cannot tell, in text. */
void efficiency_say_notes(out *o, const efficiency_store *store);

/* Several runs: how efficiencies change with the number of threads. */
int efficiency_scaling(const invocation *call);

#endif
