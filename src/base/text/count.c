/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text/count.h"

#include <inttypes.h>
#include <stdio.h>

const char *lode_format_counted(char buffer[LODE_COUNTED_SIZE], uint64_t count, const char *one,
                                const char *many)
{
    char digits[24], grouped[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            grouped[used++] = ',';
        grouped[used++] = digits[i];
    }
    (void)snprintf(buffer, LODE_COUNTED_SIZE, "%.*s %s", used, grouped, count == 1 ? one : many);
    return buffer;
}
