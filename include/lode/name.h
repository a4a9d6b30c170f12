/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for people: demangled, and never empty. */
#ifndef LODE_NAME_H
#define LODE_NAME_H

#include <lode/context.h>
#include <lode/profile.h>

LODE_BEGIN_DECLS

/*
 * Each writes a NUL-terminated name, cut at `capacity` bytes (never inside a character), and
 * returns the length that the whole name has. It is valid UTF-8, and safe to print: control
 * characters (C0, C1, DEL), line and paragraph separators, bidirectional controls and bytes that
 * are not UTF-8 become '?'. The same holds for lode_hotspot_label. Names that are not labels, such
 * as lode_function_name, are as in the files. MT: any thread.
 */

/*
 * A symbol as it is in C++, or with its parameters as in Java, if it has such a form, else as it
 * is.
 */
LODE_API size_t lode_demangle(const char *symbol, char *buffer, size_t capacity);
/*
 * The same without parameters, template arguments and result types, as tracers print it:
 * "app::run".
 */
LODE_API size_t lode_simple_name(const char *symbol, char *buffer, size_t capacity);
/* Functions to show and to hide: lode/unstable/match.h. */
typedef struct lode_filter lode_filter;
/* Rules for kinds of functions: lode/unstable/kind.h. */
typedef struct lode_kind_rules lode_kind_rules;

/* Forms of names. */
typedef enum lode_name_form {
    LODE_NAME_FULL,   /* with parameters and template arguments: lode_function_label */
    LODE_NAME_SIMPLE, /* without: as lode_simple_name; of names that are stored demangled too */
    LODE_NAME_RAW     /* as in the files */
} lode_name_form;

/* A function: its name, or what is known of it, such as "[libm.so.6+0x1c20]". */
LODE_API size_t lode_function_label(const lode_function *function, char *buffer, size_t capacity);
/*
 * A context: "main", "loop at lulesh.cc:1052", "lulesh.cc:17", "libm.so.6+0x1c20", "main thread".
 */
LODE_API size_t lode_context_label(const lode_context *context, char *buffer, size_t capacity);
/* The same in a form; raw names are safe to print here too. */
LODE_API size_t lode_function_label_as(const lode_function *function, lode_name_form form, char *buffer,
                                       size_t capacity);
LODE_API size_t lode_context_label_as(const lode_context *context, lode_name_form form, char *buffer,
                                      size_t capacity);
/* A profile: "rank 3 thread 0"; "rank 3 thread 0 (worker)" if the name is known; or "summary". */
LODE_API size_t lode_profile_label(const lode_database *db, uint32_t profile, char *buffer, size_t capacity);
/* The last component of a path, as it is. Points into `path`. */
LODE_API const char *lode_path_tail(const char *path);

LODE_END_DECLS
#endif
