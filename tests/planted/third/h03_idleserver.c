// SPDX-License-Identifier: BSD-3-Clause
// Status server: waits for clients on a loopback TCP port. No client connects
// before the configured life time has expired; then it shuts down.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LIFETIME_MS 1000

struct server {
    int epoll;
    int listener;
    int timer;
    long clients;
    int running;
};

__attribute__((noinline)) static int watch(struct server *s, int fd)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev);
}

__attribute__((noinline)) static int start_server(struct server *s)
{
    struct sockaddr_in a = { 0 };
    struct itimerspec t = { { 0, 0 }, { LIFETIME_MS / 1000, LIFETIME_MS % 1000 * 1000000L } };

    s->epoll = epoll_create1(0);
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(s->listener, (struct sockaddr *)&a, sizeof(a)) || listen(s->listener, 16))
        return -1;
    s->timer = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(s->timer, 0, &t, NULL);
    s->running = 1;
    return watch(s, s->listener) || watch(s, s->timer);
}

__attribute__((noinline)) static void serve_client(struct server *s)
{
    static const char status[] = "status: ok\n";
    int fd = accept(s->listener, NULL, NULL);

    if (fd < 0)
        return;
    if (write(fd, status, sizeof(status) - 1) > 0)
        s->clients++;
    close(fd);
}

__attribute__((noinline)) static void event_loop(struct server *s)
{
    struct epoll_event ev[8];

    while (s->running) {
        int n = epoll_wait(s->epoll, ev, 8, -1);

        for (int i = 0; i < n; i++) {
            if (ev[i].data.fd == s->listener)
                serve_client(s);
            else
                s->running = 0;
        }
    }
}

int main(void)
{
    struct server s = { 0 };

    if (start_server(&s))
        return 1;
    event_loop(&s);
    printf("clients served: %ld\n", s.clients);
    close(s.timer);
    close(s.listener);
    close(s.epoll);
    return 0;
}
