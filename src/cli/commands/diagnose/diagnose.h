/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `lode diagnose`. */
#ifndef CLI_COMMANDS_DIAGNOSE_H
#define CLI_COMMANDS_DIAGNOSE_H

#include "output/out.h"

#include <lode/unstable.h>

/* A command that shows more: with "lode" before it, and rules and the store after it. */
#define DIAGNOSE_WORDS (LODE_EVIDENCE_WORDS + 4)

/* What a page is about, and how much of it is shown. */
typedef struct diagnose_page {
    const char *path;
    const lode_diagnosis *diagnosis;
    const lode_diagnosis *base; /* of --base; NULL: none */
    const char *base_path;
    int all;                /* also what is small or weak, and rules that did not run */
    const char *kinds_path; /* of rules that the diagnosis follows; NULL: none */
} diagnose_page;

/* How a statement differs from those of `base`; `before` gets its counterpart, or NULL. */
lode_statement_change diagnose_change(const lode_diagnosis *base, const lode_statement *statement,
                                      const lode_statement **before);
/* Whether a statement of the base is not made any more. */
int diagnose_is_gone(const diagnose_page *page, const lode_statement *before);
/* The words of the command that shows more of an evidence, and their number; 0: there is none. */
size_t diagnose_command(const diagnose_page *page, const lode_evidence *evidence,
                        const char *words[DIAGNOSE_WORDS]);
/* "left out", "biased", "too little", "damaged". */
const char *diagnose_level_name(lode_note_level level);
/* The tables of CSV, other than activities. */
void diagnose_csv(out *o, const diagnose_page *page);
/* The members of the JSON document. */
void diagnose_json(out *o, const diagnose_page *page);
/* An item of "quality" in JSON. */
void diagnose_json_note(out *o, const lode_quality_note *note);
/* The page, or the JSON of it. */
void diagnose_print(out *o, const diagnose_page *page);

#endif
