/* SPDX-License-Identifier: BSD-3-Clause */
/* The fuzzer's bytes as what lode-symbols says of three offsets, or of all code. */
#include "format/hpcrun/scopes/binary.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t offsets[] = {0x10, 0x20, 0x30};
    struct binary_request request = {
        .offsets = offsets, .count = 3, .is_all = size > 0 && data[size - 1] % 2 != 0};
    struct binary_reply reply;
    lode_binary_init(&reply);
    bool is_sound = lode_binary_parse(&reply, (struct lode_range){data, size}, &request);
    const struct hpcstruct_range *ranges = reply.module.ranges.items;
    for (size_t i = 0; i < reply.module.ranges.count && is_sound; i++)
        if (ranges[i].scope >= reply.module.scopes.count || (i > 0 && ranges[i].start < ranges[i - 1].end))
            abort();
    lode_binary_free(&reply);
    return 0;
}
