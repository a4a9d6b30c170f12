/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the page that `lode view` serves, packed with gzip and linked into the program.
 *
 * The build makes the table from web/ (web/embed.py). A program that was built without a page has
 * an empty one: page_file_count is 0, and page_files[0] is all zero.
 */
#ifndef CLI_VIEW_PAGE_H
#define CLI_VIEW_PAGE_H

#include <stddef.h>

typedef struct page_file {
    const char *path;            /* "/index.html", "/app.js", ...; "/" is for the router to map */
    const char *media_type;      /* with its charset, as Content-Type wants it */
    const char *etag;            /* in quotes; of the unpacked bytes */
    const char *hash;            /* for a policy, if it can be an element of a page; or "" */
    const unsigned char *packed; /* gzip, without a time stamp */
    size_t packed_size;
    size_t size; /* unpacked */
} page_file;

/* In the order of their paths. */
extern const page_file page_files[];
extern const size_t page_file_count;

/* What people are told who have an empty one. */
#define VIEW_NO_PAGE                                                                                         \
    "this build of Lode has no page for browsers: it was made without npm; build it with npm, from a "       \
    "release tarball, or with -Dviewer_page=DIR"

#endif
