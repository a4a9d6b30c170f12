/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares with intervals, quantiles, Fisher's exact test, rank correlation. */
#include "analysis/diagnose/requests/facts.h"

#include "analysis/statistics/log_gamma.h"
#include <math.h>
#include <stdlib.h>

#define NORMAL_95 1.959963984540054
#define TERM_MIN  1e-17 /* smaller terms do not change a sum */

struct share lode_diagnose_request_share(const struct request_facts *facts, const struct part *part)
{
    double n = facts->count, ratio = facts->total > 0 ? part->sum / facts->total : 0;
    double spread = part->squares - 2 * ratio * part->products + ratio * ratio * facts->squares;
    double half =
        n > 1 && facts->total > 0 ? NORMAL_95 * sqrt(fmax(0, spread) * n / (n - 1)) / facts->total : 1;
    return (struct share){ratio, fmax(0, ratio - half), fmin(1, ratio + half)};
}

struct share lode_diagnose_count_share(double count, double total)
{
    if (total <= 0)
        return (struct share){0, 0, 1};
    double p = count / total, z = NORMAL_95, scale = 1 + z * z / total;
    double middle = (p + z * z / (2 * total)) / scale;
    double half = z * sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / scale;
    return (struct share){p, fmax(0, middle - half), fmin(1, middle + half)};
}

double lode_diagnose_quantile_of_sorted(const uint64_t *values, size_t count, double q)
{
    if (count == 0)
        return 0;
    double at = q * (double)(count - 1), below = floor(at);
    size_t index = (size_t)below;
    double low = (double)values[index], high = (double)values[index + 1 < count ? index + 1 : index];
    return low + (at - below) * (high - low);
}

static double log_choose(uint64_t n, uint64_t k)
{
    return lode_log_gamma((double)n + 1) - lode_log_gamma((double)k + 1) -
           lode_log_gamma((double)(n - k) + 1);
}

/* The probability of k hits or more, for k above the mean: terms fall. */
static double upper_tail(uint64_t hits, uint64_t size, uint64_t marked, uint64_t total)
{
    uint64_t most = size < marked ? size : marked;
    double sum = 0, others = (double)(total - marked) - (double)size;
    double term =
        exp(log_choose(marked, hits) + log_choose(total - marked, size - hits) - log_choose(total, size));
    for (uint64_t k = hits; k <= most && term > sum * TERM_MIN; k++) {
        sum += term;
        term *= ((double)(marked - k) * (double)(size - k)) / ((double)(k + 1) * (others + (double)k + 1));
    }
    return sum;
}

double lode_diagnose_hypergeometric_tail(uint64_t hits, uint64_t size, uint64_t marked, uint64_t total)
{
    uint64_t least = size + marked > total ? size + marked - total : 0;
    uint64_t most = size < marked ? size : marked;
    if (hits <= least)
        return 1;
    if (hits > most)
        return 0;
    if ((double)hits > (double)size * (double)marked / (double)total)
        return fmin(1, upper_tail(hits, size, marked, total));
    /* At most hits - 1 marked ones are at least so many others. */
    return fmax(0, 1 - upper_tail(size - (hits - 1), size, total - marked, total));
}

/* ---- ranks ---- */

struct ranked {
    double value;
    size_t index;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* Mean ranks, from 1. */
static void rank(struct ranked *scratch, const double *values, size_t count, double *ranks)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = (struct ranked){values[i], i};
    qsort(scratch, count, sizeof *scratch, compare_ranked);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && scratch[end].value == scratch[i].value;)
            end++;
        for (size_t k = i; k < end; k++)
            ranks[scratch[k].index] = (double)(i + end + 1) / 2;
    }
}

static double correlate(const double *x, const double *y, size_t count)
{
    double mean = ((double)count + 1) / 2, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < count; i++) {
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
        xy += (x[i] - mean) * (y[i] - mean);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

lode_status lode_diagnose_rank_correlation(double *out, const double *x, const double *y, size_t count,
                                           lode_error *error)
{
    struct ranked *scratch = calloc(count + 1, sizeof *scratch);
    double *ranks = calloc(2 * count + 1, sizeof *ranks);
    bool done = scratch && ranks;
    *out = 0;
    if (done && count > 1) {
        rank(scratch, x, count, ranks);
        rank(scratch, y, count, ranks + count);
        *out = correlate(ranks, ranks + count, count);
    }
    free(scratch);
    free(ranks);
    return done ? LODE_OK : lode_fail_memory(error);
}
