/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/listen.h"

#include "output/report.h"
#include "text/number.h"
#include "view/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096 /* a client that finds it full tries again after a second */
#define TRIES   20   /* to find a port that is free for both addresses */

static int listen_at(int family, const void *address, socklen_t size)
{
    int on = 1, quiet = VIEW_HEADER_SECONDS;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (family != AF_UNIX) {
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        /* Clients that have sent nothing take no connection; the others are read at once. */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &quiet, sizeof quiet);
    }
    if (bind(fd, address, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

static int listen_ipv4(uint16_t *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = listen_at(AF_INET, &address, size);
    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0)
        *port = ntohs(address.sin_port);
    return fd;
}

/* -1 with EADDRINUSE if somebody else has the port; other reasons mean that there is no IPv6. */
static int listen_ipv6(uint16_t port)
{
    struct sockaddr_in6 address = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    return listen_at(AF_INET6, &address, sizeof address);
}

size_t listen_loopback(uint16_t *port, int sockets[LISTEN_MAX])
{
    uint16_t asked = *port;
    /* Whoever has the same port of ::1 would be asked by browsers that try "localhost" there. */
    for (int i = 0; i < (asked ? 1 : TRIES); i++) {
        *port = asked;
        sockets[0] = listen_ipv4(port);
        if (sockets[0] < 0)
            break;
        sockets[1] = listen_ipv6(*port);
        if (sockets[1] >= 0)
            return 2;
        if (errno != EADDRINUSE)
            return 1;
        close(sockets[0]);
        errno = EADDRINUSE;
    }
    const char *hint = asked && errno == EADDRINUSE ? "; without --port, any free one is used" : "";
    report("cannot listen on port %u of this machine: %s%s", (unsigned)asked, strerror(errno), hint);
    return 0;
}

/* A socket that nobody listens on is left from a server that was killed. */
static void remove_stale(const char *path, const struct sockaddr_un *address)
{
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISSOCK(status.st_mode) || status.st_uid != geteuid())
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED)
        unlink(path);
    if (fd >= 0)
        close(fd);
}

int listen_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        report("%s: the path of a socket has at most %s", path,
               COUNTED(sizeof address.sun_path - 1, "byte", "bytes"));
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    remove_stale(path, &address);
    /* No other thread runs yet: the mask is that of the process. */
    mode_t mask = umask(0177);
    int fd = listen_at(AF_UNIX, &address, sizeof address);
    int code = errno;
    umask(mask);
    if (fd < 0)
        report("%s: cannot listen: %s", path, strerror(code));
    return fd;
}
