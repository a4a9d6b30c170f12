/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw/canvas.h"

#include "alloc.h"
#include "draw/font_data.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WHITE 0xffffff
#define INK   0x1f2328

enum {
    FIRST = ' ',
    LAST = '~',
    OTHER_WIDTH = 9 /* of a character that is not ASCII */
};

uint32_t canvas_blend(uint32_t from, uint32_t to, unsigned part, unsigned whole)
{
    uint32_t mixed = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        uint32_t a = from >> shift & 255, b = to >> shift & 255;
        mixed |= ((a * (whole - part) + b * part) / whole) << shift;
    }
    return mixed;
}

void canvas_init(canvas *c, unsigned width, unsigned height)
{
    *c = (canvas){.width = width, .height = height, .pixels = alloc_array((size_t)width * height, 1)};
    memset(c->pixels, 0, (size_t)width * height);
    for (unsigned i = 0; i < CANVAS_INKS; i++)
        c->colors[i] = canvas_blend(WHITE, INK, i, CANVAS_INKS - 1);
}

void canvas_free(canvas *c)
{
    free(c->pixels);
}

void canvas_fill(canvas *c, unsigned x, unsigned y, unsigned width, unsigned height, uint8_t color)
{
    unsigned right = x + width < c->width ? x + width : c->width;
    unsigned bottom = y + height < c->height ? y + height : c->height;
    for (; y < bottom; y++)
        for (unsigned at = x; at < right; at++)
            c->pixels[(size_t)y * c->width + at] = color;
}

/* ---- text ---- */

/* The index of a character, and how many bytes it has. */
static unsigned glyph_of(const char *text, size_t *bytes)
{
    unsigned char first = (unsigned char)text[0];
    *bytes = 1;
    if (first >= FIRST && first <= LAST)
        return first - FIRST;
    while (((unsigned char)text[*bytes] & 0xc0) == 0x80)
        ++*bytes;
    return '?' - FIRST;
}

static unsigned width_of(const char *text, size_t *bytes)
{
    unsigned glyph = glyph_of(text, bytes);
    return (unsigned char)text[0] < 0x80 ? widths[glyph] : OTHER_WIDTH;
}

unsigned canvas_text_width(const char *text)
{
    unsigned width = 0;
    for (size_t bytes; *text; text += bytes)
        width += width_of(text, &bytes);
    return width;
}

static void draw_glyph(canvas *c, unsigned x, unsigned y, unsigned glyph)
{
    const char *from = glyphs[glyph];
    for (unsigned row = 0; row < CANVAS_TEXT_HEIGHT; row++)
        for (unsigned column = 0; column < widths[glyph]; column++, from++) {
            unsigned ink = (unsigned)(*from <= '9' ? *from - '0' : *from - 'a' + 10);
            if (ink && x + column < c->width && y + row < c->height)
                c->pixels[(size_t)(y + row) * c->width + x + column] = (uint8_t)ink;
        }
}

void canvas_text(canvas *c, unsigned x, unsigned y, const char *text)
{
    for (size_t bytes; *text; text += bytes) {
        unsigned width = width_of(text, &bytes);
        draw_glyph(c, x, y, glyph_of(text, &bytes));
        x += width;
    }
}

/* ---- PNG ---- */

typedef struct png {
    uint8_t *bytes;
    size_t used;
} png;

static void put_u32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void put_chunk(png *p, const char type[5], const uint8_t *data, size_t size)
{
    put_u32(p->bytes + p->used, (uint32_t)size);
    memcpy(p->bytes + p->used + 4, type, 4);
    if (size)
        memcpy(p->bytes + p->used + 8, data, size);
    put_u32(p->bytes + p->used + 8 + size, (uint32_t)crc32(0, p->bytes + p->used + 4, (uInt)(size + 4)));
    p->used += size + 12;
}

/* Each row after a byte that says that it is not filtered. */
static uint8_t *packed_rows(const canvas *c, uLongf *packed)
{
    size_t size = ((size_t)c->width + 1) * c->height;
    uint8_t *rows = alloc_array(size + 1, 1);
    for (unsigned y = 0; y < c->height; y++) {
        rows[y * ((size_t)c->width + 1)] = 0;
        memcpy(rows + y * ((size_t)c->width + 1) + 1, c->pixels + (size_t)y * c->width, c->width);
    }
    *packed = compressBound((uLong)size);
    uint8_t *bytes = alloc_array(*packed, 1);
    if (compress2(bytes, packed, rows, (uLong)size, Z_BEST_COMPRESSION) != Z_OK)
        exit(report("out of memory"));
    free(rows);
    return bytes;
}

uint8_t *canvas_png(const canvas *c, size_t *size)
{
    static const uint8_t magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t header[13] = {0}, palette[3 * CANVAS_COLORS];
    uLongf packed;
    uint8_t *rows = packed_rows(c, &packed);
    png p = {.bytes = alloc_array(packed + sizeof palette + 256, 1)};
    memcpy(p.bytes, magic, sizeof magic);
    p.used = sizeof magic;
    put_u32(header, c->width);
    put_u32(header + 4, c->height);
    header[8] = 8; /* bits of an index */
    header[9] = 3; /* of a palette */
    put_chunk(&p, "IHDR", header, sizeof header);
    for (unsigned i = 0; i < CANVAS_COLORS; i++)
        for (unsigned k = 0; k < 3; k++)
            palette[3 * i + k] = (uint8_t)(c->colors[i] >> (16 - 8 * k));
    put_chunk(&p, "PLTE", palette, sizeof palette);
    put_chunk(&p, "IDAT", rows, packed);
    put_chunk(&p, "IEND", NULL, 0);
    free(rows);
    *size = p.used;
    return p.bytes;
}
