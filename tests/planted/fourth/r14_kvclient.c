// SPDX-License-Identifier: BSD-3-Clause
/* A key-value client and server over loopback TCP. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUESTS 40

struct header { uint32_t opcode, length; };
struct body { uint32_t key; char value[60]; };

static int listener;

__attribute__((noinline)) static int receive_all(int fd, void *data, size_t size)
{
    char *p = data;
    while (size) {
        ssize_t n = recv(fd, p, size, 0);
        if (n <= 0)
            return 0;
        p += n;
        size -= (size_t)n;
    }
    return 1;
}

__attribute__((noinline)) static void *server_main(void *arg)
{
    (void)arg;
    int fd = accept(listener, NULL, NULL);
    struct header h;
    struct body b;
    while (receive_all(fd, &h, sizeof h) && receive_all(fd, &b, sizeof b)) {
        uint32_t answer = h.opcode * 31 + b.key * 2654435761u;
        if (send(fd, &answer, sizeof answer, 0) != sizeof answer)
            break;
    }
    close(fd);
    return NULL;
}

__attribute__((noinline)) static uint32_t put_value(int fd, uint32_t key)
{
    struct { struct header h; struct body b; } message;
    memset(&message, 0, sizeof message);
    message.h.opcode = 2;
    message.h.length = sizeof(struct body);
    message.b.key = key;
    snprintf(message.b.value, sizeof message.b.value, "value of %u", key);
#ifdef FIX
    send(fd, &message, sizeof message, 0);
#else
    send(fd, &message.h, sizeof message.h, 0);
    send(fd, &message.b, sizeof message.b, 0);
#endif
    uint32_t answer = 0;
    receive_all(fd, &answer, sizeof answer);
    return answer;
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
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        return 1;
    uint64_t sum = 0;
    for (uint32_t key = 0; key < REQUESTS; key++)
        sum += put_value(fd, key);
    close(fd);
    pthread_join(server, NULL);
    close(listener);
    printf("sum %lu\n", (unsigned long)sum);
    return 0;
}
