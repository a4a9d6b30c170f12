/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the file of a load module is on this machine. Relative paths are below the measurements,
 * and links are not followed there. Absolute ones are looked for where a replacement leads to, then
 * as they are; for foreign measurements, only below the measurements.
 */
#ifndef LODE_FORMAT_HPCRUN_MODULE_FILE_H
#define LODE_FORMAT_HPCRUN_MODULE_FILE_H

#include "base/io/beneath.h"
#include "format/hpcrun/scopes/binary.h"
#include "format/hpcrun/scopes/scopes.h"
#include <limits.h>

struct hpcrun_module_file {
    int fd;              /* a regular file, open for reading; -1: none */
    int directory;       /* open; -1: none */
    char path[PATH_MAX]; /* in it, without links; or in the root, after '/' */
    char root[PATH_MAX]; /* the path of the directory */
    bool is_beneath;     /* `directory` is that of measurements, not the root */
    uint64_t size;
};

/* False if there is no regular file. Close it if there is. */
bool lode_module_file_find(struct hpcrun_module_file *file, const struct hpcrun_asking *asking,
                           const char *path, const char *directory);
void lode_module_file_close(struct hpcrun_module_file *file);

/* A question about a file: what is asked, and what findings are said to be of. */
struct binary_asking {
    const struct hpcrun_asking *all;
    const char *path; /* for findings */
    unsigned rule;    /* of findings */
    struct hpcrun_module_file file;
    struct binary_request request;
    uint64_t size_most; /* set when it is asked */
    lode_error *error;
};

/*
 * Asks about an open file: debug information in it or beside it, and symbols. LODE_END: no answer.
 * Free the reply in every case.
 */
lode_status lode_hpcrun_ask_file(struct binary_asking *asking, struct binary_reply *reply);

/*
 * "FROM=TO" applied to a path that begins with the components FROM; '*' in it stands for any
 * characters of one component. False if it does not apply.
 */
bool lode_replace_prefix(const char *replacement, const char *path, char out[PATH_MAX]);

#endif
