/* SPDX-License-Identifier: BSD-3-Clause */
/* What rows of costs can be, as choices of --by. */
#ifndef CLI_GROUP_CHOICES_H
#define CLI_GROUP_CHOICES_H

#include <lode/hotspot.h>

extern const char *const group_choices[];
extern const char *const code_group_choices[]; /* without symbol and kind */

/* The first choice if `text` is NULL. 0: it is none of them, but kinds of ids. */
int group_find(const char *text, const char *const *choices, lode_group_by *by);
const char *group_name(lode_group_by by);
#endif
