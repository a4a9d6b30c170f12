/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was measured, of many profiles: one calling context tree of addresses and placeholders, the
 * metrics, the kinds of ids. Workers and ranks have one each; merging two gives the same content in
 * any order.
 */
#ifndef LODE_FORMAT_HPCRUN_RAW_H
#define LODE_FORMAT_HPCRUN_RAW_H

#include "base/memory/arena.h"
#include "format/hpcrun/read/read.h"
#include "format/hpcrun/scopes/scopes.h"

enum hpcrun_raw_kind {
    HPCRUN_RAW_POINT,       /* an instruction */
    HPCRUN_RAW_INFERRED,    /* one whose callers were not unwound: frames are missing above it */
    HPCRUN_RAW_PLACEHOLDER, /* its code is in `offset` */
    HPCRUN_RAW_UNKNOWN,
    HPCRUN_RAW_ENTRY /* an entry point: its kind is in `offset`, and the name is that of `module` */
};

/* The content of a node. */
struct hpcrun_raw_frame {
    uint64_t offset;
    uint32_t module; /* or LODE_NO_NUMBER */
    uint32_t kind;
};

/* Something that the first profile decides that has it. */
struct hpcrun_origin {
    uint64_t profile;  /* in the order of profiles */
    uint32_t position; /* in its table */
};

struct hpcrun_raw_metric {
    const char *name, *description, *format;
    /* "": measured; else #N is replaced by the name of metric N, between the bytes 1 and 2 */
    const char *formula;
    struct hpcrun_origin origin;
    uint8_t show, percent;
};

struct hpcrun_raw_kind_name {
    const char *name; /* NULL: no profile names it */
    struct hpcrun_origin origin;
};

struct hpcrun_raw {
    struct lode_strings paths;
    struct lode_interner modules; /* struct hpcrun_module_key */
    struct lode_interner frames;  /* struct hpcrun_raw_frame */
    struct lode_content_tree tree;
    struct lode_strings metric_keys;
    struct lode_array metrics; /* struct hpcrun_raw_metric, by number of their keys */
    struct hpcrun_raw_kind_name kinds[HPCRUN_ID_KINDS_MOST];
    const char *title; /* NULL: none */
    struct hpcrun_origin title_origin;
    struct lode_arena arena; /* of strings */
};

bool lode_hpcrun_raw_init(struct hpcrun_raw *raw);
void lode_hpcrun_raw_free(struct hpcrun_raw *raw);

/* All of these return false, or LODE_NO_NUMBER, if out of memory. */

/* A module of this key, whatever its parts mean. */
uint32_t lode_hpcrun_raw_add_module(struct hpcrun_raw *raw, const char *path, uint32_t directory);
/* `directory` is for relative paths. */
uint32_t lode_hpcrun_raw_module(struct hpcrun_raw *raw, const char *path, uint32_t directory);
/*
 * Fills `sorted` with the numbers of modules by path, then by directory: an order that does not
 * depend on who read what.
 */
void lode_hpcrun_raw_sort_modules(struct hpcrun_raw *raw, uint32_t *sorted);
/* The number of a metric, which is copied if it is new or of an earlier origin. */
uint32_t lode_hpcrun_raw_metric(struct hpcrun_raw *raw, const struct hpcrun_raw_metric *metric);
bool lode_hpcrun_raw_kind(struct hpcrun_raw *raw, unsigned kind, const char *name,
                          struct hpcrun_origin origin);
bool lode_hpcrun_raw_title(struct hpcrun_raw *raw, const char *title, struct hpcrun_origin origin);

static inline const struct hpcrun_raw_frame *lode_hpcrun_raw_frame(const struct hpcrun_raw *raw,
                                                                   uint32_t number)
{
    return LODE_ARRAY_AT(&raw->frames.items, struct hpcrun_raw_frame, number);
}

/* Adds all of `from`. The maps are by its nodes and metrics; `metrics` may be NULL. */
bool lode_hpcrun_raw_merge(struct hpcrun_raw *raw, const struct hpcrun_raw *from, uint32_t *nodes,
                           uint32_t *metrics);
/* All but the tree and its frames, for another process; unpacks into an empty one. */
bool lode_hpcrun_raw_pack(const struct hpcrun_raw *raw, struct lode_blob *blob);
bool lode_hpcrun_raw_unpack(struct hpcrun_raw *raw, const unsigned char **at);

#endif
