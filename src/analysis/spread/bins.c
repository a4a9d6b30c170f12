/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of profiles in order, in bins, and those that stand out. */
#include "base/compare.h"
#include "base/error.h"
#include <lode/profile.h>
#include <lode/unstable/bins.h>
#include <math.h>
#include <stdlib.h>

enum {
    IDS_MAX = 64 /* of a tuple; more are not compared */
};

LODE_COMPARE_BY(compare_index, lode_profile_value, profile);

static int compare_value(const void *left, const void *right)
{
    const lode_profile_value *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return compare_index(left, right);
}

/* ---- by ids ---- */

/* A value and where its ids are: `count` numbers from `ids` on. */
struct sorted {
    lode_profile_value value;
    const uint32_t *ids;
    uint32_t count;
};

static int compare_ids(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    for (uint32_t i = 0; i < a->count && i < b->count; i++)
        if (a->ids[i] != b->ids[i])
            return a->ids[i] < b->ids[i] ? -1 : 1;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return LODE_COMPARE(a->value.profile, b->value.profile);
}

static lode_status count_ids(const lode_profile_value *values, size_t count, const lode_database *db,
                             size_t *total, lode_error *error)
{
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t ids;
        LODE_TRY(lode_profile_ids(db, values[i].profile, NULL, 0, &ids, error));
        *total += ids < IDS_MAX ? ids : IDS_MAX;
    }
    return LODE_OK;
}

static lode_status take_ids(struct sorted *rows, uint32_t *numbers, size_t capacity,
                            const lode_profile_value *values, size_t count, const lode_database *db,
                            lode_error *error)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        lode_id ids[IDS_MAX];
        uint32_t found;
        LODE_TRY(lode_profile_ids(db, values[i].profile, ids, IDS_MAX, &found, error));
        rows[i] = (struct sorted){values[i], numbers + used, found < IDS_MAX ? found : IDS_MAX};
        for (uint32_t k = 0; k < rows[i].count && used < capacity; k++)
            numbers[used++] = ids[k].logical;
    }
    return LODE_OK;
}

static lode_status sort_by_ids(lode_profile_value *values, size_t count, const lode_database *db,
                               lode_error *error)
{
    size_t total;
    LODE_TRY(count_ids(values, count, db, &total, error));
    struct sorted *rows = calloc(count + 1, sizeof *rows);
    uint32_t *numbers = calloc(total + 1, sizeof *numbers);
    lode_status status =
        rows && numbers ? take_ids(rows, numbers, total, values, count, db, error) : lode_fail_memory(error);
    if (status == LODE_OK) {
        qsort(rows, count, sizeof *rows, compare_ids);
        for (size_t i = 0; i < count; i++)
            values[i] = rows[i].value;
    }
    free(rows);
    free(numbers);
    return status;
}

lode_status lode_profile_values_sort(lode_profile_value *values, size_t count, const lode_database *db,
                                     lode_profile_order order, lode_error *error)
{
    if (order == LODE_PROFILES_BY_IDS)
        return sort_by_ids(values, count, db, error);
    if (count)
        qsort(values, count, sizeof *values, order == LODE_PROFILES_BY_VALUE ? compare_value : compare_index);
    return LODE_OK;
}

/* ---- bins ---- */

static lode_profile_bin bin_of(const lode_profile_value *values, uint64_t first, uint64_t end)
{
    lode_profile_bin bin = {.first = first,
                            .count = end - first,
                            .profile = values[first].profile,
                            .min = values[first].value,
                            .max = values[first].value};
    double sum = 0.0;
    for (uint64_t i = first; i < end; i++) {
        sum += values[i].value;
        bin.min = values[i].value < bin.min ? values[i].value : bin.min;
        bin.max = values[i].value > bin.max ? values[i].value : bin.max;
    }
    bin.mean = sum / (double)bin.count;
    return bin;
}

size_t lode_profile_bins(lode_profile_bin *bins, size_t bin_count, const lode_profile_value *values,
                         size_t count)
{
    size_t used = bin_count < count ? bin_count : count;
    /* Profiles are counted in 32 bits, and so are bins: products fit. */
    for (size_t i = 0; i < used; i++)
        bins[i] = bin_of(values, (uint64_t)i * count / used, ((uint64_t)i + 1) * count / used);
    return used;
}

/* ---- outliers ---- */

static int compare_deviation(const void *left, const void *right)
{
    const lode_profile_value *a = left, *b = right;
    double x = fabs(a->deviation), y = fabs(b->deviation);
    if (x != y)
        return x > y ? -1 : 1;
    return compare_index(left, right);
}

size_t lode_profile_outliers(lode_profile_value *values, size_t count, const lode_distribution *distribution)
{
    double reach = 1.5 * (distribution->p75 - distribution->p25);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        lode_profile_value value = values[i];
        value.deviation = values[i].deviation = value.value - distribution->p50;
        if (value.value >= distribution->p25 - reach && value.value <= distribution->p75 + reach)
            continue;
        values[i] = values[found];
        values[found++] = value;
    }
    if (found)
        qsort(values, found, sizeof *values, compare_deviation);
    return found;
}
