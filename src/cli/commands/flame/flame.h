/* SPDX-License-Identifier: BSD-3-Clause */
/* Flame graphs as files. */
#ifndef CLI_FLAME_H
#define CLI_FLAME_H

#include "output/out.h"

#include <lode/unstable.h>

/* What is drawn. */
typedef struct flame_picture {
    const lode_flame *flame;
    const char *path;  /* of the store */
    const char *title; /* what the boxes are: metric, function */
    double width;      /* pixels */
    double total;      /* of the store: percentages are shares of it */
    metric_unit unit;
    int names; /* NAMES_... */
    int is_bottom_up;
} flame_picture;

void flame_svg(out *o, const flame_picture *picture);
void flame_html(out *o, const flame_picture *picture);

/* The lines of the page around the boxes, in two halves: generated from page.html. */
extern const char *const flame_page_head[], *const flame_page_tail[];

#endif
