/* SPDX-License-Identifier: BSD-3-Clause */
/* The server behind 'lode view': stores that stay open, and requests that are commands. */
#ifndef CLI_VIEW_VIEW_H
#define CLI_VIEW_VIEW_H

#include "host.h"
#include "view/transport.h"

#include <pthread.h>
#include <stdatomic.h>

#define VIEW_STORES_MAX   16
#define VIEW_TOKEN_SIZE   65 /* 32 bytes in hexadecimal */
#define VIEW_MESSAGE_SIZE 1024
#define VIEW_ANSWER_MAX   ((size_t)64 << 20)
#define VIEW_ANSWERS_MOST ((size_t)64 << 20) /* of the memory, and at most a quarter */

typedef enum view_state {
    VIEW_OPENING,
    VIEW_READY,
    VIEW_FAILED
} view_state;

typedef struct view_store {
    char *path;
    lode_store_kind kind;
    /* The rest is for those who have the lock, until the state is VIEW_READY. */
    view_state state;
    uint64_t done, total; /* of opening; total 0: not known */
    char problem[VIEW_MESSAGE_SIZE];
    host_store open;
    lode_check_level checked; /* when it was opened: what is large, quickly */
    int has_interval;         /* of trace lines or tracks */
    uint64_t begin, end;
    uint64_t content, identity; /* fingerprints when it was opened */
    int is_replaced;            /* since then */
    long long next_look;        /* at the files, in microseconds of the monotonic clock */
} view_store;

typedef struct view_server {
    char token[VIEW_TOKEN_SIZE];
    view_store stores[VIEW_STORES_MAX];
    atomic_size_t store_count; /* stores of runs are added while the server runs */
    pthread_mutex_t lock;
    pthread_t opener;
    size_t memory; /* of the process, as far as it can give pages of files back */
    cache *results, *answers;
    const lode_kind_rules *kinds; /* for all answers; NULL: none */
    const char *kinds_path;       /* of their file; NULL: none */
    uint64_t kinds_identity;
    const char *catalogue, *project; /* of runs; NULL: none, or the usual one */
    /* The path of the store of a run; EXIT_DONE or a message. free() it in both cases. */
    int (*find_run)(const char *catalogue, const char *project, int64_t run, char **path);
    pthread_mutex_t catalogue_lock; /* for who asks the catalogue, or adds a store of it */
    struct view_call *calls;        /* under way; for those who have the lock */
    atomic_int is_stopping;
    atomic_llong last_request; /* seconds of the monotonic clock */
    int stop_event;            /* an eventfd; -1: none */
} view_server;

/* Draws the token; EXIT_DONE or a message. view_destroy is due in both cases. */
int view_create(view_server *server, size_t memory);
/* Adds a store by the path that the user gave. EXIT_DONE or a message, which the page has too. */
int view_add_store(view_server *server, const char *path);
/* Opens the store of a run, unless it is open, and adds it. EXIT_DONE or a message. */
int view_open_run(view_server *server, int64_t run);
/* Begins to open the stores, one after the other. */
int view_open_stores(view_server *server);
/* Opens them now, in this thread; EXIT_DONE if all can be, or a message. */
int view_open_now(view_server *server);
void view_destroy(view_server *server);
void view_stop(view_server *server);
/* Whether a store that was opened is the one that is there; looks at its files now and then. */
int view_is_current(view_server *server, view_store *store);

/* As in view_handler; `user` is the server. */
int view_answer_request(void *user, const view_request *request, int may_work, view_answer *answer);

/* ---- parts of it ---- */

typedef struct view_buffer {
    char *bytes;
    size_t used, capacity;
} view_buffer;

/* A host that takes output into memory, and keeps the first message. */
typedef struct view_call {
    host host;
    view_server *server;
    const view_request *request;
    view_buffer output;
    char message[VIEW_MESSAGE_SIZE];
    int is_cancelled;
    long long last_look;    /* at the connection and the memory, in milliseconds */
    uint64_t done, total;   /* progress, for those who have the lock; total 0: not known */
    struct view_call *next; /* that is under way too */
} view_call;

void view_call_begin(view_call *call, view_server *server, const view_request *request);
void view_call_end(view_call *call);

/* The answer of /api/1/session; the bytes are the call's. */
void view_write_session(view_call *call);
void view_write_error(view_call *call, const char *message);

#endif
