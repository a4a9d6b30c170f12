/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_FORMAT_PPROF_PROBE_H
#define LODE_FORMAT_PPROF_PROBE_H

#include "format/format.h"

int lode_pprof_probe(const struct lode_folder *folder);
/* What a file that looks similar is, and what to do with it; or NULL. */
const char *lode_pprof_explain(const struct lode_folder *folder);

#endif
