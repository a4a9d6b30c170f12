/* SPDX-License-Identifier: BSD-3-Clause */
#include "interrupt.h"
#include "output/out.h"
#include "output/report.h"
#include "view/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 5 /* at the connection, at most this often */

static void on_message(void *user, const char *text)
{
    view_call *call = user;
    if (call->message[0] == '\0')
        snprintf(call->message, sizeof call->message, "%s", text);
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Pages of mapped files that were read are given back before they fill the memory. */
static void bound_memory(const view_server *server)
{
    unsigned long long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return;
    int is_read = fscanf(file, "%llu %llu", &size, &resident) == 2;
    (void)fclose(file);
    if (is_read && server->memory && resident > server->memory / (size_t)sysconf(_SC_PAGESIZE))
        lode_guard_drop_pages();
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    view_call *call = user;
    (void)phase;
    long long now = now_ms();
    if (total) {
        pthread_mutex_lock(&call->server->lock);
        call->done = done;
        call->total = total;
        pthread_mutex_unlock(&call->server->lock);
    }
    if (call->is_cancelled || now - call->last_look < LOOK_MS)
        return call->is_cancelled;
    call->last_look = now;
    bound_memory(call->server);
    const view_request *request = call->request;
    int is_gone = request && request->is_gone && request->is_gone(request->connection);
    call->is_cancelled = is_gone || atomic_load(&call->server->is_stopping) || interrupt_is_due();
    return call->is_cancelled;
}

static int on_output(void *user, const char *bytes, size_t size)
{
    view_call *call = user;
    view_buffer *b = &call->output;
    if (size > VIEW_ANSWER_MAX - b->used)
        return EFBIG;
    if (on_progress(user, "", 0, 0))
        return ECANCELED;
    if (b->used + size > b->capacity) {
        size_t larger = b->capacity * 2 > b->used + size ? b->capacity * 2 : b->used + size;
        char *moved = realloc(b->bytes, larger);
        if (!moved)
            return ENOMEM;
        b->bytes = moved;
        b->capacity = larger;
    }
    memcpy(b->bytes + b->used, bytes, size);
    b->used += size;
    return 0;
}

static const host_store *find_store(void *user, const char *path)
{
    view_call *call = user;
    view_server *server = call->server;
    const host_store *found = NULL;
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->store_count && !found; i++)
        if (server->stores[i].state == VIEW_READY && strcmp(server->stores[i].path, path) == 0)
            found = &server->stores[i].open;
    pthread_mutex_unlock(&server->lock);
    return found;
}

void view_call_begin(view_call *call, view_server *server, const view_request *request)
{
    *call = (view_call){.server = server, .request = request};
    call->host = (host){.user = call,
                        .on_message = on_message,
                        .on_progress = on_progress,
                        .on_output = on_output,
                        .find_store = find_store,
                        .results = server->results,
                        .kinds = server->kinds,
                        .kinds_path = server->kinds_path};
    host_set(&call->host);
    pthread_mutex_lock(&server->lock);
    call->next = server->calls;
    server->calls = call;
    pthread_mutex_unlock(&server->lock);
}

void view_call_end(view_call *call)
{
    host_set(NULL);
    pthread_mutex_lock(&call->server->lock);
    view_call **at = &call->server->calls;
    while (*at && *at != call)
        at = &(*at)->next;
    if (*at)
        *at = call->next;
    pthread_mutex_unlock(&call->server->lock);
    free(call->output.bytes);
    call->output = (view_buffer){0};
}

void view_write_error(view_call *call, const char *message)
{
    call->output.used = 0;
    out *o = out_open(&(out_settings){.format = OUT_JSON});
    out_begin(o, SCHEMA_VIEW_ERROR, NULL);
    OUT_FIELDS(o, "message", message);
    out_end(o);
    out_close(o, EXIT_DONE);
}
