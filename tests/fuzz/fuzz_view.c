/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to the server of 'lode view', without a socket: a byte of flags, then lines: METHOD
 * TARGET, and headers. Commands run on a small store.
 */
#include "interrupt.h"
#include "options/formats.h"
#include "view/view.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    HAS_HOST = 1,
    HAS_TOKEN = 2,
    HAS_BODY = 4
};

static view_server server;
static char store_path[] = "/tmp/lode-fuzz-XXXXXX.folded";
static char token_header[VIEW_TOKEN_SIZE + 8];

static void clean_up(void)
{
    view_destroy(&server);
    unlink(store_path);
}

static void start(void)
{
    static const char stacks[] = "main;solve;dot 7\nmain;solve;axpy 3\nmain;MPI_Wait 2\n";
    int fd = mkstemps(store_path, 7);
    interrupt_init();
    formats_init();
    if (fd < 0 || write(fd, stacks, sizeof stacks - 1) != (ssize_t)(sizeof stacks - 1) ||
        view_create(&server, 1 << 20) != 0 || view_add_store(&server, store_path) != 0 ||
        view_open_stores(&server) != 0)
        abort();
    close(fd);
    pthread_join(server.opener, NULL);
    server.opener = 0;
    snprintf(token_header, sizeof token_header, "Bearer %s", server.token);
    atexit(clean_up);
}

static void add(view_request *request, const char *name, const char *value)
{
    request->has_more_headers |= request->header_count == VIEW_REQUEST_HEADERS_MAX;
    if (!request->has_more_headers)
        request->headers[request->header_count++] = (view_header){name, value};
}

/* Splits the text into lines, in place. */
static void parse(view_request *request, char *text)
{
    char *rest = NULL, *line = strtok_r(text, "\n", &rest);
    request->method = line ? line : "";
    char *space = line ? strchr(line, ' ') : NULL;
    request->target = space ? space + 1 : "/";
    if (space)
        *space = '\0';
    while ((line = strtok_r(NULL, "\n", &rest))) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = '\0';
        add(request, line, colon + 1 + strspn(colon + 1, " "));
    }
}

/* Nobody gets anything of a store without the token. */
static void check(const view_request *request, unsigned flags, const view_answer *answer)
{
    int is_api = strncmp(request->target, "/api/", 5) == 0;
    if (answer->status < 200 || answer->status > 599 || (answer->size && !answer->body))
        abort();
    if (is_api && !(flags & HAS_TOKEN) && answer->status < 400)
        abort();
    if (request->has_more_headers && answer->status < 400)
        abort();
    if (!(flags & HAS_HOST) && answer->status < 400 && request->header_count == 0)
        abort();
}

/* Whether there is one. A statement with its body would start a process: it gets none here. */
static int answer_of(view_request *request, view_answer *answer)
{
    if (view_answer_request(&server, request, 0, answer))
        return 1;
    if (!request->has_body)
        return view_answer_request(&server, request, 1, answer);
    request->body = "select 1";
    request->body_size = strlen(request->body);
    if (!view_answer_request(&server, request, 0, answer))
        *answer = (view_answer){.status = 400};
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    view_request request = {0};
    view_answer answer;
    if (!server.results)
        start();
    char *text = malloc(size + 1);
    if (!text || size < 1) {
        free(text);
        return 0;
    }
    unsigned flags = data[0];
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    parse(&request, text);
    if (flags & HAS_HOST)
        add(&request, "Host", "localhost:8080");
    if (flags & HAS_TOKEN)
        add(&request, "Authorization", token_header);
    request.has_body = (flags & HAS_BODY) != 0;
    if (!answer_of(&request, &answer))
        abort();
    check(&request, flags, &answer);
    if (answer.release)
        answer.release(answer.user, answer.body);
    atomic_store(&server.is_stopping, 0);
    free(text);
    return 0;
}

#ifdef FUZZ_DRIVER
/* The objects of the program have a main. */
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*target)(const uint8_t *data, size_t size));
int __wrap_main(int count, char **arguments);

int __wrap_main(int count, char **arguments)
{
    return LLVMFuzzerRunDriver(&count, &arguments, LLVMFuzzerTestOneInput);
}
#endif
