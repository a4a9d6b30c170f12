/* SPDX-License-Identifier: BSD-3-Clause */
/* SQLite as the program has it, which links it, or as an extension does, which its host calls. */
#ifndef SQL_SQLITE_H
#define SQL_SQLITE_H

#if defined(SQL_IS_EXTENSION)
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

#endif
