/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every allocation fails once: the result is an out-of-memory error, and nothing leaks (the
 * sanitizer checks that). Include it in one file of a program that is linked with --wrap.
 */
#ifndef LODE_TESTS_FAIL_EACH_H
#define LODE_TESTS_FAIL_EACH_H

#include "unit.h"
#include <lode/status.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    MOST_ALLOCATIONS = 5000
};

/* How many allocations still succeed; below 0: all. */
static long budget = -1;

static int is_spent(void)
{
    return budget >= 0 && budget-- == 0;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): the names that the linker wants. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return is_spent() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_spent() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_spent() ? NULL : __real_realloc(old, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */

typedef lode_status (*work_fn)(void *user, lode_error *error);

/* Until all allocations succeed. */
__attribute__((unused)) static void fail_each(work_fn work, void *user)
{
    long allowed = 0;
    for (; allowed < MOST_ALLOCATIONS; allowed++) {
        lode_error error = {0};
        budget = allowed;
        lode_status status = work(user, &error);
        bool spent = budget < 0;
        budget = -1;
        if (!spent) {
            assert_int_equal(status, LODE_OK);
            break;
        }
        if (status != LODE_ERR_MEMORY)
            fail_msg("allocation %ld failed, and the status is %d: %s", allowed, status, error.text);
    }
    print_message("# %ld allocations\n", allowed);
    assert_true(allowed > 10 && allowed < MOST_ALLOCATIONS);
}

#endif
