/* SPDX-License-Identifier: BSD-3-Clause */
/* HPCToolkit 4.0 databases. */
#ifndef LODE_FORMAT_HPCTOOLKIT_H
#define LODE_FORMAT_HPCTOOLKIT_H

#include "format/format.h"

extern const struct lode_format lode_format_hpctoolkit;

#endif
