/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/api.h"

#include "cache.h"
#include "command.h"
#include "output/report.h"
#include "view/pack.h"
#include "view/statement.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX (TARGET_PARAMETERS + TARGET_PARTS + 4)

/* Commands that only read, and what a second operand that is not a store is called. */
static const struct allowed_command {
    const char *name;
    const char *operand; /* NULL: there is none */
} allowed_commands[] = {
    {"check", NULL},   {"compare", NULL},  {"context", "context"}, {"diagnose", NULL},
    {"flame", NULL},   {"info", NULL},     {"profiles", NULL},     {"replay", NULL},
    {"scaling", NULL}, {"search", "text"}, {"source", "location"}, {"top", NULL},
    {"trace", NULL},   {"tree", NULL},     {"runs", "function"},
};

/* What `lode runs` may do here: it reads the catalogue, and no store. */
static const char *const allowed_actions[] = {"list", "trend"};

/* Options that may be used; allowed.def lists them. */
static const struct allowed_option {
    const char *name;
    unsigned long long most; /* 0: no bound */
} allowed_options[] = {
#define ALLOWED(name, most) {name, most},
#include "view/allowed.def"
#undef ALLOWED
};

typedef struct command_line {
    const command_spec *command;
    const char *operand; /* the name of the parameter */
    int is_of_catalogue; /* no store */
    size_t stores[TARGET_PARTS];
    size_t store_count;
    char *arguments[ARGUMENTS_MAX];
    int argument_count;
    int is_owned[ARGUMENTS_MAX];
    char problem[256];
} command_line;

static int fail(command_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(command_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->problem, sizeof line->problem, format, arguments);
    va_end(arguments);
    return -1;
}

static void add_argument(command_line *line, const char *text, int is_owned)
{
    line->is_owned[line->argument_count] = is_owned;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): commands only read their arguments */
    line->arguments[line->argument_count++] = (char *)(uintptr_t)text;
}

static void free_arguments(command_line *line)
{
    for (int i = 0; i < line->argument_count; i++)
        if (line->is_owned[i])
            free(line->arguments[i]);
}

static int find_command(command_line *line, const view_server *server, const char *name)
{
    for (size_t i = 0; i < sizeof allowed_commands / sizeof *allowed_commands; i++) {
        if (strcmp(allowed_commands[i].name, name) != 0)
            continue;
        line->command = command_find(name);
        line->operand = allowed_commands[i].operand;
        line->is_of_catalogue = line->command == &command_runs;
    }
    return line->command && (!line->is_of_catalogue || server->catalogue) ? 0 : -1;
}

static const option_spec *find_option(const command_spec *command, const char *name)
{
    option_entry list[OPTION_LIST_MAX];
    size_t count = option_list(&command->options, list);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].option->name, name) == 0 && list[i].option->kind != OPTION_STORES)
            return list[i].option;
    return NULL;
}

static const struct allowed_option *find_allowed(const char *name)
{
    for (size_t i = 0; i < sizeof allowed_options / sizeof *allowed_options; i++)
        if (strcmp(allowed_options[i].name, name) == 0)
            return &allowed_options[i];
    return NULL;
}

/* A flag is set by its name alone, or by a value that says so. */
static int add_flag(command_line *line, const char *name, const char *value)
{
    char *text = NULL;
    if (strcmp(value, "0") == 0 || strcmp(value, "false") == 0)
        return 0;
    if (value[0] && strcmp(value, "1") != 0 && strcmp(value, "true") != 0)
        return fail(line, "%s takes no value but 1 and 0", name);
    if (asprintf(&text, "--%s", name) < 0)
        return fail(line, "out of memory");
    add_argument(line, text, 1);
    return 0;
}

static int add_value(command_line *line, const char *name, const char *value)
{
    char *text = NULL;
    if (value && asprintf(&text, "--%s=%s", name, value) < 0)
        return fail(line, "out of memory");
    if (text)
        add_argument(line, text, 1);
    return 0;
}

static int add_option(command_line *line, const char *name, const char *value)
{
    const option_spec *option = find_option(line->command, name);
    const struct allowed_option *allowed = find_allowed(name);
    if (!option || !allowed)
        return fail(line, "the option '%.60s' cannot be used here", name);
    if (option->kind == OPTION_FLAG)
        return add_flag(line, name, value);
    if (allowed->most && strtoull(value, NULL, 10) > allowed->most)
        return fail(line, "the number for '%.60s' is too large", name);
    return add_value(line, name, value);
}

/* The numbers of stores, as they were given to the server. */
static int add_stores(command_line *line, const view_server *server, const target *t)
{
    const command_spec *command = line->command;
    size_t most = command->has_sides ? command->max_operands : 1;
    size_t least = command->has_sides ? command->min_operands : 1;
    if (t->part_count < 3 + least || t->part_count > 3 + most)
        return fail(line, "'%s' takes another number of stores", command->name);
    add_argument(line, "--", 0);
    for (size_t i = 3; i < t->part_count; i++) {
        const char *part = t->parts[i];
        size_t length = strlen(part), number = (size_t)strtoul(part, NULL, 10);
        if (length > 2 || strspn(part, "0123456789") != length || number >= server->store_count)
            return fail(line, "there is no store %.20s", part);
        line->stores[line->store_count++] = number;
        add_argument(line, server->stores[number].path, 0);
    }
    return 0;
}

/* The catalogue is the server's, whatever the request says. */
static int add_catalogue(command_line *line, const view_server *server, const target *t)
{
    if (add_value(line, "catalogue", server->catalogue) != 0 ||
        add_value(line, "project", server->project) != 0)
        return -1;
    add_argument(line, "--", 0);
    for (size_t i = 0; t->part_count == 4 && i < sizeof allowed_actions / sizeof *allowed_actions; i++)
        if (strcmp(t->parts[3], allowed_actions[i]) == 0) {
            add_argument(line, allowed_actions[i], 0);
            return 0;
        }
    return fail(line, "'runs' takes 'list' or 'trend' here");
}

static int build(command_line *line, const view_server *server, const target *t)
{
    const char *operand = NULL;
    add_argument(line, "--json", 0);
    for (size_t i = 0; i < t->parameter_count; i++) {
        const target_parameter *p = &t->parameters[i];
        if (line->operand && strcmp(p->name, line->operand) == 0)
            operand = p->value;
        else if (add_option(line, p->name, p->value) != 0)
            return -1;
    }
    if ((line->is_of_catalogue ? add_catalogue : add_stores)(line, server, t) != 0)
        return -1;
    if (operand)
        add_argument(line, operand, 0);
    else if (line->operand && line->command->min_operands > 1)
        return fail(line, "missing parameter: %s", line->operand);
    return 0;
}

/* Whether all stores are open and unchanged; else the answer says what is wrong. */
static int are_ready(view_answer *answer, view_server *server, const command_line *line)
{
    char problem[VIEW_MESSAGE_SIZE] = "";
    unsigned status = 0;
    for (size_t i = 0; i < line->store_count && !status; i++) {
        view_store *store = &server->stores[line->stores[i]];
        pthread_mutex_lock(&server->lock);
        view_state state = store->state;
        if (state == VIEW_FAILED)
            snprintf(problem, sizeof problem, "%s", store->problem);
        pthread_mutex_unlock(&server->lock);
        status = state == VIEW_FAILED ? 422 : state == VIEW_OPENING ? 503 : 0;
        if (!status && !view_is_current(server, store))
            status = 410;
    }
    if (!status)
        return 1;
    view_give_error(answer, server, status, status == 422 ? problem : NULL);
    if (status == 503)
        view_add_header(answer, "Retry-After", "1");
    return 0;
}

/* ---- answers that are known ---- */

/* FNV-1a: it distinguishes answers for one browser, and nobody gains by two that are equal. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

/* From all that the answer depends on: stores, rules, the version, the command line, the coding. */
static void set_etag(view_answer *answer, const view_server *server, const command_line *line, int may_pack)
{
    uint64_t stores = server->kinds_identity,
             command = hash_text(UINT64_C(0xcbf29ce484222325), lode_version());
    for (size_t i = 0; i < line->store_count; i++)
        stores = stores * 31 + server->stores[line->stores[i]].identity;
    command = hash_text(command, line->command->name);
    command = hash_text(command, server->kinds_path ? server->kinds_path : "");
    for (int i = 0; i < line->argument_count; i++)
        command = hash_text(command, line->arguments[i]);
    snprintf(answer->text, sizeof answer->text, "\"%016" PRIx64 "-%016" PRIx64 "%s\"", stores, command,
             may_pack ? "-gzip" : "");
}

static int is_known(const view_answer *answer, const view_request *request)
{
    const char *etag = view_header_of(request, "If-None-Match");
    return etag && strcmp(etag, answer->text) == 0;
}

typedef struct bytes {
    size_t size;
    int is_packed;
    char data[];
} bytes;

static void release_bytes(void *user, const void *body)
{
    view_server *server = user;
    const char *data = body;
    cache_release(server->answers, data - offsetof(bytes, data));
}

/* Answers are cached as they are sent. */
static int give_cached(view_answer *answer, view_server *server, const bytes *found)
{
    answer->status = 200;
    answer->body = found->data;
    answer->size = found->size;
    answer->release = release_bytes;
    answer->user = server;
    view_add_header(answer, "Content-Type", "application/json; charset=utf-8");
    view_add_header(answer, "Cache-Control", "private, no-cache");
    if (found->is_packed)
        view_add_header(answer, "Content-Encoding", "gzip");
    return 1;
}

static void put_answer(view_server *server, const char *key, const view_answer *answer, int is_packed)
{
    bytes *b = answer->status == 200 ? malloc(sizeof *b + answer->size) : NULL;
    if (!b)
        return;
    b->size = answer->size;
    b->is_packed = is_packed;
    memcpy(b->data, answer->body, answer->size);
    cache_add(server->answers, key, b, answer->size, free);
}

/* Packs a large answer; whether it is packed now. */
static int pack(view_answer *answer)
{
    size_t size = 0;
    if (answer->status != 200 || answer->size <= PACK_LEAST)
        return 0;
    void *packed = pack_gzip(answer->body, answer->size, &size);
    if (!packed)
        return 0;
    view_replace_body(answer, packed, size);
    view_add_header(answer, "Content-Encoding", "gzip");
    return 1;
}

/* ---- running ---- */

/* Whether no file became shorter while it was read. */
static int are_intact(const view_server *server, const command_line *line)
{
    for (size_t i = 0; i < line->store_count; i++) {
        const host_store *open = &server->stores[line->stores[i]].open;
        if ((open->db ? lode_database_intact(open->db, NULL)
                      : lode_recording_intact(open->recording, NULL)) != LODE_OK)
            return 0;
    }
    return 1;
}

static void run(view_answer *answer, view_server *server, const view_request *request, command_line *line)
{
    view_call call;
    char message[VIEW_MESSAGE_SIZE];
    view_call_begin(&call, server, request);
    int status = command_run(line->command, line->argument_count, line->arguments);
    memcpy(message, call.message, sizeof message);
    int is_intact = are_intact(server, line);
    if (status != EXIT_TROUBLE && !call.is_cancelled && is_intact) {
        view_give_output(answer, &call, 200);
        view_call_end(&call);
        return;
    }
    view_call_end(&call);
    if (!is_intact)
        view_give_error(answer, server, 410, NULL);
    else if (call.is_cancelled)
        view_give_error(answer, server, 503, "the request was given up");
    else
        view_give_error(answer, server, 400, message);
}

/* A catalogue grows: its answers are not cached. One question at a time. */
static int answer_catalogue(view_answer *answer, view_server *server, const view_request *request,
                            command_line *line, int may_work)
{
    if (!may_work)
        return 0;
    pthread_mutex_lock(&server->catalogue_lock);
    run(answer, server, request, line);
    pthread_mutex_unlock(&server->catalogue_lock);
    return 1;
}

static int answer_command(view_answer *answer, view_server *server, const view_request *request,
                          command_line *line, int may_work)
{
    int may_pack = pack_is_accepted(view_header_of(request, "Accept-Encoding"));
    set_etag(answer, server, line, may_pack);
    view_add_header(answer, "Vary", "Accept-Encoding");
    if (is_known(answer, request)) {
        answer->status = 304;
        view_add_header(answer, "ETag", answer->text);
        return 1;
    }
    const bytes *found = cache_find(server->answers, answer->text);
    if (!found && !may_work)
        return 0;
    if (found) {
        give_cached(answer, server, found);
    } else {
        run(answer, server, request, line);
        put_answer(server, answer->text, answer, may_pack && pack(answer));
    }
    if (answer->status == 200)
        view_add_header(answer, "ETag", answer->text);
    return 1;
}

static int answer_statement(view_answer *answer, view_server *server, const view_request *request,
                            const target *t, int may_work)
{
    command_line line = {.command = command_find("sql")};
    int is_wrong = !request->body || t->parameter_count > 0 || add_stores(&line, server, t) != 0;
    if (is_wrong)
        view_give_error(answer, server, 400, request->body ? line.problem : "missing statement");
    if (is_wrong || !are_ready(answer, server, &line))
        return 1;
    if (may_work)
        view_run_statement(answer, server, request, server->stores[line.stores[0]].path);
    return may_work;
}

int view_run_command(view_answer *answer, view_server *server, const view_request *request, const target *t,
                     int may_work)
{
    command_line line = {0};
    int is_answered = 1;
    if (strcmp(t->parts[2], "sql") == 0)
        return answer_statement(answer, server, request, t, may_work);
    if (find_command(&line, server, t->parts[2]) != 0) {
        view_give_error(answer, server, 404, NULL);
        return 1;
    }
    if (build(&line, server, t) != 0)
        view_give_error(answer, server, 400, line.problem);
    else if (are_ready(answer, server, &line))
        is_answered = (line.is_of_catalogue ? answer_catalogue : answer_command)(answer, server, request,
                                                                                 &line, may_work);
    free_arguments(&line);
    return is_answered;
}
