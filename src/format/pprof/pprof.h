/* SPDX-License-Identifier: BSD-3-Clause */
/* pprof profiles (profile.proto, mostly compressed with gzip), read as databases. */
#ifndef LODE_FORMAT_PPROF_PPROF_H
#define LODE_FORMAT_PPROF_PPROF_H

#include "format/format.h"

extern const struct lode_format lode_format_pprof;

#endif
