/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats to export to, one file each. */
#ifndef LODE_EXPORT_FORMATS_H
#define LODE_EXPORT_FORMATS_H

#include "export/export.h"

extern const struct lode_export_format lode_export_folded, lode_export_pprof, lode_export_callgrind,
    lode_export_hatchet;
extern const struct lode_export_format lode_export_chrome, lode_export_perfetto;
extern const struct lode_export_format lode_export_parquet, lode_export_csv, lode_export_jsonl,
    lode_export_sqlite;
extern const struct lode_export_format lode_export_firefox, lode_export_otf2, lode_export_speedscope;

#endif
