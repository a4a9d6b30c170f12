/* SPDX-License-Identifier: BSD-3-Clause */
/* A store as files in memory, which can be mutated and written to a directory. */
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

/* Truncates text files larger than `most` after their first lines. False if empty or unreadable. */
bool store_load(struct store *store, const char *path, size_t most);
/* A trace store with unpacked chunks and no checksums, so that mutations reach the events. */
bool store_unpack(struct store *to, const struct store *from);
void store_copy(struct store *to, const struct store *from);
void store_free(struct store *store);
/* Into a directory that is not there yet. */
bool store_save(const struct store *store, const char *path);
size_t store_total_bytes(const struct store *store);

void piece_resize(struct piece *piece, size_t size);
void piece_remove(struct store *store, size_t index);

/* Of everything below a path. */
size_t tree_bytes(const char *path);
void tree_remove(const char *path);

#endif
