/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of things, whole, in a buffer that is used again for the next one. */
#ifndef CLI_LABEL_H
#define CLI_LABEL_H

#include <lode/unstable.h>

/* Starts as all zero. */
typedef struct label {
    char *text;
    size_t capacity;
} label;

/* Each is valid until the label is used again. */
const char *label_function(label *l, const lode_function *function);
/* The same in the form that --names asks for (NAMES_...). */
const char *label_name(label *l, const lode_function *function, int names);
const char *label_symbol(label *l, const char *symbol, int names);
const char *label_context(label *l, const lode_context *context);
const char *label_context_as(label *l, const lode_context *context, int names);
const char *label_profile(label *l, const lode_database *db, uint32_t profile);
/* The title of a column of such names. */
const char *title_of_hotspots(lode_group_by by);
const char *label_hotspot(label *l, const lode_hotspot *hotspot);
/* "file.c:12", "file.c", or NULL without a file. */
const char *label_place(label *l, const lode_file *file, uint32_t line);
void label_free(label *l);

/* What NAMES_BY_STORE means. */
int names_of_database(const lode_database *db, int names);
int names_of_recordings(int names);
lode_name_form name_form(int names);

/* Names of what a function may not know. NULL where it does not. */
const char *path_of_file(const lode_file *file);
const char *path_of_module(const lode_module *module);

/* The last component of the path of a module; that there are several; or NULL: none is known. */
const char *label_modules(const lode_module *module, int are_several);

/* The name of the kind of function of a row; NULL if it is not of one. `rules` may be NULL. */
const char *kind_of_hotspot(const lode_hotspot *hotspot, lode_group_by by, const lode_kind_rules *rules);

/* The nearest context, upwards, that begins a function, whether that has a name or not. */
const lode_context *enclosing_function(const lode_context *context);

#endif
