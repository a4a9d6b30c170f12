/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lode reads the output of profilers and tracers.
 *
 * Conventions
 *  - A function that can fail returns lode_status; details go into an optional lode_error.
 *  - `T **out` comes first and is yours to close. `const T *` and strings are borrowed from the
 *    store that gave them, until it closes.
 *  - Option structs are filled by their initialiser macro, then changed field by field; NULL means
 *    defaults. doc/abi.md says how structs grow.
 *  - "MT: any thread" functions may run at the same time on the same objects. "MT: one thread"
 *    functions must not run at the same time as any other on the same object.
 *  - The library never prints, never exits, never reads the environment and keeps no global state
 *    but a random seed and a list of what is open; only guard.h handles a signal.
 */
#ifndef LODE_LODE_H
#define LODE_LODE_H

#include <lode/arrow.h>
#include <lode/bins.h>
#include <lode/block.h>
#include <lode/boxes.h>
#include <lode/build.h>
#include <lode/calls.h>
#include <lode/calltree.h>
#include <lode/check.h>
#include <lode/columns.h>
#include <lode/comm.h>
#include <lode/compare.h>
#include <lode/context.h>
#include <lode/convert.h>
#include <lode/cost.h>
#include <lode/database.h>
#include <lode/density.h>
#include <lode/derived.h>
#include <lode/diagnose.h>
#include <lode/distribution.h>
#include <lode/efficiency.h>
#include <lode/event.h>
#include <lode/export.h>
#include <lode/find.h>
#include <lode/fingerprint.h>
#include <lode/flame.h>
#include <lode/format.h>
#include <lode/guard.h>
#include <lode/hotspot.h>
#include <lode/kind.h>
#include <lode/match.h>
#include <lode/measurements.h>
#include <lode/merge.h>
#include <lode/metric.h>
#include <lode/name.h>
#include <lode/picture.h>
#include <lode/pool.h>
#include <lode/profile.h>
#include <lode/query.h>
#include <lode/raw.h>
#include <lode/recording.h>
#include <lode/scaling.h>
#include <lode/scan.h>
#include <lode/search.h>
#include <lode/selection.h>
#include <lode/slice.h>
#include <lode/source.h>
#include <lode/spread.h>
#include <lode/statistics.h>
#include <lode/status.h>
#include <lode/store.h>
#include <lode/synth.h>
#include <lode/timeline.h>
#include <lode/trace.h>
#include <lode/values.h>
#include <lode/view.h>
#include <lode/writer.h>

#endif
