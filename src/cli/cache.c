/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache.h"

#include "alloc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_NS     10000000
#define ENTRIES_MAX 4096 /* keys take memory too */

typedef struct entry {
    char *key;
    void *result; /* NULL: being made */
    size_t size, users;
    void (*free_result)(void *result);
    struct entry *next; /* was used earlier */
} entry;

struct cache {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t capacity, size, count;
    entry *first; /* was used last */
};

cache *cache_create(size_t capacity)
{
    cache *k = alloc_array(1, sizeof *k);
    k->capacity = capacity;
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->changed, NULL);
    return k;
}

static void entry_free(entry *e)
{
    if (!e)
        return;
    if (e->result)
        e->free_result(e->result);
    free(e->key);
    free(e);
}

void cache_destroy(cache *k)
{
    if (!k)
        return;
    while (k->first) {
        entry *next = k->first->next;
        entry_free(k->first);
        k->first = next;
    }
    pthread_cond_destroy(&k->changed);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

/* Takes it out of the list; NULL if there is none. */
static entry *unlink_key(cache *k, const char *key)
{
    for (entry **at = &k->first; *at; at = &(*at)->next) {
        entry *e = *at;
        if (strcmp(e->key, key) != 0)
            continue;
        *at = e->next;
        k->count--;
        return e;
    }
    return NULL;
}

static void push(cache *k, entry *e)
{
    e->next = k->first;
    k->first = e;
    k->count++;
}

/* The entry that can go and was not used for the longest time; NULL: none can. */
static entry *find_oldest(cache *k)
{
    entry *oldest = NULL;
    for (entry *e = k->first; e; e = e->next)
        if (e->result && e->users == 0)
            oldest = e;
    return oldest;
}

static void make_room(cache *k)
{
    while (k->size > k->capacity || k->count > ENTRIES_MAX) {
        entry *oldest = find_oldest(k);
        if (!oldest)
            return;
        k->size -= oldest->size;
        entry_free(unlink_key(k, oldest->key));
    }
}

static entry *add_entry(cache *k, const char *key)
{
    entry *e = alloc_array(1, sizeof *e);
    e->key = alloc_text(key);
    push(k, e);
    return e;
}

void *cache_find(cache *k, const char *key)
{
    pthread_mutex_lock(&k->lock);
    entry *e = unlink_key(k, key);
    if (e)
        push(k, e);
    void *result = e ? e->result : NULL;
    if (result)
        e->users++;
    pthread_mutex_unlock(&k->lock);
    return result;
}

void cache_add(cache *k, const char *key, void *result, size_t size, void (*free_result)(void *result))
{
    pthread_mutex_lock(&k->lock);
    entry *e = unlink_key(k, key);
    if (e) {
        push(k, e);
        free_result(result);
    } else {
        e = add_entry(k, key);
        e->result = result;
        e->size = size;
        e->free_result = free_result;
        k->size += size;
        make_room(k);
    }
    pthread_mutex_unlock(&k->lock);
}

static void wait_for_change(cache *k)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&k->changed, &k->lock, &until);
}

void *cache_take(cache *k, const char *key, int (*is_over)(void *user), void *user)
{
    void *result = NULL;
    pthread_mutex_lock(&k->lock);
    for (;;) {
        entry *e = unlink_key(k, key);
        if (!e) {
            add_entry(k, key);
            break;
        }
        push(k, e);
        if (e->result) {
            e->users++;
            result = e->result;
            break;
        }
        wait_for_change(k);
        if (is_over(user))
            break;
    }
    pthread_mutex_unlock(&k->lock);
    return result;
}

void cache_put(cache *k, const char *key, void *result, size_t size, void (*free_result)(void *result))
{
    pthread_mutex_lock(&k->lock);
    entry *e = unlink_key(k, key);
    /* Who did not wait may be late: the first result stays, and this one is the caller's. */
    if (e && !e->result) {
        e->result = result;
        e->size = size;
        e->users = 1;
        e->free_result = free_result;
        k->size += size;
    }
    if (e)
        push(k, e);
    make_room(k);
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

void cache_abandon(cache *k, const char *key)
{
    pthread_mutex_lock(&k->lock);
    entry *e = unlink_key(k, key);
    if (e && e->result)
        push(k, e);
    else if (e)
        entry_free(e);
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

int cache_release(cache *k, const void *result)
{
    int is_found = 0;
    pthread_mutex_lock(&k->lock);
    for (entry *e = k->first; e && !is_found; e = e->next) {
        is_found = e->result == result;
        e->users -= (size_t)is_found;
    }
    make_room(k);
    pthread_mutex_unlock(&k->lock);
    return is_found;
}

size_t cache_size(cache *k)
{
    pthread_mutex_lock(&k->lock);
    size_t size = k->size;
    pthread_mutex_unlock(&k->lock);
    return size;
}
