/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/api.h"

#include "command.h"
#include "output/report.h"

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
    {"check", NULL},    {"compare", NULL}, {"context", "context"}, {"flame", NULL},  {"info", NULL},
    {"profiles", NULL}, {"replay", NULL},  {"scaling", NULL},      {"search", NULL}, {"source", "location"},
    {"top", NULL},      {"trace", NULL},   {"tree", NULL},
};

/*
 * Options, which mean the same in every command: none of them names a file, writes, or asks for
 * threads. Numbers have the bounds of the command; a smaller one is given here.
 */
static const struct allowed_option {
    const char *name;
    unsigned long long most; /* 0: no bound */
} allowed_options[] = {
    {"all", 0},         {"around", 1000000}, {"at", 0},        {"attribute", 0},  {"bottom-up", 0},
    {"by", 0},          {"callees", 0},      {"callers", 0},   {"columns", 8192}, {"depth", 0},
    {"errors", 0},      {"exclude", 0},      {"focus", 0},     {"from", 0},       {"function", 0},
    {"id", 0},          {"include", 0},      {"inclusive", 0}, {"level", 0},      {"limit", 0},
    {"lines", 0},       {"max-duration", 0}, {"method", 0},    {"metric", 0},     {"min-duration", 0},
    {"min-percent", 0}, {"min-time", 0},     {"names", 0},     {"no-sched", 0},   {"profiles", 0},
    {"idle-time", 0},   {"merge", 0},        {"probes", 0},    {"ranks-base", 0}, {"ranks-new", 0},
    {"rows", 4096},     {"scaling", 0},      {"scope", 0},     {"sort", 0},       {"statistic", 0},
    {"task", 0},        {"text", 0},         {"times", 0},     {"to", 0},         {"tree", 0},
    {"verbose", 0},
};

typedef struct command_line {
    const command_spec *command;
    const char *operand; /* the name of the parameter */
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
    line->arguments[line->argument_count++] = (char *)(uintptr_t)text;
}

static void free_arguments(command_line *line)
{
    for (int i = 0; i < line->argument_count; i++)
        if (line->is_owned[i])
            free(line->arguments[i]);
}

static int find_command(command_line *line, const char *name)
{
    for (size_t i = 0; i < sizeof allowed_commands / sizeof *allowed_commands; i++) {
        if (strcmp(allowed_commands[i].name, name) != 0)
            continue;
        line->command = command_find(name);
        line->operand = allowed_commands[i].operand;
    }
    return line->command ? 0 : -1;
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

static int add_option(command_line *line, const char *name, const char *value)
{
    const option_spec *option = find_option(line->command, name);
    const struct allowed_option *allowed = find_allowed(name);
    char *text = NULL;
    if (!option || !allowed)
        return fail(line, "the option '%.60s' cannot be used here", name);
    if (option->kind == OPTION_FLAG)
        return add_flag(line, name, value);
    if (allowed->most && strtoull(value, NULL, 10) > allowed->most)
        return fail(line, "the number for '%.60s' is too large", name);
    if (asprintf(&text, "--%s=%s", name, value) < 0)
        return fail(line, "out of memory");
    add_argument(line, text, 1);
    return 0;
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
    if (add_stores(line, server, t) != 0)
        return -1;
    if (operand)
        add_argument(line, operand, 0);
    else if (line->operand && line->command->min_operands > 1)
        return fail(line, "missing parameter: %s", line->operand);
    return 0;
}

/* Whether all stores are open; else the answer says why not. */
static int are_ready(view_answer *answer, view_server *server, const command_line *line)
{
    char problem[VIEW_MESSAGE_SIZE] = "";
    view_state worst = VIEW_READY;
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < line->store_count; i++) {
        const view_store *store = &server->stores[line->stores[i]];
        if (store->state == VIEW_READY)
            continue;
        worst = store->state;
        snprintf(problem, sizeof problem, "%s",
                 store->state == VIEW_FAILED ? store->problem : "the store is being opened");
    }
    pthread_mutex_unlock(&server->lock);
    if (worst == VIEW_READY)
        return 1;
    view_give_error(answer, server, worst == VIEW_FAILED ? 422 : 503, problem);
    if (worst == VIEW_OPENING)
        view_add_header(answer, "Retry-After", "1");
    return 0;
}

static void run(view_answer *answer, view_server *server, const view_request *request, command_line *line)
{
    view_call call;
    char message[VIEW_MESSAGE_SIZE];
    view_call_begin(&call, server, request);
    int status = command_run(line->command, line->argument_count, line->arguments);
    memcpy(message, call.message, sizeof message);
    if (status != EXIT_TROUBLE && !call.is_cancelled) {
        view_give_output(answer, &call, 200);
        view_call_end(&call);
        return;
    }
    view_call_end(&call);
    if (call.is_cancelled)
        view_give_error(answer, server, 503, "the request was given up");
    else
        view_give_error(answer, server, 400, message);
}

int view_run_command(view_answer *answer, view_server *server, const view_request *request, const target *t,
                     int may_work)
{
    command_line line = {0};
    int is_answered = 1;
    if (find_command(&line, t->parts[2]) != 0) {
        view_give_error(answer, server, 404, NULL);
        return 1;
    }
    if (build(&line, server, t) != 0)
        view_give_error(answer, server, 400, line.problem);
    else if (are_ready(answer, server, &line)) {
        is_answered = may_work;
        if (may_work)
            run(answer, server, request, &line);
    }
    free_arguments(&line);
    return is_answered;
}
