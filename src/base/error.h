/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling in the caller's lode_error. */
#ifndef LODE_BASE_ERROR_H
#define LODE_BASE_ERROR_H

#include <lode/status.h>
#include <stddef.h>

/* Fill in `error` unless it is NULL. The second appends strerror and maps errno to a status. */
void lode_describe(lode_error *error, lode_status status, const char *file, uint64_t offset,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
lode_status lode_describe_errno(lode_error *error, const char *file, const char *what);

/*
 * Failing is one statement:
 *   return lode_fail(error, LODE_ERR_CORRUPT, "meta.db", offset, "...", ...);
 * These show the compiler that what is returned is never LODE_OK.
 */
#define lode_fail(error, status, ...) (lode_describe(error, status, __VA_ARGS__), (status))

static inline lode_status lode_fail_errno(lode_error *error, const char *file, const char *what)
{
    return lode_describe_errno(error, file, what) == LODE_ERR_MEMORY ? LODE_ERR_MEMORY : LODE_ERR_IO;
}

static inline lode_status lode_fail_memory(lode_error *error)
{
    return lode_fail(error, LODE_ERR_MEMORY, NULL, LODE_NO_OFFSET, "out of memory");
}

/* Leaves the calling function with the status of `call` unless it is LODE_OK. */
#define LODE_TRY(call)                                                                                       \
    do {                                                                                                     \
        lode_status try_status = (call);                                                                     \
        if (try_status != LODE_OK)                                                                           \
            return try_status;                                                                               \
    } while (0)

/* Returns from the calling function if memory was asked for in vain. */
#define LODE_TRY_ALLOC(memory, error)                                                                        \
    do {                                                                                                     \
        if (!(memory))                                                                                       \
            return lode_fail_memory(error);                                                                  \
    } while (0)

#endif
