/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `lode diagnose`. */
#ifndef CLI_COMMANDS_DIAGNOSE_H
#define CLI_COMMANDS_DIAGNOSE_H

#include "output/out.h"

#include <lode/lode.h>

/* What a page is about, and how much of it is shown. */
typedef struct diagnose_page {
    const char *path, *title; /* the title may be "" */
    const lode_diagnosis *diagnosis;
    int all; /* also what is small or weak, and rules that did not run */
} diagnose_page;

/* The page, or the JSON of it. */
void diagnose_print(out *o, const diagnose_page *page);

#endif
