/* SPDX-License-Identifier: BSD-3-Clause */
/* The public writer: a description that callers fill, and a sink that takes profiles in order. */
#include "transform/writer.h"

#include "base/error.h"
#include "base/options.h"
#include "format/format.h"
#include <stdlib.h>
#include <string.h>

static lode_status keep(lode_writer *writer, const char *string, const char **out, lode_error *error)
{
    size_t size = string ? strlen(string) + 1 : 0;
    char *copy = string ? lode_arena_alloc(&writer->about.arena, size, 1) : NULL;
    if (string && copy == NULL)
        return lode_fail_memory(error);
    *out = string ? memcpy(copy, string, size) : NULL;
    return LODE_OK;
}

static lode_status create(lode_writer *writer, const struct lode_sink_ops *to, const char *path,
                          const lode_writer_options *options, lode_error *error)
{
    struct lode_sink_options sink = {.force = options->force,
                                     .traces = options->traces,
                                     .threads = options->threads,
                                     .memory = options->memory,
                                     .on_progress = options->on_progress,
                                     .user = options->user};
    lode_description_init(&writer->about);
    if (to->limits.metrics > 0)
        writer->about.limits = to->limits;
    LODE_TRY(keep(writer, options->title, &writer->about.title, error));
    LODE_TRY(keep(writer, options->description, &writer->about.text, error));
    return lode_sink_open(&writer->sink, to, path, &sink, error);
}

lode_status lode_writer_open(lode_writer **out, const char *path, const lode_writer_options *given,
                             lode_error *error)
{
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    const struct lode_target *target = lode_target_of_databases(options.to);
    if (target == NULL || target->sink->append == NULL || target->sink->keeps_ids)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "there is no format '%s' to write profiles in", options.to);
    lode_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return lode_fail_memory(error);
    lode_status status = create(writer, target->sink, path, &options, error);
    if (status == LODE_OK)
        *out = writer;
    else
        lode_writer_close(writer);
    return status;
}

void lode_writer_close(lode_writer *writer)
{
    if (writer == NULL)
        return;
    lode_sink_close(writer->sink);
    lode_description_free(&writer->about);
    free(writer->value_ids);
    free(writer->opaque);
    free(writer);
}

/* ---- the description ---- */

lode_status lode_writer_add_id_kind(lode_writer *writer, const char *name, unsigned *kind, lode_error *error)
{
    return lode_description_add_id_kind(&writer->about, name, kind, error);
}

lode_status lode_writer_add_scope(lode_writer *writer, const char *name, int type, unsigned propagation_index,
                                  uint32_t *scope, lode_error *error)
{
    return lode_description_add_scope(&writer->about, name, type, propagation_index, scope, error);
}

lode_status lode_writer_add_metric(lode_writer *writer, const char *name, uint32_t *metric, lode_error *error)
{
    return lode_description_add_metric(&writer->about, name, metric, error);
}

lode_status lode_writer_add_metric_scope(lode_writer *writer, uint32_t metric, uint32_t scope, uint16_t *id,
                                         lode_error *error)
{
    return lode_description_add_metric_scope(&writer->about, metric, scope, id, error);
}

lode_status lode_writer_add_statistic(lode_writer *writer, uint32_t metric, uint32_t scope,
                                      const char *formula, int combine, lode_error *error)
{
    return lode_description_add_statistic(&writer->about, metric, scope, formula, combine, error);
}

lode_status lode_writer_add_module(lode_writer *writer, const char *path, uint32_t *module, lode_error *error)
{
    return lode_description_add_module(&writer->about, path, module, error);
}

lode_status lode_writer_add_file(lode_writer *writer, const char *path, int copied, const char *source,
                                 uint32_t *file, lode_error *error)
{
    return lode_description_add_file(&writer->about, path, copied, source, file, error);
}

lode_status lode_writer_add_function(lode_writer *writer, const lode_writer_function *function, uint32_t *out,
                                     lode_error *error)
{
    return lode_description_add_function(&writer->about, function, out, error);
}

lode_status lode_writer_add_context(lode_writer *writer, const lode_writer_context *context, uint32_t *out,
                                    lode_error *error)
{
    return lode_description_add_context(&writer->about, context, out, error);
}

lode_status lode_writer_add_unlisted(lode_writer *writer, uint32_t *out, lode_error *error)
{
    return lode_description_add_unlisted(&writer->about, out, error);
}

/* What values are of, by their ids. */
static lode_status index_values(lode_writer *writer, lode_error *error)
{
    const struct lode_description *about = &writer->about;
    writer->value_ids = calloc((size_t)about->value_ids + 1, sizeof *writer->value_ids);
    writer->opaque = calloc((size_t)about->metric_count + 1, sizeof *writer->opaque);
    if (writer->value_ids == NULL || writer->opaque == NULL)
        return lode_fail_memory(error);
    writer->columns = about->value_ids;
    for (uint32_t m = 0; m < about->metric_count; m++)
        for (uint32_t i = 0; i < about->metrics[m].scope_count; i++) {
            const lode_metric_scope *instance = &about->metrics[m].scopes[i];
            const lode_scope *scope = instance->scope;
            bool is_custom = scope->type == LODE_SCOPE_CUSTOM;
            writer->value_ids[instance->id] = (struct lode_writer_value){
                scope->type, scope->propagation_index, is_custom ? writer->columns++ : 0};
            writer->opaque[m] |= lode_scope_type_name(scope->type) == NULL ||
                                 (is_custom && strcmp(scope->name, "lex_aware") != 0);
        }
    return LODE_OK;
}

lode_status lode_writer_seal(lode_writer *writer, lode_error *error)
{
    LODE_TRY(lode_description_seal(&writer->about, error));
    LODE_TRY(index_values(writer, error));
    LODE_TRY(lode_sink_seal(writer->sink, &writer->about, error));
    writer->sealed = true;
    return LODE_OK;
}

void lode_writer_set_trace_bounds(lode_writer *writer, uint64_t min, uint64_t max)
{
    struct lode_description *about = &writer->about;
    about->trace_min = min < about->trace_min ? min : about->trace_min;
    about->trace_max = max > about->trace_max ? max : about->trace_max;
}

lode_status lode_writer_finish(lode_writer *writer, lode_error *error)
{
    if (!writer->sealed || writer->finished)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "only a sealed database can be finished, and only once");
    if (writer->broken)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a profile could not be appended, so the database cannot be finished");
    writer->finished = true;
    return lode_sink_finish(writer->sink, error);
}
