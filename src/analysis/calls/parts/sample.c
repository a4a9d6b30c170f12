/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/calls/parts/sample.h"

#include "base/error.h"
#include "base/pool.h"
#include "model/recording/recording.h"
#include <stdlib.h>

enum {
    LARGE = 32 /* a part of so many times the usual size would be an estimate of its own */
};

/* The smallest part that pays off: for each piece, a cursor is opened. */
#define PART_MIN  (UINT64_C(64) << 10)
#define PIECE_MIN (UINT64_C(256) << 10)
/* So many of the largest recordings that the calls open at all cuts need little memory. */
#define PARTS_MAX 16384

struct choice {
    struct lode_pass *pass;
    const struct lode_pieces *pieces;
    uint32_t (*end_of_item)(const struct lode_pass *, uint32_t);
    struct lode_sampled *chosen;
    /* The part that is being made: its bytes and time, and where its places begin. */
    uint64_t bytes, time;
    uint32_t first;
    uint64_t stride;
};

static lode_status fail_absent(lode_error *error)
{
    return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET, "these calls cannot be estimated from parts");
}

static uint64_t bytes_of_row(const struct lode_pass *pass, uint32_t row)
{
    return pass->recording->tracks[pass->rows[row].track].bytes;
}

lode_status lode_pass_sample(struct lode_pass *pass, lode_error *error)
{
    uint64_t total = 0, wanted = pass->options.parts;
    lode_pass_cut(pass);
    for (uint32_t i = 0; i < pass->row_count && wanted > 0; i++)
        total += bytes_of_row(pass, i);
    uint64_t least = pass->cuts ? PIECE_MIN : PART_MIN;
    uint64_t piece = total / PARTS_MAX > least ? total / PARTS_MAX : least;
    /* Tests say how large parts are, and estimate from all of them, too. */
    bool is_test = pass->recording->piece > 0;
    piece = is_test ? pass->recording->piece : piece;
    if (wanted == 0 || (total / piece < 2 * wanted && !is_test))
        return LODE_OK;
    if (!lode_pass_is_whole(pass))
        return fail_absent(error);
    pass->sample.piece = piece;
    pass->groups = LODE_SAMPLE_GROUPS;
    return LODE_OK;
}

/* A number that looks random, the same for the same `value`. */
static uint64_t mix(uint64_t value)
{
    value = (value + 1) * UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* The part is complete: keeps its places if it is the one of its stride. */
static lode_status end_part(struct choice *self, lode_error *error)
{
    struct lode_sampling *sample = &self->pass->sample;
    uint64_t stratum = sample->read.parts / self->stride;
    bool is_chosen = sample->read.parts % self->stride == mix(stratum) % self->stride;
    if (self->bytes > LARGE * sample->piece)
        return fail_absent(error);
    sample->read.parts++;
    sample->read.bytes += self->bytes;
    sample->time += self->time;
    if (is_chosen) {
        uint8_t group = (uint8_t)(sample->read.parts_read++ % LODE_SAMPLE_GROUPS);
        sample->read.bytes_read += self->bytes;
        sample->time_read[group] += self->time;
        for (; self->first < self->chosen->count; self->first++)
            self->chosen->groups[self->first] = group;
    } else {
        self->chosen->count = self->first;
    }
    self->bytes = self->time = 0;
    return LODE_OK;
}

static void add(struct choice *self, uint32_t place, uint64_t bytes, uint64_t time)
{
    self->chosen->places[self->chosen->count++] = place;
    self->bytes += bytes;
    self->time += time;
}

/* Those that are read together, whose first one stands for all. */
static lode_status add_item(struct choice *self, uint32_t row, lode_error *error)
{
    const struct lode_pass *pass = self->pass;
    uint64_t bytes = 0, time = 0, begin, end;
    for (uint32_t i = row, last = self->end_of_item(pass, row); i < last; i++) {
        lode_status status = lode_track_interval(pass->recording, pass->rows[i].track, &begin, &end, error);
        if (status != LODE_OK && status != LODE_ABSENT)
            return status;
        if (status == LODE_OK) {
            pass->rows[i].begin = begin;
            pass->rows[i].end = end;
            time += end - begin;
        }
        bytes += bytes_of_row(pass, i);
    }
    add(self, row, bytes, time);
    return self->bytes >= pass->sample.piece ? end_part(self, error) : LODE_OK;
}

static lode_status add_pieces(struct choice *self, size_t *next, uint32_t row, lode_error *error)
{
    const struct lode_pass *pass = self->pass;
    uint64_t begin, end;
    LODE_TRY(lode_track_interval(pass->recording, pass->rows[row].track, &begin, &end, error));
    pass->rows[row].begin = begin;
    pass->rows[row].end = end;
    for (; *next < self->pieces->count && self->pieces->items[*next].row == row; ++*next) {
        const struct lode_piece *piece = &self->pieces->items[*next];
        uint64_t from = piece->from ? piece->from->time : begin, to = piece->to ? piece->to->time : end;
        add(self, pass->row_count + (uint32_t)*next, piece->bytes, to > from ? to - from : 0);
        LODE_TRY(end_part(self, error));
    }
    return LODE_OK;
}

static lode_status choose(struct choice *self, lode_error *error)
{
    const struct lode_pass *pass = self->pass;
    uint64_t total = 0;
    size_t next = 0;
    for (uint32_t i = 0; i < pass->row_count; i++)
        total += bytes_of_row(pass, i);
    uint64_t stride = total / pass->sample.piece / pass->options.parts;
    self->stride = stride > 0 ? stride : 1;
    for (uint32_t i = 0; i < pass->row_count; i = self->end_of_item(pass, i)) {
        bool is_cut = self->pieces->cuts && self->pieces->cuts[i].count > 0;
        LODE_TRY(is_cut ? add_pieces(self, &next, i, error) : add_item(self, i, error));
    }
    if (self->bytes > 0)
        LODE_TRY(end_part(self, error));
    /* Each group needs parts that differ. */
    return pass->sample.read.parts_read < 2 * LODE_SAMPLE_GROUPS ? fail_absent(error) : LODE_OK;
}

lode_status lode_sample_choose(struct lode_sampled *chosen, struct lode_pass *pass,
                               const struct lode_pieces *pieces,
                               uint32_t (*end_of_item)(const struct lode_pass *, uint32_t), lode_error *error)
{
    struct choice self = {.pass = pass, .pieces = pieces, .end_of_item = end_of_item, .chosen = chosen};
    pass->sample = (struct lode_sampling){.piece = pass->sample.piece};
    chosen->places = calloc(pass->row_count + pieces->count + 1, sizeof *chosen->places);
    LODE_TRY_ALLOC(chosen->places, error);
    chosen->groups = calloc(pass->row_count + pieces->count + 1, sizeof *chosen->groups);
    LODE_TRY_ALLOC(chosen->groups, error);
    return choose(&self, error);
}
