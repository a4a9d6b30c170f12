/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/groups.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/memory/hash.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Some rows as numbers, column by column. */
struct stretch {
    const lode_batch *batch;
    uint64_t first;
    unsigned count;
    uint64_t keys[LODE_GROUP_KEYS][LODE_GROUPS_AT_ONCE];
    uint8_t nulls[LODE_GROUPS_AT_ONCE];
    uint32_t groups[LODE_GROUPS_AT_ONCE];
};

void lode_groups_init(struct lode_groups *groups, const lode_table_info *table)
{
    *groups = (struct lode_groups){.table = table, .value = -1};
    lode_array_init(&groups->rows, sizeof(struct lode_group_row), LODE_GROUPS_MOST);
    lode_strings_init(&groups->texts);
}

void lode_groups_free(struct lode_groups *groups)
{
    lode_array_free(&groups->rows);
    lode_index_free(&groups->index);
    lode_strings_free(&groups->texts);
}

/* ---- keys ---- */

static const void *cells(const struct stretch *s, unsigned column)
{
    const lode_column *from = &s->batch->columns[column];
    return (const char *)from->data + s->first * from->stride;
}

/* Strings of a batch come again and again at the same address, which is theirs for this batch. */
static bool number_text(struct lode_groups *groups, const char *text, uint64_t *number)
{
    struct lode_groups_text *known = &groups->known[((uintptr_t)text >> 3) % LODE_GROUPS_TEXTS];
    uint32_t found;
    if (known->text == text) {
        *number = known->number;
        return true;
    }
    if (!lode_strings_put(&groups->texts, text, &found))
        return false;
    *known = (struct lode_groups_text){text, found};
    *number = found;
    return true;
}

static bool load_texts(struct lode_groups *groups, struct stretch *s, unsigned column, unsigned key)
{
    const char *const *texts = cells(s, column);
    for (unsigned i = 0; i < s->count; i++) {
        s->keys[key][i] = 0;
        if (texts[i] == NULL)
            s->nulls[i] |= (uint8_t)(1U << key);
        else if (!number_text(groups, texts[i], &s->keys[key][i]))
            return false;
    }
    return true;
}

static bool load_key(struct lode_groups *groups, struct stretch *s, unsigned key)
{
    unsigned column = groups->keys[key];
    const uint8_t *valid = s->batch->valid[column];
    const void *data = cells(s, column);
    lode_column_type type = s->batch->columns[column].type;
    uint64_t *to = s->keys[key];
    if (type == LODE_COLUMN_STRING)
        return load_texts(groups, s, column, key);
    for (unsigned i = 0; i < s->count; i++)
        to[i] = type == LODE_COLUMN_U32  ? ((const uint32_t *)data)[i]
                : type == LODE_COLUMN_U8 ? ((const uint8_t *)data)[i]
                                         : ((const uint64_t *)data)[i];
    for (unsigned i = 0; valid && i < s->count; i++)
        if (!valid[s->first + i]) {
            s->nulls[i] |= (uint8_t)(1U << key);
            to[i] = 0;
        }
    return true;
}

/* ---- groups ---- */

static bool is_group(const struct lode_group_row *group, const struct stretch *s, unsigned i)
{
    return group->keys[0] == s->keys[0][i] && group->keys[1] == s->keys[1][i] &&
           group->keys[2] == s->keys[2][i] && group->nulls == s->nulls[i];
}

static uint64_t hash_of(const struct stretch *s, unsigned i)
{
    uint64_t first = lode_hash_pair(s->keys[0][i], s->keys[1][i]);
    return lode_hash_pair(first, s->keys[2][i] ^ (uint64_t)s->nulls[i] << 56);
}

static lode_status add_group(struct lode_groups *groups, const struct stretch *s, unsigned i, uint64_t hash,
                             uint32_t *number, lode_error *error)
{
    if (groups->rows.count == LODE_GROUPS_MOST)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %d groups",
                         LODE_GROUPS_MOST);
    struct lode_group_row *group = lode_index_reserve(&groups->index) ? lode_array_push(&groups->rows) : NULL;
    LODE_TRY_ALLOC(group, error);
    for (unsigned k = 0; k < LODE_GROUP_KEYS; k++)
        group->keys[k] = s->keys[k][i];
    group->nulls = s->nulls[i];
    if (groups->is_real) {
        group->of.real.least = HUGE_VAL;
        group->of.real.greatest = -HUGE_VAL;
    } else {
        group->of.integer.least = INT64_MAX;
        group->of.integer.greatest = INT64_MIN;
    }
    *number = (uint32_t)groups->rows.count - 1;
    lode_index_put(&groups->index, hash, *number);
    return LODE_OK;
}

/* The group of a row that is not among those that were met lately. */
static lode_status look_up(struct lode_groups *groups, const struct stretch *s, unsigned i, uint32_t *number,
                           lode_error *error)
{
    uint64_t hash = hash_of(s, i);
    struct lode_index_probe probe = lode_index_begin(&groups->index, hash);
    while (lode_index_next(&probe, number))
        if (is_group(LODE_ARRAY_AT(&groups->rows, struct lode_group_row, *number), s, i))
            return LODE_OK;
    return add_group(groups, s, i, hash, number, error);
}

/* Rows of a group often come one after the other. */
static bool is_repeated(const struct lode_groups *groups, const struct stretch *s, unsigned i)
{
    bool is_same = i > 0 && s->keys[0][i] == s->keys[0][i - 1] && s->nulls[i] == s->nulls[i - 1];
    for (unsigned k = 1; k < groups->key_count && is_same; k++)
        is_same = s->keys[k][i] == s->keys[k][i - 1];
    return is_same;
}

static lode_status find_groups(struct lode_groups *groups, struct stretch *s, lode_error *error)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (is_repeated(groups, s, i)) {
            s->groups[i] = s->groups[i - 1];
            continue;
        }
        const struct lode_group_row *rows = groups->rows.items;
        uint64_t mixed = s->keys[0][i] + s->keys[1][i] * 37 + s->keys[2][i] * 1009 + s->nulls[i];
        uint32_t *recent = &groups->recent[mixed % LODE_GROUPS_RECENT];
        if (*recent == 0 || !is_group(&rows[*recent - 1], s, i)) {
            LODE_TRY(look_up(groups, s, i, &s->groups[i], error));
            *recent = s->groups[i] + 1;
        }
        s->groups[i] = *recent - 1;
    }
    return LODE_OK;
}

/* ---- values ---- */

static void add_integer(struct lode_groups *groups, struct lode_group_row *group, int64_t value)
{
    group->count++;
    lode_wide_add(&group->of.integer.sum, value, &groups->overflows);
    if (value < group->of.integer.least)
        group->of.integer.least = value;
    if (value > group->of.integer.greatest)
        group->of.integer.greatest = value;
}

/* The rows of one group that come one after the other. NaN is NULL in SQL. */
static void add_reals(struct lode_group_row *group, const double *values, unsigned count)
{
    double sum = group->of.real.sum, least = group->of.real.least, greatest = group->of.real.greatest;
    uint64_t known = 0;
    for (unsigned i = 0; i < count; i++) {
        double value = values[i];
        if (isnan(value))
            continue;
        known++;
        sum += value;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
    }
    group->count += known;
    group->of.real.sum = sum;
    group->of.real.least = least;
    group->of.real.greatest = greatest;
}

static void add_integers(struct lode_groups *groups, const struct stretch *s, unsigned column,
                         struct lode_group_row *group, unsigned first, unsigned end)
{
    const uint8_t *valid = s->batch->valid[column];
    const void *data = cells(s, column);
    lode_column_type type = s->batch->columns[column].type;
    for (unsigned i = first; i < end; i++)
        if (!valid || valid[s->first + i])
            add_integer(groups, group,
                        type == LODE_COLUMN_U64   ? (int64_t)((const uint64_t *)data)[i]
                        : type == LODE_COLUMN_U32 ? ((const uint32_t *)data)[i]
                                                  : ((const uint8_t *)data)[i]);
}

static void add_values(struct lode_groups *groups, const struct stretch *s)
{
    unsigned column = groups->value < 0 ? 0 : (unsigned)groups->value;
    for (unsigned i = 0, end; i < s->count; i = end) {
        struct lode_group_row *group = LODE_ARRAY_AT(&groups->rows, struct lode_group_row, s->groups[i]);
        for (end = i + 1; end < s->count && s->groups[end] == s->groups[i];)
            end++;
        group->rows += end - i;
        if (groups->value < 0)
            continue;
        if (!groups->is_real)
            add_integers(groups, s, column, group, i, end);
        else if (s->batch->valid[column] == NULL)
            add_reals(group, (const double *)cells(s, column) + i, end - i);
        else
            for (unsigned k = i; k < end; k++)
                add_reals(group, (const double *)cells(s, column) + k,
                          s->batch->valid[column][s->first + k] != 0);
    }
}

lode_status lode_groups_add(struct lode_groups *groups, const lode_batch *batch, lode_error *error)
{
    struct stretch *s = calloc(1, sizeof *s);
    lode_status status = s ? LODE_OK : lode_fail_memory(error);
    memset(groups->known, 0, sizeof groups->known);
    for (uint64_t first = 0; status == LODE_OK && first < batch->rows; first += s->count) {
        s->batch = batch;
        s->first = first;
        s->count =
            (unsigned)(batch->rows - first < LODE_GROUPS_AT_ONCE ? batch->rows - first : LODE_GROUPS_AT_ONCE);
        memset(s->nulls, 0, sizeof s->nulls);
        for (unsigned k = 0; k < groups->key_count; k++)
            if (!load_key(groups, s, k))
                status = lode_fail_memory(error);
        if (status == LODE_OK)
            status = find_groups(groups, s, error);
        if (status == LODE_OK)
            add_values(groups, s);
    }
    free(s);
    return status;
}

/* ---- their order ---- */

static int compare_keys(const struct lode_groups *groups, const struct lode_group_row *a,
                        const struct lode_group_row *b, unsigned key)
{
    int is_null = a->nulls >> key & 1, other_is_null = b->nulls >> key & 1;
    if (is_null || other_is_null)
        return other_is_null - is_null;
    if (groups->table->fields[groups->keys[key]].type == LODE_COLUMN_STRING)
        return strcmp(lode_strings_at(&groups->texts, (uint32_t)a->keys[key]),
                      lode_strings_at(&groups->texts, (uint32_t)b->keys[key]));
    return LODE_COMPARE((int64_t)a->keys[key], (int64_t)b->keys[key]);
}

static int compare_groups(const void *left, const void *right, void *context)
{
    const struct lode_groups *groups = context;
    int found = 0;
    for (unsigned k = 0; k < groups->key_count && found == 0; k++)
        found = compare_keys(groups, left, right, k);
    return found;
}

void lode_groups_sort(struct lode_groups *groups)
{
    if (groups->rows.count > 1)
        qsort_r(groups->rows.items, groups->rows.count, sizeof(struct lode_group_row), compare_groups,
                groups);
}
