/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats that the library has, as choices of options. */
#ifndef LODE_CLI_FORMATS_H
#define LODE_CLI_FORMATS_H

#include <lode/format.h>

enum {
    FORMAT_CHOICES = 32
};

/* Each ends with NULL: families that can be written, those that can be synthesized, and layouts. */
extern const char *format_choices[FORMAT_CHOICES], *synth_choices[FORMAT_CHOICES],
    *layout_choices[FORMAT_CHOICES];
/* Formats to export to. */
extern const char *export_choices[FORMAT_CHOICES];

/* Fills the choices. Before any option is read. */
void formats_init(void);
/* The first format of a family with a layout; NULL: any. 0 if there is none. */
int format_find(const char *family, const char *layout, lode_format_info *out);
/* The family of the formats that have layouts. */
const char *format_with_layouts(void);

#endif
