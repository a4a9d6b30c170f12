/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYMBOLS_BINARY_H
#define SYMBOLS_BINARY_H

#include "answer.h"
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

/*
 * Functions, inlined functions and lines of debug information. Ends the file, and with it sections
 * that were unpacked. Returns SYMBOLS_HAS_...
 */
unsigned read_debug(struct answers *answers, Elf *elf);
/* Symbols, for offsets without an answer. */
void read_symbols(struct answers *answers, Elf *elf);
/* The same of those that are compressed in the binary; it is the one of SYMBOLS_BINARY_FD. */
void read_mini_symbols(struct answers *answers, Elf *elf);
/* Names the offsets in a symbol that have no answer. */
void use_symbol(struct answers *answers, const GElf_Sym *symbol, const char *name);

#endif
