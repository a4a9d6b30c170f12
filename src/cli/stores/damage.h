/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with the stores of a command. Whoever opens or reads a store adds what was found;
 * the command says it once: one line for each store on standard error, and `findings` in JSON.
 *
 * The list belongs to the thread that runs the command.
 */
#ifndef CLI_DAMAGE_H
#define CLI_DAMAGE_H

#include "output/out.h"
#include "stores/tally.h"

#include <lode/unstable.h>

/*
 * Reading alone does not see a value that is merely wrong, so small stores are checked at level
 * full when they are opened: some 3 ms of processor time per MB. What writes a store reads all of
 * its source anyway, and checks larger ones.
 */
#define DAMAGE_READ_BYTES  (UINT64_C(16) << 20)
#define DAMAGE_WRITE_BYTES (UINT64_C(64) << 20)

typedef struct damage_request {
    const char *path;
    const lode_database *db; /* NULL: it is not open, or no database */
    uint64_t most_bytes;     /* of a store that is checked at level full */
    uint64_t threads;        /* 0: one per processor */
} damage_request;

/* Before and after a command: nothing is known. */
void damage_begin(void);
/* A command that runs others has no list meanwhile, and its own one again afterwards. */
typedef struct damage_list damage_list;
damage_list *damage_suspend(void);
void damage_resume(damage_list *list);

/* Checks a store, once for each command, and adds what was found. Limits are lower for many. */
void damage_check(const damage_request *request);
/*
 * The same into a tally, for a host, which does it once for each store. Returns the level that was
 * reached, whether something was found or not.
 */
lode_check_level damage_count(const damage_request *request, tally *found);
/*
 * Of a store that is too large to be checked, what an answer is made of: costs of all profiles,
 * which are those of the summary.
 */
void damage_check_cost(const char *path, const lode_cost *cost);
/* Adds warnings and errors. A rule that is known has the larger of the two counts. */
void damage_add(const char *path, const tally *found);

/* Adds what two tallies, one after the other, will have counted when they are detached. */
void damage_attach(const char *path, const tally *opening, const tally *reading);
/* Notes of opening are of interest, too. */
void damage_with_notes(const tally *opening);
/* Before they are freed. `least` is the severity that is worth a line. */
void damage_detach(const tally *opening, lode_severity least);

/*
 * Before a store or a file is written: checks the source, and refuses, after a message, a database
 * that cannot be read completely. EXIT_DONE or EXIT_TROUBLE.
 */
int damage_refuse(const damage_request *request);
/* The same with a check at another level, if reading says what that does not look at. */
int damage_refuse_at(const damage_request *request, lode_check_level level);
/* Whether all these stores were checked at level full. */
int damage_is_known(const char *const *paths, size_t count);
/* A store or a file was written from the stores of this command. */
void damage_copied(const char *target);

/* JSON: the field `findings`, even if there are none. */
void damage_write(out *o);
/* Before the end of an answer: the same, if there are some and they are not written yet. */
void damage_write_rest(out *o);
/* Says what was found, unless a host runs the command. */
void damage_say(lode_severity least);

#endif
