/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments and results: which values a function's records carry, how many bytes they take, and what they are. The specifications
 * come from the info file and from .dbg files; without one, a payload's length is not known.
 */
#ifndef LODE_UFTRACE_ARGS_H
#define LODE_UFTRACE_ARGS_H

#include "base/arena.h"
#include "base/range.h"
#include "model/finding.h"
#include <lode/event.h>

/* The values of one function's records, in their order. */
struct lode_uft_spec;
/* All that a recording specifies by name: argspec, retspec and the automatic ones, with their enumerations. */
struct lode_uft_specs;

/* The lines of the info file, as they are behind the colon; NULL where there is none. */
struct lode_uft_spec_strings {
    const char *argspec, *retspec, *argauto, *retauto, *enumauto;
    const char *pattern_type; /* "regex", "glob", "simple" */
    unsigned word;            /* bytes of a long: 4 or 8 */
    bool big_endian;
    bool has_auto; /* auto-args:1 */
};

/* Damaged pieces are findings and left out. All memory is the arena's but what close gives back. */
lode_status lode_uft_specs_open(struct lode_uft_specs **out, struct lode_arena *arena,
                                const struct lode_uft_spec_strings *strings, struct lode_report *report);
void lode_uft_specs_close(struct lode_uft_specs *specs);

/*
 * The specification by name of a function, or NULL: what was asked for before what is automatic. `name` is the symbol as in the
 * .sym file; patterns are matched with its simple demangled form. `module` is a path. MT: any thread.
 */
const struct lode_uft_spec *lode_uft_specs_find(const struct lode_uft_specs *specs, const char *name,
                                                const char *module, bool is_result);
/* The same with what a .dbg file says of the function (or NULL): after what was asked for, before what is automatic. */
const struct lode_uft_spec *lode_uft_specs_choose(const struct lode_uft_specs *specs, const char *name,
                                                  const char *module, bool is_result,
                                                  const struct lode_uft_spec *debug);
/*
 * One that a .dbg file gives, such as "@arg1/i32%rdi,arg2/s"; NULL if it is malformed or there is no memory. This and the next are for
 * while a recording is opened: MT: one thread.
 */
const struct lode_uft_spec *lode_uft_spec_parse(struct lode_uft_specs *specs, struct lode_arena *arena,
                                                const char *text, size_t length);
/* An "E:" line of a .dbg file, such as "enum color {RED=1,GREEN=2}". */
bool lode_uft_enum_parse(struct lode_uft_specs *specs, struct lode_arena *arena, const char *text,
                         size_t length);

/*
 * The bytes that a payload takes at the beginning of `bytes`, without the padding to 8 behind it; false if they are not all there or
 * make no sense.
 */
bool lode_uft_payload_size(const struct lode_uft_specs *specs, const struct lode_uft_spec *spec,
                           struct lode_range bytes, uint64_t *size);
/* Decodes a payload; as lode_event_arguments does. Pointers get no label here. */
lode_status lode_uft_payload_decode(const struct lode_uft_specs *specs, const struct lode_uft_spec *spec,
                                    struct lode_range bytes, lode_argument *arguments, size_t capacity,
                                    size_t *count, lode_error *error);
/* The same for what a known point event carries; none for another. */
lode_status lode_uft_event_decode(const struct lode_uft_specs *specs, uint64_t id, struct lode_range bytes,
                                  lode_argument *arguments, size_t capacity, size_t *count,
                                  lode_error *error);
/* The name of an event that every uftrace knows, such as "read:page-fault"; NULL for another. */
const char *lode_uft_event_name(uint64_t id);

#endif
