/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking a database of the big-endian drafts. The metadata is checked by reading it; the rest is here. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_CHECK_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_CHECK_H

#include "format/hpctoolkit_drafts/binary.h"

/* As struct drafts_layout wants it. */
lode_status lode_drafts_check(const struct drafts_meta *meta, const struct lode_folder *folder,
                              const lode_check_options *options, lode_check_result *result,
                              lode_error *error);

#endif
