/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets that only this machine, or only this user, can reach. */
#ifndef CLI_VIEW_LISTEN_H
#define CLI_VIEW_LISTEN_H

#include <stddef.h>
#include <stdint.h>

#define LISTEN_MAX 2

/*
 * Listens on 127.0.0.1 and ::1, on one port of both; port 0: any that is free. Returns how many
 * sockets there are, 0 after a message.
 */
size_t listen_loopback(uint16_t *port, int sockets[LISTEN_MAX]);
/* Listens on a UNIX socket of mode 0600. -1 after a message. */
int listen_unix(const char *path);

#endif
