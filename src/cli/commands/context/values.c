/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/context/values.h"

#include "alloc.h"

#include <math.h>
#include <stdlib.h>

#define CHUNK     512
#define TOLERANCE 1e-9

/* Values by profile, in the place of that profile. */
static lode_status read_block(const lode_block *block, uint16_t metric_id, double *by_profile,
                              uint32_t profiles, lode_error *error)
{
    lode_group group;
    lode_value chunk[CHUNK];
    lode_status status = lode_block_find(block, metric_id, &group, error);
    if (status == LODE_NOT_FOUND)
        return LODE_OK;
    for (uint64_t done = 0; status == LODE_OK && done < group.count; done += CHUNK) {
        uint64_t part = group.count - done < CHUNK ? group.count - done : CHUNK;
        status = lode_block_read(block, group.first + done, part, chunk);
        for (uint64_t i = 0; status == LODE_OK && i < part; i++)
            if (chunk[i].key < profiles)
                by_profile[chunk[i].key] = chunk[i].value;
    }
    return status;
}

static lode_status search_profiles(const lode_database *db, uint32_t context_id, uint16_t metric_id,
                                   double *by_profile, uint32_t profiles, lode_error *error)
{
    for (uint32_t i = 0; i < profiles; i++) {
        lode_block block;
        lode_status status = lode_profile_block(db, i, &block, error);
        if (status >= 0)
            status = lode_block_lookup(&block, context_id, metric_id, &by_profile[i], error);
        if (status < 0)
            return status;
    }
    return LODE_OK;
}

static lode_status add_value(context_values *v, const lode_database *db, const lode_selection *selection,
                             uint32_t profile, double value, lode_error *error)
{
    lode_block block;
    int is_selected = 0;
    lode_status status = lode_selection_has(selection, db, profile, &is_selected, error);
    if (status < 0 || !is_selected)
        return status;
    status = lode_profile_block(db, profile, &block, error);
    if (status < 0)
        return status;
    if (lode_block_value_count(&block) == 0) {
        v->empty++;
        return LODE_OK;
    }
    v->zeros += value == 0;
    v->values[v->count] = value;
    v->items[v->count++] = (lode_profile_value){profile, value, 0};
    return LODE_OK;
}

static lode_status select_values(context_values *v, const lode_database *db, const lode_selection *selection,
                                 const double *by_profile, uint32_t profiles, lode_error *error)
{
    v->items = alloc_array(profiles, sizeof *v->items);
    v->values = alloc_array(profiles, sizeof *v->values);
    for (uint32_t i = 0; i < profiles; i++) {
        lode_status status = add_value(v, db, selection, i, by_profile[i], error);
        if (status < 0)
            return status;
    }
    lode_distribution_of(&v->distribution, v->values, v->count);
    for (size_t i = 0; i < v->count; i++)
        v->items[i].deviation = v->items[i].value - v->distribution.p50;
    return LODE_OK;
}

/* Whether values sum up to the summary, if any, within the tolerance of rounding. */
static int adds_up(const lode_database *db, const context_question *question, const double *by_profile,
                   uint32_t profiles)
{
    lode_block summary;
    double wanted = 0, sum = 0, size = 0;
    if (!question->has_sum || profiles == 0 || lode_profile_block(db, 0, &summary, NULL) != LODE_OK ||
        lode_block_lookup(&summary, question->context_id, question->sum_id, &wanted, NULL) < 0)
        return 1;
    for (uint32_t i = 0; i < profiles; i++) {
        if (lode_profile_is_summary(db, i))
            continue;
        sum += by_profile[i];
        size += fabs(by_profile[i]);
    }
    return fabs(sum - wanted) <= TOLERANCE * (size + fabs(wanted));
}

static lode_status read_profiles(context_values *v, const lode_database *db, const context_question *question,
                                 double *by_profile, uint32_t profiles, lode_error *error)
{
    v->is_by_profile = 1;
    lode_status status =
        search_profiles(db, question->context_id, question->metric_id, by_profile, profiles, error);
    if (status >= 0)
        v->is_profile_wrong = !adds_up(db, question, by_profile, profiles);
    return status;
}

lode_status context_values_read(context_values *v, const lode_database *db, const lode_selection *selection,
                                const context_question *question, lode_error *error)
{
    uint32_t profiles = lode_database_profile_count(db);
    double *by_profile = alloc_array(profiles, sizeof *by_profile);
    lode_block block;
    lode_status status = lode_context_block(db, question->context_id, &block, error);
    int is_absent = status == LODE_ABSENT;
    if (status == LODE_OK) {
        status = read_block(&block, question->metric_id, by_profile, profiles, error);
        v->is_cct_wrong = status >= 0 && !adds_up(db, question, by_profile, profiles);
    }
    if (is_absent || v->is_cct_wrong)
        status = read_profiles(v, db, question, by_profile, profiles, error);
    if (status >= 0)
        status = select_values(v, db, selection, by_profile, profiles, error);
    free(by_profile);
    return status;
}

void context_values_free(context_values *v)
{
    free(v->items);
    free(v->values);
}
