/* SPDX-License-Identifier: BSD-3-Clause */
/* The derived metrics of a database. */
#include "base/error.h"
#include "base/io/beneath.h"
#include "model/database/database.h"
#include "model/database/derived.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    LIST_MAX = 1024
};

const lode_derived *lode_derived_list_at(const lode_derived_list *list, size_t index)
{
    return index < list->items.count ? *LODE_ARRAY_AT(&list->items, lode_derived *, index) : NULL;
}

size_t lode_derived_list_count(const lode_derived_list *list)
{
    return list->items.count;
}

void lode_derived_list_add(lode_derived_list *list, lode_derived *derived)
{
    lode_derived **slot = NULL;
    for (size_t i = 0; derived && i < list->items.count; i++) {
        if (strcasecmp(lode_derived_name(lode_derived_list_at(list, i)), lode_derived_name(derived)) == 0) {
            lode_derived_free(derived);
            return;
        }
    }
    if (derived)
        slot = lode_array_push(&list->items);
    if (slot)
        *slot = derived;
    else
        lode_derived_free(derived);
}

/* Whether the list has a quotient of the two. */
static int has_quotient(const lode_derived_list *list, const lode_metric *above, const lode_metric *below)
{
    for (size_t i = 0; i < list->items.count; i++) {
        const lode_derived *derived = lode_derived_list_at(list, i);
        if (lode_derived_metric_count(derived) == 2 && lode_derived_metric(derived, 0) == above &&
            lode_derived_metric(derived, 1) == below)
            return 1;
    }
    return 0;
}

/* "GKER:BLKS" for "GKER:BLKS_ACUMU"; a unit stays. */
static lode_status add_mean(lode_derived_list *list, const lode_database *db, const lode_metric *metric,
                            lode_error *error)
{
    const lode_metric *count = lode_metric_counted_by(db, metric);
    char name[128], formula[64];
    const char *suffix = count ? strstr(metric->name, "_ACUMU") : NULL;
    lode_derived *derived;
    if (suffix == NULL || has_quotient(list, metric, count))
        return LODE_OK;
    snprintf(name, sizeof name, "%.*s%.40s", (int)(suffix - metric->name < 64 ? suffix - metric->name : 64),
             metric->name, suffix + strlen("_ACUMU"));
    snprintf(formula, sizeof formula, "$%u/$%u", (unsigned)metric->index, (unsigned)count->index);
    LODE_TRY(lode_derived_make(&derived, db, formula, name, "mean per operation", error));
    lode_derived_list_add(list, derived);
    return LODE_OK;
}

static lode_status read_file(lode_derived_list *list, const lode_database *db, int directory,
                             const char *path, lode_error *error)
{
    struct lode_blob blob;
    lode_status status = lode_companion_read(&blob, directory, path, error);
    if (status == LODE_ERR_MEMORY)
        return status;
    /* A taxonomy is help: without it, the database can be read all the same. */
    if (status != LODE_OK)
        return LODE_OK;
    status = lode_taxonomy_read(list, db, (const char *)blob.bytes, blob.size, error);
    lode_blob_free(&blob);
    return status;
}

static lode_status fill(lode_derived_list *list, const lode_database *db, const char *directory,
                        lode_error *error)
{
    if (directory) {
        int at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        lode_status status = at < 0 ? LODE_OK : read_file(list, db, at, "metrics/METRICS.yaml", error);
        if (at >= 0 && status == LODE_OK)
            status = read_file(list, db, at, "metrics/default.yaml", error);
        if (at >= 0)
            close(at);
        LODE_TRY(status);
    }
    for (uint32_t i = 0; i < db->metric_count; i++)
        LODE_TRY(add_mean(list, db, &db->metrics[i], error));
    return LODE_OK;
}

lode_status lode_derived_list_open(lode_derived_list **out, const lode_database *db, const char *directory,
                                   lode_error *error)
{
    *out = NULL;
    lode_derived_list *list = calloc(1, sizeof *list);
    LODE_TRY_ALLOC(list, error);
    lode_array_init(&list->items, sizeof(lode_derived *), LIST_MAX);
    lode_status status = fill(list, db, directory, error);
    if (status == LODE_OK)
        *out = list;
    else
        lode_derived_list_close(list);
    return status;
}

void lode_derived_list_close(lode_derived_list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->items.count; i++)
        lode_derived_free(*LODE_ARRAY_AT(&list->items, lode_derived *, i));
    lode_array_free(&list->items);
    free(list);
}
