/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's stores: opened in the background, so that the page is there before they are. */
#include "stores/stores.h"
#include "alloc.h"
#include "cache.h"
#include "options/option.h"
#include "output/report.h"
#include "stores/damage.h"
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>

int view_create(view_server *server, size_t memory)
{
    unsigned char secret[(VIEW_TOKEN_SIZE - 1) / 2];
    *server = (view_server){.stop_event = -1, .memory = memory};
    pthread_mutex_init(&server->lock, NULL);
    pthread_mutex_init(&server->catalogue_lock, NULL);
    size_t answers = memory / 4 < VIEW_ANSWERS_MOST ? memory / 4 : VIEW_ANSWERS_MOST;
    server->results = cache_create(memory - answers);
    server->answers = cache_create(answers);
    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        return report("the system has no random numbers for a token");
    for (size_t i = 0; i < sizeof secret; i++)
        snprintf(server->token + 2 * i, 3, "%02x", secret[i]);
    return EXIT_DONE;
}

/* EXIT_DONE if there is a store at the path, which is known then, or a message. */
static int find_store(view_store *store, const char *path)
{
    lode_error error = {0};
    lode_status status = lode_store_probe(path, &store->kind, &error);
    if (status != LODE_OK) {
        store->path = store_meant(path, FOR_ALL);
        status = store->path ? lode_store_probe(store->path, &store->kind, &error) : status;
    }
    if (status == LODE_OK && store->kind == LODE_STORE_MEASUREMENTS)
        return store_unanalysed(store->path ? store->path : path);
    return status == LODE_OK ? EXIT_DONE : store_unopened(path, &error);
}

static void keep_problem(void *user, const char *text)
{
    view_store *store = user;
    snprintf(store->problem, sizeof store->problem, "%s", text);
}

/* EXIT_DONE, or the problem of the store says why not. It is not there before it is counted. */
static int prepare_store(view_store *store, const char *path)
{
    *store = (view_store){.state = VIEW_OPENING};
    /* The message is for the page, too. */
    host h = {.user = store, .on_message = keep_problem}, *caller = host_current();
    host_set(&h);
    int status = find_store(store, path);
    host_set(caller);
    if (!store->path)
        store->path = alloc_text(path);
    if (status != EXIT_DONE)
        store->state = VIEW_FAILED;
    return status;
}

static view_store *next_store(view_server *server)
{
    if (server->store_count < VIEW_STORES_MAX)
        return &server->stores[server->store_count];
    report("at most %d stores can be shown together", VIEW_STORES_MAX);
    return NULL;
}

int view_add_store(view_server *server, const char *path)
{
    view_store *store = next_store(server);
    if (!store)
        return EXIT_TROUBLE;
    int status = prepare_store(store, path);
    server->store_count++;
    return status == EXIT_DONE ? EXIT_DONE : report("%s", store->problem);
}

/* ---- opening ---- */

typedef struct opening {
    view_server *server;
    view_store *store;
} opening;

static void on_message(void *user, const char *text)
{
    const opening *o = user;
    pthread_mutex_lock(&o->server->lock);
    snprintf(o->store->problem, sizeof o->store->problem, "%s", text);
    pthread_mutex_unlock(&o->server->lock);
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const opening *o = user;
    (void)phase;
    pthread_mutex_lock(&o->server->lock);
    o->store->done = done;
    o->store->total = total;
    pthread_mutex_unlock(&o->server->lock);
    return atomic_load(&o->server->is_stopping);
}

static int on_finding(void *user, const lode_finding *finding)
{
    const opening *o = user;
    tally_add(&o->store->open.opening, finding);
    return 0;
}

static void close_store(view_store *store)
{
    lode_database_close(store->open.db);
    lode_recording_close(store->open.recording);
    tally_free(&store->open.opening);
    tally_free(&store->open.checking);
    free(store->path);
}

static void find_interval(view_store *store)
{
    uint64_t begin, end;
    if (store->open.db) {
        store->has_interval =
            lode_database_trace_bounds(store->open.db, &store->begin, &store->end) == LODE_OK;
        return;
    }
    for (uint32_t i = 0; i < lode_recording_track_count(store->open.recording); i++) {
        if (lode_track_interval(store->open.recording, i, &begin, &end, NULL) != LODE_OK)
            continue;
        store->begin = !store->has_interval || begin < store->begin ? begin : store->begin;
        store->end = !store->has_interval || end > store->end ? end : store->end;
        store->has_interval = 1;
    }
}

static void open_store(opening *o)
{
    view_store *store = o->store;
    lode_error error = {0};
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    host h = {.user = o, .on_message = on_message, .on_progress = on_progress}, *caller = host_current();
    options.on_finding = on_finding;
    options.on_progress = on_progress;
    options.user = o;
    char *directory = store_cache();
    options.index_directory = directory;
    host_set(&h);
    store->open.path = store->path;
    /* Before it is opened: what is replaced meanwhile is noticed. */
    lode_status status = lode_store_fingerprint(store->path, &store->content, &store->identity, &error);
    if (status == LODE_OK)
        status = lode_open(&store->open.db, &store->open.recording, &store->open.kind, store->path, &options,
                           &error);
    free(directory);
    if (status != LODE_OK)
        store_unopened(store->path, &error);
    else
        find_interval(store);
    if (status == LODE_OK)
        store->checked = damage_count(&(damage_request){store->path, store->open.db, DAMAGE_WRITE_BYTES, 0},
                                      &store->open.checking);
    host_set(caller);
    pthread_mutex_lock(&o->server->lock);
    store->state = status == LODE_OK ? VIEW_READY : VIEW_FAILED;
    pthread_mutex_unlock(&o->server->lock);
}

static void *open_all(void *user)
{
    view_server *server = user;
    for (size_t i = 0; i < server->store_count && !atomic_load(&server->is_stopping); i++)
        if (server->stores[i].state == VIEW_OPENING)
            open_store(&(opening){server, &server->stores[i]});
    return NULL;
}

static int has_store(const view_server *server, const char *path)
{
    for (size_t i = 0; i < server->store_count; i++)
        if (server->stores[i].state != VIEW_FAILED && strcmp(server->stores[i].path, path) == 0)
            return 1;
    return 0;
}

/* A store that cannot be opened is not added: the same run may be asked for again and again. */
static int open_and_add(view_server *server, const char *path)
{
    view_store *store = next_store(server);
    if (!store)
        return EXIT_TROUBLE;
    if (prepare_store(store, path) == EXIT_DONE)
        open_store(&(opening){server, store});
    if (store->state == VIEW_READY) {
        server->store_count++;
        return EXIT_DONE;
    }
    int status = report("%s", store->problem);
    close_store(store);
    return status;
}

static int open_run(view_server *server, int64_t run)
{
    char *path = NULL;
    int status = server->find_run(server->catalogue, server->project, run, &path);
    if (status == EXIT_DONE && !has_store(server, path))
        status = open_and_add(server, path);
    free(path);
    return status;
}

int view_open_run(view_server *server, int64_t run)
{
    pthread_mutex_lock(&server->catalogue_lock);
    int status = open_run(server, run);
    pthread_mutex_unlock(&server->catalogue_lock);
    return status;
}

int view_open_stores(view_server *server)
{
    int code = pthread_create(&server->opener, NULL, open_all, server);
    return code == 0 ? EXIT_DONE : report("cannot start a thread: %s", strerror(code));
}

int view_open_now(view_server *server)
{
    int status = EXIT_DONE;
    open_all(server);
    for (size_t i = 0; i < server->store_count; i++)
        if (server->stores[i].state == VIEW_FAILED)
            status = report("%s", server->stores[i].problem);
    return status;
}

static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* A look at many files must not take longer than the answers: the next one waits. */
#define LOOK_SHARE 20

int view_is_current(view_server *server, view_store *store)
{
    uint64_t identity = 0;
    pthread_mutex_lock(&server->lock);
    int is_due = now_us() >= store->next_look && !store->is_replaced;
    pthread_mutex_unlock(&server->lock);
    if (is_due) {
        long long begun = now_us();
        int is_same = lode_store_fingerprint(store->path, NULL, &identity, NULL) == LODE_OK &&
                      identity == store->identity &&
                      (store->open.db ? lode_database_intact(store->open.db, NULL)
                                      : lode_recording_intact(store->open.recording, NULL)) == LODE_OK;
        pthread_mutex_lock(&server->lock);
        store->is_replaced |= !is_same;
        store->next_look = now_us() + (now_us() - begun) * LOOK_SHARE;
        pthread_mutex_unlock(&server->lock);
    }
    pthread_mutex_lock(&server->lock);
    int is_current = !store->is_replaced;
    pthread_mutex_unlock(&server->lock);
    return is_current;
}

void view_stop(view_server *server)
{
    atomic_store(&server->is_stopping, 1);
    if (server->stop_event >= 0)
        (void)!eventfd_write(server->stop_event, 1);
}

void view_destroy(view_server *server)
{
    atomic_store(&server->is_stopping, 1);
    if (server->opener)
        pthread_join(server->opener, NULL);
    cache_destroy(server->answers);
    cache_destroy(server->results);
    for (size_t i = 0; i < server->store_count; i++)
        close_store(&server->stores[i]);
    pthread_mutex_destroy(&server->catalogue_lock);
    pthread_mutex_destroy(&server->lock);
}
