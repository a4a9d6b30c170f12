/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that runs commands for others, such as a server, is their host: messages, output and
 * progress go to it, and stores that it has open and results in its cache are used again.
 *
 * A host belongs to the thread that runs the command. Without one, a command has the process.
 */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include "stores/tally.h"

#include <lode/unstable.h>

/* A store that stays open; either a database or a recording. */
typedef struct host_store {
    const char *path;
    lode_store_kind kind;
    lode_database *db;
    lode_recording *recording;
    tally opening, checking; /* findings */
} host_store;

typedef struct cache cache;

typedef struct host {
    void *user;
    /* A message to people, without "lode: ". */
    void (*on_message)(void *user, const char *text);
    /* As a lode_progress_fn; may be called by another thread. */
    int (*on_progress)(void *user, const char *phase, uint64_t done, uint64_t total);
    /* Output; errno if it cannot be taken, or 0. */
    int (*on_output)(void *user, const char *bytes, size_t size);
    /* An open store, by the path that the command was given; NULL: the command opens it. */
    const host_store *(*find_store)(void *user, const char *path);
    cache *results;               /* may be NULL */
    const lode_kind_rules *kinds; /* for all commands; may be NULL */
    const char *kinds_path;       /* of their file; NULL: none */
} host;

/* The host of this thread; NULL: none. */
host *host_current(void);
/* Sets it; NULL ends it. */
void host_set(host *h);

/* An open store of the host; NULL if there is no host, or none that has it. */
const host_store *host_find_store(const char *path);

/*
 * The cached result of a key; NULL: there is none, and the caller computes it. host_cache_put or
 * host_cache_abandon with the same key is due then: others wait for it.
 */
void *host_cache_take(const char *key);
/* Caches a result, which stays in use until host_cache_release. */
void host_cache_put(const char *key, void *result, size_t size, void (*free_result)(void *result));
void host_cache_abandon(const char *key);
/* The caller is done with a result: frees it if it is not cached. NULL is allowed. */
void host_cache_release(void *result, void (*free_result)(void *result));

#endif
