/* SPDX-License-Identifier: BSD-3-Clause */
/* From addresses to contexts, on rank 0: what its parts share. */
#ifndef LODE_FORMAT_HPCRUN_SOURCE_EXPAND_H
#define LODE_FORMAT_HPCRUN_SOURCE_EXPAND_H

#include "format/hpcrun/binaries/cache.h"
#include "format/hpcrun/source/source.h"

/* What makes a site. */
struct hpcrun_site_key {
    uint64_t offset;
    uint32_t root; /* the context of the launch: a node of the tree */
    uint32_t question;
};

_Static_assert(sizeof(struct hpcrun_site_key) == 16, "no padding");

struct hpcrun_expanding {
    struct hpcrun_source *source;
    const struct hpcrun_raw *raw;
    struct hpcrun_scopes scopes;
    const char **directories; /* of measurements */
    struct hpcrun_asking asking;
    struct binary_helper helper;
    struct binary_cache cache;
    uint32_t *questions;            /* by module: its question */
    uint32_t *chains;               /* by frame of the raw tree */
    uint32_t *routes;               /* by frame of the raw tree: a list, or LODE_NO_NUMBER */
    struct lode_content_tree tree;  /* of contexts; their frames are in `scopes` */
    struct hpcrun_place *nodes;     /* by node of the raw tree: nodes of `tree` */
    struct lode_interner site_keys; /* struct hpcrun_site_key */
    struct lode_array site_lists;   /* uint32_t: routes by site that has any */
    lode_error *error;
};

/* Asks all providers on rank 0, and what rank 0 shares out on the others. */
lode_status lode_hpcrun_ask_shared(struct hpcrun_expanding *self);
lode_status lode_hpcrun_ask_share(struct hpcrun_expanding *self);

/* Adds the scopes around a point, and the point itself. False if out of memory. */
bool lode_hpcrun_expand_point(struct hpcrun_expanding *self, uint32_t parent, uint32_t question,
                              uint64_t offset, uint32_t chain, struct hpcrun_place *out);

/*
 * A point whose callers were not unwound, below a context, is a site if routes to it are known:
 * then `out` has its number. False if out of memory.
 */
bool lode_hpcrun_expand_site(struct hpcrun_expanding *self, uint32_t parent, uint32_t frame,
                             struct hpcrun_place *out);
/* The contexts of all routes, once all sites are known. */
lode_status lode_hpcrun_expand_routes(struct hpcrun_expanding *self);

#endif
