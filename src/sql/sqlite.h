/* SPDX-License-Identifier: BSD-3-Clause */
/* SQLite as the program has it, which loads it when needed, or as the host of an extension. */
#ifndef SQL_SQLITE_H
#define SQL_SQLITE_H

#if !defined(SQL_IS_EXTENSION)
#define sqlite3_api sql_sqlite_functions
#endif
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;

#endif
