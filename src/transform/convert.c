/* SPDX-License-Identifier: BSD-3-Clause */
/* From a database to a writer, nearly all of it through the public API on both sides. */
#include "base/error.h"
#include "base/map.h"
#include "base/options.h"
#include "format/format.h"
#include "format/hpctoolkit/write.h"
#include "model/block.h"
#include "model/database.h"
#include "model/trace.h"
#include "transform/points.h"
#include "transform/profiles.h"
#include <inttypes.h>
#include <lode/convert.h>
#include <lode/writer.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_IDS = 64,           /* of a tuple */
    UNKNOWN_ID = UINT16_MAX /* for metrics that are not listed; ids that are written are smaller */
};

struct conversion {
    const lode_database *db;
    const lode_convert_options *options;
    lode_writer *writer;
    uint32_t *scopes, *modules, *files, *functions; /* by old index: new number */
    uint32_t *contexts;       /* by old index: new number; LODE_NONE for the global context */
    struct lode_map unlisted; /* from old id to new number */
    uint16_t *value_ids;      /* by old id; new id */
    uint16_t *statistic_ids;  /* the same of statistics */
    uint32_t *order;          /* profiles by id tuple */
    uint32_t *trace_of;       /* by profile: its trace line, or LODE_NONE */
    uint32_t profile_count;   /* without summaries */
    bool has_samples;
    _Atomic uint64_t *dropped; /* values that were left out */
};

/* ---- the description ---- */

static lode_status describe_metrics(struct conversion *self, lode_error *error)
{
    const lode_database *db = self->db;
    uint16_t statistics = 0;
    for (uint32_t i = 0; i < db->id_kind_count; i++)
        LODE_TRY(lode_writer_add_id_kind(self->writer, db->id_kinds[i], NULL, error));
    for (uint32_t i = 0; i < db->scope_count; i++)
        LODE_TRY(lode_writer_add_scope(self->writer, db->scopes[i].name, db->scopes[i].type,
                                       db->scopes[i].propagation_index, &self->scopes[i], error));
    for (uint32_t m = 0; m < db->metric_count; m++) {
        const lode_metric *metric = &db->metrics[m];
        uint32_t added;
        LODE_TRY(lode_writer_add_metric(self->writer, metric->name, &added, error));
        for (uint32_t i = 0; i < metric->scope_count; i++)
            LODE_TRY(lode_writer_add_metric_scope(self->writer, added,
                                                  self->scopes[metric->scopes[i].scope->index],
                                                  &self->value_ids[metric->scopes[i].id], error));
        for (uint32_t i = 0; i < metric->statistic_count; i++) {
            const lode_metric_statistic *statistic = &metric->statistics[i];
            LODE_TRY(lode_writer_add_statistic(self->writer, added, self->scopes[statistic->scope->index],
                                               statistic->formula, statistic->combine, error));
            self->statistic_ids[statistic->id] = statistics++;
        }
    }
    return LODE_OK;
}

static lode_status describe_symbols(struct conversion *self, lode_error *error)
{
    const lode_database *db = self->db;
    for (uint32_t i = 0; i < db->module_count; i++)
        LODE_TRY(lode_writer_add_module(self->writer, db->modules[i].path, &self->modules[i], error));
    for (uint32_t i = 0; i < db->file_count; i++) {
        const lode_file *file = &db->files[i];
        bool comes_along = file->copied && self->options->sources;
        LODE_TRY(lode_writer_add_file(self->writer, file->path, file->copied, comes_along ? file->path : NULL,
                                      &self->files[i], error));
    }
    for (uint32_t i = 0; i < db->function_count; i++) {
        const lode_function *old = &db->functions[i];
        lode_writer_function function = {.name = old->name,
                                         .module =
                                             old->module ? self->modules[old->module->index] : LODE_NONE,
                                         .file = old->file ? self->files[old->file->index] : LODE_NONE,
                                         .line = old->line,
                                         .offset = old->offset};
        LODE_TRY(lode_writer_add_function(self->writer, &function, &self->functions[i], error));
    }
    return LODE_OK;
}

static lode_status describe_contexts(struct conversion *self, lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    self->contexts[0] = LODE_NONE;
    for (uint32_t i = 1; i < tree->count; i++) {
        const lode_context *old = &tree->nodes[i];
        const lode_function *function = lode_context_function(old);
        lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
        context.parent = self->contexts[old->parent];
        context.propagation = old->propagation;
        if (old->lexical == LODE_LEXICAL_ENTRY) {
            context.entry = old->entry;
            context.entry_name = old->entry_name;
        } else {
            context.lexical = old->lexical;
            context.relation = old->relation;
        }
        context.function = function ? self->functions[function->index] : LODE_NONE;
        context.file = old->file ? self->files[old->file->index] : LODE_NONE;
        context.line = old->line;
        context.module = old->module ? self->modules[old->module->index] : LODE_NONE;
        context.offset = old->offset;
        LODE_TRY(lode_writer_add_context(self->writer, &context, &self->contexts[i], error));
    }
    return LODE_OK;
}

static int compare_ids(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Gathers the ids of one profile that the tree does not have. */
static lode_status find_unlisted(struct conversion *self, uint32_t profile, lode_error *error)
{
    lode_block block;
    LODE_TRY(lode_profile_block(self->db, profile, &block, error));
    for (uint32_t g = 0; g < block.group_count; g++) {
        uint32_t id = block_group_key(&block, g);
        if (lode_context_tree_find(&self->db->tree, id) == LODE_NO_INDEX &&
            lode_map_add(&self->unlisted, id, 0, NULL) == NULL)
            return lode_fail_memory(error);
    }
    return LODE_OK;
}

static lode_status describe_unlisted(struct conversion *self, lode_error *error)
{
    if (self->options->drop_unlisted)
        return LODE_OK;
    for (uint32_t i = 0; i < self->profile_count; i++)
        LODE_TRY(find_unlisted(self, self->order[i], error));
    size_t count = 0;
    uint32_t *ids = calloc(self->unlisted.count + 1, sizeof *ids);
    if (ids == NULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < self->unlisted.capacity; i++)
        if (self->unlisted.slots[i].used)
            ids[count++] = (uint32_t)self->unlisted.slots[i].key;
    qsort(ids, count, sizeof *ids, compare_ids);
    lode_status status = LODE_OK;
    for (size_t i = 0; i < count && status == LODE_OK; i++) {
        uint32_t added = 0;
        status = lode_writer_add_unlisted(self->writer, &added, error);
        uint32_t *slot = lode_map_add(&self->unlisted, ids[i], 0, NULL);
        if (slot)
            *slot = added;
    }
    free(ids);
    return status;
}

/* ---- profiles ---- */

static int compare_profiles(const void *left, const void *right, void *argument)
{
    const lode_database *db = ((const struct conversion *)argument)->db;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right, x_count = 0, y_count = 0;
    lode_id x[MAX_IDS], y[MAX_IDS];
    /* Tuples were read once before sorting, so that they cannot fail here. */
    if (lode_profile_ids(db, a, x, MAX_IDS, &x_count, NULL) != LODE_OK ||
        lode_profile_ids(db, b, y, MAX_IDS, &y_count, NULL) != LODE_OK)
        return 0;
    for (uint32_t i = 0; i < x_count && i < y_count && i < MAX_IDS; i++) {
        if (x[i].kind != y[i].kind)
            return x[i].kind < y[i].kind ? -1 : 1;
        if (x[i].logical != y[i].logical)
            return x[i].logical < y[i].logical ? -1 : 1;
        if (x[i].physical != y[i].physical)
            return x[i].physical < y[i].physical ? -1 : 1;
    }
    if (x_count != y_count)
        return x_count < y_count ? -1 : 1;
    return a < b ? -1 : a > b;
}

static lode_status order_profiles(struct conversion *self, lode_error *error)
{
    const lode_database *db = self->db;
    for (uint32_t p = 1; p < db->profile_count; p++) {
        lode_id ids[MAX_IDS];
        uint32_t count;
        if (lode_profile_is_summary(db, p))
            continue;
        LODE_TRY(lode_profile_ids(db, p, ids, MAX_IDS, &count, error));
        if (count > MAX_IDS)
            return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                             "profile %u has an id tuple of %u ids; at most %d are converted", p, count,
                             MAX_IDS);
        self->order[self->profile_count++] = p;
    }
    qsort_r(self->order, self->profile_count, sizeof *self->order, compare_profiles, self);
    for (uint32_t p = 0; p < db->profile_count; p++)
        self->trace_of[p] = LODE_NONE;
    for (uint32_t i = 0; i < db->trace_count; i++) {
        lode_trace_line line;
        LODE_TRY(lode_database_trace_line(db, i, &line, error));
        self->has_samples |= line.sample_count > 0;
        if (line.profile < db->profile_count && self->trace_of[line.profile] == LODE_NONE)
            self->trace_of[line.profile] = i;
    }
    return LODE_OK;
}

/* The new number of a context, by its old id; false if its values are left out. */
static bool find_context(const struct conversion *self, uint32_t id, uint32_t *context)
{
    uint32_t index = lode_context_tree_find(&self->db->tree, id);
    if (index != LODE_NO_INDEX) {
        *context = self->contexts[index];
        return true;
    }
    const uint32_t *unlisted = lode_map_get(&self->unlisted, id);
    if (unlisted)
        *context = *unlisted;
    return unlisted != NULL;
}

static lode_status builder_values(const struct conversion *self, lode_profile_builder *builder,
                                  uint32_t profile, lode_error *error)
{
    lode_block block;
    LODE_TRY(lode_profile_block(self->db, profile, &block, error));
    for (uint32_t g = 0; g < block.group_count; g++) {
        lode_group group;
        uint32_t context;
        LODE_TRY(lode_block_group(&block, g, &group, error));
        if (!find_context(self, group.key, &context)) {
            atomic_fetch_add_explicit(self->dropped, group.count, memory_order_relaxed);
            continue;
        }
        for (uint64_t i = group.first; i < group.first + group.count; i++) {
            uint32_t id = block_value_key(&block, i);
            if (self->value_ids[id] == UNKNOWN_ID)
                return lode_fail(error, LODE_ERR_CORRUPT, block.file, LODE_NO_OFFSET,
                                 "profile %u has a value of metric %u, which %s does not list", profile, id,
                                 lode_database_part_file(self->db, LODE_PART_META));
            LODE_TRY(lode_profile_builder_value(builder, context, self->value_ids[id], block_value(&block, i),
                                                error));
        }
    }
    return LODE_OK;
}

struct recovered {
    const struct conversion *conversion;
    lode_profile_builder *builder;
};

static lode_status builder_point(void *user, uint32_t context, uint16_t id, double value, lode_error *error)
{
    const struct recovered *self = user;
    const struct conversion *conversion = self->conversion;
    return lode_profile_builder_value(self->builder, conversion->contexts[context], conversion->value_ids[id],
                                      value, error);
}

static lode_status builder_samples(const struct conversion *self, lode_profile_builder *builder,
                                   uint32_t profile, lode_error *error)
{
    lode_trace_line line;
    lode_sample sample;
    bool idle = false;
    if (self->trace_of[profile] == LODE_NONE)
        return LODE_OK;
    LODE_TRY(lode_database_trace_line(self->db, self->trace_of[profile], &line, error));
    for (uint64_t i = 0; lode_trace_line_sample(&line, i, &sample) == LODE_OK; i++) {
        uint32_t context;
        if (!find_context(self, sample.context_id, &context))
            return lode_fail(error, LODE_ERR_CORRUPT, lode_database_part_file(self->db, LODE_PART_TRACE),
                             LODE_NO_OFFSET, "a sample is at context %u, which %s does not list",
                             sample.context_id, lode_database_part_file(self->db, LODE_PART_META));
        /* To repeat that nothing ran says nothing, and some writers did. */
        if (idle && sample.context_id == 0)
            continue;
        idle = sample.context_id == 0;
        LODE_TRY(lode_profile_builder_sample(builder, sample.time, context, error));
    }
    return LODE_OK;
}

static lode_status builder_profile(void *context, uint64_t item, lode_profile_builder *builder,
                                   lode_error *error)
{
    const struct conversion *self = context;
    uint32_t profile = self->order[item], count;
    lode_id ids[MAX_IDS];
    LODE_TRY(lode_profile_ids(self->db, profile, ids, MAX_IDS, &count, error));
    LODE_TRY(lode_profile_builder_begin(builder, ids, count, error));
    LODE_TRY(builder_values(self, builder, profile, error));
    struct recovered recovered = {self, builder};
    if (self->db->points_lost)
        LODE_TRY(lode_points_recover(self->db, profile, builder_point, &recovered, error));
    return builder_samples(self, builder, profile, error);
}

static lode_status convert_profiles(struct conversion *self, lode_error *error)
{
    struct lode_profiles profiles = {.writer = self->writer,
                                     .count = self->profile_count,
                                     .fill = builder_profile,
                                     .context = self,
                                     .threads = self->options->threads,
                                     .phase = "converting profiles",
                                     .on_progress = self->options->on_progress,
                                     .user = self->options->user};
    return lode_write_profiles(&profiles, error);
}

/* ---- the summary ---- */

/* Statistics of loops as they are, which are kept where they are what is computed. */
static lode_status keep_statistics(const struct conversion *self, lode_error *error)
{
    const lode_database *db = self->db;
    lode_block block;
    LODE_TRY(lode_writer_sum_loops(self->writer, error));
    if (db->profile_count == 0 || !lode_profile_is_summary(db, 0))
        return LODE_OK;
    LODE_TRY(lode_profile_block(db, 0, &block, error));
    for (uint32_t g = 0; g < block.group_count; g++) {
        lode_group group;
        LODE_TRY(lode_block_group(&block, g, &group, error));
        uint32_t index = lode_context_tree_find(&db->tree, group.key);
        if (index == LODE_NO_INDEX || db->tree.nodes[index].lexical != LODE_LEXICAL_LOOP)
            continue;
        for (uint64_t i = group.first; i < group.first + group.count; i++)
            LODE_TRY(lode_writer_keep_statistic(self->writer, self->contexts[index],
                                                self->statistic_ids[block_value_key(&block, i)],
                                                block_value(&block, i), error));
    }
    return LODE_OK;
}

/* ---- all of it ---- */

static lode_status allocate(struct conversion *self, lode_error *error)
{
    const lode_database *db = self->db;
    self->scopes = calloc((size_t)db->scope_count + 1, sizeof(uint32_t));
    self->modules = calloc((size_t)db->module_count + 1, sizeof(uint32_t));
    self->files = calloc((size_t)db->file_count + 1, sizeof(uint32_t));
    self->functions = calloc((size_t)db->function_count + 1, sizeof(uint32_t));
    self->contexts = calloc((size_t)db->tree.count + 1, sizeof(uint32_t));
    self->value_ids = calloc(UINT16_MAX + 1, sizeof(uint16_t));
    self->statistic_ids = calloc(UINT16_MAX + 1, sizeof(uint16_t));
    self->order = calloc((size_t)db->profile_count + 1, sizeof(uint32_t));
    self->trace_of = calloc((size_t)db->profile_count + 1, sizeof(uint32_t));
    lode_map_init(&self->unlisted);
    for (size_t i = 0; self->value_ids && i <= UINT16_MAX; i++)
        self->value_ids[i] = UNKNOWN_ID;
    bool enough = self->scopes && self->modules && self->files && self->functions && self->contexts &&
                  self->value_ids && self->statistic_ids && self->order && self->trace_of;
    return enough ? LODE_OK : lode_fail_memory(error);
}

static void release(struct conversion *self)
{
    free(self->scopes);
    free(self->modules);
    free(self->files);
    free(self->functions);
    free(self->contexts);
    free(self->value_ids);
    free(self->statistic_ids);
    free(self->order);
    free(self->trace_of);
    lode_map_free(&self->unlisted);
    lode_writer_close(self->writer);
}

static lode_status pass_remarks(const struct conversion *self, lode_error *error)
{
    const lode_convert_options *options = self->options;
    for (size_t i = 0; options->on_finding && i < self->db->remark_count; i++)
        if (options->on_finding(options->user, &self->db->remarks[i]) != 0)
            return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
    return LODE_OK;
}

static lode_status say_dropped(const struct conversion *self, lode_error *error)
{
    const lode_convert_options *options = self->options;
    uint64_t dropped = atomic_load_explicit(self->dropped, memory_order_relaxed);
    char text[128];
    snprintf(text, sizeof text,
             "%" PRIu64
             " values at unlisted contexts were left out, so that inclusive values are more than their parts",
             dropped);
    lode_finding finding = {"values-dropped", LODE_WARNING, "", LODE_NO_OFFSET, text};
    if (dropped == 0 || options->on_finding == NULL || options->on_finding(options->user, &finding) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
}

static lode_status convert(struct conversion *self, const char *path, lode_error *error)
{
    const lode_database *db = self->db;
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    options.force = self->options->force;
    options.threads = self->options->threads;
    options.memory = self->options->memory;
    options.traces = lode_database_has(db, LODE_PART_TRACE);
    options.title = lode_database_title(db);
    options.description = lode_database_description(db);
    options.on_progress = self->options->on_progress;
    options.user = self->options->user;
    LODE_TRY(pass_remarks(self, error));
    LODE_TRY(allocate(self, error));
    LODE_TRY(order_profiles(self, error));
    LODE_TRY(lode_writer_create(&self->writer, path, &options, error));
    if (self->options->sources) {
        LODE_TRY(lode_origin_open(&self->writer->origin, self->options->sources, self->options->on_finding,
                                  self->options->user, error));
        LODE_TRY(lode_writer_take_taxonomy(self->writer, error));
    }
    LODE_TRY(describe_metrics(self, error));
    LODE_TRY(describe_symbols(self, error));
    LODE_TRY(describe_contexts(self, error));
    LODE_TRY(describe_unlisted(self, error));
    LODE_TRY(lode_writer_seal(self->writer, error));
    LODE_TRY(keep_statistics(self, error));
    LODE_TRY(convert_profiles(self, error));
    /* Bounds that are not tight stay: viewers count time from the first. Without samples they mean nothing. */
    if (self->has_samples && db->trace_min <= db->trace_max)
        lode_writer_set_trace_bounds(self->writer, db->trace_min, db->trace_max);
    LODE_TRY(say_dropped(self, error));
    return lode_writer_finish(self->writer, error);
}

static lode_status convert_to(const lode_database *db, const char *path, const lode_convert_options *options,
                              lode_error *error)
{
    const struct lode_database_target *target = lode_format_target(options->to);
    if (target == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "there is no format '%s' to write databases in", options->to);
    return target->write(db, path, options, error);
}

lode_status lode_convert(const lode_database *db, const char *path, const lode_convert_options *given,
                         lode_error *error)
{
    lode_convert_options options = LODE_CONVERT_OPTIONS_INIT;
    _Atomic uint64_t dropped = 0;
    struct conversion self = {.db = db, .options = &options, .dropped = &dropped};
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(lode_profile_blocks_fit(db, error));
    LODE_TRY(lode_trace_lines_fit(db, error));
    if (options.to && strcmp(options.to, "hpctoolkit") != 0)
        return convert_to(db, path, &options, error);
    lode_status status = convert(&self, path, error);
    release(&self);
    return status;
}
