/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements for commands that are about databases: the database that is built from them. */
#ifndef CLI_MEASURED_H
#define CLI_MEASURED_H

#include "options/option.h"
#include "plugin.h"

#include <lode/unstable.h>

/* The program that reads binaries; NULL if there is none, after a message if it is refused. */
const char *measured_symbols(plugin *found);

/* The same, found once. MT: any thread. */
const char *measured_symbols_found(void);

/* The directory for what is found in binaries: NULL for that of the user, or "none". free() it. */
char *measured_cache(const char *named);

/*
 * Builds a database from measurements in a private directory below TMPDIR, opens it, and removes
 * the directory: the open database needs no names. Signals are held from then on. EXIT_TROUBLE
 * after a message.
 */
int measured_open(lode_database **db, const char *path, const shared_options *shared);

#endif
