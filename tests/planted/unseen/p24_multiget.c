// SPDX-License-Identifier: BSD-3-Clause
/* Client of a key/value server on a loopback TCP socket: loads a set of keys. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEYS  24000
#define BATCH 128

struct request {
    uint32_t count;
    uint32_t key[BATCH];
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

__attribute__((noinline)) static int recv_all(int fd, void *p, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = recv(fd, (char *)p + got, n - got, 0);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return 0;
        got += r;
    }
    return 1;
}

__attribute__((noinline)) static void send_all(int fd, const void *p, size_t n)
{
    while (n) {
        ssize_t r = send(fd, p, n, MSG_NOSIGNAL);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            die("send");
        p = (const char *)p + r;
        n -= r;
    }
}

__attribute__((noinline)) static uint64_t lookup(uint32_t key)
{
    uint64_t h = key;
    for (int i = 0; i < 2000; i++)
        h = (h ^ (h >> 31)) * 0x9e3779b97f4a7c15ull + i;
    return h;
}

static void *server(void *arg)
{
    int ls = (int)(long)arg, fd = accept(ls, NULL, NULL), one = 1;
    struct request rq;
    uint64_t reply[BATCH];

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    while (recv_all(fd, &rq.count, 4) && rq.count && recv_all(fd, rq.key, 4 * rq.count)) {
        for (uint32_t i = 0; i < rq.count; i++)
            reply[i] = lookup(rq.key[i]);
        send_all(fd, reply, 8 * rq.count);
    }
    close(fd);
    return NULL;
}

__attribute__((noinline)) static void get_keys(int fd, const uint32_t *keys, uint32_t n, uint64_t *values)
{
    struct request rq;

    rq.count = n;
    memcpy(rq.key, keys, 4 * n);
    send_all(fd, &rq, 4 + 4 * n);
    recv_all(fd, values, 8 * n);
}

__attribute__((noinline)) static void load_values(int fd, const uint32_t *keys, uint64_t *values)
{
#ifdef FIX
    for (uint32_t i = 0; i < KEYS; i += BATCH)
        get_keys(fd, keys + i, KEYS - i < BATCH ? KEYS - i : BATCH, values + i);
#else
    for (uint32_t i = 0; i < KEYS; i++)
        get_keys(fd, keys + i, 1, values + i);
#endif
}

int main(void)
{
    static uint32_t keys[KEYS], stop;
    static uint64_t values[KEYS];
    struct sockaddr_in sa = { .sin_family = AF_INET };
    socklen_t len = sizeof(sa);
    int ls = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    uint64_t sum = 0;
    pthread_t t;

    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(ls, (struct sockaddr *)&sa, sizeof(sa)) || listen(ls, 1))
        die("bind");
    getsockname(ls, (struct sockaddr *)&sa, &len);
    pthread_create(&t, NULL, server, (void *)(long)ls);
    if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    for (int i = 0; i < KEYS; i++)
        keys[i] = i * 2654435761u;
    load_values(fd, keys, values);
    send_all(fd, &stop, 4);
    pthread_join(t, NULL);
    close(fd);
    close(ls);
    for (int i = 0; i < KEYS; i++)
        sum = sum * 31 + values[i];
    printf("sum %016lx\n", sum);
    return 0;
}
