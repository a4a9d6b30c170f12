/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/utf8.h"

#include <stdint.h>

/* The length of the valid character at the start of the text, or 0. */
static size_t character_length(const unsigned char *text, size_t available)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (text[0] < 0x80)
        return 1;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4 || length > available)
        return 0;
    uint32_t code = text[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if (!utf8_is_continuation((char)text[i]))
            return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    int surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least[length] || code > 0x10ffff || surrogate ? 0 : length;
}

size_t lode_utf8_valid_prefix(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;
    while (at < length) {
        size_t step = character_length(bytes + at, length - at);
        if (step == 0)
            return at;
        at += step;
    }
    return length;
}
