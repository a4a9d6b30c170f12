/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel symbols: what /proc/kallsyms said on a host, packed by xz. Lines are "ADDRESS TYPE NAME
 * [MODULE]". Functions are types t and T; each reaches to the next one. Unpacked as a stream.
 */
#ifndef LODE_FORMAT_HPCRUN_KERNEL_H
#define LODE_FORMAT_HPCRUN_KERNEL_H

#include "format/hpcrun/scopes/structure.h"

enum {
    KERNEL_UNPACKED_MOST = 1 << 26, /* bytes; 10 MB are usual */
    KERNEL_SYMBOLS_MOST = 1 << 20,  /* functions; 140,000 are usual */
    KERNEL_SYMBOLS_FLOOR = 1 << 16, /* functions, and how many bytes each further one takes: */
    KERNEL_SYMBOL_BYTES = 16,       /* an address has 16 digits, or 8 before a name */
    KERNEL_LINE_MOST = 4096,        /* bytes of a line */
    KERNEL_MEMORY_MOST = 72 << 20   /* bytes for unpacking; those of xz -9 */
};

#define KERNEL_FOLDER "kernel_symbols"

/* As lode_hpcstruct_read: a module whose path is `file`. */
lode_status lode_kernel_read(const char *file, struct lode_range bytes, lode_check_level level,
                             struct lode_report *report, hpcstruct_fn on_module, void *user);
/* Whether bytes begin as xz does. */
bool lode_kernel_begins(struct lode_range bytes);
/*
 * The file of a module, "kernel_symbols/vmlinux.H", from its path in a load map: the same or, until
 * 2024-04, "<vmlinux.H>". False if it is no kernel, or the name is too long.
 */
bool lode_kernel_file(const char *path, char *file, size_t capacity);

#endif
