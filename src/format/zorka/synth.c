/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synthetic trace stores. A trace is one request: a random walk over a call graph, which depends on
 * the seed and the trace number only. Tasks are threads, which serve one request after the other.
 */
#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/zorka/write/write.h"
#include "format/zorka/zorka.h"
#include "model/recording/synth_program.h"
#include <inttypes.h>
#include <lode/unstable/synth.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CALLS = 1000,       /* per trace by default */
    SLOWER = 8,         /* doublings: requests take longer than function calls */
    GAP_BITS = 25,      /* nanoseconds between requests of a thread */
    FAILURE_SHARE = 64, /* one of so many traces fails */
    FAILURES = 24,      /* kinds of failures */
    STACK_DEPTH = 6,
    URLS = 256,
    METHODS_PER_CLASS = 6,
    PROCESS = 4711,
    FIRST_THREAD = 21,
    FLAG_ERROR = 8,
    NAME_SIZE = 128
};
#define START_STAMP UINT64_C(1546300800000)  /* milliseconds: 2019-01-01 */
#define START_CLOCK UINT64_C(86400000000000) /* nanoseconds: the machine has been up for a day */

enum key {
    KEY_COMPONENT,
    KEY_URL,
    KEY_STATUS,
    KEY_PROCESS,
    KEY_THREAD,
    KEY_THREAD_NAME,
    KEY_COUNT
};

struct services {
    const lode_synth_recording_options *options;
    struct lode_arena arena;
    struct synth_program program;
    struct zor_writer writer;
    struct lode_progress progress;
    uint64_t calls, calls_per_request, trace_count;
    struct zor_entry **methods, **threads;
    struct zor_entry *keys[KEY_COUNT], *components[4], *urls[URLS];
    struct zor_entry *inner[FAILURES], *outer[FAILURES]; /* exceptions: causes and effects */
    uint64_t *times;                                     /* of traces: durations, then begins */
    bool has_memory;
};

/* ---- strings ---- */

static struct zor_entry *make_text(struct services *self, enum zor_mark mark, const char *text)
{
    struct zor_entry *entry = lode_zor_string(&self->writer.strings, mark, zor_range(text));
    self->has_memory = self->has_memory && entry;
    return entry;
}

static struct zor_entry *make_tuple(struct services *self, enum zor_mark mark, struct zor_entry *const *parts,
                                    size_t count, uint64_t line)
{
    struct zor_entry *entry = lode_zor_tuple(&self->writer.strings, mark, parts, count, line);
    self->has_memory = self->has_memory && entry;
    return entry;
}

static const char *const areas[] = {"web",    "orders",   "billing", "stock",
                                    "search", "accounts", "mail",    "cache"};
static const char *const roles[] = {"Service", "Repository", "Controller", "Mapper",
                                    "Client",  "Filter",     "Codec"};
static const char *const verbs[] = {"find",  "load", "store", "check", "render",
                                    "apply", "lock", "parse", "send"};
static const char *const signatures[] = {"()", "(int)", "(java.lang.String)", "(long,java.lang.String)",
                                         "(java.util.Map)"};
#define PICK(words, number) ((words)[(number) % (sizeof(words) / sizeof *(words))])

/* Unique names of a method. */
static void name_method(uint32_t number, char class_name[NAME_SIZE], char method[NAME_SIZE])
{
    uint32_t class_number = number / METHODS_PER_CLASS;
    snprintf(class_name, NAME_SIZE, "com.example.%s.%s%" PRIu32, PICK(areas, class_number),
             PICK(roles, class_number), class_number);
    snprintf(method, NAME_SIZE, "%s%" PRIu32, PICK(verbs, number), number % METHODS_PER_CLASS);
}

static void make_methods(struct services *self)
{
    char class_name[NAME_SIZE], method[NAME_SIZE];
    for (uint32_t i = 0; i < self->options->functions; i++) {
        name_method(i, class_name, method);
        self->methods[i] =
            lode_zor_method(&self->writer.strings, zor_range(class_name), zor_range(method),
                            zor_range(PICK(signatures, synth_draw(self->options->seed, 6, i))));
        self->has_memory = self->has_memory && self->methods[i];
    }
}

static struct zor_entry *make_stack(struct services *self, uint64_t random)
{
    struct zor_entry *items[STACK_DEPTH];
    char class_name[NAME_SIZE], method[NAME_SIZE];
    for (unsigned i = 0; i < STACK_DEPTH; i++) {
        uint64_t drawn = synth_draw(random, 7, i);
        name_method((uint32_t)(drawn % self->options->functions), class_name, method);
        struct zor_entry *parts[] = {make_text(self, ZOR_MARK_CLASS, class_name),
                                     make_text(self, ZOR_MARK_METHOD_NAME, method),
                                     make_text(self, ZOR_MARK_NONE, "Source.java")};
        items[i] = make_tuple(self, ZOR_MARK_STACK_ITEM, parts, 3, 10 + (drawn >> 32) % 900);
    }
    return make_tuple(self, ZOR_MARK_STACK, items, STACK_DEPTH, 0);
}

static struct zor_entry *make_exception(struct services *self, const char *class_name, const char *message,
                                        uint64_t random, struct zor_entry *cause)
{
    struct zor_entry *parts[] = {make_text(self, ZOR_MARK_CLASS, class_name),
                                 make_text(self, ZOR_MARK_NONE, message), make_stack(self, random), cause};
    return make_tuple(self, ZOR_MARK_EXCEPTION, parts, 4, 0);
}

static void make_exceptions(struct services *self)
{
    static const char *const classes[] = {"java.sql.SQLException", "java.net.SocketTimeoutException",
                                          "java.lang.IllegalStateException"};
    char message[NAME_SIZE];
    for (unsigned i = 0; i < FAILURES; i++) {
        uint64_t random = synth_draw(self->options->seed, 8, i);
        snprintf(message, sizeof message, "no answer from node %u", i);
        self->inner[i] = make_exception(self, PICK(classes, i), message, random, NULL);
        self->outer[i] = make_exception(self, "com.example.web.RequestFailed", "the request failed",
                                        random + 1, self->inner[i]);
    }
}

static void make_values(struct services *self)
{
    static const char *const names[KEY_COUNT] = {"component",   "http.url",  "http.status_code",
                                                 "process.pid", "thread.id", "thread.name"};
    static const char *const components[] = {"http", "rest", "graphql", "batch"};
    char text[NAME_SIZE];
    for (unsigned i = 0; i < KEY_COUNT; i++)
        self->keys[i] = make_text(self, ZOR_MARK_NONE, names[i]);
    for (unsigned i = 0; i < sizeof components / sizeof *components; i++)
        self->components[i] = make_text(self, ZOR_MARK_NONE, components[i]);
    for (unsigned i = 0; i < URLS; i++) {
        snprintf(text, sizeof text, "https://shop.example.com/%s/%u", PICK(areas, i), i);
        self->urls[i] = make_text(self, ZOR_MARK_NONE, text);
    }
    for (uint32_t i = 0; i < self->options->tasks; i++) {
        snprintf(text, sizeof text, "exec-%" PRIu32, i + 1);
        self->threads[i] = make_text(self, ZOR_MARK_NONE, text);
    }
}

/* ---- a trace ---- */

/* A trace being written. */
struct request {
    const struct services *self;
    struct zor_encoder *encoder;
    struct synth_walk walk;
    uint64_t number, random;
    uint64_t begin, time; /* nanoseconds */
    uint64_t fails_at;    /* number of remaining calls at which it fails; 0: never */
    unsigned failure;
    bool has_thrown; /* the innermost call */
};

static uint64_t tick_of(const struct request *request)
{
    return (START_CLOCK + request->begin + request->time) >> ZOR_TICK_SHIFT;
}

static uint64_t calls_of(const struct services *self, uint64_t number)
{
    uint64_t usual = self->calls_per_request, last = self->trace_count - 1;
    if (number == last)
        return self->calls - usual * last;
    /* In each pair of traces, one has as many calls more as the other has fewer. */
    if ((number | 1) >= last || usual < 2)
        return usual;
    uint64_t change = synth_draw(self->options->seed, 9, number / 2) % (usual / 2 + 1);
    return number % 2 ? usual - change : usual + change;
}

static lode_status fail(struct request *request, struct zor_entry *exception, lode_error *error)
{
    LODE_TRY(lode_zor_more(request->encoder, error));
    lode_zor_thrown(request->encoder, exception);
    request->has_thrown = true;
    return LODE_OK;
}

static lode_status enter(struct request *request, uint32_t function, uint64_t random, lode_error *error)
{
    request->time += synth_step(random) << SLOWER;
    request->walk.left--;
    return lode_zor_enter(request->encoder, tick_of(request), request->self->methods[function], error);
}

static lode_status leave(struct request *request, uint64_t random, lode_error *error)
{
    request->time += synth_step(random) << SLOWER;
    request->walk.left--;
    LODE_TRY(lode_zor_more(request->encoder, error));
    if (request->has_thrown)
        lode_zor_number(request->encoder, ZOR_KEY_FLAGS, FLAG_ERROR);
    request->has_thrown = false;
    return lode_zor_leave(request->encoder, tick_of(request), error);
}

static lode_status call_leaf(struct request *request, uint32_t function, uint64_t random, lode_error *error)
{
    LODE_TRY(enter(request, function, random, error));
    if (request->walk.left <= request->fails_at) {
        request->fails_at = 0;
        LODE_TRY(fail(request, request->self->inner[request->failure], error));
    }
    return leave(request, random >> 22, error);
}

static lode_status begin(struct request *request, lode_error *error)
{
    const struct services *self = request->self;
    struct zor_encoder *encoder = request->encoder;
    uint64_t random = request->random, seed = self->options->seed;
    struct zor_id id = {synth_draw(seed, 10, request->number), synth_draw(seed, 11, request->number) | 1};
    uint64_t stamp = START_STAMP + request->begin / 1000000;
    uint32_t thread = (uint32_t)(request->number % self->options->tasks);
    lode_zor_begin_track(encoder, request->number);
    lode_zor_begin_trace(encoder, id, stamp);
    request->walk.stack[request->walk.depth++] = (uint32_t)(random >> 8 & 1);
    LODE_TRY(enter(request, request->walk.stack[0], random, error));
    lode_zor_number(encoder, ZOR_KEY_STAMP, stamp);
    lode_zor_number(encoder, ZOR_KEY_SPAN, id.low >> 1);
    lode_zor_put_ids(encoder);
    /* The smaller of two: low numbers are more frequent. */
    uint64_t url = random >> 16 & (URLS - 1), other = random >> 24 & (URLS - 1);
    lode_zor_attribute_text(encoder, self->keys[KEY_COMPONENT], self->components[random >> 32 & 3]);
    lode_zor_attribute_text(encoder, self->keys[KEY_URL], self->urls[url < other ? url : other]);
    lode_zor_attribute_number(encoder, self->keys[KEY_STATUS], request->fails_at > 0 ? 500 : 200);
    lode_zor_attribute_number(encoder, self->keys[KEY_PROCESS], PROCESS);
    lode_zor_attribute_number(encoder, self->keys[KEY_THREAD], FIRST_THREAD + (int64_t)thread);
    lode_zor_attribute_text(encoder, self->keys[KEY_THREAD_NAME], self->threads[thread]);
    return LODE_OK;
}

static lode_status walk_calls(struct request *request, lode_error *error)
{
    struct synth_walk *walk = &request->walk;
    bool has_failed = request->fails_at > 0;
    uint32_t function = 0;
    uint64_t random;
    LODE_TRY(begin(request, error));
    while (walk->left > 0) {
        switch (synth_move(walk, &function, &random)) {
        case SYNTH_ENTER:
            LODE_TRY(enter(request, function, random, error));
            break;
        case SYNTH_LEAF:
            LODE_TRY(call_leaf(request, function, random, error));
            break;
        case SYNTH_LEAVE:
            if (has_failed && walk->depth == 0)
                LODE_TRY(fail(request, request->self->outer[request->failure], error));
            LODE_TRY(leave(request, random, error));
            break;
        case SYNTH_STAY:
            break;
        }
    }
    return LODE_OK;
}

/* Also computes the duration while the begin is not yet set. */
static lode_status make_trace(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct services *self = context;
    struct zor_encoder *encoder = &self->writer.encoders[worker];
    uint64_t random = synth_draw(self->options->seed, 12, item), calls = calls_of(self, item);
    struct request request = {.self = self,
                              .encoder = encoder,
                              .number = item,
                              .random = random,
                              .begin = encoder->is_noting ? 0 : self->times[item],
                              .failure = (unsigned)(random >> 40) % FAILURES};
    request.walk = (struct synth_walk){.program = &self->program, .state = random, .left = 2 * calls};
    if (calls > 1 && (random >> 48) % FAILURE_SHARE == 0)
        request.fails_at = calls;
    request.walk.stack = calloc((size_t)self->options->depth + 1, sizeof *request.walk.stack);
    LODE_TRY_ALLOC(request.walk.stack, error);
    lode_status status = walk_calls(&request, error);
    if (encoder->is_noting)
        self->times[item] = request.time;
    free(request.walk.stack);
    return status;
}

static lode_status count_trace(void *context, uint64_t item, lode_error *error)
{
    struct services *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* ---- public API ---- */

/* Threads serve their requests sequentially. */
static lode_status place_traces(struct services *self, lode_error *error)
{
    uint32_t tasks = self->options->tasks;
    uint64_t *now = calloc(tasks, sizeof *now);
    LODE_TRY_ALLOC(now, error);
    for (uint64_t i = 0; i < self->trace_count; i++) {
        uint64_t gap = synth_draw(self->options->seed, 13, i) & ((UINT64_C(1) << GAP_BITS) - 1);
        uint64_t begin = now[i % tasks] + gap;
        now[i % tasks] = begin + self->times[i];
        self->times[i] = begin;
    }
    free(now);
    return LODE_OK;
}

static lode_status prepare(struct services *self, lode_error *error)
{
    const lode_synth_recording_options *options = self->options;
    self->calls = options->records / 2;
    self->calls_per_request = options->calls_per_request ? options->calls_per_request : CALLS;
    self->trace_count = (self->calls + self->calls_per_request - 1) / self->calls_per_request;
    self->methods = lode_arena_alloc(&self->arena, options->functions, sizeof(struct zor_entry *));
    self->threads = lode_arena_alloc(&self->arena, options->tasks, sizeof(struct zor_entry *));
    self->times = lode_arena_alloc(&self->arena, self->trace_count, sizeof *self->times);
    if (!self->methods || !self->threads || !self->times ||
        !lode_synth_program_make(&self->program, &self->arena, options->functions, options->depth,
                                 options->seed))
        return lode_fail_memory(error);
    return LODE_OK;
}

static lode_status synthesise(struct services *self, const char *path, enum zor_layout layout,
                              lode_error *error)
{
    const lode_synth_recording_options *options = self->options;
    LODE_TRY(prepare(self, error));
    struct lode_job job = {
        .items = self->trace_count, .work = make_trace, .finish = count_trace, .context = self};
    unsigned threads = lode_pool_threads(options->threads, self->trace_count);
    LODE_TRY(lode_zor_writer_create(&self->writer, path, layout, options->force, threads, error));
    make_methods(self);
    make_exceptions(self);
    make_values(self);
    if (!self->has_memory)
        return lode_fail_memory(error);
    self->progress.total = 2 * self->trace_count;
    LODE_TRY(lode_pool_run(threads, &job, error));
    LODE_TRY(place_traces(self, error));
    LODE_TRY(lode_zor_writer_number(&self->writer, error));
    LODE_TRY(lode_pool_run(threads, &job, error));
    return lode_zor_writer_finish(&self->writer, error);
}

static lode_status make(const char *path, const lode_synth_recording_options *options, enum zor_layout layout,
                        lode_error *error)
{
    struct services self = {
        .options = options,
        .writer = ZOR_WRITER_INIT,
        .progress = {.report = options->on_progress, .user = options->user, .phase = "making requests"},
        .has_memory = true};
    lode_arena_init(&self.arena, SIZE_MAX);
    lode_status status = synthesise(&self, path, layout, error);
    lode_zor_writer_close(&self.writer);
    lode_arena_free(&self.arena);
    return status;
}

lode_status lode_zor_synth_page(const char *path, const lode_synth_recording_options *options,
                                lode_error *error)
{
    return make(path, options, ZOR_LAYOUT_PAGE, error);
}

lode_status lode_zor_synth_zico(const char *path, const lode_synth_recording_options *options,
                                lode_error *error)
{
    return make(path, options, ZOR_LAYOUT_ZICO, error);
}
