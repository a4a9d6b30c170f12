/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of early 2022: like version 4.0, but scopes and statistics are inside metrics,
 * contexts have neither propagation bits nor entry points, and profiles have no flags.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_PRE_A_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_PRE_A_H

#include "format/hpctoolkit/read.h"

/* Whether a folder's meta.db has this layout. */
bool lode_drafts_is_pre_a(const struct lode_folder *folder);

extern const struct hpct_layout lode_drafts_pre_a_layout;

#endif
