/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/gzip.h"

#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

enum {
    GZIP_WINDOW = 15 + 16, /* the largest window; gzip, not zlib */
    PIECE_LEAST = 1 << 14, /* bytes that are unpacked at once */
    PIECE_MOST = 1 << 24
};

bool lode_gzip_begins(struct lode_range bytes)
{
    return bytes.size >= 2 && bytes.data[0] == 0x1f && bytes.data[1] == 0x8b;
}

/* Makes room at the end of `out`; false if out of memory. */
static bool make_room(z_stream *stream, struct lode_blob *out, size_t left)
{
    size_t piece = out->size < PIECE_LEAST ? PIECE_LEAST : out->size > PIECE_MOST ? PIECE_MOST : out->size;
    piece = piece < left ? piece : left;
    if (out->size + piece > out->capacity && !lode_blob_prepare(out, out->size + piece))
        return false;
    stream->next_out = out->bytes + out->size;
    stream->avail_out = (uInt)piece;
    return true;
}

static void give_input(z_stream *stream, struct lode_range packed, uint64_t at)
{
    uint64_t left = packed.size - at;
    stream->next_in = packed.data + at;
    stream->avail_in = left > INT_MAX ? INT_MAX : (uInt)left;
}

/* One member from `offset` on. */
static enum lode_gzip_end unpack_member(z_stream *stream, struct lode_range packed, size_t most,
                                        struct lode_blob *out, uint64_t *offset)
{
    for (int status = Z_OK; status != Z_STREAM_END;) {
        Bytef probe;
        bool is_full = out->size >= most;
        if (!is_full && !make_room(stream, out, most - out->size))
            return LODE_GZIP_MEMORY;
        if (is_full) {
            /* A byte more than allowed shows that there is more. */
            stream->next_out = &probe;
            stream->avail_out = 1;
        }
        give_input(stream, packed, *offset);
        uInt given = stream->avail_in, room = stream->avail_out;
        status = inflate(stream, Z_NO_FLUSH);
        *offset += given - stream->avail_in;
        if (is_full && stream->avail_out == 0)
            return LODE_GZIP_LIMIT;
        if (!is_full)
            out->size += room - stream->avail_out;
        if (status == Z_MEM_ERROR)
            return LODE_GZIP_MEMORY;
        if (status != Z_OK && status != Z_STREAM_END)
            return status == Z_BUF_ERROR && *offset == packed.size ? LODE_GZIP_CUT : LODE_GZIP_CORRUPT;
    }
    return LODE_GZIP_SOUND;
}

enum lode_gzip_end lode_gzip_unpack(struct lode_range packed, size_t most, struct lode_blob *out,
                                    uint64_t *offset)
{
    z_stream stream = {0};
    enum lode_gzip_end end;
    *offset = 0;
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        return LODE_GZIP_MEMORY;
    do {
        end = unpack_member(&stream, packed, most, out, offset);
        struct lode_range rest = {packed.data + *offset, packed.size - *offset};
        if (end != LODE_GZIP_SOUND || rest.size == 0)
            break;
        if (!lode_gzip_begins(rest))
            end = LODE_GZIP_TRAILING;
        else if (inflateReset(&stream) != Z_OK)
            end = LODE_GZIP_CORRUPT;
    } while (end == LODE_GZIP_SOUND);
    inflateEnd(&stream);
    return end;
}
