/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs that callers were compiled with: options that come in, results that go out. Either side may be the older one. */
#ifndef LODE_BASE_OPTIONS_H
#define LODE_BASE_OPTIONS_H

#include <lode/status.h>
#include <stddef.h>

/*
 * Copies the options of a caller. `options` holds the defaults and begins with its own size; `given` begins with the size that the caller was
 * compiled with, or is NULL. Fields that the caller does not have keep their defaults. Fields that this library does not have must be zero, which
 * means "as before" in every version: LODE_ERR_UNSUPPORTED if not. LODE_ERR_ARGUMENT for a size that no version of a struct can have.
 */
lode_status lode_options_take(void *options, const void *given, lode_error *error);

/*
 * Copies a result of `known` bytes to a caller whose struct has `size`. Fields that the caller does not have are left out, fields that this library does not
 * have become zero. `out` may be NULL.
 */
void lode_result_give(void *out, size_t size, const void *result, size_t known);

#endif
