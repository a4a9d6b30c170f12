/* SPDX-License-Identifier: BSD-3-Clause */
/* Drawing the rows of a timeline, whatever they come from. */
#include "analysis/timeline.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static bool grow(uint32_t **small, uint32_t before, uint32_t after)
{
    uint32_t *items = realloc(*small, after * sizeof *items);
    if (items == NULL)
        return false;
    memset(items + before, 0, (after - before) * sizeof *items);
    *small = items;
    return true;
}

static bool grow_wide(uint64_t **wide, uint32_t before, uint32_t after)
{
    uint64_t *items = realloc(*wide, after * sizeof *items);
    if (items == NULL)
        return false;
    memset(items + before, 0, (after - before) * sizeof *items);
    *wide = items;
    return true;
}

bool lode_timeline_reserve(struct lode_timeline_tally *tally, uint32_t keys)
{
    uint32_t before = tally->capacity, after = before;
    if (keys <= before)
        return true;
    while (after < keys)
        after = after > UINT32_MAX / 2 ? UINT32_MAX : after ? after * 2 : keys;
    if (!grow_wide(&tally->nanoseconds, before, after) || !grow_wide(&tally->samples, before, after) ||
        !grow_wide(&tally->in_bin, before, after) || !grow(&tally->touched, before, after))
        return false;
    tally->capacity = after;
    return true;
}

lode_status lode_timeline_prepare(lode_timeline *timeline, unsigned columns, unsigned workers,
                                  struct lode_timeline_tally **tallies, lode_error *error)
{
    timeline->columns = columns ? columns : 1;
    timeline->cells = calloc((size_t)timeline->window.count * timeline->columns + 1, sizeof *timeline->cells);
    *tallies = aligned_alloc(LODE_TIMELINE_ALIGN, workers * sizeof **tallies);
    if (*tallies)
        memset(*tallies, 0, workers * sizeof **tallies);
    LODE_TRY_ALLOC(timeline->cells && *tallies, error);
    return LODE_OK;
}

void lode_timeline_tallies_free(struct lode_timeline_tally *tallies, unsigned workers)
{
    for (unsigned w = 0; tallies && w < workers; w++) {
        free(tallies[w].nanoseconds);
        free(tallies[w].samples);
        free(tallies[w].in_bin);
        free(tallies[w].touched);
    }
    free(tallies);
}

/* ---- rows ---- */

static uint64_t column_end(const lode_timeline *timeline, unsigned column)
{
    long double span = (long double)(timeline->window.to - timeline->window.from);
    if (column + 1 >= timeline->columns)
        return timeline->window.to;
    return timeline->window.from + (uint64_t)(span * (column + 1) / timeline->columns);
}

static void bin_add(struct lode_timeline_tally *tally, uint32_t key, uint64_t nanoseconds)
{
    if (tally->in_bin[key] == 0)
        tally->touched[tally->touched_count++] = key;
    tally->in_bin[key] += nanoseconds;
}

/* The key with the largest part of the bin, plus 1; 0 if none. Clears the bin. */
static int32_t bin_take(struct lode_timeline_tally *tally, bool is_by_key)
{
    uint32_t best = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < tally->touched_count; i++) {
        uint32_t key = tally->touched[i];
        if (tally->in_bin[key] > most || (is_by_key && tally->in_bin[key] == most && key < best)) {
            best = key;
            most = tally->in_bin[key];
        }
        tally->in_bin[key] = 0;
    }
    tally->touched_count = 0;
    return most > 0 ? (int32_t)best + 1 : 0;
}

struct lode_pen lode_pen_begin(const lode_timeline *timeline, struct lode_timeline_tally *tally, uint32_t row)
{
    return (struct lode_pen){.timeline = timeline,
                             .tally = tally,
                             .cells = timeline->cells + (size_t)row * timeline->columns,
                             .edge = column_end(timeline, 0)};
}

void lode_pen_draw(struct lode_pen *pen, uint32_t key, const struct lode_window_sample *sample)
{
    struct lode_timeline_tally *tally = pen->tally;
    tally->samples[key] += sample->begins;
    tally->sample_count += sample->begins;
    if (sample->from < sample->to)
        tally->nanoseconds[key] += sample->to - sample->from;
    for (uint64_t from = sample->from; from < sample->to;) {
        while (from >= pen->edge && pen->column + 1 < pen->timeline->columns) {
            pen->cells[pen->column++] = bin_take(tally, pen->is_by_key);
            pen->edge = column_end(pen->timeline, pen->column);
        }
        uint64_t stop = sample->to < pen->edge ? sample->to : pen->edge;
        bin_add(tally, key, stop - from);
        from = stop;
    }
}

void lode_pen_end(struct lode_pen *pen)
{
    pen->cells[pen->column] = bin_take(pen->tally, pen->is_by_key);
}

/* ---- shares ---- */

struct ranked {
    lode_timeline_share share;
    uint32_t key, rank;
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

static uint64_t sum_of(const struct lode_timeline_tally *tallies, unsigned workers, uint32_t key,
                       uint64_t *samples)
{
    uint64_t nanoseconds = 0;
    *samples = 0;
    for (unsigned w = 0; w < workers; w++)
        if (key < tallies[w].capacity) {
            nanoseconds += tallies[w].nanoseconds[key];
            *samples += tallies[w].samples[key];
        }
    return nanoseconds;
}

static void place_shares(lode_timeline *timeline, const struct ranked *items, int32_t *place_of)
{
    for (size_t i = 0; i < timeline->share_count; i++) {
        timeline->shares[i] = items[i].share;
        place_of[items[i].key] = (int32_t)i;
    }
    for (size_t i = 0; i < (size_t)timeline->window.count * timeline->columns; i++)
        timeline->cells[i] = timeline->cells[i] ? place_of[timeline->cells[i] - 1] : -1;
}

lode_status lode_timeline_finish(lode_timeline *timeline, const struct lode_timeline_tally *tallies,
                                 unsigned workers, lode_key_share share_of, lode_key_rank rank_of, void *user,
                                 lode_error *error)
{
    uint32_t keys = 0;
    for (unsigned w = 0; w < workers; w++) {
        keys = tallies[w].capacity > keys ? tallies[w].capacity : keys;
        timeline->samples += tallies[w].sample_count;
    }
    struct ranked *items = calloc((size_t)keys + 1, sizeof *items);
    int32_t *place_of = calloc((size_t)keys + 1, sizeof *place_of);
    timeline->shares = calloc((size_t)keys + 1, sizeof *timeline->shares);
    bool has_memory = items && place_of && timeline->shares;
    for (uint32_t key = 0; has_memory && key < keys; key++) {
        uint64_t samples, nanoseconds = sum_of(tallies, workers, key, &samples);
        if (nanoseconds == 0 && samples == 0)
            continue;
        struct ranked *item = &items[timeline->share_count++];
        *item = (struct ranked){share_of(user, key), key, rank_of(user, key)};
        item->share.nanoseconds = nanoseconds;
        item->share.samples = samples;
    }
    if (has_memory) {
        qsort(items, timeline->share_count, sizeof *items, compare_shares);
        place_shares(timeline, items, place_of);
    }
    free(items);
    free(place_of);
    return has_memory ? LODE_OK : lode_fail_memory(error);
}
