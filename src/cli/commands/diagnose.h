/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `lode diagnose`. */
#ifndef CLI_COMMANDS_DIAGNOSE_H
#define CLI_COMMANDS_DIAGNOSE_H

#include "session.h"

/* The page, or the JSON of it. `all`: also what is small or weak, and rules that did not run. */
void diagnose_print(out *o, const session *s, const lode_diagnosis *diagnosis, int all);

#endif
