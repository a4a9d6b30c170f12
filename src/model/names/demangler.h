/* SPDX-License-Identifier: BSD-3-Clause */
/* The demangler of the C++ runtime. */
#ifndef LODE_MODEL_DEMANGLER_H
#define LODE_MODEL_DEMANGLER_H

#include <stddef.h>

/* That of __cxa_demangle. */
typedef char *(*lode_demangle_fn)(const char *mangled, char *buffer, size_t *length, int *status);

/* NULL if there is no C++ runtime; then names stay mangled. */
lode_demangle_fn lode_demangler(void);

#endif
