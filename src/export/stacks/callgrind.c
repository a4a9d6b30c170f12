/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of callgrind: own cost by line of each function, and calls from a line to a function
 * with their inclusive cost. It is a graph of functions: call paths are lost.
 *
 * Readers add up the calls of a function: a recursive call has no cost, or it would count twice.
 * They drop calls that happened 0 times.
 */
#include "export/formats.h"
#include "export/stacks/stacks.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both without padding: compared byte by byte. */
struct place {
    uint32_t frame, line;
};

struct edge {
    uint32_t caller, line, callee;
};

/* Names that were given a number: "(3) name", then "(3)". */
struct names {
    struct lode_strings strings;
    uint32_t defined;
};

struct callgrind {
    struct lode_stacks stacks;
    struct lode_export_file *file;
    struct lode_interner places, edges;
    struct lode_array own, inclusive; /* int64_t: number * metric_count + metric */
    struct lode_array calls;          /* uint64_t, by number of an edge */
    struct names modules, files, functions;
    uint32_t *on_stack; /* by frame: how often it is in the current stack */
    uint32_t *path;     /* frames of the current stack */
    uint32_t depth;
    uint32_t no_stack; /* the frame of what has none */
    int64_t *sums;     /* inclusive, by position */
    int64_t *zeros;    /* a value of each metric */
};

/* ---- adding up ---- */

static lode_status add(struct lode_array *sums, uint32_t number, const int64_t *values, size_t count,
                       lode_error *error)
{
    while (sums->count < ((size_t)number + 1) * count)
        LODE_TRY_ALLOC(lode_array_push(sums), error);
    for (size_t i = 0; i < count; i++)
        *LODE_ARRAY_AT(sums, int64_t, number * count + i) += values[i];
    return LODE_OK;
}

static lode_status add_own(struct callgrind *c, uint32_t position, lode_error *error)
{
    size_t metrics = c->stacks.metric_count;
    const struct lode_position *at = &c->stacks.positions[position];
    struct place place = {position == 0 ? c->no_stack : at->frame, position == 0 ? 0 : at->line};
    if (!lode_stacks_has_value(&c->stacks, position))
        return LODE_OK;
    uint32_t number = lode_interner_add(&c->places, &place, NULL);
    LODE_TRY_ALLOC(number != LODE_NO_NUMBER, error);
    return add(&c->own, number, &c->stacks.values[position * metrics], metrics, error);
}

static lode_status add_call(struct callgrind *c, uint32_t position, lode_error *error)
{
    size_t metrics = c->stacks.metric_count;
    const struct lode_position *at = &c->stacks.positions[position];
    const struct lode_position *caller = &c->stacks.positions[at->caller];
    struct edge edge = {caller->frame, caller->line, at->frame};
    uint32_t number = lode_interner_add(&c->edges, &edge, NULL);
    LODE_TRY_ALLOC(number != LODE_NO_NUMBER, error);
    while (c->calls.count <= number)
        LODE_TRY_ALLOC(lode_array_push(&c->calls), error);
    /* Databases do not count calls; recordings do, as their last metric. */
    uint64_t calls = c->stacks.job->db ? 1 : (uint64_t)c->stacks.values[position * metrics + metrics - 1];
    *LODE_ARRAY_AT(&c->calls, uint64_t, number) += calls;
    bool is_recursive = c->on_stack[at->frame] > 0;
    const int64_t *values = is_recursive ? c->zeros : &c->sums[position * metrics];
    return add(&c->inclusive, number, values, metrics, error);
}

/* Leaves what is not in the stack of a position, and enters it. */
static void follow(struct callgrind *c, const struct lode_position *at)
{
    while (c->depth >= at->depth && c->depth > 0)
        c->on_stack[c->path[--c->depth]]--;
}

static lode_status reserve(struct callgrind *c, lode_error *error)
{
    uint32_t frames = lode_export_frames_count(&c->stacks.frames), deepest = 0;
    for (uint32_t i = 0; i < c->stacks.count; i++)
        deepest = c->stacks.positions[i].depth > deepest ? c->stacks.positions[i].depth : deepest;
    free(c->on_stack);
    free(c->path);
    free(c->sums);
    c->on_stack = calloc((size_t)frames + 1, sizeof *c->on_stack);
    c->path = calloc((size_t)deepest + 1, sizeof *c->path);
    c->sums = lode_stacks_inclusive(&c->stacks);
    c->depth = 0;
    LODE_TRY_ALLOC(c->on_stack && c->path && c->sums, error);
    return LODE_OK;
}

static lode_status add_stacks(struct callgrind *c, lode_error *error)
{
    LODE_TRY(reserve(c, error));
    for (uint32_t i = 0; i < c->stacks.count; i++) {
        const struct lode_position *at = &c->stacks.positions[i];
        LODE_TRY(add_own(c, i, error));
        follow(c, at);
        if (at->depth > 1)
            LODE_TRY(add_call(c, i, error));
        if (at->depth > 0) {
            c->path[c->depth++] = at->frame;
            c->on_stack[at->frame]++;
        }
    }
    return LODE_OK;
}

/* ---- writing ---- */

static lode_status write_name(struct callgrind *c, const char *field, struct names *names, const char *name,
                              lode_error *error)
{
    uint32_t number;
    LODE_TRY_ALLOC(lode_strings_put(&names->strings, name[0] ? name : "???", &number), error);
    if (number < names->defined)
        return lode_export_print(c->file, error, "%s=(%lu)\n", field, (unsigned long)number + 1);
    names->defined = number + 1;
    return lode_export_print(c->file, error, "%s=(%lu) %s\n", field, (unsigned long)number + 1,
                             name[0] ? name : "???");
}

static lode_status write_costs(struct callgrind *c, uint32_t line, const struct lode_array *sums,
                               uint32_t number, lode_error *error)
{
    LODE_TRY(lode_export_print(c->file, error, "%lu", (unsigned long)line));
    for (size_t i = 0; i < c->stacks.metric_count; i++)
        LODE_TRY(
            lode_export_print(c->file, error, " %lld",
                              (long long)*LODE_ARRAY_AT(sums, int64_t, number * c->stacks.metric_count + i)));
    return lode_export_write(c->file, "\n", 1, error);
}

static lode_status write_call(struct callgrind *c, uint32_t number, const struct lode_export_frame *caller,
                              lode_error *error)
{
    const struct edge *edge = LODE_ARRAY_AT(&c->edges.items, struct edge, number);
    struct lode_export_frame callee = lode_export_frames_at(&c->stacks.frames, edge->callee);
    uint64_t calls = *LODE_ARRAY_AT(&c->calls, uint64_t, number);
    if (strcmp(callee.module, caller->module) != 0)
        LODE_TRY(write_name(c, "cob", &c->modules, callee.module, error));
    if (strcmp(callee.file, caller->file) != 0)
        LODE_TRY(write_name(c, "cfl", &c->files, callee.file, error));
    LODE_TRY(write_name(c, "cfn", &c->functions, callee.name, error));
    LODE_TRY(lode_export_print(c->file, error, "calls=%llu %lu\n", (unsigned long long)(calls ? calls : 1),
                               (unsigned long)callee.line));
    return write_costs(c, edge->line, &c->inclusive, number, error);
}

/* Numbers of places or edges by frame: lists, newest first, so they are put in reverse order. */
struct lists {
    uint32_t *first, *next; /* number + 1; 0: none */
};

static lode_status make_lists(struct lists *lists, const struct lode_interner *items, size_t item_size,
                              uint32_t frames, lode_error *error)
{
    size_t count = items->items.count;
    lists->first = calloc((size_t)frames + 1, sizeof *lists->first);
    lists->next = calloc(count + 1, sizeof *lists->next);
    LODE_TRY_ALLOC(lists->first && lists->next, error);
    for (uint32_t i = (uint32_t)count; i-- > 0;) {
        /* The first member of both kinds is the frame. */
        uint32_t frame;
        memcpy(&frame, (const char *)items->items.items + i * item_size, sizeof frame);
        lists->next[i] = lists->first[frame];
        lists->first[frame] = i + 1;
    }
    return LODE_OK;
}

static lode_status write_function(struct callgrind *c, uint32_t number, const struct lists *own,
                                  const struct lists *calls, lode_error *error)
{
    struct lode_export_frame frame = lode_export_frames_at(&c->stacks.frames, number);
    if (own->first[number] == 0 && calls->first[number] == 0)
        return LODE_OK;
    LODE_TRY(lode_export_write(c->file, "\n", 1, error));
    LODE_TRY(write_name(c, "ob", &c->modules, frame.module, error));
    LODE_TRY(write_name(c, "fl", &c->files, frame.file, error));
    LODE_TRY(write_name(c, "fn", &c->functions, frame.name, error));
    for (uint32_t i = own->first[number]; i != 0; i = own->next[i - 1])
        LODE_TRY(write_costs(c, LODE_ARRAY_AT(&c->places.items, struct place, i - 1)->line, &c->own, i - 1,
                             error));
    for (uint32_t i = calls->first[number]; i != 0; i = calls->next[i - 1])
        LODE_TRY(write_call(c, i - 1, &frame, error));
    return LODE_OK;
}

static lode_status write_functions(struct callgrind *c, lode_error *error)
{
    uint32_t frames = lode_export_frames_count(&c->stacks.frames);
    struct lists own = {0}, calls = {0};
    lode_status status = make_lists(&own, &c->places, sizeof(struct place), frames, error);
    if (status == LODE_OK)
        status = make_lists(&calls, &c->edges, sizeof(struct edge), frames, error);
    for (uint32_t i = 0; status == LODE_OK && i < frames; i++)
        status = write_function(c, i, &own, &calls, error);
    free(own.first);
    free(own.next);
    free(calls.first);
    free(calls.next);
    return status;
}

/* Events are words. */
static void event_name(char *name, size_t size, const struct lode_stack_metric *metric, size_t index)
{
    size_t used = 0;
    for (const char *at = metric->name; *at && used + 8 < size; at++)
        if (isalnum((unsigned char)*at))
            name[used++] = *at;
    snprintf(name + used, size - used, "%s", "");
    if (used == 0 || isdigit((unsigned char)name[0]))
        snprintf(name, size, "event%lu", (unsigned long)index);
}

static lode_status write_totals(struct callgrind *c, const char *field, lode_error *error)
{
    size_t metrics = c->stacks.metric_count;
    LODE_TRY(lode_export_print(c->file, error, "%s:", field));
    for (size_t m = 0; m < metrics; m++) {
        int64_t total = 0;
        for (size_t i = 0; i < c->places.items.count; i++)
            total += *LODE_ARRAY_AT(&c->own, int64_t, i * metrics + m);
        LODE_TRY(lode_export_print(c->file, error, " %lld", (long long)total));
    }
    return lode_export_write(c->file, "\n", 1, error);
}

/* A field of text; nothing that could begin a line of its own. */
static lode_status write_line(struct callgrind *c, const char *field, const char *text, lode_error *error)
{
    LODE_TRY(lode_export_print(c->file, error, "%s: ", field));
    for (; *text; text++)
        LODE_TRY(lode_export_write(c->file, iscntrl((unsigned char)*text) ? "?" : text, 1, error));
    return lode_export_write(c->file, "\n", 1, error);
}

static lode_status write_header(struct callgrind *c, lode_error *error)
{
    const struct lode_export *job = c->stacks.job;
    char name[64];
    const char *title = job->options->title ? job->options->title
                        : job->db           ? lode_database_title(job->db)
                                            : "";
    LODE_TRY(lode_export_print(c->file, error,
                               "# callgrind format\nversion: 1\ncreator: lode\npositions: line\n"));
    LODE_TRY(write_line(c, "cmd", title, error));
    for (size_t i = 0; i < c->stacks.metric_count; i++) {
        event_name(name, sizeof name, &c->stacks.metrics[i], i);
        LODE_TRY(lode_export_print(c->file, error, "event: %s : %s (%s)\n", name, c->stacks.metrics[i].name,
                                   c->stacks.metrics[i].unit));
    }
    LODE_TRY(lode_export_print(c->file, error, "events:"));
    for (size_t i = 0; i < c->stacks.metric_count; i++) {
        event_name(name, sizeof name, &c->stacks.metrics[i], i);
        LODE_TRY(lode_export_print(c->file, error, " %s", name));
    }
    LODE_TRY(lode_export_write(c->file, "\n", 1, error));
    return write_totals(c, "summary", error);
}

static lode_status write_all(struct callgrind *c, lode_error *error)
{
    lode_status status;
    LODE_TRY(lode_export_frames_named(&c->stacks.frames, "<no stack>", &c->no_stack, error));
    c->zeros = calloc(c->stacks.metric_count, sizeof *c->zeros);
    LODE_TRY_ALLOC(c->zeros, error);
    while ((status = lode_stacks_next(&c->stacks, error)) == LODE_OK)
        LODE_TRY(add_stacks(c, error));
    if (status != LODE_END)
        return status;
    LODE_TRY(write_header(c, error));
    LODE_TRY(write_functions(c, error));
    LODE_TRY(lode_export_write(c->file, "\n", 1, error));
    LODE_TRY(write_totals(c, "totals", error));
    return lode_stacks_report(&c->stacks, error);
}

static lode_status run_callgrind(struct lode_export *job, lode_error *error)
{
    static const struct lode_stack_form form = {.lines = true, .no_negative = true};
    struct callgrind c = {.file = job->file};
    lode_interner_init(&c.places, sizeof(struct place));
    lode_interner_init(&c.edges, sizeof(struct edge));
    lode_array_init(&c.own, sizeof(int64_t), SIZE_MAX / 16);
    lode_array_init(&c.inclusive, sizeof(int64_t), SIZE_MAX / 16);
    lode_array_init(&c.calls, sizeof(uint64_t), UINT32_MAX);
    lode_strings_init(&c.modules.strings);
    lode_strings_init(&c.files.strings);
    lode_strings_init(&c.functions.strings);
    lode_status status = lode_stacks_open(&c.stacks, job, &form, error);
    if (status == LODE_OK)
        status = write_all(&c, error);
    lode_stacks_close(&c.stacks);
    lode_interner_free(&c.places);
    lode_interner_free(&c.edges);
    lode_array_free(&c.own);
    lode_array_free(&c.inclusive);
    lode_array_free(&c.calls);
    lode_strings_free(&c.modules.strings);
    lode_strings_free(&c.files.strings);
    lode_strings_free(&c.functions.strings);
    free(c.on_stack);
    free(c.path);
    free(c.sums);
    free(c.zeros);
    return status;
}

const struct lode_export_format lode_export_callgrind = {
    .name = "callgrind",
    .description = "callgrind profiles: KCachegrind, QCachegrind, callgrind_annotate",
    .suffix = ".callgrind",
    .names = "*.callgrind callgrind.out.* callgrind.out",
    .loses = "call paths: it is a graph of functions; costs of recursive calls",
    .holds = LODE_EXPORT_STACKS,
    .usual = LODE_COMPRESSION_NONE,
    .run = run_callgrind,
};
