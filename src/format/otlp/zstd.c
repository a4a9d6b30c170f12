/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/otlp/zstd.h"

#include "base/io/bytes.h"

#if LODE_HAS_ZSTD
#include <zstd.h>
#endif

enum {
    LENGTH_SIZE = 4
};

static bool is_frame(struct lode_range bytes)
{
    static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    return bytes.size >= sizeof magic && memcmp(bytes.data, magic, sizeof magic) == 0;
}

static bool is_framed(struct lode_range bytes)
{
    return bytes.size > LENGTH_SIZE &&
           is_frame((struct lode_range){bytes.data + LENGTH_SIZE, bytes.size - LENGTH_SIZE});
}

bool lode_otlp_is_zstd(struct lode_range bytes)
{
    return is_frame(bytes) || is_framed(bytes);
}

bool lode_otlp_has_zstd(void)
{
    return LODE_HAS_ZSTD;
}

#if LODE_HAS_ZSTD
enum {
    STEP = 1 << 17, /* bytes to unpack at once */
    WINDOW_LOG = 23 /* of frames: 8 MiB, which is allocated before anything is unpacked */
};

/* Appends what a stream unpacks to. */
static enum lode_gzip_end unpack(ZSTD_DStream *stream, struct lode_range packed, size_t most,
                                 struct lode_blob *out, uint64_t *offset)
{
    ZSTD_inBuffer in = {packed.data, (size_t)packed.size, 0};
    size_t left = 1;
    ZSTD_initDStream(stream);
    (void)ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG);
    while (in.pos < in.size || left > 0) {
        size_t room = most - out->size < STEP ? most - out->size : STEP;
        size_t at = room > 0 ? lode_blob_extend(out, room) : 0, before = in.pos;
        if (room == 0)
            return LODE_GZIP_LIMIT;
        if (at == LODE_BLOB_FULL)
            return LODE_GZIP_MEMORY;
        ZSTD_outBuffer buffer = {out->bytes + at, room, 0};
        left = ZSTD_decompressStream(stream, &buffer, &in);
        out->size = at + (ZSTD_isError(left) ? 0 : buffer.pos);
        *offset = in.pos;
        if (ZSTD_isError(left))
            return LODE_GZIP_CORRUPT;
        if (in.pos == before && buffer.pos == 0 && in.pos == in.size)
            return left > 0 ? LODE_GZIP_CUT : LODE_GZIP_SOUND;
    }
    return LODE_GZIP_SOUND;
}

/* Appends a message of its own frame, in the framing of its content. */
static enum lode_gzip_end unpack_message(ZSTD_DStream *stream, struct lode_range packed, size_t most,
                                         struct lode_blob *out)
{
    size_t begin = lode_blob_extend(out, LENGTH_SIZE);
    uint64_t ignored;
    if (begin == LODE_BLOB_FULL)
        return LODE_GZIP_MEMORY;
    enum lode_gzip_end end = unpack(stream, packed, most, out, &ignored);
    uint64_t size = out->size - begin - LENGTH_SIZE;
    put_u32be(out->bytes + begin, (uint32_t)(size < UINT32_MAX ? size : UINT32_MAX));
    bool is_json = size > 0 && out->bytes[begin + LENGTH_SIZE] == '{';
    if (end != LODE_GZIP_SOUND || !is_json)
        return end;
    memmove(out->bytes + begin, out->bytes + begin + LENGTH_SIZE, (size_t)size);
    out->bytes[begin + size] = '\n';
    out->size = begin + (size_t)size + 1;
    return LODE_GZIP_SOUND;
}

static enum lode_gzip_end unpack_framed(ZSTD_DStream *stream, struct lode_range packed, size_t most,
                                        struct lode_blob *out, uint64_t *offset)
{
    enum lode_gzip_end end = LODE_GZIP_SOUND;
    *offset = 0;
    while (end == LODE_GZIP_SOUND && *offset < packed.size) {
        struct lode_range message;
        size_t before = out->size;
        if (packed.size - *offset < LENGTH_SIZE)
            return LODE_GZIP_CUT;
        uint32_t size = get_u32be(packed.data + *offset);
        if (!lode_range_part(packed, *offset + LENGTH_SIZE, size, &message))
            return LODE_GZIP_CUT;
        if (most - out->size <= LENGTH_SIZE)
            return LODE_GZIP_LIMIT;
        end = unpack_message(stream, message, most, out);
        if (end == LODE_GZIP_SOUND)
            *offset += LENGTH_SIZE + (uint64_t)size;
        else if (end != LODE_GZIP_LIMIT)
            out->size = before; /* a message that is not complete */
    }
    return end;
}

enum lode_gzip_end lode_otlp_unzstd(struct lode_range packed, size_t most, struct lode_blob *out,
                                    uint64_t *offset)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    *offset = 0;
    if (stream == NULL)
        return LODE_GZIP_MEMORY;
    enum lode_gzip_end end = is_frame(packed) ? unpack(stream, packed, most, out, offset)
                                              : unpack_framed(stream, packed, most, out, offset);
    ZSTD_freeDStream(stream);
    return end;
}
#else
enum lode_gzip_end lode_otlp_unzstd(struct lode_range packed, size_t most, struct lode_blob *out,
                                    uint64_t *offset)
{
    (void)packed;
    (void)most;
    (void)out;
    *offset = 0;
    return LODE_GZIP_CORRUPT;
}
#endif
