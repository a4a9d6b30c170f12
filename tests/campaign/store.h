/* SPDX-License-Identifier: BSD-3-Clause */
/* A store as files in memory, which can be bent and written to a directory. */
#ifndef LODE_TESTS_CAMPAIGN_STORE_H
#define LODE_TESTS_CAMPAIGN_STORE_H

#include <stdbool.h>
#include <stddef.h>

struct piece {
    char *name; /* below the directory of the store */
    unsigned char *bytes;
    size_t size;
};

struct store {
    char *label; /* where it came from */
    struct piece *pieces;
    size_t count;
};

/* Files larger than `most` bytes are cut behind their first lines if they are text. False if the directory cannot be read or is empty. */
bool store_load(struct store *store, const char *path, size_t most);
/* A trace store with its chunks unpacked and without checksums, so that changes reach the events. False if there is nothing to unpack. */
bool store_unpack(struct store *to, const struct store *from);
void store_copy(struct store *to, const struct store *from);
void store_free(struct store *store);
/* Into a directory that is not there yet. */
bool store_save(const struct store *store, const char *path);
size_t store_bytes(const struct store *store);

void piece_resize(struct piece *piece, size_t size);
void piece_remove(struct store *store, size_t index);

/* Of everything below a path. */
size_t tree_bytes(const char *path);
void tree_remove(const char *path);

#endif
