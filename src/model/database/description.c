/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/description.h"

#include "base/error.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Contexts are at their number + 1, after the global one; a parent is a position. */
#define POSITION(number) ((uint32_t)((number) + 1))

/* A metric being described. */
struct new_metric {
    const char *name;
    struct lode_array scopes;     /* of struct new_scope */
    struct lode_array statistics; /* of struct new_statistic */
};

struct new_scope {
    uint32_t scope;
    uint16_t id;
};

struct new_statistic {
    uint32_t scope;
    int combine;
    const char *formula;
    uint16_t id;
};

#define LISTED(self, list, type, number) LODE_ARRAY_AT(&(self)->list, type, number)

void lode_description_init(struct lode_description *self)
{
    *self = (struct lode_description){
        .trace_min = UINT64_MAX,
        .limits = {UINT8_MAX, UINT32_MAX - 1, UINT16_MAX, UINT32_MAX - 1},
    };
    lode_arena_init(&self->arena, SIZE_MAX);
    lode_array_init(&self->kinds_list, sizeof(const char *), SIZE_MAX);
    lode_array_init(&self->scope_list, sizeof(struct lode_scope), SIZE_MAX);
    lode_array_init(&self->metric_list, sizeof(struct new_metric), SIZE_MAX);
    lode_array_init(&self->module_list, sizeof(struct lode_module), SIZE_MAX);
    lode_array_init(&self->file_list, sizeof(struct lode_file), SIZE_MAX);
    lode_array_init(&self->function_list, sizeof(struct lode_function), SIZE_MAX);
    lode_strings_init(&self->entry_names);
}

void lode_description_free(struct lode_description *self)
{
    for (size_t i = 0; i < self->metric_list.count; i++) {
        lode_array_free(&LISTED(self, metric_list, struct new_metric, i)->scopes);
        lode_array_free(&LISTED(self, metric_list, struct new_metric, i)->statistics);
    }
    struct lode_array *lists[] = {&self->kinds_list,  &self->scope_list, &self->metric_list,
                                  &self->module_list, &self->file_list,  &self->function_list};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        lode_array_free(lists[i]);
    lode_content_tree_close(&self->nodes);
    lode_strings_free(&self->entry_names);
    free(self->id_of);
    lode_arena_free(&self->arena);
}

/* ---- adding ---- */

static lode_status wrong(lode_error *error, const char *what)
{
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "%s", what);
}

static lode_status too_many(lode_error *error, const char *what, uint64_t most)
{
    return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %" PRIu64 " %s", most, what);
}

static lode_status keep(struct lode_description *self, const char *string, const char **out,
                        lode_error *error)
{
    *out = string;
    if (self->keeps_strings)
        return LODE_OK;
    size_t size = strlen(string) + 1;
    char *copy = lode_arena_alloc(&self->arena, size, 1);
    LODE_TRY_ALLOC(copy, error);
    *out = memcpy(copy, string, size);
    return LODE_OK;
}

/* Appends an item; NULL and an error if the description is sealed or the limit is reached. */
static void *add(struct lode_description *self, struct lode_array *list, const char *what, uint64_t most,
                 lode_status *status, lode_error *error)
{
    void *item = NULL;
    if (self->sealed)
        *status = wrong(error, "the description is sealed");
    else if (list->count >= most)
        *status = too_many(error, what, most);
    else if ((item = lode_array_push(list)) == NULL)
        *status = lode_fail_memory(error);
    return item;
}

lode_status lode_description_add_id_kind(struct lode_description *self, const char *name, unsigned *kind,
                                         lode_error *error)
{
    lode_status status = LODE_OK;
    void *item = add(self, &self->kinds_list, "kinds of ids", self->limits.id_kinds, &status, error);
    if (item == NULL)
        return status;
    if (kind)
        *kind = (unsigned)self->kinds_list.count - 1;
    return keep(self, name, item, error);
}

lode_status lode_description_add_scope(struct lode_description *self, const char *name, int type,
                                       unsigned propagation_index, uint32_t *scope, lode_error *error)
{
    lode_status status = LODE_OK;
    if (type < 0 || type > UINT8_MAX)
        return wrong(error, "a scope's type is a number from 0 to 255");
    if (type == LODE_SCOPE_TRANSITIVE && propagation_index >= 16)
        return wrong(error, "a transitive scope needs a propagation index below 16");
    struct lode_scope *added = add(self, &self->scope_list, "scopes", UINT16_MAX, &status, error);
    if (added == NULL)
        return status;
    added->index = *scope = (uint32_t)self->scope_list.count - 1;
    added->type = (uint8_t)type;
    added->propagation_index = type == LODE_SCOPE_TRANSITIVE ? (uint8_t)propagation_index : UINT8_MAX;
    return keep(self, name, &added->name, error);
}

lode_status lode_description_add_metric(struct lode_description *self, const char *name, uint32_t *metric,
                                        lode_error *error)
{
    lode_status status = LODE_OK;
    struct new_metric *added = add(self, &self->metric_list, "metrics", self->limits.metrics, &status, error);
    if (added == NULL)
        return status;
    lode_array_init(&added->scopes, sizeof(struct new_scope), UINT16_MAX);
    lode_array_init(&added->statistics, sizeof(struct new_statistic), UINT16_MAX);
    *metric = (uint32_t)self->metric_list.count - 1;
    return keep(self, name, &added->name, error);
}

static bool has_scope(const struct new_metric *metric, uint32_t scope)
{
    for (size_t i = 0; i < metric->scopes.count; i++)
        if (LODE_ARRAY_AT(&metric->scopes, struct new_scope, i)->scope == scope)
            return true;
    return false;
}

static lode_status check_metric(const struct lode_description *self, uint32_t metric, uint32_t scope,
                                lode_error *error)
{
    if (metric >= self->metric_list.count || scope >= self->scope_list.count)
        return wrong(error, "no such metric or scope");
    return LODE_OK;
}

lode_status lode_description_add_metric_scope(struct lode_description *self, uint32_t metric, uint32_t scope,
                                              uint16_t *id, lode_error *error)
{
    lode_status status = LODE_OK;
    LODE_TRY(check_metric(self, metric, scope, error));
    struct new_metric *owner = LISTED(self, metric_list, struct new_metric, metric);
    if (has_scope(owner, scope))
        return wrong(error, "the metric already has this scope");
    if (self->value_ids >= self->limits.metric_ids)
        return too_many(error, "metrics under scopes", self->limits.metric_ids);
    struct new_scope *added = add(self, &owner->scopes, "scopes of a metric", UINT16_MAX, &status, error);
    if (added == NULL)
        return status;
    added->scope = scope;
    added->id = (uint16_t)self->value_ids++;
    if (id)
        *id = added->id;
    return LODE_OK;
}

static bool has_statistic(const struct new_metric *metric, uint32_t scope, const char *formula, int combine)
{
    for (size_t i = 0; i < metric->statistics.count; i++) {
        const struct new_statistic *statistic = LODE_ARRAY_AT(&metric->statistics, struct new_statistic, i);
        if (statistic->scope == scope && statistic->combine == combine &&
            lode_formula_of(statistic->formula) == lode_formula_of(formula))
            return true;
    }
    return false;
}

lode_status lode_description_add_statistic(struct lode_description *self, uint32_t metric, uint32_t scope,
                                           const char *formula, int combine, lode_error *error)
{
    lode_status status = LODE_OK;
    LODE_TRY(check_metric(self, metric, scope, error));
    struct new_metric *owner = LISTED(self, metric_list, struct new_metric, metric);
    if (lode_formula_of(formula) == LODE_FORMULA_OTHER || lode_combine_name(combine) == NULL)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "statistics with the formula '%s' cannot be computed", formula);
    if (self->statistic_ids >= self->limits.metric_ids)
        return too_many(error, "statistics", self->limits.metric_ids);
    if (!has_scope(owner, scope))
        return wrong(error, "a statistic has a scope that its metric does not have");
    if (has_statistic(owner, scope, formula, combine))
        return wrong(error, "the metric already has this statistic");
    struct new_statistic *added =
        add(self, &owner->statistics, "statistics of a metric", UINT16_MAX, &status, error);
    if (added == NULL)
        return status;
    added->scope = scope;
    added->combine = combine;
    added->id = (uint16_t)self->statistic_ids++;
    return keep(self, formula, &added->formula, error);
}

lode_status lode_description_add_module(struct lode_description *self, const char *path, uint32_t *module,
                                        lode_error *error)
{
    lode_status status = LODE_OK;
    struct lode_module *added = add(self, &self->module_list, "load modules", UINT32_MAX - 1, &status, error);
    if (added == NULL)
        return status;
    added->index = *module = (uint32_t)self->module_list.count - 1;
    return keep(self, path, &added->path, error);
}

lode_status lode_description_add_file(struct lode_description *self, const char *path, int copied,
                                      const char *source, uint32_t *file, lode_error *error)
{
    lode_status status = LODE_OK;
    struct lode_file *added = add(self, &self->file_list, "source files", UINT32_MAX - 1, &status, error);
    if (added == NULL)
        return status;
    added->copied = copied;
    added->index = *file = (uint32_t)self->file_list.count - 1;
    if (source)
        LODE_TRY(keep(self, source, &added->source, error));
    return keep(self, path, &added->path, error);
}

/* LODE_NONE, or a number below the count. */
static bool refers(uint32_t number, const struct lode_array *list)
{
    return number == LODE_NONE || number < list->count;
}

lode_status lode_description_add_function(struct lode_description *self, const lode_writer_function *function,
                                          uint32_t *out, lode_error *error)
{
    lode_status status = LODE_OK;
    if (!refers(function->module, &self->module_list) || !refers(function->file, &self->file_list))
        return wrong(error, "a function's module or file was not described");
    struct lode_function *added =
        add(self, &self->function_list, "functions", UINT32_MAX - 1, &status, error);
    if (added == NULL)
        return status;
    *added = (struct lode_function){.index = function->module,
                                    .identity = function->file,
                                    .line = function->line,
                                    .offset = function->offset};
    *out = (uint32_t)self->function_list.count - 1;
    return function->name ? keep(self, function->name, &added->name, error) : LODE_OK;
}

static bool fits(int value, int most)
{
    return value >= 0 && value <= most;
}

static lode_status add_global(struct lode_description *self, lode_error *error)
{
    bool done =
        self->nodes.count > 0 || lode_content_tree_open(&self->nodes, sizeof(union lode_description_record));
    return done ? LODE_OK : lode_fail_memory(error);
}

/* Appends a context, if the limit allows. */
static lode_status push_context(struct lode_description *self, uint32_t parent,
                                const struct lode_frame *frame, uint32_t *out, lode_error *error)
{
    if (self->sealed)
        return wrong(error, "the description is sealed");
    LODE_TRY(add_global(self, error));
    if (self->nodes.count >= LODE_TREE_MAX)
        return too_many(error, "contexts", LODE_TREE_MAX - 1);
    /* A frame for each context: most differ, and finding equal ones takes longer. */
    uint32_t position = lode_content_tree_append(&self->nodes, parent, self->nodes.count);
    LODE_TRY_ALLOC(position, error);
    description_record(self, position)->added.frame = *frame;
    *out = position - 1;
    return LODE_OK;
}

static bool is_unlisted(const struct lode_description *self, uint32_t position)
{
    return description_record(self, position)->added.frame.kind == LODE_LEXICAL_UNLISTED;
}

static lode_status check_context(const struct lode_description *self, const lode_writer_context *context,
                                 lode_error *error)
{
    bool is_entry = context->parent == LODE_NONE;
    if ((!is_entry && POSITION(context->parent) >= self->nodes.count) ||
        !refers(context->function, &self->function_list) || !refers(context->file, &self->file_list) ||
        !refers(context->module, &self->module_list))
        return wrong(error, "a context's parent, function, file or module was not described");
    if (!is_entry && is_unlisted(self, POSITION(context->parent)))
        return wrong(error, "an unlisted context has no children");
    if (!fits(context->entry, UINT16_MAX) || !fits(context->lexical, UINT8_MAX) ||
        !fits(context->relation, UINT8_MAX) || context->propagation > UINT16_MAX)
        return wrong(error, "a context's entry, lexical type, relation or propagation is out of range");
    if (is_entry && self->entries >= self->limits.entries)
        return too_many(error, "entry points", self->limits.entries);
    return LODE_OK;
}

bool lode_description_frame(struct lode_strings *names, const lode_writer_context *context,
                            struct lode_frame *frame)
{
    bool is_entry = context->parent == LODE_NONE;
    *frame = (struct lode_frame){.function = context->function,
                                 .file = context->file,
                                 .module = context->module,
                                 .line = context->file == LODE_NONE ? 0 : context->line,
                                 .offset = context->module == LODE_NONE ? 0 : context->offset,
                                 .entry = (uint16_t)context->entry,
                                 .propagation = (uint16_t)context->propagation,
                                 .kind = is_entry ? LODE_LEXICAL_ENTRY : (uint16_t)context->lexical,
                                 .relation = (uint16_t)context->relation};
    const char *name = context->entry_name ? context->entry_name : "";
    return !is_entry || lode_strings_put(names, name, &frame->function);
}

lode_status lode_description_add_context(struct lode_description *self, const lode_writer_context *context,
                                         uint32_t *out, lode_error *error)
{
    LODE_TRY(check_context(self, context, error));
    struct lode_frame frame;
    LODE_TRY_ALLOC(lode_description_frame(&self->entry_names, context, &frame), error);
    LODE_TRY(push_context(self, POSITION(context->parent), &frame, out, error));
    self->entries += context->parent == LODE_NONE;
    return LODE_OK;
}

lode_status lode_description_add_unlisted(struct lode_description *self, uint32_t *out, lode_error *error)
{
    struct lode_frame frame = {.function = LODE_NO_NUMBER,
                               .file = LODE_NO_NUMBER,
                               .module = LODE_NO_NUMBER,
                               .kind = LODE_LEXICAL_UNLISTED};
    return push_context(self, LODE_TREE_ROOT, &frame, out, error);
}

/* ---- sealing ---- */

static lode_status complete_metric(struct lode_description *self, struct lode_metric *metric,
                                   const struct new_metric *from, lode_error *error)
{
    size_t scopes = from->scopes.count, statistics = from->statistics.count;
    metric->name = from->name;
    metric->scope_count = (uint16_t)scopes;
    metric->statistic_count = (uint16_t)statistics;
    metric->scopes = lode_arena_alloc(&self->arena, scopes + 1, sizeof *metric->scopes);
    metric->statistics = lode_arena_alloc(&self->arena, statistics + 1, sizeof *metric->statistics);
    LODE_TRY_ALLOC(metric->scopes && metric->statistics, error);
    for (size_t i = 0; i < scopes; i++) {
        const struct new_scope *scope = LODE_ARRAY_AT(&from->scopes, struct new_scope, i);
        metric->scopes[i] = (lode_metric_scope){&self->scopes[scope->scope], scope->id};
    }
    for (size_t i = 0; i < statistics; i++) {
        const struct new_statistic *statistic = LODE_ARRAY_AT(&from->statistics, struct new_statistic, i);
        metric->statistics[i] = (lode_metric_statistic){&self->scopes[statistic->scope], statistic->formula,
                                                        statistic->combine, statistic->id};
    }
    return LODE_OK;
}

static lode_status complete_metrics(struct lode_description *self, lode_error *error)
{
    struct lode_metric *metrics =
        lode_arena_alloc(&self->arena, (size_t)self->metric_count + 1, sizeof *metrics);
    LODE_TRY_ALLOC(metrics, error);
    self->id_kinds = self->kinds_list.items;
    self->scopes = self->scope_list.items;
    self->metrics = metrics;
    for (uint32_t i = 0; i < self->metric_count; i++) {
        metrics[i].index = i;
        LODE_TRY(complete_metric(self, &metrics[i], LISTED(self, metric_list, struct new_metric, i), error));
    }
    return LODE_OK;
}

lode_status lode_description_seal(struct lode_description *self, lode_error *error)
{
    if (self->sealed)
        return wrong(error, "the description is sealed");
    LODE_TRY(add_global(self, error));
    self->sealed = true;
    self->id_kind_count = (uint32_t)self->kinds_list.count;
    self->scope_count = (uint32_t)self->scope_list.count;
    self->metric_count = (uint32_t)self->metric_list.count;
    self->module_count = (uint32_t)self->module_list.count;
    self->file_count = (uint32_t)self->file_list.count;
    self->function_count = (uint32_t)self->function_list.count;
    LODE_TRY(complete_metrics(self, error));
    return lode_description_sort(self, error);
}

void lode_description_forget_contexts(struct lode_description *self)
{
    lode_content_tree_close(&self->nodes);
    self->tree.nodes = NULL;
}

uint16_t lode_statistic_value_id(const struct lode_metric *metric, const lode_metric_statistic *statistic)
{
    for (uint32_t i = 0; i < metric->scope_count; i++)
        if (metric->scopes[i].scope == statistic->scope)
            return metric->scopes[i].id;
    return 0;
}

/* ---- profiles ---- */

lode_status lode_description_check_tuple(const struct lode_description *self, const struct lode_id_tuple *ids,
                                         lode_error *error)
{
    if (ids->count == 0)
        return wrong(error, "a profile needs an id tuple");
    if (ids->count > UINT16_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "an id tuple of %" PRIu32 " ids",
                         ids->count);
    for (uint32_t i = 0; i < ids->count; i++)
        if (ids->ids[i].kind >= self->id_kind_count || ids->ids[i].flags > UINT16_MAX)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "an id is of kind %u with flags %u; kinds must be described, flags have 16 bits",
                             ids->ids[i].kind, ids->ids[i].flags);
    return LODE_OK;
}

lode_status lode_description_check_sample(const struct lode_description *self, uint64_t time, uint64_t last,
                                          uint32_t context, lode_error *error)
{
    if (context >= self->tree.count)
        return wrong(error, "a sample is at an unlisted context");
    return time < last ? wrong(error, "a sample is earlier than the one before") : LODE_OK;
}

int lode_id_tuple_compare(const struct lode_id_tuple *a, const struct lode_id_tuple *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        const lode_id *x = &a->ids[i], *y = &b->ids[i];
        if (x->kind != y->kind)
            return x->kind < y->kind ? -1 : 1;
        if (x->logical != y->logical)
            return x->logical < y->logical ? -1 : 1;
        if (x->physical != y->physical)
            return x->physical < y->physical ? -1 : 1;
    }
    return a->count < b->count ? -1 : a->count > b->count;
}
