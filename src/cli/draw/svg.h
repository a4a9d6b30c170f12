/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures as SVG, written as text. */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include "output/out.h"

/* Opens a file with a picture; NULL after a message. svg_close ends it. */
out *svg_open(const char *path, unsigned width, unsigned height);
/* EXIT_DONE, or EXIT_TROUBLE after a message. */
int svg_close(out *o);
/* Text of a store, between tags. */
void svg_text(out *o, const char *text);
/* Colours to tell things apart, also for the colour-blind. */
#define SVG_COLOURS 8
const char *svg_colour(size_t index);

#endif
