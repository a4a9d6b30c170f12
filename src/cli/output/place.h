/* SPDX-License-Identifier: BSD-3-Clause */
/* Where bytes go that are not text of the program: a path, standard output, a pipe or a device. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include "output/out_backend.h"

#include <stddef.h>

typedef struct out_place {
    const char *path; /* NULL: place_write gets the bytes */
    int fd;
    int is_standard; /* standard output */
    int is_broken;   /* nobody reads it any more */
    out_file file;   /* something else that is there and no regular file */
} out_place;

/* A new picture can get this path: no directory, and no file that is there, unless with --force.
   EXIT_DONE, or EXIT_TROUBLE after a message. */
int place_is_free(const char *path, int force);
/* "-" is standard output. EXIT_DONE, or EXIT_TROUBLE after a message. */
int place_open(out_place *place, const char *path);
void place_close(out_place *place, int is_complete);
/* A lode_write_fn; `user` is the place. */
int place_write(void *user, const void *bytes, size_t size);

#endif
