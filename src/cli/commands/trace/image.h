/* SPDX-License-Identifier: BSD-3-Clause */
/* A timeline as a picture: SVG or PNG. */
#ifndef CLI_TRACE_IMAGE_H
#define CLI_TRACE_IMAGE_H

#include "commands/trace/draw.h"

#define IMAGE_HUES       7    /* the largest functions of the run that are not idle */
#define IMAGE_WIDTH_MAX  8192 /* pixels */
#define IMAGE_HEIGHT_MAX 4096 /* of the lines */

/* Places lines into a picture; 0: a size that suits them. */
image_plan image_plan_of(const trace_lines *lines, uint64_t width, uint64_t height);

/* What the legend says of a colour. */
typedef struct image_entry {
    char percent[NUMBER_SIZE], time[NUMBER_SIZE];
    unsigned hue; /* up to IMAGE_HUES, then IMAGE_OTHERS and IMAGE_IDLE */
    char *name;   /* escaped */
} image_entry;

enum {
    IMAGE_OTHERS = IMAGE_HUES,
    IMAGE_IDLE
};

typedef struct image {
    image_plan plan;
    const trace_drawing *drawing;
    char *title; /* escaped */
    image_entry entries[IMAGE_HUES + 2];
    unsigned entry_count;
} image;

/*
 * The hue of each key of a picture, by the picture that has given functions their keys. Functions
 * of the kind "not running" have none: they look as time in which nothing runs.
 */
void image_hues_of(uint8_t hues[256], const lode_picture *keys, const lode_kind_rules *kinds);

/* The bytes of a file; the caller frees them. */
char *image_svg(const image *i, size_t *size);
uint8_t *image_png(const image *i, size_t *size);

#endif
