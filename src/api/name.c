/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that formats have a hand in. */
#include "format/uftrace/args.h"
#include <lode/name.h>

size_t lode_simple_name(const char *symbol, char *buffer, size_t capacity)
{
    return lode_uft_simple_name(symbol, buffer, capacity);
}
