/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The normal distribution and Student's t. The tail of t is the incomplete beta function, by its
 * continued fraction; quantiles are found by bisection of the tail, so that they are as exact as it
 * is. lgamma of the C library writes a global variable, so this has its own.
 */
#include "analysis/statistics/log_gamma.h"
#include "analysis/statistics/statistics.h"

#include <float.h>
#include <lode/private/statistics.h>
#include <math.h>

enum {
    FRACTION_STEPS = 20000, /* it converges in O(sqrt(freedom)) steps */
    BISECTIONS = 2200       /* more than the exponents and bits of a double */
};

#define HALF_LOG_2PI    0.91893853320467274178
#define SQRT_HALF       0.70710678118654752440
#define EXACT_LOGARITHM 1e-14 /* tails are not known better */
#define NORMAL_FREEDOM  1e8   /* from here on, t and the normal distribution agree to 1e-8 */

/* Stirling's series, after moving x to where it converges. */
double lode_log_gamma(double x)
{
    double product = 1.0;
    while (x < 12.0) {
        product *= x;
        x += 1.0;
    }
    double inverse = 1.0 / x, square = inverse * inverse;
    double series =
        inverse *
        (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))));
    return (x - 0.5) * log(x) - x + HALF_LOG_2PI + series - log(product);
}

static double away_from_zero(double value)
{
    return fabs(value) < DBL_MIN ? DBL_MIN : value;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), result = d;
    for (int step = 1; step <= FRACTION_STEPS; step++) {
        double m = step;
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        result *= c * d;
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        result *= c * d;
        if (fabs(c * d - 1.0) < 4 * DBL_EPSILON)
            break;
    }
    return result;
}

/* The regularised incomplete beta function of x; `rest` is 1 - x without its rounding error. */
static double incomplete_beta(double a, double b, double x, double rest)
{
    if (x <= 0.0)
        return 0.0;
    if (rest <= 0.0)
        return 1.0;
    double front =
        exp(lode_log_gamma(a + b) - lode_log_gamma(a) - lode_log_gamma(b) + a * log(x) + b * log(rest));
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, rest) / b;
}

/* P(T > t) for t >= 0. */
static double student_tail(double t, double freedom)
{
    if (freedom > NORMAL_FREEDOM)
        return 0.5 * erfc(t * SQRT_HALF);
    double square = t * t;
    if (isinf(square)) /* freedom / square would be 0; the tail still is a number */
        return t > DBL_MAX ? 0.0
                           : 0.5 * exp(-freedom * (log(t) - 0.5 * log(freedom)) -
                                       (lode_log_gamma(freedom / 2) + lode_log_gamma(0.5) -
                                        lode_log_gamma((freedom + 1) / 2)) -
                                       log(freedom / 2));
    double sum = freedom + square;
    return 0.5 * incomplete_beta(freedom / 2, 0.5, freedom / sum, square / sum);
}

double lode_normal_cdf(double z)
{
    return 0.5 * erfc(-z * SQRT_HALF);
}

double lode_student_cdf(double t, double freedom)
{
    if (isnan(t) || !(freedom > 0))
        return (double)NAN;
    return t < 0 ? student_tail(-t, freedom) : 1.0 - student_tail(t, freedom);
}

/* The t with P(T > t) = tail, for 0 < tail < 0.5: by chords, every third step by halves. */
static double tail_quantile(double tail, double freedom)
{
    double low = 0.0, high = 1.0, above = log(0.5 / tail), below = log(student_tail(high, freedom) / tail);
    while (high < DBL_MAX / 2 && below > 0) {
        low = high;
        above = below;
        high *= 2;
        below = log(student_tail(high, freedom) / tail);
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = low + (high - low) / 2, chord = low + (high - low) * (above / (above - below));
        if (middle <= low || middle >= high)
            break;
        if (i % 3 != 2 && chord > low && chord < high)
            middle = chord;
        double at = log(student_tail(middle, freedom) / tail);
        if (at > 0) {
            low = middle;
            above = at;
        } else {
            high = middle;
            below = at;
        }
        if (fabs(at) < EXACT_LOGARITHM)
            return middle;
    }
    return high;
}

double lode_student_quantile(double p, double freedom)
{
    if (!(p > 0 && p < 1) || !(freedom > 0))
        return (double)NAN;
    if (p == 0.5)
        return 0.0;
    return p < 0.5 ? -tail_quantile(p, freedom) : tail_quantile(1.0 - p, freedom);
}

double lode_normal_quantile(double p)
{
    return lode_student_quantile(p, HUGE_VAL);
}
