/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling in the caller's lode_error. */
#ifndef LODE_BASE_ERROR_H
#define LODE_BASE_ERROR_H

#include <lode/status.h>

/*
 * Writes the details (if `error` is not NULL) and returns `status`, so that failing is one statement:
 *   return lode_fail(error, LODE_ERR_CORRUPT, "meta.db", offset, "...", ...);
 */
lode_status lode_fail(lode_error *error, lode_status status, const char *file, uint64_t offset,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same for a failed system call: takes errno, and adds its text. */
lode_status lode_fail_errno(lode_error *error, const char *file, const char *what);

lode_status lode_fail_memory(lode_error *error);

/* Leaves the calling function with the status of `call` unless it is LODE_OK. */
#define LODE_TRY(call)                                                                                       \
    do {                                                                                                     \
        lode_status try_status = (call);                                                                     \
        if (try_status != LODE_OK)                                                                           \
            return try_status;                                                                               \
    } while (0)

#endif
