/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs that are kept, the one that was used last first. */
#include "analysis/cost/cost.h"
#include "analysis/cost/selection.h"
#include "analysis/tree/tree_view.h"
#include "base/error.h"
#include "base/options.h"
#include "model/database/database.h"
#include <lode/unstable/query.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    ENTRIES_MAX = 256 /* small costs are no reason to search long lists */
};

struct entry {
    struct entry *next;
    const lode_metric *metric;
    lode_selection *selection; /* NULL: all profiles */
    unsigned users;
    bool done; /* one of these: */
    lode_cost *cost;
    lode_status status;
    lode_error error;
};

struct lode_query {
    const lode_database *db;
    lode_query_options options;
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct entry *entries;
    uint64_t cost_size; /* bytes of one cost */
    unsigned count;
    uint64_t computed;
};

lode_status lode_query_open(lode_query **out, const lode_database *db, const lode_query_options *given,
                            lode_error *error)
{
    lode_query_options options = LODE_QUERY_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    lode_query *query = calloc(1, sizeof *query);
    LODE_TRY_ALLOC(query, error);
    query->db = db;
    query->options = options;
    if (options.memory == 0)
        query->options.memory = UINT64_C(256) << 20;
    query->cost_size = sizeof(struct entry) + sizeof(lode_cost) + UINT64_C(16) * db->tree.count;
    pthread_mutex_init(&query->lock, NULL);
    pthread_cond_init(&query->done, NULL);
    *out = query;
    return LODE_OK;
}

static void entry_free(struct entry *entry)
{
    lode_selection_free(entry->selection);
    lode_cost_free(entry->cost);
    free(entry);
}

void lode_query_close(lode_query *query)
{
    if (query == NULL)
        return;
    for (struct entry *entry = query->entries, *next; entry; entry = next) {
        next = entry->next;
        entry_free(entry);
    }
    pthread_cond_destroy(&query->done);
    pthread_mutex_destroy(&query->lock);
    free(query);
}

/* ---- the list; called with the lock held ---- */

static void take_out(lode_query *query, const struct entry *entry)
{
    struct entry **at = &query->entries;
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    query->count--;
}

static void put_first(lode_query *query, struct entry *entry)
{
    entry->next = query->entries;
    query->entries = entry;
    query->count++;
}

/* One that failed is there only until all who waited for it know. */
static bool is_for(const struct entry *entry, const lode_metric *metric, const lode_selection *selection)
{
    return entry->status == LODE_OK && entry->metric == metric &&
           lode_selection_equal(entry->selection, selection);
}

static struct entry *find(const lode_query *query, const lode_metric *metric, const lode_selection *selection)
{
    struct entry *entry = query->entries;
    while (entry && !is_for(entry, metric, selection))
        entry = entry->next;
    return entry;
}

/* Frees what was not used for longest, until the rest is small enough. */
static void shrink(lode_query *query)
{
    while (query->count > ENTRIES_MAX || query->count * query->cost_size > query->options.memory) {
        struct entry **oldest = NULL;
        for (struct entry **at = &query->entries; *at; at = &(*at)->next)
            oldest = (*at)->users == 0 ? at : oldest;
        if (oldest == NULL)
            return;
        struct entry *entry = *oldest;
        *oldest = entry->next;
        query->count--;
        entry_free(entry);
    }
}

/* ---- costs ---- */

static lode_status add_entry(struct entry **out, lode_query *query, const lode_cost_options *options,
                             lode_error *error)
{
    struct entry *entry = calloc(1, sizeof *entry);
    *out = entry;
    LODE_TRY_ALLOC(entry, error);
    entry->metric = options->metric;
    lode_status status = lode_selection_copy(&entry->selection, options->selection, error);
    if (status != LODE_OK)
        entry_free(entry);
    else
        put_first(query, entry);
    return status;
}

/* Called with the lock held, and lets go of it for as long as it takes. */
static void compute(lode_query *query, struct entry *entry, lode_cost_options options)
{
    options.selection = entry->selection;
    if (options.pool == NULL)
        options.pool = query->options.pool;
    lode_cost *cost = NULL;
    lode_error error = {0};
    pthread_mutex_unlock(&query->lock);
    lode_status status = lode_cost_compute(&cost, query->db, &options, &error);
    pthread_mutex_lock(&query->lock);
    query->computed++;
    entry->cost = cost;
    entry->status = status;
    entry->error = error;
    entry->done = true;
    pthread_cond_broadcast(&query->done);
}

/* Called with the lock held. The last one of a cost that could not be computed frees it. */
static lode_status leave_failed(lode_query *query, struct entry *entry, lode_error *error)
{
    lode_status status = entry->status;
    if (error)
        *error = entry->error;
    if (--entry->users == 0) {
        take_out(query, entry);
        entry_free(entry);
    }
    return status;
}

/* Called with the lock held. */
static lode_status ask(const lode_cost **out, lode_query *query, const lode_cost_options *options,
                       lode_error *error)
{
    for (;;) {
        struct entry *entry = find(query, options->metric, options->selection);
        bool is_first = entry == NULL;
        if (is_first)
            LODE_TRY(add_entry(&entry, query, options, error));
        entry->users++;
        if (is_first)
            compute(query, entry, *options);
        while (!entry->done)
            pthread_cond_wait(&query->done, &query->lock);
        if (entry->status == LODE_OK) {
            take_out(query, entry);
            put_first(query, entry);
            *out = entry->cost;
            return LODE_OK;
        }
        lode_status status = leave_failed(query, entry, error);
        /* That another thread's user gave up is no answer to this one's. */
        if (is_first || status != LODE_ERR_CANCELLED)
            return status;
    }
}

lode_status lode_query_cost(const lode_cost **out, lode_query *query, const lode_cost_options *given,
                            lode_error *error)
{
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    if (options.metric == NULL)
        LODE_TRY(lode_database_default_metric(query->db, &options.metric, error));
    pthread_mutex_lock(&query->lock);
    lode_status status = ask(out, query, &options, error);
    shrink(query);
    pthread_mutex_unlock(&query->lock);
    return status;
}

void lode_query_release(lode_query *query, const lode_cost *cost)
{
    pthread_mutex_lock(&query->lock);
    struct entry *entry = query->entries;
    while (entry && (cost == NULL || entry->cost != cost))
        entry = entry->next;
    if (entry && entry->users > 0)
        entry->users--;
    shrink(query);
    pthread_mutex_unlock(&query->lock);
}

uint64_t lode_query_computed(lode_query *query)
{
    pthread_mutex_lock(&query->lock);
    uint64_t computed = query->computed;
    pthread_mutex_unlock(&query->lock);
    return computed;
}

uint64_t lode_query_memory(lode_query *query)
{
    pthread_mutex_lock(&query->lock);
    uint64_t bytes = query->count * query->cost_size;
    pthread_mutex_unlock(&query->lock);
    return bytes;
}

/* ---- outlines ---- */

static void release_cost(void *owner, const lode_cost *cost)
{
    lode_query_release(owner, cost);
}

lode_status lode_query_outline(lode_outline **out, lode_query *query, const lode_cost_options *cost_options,
                               const lode_view_options *view_options, lode_error *error)
{
    const lode_cost *cost;
    *out = NULL;
    LODE_TRY(lode_query_cost(&cost, query, cost_options, error));
    lode_status status = lode_outline_open(out, cost, view_options, error);
    if (status == LODE_OK)
        lode_outline_own(*out, release_cost, query);
    else
        lode_query_release(query, cost);
    return status;
}
