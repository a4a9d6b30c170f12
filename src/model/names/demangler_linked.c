/* SPDX-License-Identifier: BSD-3-Clause */
/* A static program has the demangler in it. */
#include "model/names/demangler.h"

extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status); // NOLINT

lode_demangle_fn lode_demangler(void)
{
    return __cxa_demangle;
}
