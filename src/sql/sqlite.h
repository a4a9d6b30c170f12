/* SPDX-License-Identifier: BSD-3-Clause */
/* SQLite: that of the host, of an extension; that of the library, of the program, which loads it when it is needed. */
#ifndef SQL_SQLITE_H
#define SQL_SQLITE_H

#if !defined(SQL_IS_EXTENSION)
#define sqlite3_api sql_sqlite_functions
#endif
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;

#endif
