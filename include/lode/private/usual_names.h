/* SPDX-License-Identifier: BSD-3-Clause */
/* The form in which the functions of a store are shown to who does not ask for one. */
#ifndef LODE_PRIVATE_USUAL_NAMES_H
#define LODE_PRIVATE_USUAL_NAMES_H

#include <lode/database.h>
#include <lode/name.h>

LODE_BEGIN_DECLS

/*
 * LODE_NAME_SIMPLE if names come from symbols of binaries, whose signatures nobody chose to
 * store; else LODE_NAME_FULL: the names are what the writer of the database wrote. MT: any thread.
 */
LODE_API lode_name_form lode_database_usual_names(const lode_database *db);

LODE_END_DECLS
#endif
