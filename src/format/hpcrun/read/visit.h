/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows what is in a profile or a trace that was read without an error. */
#ifndef LODE_FORMAT_HPCRUN_VISIT_H
#define LODE_FORMAT_HPCRUN_VISIT_H

#include "format/hpcrun/read/read.h"
#include <lode/private/raw.h>

/* LODE_ERR_CANCELLED if a callback ends the walk. */
lode_status lode_hpcrun_visit(const lode_raw_visitor *visitor, const struct hpcrun_profile *profile,
                              lode_error *error);
lode_status lode_hpcrun_visit_trace(const lode_raw_visitor *visitor, const struct hpcrun_trace *trace,
                                    const char *file, lode_error *error);
lode_status lode_hpcrun_visit_end(const lode_raw_visitor *visitor, lode_error *error);

#endif
