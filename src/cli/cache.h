/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache of results for the next request, up to a number of bytes; the least recently used go
 * first. A result that several want at once is computed once.
 */
#ifndef CLI_CACHE_H
#define CLI_CACHE_H

#include <stddef.h>

typedef struct cache cache;

cache *cache_create(size_t capacity);
/* Nothing may be in use any more. NULL is allowed. */
void cache_destroy(cache *k);

/*
 * The result of a key, now in use. NULL: there is none, and the caller makes it; cache_put or
 * cache_abandon is due. Waits while another makes it, until `is_over` returns true (then NULL, and
 * nothing is due).
 */
void *cache_take(cache *k, const char *key, int (*is_over)(void *user), void *user);
/* The result is cached, and in use. */
void cache_put(cache *k, const char *key, void *result, size_t size, void (*free_result)(void *result));
/* There will be no result. */
void cache_abandon(cache *k, const char *key);
/* The result of a key, now in use; NULL if there is none. Nothing is due. */
void *cache_find(cache *k, const char *key);
/* Caches a result that nobody waits for, not in use; frees it if there is one already. */
void cache_add(cache *k, const char *key, void *result, size_t size, void (*free_result)(void *result));
/* Whether the result is a cached one; it is no longer in use then. */
int cache_release(cache *k, const void *result);

/* The bytes of all results. */
size_t cache_size(cache *k);

#endif
