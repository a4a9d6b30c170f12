/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats of the table. */
#ifndef LODE_EXPORT_FORMATS_H
#define LODE_EXPORT_FORMATS_H

#include "export/export.h"

#define EXPORT_FORMAT(name, file) extern const struct lode_export_format lode_export_##name;
#include "export/formats.def"

#endif
