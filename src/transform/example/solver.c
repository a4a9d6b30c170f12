/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The example database: a heat solver on 8 ranks with 4 threads each. Ranks have equal numbers of
 * rows, but the rows of rank 5 have twice as many entries, so the others wait for it in
 * MPI_Allreduce. Profiles and trace lines are samples of one simulated run, so they agree.
 */
#include "transform/example/solver.h"
#include "base/error.h"
#include "transform/build/standard.h"
#include "transform/example/example.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 8,
    TEAM = 4, /* threads of a rank */
    RANKS_PER_NODE = 4,
    SLOW_RANK = 5,
    STEPS = 6,
    CHECKPOINT_EVERY = 3,
    KIND_NODE = 1,
    KIND_RANK = 2,
    KIND_THREAD = 3
};
#define START      UINT64_C(1772442000000000000) /* nanoseconds: 2026-03-02 09:00:00 UTC */
#define PERIOD     UINT64_C(7812500)             /* nanoseconds of 1/128 s, exact in binary */
#define CLOCK_RATE 2.56e9                        /* 20 million cycles per sample */
#define US(n)      (UINT64_C(1000) * (n))

/* ---- describing it ---- */

enum metric {
    CPUTIME,
    CYCLES,
    INSTRUCTIONS,
    MISSES,
    METRICS
};
static const char *const metrics[METRICS] = {"CPUTIME (sec)", "PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_L3_TCM"};

struct solver {
    const char *sources;
    lode_writer *writer;
    uint32_t modules[MODULES], files[FILES], functions[FUNCTIONS], metrics[METRICS];
    uint32_t lines[FUNCTIONS]; /* where functions begin */
    uint32_t leaves[LEAVES];
    struct thread *threads; /* by rank, then by thread */
};

static const char *source_text(const char *name)
{
    for (const struct lode_example_source_file *source = lode_example_source_files; source->name; source++)
        if (strcmp(source->name, name) == 0)
            return source->text;
    return NULL;
}

static const char *tail(const char *path)
{
    return strrchr(path, '/') + 1;
}

/* The number of the first line from `first` on that has this text; 0: there is none. */
static uint32_t find_line(const struct location *at, uint32_t first)
{
    if (at->text == NULL || at->file == NO_FILE)
        return at->line;
    const char *line = source_text(tail(files[at->file]));
    for (uint32_t number = 1; line && *line; number++) {
        const char *end = strchr(line, '\n'), *found = strstr(line, at->text);
        if (number >= first && found && found < end)
            return number;
        line = end + 1;
    }
    return 0;
}

static lode_status locate(const struct location *at, uint32_t first, uint32_t *line, lode_error *error)
{
    *line = find_line(at, first);
    return *line > 0 || at->file == NO_FILE ? LODE_OK
                                            : lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET,
                                                        "the example has no line '%s'", at->text);
}

static lode_status describe_metrics(struct solver *self, lode_error *error)
{
    uint32_t scopes[LODE_STANDARD_SCOPES];
    LODE_TRY(lode_standard_begin(self->writer, scopes, error));
    for (size_t m = 0; m < METRICS; m++)
        LODE_TRY(lode_standard_metric(self->writer, scopes, metrics[m], &self->metrics[m], error));
    return LODE_OK;
}

static lode_status describe_files(struct solver *self, lode_error *error)
{
    char path[256], source[4096];
    for (size_t i = 0; i < MODULES; i++)
        LODE_TRY(lode_writer_add_module(self->writer, modules[i], &self->modules[i], error));
    for (size_t i = 0; i < FILES; i++) {
        const char *name = tail(files[i]);
        int is_copied = source_text(name) != NULL;
        snprintf(path, sizeof path, "%s%s", is_copied ? "src" : "", files[i]);
        if (snprintf(source, sizeof source, "%s/%s", self->sources, name) >= (int)sizeof source)
            return lode_fail(error, LODE_ERR_ARGUMENT, self->sources, LODE_NO_OFFSET, "the path is too long");
        LODE_TRY(lode_writer_add_file(self->writer, path, is_copied, is_copied ? source : NULL,
                                      &self->files[i], error));
    }
    return LODE_OK;
}

static lode_status describe_functions(struct solver *self, lode_error *error)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        int has_file = functions[i].at.file != NO_FILE;
        LODE_TRY(locate(&functions[i].at, 1, &self->lines[i], error));
        lode_writer_function function = {
            .name = functions[i].name,
            .module = functions[i].module == NOWHERE ? LODE_NONE : self->modules[functions[i].module],
            .file = has_file ? self->files[functions[i].at.file] : LODE_NONE,
            .line = self->lines[i],
            .offset = functions[i].offset};
        LODE_TRY(lode_writer_add_function(self->writer, &function, &self->functions[i], error));
    }
    return LODE_OK;
}

/* Lines are those of the function that the node is in. */
static lode_status describe_node(struct solver *self, const struct node *node, uint32_t function_line,
                                 lode_writer_context *context, lode_error *error)
{
    switch (node->kind) {
    case ENTRY:
        context->entry = (int)node->at.line;
        context->entry_name = node->at.text;
        return LODE_OK;
    case CALL:
    case INLINED:
        context->lexical = LODE_LEXICAL_FUNCTION;
        context->relation = node->kind == CALL ? LODE_RELATION_CALL : LODE_RELATION_INLINED;
        context->function = self->functions[node->function];
        return LODE_OK;
    default:
        context->lexical = node->kind == LOOP ? LODE_LEXICAL_LOOP : LODE_LEXICAL_LINE;
        context->relation = LODE_RELATION_LEXICAL;
        context->propagation = 1;
        context->file = self->files[node->at.file];
        return locate(&node->at, function_line, &context->line, error);
    }
}

static lode_status describe_tree(struct solver *self, lode_error *error)
{
    uint32_t path[DEPTHS], lines[DEPTHS]; /* by depth: contexts, and where their functions begin */
    for (size_t i = 0; i < NODES; i++) {
        const struct node *node = &nodes[i];
        uint8_t depth = node->depth;
        lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
        context.parent = depth ? path[depth - 1] : LODE_NONE;
        int is_call = node->kind == CALL || node->kind == INLINED;
        lines[depth] = is_call ? self->lines[node->function] : depth ? lines[depth - 1] : 1;
        LODE_TRY(describe_node(self, node, lines[depth], &context, error));
        LODE_TRY(lode_writer_add_context(self->writer, &context, &path[depth], error));
        if (node->leaf)
            self->leaves[node->leaf] = path[depth];
    }
    return LODE_OK;
}

/* ---- the run ---- */

enum {
    MOST_SAMPLES = 1024
};

struct thread {
    uint64_t now, next; /* time, and that of the next sample; nanoseconds since the start */
    uint32_t count;
    uint32_t counts[LEAVES]; /* samples by leaf */
    uint64_t times[MOST_SAMPLES];
    uint8_t samples[MOST_SAMPLES];
};

/* A number from 0 to `below` - 1 that depends on its arguments only. */
static uint64_t draw(uint64_t a, uint64_t b, uint64_t below)
{
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1b54a32d192ed03) + 1;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % below;
}

static struct thread *thread_of(const struct solver *self, unsigned rank, unsigned thread)
{
    return &self->threads[rank * TEAM + thread];
}

static void spend_until(struct thread *thread, enum leaf leaf, uint64_t end)
{
    for (; thread->next < end && thread->count < MOST_SAMPLES; thread->next += PERIOD) {
        thread->times[thread->count] = START + thread->next;
        thread->samples[thread->count++] = (uint8_t)leaf;
        thread->counts[leaf]++;
    }
    thread->now = end > thread->now ? end : thread->now;
}

static void spend(struct thread *thread, enum leaf leaf, uint64_t duration)
{
    spend_until(thread, leaf, thread->now + duration);
}

/* The main thread of a rank works alone. */
static void serial(struct solver *self, unsigned rank, enum leaf leaf, uint64_t duration)
{
    struct thread *main_thread = thread_of(self, rank, 0);
    spend(main_thread, leaf, duration);
    for (unsigned i = 1; i < TEAM; i++)
        spend_until(thread_of(self, rank, i), IN_IDLE, main_thread->now);
}

/* All threads of a rank work, up to 4 % longer than `duration`, and meet at the end. */
static void parallel(struct solver *self, unsigned rank, enum leaf leaf, enum leaf barrier, uint64_t duration,
                     uint64_t number)
{
    uint64_t last = 0;
    for (unsigned i = 0; i < TEAM; i++) {
        struct thread *thread = thread_of(self, rank, i);
        spend(thread, leaf, duration + draw(rank * TEAM + i, number, duration / 25 + 1));
        last = thread->now > last ? thread->now : last;
    }
    for (unsigned i = 0; i < TEAM; i++)
        spend_until(thread_of(self, rank, i), barrier, last);
}

/* All ranks wait for the last one. */
static void reduce(struct solver *self, enum leaf leaf)
{
    uint64_t last = 0;
    for (unsigned rank = 0; rank < RANKS; rank++)
        if (thread_of(self, rank, 0)->now > last)
            last = thread_of(self, rank, 0)->now;
    for (unsigned rank = 0; rank < RANKS; rank++)
        serial(self, rank, leaf, last + US(150) - thread_of(self, rank, 0)->now);
}

static void iterate(struct solver *self, uint64_t number)
{
    for (unsigned rank = 0; rank < RANKS; rank++) {
        uint64_t product = rank == SLOW_RANK ? US(52000) : US(26000);
        serial(self, rank, IN_PACK, US(900));
        serial(self, rank, IN_WAITALL, US(1100) + draw(rank, number, US(400)));
        parallel(self, rank, IN_PRODUCT, IN_SPMV_BARRIER, product, number);
        parallel(self, rank, IN_STORE, IN_SPMV_BARRIER, US(1200), number + 1);
        parallel(self, rank, IN_DOT, IN_DOT, US(1300), number + 2);
    }
    reduce(self, IN_REDUCE);
    for (unsigned rank = 0; rank < RANKS; rank++) {
        parallel(self, rank, IN_AXPY, IN_AXPY, US(2200), number + 3);
        parallel(self, rank, IN_AXPY_2, IN_AXPY_2, US(2200), number + 4);
        parallel(self, rank, IN_DOT_2, IN_DOT_2, US(1300), number + 5);
    }
    reduce(self, IN_REDUCE_2);
}

static void run(struct solver *self)
{
    static const unsigned iterations[STEPS] = {14, 13, 12, 12, 11, 11};
    uint64_t number = 0;
    for (unsigned i = 0; i < RANKS * TEAM; i++)
        self->threads[i].next = draw(i, 0, PERIOD);
    for (unsigned rank = 0; rank < RANKS; rank++) {
        serial(self, rank, IN_INIT, US(180000) + draw(rank, 1, US(9000)));
        serial(self, rank, IN_READ, rank == SLOW_RANK ? US(240000) : US(130000));
    }
    for (unsigned step = 0; step < STEPS; step++) {
        for (unsigned rank = 0; rank < RANKS; rank++) {
            parallel(self, rank, IN_RHS, IN_RHS, US(31000), ++number);
            parallel(self, rank, IN_SOURCE, IN_SOURCE, US(12000), number);
        }
        for (unsigned i = 0; i < iterations[step]; i++, number += 8)
            iterate(self, number);
        for (unsigned rank = 0; step % CHECKPOINT_EVERY == 0 && rank < RANKS; rank++)
            serial(self, rank, IN_CHECKPOINT, US(44000) + draw(rank, number, US(6000)));
    }
}

/* ---- profiles ---- */

static lode_status put_values(const struct solver *self, const struct thread *thread,
                              lode_profile_builder *builder, lode_error *error)
{
    for (unsigned leaf = NO_LEAF + 1; leaf < LEAVES; leaf++) {
        double seconds = (double)(thread->counts[leaf] * PERIOD) / 1e9;
        double instructions = seconds * CLOCK_RATE * rates[leaf].instructions;
        double values[METRICS] = {seconds, seconds * CLOCK_RATE, instructions,
                                  instructions * rates[leaf].misses / 1000};
        for (unsigned m = 0; m < METRICS; m++)
            LODE_TRY(
                lode_profile_builder_point(builder, self->leaves[leaf], self->metrics[m], values[m], error));
    }
    return LODE_OK;
}

static lode_status put_thread(const struct solver *self, unsigned rank, unsigned number,
                              lode_profile_builder *builder, lode_error *error)
{
    const struct thread *thread = thread_of(self, rank, number);
    uint32_t node = rank / RANKS_PER_NODE;
    lode_id ids[] = {{KIND_NODE, LODE_ID_PHYSICAL, node, UINT64_C(0xc0a80165) + node},
                     {KIND_RANK, 0, rank, rank},
                     {KIND_THREAD, 0, number, number}};
    LODE_TRY(lode_profile_builder_begin(builder, ids, 3, error));
    LODE_TRY(put_values(self, thread, builder, error));
    for (uint32_t i = 0; i < thread->count; i++)
        LODE_TRY(
            lode_profile_builder_sample(builder, thread->times[i], self->leaves[thread->samples[i]], error));
    LODE_TRY(lode_profile_builder_end(builder, error));
    return lode_writer_append(self->writer, builder, error);
}

static lode_status put_threads(const struct solver *self, lode_error *error)
{
    lode_profile_builder *builder = NULL;
    lode_status status = lode_profile_builder_create(&builder, self->writer, error);
    for (unsigned i = 0; i < RANKS * TEAM && status == LODE_OK; i++)
        status = put_thread(self, i / TEAM, i % TEAM, builder, error);
    lode_profile_builder_free(builder);
    return status;
}

static lode_status make(struct solver *self, const char *path, unsigned threads, lode_error *error)
{
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    options.traces = 1;
    options.threads = threads;
    options.title = "heat";
    options.description = "An example: a simulated run, not a measurement";
    LODE_TRY(lode_writer_open(&self->writer, path, &options, error));
    LODE_TRY(describe_metrics(self, error));
    LODE_TRY(describe_files(self, error));
    LODE_TRY(describe_functions(self, error));
    LODE_TRY(describe_tree(self, error));
    LODE_TRY(lode_writer_seal(self->writer, error));
    run(self);
    LODE_TRY(put_threads(self, error));
    return lode_writer_finish(self->writer, error);
}

lode_status lode_example_solver(const char *path, const char *sources, unsigned threads, lode_error *error)
{
    struct solver self = {.sources = sources};
    self.threads = calloc((size_t)RANKS * TEAM, sizeof *self.threads);
    LODE_TRY_ALLOC(self.threads, error);
    lode_status status = make(&self, path, threads, error);
    lode_writer_close(self.writer);
    free(self.threads);
    return status;
}
