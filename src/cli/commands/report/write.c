/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/report/report.h"

#include "alloc.h"
#include "output/report.h"
#include "stores/damage.h"
#include "view/api.h"
#include "view/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESULTS_MEMORY ((size_t)1 << 30) /* for results that several questions need */

typedef struct report_file {
    const report_settings *settings;
    view_server server;
    report_secrets secrets;
    report_list list;
    document page;
    char *about, *session;
    size_t about_size, session_size;
} report_file;

/* ---- answers ---- */

static const report_secrets *secrets_of(const report_file *file)
{
    return file->settings->is_anonymous ? &file->secrets : NULL;
}

/* As a request of the page is answered, without a connection. */
static void ask(report_file *file, report_answer *item)
{
    char text[TARGET_SIZE];
    target t;
    view_answer answer = {0};
    view_request request = {.method = "GET", .target = text};
    snprintf(text, sizeof text, "/api/1/%s", item->target);
    if (target_parse(&t, text) != 0)
        return;
    view_run_command(&answer, &file->server, &request, &t, 1);
    item->status = answer.status;
    item->text = report_inert(answer.body, answer.size, secrets_of(file), &item->size);
    if (answer.release)
        answer.release(answer.user, answer.body);
}

static char *take_output(report_file *file, view_call *call, size_t *size)
{
    char *text = report_inert(call->output.bytes, call->output.used, secrets_of(file), size);
    view_call_end(call);
    return text;
}

/* "solver and solver-new" */
static void name_stores(const report_file *file, char *title, size_t size)
{
    const view_server *server = &file->server;
    size_t used = 0;
    for (size_t i = 0; i < server->store_count && used < size; i++) {
        const char *path = server->stores[i].path, *slash = strrchr(path, '/');
        const char *before = i == 0 ? "" : i + 1 == server->store_count ? " and " : ", ";
        char hidden[32];
        snprintf(hidden, sizeof hidden, "run%zu", i + 1);
        const char *name = file->settings->is_anonymous ? hidden : slash && slash[1] ? slash + 1 : path;
        used += (size_t)snprintf(title + used, size - used, "%s%.256s", before, name);
    }
}

/* What the report is, and which answers it has no room for. */
static void write_about(report_file *file)
{
    view_call call;
    char names[VIEW_STORES_MAX * 264];
    name_stores(file, names, sizeof names);
    const char *title = file->settings->title ? file->settings->title : names;
    view_call_begin(&call, &file->server, NULL);
    out *o = out_open(&(out_settings){.format = OUT_JSON});
    out_begin(o, SCHEMA_REPORT, NULL);
    OUT_FIELDS(o, "version", lode_version(), "title", title, "notes", file->settings->notes, "is_anonymous",
               file->settings->is_anonymous != 0, "max_size", file->settings->max_size);
    out_array(o, "left_out");
    for (size_t i = 0; i < file->list.count; i++)
        if (!file->list.items[i].text)
            OUT_ELEMENTS(o, file->list.items[i].target);
    out_array_end(o);
    out_end(o);
    out_close(o, EXIT_DONE);
    free(file->about);
    /* The user's own words stay, and names of stores are hidden in them already. */
    file->about = report_inert(call.output.bytes, call.output.used, NULL, &file->about_size);
    view_call_end(&call);
}

static void write_session(report_file *file)
{
    view_call call;
    view_call_begin(&call, &file->server, NULL);
    view_write_session(&call);
    file->session = take_output(file, &call, &file->session_size);
}

/* Leaves out the least important answers until the file is small enough. */
static void bound_size(report_file *file)
{
    enum {
        ELEMENT = 160 /* around an answer, with a name that is left out */
    };
    uint64_t size = document_size(&file->page) + file->session_size;
    size += file->settings->notes ? 6 * strlen(file->settings->notes) : 0;
    for (size_t i = 0; i < file->list.count; i++) {
        report_answer *item = &file->list.items[i];
        size += ELEMENT + strlen(item->target);
        if (item->text && size + item->size > file->settings->max_size) {
            free(item->text);
            item->text = NULL;
        } else {
            size += item->text ? item->size : 0;
        }
    }
}

/* ---- the file ---- */

static void put_file(out *o, const report_file *file)
{
    /* The page sets the whole title. */
    document_begin(o, &file->page, file->settings->title ? file->settings->title : "Lode report");
    document_put(o, "report", 200, file->about, file->about_size);
    document_put(o, "session", 200, file->session, file->session_size);
    for (size_t i = 0; i < file->list.count; i++) {
        const report_answer *item = &file->list.items[i];
        if (item->text)
            document_put(o, item->target, item->status, item->text, item->size);
    }
    document_end(o, &file->page);
}

static int open_stores(report_file *file)
{
    const report_settings *settings = file->settings;
    int status = view_create(&file->server, RESULTS_MEMORY);
    file->server.kinds = settings->kinds;
    file->server.kinds_path = settings->kinds_path;
    for (size_t i = 0; i < settings->path_count && status == EXIT_DONE; i++)
        status = view_add_store(&file->server, settings->paths[i]);
    return status == EXIT_DONE ? view_open_now(&file->server) : status;
}

/* Each command that answers a question has a list of findings of its own. */
static void ask_all(report_file *file)
{
    damage_list *own = damage_suspend();
    for (size_t i = 0; i < file->list.count; i++)
        ask(file, &file->list.items[i]);
    damage_resume(own);
}

static void add_findings(const view_server *server)
{
    for (size_t i = 0; i < server->store_count; i++) {
        const host_store *open = &server->stores[i].open;
        damage_add(server->stores[i].path, &open->opening);
        damage_add(server->stores[i].path, &open->checking);
    }
}

int report_write(out *o, const report_settings *settings)
{
    static report_file file;
    file = (report_file){.settings = settings};
    int status = open_stores(&file);
    if (status == EXIT_DONE) {
        report_secrets_find(&file.secrets, &file.server);
        document_open(&file.page);
        report_list_questions(&file.list, &file.server);
        write_session(&file);
        ask_all(&file);
        bound_size(&file);
        write_about(&file);
        put_file(o, &file);
        add_findings(&file.server);
    }
    report_list_free(&file.list);
    free(file.about);
    free(file.session);
    document_close(&file.page);
    view_destroy(&file.server);
    return status;
}
