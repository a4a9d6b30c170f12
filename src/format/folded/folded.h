/* SPDX-License-Identifier: BSD-3-Clause */
/* Folded stacks, one "frame;frame;frame COUNT" per line, read as databases. */
#ifndef LODE_FORMAT_FOLDED_FOLDED_H
#define LODE_FORMAT_FOLDED_FOLDED_H

#include "format/format.h"

extern const struct lode_format lode_format_folded;

#endif
