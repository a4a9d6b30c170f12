/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/pump.h"

#include "base/pool.h"
#include "base/progress.h"
#include <stdlib.h>

/* What is under way for one profile or line. */
struct slot {
    lode_block block;
    lode_trace_line line;
    void *scratch; /* the sink's */
};

struct work {
    const struct lode_pump *pump;
    struct lode_profile_source *source;
    struct lode_sink *sink;
    struct lode_description about;
    struct lode_comm alone;
    struct slot *slots;
    unsigned threads, slot_count;
    bool placed; /* values are written in place, not in order */
    struct lode_progress progress;
};

/* ---- progress ---- */

/* Rank 0 has the callback; all ranks end if one has failed. */
static int report(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const struct lode_sink_options *options = user;
    lode_error raised;
    if (options->comm && lode_comm_poll(options->comm, &raised) != LODE_OK)
        return 1;
    if (options->on_progress == NULL || (options->comm && options->comm->place.rank > 0))
        return 0;
    return options->on_progress(options->user, phase, done, total);
}

/* Runs a job over `count` items; those that finish are counted. */
static lode_status run(struct work *self, const char *phase, uint64_t count,
                       lode_status (*work)(void *, uint64_t, unsigned, lode_error *),
                       lode_status (*finish)(void *, uint64_t, lode_error *), lode_error *error)
{
    struct lode_job job = {
        .items = count, .work = work, .finish = finish, .context = self, .pool = self->pump->options.pool};
    self->progress = (struct lode_progress){
        .report = report, .user = &self->sink->options, .phase = phase, .total = count};
    return lode_pool_run(lode_pool_threads(self->threads, count), &job, error);
}

static lode_status count_item(void *context, uint64_t item, lode_error *error)
{
    struct work *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* ---- in order ---- */

static lode_status take_values(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct work *self = context;
    unsigned number = (unsigned)(item % self->slot_count);
    struct slot *slot = &self->slots[number];
    (void)worker;
    LODE_TRY(self->source->ops->values(self->source, number, (uint32_t)item + 1, &slot->block, error));
    if (self->sink->ops->prepare == NULL)
        return LODE_OK;
    return self->sink->ops->prepare(self->sink, &slot->scratch, &slot->block, error);
}

static lode_status append_values(void *context, uint64_t item, lode_error *error)
{
    struct work *self = context;
    const struct slot *slot = &self->slots[item % self->slot_count];
    LODE_TRY(
        self->sink->ops->append(self->sink, slot->scratch, &self->about.profiles[item], &slot->block, error));
    return lode_progress_add(&self->progress, 1, error);
}

static lode_status append_contexts(struct work *self, lode_error *error)
{
    struct lode_progress progress = {.report = report,
                                     .user = &self->sink->options,
                                     .phase = "writing contexts",
                                     .total = self->about.context_blocks};
    for (uint32_t id = 0; id < self->about.context_blocks; id++) {
        lode_block block;
        LODE_TRY(self->source->ops->context(self->source, id, &block, error));
        LODE_TRY(self->sink->ops->append_context(self->sink, id, &block, error));
        LODE_TRY(lode_progress_add(&progress, 1, error));
    }
    return LODE_OK;
}

/* The first samples of a line; mostly these are all. */
static lode_status take_samples(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct work *self = context;
    unsigned number = (unsigned)(item % self->slot_count);
    (void)worker;
    return self->source->ops->samples(self->source, number, (uint32_t)item, &self->slots[number].line, error);
}

static lode_status append_samples(void *context, uint64_t item, lode_error *error)
{
    struct work *self = context;
    unsigned number = (unsigned)(item % self->slot_count);
    lode_trace_line *line = &self->slots[number].line;
    lode_status status;
    do {
        LODE_TRY(self->sink->ops->append_samples(self->sink, (uint32_t)item, line, error));
        status = self->source->ops->samples(self->source, number, (uint32_t)item, line, error);
    } while (status == LODE_OK);
    return status == LODE_END ? lode_progress_add(&self->progress, 1, error) : status;
}

/* ---- in place ---- */

static lode_status measure(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct work *self = context;
    struct lode_profile_source *source = self->source;
    uint32_t number = (uint32_t)item;
    lode_block block;
    LODE_TRY(source->ops->values(source, worker, source->first + number + 1, &block, error));
    return self->sink->ops->measure(self->sink, number, &block,
                                    source->ops->sample_count(source, source->first + number), error);
}

static lode_status write_values(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct work *self = context;
    struct lode_profile_source *source = self->source;
    lode_block block;
    LODE_TRY(source->ops->values(source, worker, source->first + (uint32_t)item + 1, &block, error));
    return self->sink->ops->write_values(self->sink, (uint32_t)item, &block, error);
}

static lode_status write_samples(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct work *self = context;
    struct lode_profile_source *source = self->source;
    uint32_t line = source->first + (uint32_t)item;
    lode_trace_line samples;
    lode_status status;
    uint64_t first = 0;
    while ((status = source->ops->samples(source, worker, line, &samples, error)) == LODE_OK) {
        LODE_TRY(self->sink->ops->write_samples(self->sink, (uint32_t)item, first, &samples, error));
        first += samples.sample_count;
    }
    return status == LODE_END ? LODE_OK : status;
}

/* ---- the steps ---- */

static void tell(const struct work *self, enum lode_pump_step step)
{
    if (self->pump->on_step)
        self->pump->on_step(self->pump->context, step, self->sink);
}

/* What is written in place is numbered by where it is. */
static lode_status check_profiles(const struct work *self, lode_error *error)
{
    const struct lode_id_tuple *profiles = self->about.profiles;
    for (uint32_t i = 0; i < self->about.profile_count; i++) {
        LODE_TRY(lode_description_check_tuple(&self->about, &profiles[i], error));
        if (self->placed && i > 0 && lode_id_tuple_compare(&profiles[i - 1], &profiles[i]) > 0)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "profiles that are written in place come in the order of their ids");
    }
    return LODE_OK;
}

/*
 * What the sink has taken: a hostile store of few bytes may have many, and values need memory,
 * too.
 */
static void forget_contexts(struct work *self)
{
    if (self->sink->ops->takes_contexts && self->about.sealed)
        lode_description_forget_contexts(&self->about);
}

static lode_status describe(struct work *self, lode_error *error)
{
    const struct lode_sink_ops *to = self->sink->ops;
    struct lode_profile_source *source = self->source;
    if (to->limits.metrics > 0)
        self->about.limits = to->limits;
    LODE_TRY(
        source->ops->describe(source, &self->about, to->keeps_ids, lode_sink_scratch(self->sink), error));
    if (!to->keeps_ids)
        LODE_TRY(lode_description_seal(&self->about, error));
    if (!to->keeps_ids)
        LODE_TRY(check_profiles(self, error));
    self->sink->placed = self->placed;
    self->sink->first = source->first;
    self->sink->count = self->placed ? source->count : self->about.profile_count;
    LODE_TRY(lode_sink_seal(self->sink, &self->about, error));
    LODE_TRY(source->ops->number ? source->ops->number(source, &self->about, error) : LODE_OK);
    if (source->leaves_contexts)
        forget_contexts(self);
    return LODE_OK;
}

static lode_status open_slots(struct work *self, lode_error *error)
{
    uint32_t profiles = self->sink->count, lines = self->placed ? 0 : self->about.line_count;
    self->threads = lode_pool_threads(self->pump->options.threads, profiles > lines ? profiles : lines);
    self->slot_count = self->placed ? self->threads : lode_pool_window(self->threads);
    self->slots = calloc(self->slot_count, sizeof *self->slots);
    if (self->slots == NULL)
        return lode_fail_memory(error);
    return self->source->ops->open_slots
               ? self->source->ops->open_slots(self->source, self->slot_count, error)
               : LODE_OK;
}

static lode_status move_summary(struct work *self, lode_error *error)
{
    lode_block block;
    if (self->sink->ops->summary == NULL || self->source->ops->summary == NULL)
        return LODE_OK;
    lode_status status = self->source->ops->summary(self->source, &block, error);
    if (status == LODE_ABSENT)
        return LODE_OK;
    return status == LODE_OK ? self->sink->ops->summary(self->sink, &block, error) : status;
}

static lode_status move_values(struct work *self, lode_error *error)
{
    const struct lode_sink_ops *to = self->sink->ops;
    LODE_TRY(move_summary(self, error));
    if (self->placed) {
        LODE_TRY(run(self, "measuring profiles", self->source->count, measure, count_item, error));
        LODE_TRY(to->place(self->sink, error));
        return run(self, "writing profiles", self->source->count, write_values, count_item, error);
    }
    if (to->append)
        LODE_TRY(
            run(self, "converting profiles", self->about.profile_count, take_values, append_values, error));
    return to->append_context ? append_contexts(self, error) : LODE_OK;
}

static lode_status move_samples(struct work *self, lode_error *error)
{
    const struct lode_sink_ops *to = self->sink->ops;
    if (!self->sink->options.traces || self->source->ops->samples == NULL)
        return LODE_OK;
    if (self->source->ops->begin_samples)
        LODE_TRY(self->source->ops->begin_samples(self->source, error));
    if (self->placed)
        return run(self, "writing trace lines", self->source->count, write_samples, count_item, error);
    return to->append_samples ? run(self, "converting trace lines", self->about.line_count, take_samples,
                                    append_samples, error)
                              : LODE_OK;
}

/* Also before the sink finishes, which needs memory of its own. */
static void close_slots(struct work *self)
{
    for (unsigned i = 0; self->slots && i < self->slot_count; i++)
        if (self->slots[i].scratch)
            self->pump->to->release(self->slots[i].scratch);
    free(self->slots);
    self->slots = NULL;
}

static lode_status move_all(struct work *self, lode_error *error)
{
    struct lode_sink_options options = self->pump->options;
    if (options.comm == NULL && self->placed)
        options.comm = &self->alone;
    LODE_TRY(lode_sink_open(&self->sink, self->pump->to, self->pump->path, &options, error));
    tell(self, LODE_PUMP_CREATED);
    LODE_TRY(describe(self, error));
    LODE_TRY(open_slots(self, error));
    tell(self, LODE_PUMP_DESCRIBED);
    LODE_TRY(move_values(self, error));
    forget_contexts(self);
    tell(self, LODE_PUMP_VALUES);
    LODE_TRY(move_samples(self, error));
    tell(self, LODE_PUMP_SAMPLES);
    if (self->source->ops->end)
        LODE_TRY(self->source->ops->end(self->source, error));
    close_slots(self);
    LODE_TRY(lode_sink_finish(self->sink, error));
    tell(self, LODE_PUMP_FINISHED);
    return LODE_OK;
}

lode_status lode_pump(const struct lode_pump *pump, lode_error *error)
{
    const struct lode_comm *comm = pump->options.comm;
    struct work self = {.pump = pump,
                        .source = pump->source,
                        .placed = pump->source->placed && pump->to->place,
                        .alone = LODE_COMM_SELF};
    if (comm && comm->place.size > 1 && !self.placed)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "the format cannot be written by several ranks");
    lode_description_init(&self.about);
    lode_status status = move_all(&self, error);
    close_slots(&self);
    lode_sink_close(self.sink);
    lode_description_free(&self.about);
    return status;
}
