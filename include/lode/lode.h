/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lode reads the output of profilers and tracers. These headers are stable: doc/abi.md has the
 * promise. lode/unstable.h has the rest.
 *
 * Conventions
 *  - A function that can fail returns lode_status; details go into an optional lode_error.
 *  - `T **out` comes first and is yours to close. `const T *` and strings are borrowed from the
 *    store that gave them, until it closes.
 *  - What lode_X_open returns is closed by lode_X_close. What was computed or made in memory is
 *    freed by lode_X_free. _release gives back what was lent, such as a result of a query, to its
 *    owner. All of them take NULL.
 *  - lode_error_text makes one line of an error.
 *  - Option structs are filled by their initialiser macro, then changed field by field; NULL means
 *    defaults. doc/abi.md says how structs grow.
 *  - "MT: any thread" functions may run at the same time on the same objects. "MT: one thread"
 *    functions must not run at the same time as any other on the same object.
 *  - The library never prints, never exits, never reads the environment and keeps no global state
 *    but a random seed and a list of what is open; only guard.h handles a signal.
 */
#ifndef LODE_LODE_H
#define LODE_LODE_H

#include <lode/block.h>
#include <lode/build.h>
#include <lode/calls.h>
#include <lode/calltree.h>
#include <lode/check.h>
#include <lode/context.h>
#include <lode/convert.h>
#include <lode/cost.h>
#include <lode/database.h>
#include <lode/distribution.h>
#include <lode/event.h>
#include <lode/format.h>
#include <lode/hotspot.h>
#include <lode/metric.h>
#include <lode/name.h>
#include <lode/pool.h>
#include <lode/profile.h>
#include <lode/recording.h>
#include <lode/selection.h>
#include <lode/status.h>
#include <lode/store.h>
#include <lode/table.h>
#include <lode/trace.h>
#include <lode/values.h>
#include <lode/view.h>
#include <lode/writer.h>

#endif
