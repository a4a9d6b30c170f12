/* SPDX-License-Identifier: BSD-3-Clause */
/* What the formats that recordings can be written in share. */
#ifndef LODE_TRANSFORM_REWRITE_H
#define LODE_TRANSFORM_REWRITE_H

#include "analysis/calls.h"
#include <lode/convert.h>
#include <stdbool.h>

/* Slices of recordings as one, which is there whole or not at all. Of the options, `to` is set. */
lode_status lode_rewrite_uftrace(const lode_recording *const *recordings, size_t count, const char *path,
                                 const lode_slice *slice, const lode_rewrite_options *options,
                                 lode_error *error);
lode_status lode_rewrite_zorka(const lode_recording *const *recordings, size_t count, const char *path,
                               const lode_slice *slice, const lode_rewrite_options *options,
                               lode_error *error);

/*
 * A slice in the clock of a source, whose times are `clock` less than those of the first recording; false if the window ends before that clock
 * begins.
 */
bool lode_rewrite_slice(const lode_slice *slice, int64_t clock, lode_slice *out);
/* Options for a pass over a recording. */
lode_calls_options lode_rewrite_pass(const lode_rewrite_options *options);

#endif
