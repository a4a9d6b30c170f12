/* SPDX-License-Identifier: BSD-3-Clause */
/* From the rows of tracks to the values of profiles: integers up the tree, and one division at the end. */
#include "base/blob.h"
#include "base/bytes.h"
#include "base/error.h"
#include "transform/build.h"
#include <stdlib.h>
#include <string.h>

#define NANOSECONDS 1e9

/* What one worker works with. Between profiles all bits are 0. */
struct scratch {
    uint64_t *bits;    /* by place: the profile has something there or below */
    uint32_t *line_of; /* by place: its line */
    uint32_t *places;  /* by line, rising */
    size_t room;       /* of places and sums */
    /* [line][metric][own, with all below]; changes may fall, and wrap around as they should */
    uint64_t *sums;
    unsigned char *bytes; /* what was spooled */
    size_t byte_room;
    struct lode_blob values, indices; /* as they are in the file */
};

/* Two passes over the profiles: sizes, and from these places; then bytes. */
struct pass {
    struct lode_build *build;
    struct scratch *scratches; /* by worker */
    struct lode_progress progress;
};

/* ---- scratch ---- */

static size_t word_count(const struct lode_build *build)
{
    return (size_t)build->place_count / 64 + 1;
}

static void close_scratch(struct scratch *scratch)
{
    free(scratch->bits);
    free(scratch->line_of);
    free(scratch->places);
    free(scratch->sums);
    free(scratch->bytes);
    lode_blob_free(&scratch->values);
    lode_blob_free(&scratch->indices);
}

static bool open_scratch(struct scratch *scratch, const struct lode_build *build)
{
    scratch->bits = calloc(word_count(build), sizeof *scratch->bits);
    scratch->line_of = calloc((size_t)build->place_count + 1, sizeof *scratch->line_of);
    return scratch->bits && scratch->line_of;
}

static bool make_room(struct scratch *scratch, size_t lines, size_t columns)
{
    if (lines <= scratch->room || lines == 0)
        return true;
    free(scratch->places);
    free(scratch->sums);
    scratch->places = calloc(lines, sizeof *scratch->places);
    scratch->sums = calloc(lines, columns * sizeof *scratch->sums);
    scratch->room = scratch->places && scratch->sums ? lines : 0;
    return scratch->room == lines;
}

/* ---- one profile ---- */

static lode_status fetch(const struct lode_build *build, const struct lode_track_result *track_result,
                         struct scratch *scratch, lode_error *error)
{
    /* Both counts are of what was in memory. */
    size_t size = track_result->row_count * sizeof(struct lode_build_row) +
                  track_result->change_count * sizeof(struct lode_build_change);
    if (size > scratch->byte_room) {
        free(scratch->bytes);
        scratch->bytes = malloc(size);
        scratch->byte_room = scratch->bytes ? size : 0;
        if (scratch->bytes == NULL)
            return lode_fail_memory(error);
    }
    return lode_spool_read(&build->workers[track_result->worker].rows, track_result->rows_at, scratch->bytes,
                           size, error);
}

static const struct lode_build_row *rows_of(const struct scratch *scratch)
{
    return (const struct lode_build_row *)(const void *)scratch->bytes;
}

static const struct lode_build_change *changes_of(const struct scratch *scratch,
                                                  const struct lode_track_result *track_result)
{
    return (const struct lode_build_change *)(const void *)(scratch->bytes +
                                                            track_result->row_count *
                                                                sizeof(struct lode_build_row));
}

/* Marks the contexts of the rows and all above them. Changes are at contexts that have rows. Returns how many there are. */
static size_t mark(const struct lode_build *build, const struct lode_track_result *track_result,
                   struct scratch *scratch)
{
    const uint32_t *places = build->nodes[track_result->worker];
    size_t count = 0;
    for (uint64_t i = 0; i < track_result->row_count; i++)
        for (uint32_t place = places[rows_of(scratch)[i].node];; place = build->above[place]) {
            uint64_t bit = UINT64_C(1) << place % 64;
            if (scratch->bits[place / 64] & bit)
                break;
            scratch->bits[place / 64] |= bit;
            count++;
            if (place == 0)
                break;
        }
    return count;
}

/* Lists what is marked in the order of places, and takes the marks away. */
static void list(const struct lode_build *build, struct scratch *scratch)
{
    uint32_t line = 0;
    for (size_t word = 0; word < word_count(build); word++) {
        for (uint64_t bits = scratch->bits[word]; bits; bits &= bits - 1) {
            uint32_t place = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
            scratch->line_of[place] = line;
            scratch->places[line++] = place;
        }
        scratch->bits[word] = 0;
    }
}

static void add_up(const struct lode_build *build, const struct lode_track_result *track_result,
                   struct scratch *scratch, size_t lines)
{
    size_t columns = (size_t)build->metric_count * 2;
    const uint32_t *places = build->nodes[track_result->worker],
                   *metrics = build->metrics[track_result->worker];
    memset(scratch->sums, 0, lines * columns * sizeof *scratch->sums);
    for (uint64_t i = 0; i < track_result->row_count; i++) {
        const struct lode_build_row *row = &rows_of(scratch)[i];
        uint64_t *sums = scratch->sums + scratch->line_of[places[row->node]] * columns;
        sums[(size_t)LODE_BUILD_TIME * 2] = row->self;
        sums[(size_t)LODE_BUILD_CALLS * 2] = row->calls;
    }
    for (uint64_t i = 0; i < track_result->change_count; i++) {
        const struct lode_build_change *change = &changes_of(scratch, track_result)[i];
        uint64_t *sums = scratch->sums + scratch->line_of[places[change->node]] * columns;
        sums[(size_t)metrics[change->metric] * 2] = (uint64_t)change->value;
    }
    /* A parent's place is below those of its children. */
    for (size_t i = lines; i-- > 0;) {
        uint64_t *sums = scratch->sums + i * columns;
        uint64_t *above = scratch->sums + scratch->line_of[build->above[scratch->places[i]]] * columns;
        for (size_t m = 0; m < columns; m += 2) {
            sums[m + 1] += sums[m];
            if (scratch->places[i] != 0)
                above[m + 1] += sums[m + 1];
        }
    }
}

static double amount(uint32_t metric, uint64_t sum)
{
    if (metric == LODE_BUILD_TIME)
        return (double)sum / NANOSECONDS;
    return metric == LODE_BUILD_CALLS ? (double)sum : (double)(int64_t)sum;
}

/* Puts one value behind the others, unless it is nothing; says how many there are of it. */
static unsigned put_value(uint8_t *out, uint16_t id, double value)
{
    put_u16le(out + WIRE_ProfileValue_metricId, id);
    put_f64le(out + WIRE_ProfileValue_value, value);
    return value != 0.0;
}

/* The values of a line; returns how many. */
static unsigned put_line(const struct lode_build *build, const uint64_t *sums, uint8_t *out)
{
    unsigned count = 0;
    for (uint32_t m = 0; m < build->metric_count; m++) {
        const uint16_t *ids = build->value_ids[m];
        double own = amount(m, sums[(size_t)m * 2]), all = amount(m, sums[(size_t)m * 2 + 1]);
        count += put_value(out + (size_t)count * WIRE_ProfileValue_SIZE, ids[LODE_BUILD_FUNCTION], own);
        count += put_value(out + (size_t)count * WIRE_ProfileValue_SIZE, ids[LODE_BUILD_LEXICAL], own);
        count += put_value(out + (size_t)count * WIRE_ProfileValue_SIZE, ids[LODE_BUILD_EXECUTION], all);
    }
    return count;
}

/* The block of a profile, in the scratch. */
static lode_status put_block(const struct lode_build *build, struct scratch *scratch, size_t lines,
                             struct lode_build_record *record, lode_error *error)
{
    size_t columns = (size_t)build->metric_count * 2;
    size_t line_size = (size_t)build->metric_count * LODE_BUILD_SCOPES * WIRE_ProfileValue_SIZE;
    scratch->values.size = scratch->indices.size = 0;
    record->values = record->contexts = 0;
    if (lode_blob_reserve(&scratch->values, (lines + 1) * line_size, 1) == LODE_BLOB_FULL ||
        lode_blob_reserve(&scratch->indices, lines * WIRE_ContextIndex_SIZE, 1) == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < lines; i++) {
        uint8_t *index = scratch->indices.bytes + record->contexts * WIRE_ContextIndex_SIZE;
        unsigned count = put_line(build, scratch->sums + i * columns,
                                  scratch->values.bytes + record->values * WIRE_ProfileValue_SIZE);
        if (count == 0)
            continue;
        put_u32le(index + WIRE_ContextIndex_ctxId, build->ids[scratch->places[i]]);
        put_u64le(index + WIRE_ContextIndex_startIndex, record->values);
        record->values += count;
        record->contexts++;
    }
    /* What is behind the last value was put there and is nothing. */
    scratch->values.size = record->values * WIRE_ProfileValue_SIZE;
    scratch->indices.size = record->contexts * WIRE_ContextIndex_SIZE;
    return LODE_OK;
}

static lode_status make_block(const struct lode_build *build, uint64_t item, struct scratch *scratch,
                              lode_error *error)
{
    const struct lode_track_result *track_result = &build_share(&build->inputs, item)->track_result;
    struct lode_build_record *record = &build->records[item];
    record->samples = track_result->sample_count;
    if (track_result->row_count == 0)
        return put_block(build, scratch, 0, record, error);
    LODE_TRY(fetch(build, track_result, scratch, error));
    size_t lines = mark(build, track_result, scratch);
    if (!make_room(scratch, lines, (size_t)build->metric_count * 2))
        return lode_fail_memory(error);
    list(build, scratch);
    add_up(build, track_result, scratch, lines);
    return put_block(build, scratch, lines, record, error);
}

/* ---- the passes ---- */

static lode_status measure(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    const struct pass *pass = context;
    struct scratch *scratch = &pass->scratches[worker];
    LODE_TRY(make_block(pass->build, item, scratch, error));
    const struct lode_build_record *record = &pass->build->records[item];
    for (uint64_t i = 0; i < record->contexts; i++) {
        const uint8_t *index = scratch->indices.bytes + i * WIRE_ContextIndex_SIZE;
        uint64_t end = i + 1 < record->contexts
                           ? get_u64le(index + WIRE_ContextIndex_SIZE + WIRE_ContextIndex_startIndex)
                           : record->values;
        atomic_fetch_add_explicit(&pass->build->writer->values_of[get_u32le(index + WIRE_ContextIndex_ctxId)],
                                  end - get_u64le(index + WIRE_ContextIndex_startIndex),
                                  memory_order_relaxed);
    }
    return LODE_OK;
}

static uint64_t align(uint64_t size, uint64_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

/* Where the indices of a block are, behind its values. */
static uint64_t indices_at(const struct lode_build_record *record)
{
    return align(record->values * WIRE_ProfileValue_SIZE, 4);
}

static uint64_t block_size(const struct lode_build_record *record)
{
    return indices_at(record) + record->contexts * WIRE_ContextIndex_SIZE;
}

static uint64_t line_size(const struct lode_build_record *record)
{
    return align(record->samples * WIRE_Sample_SIZE, 8);
}

static lode_status write_block(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    const struct pass *pass = context;
    struct scratch *scratch = &pass->scratches[worker];
    const struct lode_build_record *record = &pass->build->records[item];
    LODE_TRY(make_block(pass->build, item, scratch, error));
    size_t at = lode_blob_reserve(&scratch->values, scratch->indices.size, 4);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    if (scratch->indices.size > 0)
        memcpy(scratch->values.bytes + at, scratch->indices.bytes, scratch->indices.size);
    return lode_output_write_at(&pass->build->writer->files[HPCT_PROFILE], record->block_at,
                                scratch->values.bytes, scratch->values.size, error);
}

static lode_status count_item(void *context, uint64_t item, lode_error *error)
{
    struct pass *pass = context;
    (void)item;
    return lode_progress_add(&pass->progress, 1, error);
}

/* ---- places ---- */

/* Blocks and lines of all ranks follow each other; the files end behind the last. */
static lode_status place_records(struct lode_build *build, lode_error *error)
{
    struct lode_output_file *files = build->writer->files;
    uint64_t at[2] = {0, 0}, totals[2];
    for (uint32_t i = 0; i < build->inputs.share; i++) {
        at[0] += block_size(&build->records[i]);
        at[1] += line_size(&build->records[i]);
    }
    LODE_TRY(lode_comm_exscan(build->comm, at, totals, 2, error));
    if (totals[0] > INT64_MAX / 2 || totals[1] > INT64_MAX / 2)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "larger than a file can be");
    at[0] += files[HPCT_PROFILE].size;
    at[1] += files[HPCT_TRACE].size;
    for (uint32_t i = 0; i < build->inputs.share; i++) {
        struct lode_build_record *record = &build->records[i];
        record->block_at = at[0];
        record->line_at = at[1];
        at[0] += block_size(record);
        at[1] += line_size(record);
    }
    for (unsigned id = 0; id < HPCT_FILES; id++)
        if (files[id].fd >= 0)
            LODE_TRY(lode_output_flush(&files[id], error));
    files[HPCT_PROFILE].size += totals[0];
    files[HPCT_TRACE].size += build->options->trace == LODE_TRACE_NONE ? 0 : totals[1];
    return LODE_OK;
}

/* Tells the writer of rank 0 where everything is. */
static lode_status note_records(struct lode_build *build, const struct lode_build_record *records,
                                lode_error *error)
{
    const struct lode_build_inputs *inputs = &build->inputs;
    for (uint32_t i = 0; i < inputs->track_count; i++) {
        const struct lode_build_record *record = &records[i];
        struct written_profile profile = {.trace_start = record->line_at,
                                          .trace_end = record->line_at + record->samples * WIRE_Sample_SIZE};
        lode_build_wire(record, &profile.wire);
        LODE_TRY(lode_writer_note_profile(build->writer, inputs->tracks[inputs->profiles[i]].ids,
                                          LODE_BUILD_IDS, &profile, error));
    }
    return LODE_OK;
}

static lode_status gather_records(struct lode_build *build, lode_error *error)
{
    void *all;
    uint64_t size;
    LODE_TRY(lode_comm_gather(build->comm, build->records, build->inputs.share * sizeof *build->records,
                              false, &all, &size, NULL, error));
    lode_status status = all ? note_records(build, all, error) : LODE_OK;
    free(all);
    return status;
}

void lode_build_wire(const struct lode_build_record *record, struct wire_Profile *wire)
{
    *wire = (struct wire_Profile){.nValues = record->values,
                                  .pValues = record->block_at,
                                  .nCtxs = (uint32_t)record->contexts,
                                  .pCtxIndices = record->block_at + indices_at(record)};
}

/* ---- all of it ---- */

static lode_status run_pass(struct lode_build *build, struct scratch *scratches, unsigned threads,
                            const char *phase, lode_status (*work)(void *, uint64_t, unsigned, lode_error *),
                            lode_error *error)
{
    uint32_t count = build->inputs.share;
    struct pass pass = {.build = build,
                        .scratches = scratches,
                        .progress = lode_build_progress(&build->inputs, phase, count)};
    struct lode_job job = {.items = count, .work = work, .finish = count_item, .context = &pass};
    return lode_pool_run(threads, &job, error);
}

static lode_status run_passes(struct lode_build *build, struct scratch *scratches, unsigned threads,
                              lode_error *error)
{
    for (unsigned i = 0; i < threads; i++)
        if (!open_scratch(&scratches[i], build))
            return lode_fail_memory(error);
    LODE_TRY(run_pass(build, scratches, threads, "measuring profiles", measure, error));
    LODE_TRY(place_records(build, error));
    LODE_TRY(run_pass(build, scratches, threads, "writing profiles", write_block, error));
    return gather_records(build, error);
}

lode_status lode_build_values(struct lode_build *build, lode_error *error)
{
    unsigned threads = lode_build_threads(&build->inputs, build->inputs.share);
    struct scratch *scratches = calloc(threads, sizeof *scratches);
    build->records = calloc((size_t)build->inputs.share + 1, sizeof *build->records);
    lode_status status =
        scratches && build->records ? run_passes(build, scratches, threads, error) : lode_fail_memory(error);
    for (unsigned i = 0; scratches && i < threads; i++)
        close_scratch(&scratches[i]);
    free(scratches);
    return status;
}
