/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of the form of Extra-P: how a cost grows with the number of processes. */
#include "analysis/statistics/statistics.h"
#include "base/compare.h"
#include "base/error.h"

#include <lode/private/statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Exponents of Extra-P's default search, the constant first, simpler ones before others. */
static const struct exponents {
    int numerator, denominator, logarithms;
} hypotheses[] = {
    {0, 1, 0}, {0, 1, 1}, {0, 1, 2}, {1, 4, 0}, {1, 3, 0},  {1, 4, 1}, {1, 3, 1}, {1, 4, 2}, {1, 3, 2},
    {1, 2, 0}, {1, 2, 1}, {1, 2, 2}, {2, 3, 0}, {3, 4, 0},  {2, 3, 1}, {3, 4, 1}, {4, 5, 0}, {2, 3, 2},
    {3, 4, 2}, {1, 1, 0}, {1, 1, 1}, {1, 1, 2}, {5, 4, 0},  {5, 4, 1}, {4, 3, 0}, {4, 3, 1}, {3, 2, 0},
    {3, 2, 1}, {3, 2, 2}, {5, 3, 0}, {7, 4, 0}, {2, 1, 0},  {2, 1, 1}, {2, 1, 2}, {9, 4, 0}, {7, 3, 0},
    {5, 2, 0}, {5, 2, 1}, {5, 2, 2}, {8, 3, 0}, {11, 4, 0}, {3, 1, 0}, {3, 1, 1},
};
enum {
    HYPOTHESES = sizeof hypotheses / sizeof *hypotheses
};
_Static_assert(HYPOTHESES == 43, "a constant and 42 pairs");

/* Errors that differ by less than this many percent points are rounding errors. */
#define SAME_ERROR 1e-9

struct size_value {
    double size, value;
};

LODE_COMPARE_BY_2(compare_sizes, struct size_value, size, value);

struct fit {
    double c0, c1;
};

static bool is_constant(const struct exponents *exponents)
{
    return exponents->numerator == 0 && exponents->logarithms == 0;
}

static double term(const struct exponents *exponents, double size)
{
    double power = pow(size, (double)exponents->numerator / exponents->denominator);
    for (int i = 0; i < exponents->logarithms; i++)
        power *= log2(size);
    return power;
}

/* Least squares without row `left_out`; `terms` are of the rows. */
static struct fit fit_terms(const double *terms, const struct size_value *rows, size_t count, size_t left_out)
{
    double number = 0.0, mean_term = 0.0, mean_value = 0.0, products = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++)
        if (i != left_out) {
            number += 1;
            mean_term += terms[i];
            mean_value += rows[i].value;
        }
    mean_term /= number;
    mean_value /= number;
    for (size_t i = 0; i < count; i++)
        if (i != left_out) {
            products += (terms[i] - mean_term) * (rows[i].value - mean_value);
            squares += (terms[i] - mean_term) * (terms[i] - mean_term);
        }
    double slope = squares > 0 ? products / squares : 0.0;
    return (struct fit){mean_value - slope * mean_term, slope};
}

/* The part of one row in the symmetric error, in percent. */
static double symmetric_error(double value, double fitted)
{
    double sum = fabs(value) + fabs(fitted);
    return sum > 0 ? 200 * fabs(value - fitted) / sum : 0.0;
}

struct quality {
    struct fit fit;
    double error, fit_error, residual;
};

static struct quality try_hypothesis(const struct exponents *exponents, double *terms,
                                     const struct size_value *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        terms[i] = is_constant(exponents) ? 0.0 : term(exponents, rows[i].size);
    struct quality quality = {.fit = fit_terms(terms, rows, count, SIZE_MAX)};
    for (size_t i = 0; i < count; i++) {
        struct fit others = fit_terms(terms, rows, count, i);
        double fitted = quality.fit.c0 + quality.fit.c1 * terms[i];
        quality.error += symmetric_error(rows[i].value, others.c0 + others.c1 * terms[i]) / (double)count;
        quality.fit_error += symmetric_error(rows[i].value, fitted) / (double)count;
        quality.residual += (rows[i].value - fitted) * (rows[i].value - fitted);
    }
    return quality;
}

static double adjusted_r2(const struct size_value *rows, size_t count, double residual, bool is_flat)
{
    double mean = 0.0, total = 0.0;
    for (size_t i = 0; i < count; i++)
        mean += rows[i].value / (double)count;
    for (size_t i = 0; i < count; i++)
        total += (rows[i].value - mean) * (rows[i].value - mean);
    if (is_flat || !(total > 0))
        return is_flat && !(total > 0) ? 1.0 : 0.0;
    return 1 - residual / total * (double)(count - 1) / (double)(count - 2);
}

static void choose(lode_model *out, double *terms, const struct size_value *rows, size_t count)
{
    struct quality best = {.error = HUGE_VAL};
    size_t chosen = 0;
    for (size_t i = 0; i < HYPOTHESES; i++) {
        struct quality quality = try_hypothesis(&hypotheses[i], terms, rows, count);
        if (i == 0)
            out->constant_error = quality.error;
        if (quality.error < best.error - SAME_ERROR) {
            best = quality;
            chosen = i;
        }
    }
    const struct exponents *exponents = &hypotheses[chosen];
    out->c0 = best.fit.c0;
    out->c1 = best.fit.c1;
    out->numerator = exponents->numerator;
    out->denominator = exponents->denominator;
    out->logarithms = exponents->logarithms;
    out->sizes = (uint32_t)count;
    out->error = best.error;
    out->fit_error = best.fit_error;
    out->r2 = adjusted_r2(rows, count, best.residual, is_constant(exponents));
}

/* Puts the median of each size in place of its values, which are sorted; returns how many sizes. */
static size_t take_medians(struct size_value *rows, size_t count)
{
    size_t sizes = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && rows[end].size == rows[i].size)
            end++;
        double low = rows[i + (end - i - 1) / 2].value, high = rows[i + (end - i) / 2].value;
        rows[sizes++] = (struct size_value){rows[i].size, low + (high - low) / 2};
        i = end;
    }
    return sizes;
}

lode_status lode_model_fit(lode_model *out, const double *sizes, const double *values, size_t count,
                           lode_error *error)
{
    LODE_TRY(lode_check_values(sizes, count, 1, LODE_RUNS_MAX, error));
    LODE_TRY(lode_check_values(values, count, 1, LODE_RUNS_MAX, error));
    struct size_value rows[LODE_RUNS_MAX];
    double terms[LODE_RUNS_MAX];
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] < 1)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "size %zu is below 1", i);
        rows[i] = (struct size_value){sizes[i], values[i]};
    }
    qsort(rows, count, sizeof *rows, compare_sizes);
    size_t different = take_medians(rows, count);
    if (different < LODE_SIZES_MIN)
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET,
                         "a model needs runs of %d different sizes; there are %zu", LODE_SIZES_MIN,
                         different);
    choose(out, terms, rows, different);
    return LODE_OK;
}

double lode_model_value(const lode_model *model, double size)
{
    struct exponents exponents = {model->numerator, model->denominator, model->logarithms};
    return is_constant(&exponents) ? model->c0 : model->c0 + model->c1 * term(&exponents, size);
}

size_t lode_model_text(const lode_model *model, char *buffer, size_t capacity)
{
    char power[32] = "", logarithm[32] = "";
    int length;
    if (model->denominator != 1 && model->numerator != 0)
        (void)snprintf(power, sizeof power, " p^(%d/%d)", model->numerator, model->denominator);
    else if (model->numerator > 1)
        (void)snprintf(power, sizeof power, " p^%d", model->numerator);
    else if (model->numerator == 1)
        (void)snprintf(power, sizeof power, " p");
    if (model->logarithms == 1)
        (void)snprintf(logarithm, sizeof logarithm, " log2(p)");
    else if (model->logarithms > 1)
        (void)snprintf(logarithm, sizeof logarithm, " log2(p)^%d", model->logarithms);
    if (power[0] == '\0' && logarithm[0] == '\0')
        length = snprintf(buffer, capacity, "%.3g", model->c0);
    else
        length = snprintf(buffer, capacity, "%.3g %c %.3g%s%s", model->c0, model->c1 < 0 ? '-' : '+',
                          fabs(model->c1), power, logarithm);
    return length > 0 ? (size_t)length : 0;
}
