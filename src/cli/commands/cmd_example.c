/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "interrupt.h"
#include "output/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct example_options {
    shared_options shared;
    int force;
} example_options;

static const struct {
    const char *name, *about;
} stores[] = {
    {"solver", "a database: a heat solver on 8 ranks with 4 threads each"},
    {"thumbs", "a recording: a program that makes thumbnails with 3 workers"},
    {"shop", "a recording: 80 requests to a web shop"},
};

static const struct {
    const char *command, *store;
} next[] = {
    {"diagnose", "solver"},
    {"top", "solver"},
    {"replay --min-time 10ms", "thumbs"},
    {"search --min-duration 1s", "shop"},
    {"view", "solver"},
};

/* The path as it can be typed: quoted if the shell needs it. The caller frees it. */
static char *quote(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:@%";
    char *quoted = alloc_array(4 * strlen(path) + 3, 1), *at = quoted;
    if (path[strspn(path, plain)] == 0) {
        memcpy(quoted, path, strlen(path) + 1);
        return quoted;
    }
    *at++ = '\'';
    for (; *path; path++) {
        size_t size = *path == '\'' ? 4 : 1;
        memcpy(at, size == 4 ? "'\\''" : path, size);
        at += size;
    }
    memcpy(at, "'", 2);
    return quoted;
}

static void show(out *o, const char *path)
{
    size_t length = strlen(path);
    const char *slash = length && path[length - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        out_line(o, "%s%s%-8s%s", path, slash, stores[i].name, stores[i].about);
    out_gap(o);
    out_line(o, "Try:");
    for (size_t i = 0; i < sizeof next / sizeof *next; i++)
        out_line(o, "  lode %s %s%s%s", next[i].command, path, slash, next[i].store);
}

static int run_example(const invocation *call)
{
    const example_options *options = call->options;
    const char *path = call->operands[0];
    lode_error error = {0};
    lode_synth_example_options settings = LODE_SYNTH_EXAMPLE_OPTIONS_INIT;
    settings.force = options->force;
    settings.threads = (unsigned)(call->shared->threads < 4096 ? call->shared->threads : 4096);
    char *quoted = quote(path);
    interrupt_hold();
    lode_status status = lode_synth_examples(path, &settings, &error);
    if (status == LODE_OK)
        show(call->out, quoted);
    free(quoted);
    return status == LODE_OK ? EXIT_DONE : report_unwritten(path, &error);
}

static const option_spec example_own[] = {
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(example_options, force)},
    {0},
};

const command_spec command_example = {
    .name = "example",
    .operands = "DIRECTORY",
    .min_operands = 1,
    .max_operands = 1,
    .options = {.own = example_own, .shared = SHARED_THREADS},
    .options_size = sizeof(example_options),
    .run = run_example,
};
