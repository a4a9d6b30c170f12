/* SPDX-License-Identifier: BSD-3-Clause */
/* From what was read of one file to what is known of all. */
#ifndef LODE_FORMAT_HPCRUN_GATHER_H
#define LODE_FORMAT_HPCRUN_GATHER_H

#include "format/hpcrun/read/read.h"
#include "format/hpcrun/scopes/structure.h"
#include "model/measurements.h"

/* Adds a profile that was read without an error. */
lode_status lode_hpcrun_gather(lode_measurements *all, const struct hpcrun_profile *profile,
                               lode_error *error);
/* Adds a trace to the last profile or, if it is alone, as one of its own. */
lode_status lode_hpcrun_gather_trace(lode_measurements *all, const struct hpcrun_trace *trace,
                                     const char *file, uint64_t bytes, bool is_alone, lode_error *error);
/* Adds what a structure file says of a binary. */
lode_status lode_hpcrun_gather_structure(lode_measurements *all, const struct hpcstruct_module *module,
                                         const char *file, lode_error *error);

#endif
