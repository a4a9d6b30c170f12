/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw/svg.h"

#include "command.h"
#include "output/report.h"

#include <string.h>

out *svg_open(const char *path, unsigned width, unsigned height)
{
    out_settings settings = {.format = OUT_TEXT, .color = COLOR_NEVER, .file = path};
    out *o = out_open(&settings);
    if (o)
        out_print(o,
                  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %u %u' font-family='sans-serif' "
                  "font-size='12'>\n<rect width='%u' height='%u' fill='white'/>\n",
                  width, height, width, height);
    return o;
}

int svg_close(out *o)
{
    out_print(o, "</svg>\n");
    return out_close(o, EXIT_DONE);
}

void svg_text(out *o, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (entity)
            out_write(o, entity, strlen(entity));
        else
            out_write(o, text, strcspn(text, "<>&"));
        text += entity ? 0 : strcspn(text, "<>&") - 1;
    }
}

const char *svg_colour(size_t index)
{
    static const char *const colours[SVG_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                     "#e69f00", "#56b4e9", "#8c8c8c", "#7a5195"};
    return colours[index % SVG_COLOURS];
}
