/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/formats.h"

#include <lode/unstable/export.h>

#include <string.h>

const char *format_choices[FORMAT_CHOICES], *synth_choices[FORMAT_CHOICES], *layout_choices[FORMAT_CHOICES];
const char *export_choices[FORMAT_CHOICES];

static void add_choice(const char **choices, const char *name)
{
    size_t count = 0;
    while (choices[count] && strcmp(choices[count], name) != 0)
        count++;
    if (count + 1 < FORMAT_CHOICES)
        choices[count] = name;
}

void formats_init(void)
{
    lode_format_info info;
    for (size_t i = 0; lode_format_at(i, &info) == LODE_OK; i++) {
        if (info.can_write)
            add_choice(format_choices, info.family);
        if (info.can_synthesize)
            add_choice(synth_choices, info.family);
        if (info.layout)
            add_choice(layout_choices, info.layout);
    }
    lode_export_info format;
    for (size_t i = 0; lode_export_at(i, &format) == LODE_OK; i++)
        add_choice(export_choices, format.name);
}

int format_find(const char *family, const char *layout, lode_format_info *out)
{
    for (size_t i = 0; lode_format_at(i, out) == LODE_OK; i++)
        if ((!family || strcmp(out->family, family) == 0) &&
            (!layout || (out->layout && strcmp(out->layout, layout) == 0)))
            return 1;
    return 0;
}

const char *format_with_layouts(void)
{
    lode_format_info info;
    return layout_choices[0] && format_find(NULL, layout_choices[0], &info) ? info.family : "";
}
