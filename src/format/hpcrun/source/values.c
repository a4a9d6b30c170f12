/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From spooled values to the block of a profile. Values are added up the contexts that the profile
 * has, with children before their parents, for each metric that it has.
 */
#include "base/io/bytes.h"
#include "format/hpcrun/source/share.h"
#include "model/database/block_builder.h"
#include <stdlib.h>

/* Sums at a context, of one metric. */
struct sums {
    double point, function, no_loops, execution;
};

/* What a profile is made in. Between profiles, all bits are 0 and all columns LODE_NONE. */
struct hpcrun_scratch {
    uint64_t *bits;              /* by position: the profile has something there or below */
    uint64_t *id_bits;           /* by rank of the id */
    uint32_t *line_of;           /* by position */
    uint32_t *positions, *by_id; /* by line: its position; lines in the order of ids */
    uint32_t *columns, *metrics; /* by metric: its column; by column, rising */
    struct hpcrun_row *rows;
    uint64_t row_count;
    struct hpcrun_sharing sharing;
    size_t room, row_room, sum_room;
    uint32_t column_count;
    struct sums *sums;               /* [line][column] */
    struct lode_blob values, groups; /* of the block */
};

/* ---- scratch ---- */

static size_t word_count(const struct hpcrun_source *source)
{
    return (size_t)source->contexts.count / 64 + 1;
}

static bool open_scratch(struct hpcrun_scratch *scratch, const struct hpcrun_source *source)
{
    scratch->bits = calloc(word_count(source), sizeof *scratch->bits);
    scratch->id_bits = calloc(word_count(source), sizeof *scratch->id_bits);
    scratch->line_of = calloc((size_t)source->contexts.count + 1, sizeof *scratch->line_of);
    scratch->columns = calloc((size_t)source->metric_count + 1, sizeof *scratch->columns);
    scratch->metrics = calloc((size_t)source->metric_count + 1, sizeof *scratch->metrics);
    for (uint32_t i = 0; scratch->columns && i < source->metric_count; i++)
        scratch->columns[i] = LODE_NONE;
    return lode_hpcrun_sharing_open(&scratch->sharing, source) && scratch->bits && scratch->id_bits &&
           scratch->line_of && scratch->columns && scratch->metrics;
}

static void close_scratch(struct hpcrun_scratch *scratch)
{
    free(scratch->bits);
    free(scratch->id_bits);
    free(scratch->line_of);
    free(scratch->positions);
    free(scratch->by_id);
    free(scratch->columns);
    free(scratch->metrics);
    free(scratch->rows);
    free(scratch->sums);
    lode_hpcrun_sharing_close(&scratch->sharing);
    lode_blob_free(&scratch->values);
    lode_blob_free(&scratch->groups);
}

static int compare_ids(const void *left, const void *right, void *argument)
{
    const uint32_t *ids = argument, a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return ids[a] < ids[b] ? -1 : ids[a] > ids[b];
}

/* Positions in the order of their ids, and the other way round. */
static lode_status rank_ids(struct hpcrun_source *source, lode_error *error)
{
    uint32_t count = source->contexts.count;
    source->position_at = calloc((size_t)count + 1, sizeof *source->position_at);
    source->rank_of = calloc((size_t)count + 1, sizeof *source->rank_of);
    LODE_TRY_ALLOC(source->position_at && source->rank_of, error);
    for (uint32_t i = 0; i < count; i++)
        source->position_at[i] = i;
    qsort_r(source->position_at, count, sizeof *source->position_at, compare_ids, source->contexts.ids);
    for (uint32_t i = 0; i < count; i++)
        source->rank_of[source->position_at[i]] = i;
    return LODE_OK;
}

lode_status lode_hpcrun_open_slots(struct lode_profile_source *base, unsigned count, lode_error *error)
{
    struct hpcrun_source *source = hpcrun_source_of(base);
    LODE_TRY(rank_ids(source, error));
    source->scratches = calloc(count, sizeof *source->scratches);
    LODE_TRY_ALLOC(source->scratches, error);
    source->slot_count = count;
    for (unsigned i = 0; i < count; i++)
        LODE_TRY_ALLOC(open_scratch(&source->scratches[i], source), error);
    return LODE_OK;
}

void lode_hpcrun_close_values(struct hpcrun_source *source)
{
    for (unsigned i = 0; source->scratches && i < source->slot_count; i++)
        close_scratch(&source->scratches[i]);
    free(source->scratches);
    free(source->position_at);
    free(source->rank_of);
    source->scratches = NULL;
    source->position_at = source->rank_of = NULL;
}

/* ---- one profile ---- */

static bool fetch(const struct hpcrun_source *source, const struct hpcrun_read *read,
                  struct hpcrun_scratch *scratch, lode_status *status, lode_error *error)
{
    size_t count = (size_t)read->row_count;
    if (count > scratch->row_room) {
        free(scratch->rows);
        scratch->rows = calloc(count, sizeof *scratch->rows);
        scratch->row_room = scratch->rows ? count : 0;
    }
    *status = scratch->rows ? lode_spool_read(&source->workers[read->worker].rows, read->rows_at,
                                              scratch->rows, count * sizeof *scratch->rows, error)
                            : lode_fail_memory(error);
    return *status == LODE_OK;
}

/* From nodes and metrics of the worker to positions and metrics of the description; sites apart. */
static bool resolve(const struct hpcrun_source *source, const struct hpcrun_read *read,
                    struct hpcrun_scratch *scratch)
{
    const uint32_t *nodes = source->nodes[read->worker], *metrics = source->metrics[read->worker];
    scratch->row_count = 0;
    for (uint64_t i = 0; i < read->row_count; i++) {
        struct hpcrun_row row = scratch->rows[i];
        const struct hpcrun_place *place = &source->places[nodes[row.node]];
        bool is_site = lode_hpcrun_is_site(place);
        row.node = is_site || (row.metric & HPCRUN_ROW_CALL) ? place->call : place->full;
        row.metric = metrics[row.metric & ~(uint32_t)HPCRUN_ROW_CALL];
        scratch->columns[row.metric] = 0;
        struct hpcrun_row *out =
            is_site ? lode_array_push(&scratch->sharing.rows) : &scratch->rows[scratch->row_count++];
        if (out == NULL)
            return false;
        *out = row;
    }
    return true;
}

/* Adds the values of sites to those of contexts. */
static bool share(const struct hpcrun_source *source, struct hpcrun_scratch *scratch)
{
    if (scratch->sharing.rows.count == 0)
        return true;
    if (!lode_hpcrun_share(source, &scratch->sharing, scratch->rows, scratch->row_count))
        return false;
    size_t more = scratch->sharing.shared.count, count = (size_t)scratch->row_count + more;
    if (count > scratch->row_room) {
        if (!LODE_GROW(scratch->rows, scratch->row_room, count))
            return false;
    }
    if (more > 0)
        memcpy(scratch->rows + scratch->row_count, scratch->sharing.shared.items,
               more * sizeof *scratch->rows);
    scratch->row_count = count;
    return true;
}

/* Columns in the order of metrics. */
static void number_columns(const struct hpcrun_source *source, struct hpcrun_scratch *scratch)
{
    scratch->column_count = 0;
    for (uint32_t i = 0; i < source->metric_count; i++) {
        if (scratch->columns[i] == LODE_NONE)
            continue;
        scratch->metrics[scratch->column_count] = i;
        scratch->columns[i] = scratch->column_count++;
    }
}

/* Marks the contexts of values and their ancestors, and returns their number. */
static uint32_t mark(const struct hpcrun_source *source, struct hpcrun_scratch *scratch)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < scratch->row_count; i++)
        for (uint32_t position = scratch->rows[i].node;; position = source->contexts.above[position]) {
            uint64_t bit = UINT64_C(1) << position % 64;
            if (scratch->bits[position / 64] & bit)
                break;
            uint32_t rank = source->rank_of[position];
            scratch->bits[position / 64] |= bit;
            scratch->id_bits[rank / 64] |= UINT64_C(1) << rank % 64;
            count++;
            if (position == 0)
                break;
        }
    return count;
}

static bool make_room(struct hpcrun_scratch *scratch, size_t lines)
{
    size_t sums = lines * scratch->column_count;
    if (lines > scratch->room) {
        free(scratch->positions);
        free(scratch->by_id);
        scratch->positions = calloc(lines + 1, sizeof *scratch->positions);
        scratch->by_id = calloc(lines + 1, sizeof *scratch->by_id);
        scratch->room = scratch->positions && scratch->by_id ? lines : 0;
    }
    if (sums > scratch->sum_room) {
        free(scratch->sums);
        scratch->sums = calloc(sums + 1, sizeof *scratch->sums);
        scratch->sum_room = scratch->sums ? sums : 0;
    }
    return scratch->room >= lines && scratch->sum_room >= sums;
}

/* Lists what is marked in both orders, and takes the marks away. */
static void list(const struct hpcrun_source *source, struct hpcrun_scratch *scratch)
{
    uint32_t line = 0;
    for (size_t word = 0; word < word_count(source); word++) {
        for (uint64_t bits = scratch->bits[word]; bits; bits &= bits - 1) {
            uint32_t position = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
            scratch->line_of[position] = line;
            scratch->positions[line++] = position;
        }
        scratch->bits[word] = 0;
    }
    line = 0;
    for (size_t word = 0; word < word_count(source); word++) {
        for (uint64_t bits = scratch->id_bits[word]; bits; bits &= bits - 1) {
            uint32_t rank = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
            scratch->by_id[line++] = scratch->line_of[source->position_at[rank]];
        }
        scratch->id_bits[word] = 0;
    }
}

/* Adds a child to its parent. */
static void propagate(struct sums *above, const struct sums *from, unsigned flags)
{
    if (flags & HPCRUN_CONTEXT_ENCLOSED) {
        above->function += from->function;
        if (!(flags & HPCRUN_CONTEXT_LOOP))
            above->no_loops += from->no_loops;
    }
    above->execution += from->execution;
}

static void add_up(const struct hpcrun_source *source, struct hpcrun_scratch *scratch, size_t lines)
{
    size_t columns = scratch->column_count;
    memset(scratch->sums, 0, lines * columns * sizeof *scratch->sums);
    for (uint64_t i = 0; i < scratch->row_count; i++) {
        const struct hpcrun_row *row = &scratch->rows[i];
        scratch->sums[scratch->line_of[row->node] * columns + scratch->columns[row->metric]].point +=
            row->value;
    }
    for (size_t i = lines; i-- > 0;) {
        uint32_t position = scratch->positions[i];
        struct sums *own = scratch->sums + i * columns;
        struct sums *above = scratch->sums + scratch->line_of[source->contexts.above[position]] * columns;
        for (size_t c = 0; c < columns; c++) {
            own[c].function += own[c].point;
            own[c].no_loops += own[c].point;
            own[c].execution += own[c].point;
            if (position != 0)
                propagate(&above[c], &own[c], source->contexts.flags[position]);
        }
    }
}

/* ---- blocks ---- */

/* Puts one value after the others, unless it is nothing; returns how many there are of it. */
static unsigned put_value(uint8_t *out, uint32_t id, double value)
{
    if (id == LODE_NONE || value == 0.0)
        return 0;
    put_u16le(out, (uint16_t)id);
    put_f64le(out + BLOCK_VALUE_NUMBER, value);
    return 1;
}

/* hpcprof has the value of scope function for lex_aware at loops, too, but not in its summary. */
static uint64_t put_line(const struct hpcrun_source *source, const struct hpcrun_scratch *scratch,
                         uint32_t line, uint8_t *out)
{
    bool is_loop = source->contexts.flags[scratch->positions[line]] & HPCRUN_CONTEXT_LOOP;
    bool excludes = is_loop && !source->input->options->like_hpcprof;
    uint64_t count = 0;
    for (uint32_t c = 0; c < scratch->column_count; c++) {
        const struct sums *sums = &scratch->sums[(size_t)line * scratch->column_count + c];
        const uint32_t *ids = source->value_ids[scratch->metrics[c]].ids;
        double lexical = excludes ? sums->no_loops : sums->function;
        count += put_value(out + count * BLOCK_VALUE_SIZE, ids[HPCRUN_SCOPE_POINT], sums->point);
        count += put_value(out + count * BLOCK_VALUE_SIZE, ids[HPCRUN_SCOPE_FUNCTION], sums->function);
        count += put_value(out + count * BLOCK_VALUE_SIZE, ids[HPCRUN_SCOPE_LEXICAL], lexical);
        count += put_value(out + count * BLOCK_VALUE_SIZE, ids[HPCRUN_SCOPE_EXECUTION], sums->execution);
    }
    return count;
}

static lode_status put_block(const struct hpcrun_source *source, struct hpcrun_scratch *scratch, size_t lines,
                             lode_block *out, lode_error *error)
{
    size_t most = (size_t)scratch->column_count * HPCRUN_SCOPES * BLOCK_VALUE_SIZE;
    uint64_t values = 0, groups = 0;
    LODE_TRY_ALLOC(lode_blob_prepare(&scratch->values, (lines + 1) * most + 1) &&
                       lode_blob_prepare(&scratch->groups, lines * BLOCK_GROUP_SIZE + 1),
                   error);
    for (size_t i = 0; i < lines; i++) {
        uint32_t line = scratch->by_id[i];
        uint8_t *group = scratch->groups.bytes + groups * BLOCK_GROUP_SIZE;
        uint64_t count = put_line(source, scratch, line, scratch->values.bytes + values * BLOCK_VALUE_SIZE);
        if (count == 0)
            continue;
        put_u32le(group, source->contexts.ids[scratch->positions[line]]);
        put_u64le(group + BLOCK_GROUP_START, values);
        values += count;
        groups++;
    }
    *out = block_of_profile(scratch->groups.bytes, groups, scratch->values.bytes, values);
    return LODE_OK;
}

lode_status lode_hpcrun_values(struct lode_profile_source *base, unsigned slot, uint32_t profile,
                               lode_block *out, lode_error *error)
{
    const struct hpcrun_source *source = hpcrun_source_of(base);
    const struct hpcrun_read *read = &source->reads[source->item_of[profile - 1 - base->first]];
    struct hpcrun_scratch *scratch = &source->scratches[slot];
    lode_status status;
    scratch->column_count = 0;
    if (read->row_count == 0)
        return put_block(source, scratch, 0, out, error);
    if (!fetch(source, read, scratch, &status, error))
        return status;
    LODE_TRY_ALLOC(resolve(source, read, scratch) && share(source, scratch), error);
    number_columns(source, scratch);
    uint32_t lines = mark(source, scratch);
    if (lines > 0) {
        LODE_TRY_ALLOC(make_room(scratch, lines), error);
        list(source, scratch);
        add_up(source, scratch, lines);
    }
    for (uint32_t c = 0; c < scratch->column_count; c++)
        scratch->columns[scratch->metrics[c]] = LODE_NONE;
    return put_block(source, scratch, lines, out, error);
}
