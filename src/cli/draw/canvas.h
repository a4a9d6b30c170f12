/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of pixels with a palette, and PNG files of them. */
#ifndef CLI_CANVAS_H
#define CLI_CANVAS_H

#include <stddef.h>
#include <stdint.h>

#define CANVAS_COLORS      256
#define CANVAS_TEXT_HEIGHT 14
#define CANVAS_INKS        16 /* colours from the background to text */

typedef struct canvas {
    unsigned width, height;
    uint8_t *pixels;                /* indices of colours, row by row */
    uint32_t colors[CANVAS_COLORS]; /* 0xRRGGBB; the first CANVAS_INKS are for text */
} canvas;

/* White, with black text. */
void canvas_init(canvas *c, unsigned width, unsigned height);
void canvas_free(canvas *c);
/* What is outside is left out. */
void canvas_fill(canvas *c, unsigned x, unsigned y, unsigned width, unsigned height, uint8_t color);
/* ASCII; all else is drawn as '?'. `y` is the top. */
void canvas_text(canvas *c, unsigned x, unsigned y, const char *text);
/* In pixels. Characters that are not ASCII count as wide ones. */
unsigned canvas_text_width(const char *text);

/* The file; the caller frees it. */
uint8_t *canvas_png(const canvas *c, size_t *size);

/* A colour between two: `part` of `whole` is the second one. */
uint32_t canvas_blend(uint32_t from, uint32_t to, unsigned part, unsigned whole);

#endif
