// SPDX-License-Identifier: BSD-3-Clause
// Print spooler: the front end submits a page, a worker rasterises it, the
// front end then submits the next page (the device accepts one page at a time).
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NPAGES 110
#define WIDTH 800
#define HEIGHT 600
#define POLL_US 5000

enum state { IDLE, SUBMITTED, DONE, QUIT };

struct spool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    int page;
    uint32_t digest;
};

static struct spool spool = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, IDLE, 0, 0
};
static uint8_t raster[HEIGHT][WIDTH];

__attribute__((noinline)) static uint32_t rasterise(int page)
{
    uint32_t h = page;

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            raster[y][x] = (uint8_t)((x * page + y * 3) >> 2);
            h = h * 31 + raster[y][x];
        }
    return h;
}

static void set_state(enum state s)
{
    pthread_mutex_lock(&spool.lock);
    spool.state = s;
#ifdef FIX
    pthread_cond_broadcast(&spool.changed);
#endif
    pthread_mutex_unlock(&spool.lock);
}

__attribute__((noinline)) static enum state wait_for(enum state a, enum state b)
{
    enum state s;

#ifdef FIX
    pthread_mutex_lock(&spool.lock);
    while (spool.state != a && spool.state != b)
        pthread_cond_wait(&spool.changed, &spool.lock);
    s = spool.state;
    pthread_mutex_unlock(&spool.lock);
#else
    for (;;) {
        pthread_mutex_lock(&spool.lock);
        s = spool.state;
        pthread_mutex_unlock(&spool.lock);
        if (s == a || s == b)
            break;
        usleep(POLL_US);
    }
#endif
    return s;
}

__attribute__((noinline)) static void *spool_worker(void *arg)
{
    (void)arg;
    while (wait_for(SUBMITTED, QUIT) == SUBMITTED) {
        spool.digest = rasterise(spool.page);
        set_state(DONE);
    }
    return NULL;
}

__attribute__((noinline)) static uint32_t print_document(void)
{
    uint32_t sum = 0;

    for (int p = 1; p <= NPAGES; p++) {
        spool.page = p;
        set_state(SUBMITTED);
        wait_for(DONE, DONE);
        sum = sum * 17 + spool.digest;
    }
    return sum;
}

int main(void)
{
    pthread_t worker;
    uint32_t sum;

    pthread_create(&worker, NULL, spool_worker, NULL);
    sum = print_document();
    set_state(QUIT);
    pthread_join(worker, NULL);
    printf("pages %d digest %08x\n", NPAGES, sum);
    return 0;
}
