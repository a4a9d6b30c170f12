/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structure files of hpcstruct: for each binary its functions, and which addresses are in which
 * function, loop, inlined call and line. Read as a stream: memory is for functions, scopes and
 * ranges of one binary.
 */
#ifndef LODE_FORMAT_HPCRUN_STRUCTURE_H
#define LODE_FORMAT_HPCRUN_STRUCTURE_H

#include "base/memory/intern.h"
#include "format/hpcrun/read/read.h"
#include <lode/unstable/measurements.h>

enum {
    HPCSTRUCT_DEPTH_MOST = 4096,        /* nested elements */
    HPCSTRUCT_ATTRIBUTE_MOST = 1 << 24, /* bytes of an attribute */
    HPCSTRUCT_RANGES_MOST = 1 << 26     /* of a binary */
};

/* A function, an inlined function, a loop or a line, inside another one. */
enum hpcstruct_kind {
    HPCSTRUCT_FUNCTION,
    HPCSTRUCT_INLINED,
    HPCSTRUCT_LOOP,
    HPCSTRUCT_LINE,
    HPCSTRUCT_UNKNOWN /* not in structure files: known to be unknown */
};

struct hpcstruct_scope {
    uint32_t parent;     /* LODE_NO_NUMBER: a function */
    uint32_t name, file; /* strings; LODE_NO_NUMBER: none */
    uint32_t line;
    uint64_t address; /* of functions and loops */
    enum hpcstruct_kind kind;
    uint32_t same_as; /* plus 1, the scope before that is of the same function; 0: none is */
};

struct hpcstruct_range {
    uint64_t start, end;
    uint32_t scope;
};

struct hpcstruct_call {
    uint64_t callee, address;
    uint32_t function; /* scope of the caller */
};

/* A binary. Ranges do not overlap and are sorted by address. */
struct hpcstruct_module {
    const char *path;
    const char *name;                   /* of its functions' module; NULL: as `path` */
    const struct lode_strings *strings; /* names and files of scopes */
    lode_structure_kind kind;
    bool has_calls; /* its call graph is in the file */
    bool is_cut;    /* two functions at one address: the rest was ignored */
    struct lode_array scopes, ranges, calls;
    uint64_t functions, inlined, loops, statements, dropped; /* dropped: ranges that overlap */
};

/* Called for each binary; it is valid during the call. */
typedef lode_status (*hpcstruct_fn)(void *user, const struct hpcstruct_module *module);

/* Readers of files about modules. LODE_END: after a finding that ends reading. */
typedef lode_status (*hpcstruct_reader_fn)(const char *file, struct lode_range bytes, lode_check_level level,
                                           struct lode_report *report, hpcstruct_fn on_module, void *user);

lode_status lode_hpcstruct_read(const char *file, struct lode_range bytes, lode_check_level level,
                                struct lode_report *report, hpcstruct_fn on_module, void *user);

/*
 * Of ranges in the order of the file, drops those that overlap one before; sorts the others. False
 * if out of memory.
 */
bool lode_hpcstruct_settle(struct lode_array *ranges, uint64_t *dropped);

#endif
