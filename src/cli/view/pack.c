/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/pack.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#define ZLIB_CONST
#include <zlib.h>

enum {
    LEVEL = 4, /* takes a third of the time of the usual one, and gains nearly as much */
    GZIP_WINDOW = 15 + 16,
    MEMORY = 8
};

#define BLANKS " \t"

/* Whether one of the parameters after a coding is a weight of zero: ";q=0", ";q=0.000". */
static int is_refused(const char *parameters, size_t size)
{
    const char *end = parameters + size;
    for (const char *at = parameters; at < end && (at = memchr(at, ';', (size_t)(end - at)));) {
        at += 1 + strspn(at + 1, BLANKS);
        if (end - at >= 3 && strncasecmp(at, "q=", 2) == 0)
            return strspn(at + 2, "0.") == strcspn(at + 2, BLANKS ",;");
    }
    return 0;
}

/* The codings of the header, one by one: what is said of gzip itself is stronger than "*". */
int pack_is_accepted(const char *accepted)
{
    int any = 0;
    for (const char *at = accepted; at && *at; at += *at == ',') {
        at += strspn(at, BLANKS);
        size_t size = strcspn(at, ","), name = strcspn(at, BLANKS ",;");
        int is_allowed = !is_refused(at + name, size - name);
        if ((name == 4 && strncasecmp(at, "gzip", 4) == 0) ||
            (name == 6 && strncasecmp(at, "x-gzip", 6) == 0))
            return is_allowed;
        if (name == 1 && *at == '*')
            any = is_allowed;
        at += size;
    }
    return any;
}

void *pack_gzip(const void *bytes, size_t size, size_t *packed_size)
{
    z_stream stream = {.next_in = bytes, .avail_in = (uInt)size, .avail_out = (uInt)size};
    Bytef *packed = size > 0 && size < INT_MAX ? malloc(size) : NULL;
    if (!packed ||
        deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(packed);
        return NULL;
    }
    stream.next_out = packed;
    /* There is room for fewer bytes than it has. */
    int status = deflate(&stream, Z_FINISH);
    *packed_size = stream.total_out;
    deflateEnd(&stream);
    if (status != Z_STREAM_END || *packed_size >= size) {
        free(packed);
        return NULL;
    }
    void *smaller = realloc(packed, *packed_size);
    return smaller ? smaller : packed;
}

char *pack_unpack(const void *packed, size_t packed_size, size_t size)
{
    char *bytes = malloc(size + 1);
    z_stream stream = {.next_in = packed,
                       .avail_in = (uInt)packed_size,
                       .next_out = (Bytef *)bytes,
                       .avail_out = (uInt)size};
    if (!bytes || inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        free(bytes);
        return NULL;
    }
    int status = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    bytes[size] = '\0';
    if (status == Z_STREAM_END && stream.total_out == size)
        return bytes;
    free(bytes);
    return NULL;
}
