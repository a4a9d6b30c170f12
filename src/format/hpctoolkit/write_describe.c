/* SPDX-License-Identifier: BSD-3-Clause */
/* What a writer is told: names, metrics, contexts. */
#include "base/checked.h"
#include "format/hpctoolkit/write.h"
#include <inttypes.h>
#include <string.h>

static lode_status wrong(lode_error *error, const char *what)
{
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "%s", what);
}

static lode_status too_many(lode_error *error, const char *what, uint64_t most)
{
    return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %" PRIu64 " %s", most, what);
}

lode_status lode_writer_text(lode_writer *writer, const char *text, const char **out, lode_error *error)
{
    size_t size = strlen(text) + 1;
    char *copy = lode_arena_alloc(&writer->arena, size, 1);
    if (copy == NULL)
        return lode_fail_memory(error);
    memcpy(copy, text, size);
    *out = copy;
    return LODE_OK;
}

/* One more of something, if the description is open and the format can count that many; else NULL, and why. */
static void *add(lode_writer *writer, struct lode_array *list, const char *what, uint64_t most,
                 lode_status *status, lode_error *error)
{
    void *item = NULL;
    if (writer->described)
        *status = wrong(error, "the description is sealed");
    else if (list->count >= most)
        *status = too_many(error, what, most);
    else if ((item = lode_array_push(list)) == NULL)
        *status = lode_fail_memory(error);
    return item;
}

lode_status lode_writer_add_id_kind(lode_writer *writer, const char *name, unsigned *kind, lode_error *error)
{
    lode_status status = LODE_OK;
    void *item = add(writer, &writer->kinds, "kinds of ids", WRITTEN_MAX_KINDS, &status, error);
    if (item == NULL)
        return status;
    if (kind)
        *kind = (unsigned)writer->kinds.count - 1;
    return lode_writer_text(writer, name, item, error);
}

lode_status lode_writer_add_scope(lode_writer *writer, const char *name, int type, unsigned propagation_index,
                                  uint32_t *scope, lode_error *error)
{
    lode_status status = LODE_OK;
    if (type < 0 || type > UINT8_MAX)
        return wrong(error, "a scope's type is a number from 0 to 255");
    if (type == LODE_SCOPE_TRANSITIVE && propagation_index >= 16)
        return wrong(error, "a transitive scope needs a propagation index below 16");
    void *item = add(writer, &writer->scopes, "scopes", UINT16_MAX, &status, error);
    if (item == NULL)
        return status;
    struct written_scope *added = item;
    added->type = (uint8_t)type;
    added->bit = type == LODE_SCOPE_TRANSITIVE ? (uint8_t)propagation_index : UINT8_MAX;
    *scope = (uint32_t)writer->scopes.count - 1;
    return lode_writer_text(writer, name, &added->name, error);
}

lode_status lode_writer_add_metric(lode_writer *writer, const char *name, uint32_t *metric, lode_error *error)
{
    lode_status status = LODE_OK;
    void *item = add(writer, &writer->metrics, "metrics", WRITTEN_MAX_METRICS, &status, error);
    if (item == NULL)
        return status;
    struct written_metric *added = item;
    lode_array_init(&added->scopes, sizeof(struct written_metric_scope), UINT16_MAX);
    lode_array_init(&added->statistics, sizeof(struct written_statistic), UINT16_MAX);
    *metric = (uint32_t)writer->metrics.count - 1;
    return lode_writer_text(writer, name, &added->name, error);
}

static const struct written_metric_scope *find_instance(const struct written_metric *metric, uint32_t scope)
{
    for (size_t i = 0; i < metric->scopes.count; i++)
        if (LODE_ARRAY_AT(&metric->scopes, struct written_metric_scope, i)->scope == scope)
            return LODE_ARRAY_AT(&metric->scopes, struct written_metric_scope, i);
    return NULL;
}

static lode_status check_metric(const lode_writer *writer, uint32_t metric, uint32_t scope, lode_error *error)
{
    if (metric >= writer->metrics.count || scope >= writer->scopes.count)
        return wrong(error, "no such metric or scope");
    return LODE_OK;
}

lode_status lode_writer_add_metric_scope(lode_writer *writer, uint32_t metric, uint32_t scope, uint16_t *id,
                                         lode_error *error)
{
    lode_status status = LODE_OK;
    LODE_TRY(check_metric(writer, metric, scope, error));
    if (find_instance(WRITTEN(writer, metrics, metric, metric), scope))
        return wrong(error, "the metric has this scope already");
    if (writer->value_ids >= WRITTEN_MAX_METRIC_IDS)
        return too_many(error, "metrics under scopes", WRITTEN_MAX_METRIC_IDS);
    void *item = add(writer, &WRITTEN(writer, metrics, metric, metric)->scopes, "scopes of a metric",
                     UINT16_MAX, &status, error);
    if (item == NULL)
        return status;
    struct written_metric_scope *added = item;
    added->scope = scope;
    added->id = *id = (uint16_t)writer->value_ids++;
    return LODE_OK;
}

static bool has_statistic(const struct written_metric *metric, uint32_t scope, const char *formula,
                          int combine)
{
    for (size_t i = 0; i < metric->statistics.count; i++) {
        const struct written_statistic *statistic =
            LODE_ARRAY_AT(&metric->statistics, struct written_statistic, i);
        if (statistic->scope == scope && statistic->combine == combine &&
            lode_formula_of(statistic->formula) == lode_formula_of(formula))
            return true;
    }
    return false;
}

lode_status lode_writer_add_statistic(lode_writer *writer, uint32_t metric, uint32_t scope,
                                      const char *formula, int combine, lode_error *error)
{
    lode_status status = LODE_OK;
    LODE_TRY(check_metric(writer, metric, scope, error));
    if (lode_formula_of(formula) == LODE_FORMULA_OTHER || lode_combine_name(combine) == NULL)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "statistics with the formula '%s' cannot be computed", formula);
    if (writer->statistic_ids >= WRITTEN_MAX_METRIC_IDS)
        return too_many(error, "statistics", WRITTEN_MAX_METRIC_IDS);
    struct written_metric *owner = WRITTEN(writer, metrics, metric, metric);
    const struct written_metric_scope *instance = find_instance(owner, scope);
    if (instance == NULL)
        return wrong(error, "a statistic is of a scope that its metric does not have");
    if (has_statistic(owner, scope, formula, combine))
        return wrong(error, "the metric has this statistic already");
    void *item = add(writer, &owner->statistics, "statistics of a metric", UINT16_MAX, &status, error);
    if (item == NULL)
        return status;
    struct written_statistic *added = item;
    *added = (struct written_statistic){.scope = scope,
                                        .combine = (uint8_t)combine,
                                        .id = (uint16_t)writer->statistic_ids++,
                                        .value_id = instance->id};
    return lode_writer_text(writer, formula, &added->formula, error);
}

lode_status lode_writer_add_module(lode_writer *writer, const char *path, uint32_t *module, lode_error *error)
{
    lode_status status = LODE_OK;
    void *item = add(writer, &writer->modules, "load modules", UINT32_MAX - 1, &status, error);
    if (item == NULL)
        return status;
    *module = (uint32_t)writer->modules.count - 1;
    return lode_writer_text(writer, path, &((struct written_module *)item)->path, error);
}

lode_status lode_writer_add_file(lode_writer *writer, const char *path, int copied, const char *source,
                                 uint32_t *file, lode_error *error)
{
    lode_status status = LODE_OK;
    void *item = add(writer, &writer->sources, "source files", UINT32_MAX - 1, &status, error);
    if (item == NULL)
        return status;
    struct written_file *added = item;
    added->copied = copied;
    *file = (uint32_t)writer->sources.count - 1;
    if (source)
        LODE_TRY(lode_writer_text(writer, source, &added->source, error));
    return lode_writer_text(writer, path, &added->path, error);
}

/* LODE_NONE, or an index below the count. */
static bool refers(uint32_t index, const struct lode_array *list)
{
    return index == LODE_NONE || index < list->count;
}

lode_status lode_writer_add_function(lode_writer *writer, const lode_writer_function *function, uint32_t *out,
                                     lode_error *error)
{
    lode_status status = LODE_OK;
    if (!refers(function->module, &writer->modules) || !refers(function->file, &writer->sources))
        return wrong(error, "a function's module or file was not described");
    void *item = add(writer, &writer->functions, "functions", UINT32_MAX - 1, &status, error);
    if (item == NULL)
        return status;
    struct written_function *added = item;
    *added = (struct written_function){.module = function->module,
                                       .file = function->file,
                                       .line = function->line,
                                       .offset = function->offset};
    *out = (uint32_t)writer->functions.count - 1;
    return function->name ? lode_writer_text(writer, function->name, &added->name, error) : LODE_OK;
}

static bool fits(int value, int most)
{
    return value >= 0 && value <= most;
}

static lode_status check_context(const lode_writer *writer, const lode_writer_context *context,
                                 lode_error *error)
{
    if (!refers(context->parent, &writer->contexts) || !refers(context->function, &writer->functions) ||
        !refers(context->file, &writer->sources) || !refers(context->module, &writer->modules))
        return wrong(error, "a context's parent, function, file or module was not described");
    if (context->parent != LODE_NONE && WRITTEN(writer, contexts, context, context->parent)->unlisted)
        return wrong(error, "an unlisted context has no children");
    if (!fits(context->entry, UINT16_MAX) || !fits(context->lexical, UINT8_MAX) ||
        !fits(context->relation, UINT8_MAX) || context->propagation > UINT16_MAX)
        return wrong(error, "a context's entry, lexical type, relation or propagation is out of range");
    if (context->parent == LODE_NONE && writer->entries >= WRITTEN_MAX_ENTRIES)
        return too_many(error, "entry points", WRITTEN_MAX_ENTRIES);
    return LODE_OK;
}

lode_status lode_writer_add_context(lode_writer *writer, const lode_writer_context *context, uint32_t *out,
                                    lode_error *error)
{
    lode_status status = LODE_OK;
    LODE_TRY(check_context(writer, context, error));
    void *item = add(writer, &writer->contexts, "contexts", UINT32_MAX - 1, &status, error);
    if (item == NULL)
        return status;
    struct written_context *added = item;
    *added = (struct written_context){.parent = context->parent,
                                      .function = context->function,
                                      .file = context->file,
                                      .module = context->module,
                                      .line = context->file == LODE_NONE ? 0 : context->line,
                                      .offset = context->module == LODE_NONE ? 0 : context->offset,
                                      .entry = (uint16_t)context->entry,
                                      .propagation = (uint16_t)context->propagation,
                                      .lexical = (uint8_t)context->lexical,
                                      .relation = (uint8_t)context->relation};
    *out = (uint32_t)writer->contexts.count - 1;
    if (context->parent != LODE_NONE)
        return LODE_OK;
    writer->entries++;
    return lode_writer_text(writer, context->entry_name ? context->entry_name : "", &added->entry_name,
                            error);
}

lode_status lode_writer_add_unlisted(lode_writer *writer, uint32_t *out, lode_error *error)
{
    lode_status status = LODE_OK;
    void *item = add(writer, &writer->contexts, "contexts", UINT32_MAX - 1, &status, error);
    if (item == NULL)
        return status;
    struct written_context *added = item;
    *added = (struct written_context){.parent = LODE_NONE, .unlisted = true};
    *out = (uint32_t)writer->contexts.count - 1;
    return LODE_OK;
}
