/* SPDX-License-Identifier: BSD-3-Clause */
/* From the rows of tracks to values of profiles: integer sums up the tree, one final division. */
#include "base/error.h"
#include "model/database/block_builder.h"
#include "transform/build/build.h"
#include <stdlib.h>
#include <string.h>

#define NANOSECONDS 1e9

/* What a profile is made in. Between profiles all bits are 0. */
struct lode_build_scratch {
    uint64_t *bits;    /* by place: the profile has something there or below */
    uint32_t *line_of; /* by place: its line */
    uint32_t *places;  /* by line, rising */
    size_t room;       /* of places and sums */
    /* [line][metric][own, with all below]; changes may fall, and wrap around as they should */
    uint64_t *sums;
    unsigned char *bytes; /* what was spooled */
    size_t byte_room;
    struct lode_blob values, groups; /* of the block */
};

/* ---- scratch ---- */

static size_t word_count(const struct lode_build *build)
{
    return (size_t)build->place_count / 64 + 1;
}

static void close_scratch(struct lode_build_scratch *scratch)
{
    free(scratch->bits);
    free(scratch->line_of);
    free(scratch->places);
    free(scratch->sums);
    free(scratch->bytes);
    lode_blob_free(&scratch->values);
    lode_blob_free(&scratch->groups);
}

static bool open_scratch(struct lode_build_scratch *scratch, const struct lode_build *build)
{
    scratch->bits = calloc(word_count(build), sizeof *scratch->bits);
    scratch->line_of = calloc((size_t)build->place_count + 1, sizeof *scratch->line_of);
    return scratch->bits && scratch->line_of;
}

static bool make_room(struct lode_build_scratch *scratch, size_t lines, size_t columns)
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
                         struct lode_build_scratch *scratch, lode_error *error)
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

static const struct lode_build_row *rows_of(const struct lode_build_scratch *scratch)
{
    return (const struct lode_build_row *)(const void *)scratch->bytes;
}

static const struct lode_build_change *changes_of(const struct lode_build_scratch *scratch,
                                                  const struct lode_track_result *track_result)
{
    return (const struct lode_build_change *)(const void *)(scratch->bytes +
                                                            track_result->row_count *
                                                                sizeof(struct lode_build_row));
}

/* Marks the contexts of the rows and their ancestors, and returns their number. */
static size_t mark(const struct lode_build *build, const struct lode_track_result *track_result,
                   struct lode_build_scratch *scratch)
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
static void list(const struct lode_build *build, struct lode_build_scratch *scratch)
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
                   struct lode_build_scratch *scratch, size_t lines)
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

/* Puts one value after the others, unless it is nothing; returns how many there are of it. */
static unsigned put_value(uint8_t *out, uint16_t id, double value)
{
    put_u16le(out, id);
    put_f64le(out + BLOCK_VALUE_NUMBER, value);
    return value != 0.0;
}

/* The values of a line; returns how many. */
static unsigned put_line(const struct lode_build *build, const uint64_t *sums, uint8_t *out)
{
    unsigned count = 0;
    for (uint32_t m = 0; m < build->metric_count; m++) {
        const uint16_t *ids = build->value_ids[m];
        double own = amount(m, sums[(size_t)m * 2]), all = amount(m, sums[(size_t)m * 2 + 1]);
        count += put_value(out + (size_t)count * BLOCK_VALUE_SIZE, ids[LODE_BUILD_FUNCTION], own);
        count += put_value(out + (size_t)count * BLOCK_VALUE_SIZE, ids[LODE_BUILD_LEXICAL], own);
        count += put_value(out + (size_t)count * BLOCK_VALUE_SIZE, ids[LODE_BUILD_EXECUTION], all);
    }
    return count;
}

/* The block of a profile, in the scratch. Bytes after its last value are garbage. */
static lode_status put_block(const struct lode_build *build, struct lode_build_scratch *scratch, size_t lines,
                             lode_block *out, lode_error *error)
{
    size_t columns = (size_t)build->metric_count * 2;
    size_t line_size = (size_t)build->metric_count * LODE_BUILD_SCOPES * BLOCK_VALUE_SIZE;
    uint64_t values = 0, groups = 0;
    scratch->values.size = scratch->groups.size = 0;
    if (lode_blob_reserve(&scratch->values, (lines + 1) * line_size, 1) == LODE_BLOB_FULL ||
        lode_blob_reserve(&scratch->groups, lines * BLOCK_GROUP_SIZE, 1) == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < lines; i++) {
        uint8_t *group = scratch->groups.bytes + groups * BLOCK_GROUP_SIZE;
        unsigned count =
            put_line(build, scratch->sums + i * columns, scratch->values.bytes + values * BLOCK_VALUE_SIZE);
        if (count == 0)
            continue;
        put_u32le(group, build->ids[scratch->places[i]]);
        put_u64le(group + BLOCK_GROUP_START, values);
        values += count;
        groups++;
    }
    *out = block_of_profile(scratch->groups.bytes, groups, scratch->values.bytes, values);
    return LODE_OK;
}

/* ---- as a source ---- */

lode_status lode_build_open_slots(struct lode_profile_source *base, unsigned count, lode_error *error)
{
    struct lode_build *build = build_of(base);
    build->scratches = calloc(count, sizeof *build->scratches);
    bool enough = build->scratches != NULL;
    build->slot_count = enough ? count : 0;
    for (unsigned i = 0; i < count && enough; i++)
        enough = open_scratch(&build->scratches[i], build);
    return enough ? LODE_OK : lode_fail_memory(error);
}

void lode_build_close_scratches(struct lode_build *build)
{
    for (unsigned i = 0; build->scratches && i < build->slot_count; i++)
        close_scratch(&build->scratches[i]);
    free(build->scratches);
    build->scratches = NULL;
}

lode_status lode_build_values(struct lode_profile_source *base, unsigned slot, uint32_t profile,
                              lode_block *out, lode_error *error)
{
    const struct lode_build *build = build_of(base);
    const struct lode_track_result *result =
        &build_share(&build->inputs, profile - 1 - base->first)->track_result;
    struct lode_build_scratch *scratch = &build->scratches[slot];
    if (result->row_count == 0)
        return put_block(build, scratch, 0, out, error);
    LODE_TRY(fetch(build, result, scratch, error));
    size_t lines = mark(build, result, scratch);
    if (!make_room(scratch, lines, (size_t)build->metric_count * 2))
        return lode_fail_memory(error);
    list(build, scratch);
    add_up(build, result, scratch, lines);
    return put_block(build, scratch, lines, out, error);
}
