/* SPDX-License-Identifier: BSD-3-Clause */
/* A temporary directory for tests of two versions that write stores: no library types. */
#ifndef LODE_TESTS_SCRATCH_H
#define LODE_TESTS_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static char scratch[4096];

static inline void scratch_make(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/lode-abi-XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(scratch));
}

static inline int scratch_remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static inline void scratch_remove(void)
{
    assert_int_equal(nftw(scratch, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* A path that was not given before; it holds until the next few calls. */
static inline const char *scratch_path(void)
{
    static char paths[4][sizeof scratch + 16];
    static unsigned count;
    char *path = paths[count % 4];
    snprintf(path, sizeof paths[0], "%s/%u", scratch, count++);
    return path;
}

#endif
