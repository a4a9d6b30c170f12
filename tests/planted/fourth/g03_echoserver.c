// SPDX-License-Identifier: BSD-3-Clause
/* A server that waits for work: a paced client sends 100 requests per second. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS 150

static int listener;

__attribute__((noinline)) static uint32_t handle_request(uint32_t q)
{
    for (int i = 0; i < 100000; i++)
        q = q * 22695477u + 1u + (q >> 15);
    return q;
}

__attribute__((noinline)) static void *server_main(void *arg)
{
    (void)arg;
    int fd = accept(listener, NULL, NULL);
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        uint32_t q;
        if (poll(&p, 1, -1) < 1 || recv(fd, &q, sizeof q, MSG_WAITALL) != sizeof q)
            break;
        q = handle_request(q);
        if (send(fd, &q, sizeof q, 0) != sizeof q)
            break;
    }
    close(fd);
    return NULL;
}

__attribute__((noinline)) static void wait_for_tick(struct timespec *next)
{
    next->tv_nsec += 10000000;
    if (next->tv_nsec >= 1000000000) {
        next->tv_nsec -= 1000000000;
        next->tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

int main(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t length = sizeof address;
    pthread_t server;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1))
        return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    pthread_create(&server, NULL, server_main, NULL);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        return 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    uint64_t sum = 0;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint32_t q = i;
        wait_for_tick(&next);
        if (send(fd, &q, sizeof q, 0) != sizeof q || recv(fd, &q, sizeof q, MSG_WAITALL) != sizeof q)
            break;
        sum += q;
    }
    close(fd);
    pthread_join(server, NULL);
    close(listener);
    printf("sum %lu\n", (unsigned long)sum);
    return 0;
}
