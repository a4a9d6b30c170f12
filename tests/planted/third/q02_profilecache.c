// SPDX-License-Identifier: BSD-3-Clause
// Web back end: four request threads look up user profiles in a shared cache.
// A miss is loaded from slow storage (latency of the device is modelled by a
// sleep after the read).
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NWORKERS 4
#define NREQ 90
#define NPROFILES 1024
#define RECSIZE 512
#define STORAGE_LATENCY_NS 2500000L

struct profile {
    int loaded;
    unsigned char data[RECSIZE];
};

static struct profile cache[NPROFILES];
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static int store_fd;

__attribute__((noinline)) static void storage_read(int id, unsigned char *buf)
{
    struct timespec ts = { 0, STORAGE_LATENCY_NS };

    if (pread(store_fd, buf, RECSIZE, (off_t)id * RECSIZE) != RECSIZE)
        abort();
    nanosleep(&ts, NULL);
}

__attribute__((noinline)) static void get_profile(int id, unsigned char *out)
{
    pthread_mutex_lock(&cache_lock);
    if (!cache[id].loaded) {
#ifdef FIX
        unsigned char tmp[RECSIZE];

        pthread_mutex_unlock(&cache_lock);
        storage_read(id, tmp);
        pthread_mutex_lock(&cache_lock);
        memcpy(cache[id].data, tmp, RECSIZE);
#else
        storage_read(id, cache[id].data);
#endif
        cache[id].loaded = 1;
    }
    memcpy(out, cache[id].data, RECSIZE);
    pthread_mutex_unlock(&cache_lock);
}

__attribute__((noinline)) static uint64_t render_page(const unsigned char *p)
{
    uint64_t h = 1469598103934665603ull;

    for (int r = 0; r < 400; r++)
        for (int i = 0; i < RECSIZE; i++)
            h = (h ^ p[i]) * 1099511628211ull;
    return h;
}

__attribute__((noinline)) static void *request_worker(void *arg)
{
    long w = (long)arg;
    unsigned char buf[RECSIZE];
    uint64_t acc = 0;

    for (int i = 0; i < NREQ; i++) {
        // every third request hits a profile seen before
        int k = (i % 3 == 2) ? i / 2 : i;

        get_profile((int)(w * 256 + k), buf);
        acc ^= render_page(buf) + i;
    }
    return (void *)(uintptr_t)acc;
}

static void create_store(char *path)
{
    unsigned char rec[RECSIZE];

    store_fd = mkstemp(path);
    if (store_fd < 0)
        exit(1);
    for (int id = 0; id < NPROFILES; id++) {
        for (int i = 0; i < RECSIZE; i++)
            rec[i] = (unsigned char)(id * 7 + i * 13);
        if (write(store_fd, rec, RECSIZE) != RECSIZE)
            exit(1);
    }
}

int main(void)
{
    char path[] = "/tmp/profilesXXXXXX";
    pthread_t tid[NWORKERS];
    uint64_t total = 0;

    create_store(path);
    for (long i = 0; i < NWORKERS; i++)
        pthread_create(&tid[i], NULL, request_worker, (void *)i);
    for (int i = 0; i < NWORKERS; i++) {
        void *r;

        pthread_join(tid[i], &r);
        total += (uint64_t)(uintptr_t)r;
    }
    printf("served %d requests, digest %llx\n", NWORKERS * NREQ,
           (unsigned long long)total);
    close(store_fd);
    unlink(path);
    return 0;
}
