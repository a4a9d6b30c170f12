/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include "format/hpcrun/scopes/binary_protocol.h"
#include <stdbool.h>

/* Answers requests until they end. False if one of them is wrong, or memory ran out. */
bool unwind_all(void);

#endif
