/* SPDX-License-Identifier: BSD-3-Clause */
/* Status codes, error details, and the few macros that every public header uses. */
#ifndef LODE_STATUS_H
#define LODE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define LODE_BEGIN_DECLS extern "C" {
#define LODE_END_DECLS   }
#else
#define LODE_BEGIN_DECLS
#define LODE_END_DECLS
#endif

#if defined(__GNUC__)
#define LODE_API     __attribute__((visibility("default")))
#define LODE_CHECKED __attribute__((warn_unused_result))
#else
#define LODE_API
#define LODE_CHECKED
#endif

LODE_BEGIN_DECLS

/* 0 is done; positive values are normal outcomes; negative values are errors. */
typedef enum lode_status {
    LODE_OK = 0,
    LODE_END = 1,       /* nothing more to read */
    LODE_NOT_FOUND = 2, /* the key that was asked for is not there */
    LODE_ABSENT = 3,    /* the store has no such part, which is a normal state */
    LODE_ERR_ARGUMENT = -1,
    LODE_ERR_MEMORY = -2,
    LODE_ERR_IO = -3,          /* the operating system said no; see os_errno */
    LODE_ERR_CORRUPT = -4,     /* bytes that contradict the format */
    LODE_ERR_UNSUPPORTED = -5, /* a format, version or layout that this build does not read */
    LODE_ERR_LIMIT = -6,       /* a size beyond what was allowed or what a field can hold */
    LODE_ERR_CANCELLED = -7    /* a callback asked to stop */
} lode_status;

#define LODE_NO_OFFSET UINT64_MAX

/*
 * What went wrong, in a struct that the caller owns. Functions that can fail take an optional
 * pointer to one. A function that returns
 *   LODE_OK or LODE_END          does not change it;
 *   a negative status            writes it;
 *   LODE_NOT_FOUND, LODE_ABSENT  writes it too, except lode_block_find and lode_block_lookup, which
 *                                are called too often for that.
 * When it is written, `status` is what the function returns. It holds no resources.
 */
typedef struct lode_error {
    lode_status status;
    int os_errno;    /* 0 if the operating system was not involved */
    uint64_t offset; /* byte offset in `file`, or LODE_NO_OFFSET */
    char file[96];   /* the file concerned, or "" */
    char text[416];  /* one sentence, without a newline, with the numbers involved */
} lode_error;

/*
 * An error as one line for people: "profile.db at 0x40: the block is cut off". NUL-terminated, cut
 * at `capacity` bytes; returns the length of the whole. MT: any thread.
 */
LODE_API size_t lode_error_text(const lode_error *error, char *buffer, size_t capacity);

/* The name of a status, such as "corrupt". Never NULL. MT: any thread. */
LODE_API const char *lode_status_name(lode_status status);

/*
 * The version of these headers: what a program is compiled with. The number is 100 for 0.1.0, 10203
 * for 1.2.3.
 */
#define LODE_VERSION_MAJOR  0
#define LODE_VERSION_MINOR  2
#define LODE_VERSION_PATCH  0
#define LODE_VERSION_NUMBER (LODE_VERSION_MAJOR * 10000 + LODE_VERSION_MINOR * 100 + LODE_VERSION_PATCH)

/* The version of the library that is running, such as "0.2.0". MT: any thread. */
LODE_API const char *lode_version(void);

/*
 * Reported during long work. `total` is 0 where it is not known. A non-zero return cancels the
 * work, which then ends with LODE_ERR_CANCELLED. Never called by two threads at once.
 */
typedef int (*lode_progress_fn)(void *user, const char *phase, uint64_t done, uint64_t total);

LODE_END_DECLS
#endif
