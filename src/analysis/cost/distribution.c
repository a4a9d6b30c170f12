/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/bytes.h"
#include <lode/distribution.h>
#include <lode/unstable/bins.h>
#include <math.h>
#include <stdlib.h>

enum {
    DIGIT_BITS = 11,
    DIGITS = 6,        /* passes for 64 bits */
    RADIX_LEAST = 2048 /* below this, comparison sort is as fast */
};

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Bits that sort like the numbers: negative ones inverted. */
static uint64_t ordered_bits(double value)
{
    uint64_t bits = bits_of_f64(value);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static size_t digit_of(double value, unsigned digit)
{
    return (size_t)(ordered_bits(value) >> digit * DIGIT_BITS & ((1u << DIGIT_BITS) - 1));
}

/* One pass of a radix sort. */
static void sort_by_digit(double *to, const double *from, size_t count, unsigned digit)
{
    size_t starts[(1u << DIGIT_BITS) + 1] = {0};
    for (size_t i = 0; i < count; i++)
        starts[digit_of(from[i], digit) + 1]++;
    for (size_t i = 1; i <= 1u << DIGIT_BITS; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(from[i], digit)]++] = from[i];
}

/* Radix sort: 100,000 profiles are common, and sorting dominates `lode context`. */
static void sort_doubles(double *values, size_t count)
{
    double *other = count >= RADIX_LEAST ? malloc(count * sizeof *other) : NULL;
    if (other == NULL) {
        qsort(values, count, sizeof *values, compare_doubles);
        return;
    }
    for (unsigned digit = 0; digit < DIGITS; digit += 2) {
        sort_by_digit(other, values, count, digit);
        sort_by_digit(values, other, count, digit + 1);
    }
    free(other);
}

static double percentile(const double *sorted, size_t count, double share)
{
    double position = share * (double)(count - 1);
    size_t below = (size_t)position;
    double fraction = position - (double)below;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

void lode_distribution_of(lode_distribution *out, double *values, size_t count)
{
    *out = (lode_distribution){.count = count};
    if (count == 0)
        return;
    sort_doubles(values, count);
    for (size_t i = 0; i < count; i++)
        out->sum += values[i];
    out->mean = out->sum / (double)count;
    double squares = 0.0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - out->mean) * (values[i] - out->mean);
    out->stddev = sqrt(squares / (double)count);
    out->min = values[0];
    out->max = values[count - 1];
    out->p5 = percentile(values, count, 0.05);
    out->p25 = percentile(values, count, 0.25);
    out->p50 = percentile(values, count, 0.50);
    out->p75 = percentile(values, count, 0.75);
    out->p95 = percentile(values, count, 0.95);
    out->p99 = percentile(values, count, 0.99);
    out->imbalance = out->mean != 0.0 ? out->max / out->mean - 1.0 : 0.0;
}

void lode_histogram_of(uint64_t *bins, size_t bin_count, double min, double max, const double *values,
                       size_t count)
{
    for (size_t i = 0; i < bin_count; i++)
        bins[i] = 0;
    for (size_t i = 0; i < count && bin_count > 0; i++) {
        double position = max > min ? (values[i] - min) / (max - min) * (double)bin_count : 0.0;
        if (!(position >= 0.0))
            continue;
        bins[position < (double)bin_count ? (size_t)position : bin_count - 1]++;
    }
}
