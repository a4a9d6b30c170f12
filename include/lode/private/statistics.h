/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of runs: one number for each run. Whether two sets of runs differ, by how much, and
 * what they could have shown; where a series changes; how a cost grows with the size of a job.
 *
 * Functions are pure: results depend on the arguments alone, and no random number is drawn.
 * Functions that return double return NaN for arguments without an answer. The others return
 * LODE_ERR_ARGUMENT for values that are no finite numbers and for levels outside (0, 1), and
 * LODE_ERR_LIMIT for more values than stated.
 */
#ifndef LODE_PRIVATE_STATISTICS_H
#define LODE_PRIVATE_STATISTICS_H

#include <lode/status.h>

LODE_BEGIN_DECLS

#define LODE_RUNS_MAX   1000    /* runs of a side */
#define LODE_SERIES_MAX 100000  /* values of a series */
#define LODE_ROWS_MAX   1000000 /* p values that are adjusted together */
#define LODE_U_EXACT    20      /* runs of a side up to which the U test is exact */
#define LODE_SIZES_MIN  5       /* different sizes that a model needs */

/* ---- distributions ---- */

/*
 * The standard normal distribution and Student's t with `freedom` > 0 degrees of freedom: the
 * probability of a value of at most `t`, and its inverse for 0 < p < 1. MT: any thread.
 */
LODE_API double lode_normal_cdf(double z);
LODE_API double lode_normal_quantile(double p);
LODE_API double lode_student_cdf(double t, double freedom);
LODE_API double lode_student_quantile(double p, double freedom);

/* ---- two sets of runs ---- */

/* A number and the interval that has it with probability 1 - level. Ends may be infinite. */
typedef struct lode_estimate {
    double value, low, high;
} lode_estimate;

typedef struct lode_u_test {
    double u;         /* pairs in which the new run is larger; half a pair for equal ones */
    double p;         /* two-sided: twice the smaller of the next two, at most 1 */
    double p_less;    /* probability of such a small u if there is no difference */
    double p_greater; /* of such a large one */
    int is_exact;
} lode_u_test;

/*
 * Mann-Whitney U test. Exact up to LODE_U_EXACT runs on each side, with equal values too: the
 * distribution is that of all ways to choose the new runs from the pooled mid-ranks. Beyond: normal
 * approximation with corrections for ties and continuity. 1 to LODE_RUNS_MAX runs a side. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_u_test_compute(lode_u_test *out, const double *base, size_t base_count,
                                                      const double *new_values, size_t new_count,
                                                      lode_error *error);
/* The smallest two-sided p that so many runs can give: 0.1 for 3 and 3. MT: any thread. */
LODE_API double lode_u_test_smallest_p(size_t base_count, size_t new_count);

/*
 * Welch's t test of the means, which does not take variances for equal: the difference new - base
 * with its interval, and the probability of such a large difference, or a larger one, if the means
 * differ by `shift`. Needs 2 runs a side. `p_greater` may be NULL. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_mean_difference(lode_estimate *out, double *p_greater, double shift,
                                                       const double *base, size_t base_count,
                                                       const double *new_values, size_t new_count,
                                                       double level, lode_error *error);
/*
 * Hodges-Lehmann shift: the median of all differences new - base, and the interval of shifts that
 * the U test does not reject. Infinite ends if so few runs cannot reach the level. Of logarithms,
 * it is the logarithm of a ratio. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_median_shift(lode_estimate *out, const double *base, size_t base_count,
                                                    const double *new_values, size_t new_count, double level,
                                                    lode_error *error);
/*
 * The ratio of means new / base with Fieller's interval, which is infinite if the mean of the base
 * cannot be distinguished from 0. Needs 2 runs a side. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_mean_ratio(lode_estimate *out, const double *base, size_t base_count,
                                                  const double *new_values, size_t new_count, double level,
                                                  lode_error *error);
/*
 * Prediction interval: where one more run would be with probability 1 - level; value is the mean.
 * Needs 2 runs. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_prediction(lode_estimate *out, const double *values, size_t count,
                                                  double level, lode_error *error);
/*
 * The ratio new / base of two sampled costs and the interval of its sampling error alone, from the
 * cost of one sample on each side. Costs and samples must be positive. Noise between runs is not
 * part of it, so that it is a lower bound. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_sampled_ratio(lode_estimate *out, double base, double base_sample,
                                                     double new_value, double new_sample, double level,
                                                     lode_error *error);

/* ---- many rows ---- */

/*
 * Replace p values by adjusted ones, in the same order: a row is significant at a level if its
 * adjusted p is at most that. Holm keeps the probability of any false alarm below the level,
 * Benjamini-Hochberg the expected share of false ones. NaN stays and does not count as a row.
 * LODE_ROWS_MAX at most. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_adjust_holm(double *p, size_t count, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_adjust_benjamini_hochberg(double *p, size_t count, lode_error *error);

/* ---- a judgement ---- */

typedef enum lode_verdict {
    LODE_VERDICT_CANNOT_TELL = 0,
    LODE_VERDICT_SAME = 1, /* any change is within the margin */
    LODE_VERDICT_LESS = 2, /* faster, if the cost is time */
    LODE_VERDICT_MORE = 3
} lode_verdict;

/* Where a verdict comes from. */
typedef enum lode_judge_method {
    LODE_JUDGE_NONE = 0,       /* not tested: one run a side, of which nothing else is known */
    LODE_JUDGE_EXACT = 1,      /* an exact metric: any difference is one */
    LODE_JUDGE_SAMPLING = 2,   /* one run a side: run-to-run noise is not known */
    LODE_JUDGE_PREDICTION = 3, /* one run against several: t test of logarithms */
    LODE_JUDGE_RANKS = 4,      /* no longer used */
    LODE_JUDGE_MEANS = 5       /* several runs a side: t test of logarithms */
} lode_judge_method;

typedef struct lode_judge_options {
    size_t size;
    double level;       /* probability of a false alarm; 0: 0.05 */
    double margin;      /* relative change that counts as none; 0: 0.05 */
    double limit;       /* relative change that p_beyond is about, such as 0.05; 0: none */
    double base_sample; /* cost of one sample; 0: not sampled */
    double new_sample;
    int is_exact; /* calls, instructions, bytes: a difference needs no test */
    int reserved;
} lode_judge_options;
#define LODE_JUDGE_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_judge_options), 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0                                            \
    }

/* How a judgement was made; bits. */
#define LODE_JUDGED_LOG         1u /* on logarithms; else on values: one is not positive */
#define LODE_JUDGED_POOLED      2u /* a row that is too small for a test of its own */
#define LODE_JUDGED_EQUAL_SPEED 4u /* what all rows of a run have in common was taken out */

typedef struct lode_judgement {
    lode_verdict verdict;
    lode_judge_method method;
    double base, new_value; /* geometric means of the runs; means without LODE_JUDGED_LOG */
    lode_estimate ratio;    /* new / base; infinite if the base is 0, 1 if both are 0 */
    double p;               /* two-sided, of no change; NaN if there is no test */
    double p_beyond;        /* that new is not more than (1 + limit) of base; NaN likewise */
    /* The smallest increase that would have been a change: 0.17 is 17 %. May be infinite. */
    double smallest_visible;
    /*
     * Runs a side that would tell, if noise and change stay as they are: 0 if these do or noise is
     * not known, more than LODE_RUNS_MAX if so many would not.
     */
    uint32_t needed_runs;
    uint32_t reserved;
    double deviation;   /* standard error of the logarithm of the ratio, or of the difference */
    double freedom;     /* its degrees of freedom; infinite: it is known */
    double level;       /* of this test; the interval of the ratio is for it */
    double whole_level; /* of all tests of a table; the same if there is one */
    double p_adjusted;  /* at most whole_level if p is at most level */
    uint32_t base_runs; /* that have a value */
    uint32_t new_runs;
    uint32_t flags; /* LODE_JUDGED_ bits */
    uint32_t reserved2;
} lode_judgement;

/*
 * Judges one number a run by a t test of logarithms, because noise of times is relative; of the
 * values themselves if one of them is not positive. Both sides are taken to have the same noise, so
 * that one of them may be a single run. Verdicts LESS and MORE say that the interval of the ratio
 * does not have 1, SAME that it is within the margin. An exact metric is compared as it is if the
 * runs of each side agree, else like any other. 1 to LODE_RUNS_MAX runs a side. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_judge_sized(const double *base, size_t base_count,
                                                   const double *new_values, size_t new_count,
                                                   const lode_judge_options *options, lode_judgement *out,
                                                   size_t out_size, lode_error *error);
#define lode_judge(base, base_count, new_values, new_count, options, out, error)                             \
    lode_judge_sized(base, base_count, new_values, new_count, options, out, sizeof(lode_judgement), error)

/* ---- a limit ---- */

typedef enum lode_limit_outcome {
    LODE_LIMIT_WITHIN = 0,
    LODE_LIMIT_BEYOND = 1,     /* the whole interval of the ratio is */
    LODE_LIMIT_CANNOT_TELL = 2 /* the limit is inside the interval, or there is none */
} lode_limit_outcome;

/* Whether a change is beyond a relative limit, such as 0.05. MT: any thread. */
LODE_API lode_limit_outcome lode_judgement_outcome(const lode_judgement *judgement, double limit);
/*
 * The probability of such an interval, or one farther beyond, if the change is the limit; for all
 * tests of a table, as p_adjusted. NaN if there is no test. MT: any thread.
 */
LODE_API double lode_judgement_p_beyond(const lode_judgement *judgement, double limit);
/* As needed_runs, to decide about the limit. MT: any thread. */
LODE_API uint32_t lode_judgement_runs(const lode_judgement *judgement, double limit);

/* ---- many rows and their total ---- */

typedef struct lode_judgements lode_judgements;

typedef struct lode_judge_rows_options {
    size_t size;
    double level;       /* probability of any false alarm in the table; 0: 0.05 */
    double margin;      /* as in lode_judge_options */
    double least_share; /* smaller rows are pooled; 0: 0.005; below 0: none is */
    double base_sample; /* as in lode_judge_options */
    double new_sample;
    int is_exact;
    int is_nested; /* rows contain others, such as inclusive costs: their sum is not tested */
} lode_judge_rows_options;
#define LODE_JUDGE_ROWS_OPTIONS_INIT                                                                         \
    {                                                                                                        \
        sizeof(lode_judge_rows_options), 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0                                       \
    }

/*
 * Judges the total and the rows of one comparison. `values` has one number for each row and run,
 * runs of the base first; NaN where a run has none. Half of the level is for the total, the other
 * half is divided among rows. Rows with less than a share of the total in base and new are pooled:
 * they get no test, their sum gets one.
 *
 * Rows are tested by a moderated t statistic of logarithms: the variance of a row is estimated with
 * the help of all (empirical Bayes). If the runs of both sides do not differ as a whole by more
 * than their noise, and most rows agree on that, the speed of each run, the median over rows, is
 * taken out: rows are compared at equal speed. Else its variance counts for every row. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_judge_rows(lode_judgements **out, const double *values,
                                                  const double *totals, size_t rows, size_t base_count,
                                                  size_t new_count, const lode_judge_rows_options *options,
                                                  lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_judgements_free(lode_judgements *judgements);

/* MT: any thread. */
LODE_API void lode_judgements_total_sized(const lode_judgements *judgements, lode_judgement *out,
                                          size_t out_size);
#define lode_judgements_total(judgements, out)                                                               \
    lode_judgements_total_sized(judgements, out, sizeof(lode_judgement))
/*
 * One row. A pooled row has base, new value and ratio; with `is_named`, as for a row that somebody
 * asked for by name, it is tested like the others. LODE_NOT_FOUND if there is no such row. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_judgements_at_sized(const lode_judgements *judgements, size_t row,
                                                           int is_named, lode_judgement *out,
                                                           size_t out_size);
#define lode_judgements_at(judgements, row, is_named, out)                                                   \
    lode_judgements_at_sized(judgements, row, is_named, out, sizeof(lode_judgement))
/* The sum of pooled rows. LODE_ABSENT if there is none, or rows contain others. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_judgements_pooled_sized(const lode_judgements *judgements,
                                                               lode_judgement *out, size_t out_size);
#define lode_judgements_pooled(judgements, out)                                                              \
    lode_judgements_pooled_sized(judgements, out, sizeof(lode_judgement))

/* How many rows are pooled, and how many tests share the level. MT: any thread. */
LODE_API size_t lode_judgements_pooled_count(const lode_judgements *judgements);
LODE_API size_t lode_judgements_tests(const lode_judgements *judgements);
/*
 * The speed of new runs in relation to the base, as a ratio of costs, with its interval; whether
 * rows are compared at equal speed. LODE_ABSENT if there are too few rows or runs to know. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_judgements_speed(const lode_judgements *judgements, lode_estimate *out,
                                                        int *is_equal);

/* ---- change points ---- */

typedef struct lode_change_points lode_change_points;

typedef struct lode_change_options {
    size_t size;
    double level;       /* of the t test at one change point; 0: 0.001 */
    double min_change;  /* smallest relative change of the mean that is reported, such as 0.05 */
    uint32_t length;    /* of the sliding window, which moves by half of it; 0: 50 */
    uint32_t min_count; /* values on each side; fewer may go away with the next runs; 0: 3 */
} lode_change_options;
#define LODE_CHANGE_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_change_options), 0.0, 0.0, 0, 0                                                          \
    }

typedef struct lode_change_point {
    size_t index;         /* the first value after the change */
    size_t begin, end;    /* what was compared: from begin to index, from there to end */
    double before, after; /* means of these */
    double p;             /* of the t test */
} lode_change_point;

/*
 * Change points of a series by E-divisive: the division of a segment with the largest energy
 * distance, recursively, in sliding windows; significant by Student's t test, first at 10 times the
 * level, then the weakest go until all reach the level. Deterministic. 50 values can be divided at
 * 49 positions, so the probability of a false change point among them is at most 49 times the
 * level. Up to LODE_SERIES_MAX values and a length of LODE_RUNS_MAX. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_change_points_find(lode_change_points **out, const double *values,
                                                          size_t count, const lode_change_options *options,
                                                          lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_change_points_free(lode_change_points *points);
/* In ascending order of indices. NULL if the index is out of range. MT: any thread. */
LODE_API size_t lode_change_points_count(const lode_change_points *points);
LODE_API const lode_change_point *lode_change_points_at(const lode_change_points *points, size_t index);

/* ---- models of three and more sizes ---- */

/*
 * c0 + c1 p^(numerator/denominator) log2(p)^logarithms: the form of Extra-P. The constant has
 * numerator, logarithms and c1 0.
 */
typedef struct lode_model {
    double c0, c1;
    int numerator, denominator, logarithms;
    uint32_t sizes;        /* different sizes that it was fitted to */
    double error;          /* symmetric mean error in percent, of sizes that the fit did not see */
    double constant_error; /* the same of the constant */
    double fit_error;      /* of the sizes that it did see */
    double r2;             /* adjusted coefficient of determination */
} lode_model;

/*
 * Fits the 43 hypotheses of Extra-P's default search (a constant and 42 pairs of exponents) by
 * least squares and chooses the one with the smallest error in leave-one-out cross-validation; the
 * constant and smaller exponents win ties. Several values of a size count as their median. Sizes
 * are at least 1. LODE_ABSENT for fewer than LODE_SIZES_MIN different sizes. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_model_fit(lode_model *out, const double *sizes, const double *values,
                                                 size_t count, lode_error *error);
/* MT: any thread. */
LODE_API double lode_model_value(const lode_model *model, double size);
/*
 * Writes such as "12.1 + 0.033 p^(1/2) log2(p)", NUL-terminated and cut at `capacity` bytes, and
 * returns the length of the whole. MT: any thread.
 */
LODE_API size_t lode_model_text(const lode_model *model, char *buffer, size_t capacity);

LODE_END_DECLS
#endif
