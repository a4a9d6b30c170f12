/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and lines of a binary, as a process of its own finds them: src/symbols. Whatever a binary
 * makes of that process, here is an answer that was checked, or none.
 */
#ifndef LODE_FORMAT_HPCRUN_BINARY_H
#define LODE_FORMAT_HPCRUN_BINARY_H

#include "base/memory/blob.h"
#include "format/hpcrun/scopes/binary_protocol.h"
#include "format/hpcrun/scopes/structure.h"
#include <spawn.h>

enum {
    BINARY_MEGABYTES = 2048, /* of the process */
    BINARY_SECONDS = 60,     /* of its processor time */
    BINARY_WHY_SIZE = 128
};

#define BINARY_NOT_ELF "not an ELF file" /* an answer that is no finding */

/*
 * A process that forks one for each request. It starts with the first request, and again after it
 * died.
 */
struct binary_helper {
    const char *program; /* the path of lode-symbols */
    int socket;          /* -1: it does not run */
    pid_t pid;
};

#define BINARY_HELPER_INIT(path) ((struct binary_helper){.program = (path), .socket = -1})

void lode_binary_helper_close(struct binary_helper *helper);

struct binary_request {
    struct binary_helper *helper;
    int binary, debug; /* open files; debug is -1: what the binary itself has */
    bool symbols_only; /* without debug information */
    bool has_loops;    /* code is analysed */
    bool is_all;       /* all code is asked about, and there are no offsets */
    const uint64_t *offsets;
    uint32_t count;
    struct lode_blob *raw; /* gets what the process said, if it is sound; may be NULL */
};

/* What the process said. */
struct binary_reply {
    struct hpcstruct_module module; /* a range for each offset that has an answer, or all code */
    struct lode_strings strings;
    bool has_debug;
    bool is_partial;     /* some debug information is in further files, which are not read */
    bool lacks_loops;    /* the processor is not known */
    bool has_some_loops; /* there is too much code */
    uint8_t build_id[SYMBOLS_BUILD_ID_MOST];
    size_t build_id_size;
    struct lode_blob link;     /* the name of a file with debug information, and a NUL; or empty */
    char why[BINARY_WHY_SIZE]; /* if LODE_END */
};

/* LODE_END: no answer, and why. Free the reply in every case. */
lode_status lode_binary_ask(struct binary_reply *reply, const struct binary_request *request,
                            lode_error *error);
void lode_binary_free(struct binary_reply *reply);

/* Writes all of it; false: it cannot be written. */
bool lode_binary_write(int fd, const void *bytes, size_t size);
/* Starts lode-symbols in a mode, with a limit of processor seconds and an empty environment. */
bool lode_binary_start(const char *path, const char *mode, unsigned limit,
                       const posix_spawn_file_actions_t *actions, pid_t *pid);

/* Checks and takes what a process wrote; false: it is not what it should be, or out of memory. */
bool lode_binary_parse(struct binary_reply *reply, struct lode_range bytes,
                       const struct binary_request *request);
void lode_binary_init(struct binary_reply *reply);

#endif
