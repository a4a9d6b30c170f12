/* SPDX-License-Identifier: BSD-3-Clause */
/* Options and results in structs of callers, who may have been compiled with other versions. */
#ifndef LODE_BASE_OPTIONS_H
#define LODE_BASE_OPTIONS_H

#include <lode/status.h>
#include <stddef.h>

/*
 * Copies the options of a caller over the defaults in `options`. Both structs begin with their
 * size; `given` may be NULL. Fields that the caller does not know keep their defaults. Fields that
 * this library does not know must be zero ("as before" in every version), else
 * LODE_ERR_UNSUPPORTED. LODE_ERR_ARGUMENT for an impossible size.
 */
lode_status lode_options_take(void *options, const void *given, lode_error *error);

/*
 * Copies a result of `known` bytes to a caller's struct of `size` bytes: truncates it, or fills
 * fields that this library does not know with zeros. `out` may be NULL.
 */
void lode_result_give(void *out, size_t size, const void *result, size_t known);

#endif
