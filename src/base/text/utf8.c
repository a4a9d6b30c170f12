/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text/utf8.h"
#include <lode/private/utf8.h>

size_t lode_utf8_decode(const char *bytes, size_t available, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *text = (const unsigned char *)bytes;
    if (available == 0)
        return 0;
    *character = text[0];
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
    *character = code;
    return code < least[length] || code > 0x10ffff || surrogate ? 0 : length;
}

bool lode_utf8_is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character <= 0x9f) || character == 0x61c ||
           character == 0x200e || character == 0x200f || (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

size_t lode_utf8_valid_prefix(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        uint32_t character;
        size_t step = lode_utf8_decode(text + at, length - at, &character);
        if (step == 0)
            return at;
        at += step;
    }
    return length;
}
