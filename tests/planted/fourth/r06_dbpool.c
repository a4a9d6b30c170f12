// SPDX-License-Identifier: BSD-3-Clause
/* Request handlers share a pool of connections to a small database server. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_CONNECTIONS 8
#define HANDLERS 8
#define QUERIES 60
#ifdef FIX
static const int pool_size = 8;
#else
static const int pool_size = 1;
#endif

static int pool[MAX_CONNECTIONS][2];
static int free_list[MAX_CONNECTIONS], free_count;
static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t available;

__attribute__((noinline)) static void *serve_connection(void *arg)
{
    int fd = *(int *)arg;
    uint32_t key;
    while (read(fd, &key, sizeof key) == sizeof key) {
        struct timespec disk = { 0, 2000000 };
        nanosleep(&disk, NULL);
        key = key * 2654435761u;
        if (write(fd, &key, sizeof key) != sizeof key)
            break;
    }
    return NULL;
}

__attribute__((noinline)) static int acquire_connection(void)
{
    sem_wait(&available);
    pthread_mutex_lock(&free_lock);
    int c = free_list[--free_count];
    pthread_mutex_unlock(&free_lock);
    return c;
}

__attribute__((noinline)) static void release_connection(int c)
{
    pthread_mutex_lock(&free_lock);
    free_list[free_count++] = c;
    pthread_mutex_unlock(&free_lock);
    sem_post(&available);
}

__attribute__((noinline)) static uint32_t run_query(uint32_t key)
{
    int c = acquire_connection();
    uint32_t row = 0;
    if (write(pool[c][0], &key, sizeof key) != sizeof key ||
        read(pool[c][0], &row, sizeof row) != sizeof row)
        perror("query");
    release_connection(c);
    return row;
}

__attribute__((noinline)) static void *handler_main(void *arg)
{
    uintptr_t id = (uintptr_t)arg, sum = 0;
    for (int i = 0; i < QUERIES; i++)
        sum += run_query((uint32_t)(id * 1000 + i));
    return (void *)sum;
}

int main(void)
{
    pthread_t servers[MAX_CONNECTIONS], handlers[HANDLERS];
    sem_init(&available, 0, pool_size);
    for (int i = 0; i < pool_size; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pool[i]))
            return 1;
        pthread_create(&servers[i], NULL, serve_connection, &pool[i][1]);
        free_list[free_count++] = i;
    }
    for (uintptr_t i = 0; i < HANDLERS; i++)
        pthread_create(&handlers[i], NULL, handler_main, (void *)i);
    uintptr_t total = 0;
    for (int i = 0; i < HANDLERS; i++) {
        void *sum;
        pthread_join(handlers[i], &sum);
        total += (uintptr_t)sum;
    }
    for (int i = 0; i < pool_size; i++) {
        close(pool[i][0]);
        pthread_join(servers[i], NULL);
    }
    printf("total %lu\n", (unsigned long)total);
    return 0;
}
