/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into a program of its own, `lode_seeded`: hashes get the seed that the test asks for. The library itself reads no environment. */
#include "base/hash.h"
#include <stdlib.h>

/* Without a priority: after the library has drawn its own. */
__attribute__((constructor)) static void seed(void)
{
    const char *number = getenv("LODE_TEST_SEED");
    if (number)
        lode_hash_reseed(strtoull(number, NULL, 10));
}
