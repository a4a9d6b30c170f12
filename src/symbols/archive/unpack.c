/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/archive/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#if LODE_HAS_BZIP2
#include <bzlib.h>
#endif
#if LODE_HAS_LZMA
#include <lzma.h>
#endif
#if LODE_HAS_ZSTD
#include <zstd.h>
#endif

/* Where unpacked bytes go. */
struct room {
    unsigned char *bytes;
    size_t size;
};

struct packing {
    const char *magic;
    size_t magic_size;
    void *(*open)(void); /* NULL: this build has no library for it */
    /* Unpacks some of the input, and makes the room smaller. False: it is damaged. */
    bool (*step)(struct unpacker *self, struct room *room);
};

static void consume(struct unpacker *self, struct room *room, size_t input, size_t output)
{
    self->begin += input;
    room->bytes += output;
    room->size -= output;
}

/* ---- gzip ---- */

static void *open_gzip(void)
{
    enum {
        WITH_HEADER = 15 + 16 /* the largest window, and gzip's header */
    };
    z_stream *stream = calloc(1, sizeof *stream);
    return stream && inflateInit2(stream, WITH_HEADER) == Z_OK ? stream : NULL;
}

static bool step_gzip(struct unpacker *self, struct room *room)
{
    z_stream *stream = self->stream;
    size_t given = self->end - self->begin;
    if (self->is_whole && inflateReset(stream) != Z_OK)
        return false;
    stream->next_in = self->input + self->begin;
    stream->avail_in = (unsigned)given;
    stream->next_out = room->bytes;
    stream->avail_out = (unsigned)room->size;
    int code = inflate(stream, Z_NO_FLUSH);
    consume(self, room, given - stream->avail_in, room->size - stream->avail_out);
    self->is_whole = code == Z_STREAM_END;
    return code == Z_OK || code == Z_STREAM_END;
}

/* ---- bzip2 ---- */

#if LODE_HAS_BZIP2
static void *open_bzip2(void)
{
    bz_stream *stream = calloc(1, sizeof *stream);
    return stream && BZ2_bzDecompressInit(stream, 0, 0) == BZ_OK ? stream : NULL;
}

/* A stream that ended cannot be used again. */
static bool renew_bzip2(bz_stream *stream)
{
    BZ2_bzDecompressEnd(stream);
    *stream = (bz_stream){0};
    return BZ2_bzDecompressInit(stream, 0, 0) == BZ_OK;
}

static bool step_bzip2(struct unpacker *self, struct room *room)
{
    bz_stream *stream = self->stream;
    size_t given = self->end - self->begin;
    if (self->is_whole && !renew_bzip2(stream))
        return false;
    stream->next_in = (char *)self->input + self->begin;
    stream->avail_in = (unsigned)given;
    stream->next_out = (char *)room->bytes;
    stream->avail_out = (unsigned)room->size;
    int code = BZ2_bzDecompress(stream);
    consume(self, room, given - stream->avail_in, room->size - stream->avail_out);
    self->is_whole = code == BZ_STREAM_END;
    return code == BZ_OK || code == BZ_STREAM_END;
}
#else
#define open_bzip2 NULL
#define step_bzip2 NULL
#endif

/* ---- xz ---- */

#if LODE_HAS_LZMA
static void *open_xz(void)
{
    lzma_stream *stream = malloc(sizeof *stream);
    if (stream == NULL)
        return NULL;
    *stream = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_stream_decoder(stream, UNPACK_MEMORY_MOST, LZMA_CONCATENATED) == LZMA_OK)
        return stream;
    free(stream);
    return NULL;
}

static bool step_xz(struct unpacker *self, struct room *room)
{
    lzma_stream *stream = self->stream;
    size_t given = self->end - self->begin;
    stream->next_in = self->input + self->begin;
    stream->avail_in = given;
    stream->next_out = room->bytes;
    stream->avail_out = room->size;
    lzma_ret code = lzma_code(stream, self->is_read ? LZMA_FINISH : LZMA_RUN);
    consume(self, room, given - stream->avail_in, room->size - stream->avail_out);
    self->is_whole = code == LZMA_STREAM_END;
    return code == LZMA_OK || code == LZMA_STREAM_END;
}
#else
#define open_xz NULL
#define step_xz NULL
#endif

/* ---- zstd ---- */

#if LODE_HAS_ZSTD
static void *open_zstd(void)
{
    return ZSTD_createDCtx();
}

static bool step_zstd(struct unpacker *self, struct room *room)
{
    ZSTD_inBuffer input = {self->input + self->begin, self->end - self->begin, 0};
    ZSTD_outBuffer output = {room->bytes, room->size, 0};
    size_t code = ZSTD_decompressStream(self->stream, &output, &input);
    consume(self, room, input.pos, output.pos);
    self->is_whole = code == 0;
    return !ZSTD_isError(code);
}
#else
#define open_zstd NULL
#define step_zstd NULL
#endif

/* ---- not packed ---- */

static void *open_plain(void)
{
    return malloc(1);
}

static bool step_plain(struct unpacker *self, struct room *room)
{
    size_t given = self->end - self->begin, taken = given < room->size ? given : room->size;
    memcpy(room->bytes, self->input + self->begin, taken);
    consume(self, room, taken, taken);
    self->is_whole = true;
    return true;
}

static const struct packing packings[] = {
    {"BZh", 3, open_bzip2, step_bzip2},
    {"\x1f\x8b", 2, open_gzip, step_gzip},
    {"\xfd"
     "7zXZ",
     6, open_xz, step_xz}, /* with its NUL */
    {"\x28\xb5\x2f\xfd", 4, open_zstd, step_zstd},
    {"", 0, open_plain, step_plain},
};

/* Reads more input if there is none. False: it cannot be read. */
static bool fill(struct unpacker *self)
{
    if (self->begin < self->end || self->is_read)
        return true;
    ssize_t got;
    do
        got = read(self->fd, self->input, sizeof self->input);
    while (got < 0 && errno == EINTR);
    self->begin = 0;
    self->end = got > 0 ? (size_t)got : 0;
    self->is_read = got == 0;
    return got >= 0;
}

bool unpacker_open(struct unpacker *self, int fd)
{
    *self = (struct unpacker){.fd = fd, .packing = packings};
    if (!fill(self))
        return false;
    while (self->end < self->packing->magic_size ||
           memcmp(self->input, self->packing->magic, self->packing->magic_size) != 0)
        self->packing++;
    self->stream = self->packing->open ? self->packing->open() : NULL;
    return self->stream != NULL;
}

ssize_t unpacker_read(struct unpacker *self, void *bytes, size_t size)
{
    struct room room = {bytes, size};
    while (room.size > 0) {
        if (!fill(self))
            return -1;
        bool is_end = self->is_read && self->begin == self->end;
        size_t before = room.size;
        if (is_end && self->is_whole)
            break;
        if (!self->packing->step(self, &room) || (is_end && !self->is_whole && room.size == before))
            return -1;
    }
    return (ssize_t)(size - room.size);
}
