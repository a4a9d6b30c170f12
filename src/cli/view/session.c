/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page asks first, and until all stores are open: which stores there are. */
#include "output/json.h"
#include "output/report.h"
#include "view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const state_names[] = {"opening", "ready", "failed"};

/* The last part of the path, as people call the store. */
static void write_name(out *o, const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    json_bytes(o, "name", path + begin, end - begin);
}

static void write_metrics(out *o, const lode_database *db)
{
    const lode_metric *usual = NULL;
    (void)!lode_database_default_metric(db, &usual, NULL);
    json_text(o, "default_metric", usual ? lode_metric_name(usual) : NULL);
    json_array(o, "metrics");
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++)
        json_text(o, NULL, lode_metric_name(lode_database_metric(db, i)));
    json_array_end(o);
}

static void write_database(out *o, const lode_database *db)
{
    json_text(o, "format", lode_database_format(db));
    json_text(o, "title", lode_database_title(db));
    json_u64(o, "profile_count", lode_database_profile_count(db));
    json_u64(o, "context_count", lode_database_context_count(db));
    json_u64(o, "trace_line_count", lode_database_trace_count(db));
    json_array(o, "id_kinds");
    for (unsigned i = 0; i < lode_database_id_kind_count(db); i++)
        json_text(o, NULL, lode_database_id_kind_name(db, i));
    json_array_end(o);
    write_metrics(o, db);
}

static void write_recording(out *o, const lode_recording *recording)
{
    json_text(o, "format", lode_recording_format(recording));
    json_u64(o, "track_count", lode_recording_track_count(recording));
    json_bool(o, "has_requests", lode_recording_has_requests(recording));
}

static void write_store(out *o, const view_store *store, size_t number)
{
    json_object(o, NULL);
    json_u64(o, "number", number);
    json_text(o, "path", store->path);
    write_name(o, store->path);
    json_text(o, "kind", store->kind == LODE_STORE_DATABASE ? "database" : "recording");
    json_text(o, "state", state_names[store->state]);
    if (store->state == VIEW_READY) {
        char fingerprint[17];
        snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, store->content);
        json_text(o, "fingerprint", fingerprint);
        json_bool(o, "is_replaced", store->is_replaced);
    }
    if (store->state == VIEW_OPENING && store->total)
        json_real(o, "opened_percent", 100 * (double)store->done / (double)store->total);
    if (store->state == VIEW_FAILED)
        json_text(o, "problem", store->problem);
    if (store->open.db && store->state == VIEW_READY)
        write_database(o, store->open.db);
    if (store->open.recording && store->state == VIEW_READY)
        write_recording(o, store->open.recording);
    if (store->has_interval && store->state == VIEW_READY) {
        json_digits(o, "begin_ns", store->begin);
        json_digits(o, "end_ns", store->end);
    }
    json_object_end(o);
}

/* Requests that take long enough to have a progress; the page finds its own by their targets. */
static void write_work(out *o, const view_server *server)
{
    json_array(o, "work");
    for (const view_call *at = server->calls; at; at = at->next) {
        if (at->total == 0 || !at->request)
            continue;
        json_object(o, NULL);
        json_text(o, "target", at->request->target);
        json_real(o, "done_percent", 100 * (double)at->done / (double)at->total);
        json_object_end(o);
    }
    json_array_end(o);
}

void view_write_session(view_call *call)
{
    view_server *server = call->server;
    out *o = out_open(&(out_settings){.format = OUT_JSON});
    out_begin(o, SCHEMA_VIEW_SESSION, NULL);
    out_fact_text(o, "version", lode_version());
    json_array(o, "stores");
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->store_count; i++)
        write_store(o, &server->stores[i], i);
    json_array_end(o);
    write_work(o, server);
    pthread_mutex_unlock(&server->lock);
    out_end(o);
    out_close(o, EXIT_DONE);
}
