/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that reads binaries when stores are opened (lode/private/measured.h). */
#ifndef LODE_FORMAT_SYMBOLS_H
#define LODE_FORMAT_SYMBOLS_H

#include <lode/private/measured.h>

/* Its path; NULL: binaries are not read. */
const char *lode_symbols_program(void);

#endif
