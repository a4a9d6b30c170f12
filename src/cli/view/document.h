/* SPDX-License-Identifier: BSD-3-Clause */
/* The page in one file, with answers inside: it opens from disk and requests nothing. */
#ifndef CLI_VIEW_DOCUMENT_H
#define CLI_VIEW_DOCUMENT_H

#include "output/out.h"

#include <stddef.h>

typedef struct document {
    char *script, *style; /* of the page */
    const char *script_hash, *style_hash;
} document;

/* Whether this program has a page that fits into a file; else EXIT_TROUBLE after a message. */
int document_is_possible(void);
/* Only if it is possible. */
void document_open(document *d);
void document_close(document *d);
/* Bytes of the file without answers, at most. */
size_t document_size(const document *d);

void document_begin(out *o, const document *d, const char *title);
/*
 * The answer to a question, as the page asks it: JSON in ASCII, in which nothing ends an element.
 */
void document_put(out *o, const char *question, unsigned status, const char *json, size_t size);
void document_end(out *o, const document *d);

#endif
