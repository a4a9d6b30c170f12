/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of time, whatever they come from. */
#include "analysis/time/raster.h"

#include "base/error.h"
#include "base/memory/array.h"
#include <stdlib.h>
#include <string.h>

#define STRIPE_ROWS 32

/* ---- memory ---- */

bool lode_raster_reserve(struct lode_raster_tally *tally, uint32_t count)
{
    uint32_t before = tally->capacity, after = before;
    if (count <= before)
        return true;
    while (after < count)
        after = after > UINT32_MAX / 2 ? UINT32_MAX : after ? after * 2 : count;
    if (!lode_grow(&tally->bins, before, after, sizeof *tally->bins, true) ||
        !lode_grow(&tally->sums, before, after, sizeof *tally->sums, true) ||
        !lode_grow(&tally->is_idle, before, after, sizeof *tally->is_idle, true) ||
        !lode_grow(&tally->touched, before ? (size_t)before + 1 : 0, (size_t)after + 1,
                   sizeof *tally->touched, true))
        return false;
    tally->capacity = after;
    return true;
}

lode_status lode_raster_prepare(lode_picture *picture, unsigned workers, struct lode_raster_tally **tallies,
                                lode_error *error)
{
    size_t cells = (size_t)picture->rows * picture->options.columns;
    picture->cells = calloc(cells + 1, sizeof *picture->cells);
    *tallies = aligned_alloc(LODE_RASTER_ALIGN, workers * sizeof **tallies);
    if (*tallies)
        memset(*tallies, 0, workers * sizeof **tallies);
    LODE_TRY_ALLOC(picture->cells && *tallies, error);
    if (picture->has_keys) {
        picture->fills = calloc(cells + 1, 1);
        picture->keys = calloc(cells + 1, 1);
        LODE_TRY_ALLOC(picture->fills && picture->keys, error);
    }
    picture->progress.total = picture->rows;
    return LODE_OK;
}

void lode_raster_tallies_free(struct lode_raster_tally *tallies, unsigned workers)
{
    for (unsigned w = 0; tallies && w < workers; w++) {
        free(tallies[w].bins);
        free(tallies[w].sums);
        free(tallies[w].is_idle);
        free(tallies[w].touched);
    }
    free(tallies);
}

/* ---- cells ---- */

/* The time of all lines of a cell. */
static lode_raster_wide area_of(const lode_picture *picture, uint32_t row, unsigned column)
{
    uint64_t begin = column ? raster_edge(picture, column - 1) : picture->window.from;
    uint32_t lines = raster_row_begin(picture, row + 1) - raster_row_begin(picture, row);
    return (lode_raster_wide)(raster_edge(picture, column) - begin) * lines;
}

static uint8_t fill_of(uint64_t nanoseconds, lode_raster_wide area)
{
    /* More than all: times that go back. */
    uint64_t fill =
        nanoseconds >= area ? UINT8_MAX : (uint64_t)((lode_raster_wide)nanoseconds * UINT8_MAX / area);
    return fill ? (uint8_t)fill : 1;
}

void lode_raster_set(lode_picture *picture, uint32_t row, unsigned column, uint32_t number,
                     uint64_t nanoseconds)
{
    size_t cell = (size_t)row * picture->options.columns + column;
    picture->cells[cell] = number + 1;
    if (picture->fills)
        picture->fills[cell] = fill_of(nanoseconds, area_of(picture, row, column));
}

/* Empties a bin into its sum; returns its time. */
static inline uint64_t empty_bin(const struct lode_raster_tally *tally, uint32_t number)
{
    struct lode_raster_bin bin = tally->bins[number];
    tally->bins[number] = (struct lode_raster_bin){0};
    tally->sums[number].nanoseconds += bin.nanoseconds;
    tally->sums[number].samples += bin.samples;
    return bin.nanoseconds;
}

void lode_raster_flush(struct lode_raster_tally *tally)
{
    for (uint32_t i = 0; i < tally->touched_count; i++)
        (void)empty_bin(tally, tally->touched[i]);
    tally->touched_count = 0;
}

/* What has most time; 0 if nothing has any. */
struct winner {
    uint64_t most;
    uint32_t number;
};

static inline struct winner winner_of(struct winner before, uint64_t time, uint32_t number, bool by_number)
{
    bool wins = (time > before.most) | (by_number & (time == before.most) & (number < before.number));
    return wins ? (struct winner){time, number} : before;
}

/* One pass for all: bins are all over a cache, and each is empty afterwards. */
void lode_raster_close(lode_picture *picture, struct lode_raster_tally *tally, uint32_t row, unsigned column,
                       bool is_by_number)
{
    const bool idle_last = picture->options.idle == LODE_PICTURE_IDLE_LAST;
    struct winner best = {0}, idle = {0};
    for (uint32_t i = 0; i < tally->touched_count; i++) {
        uint32_t number = tally->touched[i];
        uint64_t time = empty_bin(tally, number);
        if (idle_last && tally->is_idle[number])
            idle = winner_of(idle, time, number, is_by_number);
        else
            best = winner_of(best, time, number, is_by_number);
    }
    tally->touched_count = 0;
    if (best.most == 0)
        best = idle;
    if (best.most > 0)
        lode_raster_set(picture, row, column, best.number, best.most);
}

/* ---- keys ---- */

lode_status lode_raster_take_keys(lode_picture *picture, uint32_t count,
                                  uint32_t (*number_of)(void *user, const lode_picture_share *share),
                                  void *user, lode_error *error)
{
    const lode_picture *keys = picture->options.keys;
    if (keys == NULL)
        return LODE_OK;
    picture->key_of = malloc((size_t)count + 1);
    LODE_TRY_ALLOC(picture->key_of, error);
    memset(picture->key_of, LODE_PICTURE_OTHERS, (size_t)count + 1);
    picture->key_count = count;
    for (size_t i = 0; i < keys->share_count; i++) {
        uint32_t number = number_of(user, &keys->shares[i]);
        if (number < count)
            picture->key_of[number] = (uint8_t)keys->shares[i].key;
    }
    return LODE_OK;
}

static uint8_t given_key(const lode_picture *picture, uint32_t number)
{
    return number < picture->key_count ? picture->key_of[number] : LODE_PICTURE_OTHERS;
}

lode_status lode_raster_finish_row(lode_picture *picture, uint32_t row, lode_error *error)
{
    const lode_picture_options *options = &picture->options;
    uint32_t first = row / STRIPE_ROWS * STRIPE_ROWS, end = row + 1;
    if (options->on_stripe && (end == picture->rows || end % STRIPE_ROWS == 0)) {
        size_t begin = (size_t)first * options->columns, stop = (size_t)end * options->columns;
        for (size_t i = begin; i < stop; i++)
            picture->keys[i] =
                picture->cells[i] ? given_key(picture, picture->cells[i] - 1) : LODE_PICTURE_NOTHING;
        if (options->on_stripe(options->user, picture, first, end - first) != 0)
            return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled during: %s",
                             picture->progress.phase);
    }
    return lode_progress_add(&picture->progress, 1, error);
}

/* ---- shares ---- */

struct ranked {
    lode_picture_share share;
    uint32_t number, rank;
};

static int compare_shares(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->share.nanoseconds != b->share.nanoseconds)
        return a->share.nanoseconds > b->share.nanoseconds ? -1 : 1;
    if (a->share.samples != b->share.samples)
        return a->share.samples > b->share.samples ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static struct lode_raster_bin sum_of(const struct lode_raster_tally *tallies, unsigned workers,
                                     uint32_t number)
{
    struct lode_raster_bin sum = {0};
    for (unsigned w = 0; w < workers; w++)
        if (number < tallies[w].capacity) {
            sum.nanoseconds += tallies[w].sums[number].nanoseconds;
            sum.samples += tallies[w].sums[number].samples;
        }
    return sum;
}

/* Not running has a key of its own and takes none away. */
static void give_keys(lode_picture *picture, struct ranked *items)
{
    unsigned next = LODE_PICTURE_FUNCTION;
    for (size_t i = 0; i < picture->share_count; i++) {
        lode_picture_share *share = &items[i].share;
        if (share->is_idle)
            share->key = LODE_PICTURE_NOT_RUNNING;
        else if (picture->options.keys)
            share->key = given_key(picture, items[i].number);
        else
            share->key = (int)(next < LODE_PICTURE_OTHERS ? next++ : LODE_PICTURE_OTHERS);
    }
}

static void place_shares(lode_picture *picture, const struct ranked *items, uint32_t *place_of)
{
    size_t cells = (size_t)picture->rows * picture->options.columns;
    for (size_t i = 0; i < picture->share_count; i++) {
        picture->shares[i] = items[i].share;
        picture->samples += items[i].share.samples;
        place_of[items[i].number] = (uint32_t)i;
    }
    for (size_t i = 0; i < cells; i++) {
        uint32_t cell = picture->cells[i] ? place_of[picture->cells[i] - 1] + 1 : 0;
        picture->cells[i] = cell;
        if (picture->keys)
            picture->keys[i] = cell ? (uint8_t)picture->shares[cell - 1].key : LODE_PICTURE_NOTHING;
    }
}

lode_status lode_raster_finish(lode_picture *picture, const struct lode_raster_tally *tallies,
                               unsigned workers, const struct lode_raster_meaning *meaning, lode_error *error)
{
    uint32_t numbers = 0;
    for (unsigned w = 0; w < workers; w++)
        numbers = tallies[w].capacity > numbers ? tallies[w].capacity : numbers;
    struct ranked *items = calloc((size_t)numbers + 1, sizeof *items);
    uint32_t *place_of = calloc((size_t)numbers + 1, sizeof *place_of);
    picture->shares = calloc((size_t)numbers + 1, sizeof *picture->shares);
    bool has_memory = items && place_of && picture->shares;
    for (uint32_t number = 0; has_memory && number < numbers; number++) {
        struct lode_raster_bin sum = sum_of(tallies, workers, number);
        if ((sum.nanoseconds | sum.samples) == 0)
            continue;
        struct ranked *item = &items[picture->share_count++];
        *item = (struct ranked){meaning->share_of(meaning->user, number), number,
                                meaning->rank_of(meaning->user, number)};
        item->share.nanoseconds = sum.nanoseconds;
        item->share.samples = sum.samples;
    }
    if (has_memory) {
        qsort(items, picture->share_count, sizeof *items, compare_shares);
        give_keys(picture, items);
        place_shares(picture, items, place_of);
    }
    free(items);
    free(place_of);
    return has_memory ? LODE_OK : lode_fail_memory(error);
}
