/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries that Lode uses. */
#ifndef LODE_PRIVATE_LIBRARIES_H
#define LODE_PRIVATE_LIBRARIES_H

#include <lode/status.h>

LODE_BEGIN_DECLS

/*
 * The libraries that Lode uses: their names, such as "zlib", NULL past the last. The second writes
 * the version that is running, NUL-terminated and cut at `capacity` bytes, and returns the length
 * of the whole; of libdeflate, which does not say, the version that Lode was compiled with. MT: any
 * thread.
 */
LODE_API const char *lode_library_name(uint32_t index);
LODE_API size_t lode_library_version(uint32_t index, char *buffer, size_t capacity);

/*
 * The functions of SQLite, as it hands them to extensions: a sqlite3_api_routines of sqlite3ext.h.
 * It is loaded by the first call: to link it would take a tenth of the time that a command takes on
 * a small store. NULL: there is none. MT: any thread.
 */
LODE_API const void *lode_library_sqlite(void);

LODE_END_DECLS
#endif
