/* SPDX-License-Identifier: BSD-3-Clause */
/* What cmocka needs, in the order it needs it. */
#ifndef LODE_TESTS_UNIT_H
#define LODE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "corpus.h"

/* Runs tests that need the corpus; without one, each is a named skip. */
static inline int run_with_corpus(const char *group, const struct CMUnitTest *tests, size_t count)
{
    char path[1024];
    if (corpus_path(path, sizeof path, "hpctoolkit"))
        return _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    printf("1..%zu\n", count);
    for (size_t i = 0; i < count; i++)
        printf("ok %zu - %s # SKIP no corpus: set LODE_CORPUS\n", i + 1, tests[i].name);
    return 0;
}

#endif
