/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program and the plug-in that serves HTTP know of each other: requests as they were sent,
 * and answers as they are to be sent. The plug-in has connections and threads, and no opinion.
 */
#ifndef CLI_VIEW_TRANSPORT_H
#define CLI_VIEW_TRANSPORT_H

#include <stddef.h>

#define VIEW_TRANSPORT_VERSION   3
#define VIEW_REQUEST_HEADERS_MAX 64
#define VIEW_ANSWER_HEADERS_MAX  16
#define VIEW_CONNECTIONS_MAX     64
#define VIEW_STRANGERS_MAX       16    /* of them: clients that have not shown the token */
#define VIEW_HEADER_SECONDS      5     /* until the headers of a request are complete */
#define VIEW_REQUEST_SECONDS     30    /* of a stranger, with its answer */
#define VIEW_IDLE_SECONDS        30    /* of a client with the token, between two requests */
#define VIEW_STALLED_SECONDS     120   /* of a client that reads no byte of its answer */
#define VIEW_REQUEST_MEMORY      16384 /* bytes of request line and headers */
#define VIEW_BODY_MAX            65536 /* bytes of a body */
#define VIEW_WORKERS             2     /* long requests at once; the others wait */

typedef struct view_header {
    const char *name, *value;
} view_header;

typedef struct view_request {
    const char *method;
    const char *target; /* path and query, as sent */
    view_header headers[VIEW_REQUEST_HEADERS_MAX];
    size_t header_count;
    int has_more_headers; /* than these: the request is to be refused */
    int has_body;
    const char *body; /* NULL: it has not been read */
    size_t body_size;
    /* Whether nobody waits for the answer any more; NULL: somebody does. */
    int (*is_gone)(void *connection);
    void *connection;
} view_request;

typedef struct view_answer {
    unsigned status;
    int has_token; /* the client has shown the token; known before there is an answer */
    view_header headers[VIEW_ANSWER_HEADERS_MAX];
    size_t header_count;
    char text[128]; /* of a header that is no constant */
    const void *body;
    size_t size;
    /* When the answer is sent, or will not be; may be NULL. */
    void (*release)(void *user, const void *body);
    void *user;
} view_answer;

typedef struct view_handler {
    void *user;
    /*
     * Returns whether there is an answer. If not, it takes time: then the request is to be handed
     * over again with `may_work`, by a thread that may be busy. A request whose body has not been
     * read is handed over again with it.
     */
    int (*answer)(void *user, const view_request *request, int may_work, view_answer *answer);
} view_handler;

/* The plug-in defines lode_view_plugin. */
typedef struct view_transport {
    unsigned version;
    /* Serves what arrives at these sockets, which become its own; 0, or -1 and the problem. */
    int (*start)(void **self, const int *sockets, size_t count, const view_handler *handler, char *problem,
                 size_t problem_size);
    /* Ends work that is under way, and all connections. */
    void (*stop)(void *self);
} view_transport;

#endif
