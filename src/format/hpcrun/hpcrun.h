/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements of hpcrun: a directory, or one file of it. */
#ifndef LODE_FORMAT_HPCRUN_HPCRUN_H
#define LODE_FORMAT_HPCRUN_HPCRUN_H

#include "format/format.h"

extern const struct lode_format lode_format_hpcrun, lode_format_hpcrun_file;

#endif
