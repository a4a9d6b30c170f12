/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Mann-Whitney U test. Without ties, the distribution of U is the coefficients of a Gaussian
 * binomial; with ties, the number of ways to choose mid-ranks of each sum. All counts are below
 * C(40, 20), so that 64 bits hold them exactly.
 */
#include "analysis/statistics/statistics.h"
#include "base/compare.h"
#include "base/error.h"

#include <lode/private/statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    U_SLOTS = LODE_U_EXACT * LODE_U_EXACT + 1
};

struct pooled {
    double value;
    uint32_t is_new;
    uint32_t rank; /* twice the mid-rank, from 2 on */
};

LODE_COMPARE_BY(compare_pooled, struct pooled, value);

/* The number of arrangements with each u, without ties; returns their sum. */
static double count_untied(uint64_t counts[U_SLOTS], size_t base_count, size_t new_count)
{
    size_t top = base_count * new_count;
    memset(counts, 0, U_SLOTS * sizeof *counts);
    counts[0] = 1;
    double total = 1.0;
    for (size_t i = 1; i <= new_count; i++) {
        /* times (1 - q^(base_count + i)) / (1 - q^i) */
        for (size_t u = top; u >= base_count + i; u--)
            counts[u] -= counts[u - base_count - i];
        for (size_t u = i; u <= top; u++)
            counts[u] += counts[u - i];
        total = total * (double)(base_count + i) / (double)i;
    }
    return total;
}

double lode_u_critical(size_t base_count, size_t new_count, double tail)
{
    double pairs = (double)base_count * (double)new_count;
    if (base_count > LODE_U_EXACT || new_count > LODE_U_EXACT) {
        double deviation = sqrt(pairs * (double)(base_count + new_count + 1) / 12);
        return floor(pairs / 2 + lode_normal_quantile(tail) * deviation - 0.5);
    }
    uint64_t counts[U_SLOTS];
    double total = count_untied(counts, base_count, new_count), sum = 0.0, critical = -1.0;
    for (size_t u = 0; u <= base_count * new_count; u++) {
        sum += (double)counts[u];
        if (sum > tail * total)
            break;
        critical = (double)u;
    }
    return critical;
}

double lode_u_test_smallest_p(size_t base_count, size_t new_count)
{
    if (base_count == 0 || new_count == 0 || base_count > LODE_RUNS_MAX || new_count > LODE_RUNS_MAX)
        return (double)NAN;
    double ways = 1.0;
    for (size_t i = 1; i <= new_count; i++)
        ways = ways * (double)(base_count + i) / (double)i;
    return 2.0 / ways;
}

/* ---- ranks ---- */

/* Fills in ranks; returns the sum of t^3 - t over groups of t equal values. */
static double rank_all(struct pooled *pooled, size_t count)
{
    double ties = 0.0;
    qsort(pooled, count, sizeof *pooled, compare_pooled);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && pooled[end].value == pooled[i].value)
            end++;
        for (size_t j = i; j < end; j++)
            pooled[j].rank = (uint32_t)(i + 1 + end);
        double size = (double)(end - i);
        ties += size * size * size - size;
        i = end;
    }
    return ties;
}

static void set_p(lode_u_test *out, double less, double greater)
{
    out->p_less = fmin(1.0, less);
    out->p_greater = fmin(1.0, greater);
    out->p = fmin(1.0, 2 * fmin(less, greater));
}

static void normal_p(lode_u_test *out, double base_count, double new_count, double ties)
{
    double count = base_count + new_count, pairs = base_count * new_count;
    double deviation = sqrt(pairs / 12 * (count + 1 - ties / (count * (count - 1))));
    double distance = out->u - pairs / 2;
    if (!(deviation > 0)) {
        set_p(out, 1.0, 1.0);
        return;
    }
    set_p(out, lode_normal_cdf((distance + 0.5) / deviation), lode_normal_cdf((0.5 - distance) / deviation));
}

static void untied_p(lode_u_test *out, size_t base_count, size_t new_count)
{
    uint64_t counts[U_SLOTS];
    double total = count_untied(counts, base_count, new_count), less = 0.0, greater = 0.0;
    for (size_t u = 0; u <= base_count * new_count; u++) {
        less += (double)u <= out->u ? (double)counts[u] : 0.0;
        greater += (double)u >= out->u ? (double)counts[u] : 0.0;
    }
    set_p(out, less / total, greater / total);
}

/* Counts the ways to choose `new_count` of the mid-ranks, by their sum. */
static lode_status tied_p(lode_u_test *out, const struct pooled *pooled, size_t count, size_t new_count,
                          lode_error *error)
{
    size_t width = 1, chosen = 0;
    for (size_t i = 0; i < count; i++) {
        width += i + new_count >= count ? pooled[i].rank : 0;
        chosen += pooled[i].is_new ? pooled[i].rank : 0;
    }
    uint64_t *ways = calloc((new_count + 1) * width, sizeof *ways);
    LODE_TRY_ALLOC(ways, error);
    ways[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t size = i + 1 < new_count ? i + 1 : new_count; size > 0; size--)
            for (size_t sum = pooled[i].rank; sum < width; sum++)
                ways[size * width + sum] += ways[(size - 1) * width + sum - pooled[i].rank];
    double less = 0.0, greater = 0.0, total = 0.0;
    for (size_t sum = 0; sum < width; sum++) {
        double number = (double)ways[new_count * width + sum];
        total += number;
        less += sum <= chosen ? number : 0.0;
        greater += sum >= chosen ? number : 0.0;
    }
    free(ways);
    set_p(out, less / total, greater / total);
    return LODE_OK;
}

static void pool_values(struct pooled *pooled, const double *values, size_t count, uint32_t is_new)
{
    for (size_t i = 0; i < count; i++)
        pooled[i] = (struct pooled){.value = values[i], .is_new = is_new};
}

lode_status lode_u_test_compute(lode_u_test *out, const double *base, size_t base_count,
                                const double *new_values, size_t new_count, lode_error *error)
{
    LODE_TRY(lode_check_values(base, base_count, 1, LODE_RUNS_MAX, error));
    LODE_TRY(lode_check_values(new_values, new_count, 1, LODE_RUNS_MAX, error));
    struct pooled pooled[2 * LODE_RUNS_MAX];
    size_t count = base_count + new_count;
    pool_values(pooled, base, base_count, 0);
    pool_values(pooled + base_count, new_values, new_count, 1);
    double ties = rank_all(pooled, count), ranks = 0.0;
    for (size_t i = 0; i < count; i++)
        ranks += pooled[i].is_new ? pooled[i].rank : 0.0;
    lode_u_test result = {.u = ranks / 2 - (double)new_count * (double)(new_count + 1) / 2};
    result.is_exact = base_count <= LODE_U_EXACT && new_count <= LODE_U_EXACT;
    if (!result.is_exact)
        normal_p(&result, (double)base_count, (double)new_count, ties);
    else if (ties == 0.0)
        untied_p(&result, base_count, new_count);
    else
        LODE_TRY(tied_p(&result, pooled, count, new_count, error));
    *out = result;
    return LODE_OK;
}
