/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores that have addresses of binaries: what is needed to open and to build them. */
#ifndef LODE_PRIVATE_MEASURED_H
#define LODE_PRIVATE_MEASURED_H

#include <lode/status.h>

LODE_BEGIN_DECLS

/* The path of the program lode-symbols, which reads binaries; NULL: they are not read. */
typedef const char *(*lode_symbols_fn)(void);

/*
 * How that program is found when a recording of perf is opened: called then, by any thread. NULL,
 * and the default: functions have the names of their load modules. MT: any thread.
 */
LODE_API void lode_symbols_find_by(lode_symbols_fn find);

/*
 * Whether lode_build makes a database of the store, though it can be opened as it is: a recording
 * of perf. MT: any thread.
 */
LODE_API int lode_store_is_measured(const char *path);

LODE_END_DECLS
#endif
