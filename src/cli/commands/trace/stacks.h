/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths at one time. */
#ifndef CLI_TRACE_STACKS_H
#define CLI_TRACE_STACKS_H

#include "commands/trace/draw.h"

/* Up to `rows` lines, 0: all; a row for each context of the path, the outermost first. */
lode_status trace_write_stacks(out *o, const trace_drawing *d, uint64_t time, uint64_t rows,
                               lode_error *error);

#endif
