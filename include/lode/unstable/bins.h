/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of many profiles, small enough to draw: in order, in bins, as a matrix; and outliers. */
#ifndef LODE_UNSTABLE_BINS_H
#define LODE_UNSTABLE_BINS_H

#include <lode/database.h>
#include <lode/distribution.h>

LODE_BEGIN_DECLS

/* Counts values in bins of equal width from min to max. MT: any thread. */
LODE_API void lode_histogram_of(uint64_t *bins, size_t bin_count, double min, double max,
                                const double *values, size_t count);

typedef struct lode_profile_value {
    uint32_t profile;
    double value;
    double deviation; /* from the median; lode_profile_outliers sets it */
} lode_profile_value;

/* Ties: in the order of profiles. */
typedef enum lode_profile_order {
    LODE_PROFILES_BY_VALUE, /* descending, as no other */
    LODE_PROFILES_BY_IDS,   /* by the logical numbers of the id tuple, the outermost first */
    LODE_PROFILES_BY_INDEX
} lode_profile_order;

/* Sorts values in place; by ids it reads the id tuples of all of them. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_profile_values_sort(lode_profile_value *values, size_t count,
                                                           const lode_database *db, lode_profile_order order,
                                                           lode_error *error);

/* Neighbours in some order of profiles. */
typedef struct lode_profile_bin {
    uint64_t first, count; /* positions in that order */
    uint32_t profile;      /* the one at `first` */
    double min, mean, max;
} lode_profile_bin;

/*
 * Puts values, in the order that they have, into `bin_count` bins of about equal size, or into one
 * each if there are fewer. Bin i begins at i * count / bins. Returns the number of bins, for which
 * `bins` must have room. MT: any thread.
 */
LODE_API size_t lode_profile_bins(lode_profile_bin *bins, size_t bin_count, const lode_profile_value *values,
                                  size_t count);

/*
 * Moves values more than 1.5 interquartile ranges outside of the quartiles to the front, the
 * farthest from the median first. Returns their number, and sets all deviations. MT: any thread.
 */
LODE_API size_t lode_profile_outliers(lode_profile_value *values, size_t count,
                                      const lode_distribution *distribution);

/* Consecutive ids of one kind that share a row or a column; both logical numbers. */
typedef struct lode_id_range {
    uint32_t first, last;
} lode_id_range;

/* The profiles with an id in the range of a row and one in the range of a column. */
typedef struct lode_matrix_cell {
    uint32_t profiles; /* 0: all other fields are 0 */
    uint32_t profile;  /* the first of them */
    double min, mean, max;
} lode_matrix_cell;

typedef struct lode_profile_matrix lode_profile_matrix;

/*
 * Values by two kinds of ids (the innermost id of each kind counts), such as rank and thread. Every
 * id that occurs has a row or a column; more than `most` are put together in ranges of about as
 * many. `most` is 1 to 1,000. Reads the id tuples of all values. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_profile_matrix_make(lode_profile_matrix **out, const lode_database *db,
                                                           const lode_profile_value *values, size_t count,
                                                           const unsigned kinds[2], size_t most,
                                                           lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_profile_matrix_free(lode_profile_matrix *matrix);
/* All of these: MT: any thread. */
LODE_API size_t lode_profile_matrix_rows(const lode_profile_matrix *matrix);
LODE_API size_t lode_profile_matrix_columns(const lode_profile_matrix *matrix);
/* NULL if the index is out of range. */
LODE_API const lode_id_range *lode_profile_matrix_row(const lode_profile_matrix *matrix, size_t index);
LODE_API const lode_id_range *lode_profile_matrix_column(const lode_profile_matrix *matrix, size_t index);
LODE_API const lode_matrix_cell *lode_profile_matrix_cell(const lode_profile_matrix *matrix, size_t row,
                                                          size_t column);
/* Profiles without an id of both kinds. */
LODE_API uint32_t lode_profile_matrix_without(const lode_profile_matrix *matrix);

LODE_END_DECLS
#endif
