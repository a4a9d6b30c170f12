/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mangled names, as far as the names in them need it: what lies between these is passed over without being understood. A full
 * demangler would write out what substitutions stand for, and 250 hostile bytes become a gigabyte; this takes one step for each byte.
 */
#ifndef LODE_UFTRACE_ARGS_MANGLED_H
#define LODE_UFTRACE_ARGS_MANGLED_H

#include "format/uftrace/text.h"

/* What is open up to its "E". */
enum lode_uft_mangled_kind {
    UFT_MANGLED_TYPES,    /* types and template arguments */
    UFT_MANGLED_NESTED,   /* a qualified name */
    UFT_MANGLED_ENCODING, /* a name, then types */
    UFT_MANGLED_LITERAL,  /* a type, then a number */
    UFT_MANGLED_LAMBDA,   /* types, then a number behind the "E" */
    UFT_MANGLED_EXPRESSION,
    UFT_MANGLED_NEW /* a new-expression: expressions, "_", a type */
};

/*
 * Passes over what follows its opening letters, up to and with its "E". `has_name`: of an encoding, the name is behind; of a nested name, a
 * type follows, as in a conversion. False if it is malformed, or deeper than anything real.
 */
bool lode_uft_mangled_skip(struct uft_text *text, enum lode_uft_mangled_kind kind, bool has_name);

/* A name with its length before it. */
bool lode_uft_mangled_source_name(struct uft_text *text, struct uft_text *name);
/* [number] _ : -1 if there is no number. */
bool lode_uft_mangled_sequence(struct uft_text *text, int64_t *number);

#endif
