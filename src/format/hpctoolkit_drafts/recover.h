/* SPDX-License-Identifier: BSD-3-Clause */
/* What the drafts do not say, from what they do: entry points by the names of stand-in functions, scopes by their names. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_RECOVER_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_RECOVER_H

#include "model/database.h"

/* Fills in the type and the propagation bit of a scope that has a name. */
void lode_drafts_scope(struct lode_scope *scope);
/* Sets the propagation bits of all contexts: the scope "function" passes values on to what encloses them. */
void lode_drafts_propagation(struct lode_context_tree *tree);

/*
 * Makes entry points of the children of the global context, and takes out the one that stands for a thread that did not run:
 * samples at it are samples at the global context. Returns its id, or 0. Before ids are made searchable.
 */
uint32_t lode_drafts_entries(struct lode_context_tree *tree);
/*
 * The name of the stand-in function of an entry point. One of an unknown kind, or of one that the drafts did not have, keeps its name
 * if it has one of its own.
 */
const char *lode_drafts_entry_function(unsigned entry, const char *name);
/* Drops stand-in functions that no context names any more, as far as they are the last ones. After the two above. */
void lode_drafts_trim_functions(lode_database *db);

#define DRAFTS_NO_ACTIVITY "<no activity>"

#endif
