/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * median(x) and quantile(x, q): percentiles as `lode context` has them, by linear interpolation
 * between the closest ranks. They keep all values of a group, in memory that SQLite counts.
 */
#include "sql/opened.h"

#include <stdint.h>

enum {
    FEW = 16 /* values that are sorted rather than divided */
};

/* What SQLite keeps for a group, zeroed at first. */
typedef struct sample_set {
    double *values; /* sqlite3_free */
    uint64_t count, capacity;
    double share; /* q: the same in all rows */
    int has_share;
} sample_set;

static int grow(sample_set *set)
{
    uint64_t capacity = set->capacity ? 2 * set->capacity : 64;
    double *values = sqlite3_realloc64(set->values, capacity * sizeof *values);
    if (!values)
        return 0;
    set->values = values;
    set->capacity = capacity;
    return 1;
}

/* Whether q is a share, and the same as in the rows before. */
static int take_share(sqlite3_context *context, sample_set *set, sqlite3_value *value)
{
    int type = sqlite3_value_numeric_type(value);
    double share = sqlite3_value_double(value);
    if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !(share >= 0 && share <= 1)) {
        sqlite3_result_error(context, "quantile(x, q): q is a number from 0 to 1", -1);
        return 0;
    }
    if (set->has_share && share != set->share) {
        sqlite3_result_error(context, "quantile(x, q): q is the same in all rows", -1);
        return 0;
    }
    set->share = share;
    set->has_share = 1;
    return 1;
}

/* NULL counts as no value, as in all aggregates. */
static void add_value(sqlite3_context *context, int count, sqlite3_value **values)
{
    sample_set *set = sqlite3_aggregate_context(context, sizeof *set);
    if (!set) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (count > 1 && !take_share(context, set, values[1]))
        return;
    if (count == 1)
        set->share = 0.5;
    int type = sqlite3_value_numeric_type(values[0]);
    if (type == SQLITE_NULL)
        return;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        sqlite3_result_error(context, "median and quantile take numbers", -1);
    else if (set->count == set->capacity && !grow(set))
        sqlite3_result_error_nomem(context);
    else
        set->values[set->count++] = sqlite3_value_double(values[0]);
}

/* ---- selection ---- */

static void sort_few(double *values, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        double value = values[i];
        uint64_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

/* The next pseudo-random number; results do not depend on it, and no usual order takes long. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Divides values in two at a pivot: none of the first `returned` ones exceeds any of the others. */
static uint64_t divide(double *values, uint64_t count, uint64_t *state)
{
    double pivot = values[next_random(state) % (count - 1)];
    int64_t low = -1, high = (int64_t)count;
    for (;;) {
        do
            low++;
        while (values[low] < pivot);
        do
            high--;
        while (values[high] > pivot);
        if (low >= high)
            return (uint64_t)high + 1;
        double value = values[low];
        values[low] = values[high];
        values[high] = value;
    }
}

/* Moves the value of a rank to its place; larger ones follow it. */
static void select_rank(double *values, uint64_t count, uint64_t rank)
{
    uint64_t state = count;
    while (count > FEW) {
        uint64_t low = divide(values, count, &state);
        if (rank < low) {
            count = low;
        } else {
            values += low;
            count -= low;
            rank -= low;
        }
    }
    sort_few(values, count);
}

static double quantile_of(const sample_set *set)
{
    double position = set->share * (double)(set->count - 1);
    uint64_t below = (uint64_t)position;
    select_rank(set->values, set->count, below);
    double value = set->values[below];
    if (below + 1 >= set->count || position == (double)below)
        return value;
    double next = set->values[below + 1];
    for (uint64_t i = below + 2; i < set->count; i++)
        next = set->values[i] < next ? set->values[i] : next;
    return next == value ? value : value + (position - (double)below) * (next - value);
}

static void finish(sqlite3_context *context)
{
    sample_set *set = sqlite3_aggregate_context(context, 0);
    if (!set)
        return;
    if (set->count > 0)
        sqlite3_result_double(context, quantile_of(set));
    sqlite3_free(set->values);
}

/* ---- registration ---- */

static int add(sqlite3 *db, const char *name, int count, const char *probe, int is_own)
{
    if (!is_own && sqlite3_exec(db, probe, NULL, NULL, NULL) == SQLITE_OK)
        return SQLITE_OK;
    return sqlite3_create_function_v2(db, name, count, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, NULL, add_value,
                                      finish, NULL);
}

int sql_quantiles_add(sqlite3 *db, int is_own)
{
    int code = add(db, "median", 1, "select median(1) where 0", is_own);
    return code == SQLITE_OK ? add(db, "quantile", 2, "select quantile(1, 0.5) where 0", is_own) : code;
}
