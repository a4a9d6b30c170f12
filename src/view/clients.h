/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which connections may stay, and how long. Clients that have not shown the token share a quarter
 * of the connections: if these are taken, a new one ends the oldest of them.
 * A slow client wins no time by sending a byte now and then.
 */
#ifndef VIEW_CLIENTS_H
#define VIEW_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum client_phase {
    CLIENT_READING,   /* a request, up to the end of its headers */
    CLIENT_ANSWERING, /* it is being computed or sent */
    CLIENT_IDLE       /* of a client that is known: between two requests */
} client_phase;

struct task;

/* A connection: has at most one request at a time. */
typedef struct client {
    struct task *task;
    int socket;
    /* The rest is for those who have the lock of the list. */
    client_phase phase;
    bool is_known; /* the client has shown the token */
    bool is_ended; /* closes as soon as the thread that has it looks */
    int64_t begun; /* the phase READING or IDLE, in milliseconds */
    struct client *previous, *next;
} client;

typedef struct clients clients;

/* Starts the thread that looks at the clock; NULL: it cannot. */
clients *clients_create(void);
/* No connection may be there any more. NULL is allowed. */
void clients_destroy(clients *all);

/* A client has come; NULL: out of memory. May end another connection. */
client *clients_open(clients *all, int socket);
/* Before the socket is closed. */
void clients_close(clients *all, client *c);

/* The first line of a request was read. */
void clients_begin(clients *all, client *c);
/* Its headers were read. */
void clients_answer(clients *all, client *c);
/* Its token was right. */
void clients_know(clients *all, client *c);
/* The answer was sent. */
void clients_rest(clients *all, client *c);

#endif
