/* SPDX-License-Identifier: BSD-3-Clause */
/* lode export --list: the formats, and what each can hold. */
#ifndef CLI_EXPORT_LIST_H
#define CLI_EXPORT_LIST_H

#include "output/out.h"

/* Returns the exit status. */
int export_list(out *o);

#endif
