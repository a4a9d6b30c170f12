/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of profiles by two kinds of ids. */
#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include <lode/profile.h>
#include <lode/unstable/bins.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    IDS_MAX = 64, /* of a tuple; more are not looked at */
    MOST = 1000   /* rows or columns */
};

/* Rows or columns: ids that occur, in ascending order, and ranges of them. */
struct axis {
    uint32_t *ids;
    size_t id_count;
    lode_id_range *ranges;
    size_t count;
};

struct lode_profile_matrix {
    struct axis axes[2];
    lode_matrix_cell *cells;
    uint32_t without;
};

/* One value and its ids. */
struct member {
    lode_profile_value value;
    uint32_t ids[2];
};

static lode_status read_ids(struct member *member, const lode_database *db, const unsigned kinds[2],
                            bool *has_both, lode_error *error)
{
    lode_id ids[IDS_MAX];
    uint32_t count;
    LODE_TRY(lode_profile_ids(db, member->value.profile, ids, IDS_MAX, &count, error));
    count = count < IDS_MAX ? count : IDS_MAX;
    *has_both = true;
    for (int k = 0; k < 2; k++) {
        uint32_t at = count;
        while (at > 0 && ids[at - 1].kind != kinds[k])
            at--;
        *has_both = *has_both && at > 0;
        if (at > 0)
            member->ids[k] = ids[at - 1].logical;
    }
    return LODE_OK;
}

static lode_status axis_init(struct axis *axis, const struct member *members, size_t count, int k,
                             size_t most, lode_error *error)
{
    axis->ids = calloc(count + 1, sizeof *axis->ids);
    axis->ranges = calloc(most, sizeof *axis->ranges);
    if (axis->ids == NULL || axis->ranges == NULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        axis->ids[i] = members[i].ids[k];
    qsort(axis->ids, count, sizeof *axis->ids, lode_compare_u32);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || axis->ids[i] != axis->ids[i - 1])
            axis->ids[axis->id_count++] = axis->ids[i];
    axis->count = axis->id_count < most ? axis->id_count : most;
    for (size_t i = 0; i < axis->count; i++) {
        size_t first = i * axis->id_count / axis->count, end = (i + 1) * axis->id_count / axis->count;
        axis->ranges[i] = (lode_id_range){axis->ids[first], axis->ids[end - 1]};
    }
    return LODE_OK;
}

static size_t axis_find(const struct axis *axis, uint32_t id)
{
    size_t low = 0, high = axis->count;
    LODE_BISECT(low, high, axis->ranges[middle].last < id);
    return low;
}

/* The mean is a sum until all values are there. */
static void add_member(lode_profile_matrix *matrix, const struct member *member)
{
    size_t row = axis_find(&matrix->axes[0], member->ids[0]);
    size_t column = axis_find(&matrix->axes[1], member->ids[1]);
    lode_matrix_cell *cell = &matrix->cells[row * matrix->axes[1].count + column];
    double value = member->value.value;
    if (cell->profiles == 0 || value < cell->min)
        cell->min = value;
    if (cell->profiles == 0 || value > cell->max)
        cell->max = value;
    if (cell->profiles == 0 || member->value.profile < cell->profile)
        cell->profile = member->value.profile;
    cell->profiles++;
    cell->mean += value;
}

static lode_status fill(lode_profile_matrix *matrix, const struct member *members, size_t count, size_t most,
                        lode_error *error)
{
    for (int k = 0; k < 2; k++)
        LODE_TRY(axis_init(&matrix->axes[k], members, count, k, most, error));
    size_t cells = matrix->axes[0].count * matrix->axes[1].count;
    matrix->cells = calloc(cells + 1, sizeof *matrix->cells);
    LODE_TRY_ALLOC(matrix->cells, error);
    for (size_t i = 0; i < count; i++)
        add_member(matrix, &members[i]);
    for (size_t i = 0; i < cells; i++)
        if (matrix->cells[i].profiles)
            matrix->cells[i].mean /= matrix->cells[i].profiles;
    return LODE_OK;
}

LODE_COMPARE_BY(compare_members, struct member, value.profile);

/* Sums do not depend on the order of the values that were given. */
static lode_status gather(lode_profile_matrix *matrix, struct member *members, const lode_database *db,
                          const lode_profile_value *values, size_t count, const unsigned kinds[2],
                          size_t most, lode_error *error)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        bool has_both;
        members[used] = (struct member){.value = values[i]};
        LODE_TRY(read_ids(&members[used], db, kinds, &has_both, error));
        matrix->without += !has_both;
        used += has_both;
    }
    qsort(members, used, sizeof *members, compare_members);
    return fill(matrix, members, used, most, error);
}

lode_status lode_profile_matrix_make(lode_profile_matrix **out, const lode_database *db,
                                     const lode_profile_value *values, size_t count, const unsigned kinds[2],
                                     size_t most, lode_error *error)
{
    *out = NULL;
    if (most == 0 || most > MOST)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a matrix has 1 to %d rows and columns", MOST);
    lode_profile_matrix *matrix = calloc(1, sizeof *matrix);
    LODE_TRY_ALLOC(matrix, error);
    struct member *members = calloc(count + 1, sizeof *members);
    lode_status status =
        members ? gather(matrix, members, db, values, count, kinds, most, error) : lode_fail_memory(error);
    free(members);
    if (status == LODE_OK)
        *out = matrix;
    else
        lode_profile_matrix_free(matrix);
    return status;
}

void lode_profile_matrix_free(lode_profile_matrix *matrix)
{
    if (matrix == NULL)
        return;
    for (int k = 0; k < 2; k++) {
        free(matrix->axes[k].ids);
        free(matrix->axes[k].ranges);
    }
    free(matrix->cells);
    free(matrix);
}

LODE_GETTER(size_t, lode_profile_matrix_rows, lode_profile_matrix, axes[0].count);
LODE_GETTER(size_t, lode_profile_matrix_columns, lode_profile_matrix, axes[1].count);
LODE_GETTER(uint32_t, lode_profile_matrix_without, lode_profile_matrix, without);

static const lode_id_range *range_at(const struct axis *axis, size_t index)
{
    return index < axis->count ? &axis->ranges[index] : NULL;
}

const lode_id_range *lode_profile_matrix_row(const lode_profile_matrix *matrix, size_t index)
{
    return range_at(&matrix->axes[0], index);
}

const lode_id_range *lode_profile_matrix_column(const lode_profile_matrix *matrix, size_t index)
{
    return range_at(&matrix->axes[1], index);
}

const lode_matrix_cell *lode_profile_matrix_cell(const lode_profile_matrix *matrix, size_t row, size_t column)
{
    if (row >= matrix->axes[0].count || column >= matrix->axes[1].count)
        return NULL;
    return &matrix->cells[row * matrix->axes[1].count + column];
}
