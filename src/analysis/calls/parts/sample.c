/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/calls/parts/sample.h"

#include "analysis/calls/parts/estimate.h"
#include "base/error.h"
#include "base/pool.h"
#include "model/recording/recording.h"
#include <math.h>
#include <stdlib.h>

enum {
    /* An estimate from more of the parts is not worth it. Requests take longer to read. */
    LEAST_STRIDE = 4,
    LEAST_STRIDE_OF_REQUESTS = 2,
    LARGE = 32 /* a part of so many times the usual size would be an estimate of its own */
};

/* The smallest part that pays off: for each piece, a cursor is opened. */
#define PART_MIN  (UINT64_C(64) << 10)
#define PIECE_MIN (UINT64_C(256) << 10)
/* So many of the largest recordings that the calls open at all cuts need little memory. */
#define PARTS_MAX 16384

/* Where its places begin, which end with those of the next part. */
struct part {
    uint32_t first;
    uint64_t bytes, time;
};

struct choice {
    struct lode_pass *pass;
    const struct lode_pieces *pieces;
    uint32_t (*end_of_item)(const struct lode_pass *, uint32_t);
    struct lode_sampled *chosen; /* all places, then those that are read */
    struct lode_array parts;
    struct part open; /* that is being made */
};

static lode_status fail_absent(lode_error *error)
{
    return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET, "these calls cannot be estimated from parts");
}

static uint64_t bytes_of_row(const struct lode_pass *pass, uint32_t row)
{
    return pass->recording->tracks[pass->rows[row].track].bytes;
}

/* Tests say how large parts are, and estimate from all of them, too. */
static bool is_test(const struct lode_pass *pass)
{
    return pass->recording->piece > 0;
}

static unsigned least_stride(const struct lode_pass *pass)
{
    return is_test(pass) ? 1 : pass->cuts ? LEAST_STRIDE : LEAST_STRIDE_OF_REQUESTS;
}

lode_status lode_pass_sample(struct lode_pass *pass, lode_error *error)
{
    uint64_t total = 0, wanted = pass->options.parts;
    lode_pass_cut(pass);
    for (uint32_t i = 0; i < pass->row_count && wanted > 0; i++)
        total += bytes_of_row(pass, i);
    uint64_t least = pass->cuts ? PIECE_MIN : PART_MIN;
    uint64_t piece = total / PARTS_MAX > least ? total / PARTS_MAX : least;
    piece = is_test(pass) ? pass->recording->piece : piece;
    bool is_small = total / piece / least_stride(pass) < wanted && !is_test(pass);
    if (wanted == 0 || is_small || pass->options.strict)
        return LODE_OK;
    if (!lode_pass_is_whole(pass))
        return fail_absent(error);
    pass->sample.piece = piece;
    pass->groups = LODE_SAMPLE_GROUPS + 1;
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

/* ---- all parts ---- */

static lode_status end_part(struct choice *self, lode_error *error)
{
    struct part *part = lode_array_push(&self->parts);
    LODE_TRY_ALLOC(part, error);
    *part = self->open;
    self->open = (struct part){.first = self->chosen->count};
    return part->bytes > LARGE * self->pass->sample.piece ? fail_absent(error) : LODE_OK;
}

static lode_status add(struct choice *self, uint32_t place, uint64_t bytes, uint64_t from, uint64_t to,
                       lode_error *error)
{
    /* Times that go back are damage. */
    if (to < from)
        return fail_absent(error);
    self->chosen->places[self->chosen->count++] = place;
    self->open.bytes += bytes;
    self->open.time += to - from;
    return LODE_OK;
}

/* Begin and end of a row; both 0 if it has no events. */
static lode_status find_interval(const struct lode_pass *pass, lode_track_row *row, lode_error *error)
{
    uint64_t begin, end;
    lode_status status = lode_track_interval(pass->recording, row->track, &begin, &end, error);
    if (status == LODE_OK) {
        row->begin = begin;
        row->end = end;
    }
    return status == LODE_ABSENT ? LODE_OK : status;
}

/* Those that are read together, whose first one stands for all. */
static lode_status add_item(struct choice *self, uint32_t row, lode_error *error)
{
    const struct lode_pass *pass = self->pass;
    uint64_t bytes = 0, time = 0;
    for (uint32_t i = row, last = self->end_of_item(pass, row); i < last; i++) {
        LODE_TRY(find_interval(pass, &pass->rows[i], error));
        if (pass->rows[i].end < pass->rows[i].begin)
            return fail_absent(error);
        time += pass->rows[i].end - pass->rows[i].begin;
        bytes += bytes_of_row(pass, i);
    }
    LODE_TRY(add(self, row, bytes, 0, time, error));
    return self->open.bytes >= pass->sample.piece ? end_part(self, error) : LODE_OK;
}

static lode_status add_pieces(struct choice *self, size_t *next, uint32_t row, lode_error *error)
{
    const struct lode_pass *pass = self->pass;
    LODE_TRY(find_interval(pass, &pass->rows[row], error));
    for (; *next < self->pieces->count && self->pieces->items[*next].row == row; ++*next) {
        const struct lode_piece *piece = &self->pieces->items[*next];
        uint64_t from = piece->from ? piece->from->time : pass->rows[row].begin;
        uint64_t to = piece->to ? piece->to->time : pass->rows[row].end;
        LODE_TRY(add(self, pass->row_count + (uint32_t)*next, piece->bytes, from, to, error));
        LODE_TRY(end_part(self, error));
    }
    return LODE_OK;
}

static lode_status list_parts(struct choice *self, lode_error *error)
{
    const struct lode_pass *pass = self->pass;
    size_t next = 0;
    for (uint32_t i = 0; i < pass->row_count; i = self->end_of_item(pass, i)) {
        bool is_cut = self->pieces->cuts && self->pieces->cuts[i].count > 0;
        LODE_TRY(is_cut ? add_pieces(self, &next, i, error) : add_item(self, i, error));
    }
    return self->open.bytes > 0 ? end_part(self, error) : LODE_OK;
}

/* ---- those that are read ---- */

/* The places of a part, moved to those that were kept before. */
static void keep(const struct choice *self, size_t part, uint32_t *kept, uint8_t group)
{
    const struct part *parts = self->parts.items;
    uint32_t end = part + 1 < self->parts.count ? parts[part + 1].first : self->chosen->count;
    for (uint32_t i = parts[part].first; i < end; i++, ++*kept) {
        self->chosen->places[*kept] = self->chosen->places[i];
        self->chosen->groups[*kept] = group;
    }
    struct lode_sampling *sample = &self->pass->sample;
    sample->read.parts_read++;
    sample->read.bytes_read += parts[part].bytes;
    sample->bytes_read[group] += parts[part].bytes;
    sample->time_read[group] += parts[part].time;
}

/*
 * Parts that have much of the time, such as a long wait, are read in any case. Of the others, one
 * of each stride is read and stands for it.
 */
static lode_status choose(struct choice *self, lode_error *error)
{
    struct lode_sampling *sample = &self->pass->sample;
    const struct part *parts = self->parts.items;
    uint64_t time = 0, wanted = self->pass->options.parts, stride = self->parts.count / wanted;
    stride = stride > least_stride(self->pass) ? stride : least_stride(self->pass);
    uint32_t kept = 0, others_read = 0;
    sample->read.parts = self->parts.count;
    for (size_t i = 0; i < self->parts.count; i++) {
        time += parts[i].time;
        sample->read.bytes += parts[i].bytes;
    }
    for (size_t i = 0; i < self->parts.count; i++) {
        if (stride > 1 && parts[i].time > time / wanted) {
            keep(self, i, &kept, LODE_SAMPLE_GROUPS);
            continue;
        }
        uint64_t number = sample->others++;
        sample->bytes += parts[i].bytes;
        sample->time += parts[i].time;
        if (stride <= 1 || number % stride == mix(number / stride) % stride)
            keep(self, i, &kept, (uint8_t)(others_read++ % LODE_SAMPLE_GROUPS));
    }
    self->chosen->count = kept;
    sample->others_read = others_read;
    /* Each group needs parts that differ. */
    bool is_enough = others_read >= 2 * LODE_SAMPLE_GROUPS || others_read == sample->others;
    return is_enough && isfinite(lode_sample_times(sample)) ? LODE_OK : fail_absent(error);
}

lode_status lode_sample_choose(struct lode_sampled *chosen, struct lode_pass *pass,
                               const struct lode_pieces *pieces,
                               uint32_t (*end_of_item)(const struct lode_pass *, uint32_t), lode_error *error)
{
    struct choice self = {.pass = pass, .pieces = pieces, .end_of_item = end_of_item, .chosen = chosen};
    size_t places = pass->row_count + pieces->count + 1;
    pass->sample = (struct lode_sampling){.piece = pass->sample.piece};
    chosen->places = calloc(places, sizeof *chosen->places);
    LODE_TRY_ALLOC(chosen->places, error);
    chosen->groups = calloc(places, sizeof *chosen->groups);
    LODE_TRY_ALLOC(chosen->groups, error);
    lode_array_init(&self.parts, sizeof(struct part), SIZE_MAX);
    lode_status status = list_parts(&self, error);
    if (status == LODE_OK)
        status = choose(&self, error);
    lode_array_free(&self.parts);
    return status;
}
