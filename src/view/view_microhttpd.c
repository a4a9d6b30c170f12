/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in that serves HTTP with libmicrohttpd: connections, and threads for long work. A
 * connection is suspended while a worker computes its answer.
 */
#include "clients.h"

#include "cli/view/transport.h"

#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DAEMONS_MAX 2
#define STOP_WAIT   1000000 /* nanoseconds */
#define STOP_WAITS  1000    /* at most, for answers that are being sent */

struct server;

/* One request: made when its first line is read, freed when its answer is sent. */
struct task {
    struct server *server;
    client *client;
    struct MHD_Connection *connection;
    char *method, *target, *body;
    view_request request;
    view_answer answer;
    bool is_begun, is_done;
    struct task *next; /* in the queue */
};

struct server {
    view_handler handler;
    clients *clients;
    struct MHD_Daemon *daemons[DAEMONS_MAX];
    size_t daemon_count;
    pthread_t workers[VIEW_WORKERS];
    size_t worker_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct task *first, **last;      /* the queue */
    atomic_size_t suspended, active; /* requests; active ones are not sent yet */
    atomic_bool is_stopping;
};

/* ---- long work ---- */

static int is_gone(void *connection)
{
    const struct task *task = connection;
    struct pollfd end = {.fd = task->client->socket, .events = POLLRDHUP};
    return atomic_load(&task->server->is_stopping) ||
           (poll(&end, 1, 0) > 0 && (end.revents & (POLLRDHUP | POLLHUP | POLLERR)));
}

static struct task *take_task(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    while (!server->first && !atomic_load(&server->is_stopping))
        pthread_cond_wait(&server->changed, &server->lock);
    struct task *task = server->first;
    if (task) {
        server->first = task->next;
        server->last = server->first ? server->last : &server->first;
    }
    pthread_mutex_unlock(&server->lock);
    return task;
}

static void *work(void *argument)
{
    struct server *server = argument;
    struct task *task;
    while ((task = take_task(server))) {
        /* Who went away while waiting gets what nobody reads. */
        if (is_gone(task))
            task->answer = (view_answer){.status = MHD_HTTP_SERVICE_UNAVAILABLE};
        else
            server->handler.answer(server->handler.user, &task->request, 1, &task->answer);
        task->is_done = true;
        MHD_resume_connection(task->connection);
        atomic_fetch_sub(&server->suspended, 1);
    }
    return NULL;
}

static void push_task(struct server *server, struct task *task)
{
    atomic_fetch_add(&server->suspended, 1);
    MHD_suspend_connection(task->connection);
    pthread_mutex_lock(&server->lock);
    task->next = NULL;
    *server->last = task;
    server->last = &task->next;
    pthread_cond_signal(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

/* ---- requests ---- */

static void free_task(client *c)
{
    struct task *task = c->task;
    c->task = NULL;
    if (!task)
        return;
    if (task->answer.release)
        task->answer.release(task->answer.user, task->answer.body);
    if (task->is_begun)
        atomic_fetch_sub(&task->server->active, 1);
    free(task->method);
    free(task->target);
    free(task->body);
    free(task);
}

static client *client_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* libmicrohttpd does not report the end of a request that takes all memory of its connection. */
static void open_or_close(void *user, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    struct server *server = user;
    client *c = *state;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *state =
            clients_open(server->clients,
                         MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
    } else if (c) {
        free_task(c);
        clients_close(server->clients, c);
        *state = NULL;
    }
}

/* The target as it was sent: libmicrohttpd decodes it otherwise. */
static void *begin_task(void *user, const char *target, struct MHD_Connection *connection)
{
    struct server *server = user;
    client *c = client_of(connection);
    if (!c)
        return NULL;
    free_task(c);
    clients_begin(server->clients, c);
    struct task *task = calloc(1, sizeof *task);
    if (!task)
        return NULL;
    c->task = task;
    task->server = server;
    task->client = c;
    task->connection = connection;
    task->target = strdup(target);
    return task;
}

static enum MHD_Result add_header(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    view_request *request = user;
    (void)kind;
    request->has_more_headers = request->header_count == VIEW_REQUEST_HEADERS_MAX;
    if (request->has_more_headers)
        return MHD_NO;
    request->headers[request->header_count++] = (view_header){name, value ? value : ""};
    return MHD_YES;
}

static bool has_body(struct MHD_Connection *connection)
{
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    return (length && strcmp(length, "0") != 0) ||
           MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding");
}

static void release(void *user)
{
    view_answer *answer = user;
    if (answer->release)
        answer->release(answer->user, answer->body);
    free(answer);
}

static ssize_t read_body(void *user, uint64_t position, char *buffer, size_t size)
{
    const view_answer *answer = user;
    if (position >= answer->size)
        return MHD_CONTENT_READER_END_OF_STREAM;
    size_t left = answer->size - (size_t)position;
    size_t part = left < size ? left : size;
    memcpy(buffer, (const char *)answer->body + position, part);
    return (ssize_t)part;
}

#define PIECE 65536

/* The response has the body until it is sent; the task has it no longer. */
static struct MHD_Response *make_response(struct task *task)
{
    view_answer *sent = malloc(sizeof *sent);
    struct MHD_Response *response = NULL;
    if (!sent)
        return NULL;
    *sent = task->answer;
    task->answer.release = NULL;
    response = MHD_create_response_from_callback(sent->size, PIECE, read_body, sent, release);
    if (!response)
        release(sent);
    return response;
}

static enum MHD_Result send_answer(struct task *task)
{
    struct MHD_Response *response = make_response(task);
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < task->answer.header_count; i++)
        MHD_add_response_header(response, task->answer.headers[i].name, task->answer.headers[i].value);
    enum MHD_Result result = MHD_queue_response(task->connection, task->answer.status, response);
    MHD_destroy_response(response);
    return result;
}

/* Whether there is an answer. */
static bool ask(struct task *task, int may_work)
{
    const view_handler *handler = &task->server->handler;
    bool is_answered = handler->answer(handler->user, &task->request, may_work, &task->answer);
    if (task->answer.has_token)
        clients_know(task->server->clients, task->client);
    return is_answered;
}

static enum MHD_Result begin(struct task *task, const char *method)
{
    task->is_begun = true;
    atomic_fetch_add(&task->server->active, 1);
    task->method = strdup(method);
    if (!task->method || !task->target)
        return MHD_NO;
    view_request *request = &task->request;
    request->method = task->method;
    request->target = task->target;
    request->has_body = has_body(task->connection);
    request->is_gone = is_gone;
    request->connection = task;
    MHD_get_connection_values(task->connection, MHD_HEADER_KIND, add_header, request);
    clients_answer(task->server->clients, task->client);
    /* An answer at once closes the connection before a body is read. */
    if (!request->has_body || !ask(task, 0))
        return MHD_YES;
    return send_answer(task);
}

/* A body that is longer than it may be ends the connection. */
static enum MHD_Result add_body(struct task *task, const char *data, size_t *size)
{
    view_request *request = &task->request;
    if (!task->body)
        task->body = malloc(VIEW_BODY_MAX);
    if (!task->body || *size > VIEW_BODY_MAX - request->body_size)
        return MHD_NO;
    memcpy(task->body + request->body_size, data, *size);
    request->body = task->body;
    request->body_size += *size;
    *size = 0;
    return MHD_YES;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **state)
{
    struct server *server = user;
    struct task *task = *state;
    (void)connection;
    (void)url;
    (void)version;
    if (!task)
        return MHD_NO;
    if (!task->is_begun)
        return begin(task, method);
    if (*size)
        return add_body(task, data, size);
    if (!task->is_done)
        task->is_done = ask(task, 0);
    if (task->is_done)
        return send_answer(task);
    if (atomic_load(&server->is_stopping))
        return MHD_NO;
    push_task(server, task);
    return MHD_YES;
}

static void complete(void *user, struct MHD_Connection *connection, void **state,
                     enum MHD_RequestTerminationCode code)
{
    struct server *server = user;
    client *c = client_of(connection);
    (void)code;
    if (c) {
        free_task(c);
        clients_rest(server->clients, c);
    }
    *state = NULL;
}

/* ---- start and stop ---- */

/* The limit of libmicrohttpd is never reached: it would keep everybody out. */
#define SPARE_CONNECTIONS 16

static struct MHD_Daemon *start_daemon(struct server *server, int socket)
{
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, socket, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, VIEW_CONNECTIONS_MAX + SPARE_CONNECTIONS, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, VIEW_STALLED_SECONDS, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)2 * VIEW_REQUEST_MEMORY, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle,
                            server, MHD_OPTION_ARRAY, options, MHD_OPTION_URI_LOG_CALLBACK, begin_task,
                            server, MHD_OPTION_NOTIFY_COMPLETED, complete, server,
                            MHD_OPTION_NOTIFY_CONNECTION, open_or_close, server, MHD_OPTION_END);
}

static void stop(void *self)
{
    struct server *server = self;
    for (size_t i = 0; i < server->daemon_count; i++)
        close((int)MHD_quiesce_daemon(server->daemons[i]));
    pthread_mutex_lock(&server->lock);
    atomic_store(&server->is_stopping, true);
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
    for (size_t i = 0; i < server->worker_count; i++)
        pthread_join(server->workers[i], NULL);
    /* A connection that is suspended when its daemon stops aborts the process. */
    while (atomic_load(&server->suspended) > 0) {
        struct task *task = take_task(server);
        if (task) {
            task->answer = (view_answer){.status = MHD_HTTP_SERVICE_UNAVAILABLE};
            task->is_done = true;
            MHD_resume_connection(task->connection);
            atomic_fetch_sub(&server->suspended, 1);
        }
        nanosleep(&(struct timespec){.tv_nsec = STOP_WAIT}, NULL);
    }
    for (int i = 0; i < STOP_WAITS && atomic_load(&server->active) > 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = STOP_WAIT}, NULL);
    for (size_t i = 0; i < server->daemon_count; i++)
        MHD_stop_daemon(server->daemons[i]);
    clients_destroy(server->clients);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

static int start(void **self, const int *sockets, size_t count, const view_handler *handler, char *problem,
                 size_t problem_size)
{
    struct server *server = calloc(1, sizeof *server);
    if (!server || count > DAEMONS_MAX) {
        snprintf(problem, problem_size, "out of memory");
        free(server);
        return -1;
    }
    server->handler = *handler;
    server->last = &server->first;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    server->clients = clients_create();
    int is_complete = server->clients != NULL;
    for (size_t i = 0; i < VIEW_WORKERS && is_complete; i++) {
        is_complete = pthread_create(&server->workers[i], NULL, work, server) == 0;
        server->worker_count += (size_t)is_complete;
    }
    for (size_t i = 0; i < count && is_complete; i++) {
        server->daemons[i] = start_daemon(server, sockets[i]);
        is_complete = server->daemons[i] != NULL;
        server->daemon_count += (size_t)is_complete;
    }
    if (is_complete) {
        *self = server;
        return 0;
    }
    snprintf(problem, problem_size, "libmicrohttpd does not start");
    stop(server);
    return -1;
}

__attribute__((visibility("default")))
const view_transport lode_view_plugin = {VIEW_TRANSPORT_VERSION, start, stop};
