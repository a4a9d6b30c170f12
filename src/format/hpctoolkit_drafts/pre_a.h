/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of early 2022: that of version 4.0, but scopes and statistics lie inside metrics, contexts have no propagation bits
 * and no entry points above them, and profiles have no flags.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_PRE_A_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_PRE_A_H

#include "format/hpctoolkit/read.h"

/* Whether the meta.db of a folder is of this layout. */
bool lode_drafts_is_pre_a(const struct lode_folder *folder);

extern const struct hpct_layout lode_drafts_pre_a_layout;

#endif
