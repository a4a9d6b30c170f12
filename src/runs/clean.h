/* SPDX-License-Identifier: BSD-3-Clause */
/* Records for a back end that refuses what a file takes: other text than UTF-8, a name twice. */
#ifndef RUNS_CLEAN_H
#define RUNS_CLEAN_H

#include "runs/backend.h"

typedef struct clean_record clean_record;

/* NULL without memory. The number of the run stays that of the original. */
clean_record *clean_make(const run_record *run);
run_record *clean_get(clean_record *clean);
void clean_free(clean_record *clean);

/* Cut to what is stored, each byte that is not UTF-8 as U+FFFD. free() it; NULL without memory. */
char *clean_text(const char *text);

#endif
