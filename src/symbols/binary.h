/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYMBOLS_BINARY_H
#define SYMBOLS_BINARY_H

#include "answer.h"
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>

/* Functions, inlined functions and lines of debug information. Returns SYMBOLS_HAS_... */
unsigned read_debug(struct answers *answers, Dwarf *dwarf);
/* Symbols, for offsets without an answer. */
void read_symbols(struct answers *answers, Elf *elf);

#endif
