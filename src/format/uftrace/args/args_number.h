/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of 1 to 8 bytes in either byte order. */
#ifndef LODE_UFTRACE_ARGS_NUMBER_H
#define LODE_UFTRACE_ARGS_NUMBER_H

#include "base/io/range.h"

/* `bytes` has at most 8. */
static inline uint64_t lode_uft_number(struct lode_range bytes, bool big_endian)
{
    uint64_t value = 0;
    for (uint64_t i = 0; i < bytes.size && i < 8; i++)
        value = value << 8 | bytes.data[big_endian ? i : bytes.size - 1 - i];
    return value;
}

static inline int64_t lode_uft_signed_number(struct lode_range bytes, bool big_endian)
{
    uint64_t value = lode_uft_number(bytes, big_endian);
    if (bytes.size > 0 && bytes.size < 8) {
        uint64_t sign = UINT64_C(1) << (bytes.size * 8 - 1);
        value = (value ^ sign) - sign;
    }
    return (int64_t)value;
}

#endif
