/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page asks first, and until all stores are open: which stores there are. */
#include "output/out.h"
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
    out_field_bytes(o, "name", path + begin, end - begin);
}

static void write_metrics(out *o, const lode_database *db)
{
    const lode_metric *usual = NULL;
    (void)!lode_database_default_metric(db, &usual, NULL);
    OUT_FIELDS(o, "default_metric", usual ? lode_metric_name(usual) : NULL);
    out_array(o, "metrics");
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++)
        OUT_ELEMENTS(o, lode_metric_name(lode_database_metric(db, i)));
    out_array_end(o);
}

static void write_database(out *o, const lode_database *db)
{
    OUT_FIELDS(o, "format", lode_database_format(db), "title", lode_database_title(db), "profile_count",
               lode_database_profile_count(db), "context_count", lode_database_context_count(db),
               "trace_line_count", lode_database_trace_count(db));
    out_array(o, "id_kinds");
    for (unsigned i = 0; i < lode_database_id_kind_count(db); i++)
        OUT_ELEMENTS(o, lode_database_id_kind_name(db, i));
    out_array_end(o);
    write_metrics(o, db);
}

static void write_recording(out *o, const lode_recording *recording)
{
    OUT_FIELDS(o, "format", lode_recording_format(recording), "track_count",
               lode_recording_track_count(recording), "has_requests", lode_recording_has_requests(recording));
}

static void write_store(out *o, const view_store *store, size_t number)
{
    out_object(o, NULL);
    OUT_FIELDS(o, "number", number, "path", store->path);
    write_name(o, store->path);
    OUT_FIELDS(o, "kind", store->kind == LODE_STORE_DATABASE ? "database" : "recording", "state",
               state_names[store->state]);
    if (store->state == VIEW_READY) {
        char fingerprint[17];
        snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, store->content);
        OUT_FIELDS(o, "fingerprint", fingerprint, "is_replaced", store->is_replaced, "checked",
                   lode_check_level_name(store->checked));
    }
    if (store->state == VIEW_OPENING && store->total)
        OUT_FIELDS(o, "opened_percent", 100 * (double)store->done / (double)store->total);
    if (store->state == VIEW_FAILED)
        OUT_FIELDS(o, "problem", store->problem);
    if (store->open.db && store->state == VIEW_READY)
        write_database(o, store->open.db);
    if (store->open.recording && store->state == VIEW_READY)
        write_recording(o, store->open.recording);
    if (store->has_interval && store->state == VIEW_READY) {
        OUT_FIELDS(o, "begin_ns", out_digits(store->begin), "end_ns", out_digits(store->end));
    }
    out_object_end(o);
}

/* Requests that take long enough to have a progress; the page finds its own by their targets. */
static void write_work(out *o, const view_server *server)
{
    out_array(o, "work");
    for (const view_call *at = server->calls; at; at = at->next) {
        if (at->total == 0 || !at->request)
            continue;
        OUT_OBJECT(o, NULL, "target", at->request->target, "done_percent",
                   100 * (double)at->done / (double)at->total);
    }
    out_array_end(o);
}

void view_write_session(view_call *call)
{
    view_server *server = call->server;
    out *o = out_open(&(out_settings){.format = OUT_JSON});
    out_begin(o, SCHEMA_VIEW_SESSION, NULL);
    OUT_FIELDS(o, "version", lode_version(), "kinds", server->kinds_path, "catalogue", server->catalogue,
               "project", server->project);
    out_array(o, "stores");
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->store_count; i++)
        write_store(o, &server->stores[i], i);
    out_array_end(o);
    write_work(o, server);
    pthread_mutex_unlock(&server->lock);
    out_end(o);
    out_close(o, EXIT_DONE);
}
