/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations that fail on purpose. The test is linked with --wrap (tests/unit/meson.build). */
#ifndef LODE_TESTS_FAILING_MEMORY_H
#define LODE_TESTS_FAILING_MEMORY_H

#include <stddef.h>

/* The number of allocations before the only one that fails; negative: none fails. */
static long memory_left = -1;

static int is_refused(void)
{
    return memory_left >= 0 && memory_left-- == 0;
}

#define FAILING(type, name, parameters, arguments)                                                           \
    type __real_##name parameters; /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c) */                   \
    type __wrap_##name parameters; /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c) */                   \
    type __wrap_##name parameters  /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c) */                   \
    {                                                                                                        \
        return is_refused() ? NULL : __real_##name arguments;                                                \
    }

FAILING(void *, malloc, (size_t size), (size))
FAILING(void *, calloc, (size_t count, size_t size), (count, size))
FAILING(void *, realloc, (void *old, size_t size), (old, size))
FAILING(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))

#endif
