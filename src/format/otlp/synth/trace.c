/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a synthetic trace has: a tree of calls of several services, and when each begins and ends.
 */
#include "format/otlp/span.h"
#include "format/otlp/synth/synth.h"
#include "model/recording/synth_program.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    USUAL = 16,       /* spans of a trace */
    NAME_SIZE = 96,   /* bytes */
    SLOWER = 8,       /* doublings: spans take longer than function calls */
    GAP = 2000003,    /* nanoseconds from one trace to the next */
    CONCURRENT = 6,   /* one of so many operations calls others concurrently */
    FAILURES = 128,   /* one of so many statements fails */
    NEIGHBOURS = 3,   /* services that a service calls */
    CHOICES = 4,      /* operations that an operation calls, of each kind */
    CLIMB_MASK = 1,   /* of a random number: the next call is one of the caller's */
    STEP_SHARE = 80,  /* of 256 callees: steps */
    QUERY_SHARE = 160 /* of 256: steps and queries; the others are calls */
};
#define START UINT64_C(1767225600000000417) /* 2026-01-01; no whole microsecond */

/* Streams of random numbers. */
enum stream {
    STREAM_TRACE_HIGH = 32,
    STREAM_TRACE_LOW,
    STREAM_SPAN_ID,
    STREAM_SPAN,
    STREAM_COUNT,
    STREAM_BEGIN,
    STREAM_CALLEE,
    STREAM_OPERATION
};

static const char *const areas[] = {"orders", "stock", "carts",   "users",
                                    "prices", "mails", "ratings", "files"};
static const char *const verbs[] = {"check", "load", "render", "validate", "merge", "price", "sign"};
#define PICK(words, number) ((words)[(number) % (sizeof(words) / sizeof *(words))])

/* ---- operations ---- */

__attribute__((format(printf, 2, 3))) static const char *name(struct otlp_world *world, const char *format,
                                                              ...)
{
    char text[NAME_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *copy = lode_arena_alloc(&world->arena, (size_t)size + 1, 1);
    if (copy)
        memcpy(copy, text, (size_t)size + 1);
    return copy;
}

static bool make_operation(struct otlp_world *world, uint32_t number)
{
    struct otlp_operation *operation = &world->all[number];
    const char *area = PICK(areas, number), *verb = PICK(verbs, number);
    operation->route = name(world, "/%s/%" PRIu32 "/{id}", area, number);
    operation->statement = name(world, "select * from %s_%" PRIu32 " where id = ?", area, number);
    operation->names[OTLP_ROLE_SERVE] = name(world, "GET /%s/%" PRIu32 "/{id}", area, number);
    operation->names[OTLP_ROLE_STEP] = name(world, "%s %s %" PRIu32, verb, area, number);
    operation->names[OTLP_ROLE_CALL] = "GET";
    operation->names[OTLP_ROLE_QUERY] = name(world, "SELECT %s_%" PRIu32, area, number);
    operation->is_concurrent = synth_draw(world->seed, STREAM_OPERATION, number) % CONCURRENT == 0;
    return operation->route && operation->statement && operation->names[OTLP_ROLE_SERVE] &&
           operation->names[OTLP_ROLE_STEP] && operation->names[OTLP_ROLE_QUERY];
}

bool lode_otlp_world_make(struct otlp_world *world, const lode_synth_recording_options *options)
{
    uint64_t usual = options->calls_per_request ? options->calls_per_request : USUAL;
    *world = (struct otlp_world){.seed = options->seed,
                                 .services = options->tasks < options->functions ? options->tasks
                                                                                 : options->functions,
                                 .operations = options->functions,
                                 .depth = options->depth,
                                 .spans = options->records / 2,
                                 .usual = usual < MADE_MOST / 2 ? usual : MADE_MOST / 2};
    world->traces = (world->spans + world->usual - 1) / world->usual;
    lode_arena_init(&world->arena, SIZE_MAX);
    world->names = lode_arena_alloc(&world->arena, world->services, sizeof *world->names);
    world->all = lode_arena_alloc(&world->arena, world->operations, sizeof *world->all);
    bool done = world->names && world->all;
    for (uint32_t i = 0; done && i < world->services; i++) {
        world->names[i] = name(world, "%s-%" PRIu32, PICK(areas, i), i);
        done = world->names[i] != NULL;
    }
    for (uint32_t i = 0; done && i < world->operations; i++)
        done = make_operation(world, i);
    return done;
}

void lode_otlp_world_free(struct otlp_world *world)
{
    lode_arena_free(&world->arena);
}

/* In each pair of traces, one has as many spans more as the other has fewer. */
uint64_t lode_otlp_made_count(const struct otlp_world *world, uint64_t trace)
{
    uint64_t usual = world->usual, last = world->traces - 1;
    if (trace == last)
        return world->spans - usual * last;
    if ((trace | 1) >= last || usual < 2)
        return usual;
    uint64_t change = synth_draw(world->seed, STREAM_COUNT, trace / 2) % (usual / 2 + 1);
    return trace % 2 ? usual - change : usual + change;
}

/* ---- the tree ---- */

/* An operation of a service, one of a few that depend on the caller. */
static uint32_t choose(const struct otlp_world *world, uint32_t caller, uint32_t service, uint64_t random)
{
    uint32_t count = (world->operations - service + world->services - 1) / world->services;
    uint64_t drawn = synth_draw(world->seed, STREAM_CALLEE, (uint64_t)caller * CHOICES + random % CHOICES);
    return service + world->services * (uint32_t)(drawn % count);
}

static bool can_call(const struct otlp_world *world, const struct otlp_made_span *span)
{
    return (span->role == OTLP_ROLE_SERVE || span->role == OTLP_ROLE_STEP) &&
           (span->depth == 0 || span->depth + 1 < world->depth);
}

/* The caller of the next span: the last one, or one of its callers. */
static uint32_t choose_caller(const struct otlp_world *world, const struct otlp_made_span *spans,
                              uint32_t last, uint64_t random)
{
    if (spans[last].role == OTLP_ROLE_CALL)
        return last;
    while (spans[last].depth > 0 && (!can_call(world, &spans[last]) || (random & CLIMB_MASK))) {
        random >>= can_call(world, &spans[last]) ? 1 : 0;
        last = spans[last].parent;
    }
    return last;
}

/* A service calls later ones only, and a step no other one: nothing is recursive. */
static enum otlp_role choose_role(const struct otlp_world *world, const struct otlp_made_span *caller,
                                  uint64_t random, bool is_last)
{
    unsigned share = (unsigned)(random & 0xff);
    bool can_be_call = !is_last && otlp_made_service(world, caller) + 1 < world->services &&
                       caller->depth + 2 < world->depth;
    if (caller->role == OTLP_ROLE_CALL)
        return OTLP_ROLE_SERVE;
    if (share < STEP_SHARE && caller->role == OTLP_ROLE_SERVE)
        return OTLP_ROLE_STEP;
    return share < QUERY_SHARE || !can_be_call ? OTLP_ROLE_QUERY : OTLP_ROLE_CALL;
}

static void add_callee(const struct otlp_world *world, struct otlp_made_span *spans, uint32_t index,
                       bool is_last)
{
    struct otlp_made_span *span = &spans[index];
    uint32_t caller = choose_caller(world, spans, index - 1, span->random);
    const struct otlp_made_span *above = &spans[caller];
    uint32_t service = otlp_made_service(world, above);
    span->parent = caller;
    span->parent_id = above->id;
    span->depth = above->depth + 1;
    span->role = choose_role(world, above, span->random >> 16, is_last);
    span->operation = span->role == OTLP_ROLE_SERVE ? above->target
                      : span->role == OTLP_ROLE_CALL
                          ? above->operation
                          : choose(world, above->operation, service, span->random >> 24);
    if (span->role == OTLP_ROLE_CALL) {
        uint32_t others = world->services - 1 - service;
        others = others < NEIGHBOURS ? others : NEIGHBOURS;
        uint32_t other = service + 1 + (uint32_t)(span->random >> 32) % others;
        span->target = choose(world, above->operation, other, span->random >> 24);
    }
}

/* A statement that failed fails what serves, and the call of it. */
static void fail(struct otlp_made_span *spans, uint32_t index)
{
    bool is_served = false;
    spans[index].has_failed = true;
    while (spans[index].depth > 0 && !is_served) {
        index = spans[index].parent;
        spans[index].has_failed = true;
        is_served = spans[index].role == OTLP_ROLE_SERVE;
    }
    if (spans[index].depth > 0)
        spans[spans[index].parent].has_failed = true;
}

/* ---- times ---- */

static uint64_t duration(uint64_t random)
{
    return (synth_step(random) << SLOWER) + (random >> 26 & 0xff);
}

/* The last one first: callees have their durations before their callers. */
static void make_times(const struct otlp_world *world, struct otlp_made_span *spans, uint32_t count,
                       uint64_t begin)
{
    for (uint32_t i = count; i-- > 0;) {
        struct otlp_made_span *span = &spans[i];
        span->end = span->used + duration(span->random >> 8); /* a duration, as yet */
        if (i == 0)
            break;
        struct otlp_made_span *caller = &spans[span->parent];
        bool is_beside = world->all[caller->operation].is_concurrent && caller->role != OTLP_ROLE_CALL;
        uint64_t pause = duration(span->random >> 28) / 8 + 1;
        span->tail = is_beside ? pause : caller->used + pause;
        uint64_t used = span->tail + span->end;
        caller->used = used > caller->used ? used : caller->used;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct otlp_made_span *span = &spans[i];
        uint64_t took = span->end;
        span->end = i == 0 ? begin + took : spans[span->parent].end - span->tail;
        span->begin = span->end - took;
    }
}

void lode_otlp_make_trace(const struct otlp_world *world, uint64_t trace, struct otlp_made_span *spans,
                          uint32_t count)
{
    uint64_t seed = world->seed, random = synth_draw(seed, STREAM_BEGIN, trace);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = trace * MADE_MOST + i;
        spans[i] = (struct otlp_made_span){.trace = {synth_draw(seed, STREAM_TRACE_HIGH, trace),
                                                     synth_draw(seed, STREAM_TRACE_LOW, trace) | 1},
                                           .id = synth_draw(seed, STREAM_SPAN_ID, number) | 1,
                                           .random = synth_draw(seed, STREAM_SPAN, number)};
        if (i > 0)
            add_callee(world, spans, i, i + 1 == count);
        else
            spans[i].operation = choose(world, (uint32_t)trace, 0, random >> 40);
    }
    for (uint32_t i = 1; i < count; i++)
        if (spans[i].role == OTLP_ROLE_QUERY && (spans[i].random >> 48) % FAILURES == 0)
            fail(spans, i);
    make_times(world, spans, count, START + trace * GAP + random % GAP);
}

/* ---- attributes ---- */

static unsigned describe_http(const struct otlp_world *world, const struct otlp_made_span *span,
                              struct otlp_made_attribute *attributes, char text[MADE_TEXT])
{
    bool is_call = span->role == OTLP_ROLE_CALL;
    uint32_t operation = is_call ? span->target : span->operation;
    unsigned count = 0;
    snprintf(text, MADE_TEXT, "http://%s:8080/%s/%" PRIu32 "/%u", world->names[operation % world->services],
             PICK(areas, operation), operation, (unsigned)(span->random >> 40 & 0xffff));
    attributes[count++] = (struct otlp_made_attribute){"http.request.method", "GET", 0};
    attributes[count++] = (struct otlp_made_attribute){"url.full", text, 0};
    attributes[count++] =
        is_call ? (struct otlp_made_attribute){"server.address", world->names[operation % world->services], 0}
                : (struct otlp_made_attribute){"http.route", world->all[operation].route, 0};
    attributes[count++] = (struct otlp_made_attribute){"server.port", NULL, 8080};
    attributes[count++] =
        (struct otlp_made_attribute){"http.response.status_code", NULL, span->has_failed ? 503 : 200};
    attributes[count++] = (struct otlp_made_attribute){"network.protocol.version", "1.1", 0};
    return count;
}

unsigned lode_otlp_made_attributes(const struct otlp_world *world, const struct otlp_made_span *span,
                                   struct otlp_made_attribute attributes[MADE_ATTRIBUTES],
                                   char text[MADE_TEXT])
{
    unsigned count = 0;
    if (span->role == OTLP_ROLE_SERVE || span->role == OTLP_ROLE_CALL)
        return describe_http(world, span, attributes, text);
    if (span->role == OTLP_ROLE_STEP) {
        const char *name_of_step = world->all[span->operation].names[OTLP_ROLE_STEP];
        snprintf(text, MADE_TEXT, "worker-%u", (unsigned)(span->random >> 56 & 7));
        attributes[count++] = (struct otlp_made_attribute){"code.function.name", name_of_step, 0};
        attributes[count++] = (struct otlp_made_attribute){"code.file.path", "/srv/app/handlers.js", 0};
        attributes[count++] = (struct otlp_made_attribute){"thread.name", text, 0};
        attributes[count++] = (struct otlp_made_attribute){"app.items", NULL, span->random >> 40 & 0x3f};
        return count;
    }
    attributes[count++] = (struct otlp_made_attribute){"db.system.name", "postgresql", 0};
    attributes[count++] = (struct otlp_made_attribute){"db.namespace", "shop", 0};
    attributes[count++] =
        (struct otlp_made_attribute){"db.query.text", world->all[span->operation].statement, 0};
    attributes[count++] =
        (struct otlp_made_attribute){"db.response.returned_rows", NULL, span->random >> 40 & 0xff};
    attributes[count++] = (struct otlp_made_attribute){"server.address", "database.example", 0};
    return count;
}
