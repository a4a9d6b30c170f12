/* SPDX-License-Identifier: BSD-3-Clause */
/* What building took: counted by each rank, then of all. */
#include "transform/build/build.h"

#include "model/database/block_builder.h"
#include <sys/resource.h>

const char *lode_build_phase_name(unsigned phase)
{
    static const char *const names[LODE_BUILD_PHASES] = {
        [LODE_BUILD_OPENING] = "opening",   [LODE_BUILD_READING] = "reading",
        [LODE_BUILD_MERGING] = "merging",   [LODE_BUILD_PROFILES] = "profiles",
        [LODE_BUILD_LINES] = "trace lines", [LODE_BUILD_FINISHING] = "finishing"};
    return phase < LODE_BUILD_PHASES ? names[phase] : NULL;
}

void lode_build_end_phase(struct lode_build *build, unsigned number)
{
    struct lode_build_lap *lap = &build->lap;
    lode_build_phase *phase = &build->result.phases[number];
    const struct lode_comm_traffic *traffic = &build->comm->traffic;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    phase->seconds =
        (double)(now.tv_sec - lap->time.tv_sec) + (double)(now.tv_nsec - lap->time.tv_nsec) * 1e-9;
    phase->messages = traffic->messages - lap->traffic.messages;
    phase->sent_bytes = traffic->bytes - lap->traffic.bytes;
    *lap = (struct lode_build_lap){now, *traffic};
}

/* ---- what a rank has done: all of it follows from what it has ---- */

static void count_spools(struct lode_build *build)
{
    lode_build_phase *phases = build->result.phases;
    uint64_t rows = 0, samples = 0;
    for (unsigned i = 0; i < build->threads; i++) {
        rows += build->workers[i].rows.size;
        samples += build->workers[i].builder.samples.size;
    }
    build->result.spooled_bytes = rows + samples;
    phases[LODE_BUILD_READING].read_bytes = build->inputs.share_bytes;
    phases[LODE_BUILD_READING].written_bytes = rows + samples;
    phases[LODE_BUILD_PROFILES].read_bytes = rows * 2;
    phases[LODE_BUILD_LINES].read_bytes = samples;
}

static void count_tracks(struct lode_build *build)
{
    lode_build_result *result = &build->result;
    for (uint32_t i = 0; i < build->inputs.share; i++) {
        const struct lode_track_result *track = &build_share(&build->inputs, i)->track_result;
        result->events += track->events;
        result->rows += track->row_count;
    }
}

static void count_written(struct lode_build *build)
{
    lode_build_result *result = &build->result;
    const struct lode_sink_counts *counts = &build->counts;
    uint64_t blocks = counts->values * BLOCK_VALUE_SIZE + counts->groups * BLOCK_GROUP_SIZE;
    result->values = counts->values;
    result->samples = counts->samples;
    result->phases[LODE_BUILD_PROFILES].written_bytes = blocks;
    result->phases[LODE_BUILD_LINES].written_bytes = counts->samples * TRACE_SAMPLE_SIZE;
    result->phases[LODE_BUILD_FINISHING].read_bytes = blocks;
    result->phases[LODE_BUILD_FINISHING].written_bytes = counts->written_bytes;
    result->rounds = counts->rounds;
}

void lode_build_count(struct lode_build *build)
{
    const struct lode_build_inputs *inputs = &build->inputs;
    lode_build_result *result = &build->result;
    count_spools(build);
    count_tracks(build);
    result->recordings = inputs->count;
    result->tracks = inputs->track_count;
    result->nodes = inputs->nodes;
    result->ranks = inputs->ranks;
}

static void count_process(struct lode_build *build)
{
    lode_build_result *result = &build->result;
    struct rusage usage;
    result->comm_size = build->comm->place.size;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        result->memory = (uint64_t)usage.ru_maxrss * 1024;
}

/* ---- what all have ---- */

enum {
    NUMBERS = 64
};

/* Numbers that are somewhere in the result, and how those of all ranks become one. */
struct list {
    uint64_t *items[NUMBERS];
    size_t count;
};

static void add(struct list *list, uint64_t *number)
{
    list->items[list->count++] = number;
}

static lode_status fold(struct lode_comm *comm, const struct list *list, enum lode_comm_op how,
                        lode_error *error)
{
    uint64_t numbers[NUMBERS];
    for (size_t i = 0; i < list->count; i++)
        numbers[i] = *list->items[i];
    LODE_TRY(lode_comm_allreduce(comm, numbers, list->count, how, error));
    for (size_t i = 0; i < list->count; i++)
        *list->items[i] = numbers[i];
    return LODE_OK;
}

/* Rank 0 copies them. */
static void add_sources(struct list *sums, lode_build_sources *sources)
{
    add(sums, &sources->from_roots);
    add(sums, &sources->from_measurements);
    add(sums, &sources->from_public);
    add(sums, &sources->from_anywhere);
    add(sums, &sources->absent);
    add(sums, &sources->restricted);
    add(sums, &sources->outside);
    add(sums, &sources->unfit);
}

lode_status lode_build_add_up(struct lode_build *build, lode_error *error)
{
    lode_build_result *result = &build->result;
    struct list sums = {0}, most = {0};
    uint64_t nanoseconds[LODE_BUILD_PHASES];
    count_written(build);
    count_process(build);
    add(&sums, &result->events);
    add(&sums, &result->tree_contexts);
    add(&sums, &result->rows);
    add(&sums, &result->values);
    add(&sums, &result->samples);
    add(&sums, &result->spooled_bytes);
    add_sources(&sums, &result->sources);
    add(&most, &result->functions);
    add(&most, &result->contexts);
    add(&most, &result->rounds);
    add(&most, &result->memory);
    for (unsigned i = 0; i < LODE_BUILD_PHASES; i++) {
        lode_build_phase *phase = &result->phases[i];
        nanoseconds[i] = (uint64_t)(phase->seconds * 1e9);
        add(&most, &nanoseconds[i]);
        add(&most, &phase->messages);
        add(&sums, &phase->sent_bytes);
        add(&sums, &phase->read_bytes);
        add(&sums, &phase->written_bytes);
    }
    LODE_TRY(fold(build->comm, &sums, LODE_COMM_SUM, error));
    LODE_TRY(fold(build->comm, &most, LODE_COMM_MAX, error));
    for (unsigned i = 0; i < LODE_BUILD_PHASES; i++)
        result->phases[i].seconds = (double)nanoseconds[i] * 1e-9;
    return LODE_OK;
}
