/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Change points of a series: E-divisive (Matteson and James), with Student's t test in place of
 * permutations, so that results are deterministic, and in sliding windows, so that an old level
 * does not hide a new one. A first search at 10 times the level finds weak candidates as well,
 * because one change can hide another; then the weakest are dropped one by one.
 */
#include "analysis/statistics/statistics.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/options.h"

#include <lode/private/statistics.h>
#include <math.h>
#include <stdlib.h>

enum {
    DEFAULT_LENGTH = 50,
    DEFAULT_MIN_COUNT = 3,
    WEAKER = 10,    /* times the level: the first search */
    STRONGER = 100, /* of the first search: values up to k, which were chosen to differ */
    PENDING = 64    /* segments that wait; each is at most half of the one before it */
};
#define DEFAULT_LEVEL 0.001

struct lode_change_points {
    size_t count;
    lode_change_point *points;
};

struct search {
    const double *values;
    size_t count;
    lode_change_options options;
    double *across, *left; /* scratch: sums of distances, by index in the segment */
    size_t *found;         /* candidates, sorted at last */
    size_t found_count;
};

struct segment {
    size_t begin, end;
};

/* ---- significance ---- */

/* Student's t test of the values before and after `index`, with equal variances. */
static lode_change_point test_at(const double *values, size_t begin, size_t index, size_t end)
{
    size_t left = index - begin, right = end - index;
    struct moments a = lode_moments_of(values + begin, left), b = lode_moments_of(values + index, right);
    lode_change_point point = {.index = index, .begin = begin, .end = end, .before = a.mean, .after = b.mean};
    double freedom = (double)(left + right) - 2;
    point.p = 1.0;
    if (freedom > 0) {
        double pooled = (a.variance * (double)(left - 1) + b.variance * (double)(right - 1)) / freedom;
        double scale = sqrt(pooled * (1 / (double)left + 1 / (double)right));
        point.p = fmin(1.0, 2 * lode_tail_beyond(fabs(b.mean - a.mean), scale, freedom));
    }
    return point;
}

/* ---- the division of one segment ---- */

/*
 * Q of the division at t of the values up to k: t (k - t) / k times the energy distance of both
 * parts, which needs sums of distances across and inside. Adding value k to the right part changes
 * each by one row of distances, so all (t, k) take quadratic time and linear memory. `end` is k.
 */
static size_t best_division(const struct search *self, struct segment segment, size_t *end)
{
    const double *values = self->values + segment.begin;
    size_t count = segment.end - segment.begin, least = self->options.min_count, best = 0;
    double best_q = 0.0;
    double *across = self->across, *left = self->left;
    left[0] = 0.0; /* left[t]: distances inside the first t values */
    for (size_t t = 1; t < count; t++) {
        left[t] = left[t - 1];
        for (size_t i = 0; i + 1 < t; i++)
            left[t] += fabs(values[i] - values[t - 1]);
    }
    for (size_t t = 0; t <= count; t++)
        across[t] = 0.0;
    for (size_t k = 0; k < count; k++) {
        double row = 0.0; /* distances from value k to the first t */
        double all = 0.0; /* distances inside the first k + 1 */
        for (size_t t = 1; t <= k; t++) {
            row += fabs(values[k] - values[t - 1]);
            across[t] += row;
        }
        all = (k + 1 < count ? left[k + 1] : left[k] + row);
        for (size_t t = least; t + least <= k + 1; t++) {
            double m = (double)t, n = (double)(k + 1 - t);
            double right = fmax(0.0, all - left[t] - across[t]);
            double inside =
                (m > 1 ? left[t] / (m * (m - 1) / 2) : 0.0) + (n > 1 ? right / (n * (n - 1) / 2) : 0.0);
            double q = m * n / (m + n) * (2 / (m * n) * across[t] - inside);
            if (q > best_q) {
                best_q = q;
                best = t;
                *end = segment.begin + k + 1;
            }
        }
    }
    return best ? segment.begin + best : 0;
}

/*
 * Divides a segment until no part has a weak change point. Both the rest of the segment and the
 * values up to k count, so that a change that is taken back later is found as well.
 */
static void search_segment(struct search *self, struct segment segment, double level)
{
    struct segment pending[PENDING];
    size_t waiting = 0;
    pending[waiting++] = segment;
    while (waiting > 0) {
        segment = pending[--waiting];
        if (segment.end - segment.begin < 2 * (size_t)self->options.min_count)
            continue;
        size_t end = segment.end, index = best_division(self, segment, &end);
        if (index == 0 || (test_at(self->values, segment.begin, index, segment.end).p > level &&
                           test_at(self->values, segment.begin, index, end).p > level / STRONGER))
            continue;
        self->found[self->found_count++] = index;
        struct segment parts[] = {{segment.begin, index}, {index, segment.end}};
        /* The smaller part is next, so that few wait. */
        bool is_left_larger = index - segment.begin > segment.end - index;
        pending[waiting++] = parts[is_left_larger ? 0 : 1];
        pending[waiting++] = parts[is_left_larger ? 1 : 0];
    }
}

static int compare_sizes(const void *left, const void *right)
{
    return LODE_COMPARE(*(const size_t *)left, *(const size_t *)right);
}

static void search_all(struct search *self)
{
    size_t length = self->options.length, step = (length + 1) / 2, start = 0;
    double level = fmin(0.5, WEAKER * self->options.level);
    for (;;) {
        size_t end = start + length < self->count ? start + length : self->count;
        size_t before = self->found_count, last = 0;
        search_segment(self, (struct segment){start, end}, level);
        for (size_t i = before; i < self->found_count; i++)
            last = self->found[i] > last ? self->found[i] : last;
        if (end == self->count)
            break;
        start = last > start + step ? last : start + step;
    }
    qsort(self->found, self->found_count, sizeof *self->found, compare_sizes);
    size_t unique = 0;
    for (size_t i = 0; i < self->found_count; i++)
        if (unique == 0 || self->found[i] != self->found[unique - 1])
            self->found[unique++] = self->found[i];
    self->found_count = unique;
}

/* ---- dropping the weakest ---- */

static double relative_change(const lode_change_point *point)
{
    double change = fabs(point->after - point->before), scale = fabs(point->before);
    return scale > 0 ? change / scale : (change > 0 ? HUGE_VAL : 0.0);
}

/* The least significant point; if all are significant, the smallest change. SIZE_MAX: all stay. */
static size_t weakest(const struct lode_change_points *self, const lode_change_options *options)
{
    size_t worst = 0, smallest = 0;
    for (size_t i = 1; i < self->count; i++) {
        if (self->points[i].p > self->points[worst].p)
            worst = i;
        if (relative_change(&self->points[i]) < relative_change(&self->points[smallest]))
            smallest = i;
    }
    if (!(self->points[worst].p < options->level))
        return worst;
    return relative_change(&self->points[smallest]) >= options->min_change ? SIZE_MAX : smallest;
}

static void test_again(const struct search *search, struct lode_change_points *self, size_t i)
{
    size_t begin = i > 0 ? self->points[i - 1].index : 0;
    size_t end = i + 1 < self->count ? self->points[i + 1].index : search->count;
    self->points[i] = test_at(search->values, begin, self->points[i].index, end);
}

static void drop_weak(const struct search *search, struct lode_change_points *self)
{
    for (size_t i = 0; i < search->found_count; i++)
        self->points[i].index = search->found[i];
    self->count = search->found_count;
    for (size_t i = 0; i < self->count; i++)
        test_again(search, self, i);
    while (self->count > 0) {
        size_t index = weakest(self, &search->options);
        if (index == SIZE_MAX)
            break;
        self->count--;
        for (size_t i = index; i < self->count; i++)
            self->points[i] = self->points[i + 1];
        if (index > 0)
            test_again(search, self, index - 1);
        if (index < self->count)
            test_again(search, self, index);
    }
}

/* ---- the public functions ---- */

static lode_status take_options(struct search *self, const lode_change_options *options, lode_error *error)
{
    self->options = (lode_change_options)LODE_CHANGE_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&self->options, options, error));
    if (self->options.level == 0.0)
        self->options.level = DEFAULT_LEVEL;
    if (self->options.length == 0)
        self->options.length = DEFAULT_LENGTH;
    if (self->options.min_count == 0)
        self->options.min_count = DEFAULT_MIN_COUNT;
    LODE_TRY(lode_check_level(self->options.level, error));
    if (self->options.length > LODE_RUNS_MAX || self->options.length < 4 ||
        self->options.min_count > self->options.length / 2 || !(self->options.min_change >= 0))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "length %u must be 4 to %d, and hold both sides of a change point",
                         self->options.length, LODE_RUNS_MAX);
    return LODE_OK;
}

static lode_status find(struct search *self, struct lode_change_points *out, lode_error *error)
{
    size_t slots = (size_t)self->options.length + 1;
    self->across = calloc(slots, sizeof *self->across);
    self->left = calloc(slots, sizeof *self->left);
    /* Sliding windows overlap by half: each index is found twice at most. */
    self->found = calloc(2 * self->count + 1, sizeof *self->found);
    LODE_TRY_ALLOC(self->across && self->left && self->found, error);
    search_all(self);
    out->points = calloc(self->found_count + 1, sizeof *out->points);
    LODE_TRY_ALLOC(out->points, error);
    drop_weak(self, out);
    return LODE_OK;
}

lode_status lode_change_points_find(lode_change_points **out, const double *values, size_t count,
                                    const lode_change_options *options, lode_error *error)
{
    struct search self = {.values = values, .count = count};
    *out = NULL;
    LODE_TRY(lode_check_values(values, count, 0, LODE_SERIES_MAX, error));
    LODE_TRY(take_options(&self, options, error));
    lode_change_points *result = calloc(1, sizeof *result);
    LODE_TRY_ALLOC(result, error);
    lode_status status = find(&self, result, error);
    free(self.across);
    free(self.left);
    free(self.found);
    if (status == LODE_OK)
        *out = result;
    else
        lode_change_points_free(result);
    return status;
}

void lode_change_points_free(lode_change_points *points)
{
    if (points == NULL)
        return;
    free(points->points);
    free(points);
}

size_t lode_change_points_count(const lode_change_points *points)
{
    return points->count;
}

const lode_change_point *lode_change_points_at(const lode_change_points *points, size_t index)
{
    return index < points->count ? &points->points[index] : NULL;
}
