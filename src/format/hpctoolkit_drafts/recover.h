/* SPDX-License-Identifier: BSD-3-Clause */
/* Derives missing data: entry points from names of stand-in functions, scopes from their names. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_RECOVER_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_RECOVER_H

#include "model/database/database.h"

/* Sets the type and the propagation bit of a scope that has a name. */
void lode_drafts_scope(struct lode_scope *scope);
/* Sets the propagation bits of all contexts: scope "function" propagates to enclosing contexts. */
void lode_drafts_propagation(struct lode_context_tree *tree);

/*
 * Converts the children of the global context to entry points, and removes the one of idle threads:
 * its samples belong to the global context. Returns its id, or 0. Call it before indexing ids.
 */
uint32_t lode_drafts_entries(struct lode_context_tree *tree);
/* An entry point's stand-in function. Kinds that drafts do not have keep a name of their own. */
const char *lode_drafts_entry_function(unsigned entry, const char *name);
/* Drops trailing stand-in functions that no context uses any more. After the two above. */
void lode_drafts_trim_functions(lode_database *db);

#define DRAFTS_NO_ACTIVITY "<no activity>"

#endif
