/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for kinds of functions: --kinds FILE. */
#ifndef CLI_KINDS_H
#define CLI_KINDS_H

#include <lode/unstable/kind.h>

/* NULL without a path. EXIT_DONE, or EXIT_TROUBLE after a message. */
int kinds_open(lode_kind_rules **kinds, const char *path);

#endif
