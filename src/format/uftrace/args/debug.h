/* SPDX-License-Identifier: BSD-3-Clause */
/* .dbg files: source lines and specifications of arguments, by offset in a module. */
#ifndef LODE_UFTRACE_DEBUG_H
#define LODE_UFTRACE_DEBUG_H

#include "format/uftrace/args/args.h"

struct lode_uft_debug_entry {
    uint64_t offset;
    uint32_t line;                                  /* 0: not known */
    const char *file;                               /* NULL: not known */
    const struct lode_uft_spec *arguments, *result; /* NULL: none */
};

struct lode_uft_debug {
    const struct lode_uft_debug_entry *entries; /* by rising offset, distinct */
    size_t count;
};

/* Reads the text of one file; findings mention `name`. The caller compares the comment lines. */
lode_status lode_uft_debug_read(struct lode_uft_debug *out, struct lode_range text, const char *name,
                                struct lode_uft_specs *specs, struct lode_arena *arena,
                                struct lode_report *report);
/* The entry at exactly this offset, or NULL. */
const struct lode_uft_debug_entry *lode_uft_debug_find(const struct lode_uft_debug *debug, uint64_t offset);

#endif
