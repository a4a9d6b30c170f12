/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may ask, and what: decided from the request alone. Everything under /api needs the token;
 * the files of the page are public. doc/security.md says against whom each check is.
 */
#include "output/report.h"
#include "view/api.h"
#include "view/page.h"
#include "view/target.h"
#include "view/view.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ---- headers ---- */

/* NULL: none. Sets *is_twice if there are several, which no browser sends. */
static const char *header_of(const view_request *request, const char *name, int *is_twice)
{
    const char *value = NULL;
    for (size_t i = 0; i < request->header_count; i++) {
        if (strcasecmp(request->headers[i].name, name) != 0)
            continue;
        *is_twice |= value != NULL;
        value = request->headers[i].value;
    }
    return value;
}

const char *view_header_of(const view_request *request, const char *name)
{
    int is_twice = 0;
    return header_of(request, name, &is_twice);
}

void view_add_header(view_answer *answer, const char *name, const char *value)
{
    if (answer->header_count < VIEW_ANSWER_HEADERS_MAX)
        answer->headers[answer->header_count++] = (view_header){name, value};
}

static void add_safe_headers(view_answer *answer)
{
    view_add_header(answer, "Content-Security-Policy",
                    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
                    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    view_add_header(answer, "X-Content-Type-Options", "nosniff");
    view_add_header(answer, "Referrer-Policy", "no-referrer");
    view_add_header(answer, "Cross-Origin-Resource-Policy", "same-origin");
    view_add_header(answer, "Cross-Origin-Opener-Policy", "same-origin");
}

/* ---- who may ask ---- */

/* Names of this machine, with any port: that of a tunnel is another one. */
static int is_local(const char *name)
{
    static const char *const all[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; name && i < sizeof all / sizeof *all; i++) {
        size_t length = strlen(all[i]);
        if (strncasecmp(name, all[i], length) != 0)
            continue;
        const char *port = name + length;
        if (*port == '\0' || (*port == ':' && port[1] && strspn(port + 1, "0123456789") == strlen(port + 1)))
            return 1;
    }
    return 0;
}

/* Takes the same time wherever the first difference is. */
static int is_token(const view_server *server, const char *value)
{
    static const char scheme[] = "Bearer ";
    unsigned difference = 0;
    if (!value || strncmp(value, scheme, sizeof scheme - 1) != 0)
        return 0;
    value += sizeof scheme - 1;
    if (strlen(value) != VIEW_TOKEN_SIZE - 1)
        return 0;
    for (size_t i = 0; i < VIEW_TOKEN_SIZE - 1; i++)
        difference |= (unsigned char)value[i] ^ (unsigned char)server->token[i];
    return difference == 0;
}

/* The status of a refusal, or 0. */
static unsigned refusal(view_answer *answer, const view_server *server, const view_request *request,
                        int is_api)
{
    int is_twice = 0;
    const char *authority = header_of(request, "Host", &is_twice);
    const char *origin = header_of(request, "Origin", &is_twice);
    const char *site = header_of(request, "Sec-Fetch-Site", &is_twice);
    const char *token = header_of(request, "Authorization", &is_twice);
    if (request->has_more_headers)
        return 431;
    if (is_twice)
        return 400;
    if (!is_local(authority))
        return 421;
    if (origin && (strncmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, authority) != 0))
        return 403;
    if (is_api && site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return 403;
    answer->has_token = is_token(server, token);
    return is_api && !answer->has_token ? 401 : 0;
}

/* ---- answers ---- */

static void release_bytes(void *user, const void *body)
{
    (void)user;
    free((void *)(uintptr_t)body); /* NOLINT(performance-no-int-to-ptr): it was allocated */
}

void view_give_output(view_answer *answer, view_call *call, unsigned status)
{
    answer->status = status;
    answer->body = call->output.bytes;
    answer->size = call->output.used;
    answer->release = release_bytes;
    call->output = (view_buffer){0};
    view_add_header(answer, "Content-Type", "application/json; charset=utf-8");
    view_add_header(answer, "Cache-Control", "private, no-cache");
}

void view_replace_body(view_answer *answer, void *bytes, size_t size)
{
    if (answer->release)
        answer->release(answer->user, answer->body);
    answer->body = bytes;
    answer->size = size;
    answer->release = release_bytes;
}

static const char *words_of(unsigned status)
{
    static const struct {
        unsigned status;
        const char *words;
    } all[] = {
        {400, "the request is not well formed"},
        {401, "the token is missing or wrong; open the link that 'lode view' printed"},
        {403, "the request comes from another site"},
        {404, "there is nothing of this name"},
        {405, "this method is not allowed here"},
        {410, "the store was replaced or changed; start 'lode view' again"},
        {413, "a request has no body, and a statement at most 64 KiB"},
        {421, "the host is not this machine"},
        {431, "a request has at most 64 headers"},
        {503, "the store is being opened"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].status == status)
            return all[i].words;
    return "the request was refused";
}

void view_give_error(view_answer *answer, view_server *server, unsigned status, const char *message)
{
    view_call call;
    view_call_begin(&call, server, NULL);
    view_write_error(&call, message ? message : words_of(status));
    view_give_output(answer, &call, status);
    view_call_end(&call);
    if (status == 401)
        view_add_header(answer, "WWW-Authenticate", "Bearer");
}

/* ---- the page ---- */

static const page_file *find_file(const target *t)
{
    const char *name = t->part_count == 0 ? "index.html" : t->parts[0];
    for (size_t i = 0; t->part_count < 2 && i < page_file_count; i++)
        if (strcmp(page_files[i].path + 1, name) == 0)
            return &page_files[i];
    return NULL;
}

static void give_page(view_answer *answer, view_server *server, const view_request *request, const target *t)
{
    const page_file *file = find_file(t);
    const char *known = view_header_of(request, "If-None-Match");
    if (!file) {
        view_give_error(answer, server, 404, page_file_count == 0 ? VIEW_NO_PAGE : NULL);
        return;
    }
    answer->status = known && strcmp(known, file->etag) == 0 ? 304 : 200;
    view_add_header(answer, "ETag", file->etag);
    view_add_header(answer, "Cache-Control", "private, no-cache");
    if (answer->status == 304)
        return;
    answer->body = file->packed;
    answer->size = file->packed_size;
    view_add_header(answer, "Content-Type", file->media_type);
    view_add_header(answer, "Content-Encoding", "gzip");
}

/* ---- requests ---- */

static void note_request(view_server *server)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_store(&server->last_request, (long long)now.tv_sec);
}

static int is_named(const target *t, size_t index, const char *name)
{
    return t->part_count > index && strcmp(t->parts[index], name) == 0;
}

/* A body of a length that is known, and that is not too long. */
static int is_body_wanted(const view_request *request, int is_statement)
{
    const char *length = view_header_of(request, "Content-Length");
    size_t digits = length ? strspn(length, "0123456789") : 0;
    return is_statement && digits > 0 && digits < 8 && length[digits] == '\0' &&
           strtoul(length, NULL, 10) <= VIEW_BODY_MAX && !view_header_of(request, "Transfer-Encoding");
}

/* What changes the server. */
static int is_action(const target *t)
{
    return t->part_count == 3 && is_named(t, 0, "api") && (is_named(t, 2, "stop") || is_named(t, 2, "open"));
}

static unsigned check_method(const view_request *request, int is_post_wanted)
{
    int is_get = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    int is_post = strcmp(request->method, "POST") == 0;
    return (is_post_wanted ? is_post : is_get) ? 0 : 405;
}

static void give_session(view_answer *answer, view_server *server, const view_request *request)
{
    view_call call;
    view_call_begin(&call, server, request);
    view_write_session(&call);
    view_give_output(answer, &call, 200);
    view_call_end(&call);
}

/* The number of the run; 0: there is none. */
static int64_t run_of(const target *t)
{
    const char *text =
        t->parameter_count == 1 && strcmp(t->parameters[0].name, "run") == 0 ? t->parameters[0].value : "";
    size_t length = strlen(text);
    return length < 19 && strspn(text, "0123456789") == length ? (int64_t)strtoull(text, NULL, 10) : 0;
}

/* POST /api/1/open?run=N: the answer is the session, which has the store then. */
static int open_run(view_answer *answer, view_server *server, const view_request *request, const target *t,
                    int may_work)
{
    view_call call;
    int64_t run = run_of(t);
    if (!server->catalogue || run == 0) {
        view_give_error(answer, server, server->catalogue ? 400 : 404, NULL);
        return 1;
    }
    if (!may_work)
        return 0;
    view_call_begin(&call, server, request);
    int status = view_open_run(server, run);
    view_call_end(&call);
    if (status == EXIT_DONE)
        give_session(answer, server, request);
    else
        view_give_error(answer, server, 422, call.message);
    return 1;
}

static int give_api(view_answer *answer, view_server *server, const view_request *request, const target *t,
                    int may_work)
{
    note_request(server);
    if (!is_named(t, 1, "1") || t->part_count < 3) {
        view_give_error(answer, server, 404, NULL);
    } else if (t->part_count == 3 && is_named(t, 2, "stop")) {
        view_stop(server);
        answer->status = 204;
    } else if (t->part_count == 3 && is_named(t, 2, "open")) {
        return open_run(answer, server, request, t, may_work);
    } else if (t->part_count == 3 && is_named(t, 2, "session")) {
        give_session(answer, server, request);
    } else {
        return view_run_command(answer, server, request, t, may_work);
    }
    return 1;
}

int view_answer_request(void *user, const view_request *request, int may_work, view_answer *answer)
{
    view_server *server = user;
    target t;
    *answer = (view_answer){0};
    add_safe_headers(answer);
    unsigned status = target_parse(&t, request->target) == 0 ? 0 : 400;
    int is_api = is_named(&t, 0, "api");
    int is_statement = is_api && t.part_count == 4 && is_named(&t, 2, "sql");
    if (!status)
        status = check_method(request, is_statement || is_action(&t));
    if (!status)
        status = refusal(answer, server, request, is_api);
    if (!status && request->has_body && !is_body_wanted(request, is_statement))
        status = 413;
    if (!status && request->has_body && !request->body)
        return 0;
    if (status)
        view_give_error(answer, server, status, NULL);
    else if (is_api)
        return give_api(answer, server, request, &t, may_work);
    else
        give_page(answer, server, request, &t);
    return 1;
}
