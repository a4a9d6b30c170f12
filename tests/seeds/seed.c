/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into `lode_seeded`: sets the hash seed from the environment, which the library ignores. */
#include "base/memory/hash.h"
#include <stdlib.h>

/* Without a priority: after the library has drawn its own. */
__attribute__((constructor)) static void seed(void)
{
    const char *number = getenv("LODE_TEST_SEED");
    if (number)
        lode_hash_reseed(strtoull(number, NULL, 10));
}
