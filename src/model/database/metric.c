/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/metric.h"

#include "base/error.h"
#include "base/getter.h"
#include "model/database/database.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *lode_scope_type_name(int type)
{
    static const char *const names[] = {"custom", "point", "execution", "transitive"};
    return type >= 0 && type < 4 ? names[type] : NULL;
}

const char *lode_combine_name(int combine)
{
    static const char *const names[] = {"sum", "min", "max"};
    return combine >= 0 && combine < 3 ? names[combine] : NULL;
}

enum lode_formula lode_formula_of(const char *text)
{
    if (strcmp(text, "$$") == 0)
        return LODE_FORMULA_VALUE;
    if (strcmp(text, "1") == 0)
        return LODE_FORMULA_ONE;
    if (strcmp(text, "($$^2)") == 0 || strcmp(text, "$$^2") == 0)
        return LODE_FORMULA_SQUARE;
    return LODE_FORMULA_OTHER;
}

LODE_GETTER(uint32_t, lode_database_scope_count, lode_database, scope_count);
LODE_GETTER_AT(lode_scope, lode_database_scope, lode_database, scopes, scope_count);
LODE_GETTER(uint32_t, lode_scope_index, lode_scope, index);
LODE_GETTER(const char *, lode_scope_name, lode_scope, name);
LODE_GETTER(int, lode_scope_kind, lode_scope, type);
LODE_GETTER(unsigned, lode_scope_propagation_index, lode_scope, propagation_index);
LODE_GETTER(uint32_t, lode_database_metric_count, lode_database, metric_count);
LODE_GETTER_AT(lode_metric, lode_database_metric, lode_database, metrics, metric_count);
LODE_GETTER(uint32_t, lode_metric_index, lode_metric, index);
LODE_GETTER(const char *, lode_metric_name, lode_metric, name);
LODE_GETTER(uint32_t, lode_metric_scope_count, lode_metric, scope_count);
LODE_GETTER(uint32_t, lode_metric_statistic_count, lode_metric, statistic_count);

lode_status lode_metric_scope_at(const lode_metric *metric, uint32_t index, lode_metric_scope *out)
{
    if (index >= metric->scope_count)
        return LODE_NOT_FOUND;
    *out = metric->scopes[index];
    return LODE_OK;
}

lode_status lode_metric_statistic_at(const lode_metric *metric, uint32_t index, lode_metric_statistic *out)
{
    if (index >= metric->statistic_count)
        return LODE_NOT_FOUND;
    *out = metric->statistics[index];
    return LODE_OK;
}

lode_status lode_metric_id(const lode_metric *metric, lode_scope_type type, uint16_t *id)
{
    for (uint32_t i = 0; i < metric->scope_count; i++) {
        if (metric->scopes[i].scope->type != (uint8_t)type)
            continue;
        *id = metric->scopes[i].id;
        return LODE_OK;
    }
    return LODE_NOT_FOUND;
}

lode_status lode_metric_sum_id(const lode_metric *metric, lode_scope_type type, uint16_t *id)
{
    for (uint32_t i = 0; i < metric->statistic_count; i++) {
        const lode_metric_statistic *statistic = &metric->statistics[i];
        if (statistic->scope->type != (uint8_t)type || statistic->combine != LODE_COMBINE_SUM ||
            lode_formula_of(statistic->formula) != LODE_FORMULA_VALUE)
            continue;
        *id = statistic->id;
        return LODE_OK;
    }
    return LODE_NOT_FOUND;
}

/* ---- lookup by name ---- */

static lode_status metric_by_number(const lode_database *db, const char *text, const lode_metric **out)
{
    char *end;
    unsigned long long index = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || index >= db->metric_count)
        return LODE_NOT_FOUND;
    *out = &db->metrics[index];
    return LODE_OK;
}

/* "CPUTIME" finds "CPUTIME (sec)", even if there is a "CPUTIME:2 (sec)". */
static lode_status metric_without_unit(const lode_database *db, const char *text, const lode_metric **out)
{
    size_t length = strlen(text);
    for (uint32_t i = 0; i < db->metric_count; i++) {
        *out = &db->metrics[i];
        if (strncasecmp((*out)->name, text, length) == 0 && strncmp((*out)->name + length, " (", 2) == 0)
            return LODE_OK;
    }
    return LODE_NOT_FOUND;
}

static lode_status metric_not_found(const lode_database *db, const char *text, uint32_t matches,
                                    lode_error *error)
{
    char list[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < db->metric_count && used < sizeof list; i++) {
        if (matches > 0 && strcasestr(db->metrics[i].name, text) == NULL)
            continue;
        int length =
            snprintf(list + used, sizeof list - used, "%s'%s'", used ? ", " : "", db->metrics[i].name);
        used += length > 0 ? (size_t)length : 0;
    }
    return lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "%s metric '%s'; %s: %s%s",
                     matches > 0 ? "more than one" : "no", text, matches > 0 ? "which of" : "there are", list,
                     used >= sizeof list ? "..." : "");
}

lode_status lode_database_find_metric(const lode_database *db, const char *text, const lode_metric **out,
                                      lode_error *error)
{
    for (uint32_t i = 0; i < db->metric_count; i++) {
        *out = &db->metrics[i];
        if (strcmp((*out)->name, text) == 0)
            return LODE_OK;
    }
    for (uint32_t i = 0; i < db->metric_count; i++) {
        *out = &db->metrics[i];
        if (strcasecmp((*out)->name, text) == 0)
            return LODE_OK;
    }
    if (metric_by_number(db, text, out) == LODE_OK || metric_without_unit(db, text, out) == LODE_OK)
        return LODE_OK;
    uint32_t matches = 0;
    for (uint32_t i = 0; i < db->metric_count; i++) {
        if (strcasestr(db->metrics[i].name, text) == NULL)
            continue;
        *out = &db->metrics[i];
        matches++;
    }
    return matches == 1 ? LODE_OK : metric_not_found(db, text, matches, error);
}

static bool has_total(const lode_metric *metric, const lode_block *summary)
{
    uint16_t id;
    double total;
    return lode_metric_sum_id(metric, LODE_SCOPE_EXECUTION, &id) == LODE_OK &&
           lode_block_lookup(summary, 0, id, &total, NULL) == LODE_OK;
}

lode_status lode_database_default_metric(const lode_database *db, const lode_metric **out, lode_error *error)
{
    static const char *const preferred[] = {"GPUOP (sec)", "CPUTIME", "REALTIME", "(sec)", ""};
    lode_block summary;
    if (db->metric_count == 0 || db->profile_count == 0)
        return lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET,
                         "the database has no metrics or no profiles");
    if (db->names_metric && db->default_metric < db->metric_count) {
        *out = &db->metrics[db->default_metric];
        return LODE_OK;
    }
    LODE_TRY(lode_profile_block(db, 0, &summary, error));
    for (size_t k = 0; k < sizeof preferred / sizeof *preferred; k++) {
        for (uint32_t i = 0; i < db->metric_count; i++) {
            *out = &db->metrics[i];
            if (strstr((*out)->name, preferred[k]) != NULL && has_total(*out, &summary))
                return LODE_OK;
        }
    }
    *out = &db->metrics[0];
    return LODE_OK;
}
