/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories that an export wrote: what --force may replace. */
#ifndef LODE_EXPORT_REPLACE_H
#define LODE_EXPORT_REPLACE_H

#include "base/io/output.h"

extern const struct lode_replace lode_replace_export;

/* Marks a directory as written by an export. */
lode_status lode_export_mark(struct lode_output *output, const char *format, lode_error *error);

#endif
