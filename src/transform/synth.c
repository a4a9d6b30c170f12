/* SPDX-License-Identifier: BSD-3-Clause */
/* Synthetic databases. Everything derives from the seed and the number of each item. */
#include "base/error.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/format.h"
#include "transform/build/standard.h"
#include <inttypes.h>
#include <lode/unstable/synth.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FUNCTIONS_PER_FILE = 8,
    CONTEXTS_PER_FUNCTION = 12,
    THREADS_PER_RANK = 8,
    LEAST_DEPTH = 4,
    KIND_NODE = 1,
    KIND_RANK = 2,
    KIND_THREAD = 3,
    RANKS_PER_NODE = 16,
    SAMPLE_NANOSECONDS = 1000000,
    MOST_DEPTH = 65535,
    MOST_TASKS = 1000000,
    MOST_FUNCTIONS = 1 << 24,
    LEAST_FUNCTIONS = 4
};

/* The kind of a context determines its children. */
enum species {
    FUNCTION,
    LOOP,
    LINE
};

struct made_context {
    uint32_t handle, depth;
    enum species species;
    uint32_t function; /* that it is in */
    double weight;     /* of a line */
};

struct synthesis {
    const lode_synth_options *options;
    lode_writer *writer;
    uint32_t function_count;
    uint32_t *functions, *files;
    struct made_context *contexts;
    uint32_t *lines; /* contexts that may have values */
    uint32_t line_count;
    lode_profile_builder **builders; /* of profiles under way, by item % builder_count */
    unsigned builder_count;
    struct lode_progress progress;
};

/* ---- numbers ---- */

/* splitmix64 of several numbers: independent streams, reproducible in any order. */
static uint64_t draw(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = seed + a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1b54a32d192ed03);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static double share(uint64_t random)
{
    return (double)(random >> 11) * 0x1p-53;
}

/* Multiples of 1/1024, so that sums are exact in any order. */
static double amount(double value)
{
    return fmax(round(value * 1024.0), 1.0) / 1024.0;
}

/* ---- metrics and names ---- */

static lode_status describe_metrics(struct synthesis *self, lode_error *error)
{
    uint32_t scopes[LODE_STANDARD_SCOPES];
    LODE_TRY(lode_standard_begin(self->writer, scopes, error));
    for (uint32_t m = 0; m < self->options->metrics; m++) {
        char name[32];
        uint32_t metric;
        snprintf(name, sizeof name, m == 0 ? "CPUTIME (sec)" : "EVENT%" PRIu32, m);
        LODE_TRY(lode_standard_metric(self->writer, scopes, name, &metric, error));
    }
    return LODE_OK;
}

static lode_status describe_functions(struct synthesis *self, lode_error *error)
{
    uint32_t module, file = 0;
    char name[64];
    LODE_TRY(lode_writer_add_module(self->writer, "/opt/synthetic/bin/app", &module, error));
    for (uint32_t i = 0; i < self->function_count; i++) {
        if (i % FUNCTIONS_PER_FILE == 0) {
            snprintf(name, sizeof name, "/opt/synthetic/src/file%" PRIu32 ".c", i / FUNCTIONS_PER_FILE);
            LODE_TRY(lode_writer_add_file(self->writer, name, 0, NULL, &file, error));
        }
        snprintf(name, sizeof name, i == 0 ? "main" : "function%" PRIu32, i);
        lode_writer_function function = {.name = name,
                                         .module = module,
                                         .file = file,
                                         .line = 1 + i % FUNCTIONS_PER_FILE * 100,
                                         .offset = 0x1000 + (uint64_t)i * 0x100};
        LODE_TRY(lode_writer_add_function(self->writer, &function, &self->functions[i], error));
        self->files[i] = file;
    }
    return LODE_OK;
}

/* ---- the tree ---- */

/* Children of a context: lines and loops in functions and loops, calls at lines. */
static enum species species_below(enum species parent, uint64_t random)
{
    if (parent == LINE)
        return FUNCTION;
    return random % 4 == 0 ? LOOP : LINE;
}

static lode_status make_context(struct synthesis *self, uint32_t index, uint32_t parent, lode_error *error)
{
    const struct made_context *above = &self->contexts[parent];
    struct made_context *made = &self->contexts[index];
    uint64_t random = draw(self->options->seed, 1, index);
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    made->species = index == 1 ? FUNCTION : species_below(above->species, random);
    made->depth = above->depth + 1;
    made->function = above->function;
    context.parent = above->handle;
    if (made->species == FUNCTION) {
        made->function = index == 1 ? 0 : (uint32_t)(random >> 8) % self->function_count;
        context.lexical = LODE_LEXICAL_FUNCTION;
        context.relation = random % 8 == 0 && index > 1 ? LODE_RELATION_INLINED : LODE_RELATION_CALL;
        context.function = self->functions[made->function];
    } else {
        context.lexical = made->species == LOOP ? LODE_LEXICAL_LOOP : LODE_LEXICAL_LINE;
        context.propagation = 1;
        context.file = self->files[made->function];
        /* Siblings are distinguished by their lines. */
        context.line = 1 + index;
    }
    return lode_writer_add_context(self->writer, &context, &made->handle, error);
}

/* Half of the contexts extend the last one, the others branch off anywhere. */
static uint32_t choose_parent(const struct synthesis *self, uint32_t index)
{
    uint64_t random = draw(self->options->seed, 2, index);
    uint32_t parent = random % 2 ? index - 1 : 1 + (uint32_t)(random >> 8) % (index - 1);
    while (self->contexts[parent].depth + 1 >= self->options->depth)
        parent = 1 + (uint32_t)(random = draw(random, 3, index)) % (index - 1);
    return parent;
}

static lode_status describe_contexts(struct synthesis *self, lode_error *error)
{
    const lode_synth_options *options = self->options;
    lode_writer_context entry = LODE_WRITER_CONTEXT_INIT;
    entry.entry = LODE_ENTRY_MAIN_THREAD;
    entry.entry_name = "main thread";
    LODE_TRY(lode_writer_add_context(self->writer, &entry, &self->contexts[0].handle, error));
    for (uint32_t i = 1; i < options->contexts; i++) {
        LODE_TRY(make_context(self, i, i == 1 ? 0 : choose_parent(self, i), error));
        if (self->contexts[i].species != LINE)
            continue;
        double rank = share(draw(options->seed, 4, i));
        self->contexts[i].weight = 1.0 / pow(rank + 1e-3, options->skew);
        self->lines[self->line_count++] = i;
    }
    return LODE_OK;
}

/* ---- profiles ---- */

static lode_status fill_values(const struct synthesis *self, uint64_t item, lode_profile_builder *builder,
                               lode_error *error)
{
    const lode_synth_options *options = self->options;
    uint64_t stream = draw(options->seed, 5, item);
    double slowness = 1.0 + options->skew * share(draw(options->seed, 6, item)) * 0.2;
    for (uint32_t i = 0; i < self->line_count; i++) {
        const struct made_context *line = &self->contexts[self->lines[i]];
        uint64_t random = draw(stream, 7, i);
        if (share(random) >= options->density)
            continue;
        for (uint32_t metric = 0; metric < options->metrics; metric++) {
            double value = amount(line->weight * slowness * (0.5 + share(draw(random, 8, metric))));
            LODE_TRY(lode_profile_builder_point(builder, line->handle, metric, value, error));
        }
    }
    return LODE_OK;
}

static lode_status fill_samples(const struct synthesis *self, uint64_t item, lode_profile_builder *builder,
                                lode_error *error)
{
    uint64_t time = UINT64_C(1600000000000000000), stream = draw(self->options->seed, 9, item);
    for (uint32_t i = 0; i < self->options->samples && self->line_count > 0; i++) {
        uint64_t random = draw(stream, 10, i);
        time += SAMPLE_NANOSECONDS / 2 + random % SAMPLE_NANOSECONDS;
        uint32_t line = self->lines[(random >> 32) % self->line_count];
        LODE_TRY(lode_profile_builder_sample(builder, time, self->contexts[line].handle, error));
    }
    return LODE_OK;
}

static lode_status fill_profile(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    const struct synthesis *self = context;
    lode_profile_builder *builder = self->builders[item % self->builder_count];
    (void)worker;
    uint32_t rank = (uint32_t)(item / THREADS_PER_RANK), thread = (uint32_t)(item % THREADS_PER_RANK);
    uint32_t node = rank / RANKS_PER_NODE;
    lode_id ids[] = {{KIND_NODE, LODE_ID_PHYSICAL, node, UINT64_C(0xc0de0000) + node},
                     {KIND_RANK, 0, rank, rank},
                     {KIND_THREAD, 0, thread, thread}};
    LODE_TRY(lode_profile_builder_begin(builder, ids, 3, error));
    LODE_TRY(fill_values(self, item, builder, error));
    LODE_TRY(fill_samples(self, item, builder, error));
    return lode_profile_builder_end(builder, error);
}

static lode_status append_profile(void *context, uint64_t item, lode_error *error)
{
    struct synthesis *self = context;
    LODE_TRY(lode_writer_append(self->writer, self->builders[item % self->builder_count], error));
    return lode_progress_add(&self->progress, 1, error);
}

/* Fills profiles on many threads, and appends them in order. */
static lode_status make_profiles(struct synthesis *self, lode_error *error)
{
    const lode_synth_options *options = self->options;
    unsigned threads = lode_pool_threads(options->threads, options->profiles);
    struct lode_job job = {
        .items = options->profiles, .work = fill_profile, .finish = append_profile, .context = self};
    self->builder_count = lode_pool_window(threads);
    self->progress = (struct lode_progress){.report = options->on_progress,
                                            .user = options->user,
                                            .phase = "making profiles",
                                            .total = options->profiles};
    self->builders = calloc(self->builder_count, sizeof *self->builders);
    lode_status status = self->builders ? LODE_OK : lode_fail_memory(error);
    for (unsigned i = 0; i < self->builder_count && status == LODE_OK; i++)
        status = lode_profile_builder_create(&self->builders[i], self->writer, error);
    if (status == LODE_OK)
        status = lode_pool_run(threads, &job, error);
    for (unsigned i = 0; self->builders && i < self->builder_count; i++)
        lode_profile_builder_free(self->builders[i]);
    free(self->builders);
    return status;
}

/* ---- public API ---- */

static lode_status check_options(const lode_synth_options *options, lode_error *error)
{
    const char *wrong = NULL;
    if (options->profiles == 0 || options->contexts < 3 || options->metrics == 0)
        wrong = "at least 1 profile, 3 contexts and 1 metric are needed";
    else if (options->depth < LEAST_DEPTH)
        wrong = "a depth of at least 4 is needed";
    else if (!(options->density > 0.0 && options->density <= 1.0))
        wrong = "the density must be above 0 and at most 1";
    else if (!(options->skew >= 0.0 && options->skew <= 4.0))
        wrong = "the skew must be from 0 to 4";
    return wrong ? lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "%s", wrong) : LODE_OK;
}

static lode_status synthesise(struct synthesis *self, const char *path, lode_error *error)
{
    const lode_synth_options *options = self->options;
    lode_writer_options writer_options = LODE_WRITER_OPTIONS_INIT;
    writer_options.force = options->force;
    writer_options.traces = options->samples > 0;
    writer_options.threads = options->threads;
    writer_options.memory = options->memory;
    writer_options.title = "synthetic";
    writer_options.description = "Made from parameters, not measured";
    writer_options.on_progress = options->on_progress;
    writer_options.user = options->user;
    LODE_TRY(lode_writer_open(&self->writer, path, &writer_options, error));
    LODE_TRY(describe_metrics(self, error));
    LODE_TRY(describe_functions(self, error));
    LODE_TRY(describe_contexts(self, error));
    LODE_TRY(lode_writer_seal(self->writer, error));
    LODE_TRY(make_profiles(self, error));
    return lode_writer_finish(self->writer, error);
}

lode_status lode_synth_database(const char *path, const lode_synth_options *given, lode_error *error)
{
    lode_synth_options options = LODE_SYNTH_OPTIONS_INIT;
    struct synthesis self = {.options = &options};
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(check_options(&options, error));
    self.function_count = options.contexts / CONTEXTS_PER_FUNCTION + 1;
    self.functions = calloc(self.function_count, sizeof *self.functions);
    self.files = calloc(self.function_count, sizeof *self.files);
    self.contexts = calloc(options.contexts, sizeof *self.contexts);
    self.lines = calloc(options.contexts, sizeof *self.lines);
    bool enough = self.functions && self.files && self.contexts && self.lines;
    lode_status status = enough ? synthesise(&self, path, error) : lode_fail_memory(error);
    lode_writer_close(self.writer);
    free(self.functions);
    free(self.files);
    free(self.contexts);
    free(self.lines);
    return status;
}

/* ---- recordings ---- */

static lode_status check_recording(const lode_synth_recording_options *options, lode_error *error)
{
    const char *wrong = NULL;
    if (options->tasks == 0 || options->tasks > MOST_TASKS)
        wrong = "1 to 1000000 tasks can be made";
    else if (options->records < 2 * (uint64_t)options->tasks)
        wrong = "at least 2 records for each task are needed";
    else if (options->functions < LEAST_FUNCTIONS || options->functions > MOST_FUNCTIONS)
        wrong = "4 to 16777216 functions can be made";
    else if (options->depth < 2 || options->depth > MOST_DEPTH)
        wrong = "the depth must be from 2 to 65535";
    return wrong ? lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "%s", wrong) : LODE_OK;
}

lode_status lode_synth_recording(const char *path, const lode_synth_recording_options *given,
                                 lode_error *error)
{
    lode_synth_recording_options options = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(check_recording(&options, error));
    const struct lode_target *target =
        options.to ? lode_target_named(options.to) : lode_target_of_recording(NULL);
    if (target == NULL || target->synth == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "no recording can be made in the format %s", options.to ? options.to : "");
    return target->synth(path, &options, error);
}
