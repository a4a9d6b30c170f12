/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drafts of the HPCToolkit format, 2021 to mid-2022, which also claim version 4.0. Their
 * metadata distinguishes three layouts:
 *
 *   draft XML      experiment.xml; profile.db, cct.db and trace.db are big-endian (binary.h)
 *   draft meta.db  meta.db begins with HPCTOOLKIT_expmt; the others as in draft XML
 *   pre-A          meta.db like that of 4.0, but for some records; the others as in 4.0
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_H

#include "format/format.h"

extern const struct lode_format lode_format_hpctoolkit_drafts;

/* One layout. open and check require a folder of this layout. */
struct drafts_layout {
    const char *name;
    bool (*probe)(const struct lode_folder *folder);
    lode_status (*open)(lode_database **out, const struct lode_folder *folder, lode_error *error);
    lode_status (*check)(const struct lode_folder *folder, const lode_check_options *options,
                         lode_check_result *result, lode_error *error);
};

extern const struct drafts_layout lode_drafts_xml, lode_drafts_metadb, lode_drafts_pre_a;

#endif
