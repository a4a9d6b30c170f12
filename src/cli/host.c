/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include "cache.h"

static _Thread_local host *current;

host *host_current(void)
{
    return current;
}

void host_set(host *h)
{
    current = h;
}

const host_store *host_find_store(const char *path)
{
    return current && current->find_store ? current->find_store(current->user, path) : NULL;
}

static int is_cancelled(void *user)
{
    const host *h = user;
    return h->on_progress(h->user, "", 0, 0);
}

void *host_cache_take(const char *key)
{
    return current && current->results ? cache_take(current->results, key, is_cancelled, current) : NULL;
}

void host_cache_put(const char *key, void *result, size_t size, void (*free_result)(void *result))
{
    if (current && current->results)
        cache_put(current->results, key, result, size, free_result);
}

void host_cache_abandon(const char *key)
{
    if (current && current->results)
        cache_abandon(current->results, key);
}

void host_cache_release(void *result, void (*free_result)(void *result))
{
    if (result && !(current && current->results && cache_release(current->results, result)))
        free_result(result);
}
