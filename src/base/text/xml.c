/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text/xml.h"

#include "base/text/utf8.h"
#include <stdbool.h>
#include <string.h>

typedef void put_fn(void *user, const char *bytes, size_t size);

/* The escape of a byte; NULL if it has none. */
static const char *escape_of(char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        /* XML cannot represent other control characters, not even as references. */
        return (unsigned char)byte < ' ' ? "\xef\xbf\xbd" : NULL;
    }
}

/* Writes valid UTF-8, of which XML excludes two characters. */
static void put_valid(const char *text, size_t length, put_fn *put, void *user)
{
    size_t done = 0;
    for (size_t i = 0; i < length; i++) {
        bool nothing =
            length - i >= 3 && memcmp(text + i, "\xef\xbf", 2) == 0 && (text[i + 2] & 0x3e) == 0x3e;
        const char *escape = nothing ? "\xef\xbf\xbd" : escape_of(text[i]);
        if (escape == NULL)
            continue;
        put(user, text + done, i - done);
        put(user, escape, strlen(escape));
        i += nothing ? 2 : 0;
        done = i + 1;
    }
    put(user, text + done, length - done);
}

void lode_xml_escape(const char *text, put_fn *put, void *user)
{
    size_t length = strlen(text);
    for (;;) {
        size_t valid = lode_utf8_valid_prefix(text, length);
        put_valid(text, valid, put, user);
        if (valid == length)
            return;
        put(user, "\xef\xbf\xbd", 3);
        text += valid + 1;
        length -= valid + 1;
    }
}
