/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/protobuf.h"

enum {
    VARINT_MOST = 10 /* bytes */
};

enum lode_pb_step lode_pb_long_number(struct lode_pb_walk *walk, uint64_t *number)
{
    const uint8_t *at = walk->at;
    for (unsigned i = 0; i < VARINT_MOST; i++) {
        if (at == walk->end)
            return LODE_PB_CUT;
        uint8_t byte = *at++;
        *number |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            walk->at = at;
            return LODE_PB_FIELD;
        }
    }
    return LODE_PB_TOO_LONG;
}
