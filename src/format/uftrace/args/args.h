/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments and results: which values the records of a function carry, and their sizes and types.
 * Specifications come from the info file and .dbg files; a payload without one has unknown size.
 */
#ifndef LODE_UFTRACE_ARGS_H
#define LODE_UFTRACE_ARGS_H

#include "base/io/range.h"
#include "base/memory/arena.h"
#include "model/finding.h"
#include <lode/event.h>

/* The values of one function's records, in order. */
struct lode_uft_spec;
/* All specifications by name: argspec, retspec and the automatic ones, with their enumerations. */
struct lode_uft_specs;

/* The lines of the info file, after the colon; NULL where there is none. */
struct lode_uft_spec_strings {
    const char *argspec, *retspec, *argauto, *retauto, *enumauto;
    const char *pattern_type; /* "regex", "glob", "simple" */
    unsigned word;            /* bytes of a long: 4 or 8 */
    bool big_endian;
    bool has_auto; /* auto-args:1 */
};

/* Reports and skips malformed pieces. The arena owns all memory that close does not free. */
lode_status lode_uft_specs_open(struct lode_uft_specs **out, struct lode_arena *arena,
                                const struct lode_uft_spec_strings *strings, struct lode_report *report);
void lode_uft_specs_close(struct lode_uft_specs *specs);

/*
 * The specification of a function by name, or NULL; explicit ones precede automatic ones. `name` is
 * the symbol of the .sym file; patterns match its simple demangled form. `module` is a path. MT:
 * any thread.
 */
const struct lode_uft_spec *lode_uft_specs_find(const struct lode_uft_specs *specs, const char *name,
                                                const char *module, bool is_result);
/* Also considers `debug` of a .dbg file, or NULL: after explicit, before automatic ones. */
const struct lode_uft_spec *lode_uft_specs_choose(const struct lode_uft_specs *specs, const char *name,
                                                  const char *module, bool is_result,
                                                  const struct lode_uft_spec *debug);
/*
 * A specification in a .dbg file, such as "@arg1/i32%rdi,arg2/s"; NULL if it is malformed or memory
 * runs out. Call this and the next only while the recording is being opened. MT: one thread.
 */
const struct lode_uft_spec *lode_uft_spec_parse(struct lode_uft_specs *specs, struct lode_arena *arena,
                                                const char *text, size_t length);
/* An "E:" line of a .dbg file, such as "enum color {RED=1,GREEN=2}". */
bool lode_uft_enum_parse(struct lode_uft_specs *specs, struct lode_arena *arena, const char *text,
                         size_t length);

/* The size of the payload at `bytes`, without its final padding; false if it is invalid. */
bool lode_uft_payload_size(const struct lode_uft_specs *specs, const struct lode_uft_spec *spec,
                           struct lode_range bytes, uint64_t *size);
/* Decodes a payload like lode_event_arguments. Pointers get no label here. */
lode_status lode_uft_payload_decode(const struct lode_uft_specs *specs, const struct lode_uft_spec *spec,
                                    struct lode_range bytes, lode_argument *arguments, size_t capacity,
                                    size_t *count, lode_error *error);
/* Decodes the data of an event with a known id; other events have no values. */
lode_status lode_uft_event_decode(const struct lode_uft_specs *specs, uint64_t id, struct lode_range bytes,
                                  lode_argument *arguments, size_t capacity, size_t *count,
                                  lode_error *error);
/* The name of a predefined event, such as "read:page-fault"; NULL for other ids. */
const char *lode_uft_event_name(uint64_t id);

#endif
