/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a database as JSON, streamed: memory does not grow with the database. */
#ifndef CLI_DUMP_H
#define CLI_DUMP_H

#include "output/json.h"

#include <lode/lode.h>

/* Each writes members of the object that is open. */
void dump_meta(out *o, const lode_database *db);
lode_status dump_profiles(out *o, const lode_database *db, lode_error *error);
lode_status dump_contexts(out *o, const lode_database *db, lode_error *error);
lode_status dump_traces(out *o, const lode_database *db, lode_error *error);

#endif
