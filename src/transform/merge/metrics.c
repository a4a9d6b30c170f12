/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of ids, scopes and metrics of several databases: equal ones are one. */
#include "base/compare.h"
#include "base/error.h"
#include "base/io/beneath.h"
#include "transform/slice/slice.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lists ---- */

static void list_init(struct lode_merge_list *list)
{
    lode_strings_init(&list->keys);
    lode_array_init(&list->items, sizeof(struct lode_merge_item), UINT32_MAX - 1);
}

void lode_merge_list_free(struct lode_merge_list *list)
{
    lode_strings_free(&list->keys);
    lode_array_free(&list->items);
    free(list->order);
}

/* Numbers the equal items of one part, so that each of them matches one of another part. */
struct repeats {
    struct lode_strings keys;
    struct lode_array counts; /* of uint32_t, by key */
};

static void repeats_init(struct repeats *self)
{
    lode_strings_init(&self->keys);
    lode_array_init(&self->counts, sizeof(uint32_t), UINT32_MAX - 1);
}

static void repeats_free(struct repeats *self)
{
    lode_strings_free(&self->keys);
    lode_array_free(&self->counts);
}

/* How many items of this key the part had before. False if out of memory. */
static bool repeats_count(struct repeats *self, const char *key, uint32_t *before)
{
    uint32_t number;
    if (!lode_strings_put(&self->keys, key, &number))
        return false;
    if (number == self->counts.count && lode_array_push(&self->counts) == NULL)
        return false;
    *before = (*LODE_ARRAY_AT(&self->counts, uint32_t, number))++;
    return true;
}

static const void *smaller(const struct lode_merge_item *item, const void *from,
                           int (*compare)(const void *, const void *))
{
    return compare && compare(from, item->from) < 0 ? from : item->from;
}

/* Adds an item of a part; `number` is that of the list. Of equal ones, the least is kept. */
static lode_status list_add(struct lode_merge_list *list, struct repeats *repeats, const char *name,
                            const char *key, uint32_t position, const void *from,
                            int (*compare)(const void *, const void *), uint32_t *number, lode_error *error)
{
    uint32_t before;
    char *full = NULL;
    if (!repeats_count(repeats, key, &before) || asprintf(&full, "%s\n%" PRIu32, key, before) < 0)
        return lode_fail_memory(error);
    bool done = lode_strings_put(&list->keys, full, number);
    free(full);
    LODE_TRY_ALLOC(done, error);
    if (*number == list->items.count) {
        struct lode_merge_item *added = lode_array_push(&list->items);
        LODE_TRY_ALLOC(added, error);
        *added = (struct lode_merge_item){.name = name,
                                          .key = lode_strings_at(&list->keys, *number),
                                          .from = from,
                                          .position = position,
                                          .number = *number};
    }
    struct lode_merge_item *item = LODE_ARRAY_AT(&list->items, struct lode_merge_item, *number);
    item->position = position < item->position ? position : item->position;
    item->from = smaller(item, from, compare);
    return LODE_OK;
}

static int compare_items(const void *left, const void *right)
{
    const struct lode_merge_item *a = left, *b = right;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->key, b->key);
}

/* By position, which keeps the order of lists that are equal; then by content. */
static lode_status list_sort(struct lode_merge_list *list, lode_error *error)
{
    size_t count = list->items.count;
    list->order = calloc(count + 1, sizeof *list->order);
    LODE_TRY_ALLOC(list->order, error);
    if (count > 1)
        qsort(list->items.items, count, sizeof(struct lode_merge_item), compare_items);
    for (uint32_t i = 0; i < count; i++)
        list->order[LODE_ARRAY_AT(&list->items, struct lode_merge_item, i)->number] = i;
    return LODE_OK;
}

/* ---- keys ---- */

/* Lengths keep texts apart. */
static bool put_text(struct lode_blob *blob, const char *text)
{
    char length[24];
    size_t size = (size_t)snprintf(length, sizeof length, "%zu:", strlen(text));
    size_t at = lode_blob_reserve(blob, size + strlen(text), 1);
    if (at == LODE_BLOB_FULL)
        return false;
    memcpy(blob->bytes + at, length, size);
    memcpy(blob->bytes + at + size, text, strlen(text));
    return true;
}

static bool put_number(struct lode_blob *blob, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof text, "%" PRIu32, number);
    return put_text(blob, text);
}

static bool put_end(struct lode_blob *blob)
{
    return lode_blob_reserve(blob, 1, 1) != LODE_BLOB_FULL;
}

static bool scope_key(struct lode_blob *blob, const struct lode_scope *scope)
{
    return put_text(blob, scope->name) && put_number(blob, scope->type) &&
           put_number(blob, scope->propagation_index);
}

/* Scopes and statistics, each as one text. */
static bool put_parts(struct lode_strings *parts, const struct lode_metric *metric)
{
    struct lode_blob blob = {0};
    bool done = true;
    for (uint32_t i = 0; done && i < metric->scope_count; i++) {
        blob.size = 0;
        done = scope_key(&blob, metric->scopes[i].scope) && put_end(&blob) &&
               lode_strings_add(parts, (const char *)blob.bytes) != LODE_NO_NUMBER;
    }
    for (uint32_t i = 0; done && i < metric->statistic_count; i++) {
        const lode_metric_statistic *statistic = &metric->statistics[i];
        blob.size = 0;
        done = put_text(&blob, "statistic") && scope_key(&blob, statistic->scope) &&
               put_text(&blob, statistic->formula) && put_number(&blob, (uint32_t)statistic->combine) &&
               put_end(&blob) && lode_strings_add(parts, (const char *)blob.bytes) != LODE_NO_NUMBER;
    }
    lode_blob_free(&blob);
    return done;
}

/* Name, scopes and statistics, in any order. */
static bool metric_key(struct lode_blob *blob, const struct lode_metric *metric)
{
    struct lode_strings parts;
    lode_strings_init(&parts);
    bool done = put_text(blob, metric->name) && put_parts(&parts, metric);
    if (done && parts.items.count > 1)
        qsort(parts.items.items, parts.items.count, sizeof(const char *), lode_compare_strings);
    for (uint32_t i = 0; done && i < parts.items.count; i++)
        done = put_text(blob, lode_strings_at(&parts, i));
    lode_strings_free(&parts);
    return done && put_end(blob);
}

static int compare_scopes(const struct lode_scope *a, const struct lode_scope *b)
{
    int order = strcmp(a->name, b->name);
    if (order == 0)
        order = (int)a->type - (int)b->type;
    return order ? order : (int)a->propagation_index - (int)b->propagation_index;
}

/* Of metrics with equal keys: by the order of their scopes and statistics. */
static int compare_metrics(const void *left, const void *right)
{
    const struct lode_metric *a = left, *b = right;
    int order = 0;
    for (uint32_t i = 0; order == 0 && i < a->scope_count && i < b->scope_count; i++)
        order = compare_scopes(a->scopes[i].scope, b->scopes[i].scope);
    for (uint32_t i = 0; order == 0 && i < a->statistic_count && i < b->statistic_count; i++) {
        const lode_metric_statistic *s = &a->statistics[i], *t = &b->statistics[i];
        order = compare_scopes(s->scope, t->scope);
        if (order == 0)
            order = strcmp(s->formula, t->formula);
        if (order == 0)
            order = s->combine - t->combine;
    }
    return order;
}

/* ---- the lists of a part ---- */

static lode_status add_kinds(struct lode_merge_source *self, struct lode_merge_part *part,
                             struct repeats *repeats, lode_error *error)
{
    const lode_database *db = part->db;
    for (uint32_t i = 0; i < db->id_kind_count; i++)
        LODE_TRY(list_add(&self->kinds, repeats, db->id_kinds[i], db->id_kinds[i], i, NULL, NULL,
                          &part->kinds[i], error));
    return LODE_OK;
}

static lode_status add_scopes(struct lode_merge_source *self, struct lode_merge_part *part,
                              struct repeats *repeats, lode_error *error)
{
    const lode_database *db = part->db;
    struct lode_blob blob = {0};
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < db->scope_count && status == LODE_OK; i++) {
        const struct lode_scope *scope = &db->scopes[i];
        blob.size = 0;
        status = scope_key(&blob, scope) && put_end(&blob)
                     ? list_add(&self->scopes, repeats, scope->name, (const char *)blob.bytes, i, scope, NULL,
                                &part->scopes[i], error)
                     : lode_fail_memory(error);
    }
    lode_blob_free(&blob);
    return status;
}

static lode_status add_metrics(struct lode_merge_source *self, struct lode_merge_part *part,
                               struct repeats *repeats, lode_error *error)
{
    const lode_database *db = part->db;
    struct lode_blob blob = {0};
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < db->metric_count && status == LODE_OK; i++) {
        const struct lode_metric *metric = &db->metrics[i];
        blob.size = 0;
        status = metric_key(&blob, metric)
                     ? list_add(&self->metrics, repeats, metric->name, (const char *)blob.bytes, i, metric,
                                compare_metrics, &part->metrics[i], error)
                     : lode_fail_memory(error);
    }
    lode_blob_free(&blob);
    return status;
}

static lode_status add_lists(struct lode_merge_source *self, struct lode_merge_part *part,
                             lode_status (*add)(struct lode_merge_source *, struct lode_merge_part *,
                                                struct repeats *, lode_error *),
                             lode_error *error)
{
    struct repeats repeats;
    repeats_init(&repeats);
    lode_status status = add(self, part, &repeats, error);
    repeats_free(&repeats);
    return status;
}

/* ---- names ---- */

static int compare_names(const void *left, const void *right, void *argument)
{
    const struct lode_merge_item *items = argument;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = strcmp(items[a].name, items[b].name);
    return order ? order : (a < b ? -1 : a > b);
}

/* How many metrics of a name one part has at most. */
static uint32_t most_of_name(const struct lode_merge_source *self, const char *name)
{
    uint32_t most = 0;
    for (uint32_t p = 0; p < self->count; p++) {
        const lode_database *db = self->parts[p].db;
        uint32_t count = 0;
        for (uint32_t i = 0; i < db->metric_count; i++)
            count += strcmp(db->metrics[i].name, name) == 0;
        most = count > most ? count : most;
    }
    return most;
}

static bool is_name(const struct lode_merge_source *self, const char *name)
{
    for (uint32_t i = 0; i < self->metrics.items.count; i++)
        if (strcmp(self->metric_names[i], name) == 0)
            return true;
    return false;
}

/* "NAME (2)", or the next one that is free. */
static lode_status add_suffix(struct lode_merge_source *self, uint32_t position, lode_error *error)
{
    const char *name = self->metric_names[position];
    size_t size = strlen(name) + 16;
    char *changed = lode_arena_alloc(&self->arena, size, 1), text[512];
    LODE_TRY_ALLOC(changed, error);
    uint32_t number = 2;
    do
        snprintf(changed, size, "%s (%" PRIu32 ")", name, number++);
    while (is_name(self, changed));
    self->metric_names[position] = changed;
    snprintf(text, sizeof text,
             "metric '%.160s' has other scopes or statistics in some databases; these are stored as '%.160s'",
             name, changed);
    return lode_merge_report(self, "metric-conflict", "", text, error);
}

/* Metrics of one name that no database has together get suffixes; `order` is by name. */
static lode_status name_group(struct lode_merge_source *self, const uint32_t *order, uint32_t count,
                              lode_error *error)
{
    if (count < 2 || count <= most_of_name(self, self->metric_names[order[0]]))
        return LODE_OK;
    for (uint32_t i = 1; i < count; i++)
        LODE_TRY(add_suffix(self, order[i], error));
    return LODE_OK;
}

static lode_status name_groups(struct lode_merge_source *self, uint32_t *order, lode_error *error)
{
    const struct lode_merge_item *items = self->metrics.items.items;
    uint32_t count = (uint32_t)self->metrics.items.count;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
        self->metric_names[i] = items[i].name;
    }
    if (count > 1)
        qsort_r(order, count, sizeof *order, compare_names, self->metrics.items.items);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && strcmp(items[order[end]].name, items[order[first]].name) == 0;)
            end++;
        LODE_TRY(name_group(self, order + first, end - first, error));
    }
    return LODE_OK;
}

static lode_status name_metrics(struct lode_merge_source *self, lode_error *error)
{
    size_t count = self->metrics.items.count;
    uint32_t *order = calloc(count + 1, sizeof *order);
    self->metric_names = calloc(count + 1, sizeof *self->metric_names);
    lode_status status =
        order && self->metric_names ? name_groups(self, order, error) : lode_fail_memory(error);
    free(order);
    return status;
}

/* ---- all of it ---- */

static lode_status allocate(struct lode_merge_part *part, lode_error *error)
{
    const lode_database *db = part->db;
    part->kinds = calloc((size_t)db->id_kind_count + 1, sizeof *part->kinds);
    part->scopes = calloc((size_t)db->scope_count + 1, sizeof *part->scopes);
    part->metrics = calloc((size_t)db->metric_count + 1, sizeof *part->metrics);
    return part->kinds && part->scopes && part->metrics ? LODE_OK : lode_fail_memory(error);
}

lode_status lode_merge_unify(struct lode_merge_source *self, lode_error *error)
{
    list_init(&self->kinds);
    list_init(&self->scopes);
    list_init(&self->metrics);
    for (uint32_t i = 0; i < self->count; i++) {
        LODE_TRY(allocate(&self->parts[i], error));
        LODE_TRY(add_lists(self, &self->parts[i], add_kinds, error));
        LODE_TRY(add_lists(self, &self->parts[i], add_scopes, error));
        LODE_TRY(add_lists(self, &self->parts[i], add_metrics, error));
    }
    LODE_TRY(list_sort(&self->kinds, error));
    LODE_TRY(list_sort(&self->scopes, error));
    LODE_TRY(list_sort(&self->metrics, error));
    return name_metrics(self, error);
}

/* ---- the description ---- */

/* The position of a scope in the list, by one of the scopes that it stands for. */
static uint32_t scope_at(const struct lode_merge_source *self, const struct lode_merge_part *part,
                         const lode_scope *scope)
{
    return self->scopes.order[part->scopes[scope->index]];
}

/* A metric as the part has it whose layout is used. */
static lode_status describe_metric(const struct lode_merge_source *self, const struct lode_merge_part *part,
                                   const struct lode_metric *metric, uint32_t number,
                                   struct lode_description *out, lode_error *error)
{
    uint16_t id;
    for (uint32_t i = 0; i < metric->scope_count; i++)
        LODE_TRY(lode_description_add_metric_scope(out, number, scope_at(self, part, metric->scopes[i].scope),
                                                   &id, error));
    for (uint32_t i = 0; i < metric->statistic_count; i++) {
        const lode_metric_statistic *statistic = &metric->statistics[i];
        LODE_TRY(lode_description_add_statistic(out, number, scope_at(self, part, statistic->scope),
                                                statistic->formula, statistic->combine, error));
    }
    return LODE_OK;
}

static const struct lode_merge_part *owner_of(const struct lode_merge_source *self, const void *metric)
{
    for (uint32_t i = 0; i < self->count; i++) {
        const lode_database *db = self->parts[i].db;
        const struct lode_metric *first = db->metrics;
        if (db->metric_count > 0 && (uintptr_t)metric >= (uintptr_t)first &&
            (uintptr_t)metric < (uintptr_t)(first + db->metric_count))
            return &self->parts[i];
    }
    return NULL;
}

/* The ids of a part's values, by scope: those of the metric that was described. */
static lode_status map_metric(const struct lode_merge_source *self, struct lode_merge_part *part,
                              const struct lode_metric *metric, const uint16_t *ids, lode_error *error)
{
    const struct lode_merge_item *item = LODE_ARRAY_AT(&self->metrics.items, struct lode_merge_item,
                                                       self->metrics.order[part->metrics[metric->index]]);
    const struct lode_merge_part *owner = owner_of(self, item->from);
    const struct lode_metric *described = item->from;
    for (uint32_t i = 0; i < metric->scope_count; i++)
        for (uint32_t k = 0; k < described->scope_count; k++)
            if (scope_at(self, part, metric->scopes[i].scope) ==
                scope_at(self, owner, described->scopes[k].scope))
                part->value_ids[metric->scopes[i].id] = (uint16_t)(ids[item->number] + k);
    (void)error;
    return LODE_OK;
}

static lode_status map_parts(struct lode_merge_source *self, const uint16_t *ids, lode_error *error)
{
    for (uint32_t p = 0; p < self->count; p++) {
        struct lode_merge_part *part = &self->parts[p];
        part->value_ids = calloc(UINT16_MAX + 1, sizeof *part->value_ids);
        LODE_TRY_ALLOC(part->value_ids, error);
        for (size_t i = 0; i <= UINT16_MAX; i++)
            part->value_ids[i] = LODE_MERGE_UNKNOWN_ID;
        for (uint32_t i = 0; i < part->db->metric_count; i++)
            LODE_TRY(map_metric(self, part, &part->db->metrics[i], ids, error));
    }
    return LODE_OK;
}

/* `ids` gets the first id of each metric, by number of the list. */
static lode_status describe_lists(struct lode_merge_source *self, uint16_t *ids, struct lode_description *out,
                                  lode_error *error)
{
    uint32_t number;
    for (uint32_t i = 0; i < self->kinds.items.count; i++)
        LODE_TRY(lode_description_add_id_kind(
            out, LODE_ARRAY_AT(&self->kinds.items, struct lode_merge_item, i)->name, NULL, error));
    for (uint32_t i = 0; i < self->scopes.items.count; i++) {
        const struct lode_scope *scope = LODE_ARRAY_AT(&self->scopes.items, struct lode_merge_item, i)->from;
        LODE_TRY(lode_description_add_scope(out, scope->name, scope->type, scope->propagation_index, &number,
                                            error));
    }
    for (uint32_t i = 0; i < self->metrics.items.count; i++) {
        const struct lode_merge_item *item = LODE_ARRAY_AT(&self->metrics.items, struct lode_merge_item, i);
        ids[item->number] = (uint16_t)out->value_ids;
        LODE_TRY(lode_description_add_metric(out, self->metric_names[i], &number, error));
        LODE_TRY(describe_metric(self, owner_of(self, item->from), item->from, number, out, error));
    }
    return map_parts(self, ids, error);
}

/* Of a slice: the metric of each id. */
static lode_status map_ids(struct lode_merge_source *self, const struct lode_description *out,
                           lode_error *error)
{
    uint32_t metric = 0, left = 0;
    self->metric_of = calloc((size_t)out->value_ids + 1, sizeof *self->metric_of);
    LODE_TRY_ALLOC(self->metric_of, error);
    for (uint32_t id = 0; id < out->value_ids; id++, left--) {
        while (left == 0) {
            const struct lode_merge_item *item =
                LODE_ARRAY_AT(&self->metrics.items, struct lode_merge_item, metric++);
            left = ((const struct lode_metric *)item->from)->scope_count;
        }
        self->metric_of[id] = metric - 1;
    }
    return LODE_OK;
}

/* The metric of a time window, with the kinds of ids of the database. */
static lode_status describe_times(struct lode_merge_source *self, struct lode_description *out,
                                  lode_error *error)
{
    for (uint32_t i = 0; i < self->kinds.items.count; i++)
        LODE_TRY(lode_description_add_id_kind(
            out, LODE_ARRAY_AT(&self->kinds.items, struct lode_merge_item, i)->name, NULL, error));
    return lode_slice_describe_times(out, error);
}

lode_status lode_merge_describe_metrics(struct lode_merge_source *self, struct lode_description *out,
                                        lode_error *error)
{
    if (lode_slice_has_window(&self->parts[0]))
        return describe_times(self, out, error);
    uint16_t *ids = calloc(self->metrics.items.count + 1, sizeof *ids);
    LODE_TRY_ALLOC(ids, error);
    lode_status status = describe_lists(self, ids, out, error);
    free(ids);
    if (status == LODE_OK && self->parts[0].filter)
        status = map_ids(self, out, error);
    if (status == LODE_OK && self->has_runs && self->run_kind == self->kinds.items.count)
        status = lode_description_add_id_kind(out, "RUN", NULL, error);
    return status;
}

/* ---- the taxonomy ---- */

static bool has_same_metrics(const struct lode_merge_source *self)
{
    for (uint32_t i = 0; i < self->count; i++)
        if (self->parts[i].db->metric_count != self->metrics.items.count)
            return false;
    return true;
}

/* LODE_ABSENT if there is none, or none that can be read, which is a finding. */
static lode_status read_taxonomy(const struct lode_merge_source *self, const struct lode_merge_part *part,
                                 struct lode_blob *out, lode_error *error)
{
    static const char path[] = "metrics/default.yaml";
    lode_error reason = {0};
    char text[sizeof reason.text + 64];
    int directory = part->directory ? open(part->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory < 0)
        return LODE_ABSENT;
    lode_status status = lode_companion_read(out, directory, path, &reason);
    close(directory);
    if (status == LODE_ERR_MEMORY)
        return lode_fail_memory(error);
    if (status == LODE_OK || status == LODE_ABSENT)
        return status;
    snprintf(text, sizeof text, "%s; the file is omitted", reason.text);
    LODE_TRY(lode_merge_report(self, "companion-file", path, text, error));
    return LODE_ABSENT;
}

/* LODE_ABSENT if it differs. */
static lode_status compare_taxonomy(const struct lode_merge_source *self, const struct lode_merge_part *part,
                                    const struct lode_blob *first, lode_error *error)
{
    struct lode_blob other = {0};
    lode_status status = read_taxonomy(self, part, &other, error);
    if (status == LODE_OK &&
        (other.size != first->size || memcmp(other.bytes, first->bytes, first->size) != 0))
        status = LODE_ABSENT;
    lode_blob_free(&other);
    return status;
}

lode_status lode_merge_taxonomy(const struct lode_merge_source *self, const char **out, lode_error *error)
{
    struct lode_blob first = {0};
    *out = NULL;
    lode_status status =
        has_same_metrics(self) ? read_taxonomy(self, &self->parts[0], &first, error) : LODE_ABSENT;
    for (uint32_t i = 1; i < self->count && status == LODE_OK; i++)
        status = compare_taxonomy(self, &self->parts[i], &first, error);
    lode_blob_free(&first);
    if (status == LODE_OK)
        *out = self->parts[0].directory;
    return status == LODE_ABSENT ? LODE_OK : status;
}
