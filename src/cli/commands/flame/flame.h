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
/*
 * The page with the answer that this writes as JSON. EXIT_DONE, or EXIT_TROUBLE after a message.
 */
int flame_html(out *o, const char *store, void (*write_json)(out *json, const void *user), const void *user);

#endif
