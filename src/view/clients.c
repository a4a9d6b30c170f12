/* SPDX-License-Identifier: BSD-3-Clause */
#include "clients.h"

#include "cli/view/transport.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum {
    LOOK_MS = 250, /* between two looks at the clock */
    SECOND_MS = 1000,
    NEVER = -1
};

struct clients {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t watcher;
    bool is_over;
    client *first, *last; /* in the order of their arrival */
    size_t strangers, known;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_MS + now.tv_nsec / 1000000;
}

/* ---- ending ---- */

/* Its thread sees the end of the stream and closes the socket, whatever the client does. */
static void end(clients *all, client *c)
{
    if (c->is_ended)
        return;
    c->is_ended = true;
    *(c->is_known ? &all->known : &all->strangers) -= 1;
    shutdown(c->socket, SHUT_RDWR);
}

static void end_oldest_stranger(clients *all)
{
    client *c = all->first;
    while (c && (c->is_known || c->is_ended))
        c = c->next;
    if (c)
        end(all, c);
}

/* Those that compute or send stay. */
static void end_oldest_idle(clients *all)
{
    client *c = all->first;
    while (c && (c->phase != CLIENT_IDLE || c->is_ended))
        c = c->next;
    if (c)
        end(all, c);
}

/* NEVER: a client that is known may wait for its answer as long as it likes. */
static int64_t deadline_of(const client *c)
{
    switch (c->phase) {
    case CLIENT_READING:
        return c->begun + (int64_t)VIEW_HEADER_SECONDS * SECOND_MS;
    case CLIENT_ANSWERING:
        return c->is_known ? NEVER : c->begun + (int64_t)VIEW_REQUEST_SECONDS * SECOND_MS;
    case CLIENT_IDLE:
        break;
    }
    return c->begun + (int64_t)VIEW_IDLE_SECONDS * SECOND_MS;
}

static void end_late(clients *all)
{
    int64_t now = now_ms();
    for (client *c = all->first; c; c = c->next) {
        int64_t deadline = deadline_of(c);
        if (deadline != NEVER && now >= deadline)
            end(all, c);
    }
}

/* ---- the clock ---- */

static void wait_a_little(clients *all)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&all->changed, &all->lock, &until);
}

/* Sleeps while nobody is connected. */
static void *watch(void *argument)
{
    clients *all = argument;
    pthread_mutex_lock(&all->lock);
    while (!all->is_over) {
        if (all->first)
            wait_a_little(all);
        else
            pthread_cond_wait(&all->changed, &all->lock);
        end_late(all);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

clients *clients_create(void)
{
    pthread_condattr_t attributes;
    clients *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&all->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&all->watcher, NULL, watch, all) == 0)
        return all;
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    free(all);
    return NULL;
}

void clients_destroy(clients *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    all->is_over = true;
    pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->watcher, NULL);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

/* ---- what happens to a connection ---- */

client *clients_open(clients *all, int socket)
{
    client *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->socket = socket;
    c->begun = now_ms();
    pthread_mutex_lock(&all->lock);
    c->previous = all->last;
    *(all->last ? &all->last->next : &all->first) = c;
    all->last = c;
    if (++all->strangers > VIEW_STRANGERS_MAX)
        end_oldest_stranger(all);
    if (!c->previous)
        pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->lock);
    return c;
}

void clients_close(clients *all, client *c)
{
    pthread_mutex_lock(&all->lock);
    *(c->previous ? &c->previous->next : &all->first) = c->next;
    *(c->next ? &c->next->previous : &all->last) = c->previous;
    if (!c->is_ended)
        *(c->is_known ? &all->known : &all->strangers) -= 1;
    pthread_mutex_unlock(&all->lock);
    free(c);
}

void clients_begin(clients *all, client *c)
{
    pthread_mutex_lock(&all->lock);
    /* The time of a stranger began with the connection, or with the end of the last answer. */
    if (c->phase == CLIENT_IDLE)
        c->begun = now_ms();
    c->phase = CLIENT_READING;
    pthread_mutex_unlock(&all->lock);
}

void clients_answer(clients *all, client *c)
{
    pthread_mutex_lock(&all->lock);
    c->phase = CLIENT_ANSWERING;
    pthread_mutex_unlock(&all->lock);
}

void clients_know(clients *all, client *c)
{
    pthread_mutex_lock(&all->lock);
    if (!c->is_known && !c->is_ended) {
        all->strangers--;
        if (++all->known > VIEW_CONNECTIONS_MAX - VIEW_STRANGERS_MAX)
            end_oldest_idle(all);
    }
    c->is_known = true;
    pthread_mutex_unlock(&all->lock);
}

void clients_rest(clients *all, client *c)
{
    pthread_mutex_lock(&all->lock);
    c->phase = c->is_known ? CLIENT_IDLE : CLIENT_READING;
    c->begun = now_ms();
    pthread_mutex_unlock(&all->lock);
}
