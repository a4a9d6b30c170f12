/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording as a database in memory. Values are there when it is open; trace lines are made from
 * the spooled instants when the first one is asked for.
 */
#include "base/pool.h"
#include "format/perf/source/source.h"
#include "format/symbols.h"
#include "model/import/analysed.h"
#include <stdlib.h>
#include <sys/mman.h>

struct opened {
    struct lode_memory_owner owner; /* must be first */
    struct perf_source *source;
    lode_build_options options;
    struct lode_measured_input input;
    struct lode_comm comm;
    struct lode_report report, model;

    pthread_mutex_t lock;
    lode_status state; /* of trace lines; LODE_ABSENT: not made yet */
    struct lode_spool spool;
    uint64_t *starts; /* by line, in samples; one more ends the last */
    unsigned char *samples;
    size_t size; /* mapped */
};

/* ---- trace lines ---- */

/* The samples of a line, with ids of contexts. */
static lode_status write_line(struct opened *self, uint32_t line, lode_error *error)
{
    struct lode_profile_source *source = &self->source->base.base.base;
    lode_trace_line part;
    lode_status status;
    while ((status = source->ops->samples(source, 0, line, &part, error)) == LODE_OK) {
        LODE_TRY(lode_spool_write(&self->spool, part.samples, (size_t)part.sample_count * TRACE_SAMPLE_SIZE,
                                  error));
        self->starts[line + 1] += part.sample_count;
    }
    return status == LODE_END ? LODE_OK : status;
}

static lode_status write_lines(struct opened *self, lode_error *error)
{
    struct perf_source *source = self->source;
    struct lode_profile_source *base = &source->base.base.base;
    uint32_t count = source->base.entry_count;
    self->starts = calloc((size_t)count + 2, sizeof *self->starts);
    LODE_TRY_ALLOC(self->starts, error);
    if (!source->has_lines)
        LODE_TRY(lode_perf_lines(source, error));
    LODE_TRY(lode_spool_flush(&source->base.workers[0].samples, error));
    LODE_TRY(base->ops->begin_samples(base, error));
    for (uint32_t i = 0; i < count; i++) {
        self->starts[i + 1] = self->starts[i];
        LODE_TRY(write_line(self, i, error));
    }
    LODE_TRY(lode_spool_flush(&self->spool, error));
    self->size = (size_t)self->spool.size;
    if (self->size == 0)
        return LODE_OK;
    void *bytes = mmap(NULL, self->size, PROT_READ, MAP_SHARED, self->spool.fd, 0);
    if (bytes == MAP_FAILED)
        return lode_fail_errno(error, NULL, "trace lines cannot be mapped");
    self->samples = bytes;
    return LODE_OK;
}

static lode_status make_lines(struct opened *self, lode_error *error)
{
    struct lode_scratch scratch;
    LODE_TRY(lode_scratch_open(&scratch, error));
    lode_status status = lode_spool_open(&self->spool, scratch.fd, "lines", error);
    if (status == LODE_OK)
        status = write_lines(self, error);
    lode_scratch_close(&scratch);
    return status;
}

static lode_status get_line(struct lode_memory_owner *owner, uint32_t index, lode_trace_line *out,
                            lode_error *error)
{
    static const uint8_t none[1]; /* of lines that are all empty */
    struct opened *self = (struct opened *)(void *)owner;
    pthread_mutex_lock(&self->lock);
    if (self->state == LODE_ABSENT)
        self->state = make_lines(self, error);
    else if (self->state != LODE_OK)
        lode_describe(error, self->state, NULL, LODE_NO_OFFSET, "trace lines could not be made");
    lode_status status = self->state;
    pthread_mutex_unlock(&self->lock);
    LODE_TRY(status);
    size_t at = self->starts[index] * TRACE_SAMPLE_SIZE;
    *out = (lode_trace_line){.profile = index + 1,
                             .sample_count = self->starts[index + 1] - self->starts[index],
                             .samples = self->samples ? self->samples + at : none,
                             .layout = LODE_LAYOUT_LITTLE};
    return LODE_OK;
}

/* ---- opening ---- */

static void close_opened(struct lode_memory_owner *owner)
{
    struct opened *self = (struct opened *)(void *)owner;
    if (self->samples)
        munmap(self->samples, self->size);
    lode_spool_close(&self->spool);
    free(self->starts);
    if (self->source)
        lode_hpcrun_source_close(&self->source->base.base);
    lode_report_close(&self->report);
    lode_report_close(&self->model);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Findings are kept: whatever can be read is read. */
static lode_status begin(struct opened **out, lode_error *error)
{
    struct opened *self = calloc(1, sizeof *self);
    if (self == NULL || pthread_mutex_init(&self->lock, NULL) != 0) {
        free(self);
        return lode_fail_memory(error);
    }
    *out = self;
    *self = (struct opened){.owner = {.close = close_opened},
                            .options = LODE_BUILD_OPTIONS_INIT,
                            .comm = LODE_COMM_SELF,
                            .lock = self->lock,
                            .state = LODE_ABSENT,
                            .spool = LODE_SPOOL_INIT};
    self->options.no_sources = 1;
    self->options.symbols_program = lode_symbols_program();
    self->input = (struct lode_measured_input){
        .options = &self->options, .comm = &self->comm, .threads = lode_pool_processors()};
    LODE_TRY(lode_report_open(&self->model, lode_perf_rules, PERF_RULE_COUNT, UINT64_MAX, NULL, NULL, error));
    return lode_report_keep(&self->report, &self->model, error);
}

/* A sample of a switch is an instant of two threads. Compressed, records may be smaller. */
static uint64_t most_instants(const struct perf_store *store)
{
    return 2 * store->counts[PERF_SAMPLE] + store->counts[PERF_SWITCH] + store->counts[PERF_SWITCH_CPU];
}

/* The last name that each thread had. */
static lode_status name_threads(const struct perf_source *source, lode_database *db, lode_error *error)
{
    db->profile_names =
        lode_arena_alloc(&db->arena, (size_t)db->profile_count + 1, sizeof *db->profile_names);
    LODE_TRY_ALLOC(db->profile_names, error);
    for (uint32_t i = 0; i < db->profile_count; i++) {
        uint32_t thread =
            i > 0 && i <= source->base.entry_count ? source->profiles[i - 1].who.thread : LODE_NONE;
        const struct lode_array *names =
            thread == LODE_NONE ? NULL : &perf_thread_at(&source->replay, thread)->names;
        const struct perf_since *last =
            names && names->count > 0 ? LODE_ARRAY_AT(names, struct perf_since, names->count - 1) : NULL;
        const char *name = last ? lode_strings_at(&source->store.strings, last->value) : NULL;
        db->profile_names[i] = name && name[0] ? name : NULL;
    }
    return LODE_OK;
}

static lode_status analyse(struct opened *self, lode_database **out, lode_error *error)
{
    struct perf_source *source = self->source;
    struct lode_scratch scratch;
    lode_status status = lode_scratch_open(&scratch, error);
    if (status != LODE_OK) {
        close_opened(&self->owner);
        return status;
    }
    source->puts_off = true;
    if (source->base.base.has_traces)
        self->owner.trace_line = get_line;
    struct lode_analysed about = {.format = "perf",
                                  .file = perf_part_at(&source->store, 0)->name,
                                  .usual_names = LODE_NAME_SIMPLE,
                                  .size = source->store.bytes,
                                  .scratch = scratch.fd,
                                  .threads = self->input.threads,
                                  .owner = &self->owner};
    self->owner.trace_bytes = most_instants(&source->store) * TRACE_SAMPLE_SIZE;
    status = lode_analysed_open(out, &source->base.base.base, &about, error);
    lode_scratch_close(&scratch);
    if (status != LODE_OK)
        return status;
    status = lode_database_keep_findings(*out, &self->report, error);
    if (status == LODE_OK)
        status = name_threads(source, *out, error);
    if (status != LODE_OK)
        lode_database_close(*out);
    return status;
}

lode_status lode_perf_open_database(lode_database **out, const struct lode_folder *folder, lode_error *error)
{
    struct opened *self = NULL;
    lode_database *db = NULL;
    lode_status status = begin(&self, error);
    if (status == LODE_OK)
        status = lode_perf_source_open(&self->source, folder, &self->input, &self->report, error);
    if (status != LODE_OK) {
        if (self)
            close_opened(&self->owner);
        return status;
    }
    status = analyse(self, &db, error);
    if (status == LODE_OK)
        *out = db;
    return status;
}
