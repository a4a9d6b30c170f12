/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/symbols.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(lode_symbols_fn) finder;

void lode_symbols_find_by(lode_symbols_fn find)
{
    atomic_store(&finder, find);
}

const char *lode_symbols_program(void)
{
    lode_symbols_fn find = atomic_load(&finder);
    return find ? find() : NULL;
}
