/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synthetic stores of spans. A trace is a request that passes several services; it depends on the
 * seed and its number only. A message has the spans of some traces by service, as a Collector
 * writes them.
 */
#ifndef LODE_OTLP_SYNTH_H
#define LODE_OTLP_SYNTH_H

#include "base/memory/arena.h"
#include "base/memory/blob.h"
#include <lode/unstable/synth.h>
#include <stdbool.h>

enum {
    MADE_ATTRIBUTES = 8, /* of a span, at most */
    MADE_TEXT = 96,      /* bytes of an attribute whose text is made for it */
    MADE_MOST = 1 << 20  /* spans of a trace */
};

/* What a span does. */
enum otlp_role {
    OTLP_ROLE_SERVE, /* answers a call of another service */
    OTLP_ROLE_STEP,  /* works inside of its service */
    OTLP_ROLE_CALL,  /* calls another service: one callee, which serves */
    OTLP_ROLE_QUERY, /* asks a database: no callees */
    OTLP_ROLES
};

/* An operation: a route of a service, with a step and a statement of its own. */
struct otlp_operation {
    const char *names[OTLP_ROLES];
    const char *route, *statement;
    bool is_concurrent; /* its callees run beside each other */
};

/* What all traces share. */
struct otlp_world {
    struct lode_arena arena;
    uint64_t seed;
    uint32_t services, operations; /* operation i is one of service i % services */
    uint32_t depth;                /* of calls, at most */
    uint64_t spans, usual, traces; /* of all; of a trace; how many there are */
    const char **names;            /* of services */
    struct otlp_operation *all;
};

struct otlp_made_span {
    uint64_t trace[2], id, parent_id; /* parent_id 0: none */
    uint64_t begin, end, random;
    uint64_t tail;                             /* from its end to that of its caller */
    uint64_t used;                             /* by its callees */
    uint32_t parent, depth, operation, target; /* target: the operation that it calls */
    enum otlp_role role;
    bool has_failed;
};

struct otlp_made_attribute {
    const char *key, *text; /* NULL: a number */
    uint64_t number;
};

/* False if out of memory. */
bool lode_otlp_world_make(struct otlp_world *world, const lode_synth_recording_options *options);
void lode_otlp_world_free(struct otlp_world *world);
/* How many spans a trace has. */
uint64_t lode_otlp_made_count(const struct otlp_world *world, uint64_t trace);
/* Makes so many spans. */
void lode_otlp_make_trace(const struct otlp_world *world, uint64_t trace, struct otlp_made_span *spans,
                          uint32_t count);
/* The attributes of a span; `text` is where one may be written. */
unsigned lode_otlp_made_attributes(const struct otlp_world *world, const struct otlp_made_span *span,
                                   struct otlp_made_attribute attributes[MADE_ATTRIBUTES],
                                   char text[MADE_TEXT]);
static inline uint32_t otlp_made_service(const struct otlp_world *world, const struct otlp_made_span *span)
{
    return span->operation % world->services;
}

/* Attributes of the processes, and what a statement that failed says. */
#define MADE_VERSION   "1.4.2"
#define MADE_SCOPE     "io.example.http"
#define MADE_EXCEPTION "TimeoutError"
#define MADE_MESSAGE   "no answer within 100 ms"
#define MADE_STACK     "TimeoutError: no answer within 100 ms\n    at query (/srv/app/database.js:71:11)"

/* Buffers of a worker. */
struct otlp_made_buffers {
    struct otlp_made_span *spans;
    size_t capacity;
    struct lode_blob span, scope, service, event, pair, value; /* messages that are nested */
};

/* Appends a message with these spans; false if out of memory. */
typedef bool (*otlp_form_fn)(const struct otlp_world *world, const struct otlp_made_span *spans, size_t count,
                             struct otlp_made_buffers *buffers, struct lode_blob *message);
bool lode_otlp_form_framed(const struct otlp_world *world, const struct otlp_made_span *spans, size_t count,
                           struct otlp_made_buffers *buffers, struct lode_blob *message);
bool lode_otlp_form_bare(const struct otlp_world *world, const struct otlp_made_span *spans, size_t count,
                         struct otlp_made_buffers *buffers, struct lode_blob *message);
bool lode_otlp_form_json(const struct otlp_world *world, const struct otlp_made_span *spans, size_t count,
                         struct otlp_made_buffers *buffers, struct lode_blob *message);

/* Stores: a single file of length-prefixed or bare protobuf, or JSON lines. */
lode_status lode_otlp_synth_framed(const char *path, const lode_synth_recording_options *options,
                                   lode_error *error);
lode_status lode_otlp_synth_bare(const char *path, const lode_synth_recording_options *options,
                                 lode_error *error);
lode_status lode_otlp_synth_json(const char *path, const lode_synth_recording_options *options,
                                 lode_error *error);

#endif
