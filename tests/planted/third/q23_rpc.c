// SPDX-License-Identifier: BSD-3-Clause
// Remote procedure calls over a TCP connection: the client sends a header and
// a body and waits for the reply of the server.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NCALLS 26
#define BODY 600

struct header {
    uint32_t method;
    uint32_t length;
};

static int listener;

static int read_full(int fd, void *p, size_t n)
{
    char *c = p;

    while (n) {
        ssize_t r = read(fd, c, n);

        if (r <= 0)
            return 0;
        c += r;
        n -= r;
    }
    return 1;
}

__attribute__((noinline)) static uint32_t execute(uint32_t method, const unsigned char *b, uint32_t n)
{
    uint32_t h = method;

    for (int r = 0; r < 800; r++)
        for (uint32_t i = 0; i < n; i++)
            h = (h ^ b[i]) * 16777619u;
    return h;
}

__attribute__((noinline)) static void *server(void *arg)
{
    struct header h;
    unsigned char body[BODY];
    int fd = accept(listener, NULL, NULL);

    (void)arg;
    while (read_full(fd, &h, sizeof(h)) && read_full(fd, body, h.length)) {
        uint32_t reply = execute(h.method, body, h.length);

        if (write(fd, &reply, sizeof(reply)) != sizeof(reply))
            break;
    }
    close(fd);
    return NULL;
}

__attribute__((noinline)) static uint32_t call(int fd, uint32_t method, const unsigned char *body)
{
    struct header h = { method, BODY };
    uint32_t reply = 0;

    if (write(fd, &h, sizeof(h)) != sizeof(h))
        abort();
    if (write(fd, body, BODY) != BODY)
        abort();
    if (!read_full(fd, &reply, sizeof(reply)))
        abort();
    return reply;
}

__attribute__((noinline)) static int connect_server(struct sockaddr_in *a)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
#ifdef FIX
    int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
#endif
    if (connect(fd, (struct sockaddr *)a, sizeof(*a)))
        abort();
    return fd;
}

int main(void)
{
    struct sockaddr_in a = { 0 };
    socklen_t len = sizeof(a);
    pthread_t t;
    unsigned char body[BODY];
    uint32_t sum = 0;
    int fd;

    listener = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 4))
        return 1;
    getsockname(listener, (struct sockaddr *)&a, &len);
    pthread_create(&t, NULL, server, NULL);

    fd = connect_server(&a);
    for (int i = 0; i < NCALLS; i++) {
        for (int k = 0; k < BODY; k++)
            body[k] = (unsigned char)(i * 5 + k);
        sum = sum * 31 + call(fd, i % 4, body);
    }
    close(fd);
    pthread_join(t, NULL);
    close(listener);
    printf("calls %d sum %08x\n", NCALLS, sum);
    return 0;
}
