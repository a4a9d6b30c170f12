/* SPDX-License-Identifier: BSD-3-Clause */
/* Hotspots with keys that the caller gives. */
#ifndef LODE_ANALYSIS_HOTSPOT_H
#define LODE_ANALYSIS_HOTSPOT_H

#include "analysis/cost/key.h"
#include <lode/hotspot.h>

/* Gives keys: rows of one key are one. */
struct lode_row_keys {
    lode_status (*find)(void *user, const lode_context *context, const lode_hotspot *names, uint32_t *key,
                        lode_error *error);
    void *user;
};

/* As lode_hotspots_select; `keys` may be NULL. */
lode_status lode_hotspots_group(lode_hotspots **out, const lode_cost *cost,
                                const lode_hotspot_options *options, const struct lode_row_keys *keys,
                                lode_error *error);

/* By index of context: a number that contexts of one row share; UINT32_MAX for those of no row. */
lode_status lode_hotspots_rows_of_contexts(const lode_hotspots *hotspots, const lode_cost *cost,
                                           uint32_t *rows, lode_error *error);

enum lode_hotspot_place {
    LODE_PLACE_INHERITS, /* has the key of its parent */
    LODE_PLACE_NONE,     /* it and its body have no key */
    LODE_PLACE_KEY,      /* has its own key */
};

/* The key of a context, and the names for its row. */
enum lode_hotspot_place lode_hotspot_find_place(lode_group_by by, const lode_context *context,
                                                struct lode_key *key, lode_hotspot *names);

#endif
