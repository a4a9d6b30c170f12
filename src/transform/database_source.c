/* SPDX-License-Identifier: BSD-3-Clause */
/* A database as a source of profiles: as it is, or with new numbers. */
#include "transform/database_source.h"

#include "base/comm/ranks.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/text/count.h"
#include "model/database/block_builder.h"
#include "model/database/database.h"
#include "model/import/carried.h"
#include "transform/build/points.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_IDS = 64,            /* of a tuple */
    PROFILE_WEIGHT = 1 << 8, /* what a profile counts besides its values */
    UNKNOWN_ID = UINT16_MAX  /* for metrics that are not listed; ids that are written are smaller */
};

/* What one slot gives: a block, or a trace line, whose samples are given at once. */
struct lode_database_slot {
    struct lode_block_builder builder;
    struct lode_blob samples;
    bool is_given;
};

static struct lode_database_source *source_of(struct lode_profile_source *base)
{
    return (struct lode_database_source *)base;
}

static bool is_first(const struct lode_database_source *self)
{
    return self->comm == NULL || self->comm->place.rank == 0;
}

/* ---- the description: what is added first has the number 0, so that numbers are indices ---- */

static lode_status describe_metric(struct lode_database_source *self, struct lode_description *out,
                                   const lode_metric *metric, lode_error *error)
{
    uint32_t number;
    LODE_TRY(lode_description_add_metric(out, metric->name, &number, error));
    for (uint32_t i = 0; i < metric->scope_count; i++)
        LODE_TRY(lode_description_add_metric_scope(out, number, metric->scopes[i].scope->index,
                                                   &self->value_ids[metric->scopes[i].id], error));
    for (uint32_t i = 0; i < metric->statistic_count; i++) {
        const lode_metric_statistic *statistic = &metric->statistics[i];
        self->statistic_ids[statistic->id] = (uint16_t)out->statistic_ids;
        LODE_TRY(lode_description_add_statistic(out, number, statistic->scope->index, statistic->formula,
                                                statistic->combine, error));
    }
    return LODE_OK;
}

static lode_status describe_metrics(struct lode_database_source *self, struct lode_description *out,
                                    lode_error *error)
{
    const lode_database *db = self->db;
    uint32_t number;
    for (uint32_t i = 0; i < db->id_kind_count; i++)
        LODE_TRY(lode_description_add_id_kind(out, db->id_kinds[i], NULL, error));
    for (uint32_t i = 0; i < db->scope_count; i++)
        LODE_TRY(lode_description_add_scope(out, db->scopes[i].name, db->scopes[i].type,
                                            db->scopes[i].propagation_index, &number, error));
    for (uint32_t i = 0; i < db->metric_count; i++)
        LODE_TRY(describe_metric(self, out, &db->metrics[i], error));
    return LODE_OK;
}

static lode_status describe_symbols(struct lode_database_source *self, struct lode_description *out,
                                    lode_error *error)
{
    const lode_database *db = self->db;
    uint32_t number;
    for (uint32_t i = 0; i < db->module_count; i++)
        LODE_TRY(lode_description_add_module(out, db->modules[i].path, &number, error));
    for (uint32_t i = 0; i < db->file_count; i++) {
        const lode_file *file = &db->files[i];
        bool comes_along = file->copied && self->options->sources;
        LODE_TRY(lode_description_add_file(out, file->path, file->copied, comes_along ? file->path : NULL,
                                           &number, error));
    }
    for (uint32_t i = 0; i < db->function_count; i++) {
        const lode_function *old = &db->functions[i];
        lode_writer_function function = {.name = old->name,
                                         .module = old->module ? old->module->index : LODE_NONE,
                                         .file = old->file ? old->file->index : LODE_NONE,
                                         .line = old->line,
                                         .offset = old->offset};
        LODE_TRY(lode_description_add_function(out, &function, &number, error));
    }
    return LODE_OK;
}

/* The global context is there already, so that a number is one less than an index. */
static lode_status describe_contexts(const struct lode_context_tree *tree, struct lode_description *out,
                                     lode_error *error)
{
    for (uint32_t i = 1; i < tree->count; i++) {
        const lode_context *old = &tree->nodes[i];
        const lode_function *function = lode_context_function(old);
        lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
        uint32_t number;
        context.parent = old->parent ? old->parent - 1 : LODE_NONE;
        context.propagation = old->propagation;
        if (old->lexical == LODE_LEXICAL_ENTRY) {
            context.entry = old->entry;
            context.entry_name = old->entry_name;
        } else {
            context.lexical = old->lexical;
            context.relation = old->relation;
        }
        context.function = function ? function->index : LODE_NONE;
        context.file = old->file ? old->file->index : LODE_NONE;
        context.line = old->line;
        context.module = old->module ? old->module->index : LODE_NONE;
        context.offset = old->offset;
        LODE_TRY(lode_description_add_context(out, &context, &number, error));
    }
    return LODE_OK;
}

/* Gathers the ids of one profile that the tree does not have. */
static lode_status find_unlisted(struct lode_database_source *self, uint32_t profile, lode_error *error)
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

/* In rising order; the caller frees them. NULL: there is no memory. */
static uint32_t *list_unlisted(const struct lode_database_source *self)
{
    size_t count = 0;
    uint32_t *ids = calloc(self->unlisted.count + 1, sizeof *ids);
    for (size_t i = 0; ids && i < self->unlisted.capacity; i++)
        if (self->unlisted.slots[i].used)
            ids[count++] = (uint32_t)self->unlisted.slots[i].key;
    if (count > 1)
        qsort(ids, count, sizeof *ids, lode_compare_u32);
    return ids;
}

/* All ranks get the ids that any of them has met. */
static lode_status share_unlisted(struct lode_database_source *self, lode_error *error)
{
    uint32_t *own = list_unlisted(self);
    void *all = NULL;
    uint64_t size = 0;
    LODE_TRY_ALLOC(own, error);
    lode_status status =
        lode_comm_gather(self->comm, own, self->unlisted.count * sizeof *own, true, &all, &size, NULL, error);
    const uint32_t *ids = all;
    for (uint64_t i = 0; i < size / sizeof *ids && status == LODE_OK; i++)
        if (lode_map_add(&self->unlisted, ids[i], 0, NULL) == NULL)
            status = lode_fail_memory(error);
    free(own);
    free(all);
    return status;
}

/* In the order of their ids. Each rank looks into its own profiles. */
static lode_status describe_unlisted(struct lode_database_source *self, struct lode_description *out,
                                     lode_error *error)
{
    if (self->options->drop_unlisted)
        return LODE_OK;
    for (uint32_t i = 0; i < self->base.count; i++)
        LODE_TRY(find_unlisted(self, self->order[self->base.first + i], error));
    LODE_TRY(self->comm ? share_unlisted(self, error) : LODE_OK);
    uint32_t *ids = list_unlisted(self);
    LODE_TRY_ALLOC(ids, error);
    lode_status status = LODE_OK;
    for (size_t i = 0; i < self->unlisted.count && status == LODE_OK; i++) {
        uint32_t *number = lode_map_add(&self->unlisted, ids[i], 0, NULL);
        status = number ? lode_description_add_unlisted(out, number, error) : lode_fail_memory(error);
    }
    free(ids);
    return status;
}

/* ---- profiles and lines ---- */

static lode_status read_tuple(const lode_database *db, uint32_t profile, struct lode_description *out,
                              lode_error *error)
{
    lode_id ids[MAX_IDS];
    uint32_t count;
    LODE_TRY(lode_profile_ids(db, profile, ids, MAX_IDS, &count, error));
    if (count > MAX_IDS)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "profile %" PRIu32 " has an id tuple of %" PRIu32 " ids; at most %d are converted",
                         profile, count, MAX_IDS);
    lode_id *copy = lode_arena_alloc(&out->arena, count ? count : 1, sizeof *copy);
    if (copy == NULL)
        return lode_fail_memory(error);
    if (count)
        memcpy(copy, ids, count * sizeof *copy);
    out->profiles[out->profile_count++] = (struct lode_id_tuple){copy, count};
    return LODE_OK;
}

/* Puts profiles into the order of their tuples. */
struct sorted_profile {
    struct lode_id_tuple ids;
    uint32_t profile;
};

static int compare_profiles(const void *left, const void *right)
{
    const struct sorted_profile *a = left, *b = right;
    int order = lode_id_tuple_compare(&a->ids, &b->ids);
    return order ? order : (a->profile < b->profile ? -1 : a->profile > b->profile);
}

static lode_status sort_profiles(struct lode_database_source *self, struct lode_description *out,
                                 lode_error *error)
{
    struct sorted_profile *sorted = calloc((size_t)out->profile_count + 1, sizeof *sorted);
    if (sorted == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < out->profile_count; i++)
        sorted[i] = (struct sorted_profile){out->profiles[i], self->order[i]};
    qsort(sorted, out->profile_count, sizeof *sorted, compare_profiles);
    for (uint32_t i = 0; i < out->profile_count; i++) {
        out->profiles[i] = sorted[i].ids;
        self->order[i] = sorted[i].profile;
    }
    free(sorted);
    return LODE_OK;
}

/* A block that cannot be read has no values; reading it fails later. */
static uint64_t weight_of(const void *context, uint64_t item)
{
    const struct lode_database_source *self = context;
    lode_block block;
    bool can_be_read = lode_profile_block(self->db, self->order[item], &block, NULL) == LODE_OK;
    return PROFILE_WEIGHT + (can_be_read ? block.value_count : 0);
}

static lode_status describe_profiles(struct lode_database_source *self, struct lode_description *out,
                                     bool keeps_ids, lode_error *error)
{
    const lode_database *db = self->db;
    out->profiles = lode_arena_alloc(&out->arena, (size_t)db->profile_count + 1, sizeof *out->profiles);
    if (out->profiles == NULL)
        return lode_fail_memory(error);
    for (uint32_t p = 1; p < db->profile_count; p++) {
        if (!keeps_ids && lode_profile_is_summary(db, p))
            continue;
        self->order[out->profile_count] = p;
        LODE_TRY(read_tuple(db, p, out, error));
    }
    self->profile_count = out->profile_count;
    if (keeps_ids)
        return LODE_OK;
    LODE_TRY(sort_profiles(self, out, error));
    const struct lode_share share = lode_ranks_share(self->comm, self->profile_count, weight_of, self);
    self->base.first = (uint32_t)share.first;
    self->base.count = (uint32_t)share.count;
    return LODE_OK;
}

/* Loose bounds stay: viewers count time from the first. Without samples they mean nothing. */
static lode_status describe_lines(struct lode_database_source *self, struct lode_description *out,
                                  lode_error *error)
{
    const lode_database *db = self->db;
    bool has_samples = false;
    for (uint32_t p = 0; p < db->profile_count; p++)
        self->trace_of[p] = LODE_NONE;
    for (uint32_t i = 0; i < db->trace_count; i++) {
        lode_trace_line line;
        LODE_TRY(lode_database_trace_line(db, i, &line, error));
        has_samples |= line.sample_count > 0;
        if (line.profile < db->profile_count && self->trace_of[line.profile] == LODE_NONE)
            self->trace_of[line.profile] = i;
    }
    if (has_samples) {
        out->trace_min = db->trace_min;
        out->trace_max = db->trace_max;
    }
    out->line_count = self->profile_count;
    return LODE_OK;
}

static lode_status pass_remarks(const struct lode_database_source *self, lode_error *error)
{
    const lode_convert_options *options = self->options;
    for (size_t i = 0; is_first(self) && options->on_finding && i < self->db->remark_count; i++)
        if (options->on_finding(options->user, &self->db->remarks[i]) != 0)
            return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
    return LODE_OK;
}

static lode_status borrow(struct lode_database_source *self, struct lode_description *out, lode_error *error)
{
    const lode_database *db = self->db;
    out->id_kinds = db->id_kinds;
    out->id_kind_count = db->id_kind_count;
    out->scopes = db->scopes;
    out->scope_count = db->scope_count;
    out->metrics = db->metrics;
    out->metric_count = db->metric_count;
    out->modules = db->modules;
    out->module_count = db->module_count;
    out->files = db->files;
    out->file_count = db->file_count;
    out->functions = db->functions;
    out->function_count = db->function_count;
    out->tree = db->tree;
    out->trace_min = db->trace_min;
    out->trace_max = db->trace_max;
    out->line_count = db->trace_count;
    out->has_contexts = lode_database_has(db, LODE_PART_CONTEXT);
    out->context_blocks = db->context_block_count;
    if (out->has_contexts)
        LODE_TRY(lode_context_blocks_fit(db, error));
    return describe_profiles(self, out, true, error);
}

/* On ranks, all describe everything: nothing need be sent but unlisted ids. */
static lode_status describe(struct lode_profile_source *base, struct lode_description *out, bool keeps_ids,
                            int scratch, lode_error *error)
{
    struct lode_database_source *self = source_of(base);
    (void)scratch;
    out->title = lode_database_title(self->db);
    out->text = lode_database_description(self->db);
    out->keeps_strings = true;
    if (keeps_ids)
        return borrow(self, out, error);
    LODE_TRY(pass_remarks(self, error));
    LODE_TRY(describe_profiles(self, out, false, error));
    LODE_TRY(describe_lines(self, out, error));
    LODE_TRY(describe_metrics(self, out, error));
    LODE_TRY(describe_symbols(self, out, error));
    LODE_TRY(describe_contexts(&self->db->tree, out, error));
    return describe_unlisted(self, out, error);
}

static lode_status number(struct lode_profile_source *base, const struct lode_description *sealed,
                          lode_error *error)
{
    struct lode_database_source *self = source_of(base);
    (void)error;
    if (!sealed->sealed)
        return LODE_OK;
    for (size_t i = 0; i < self->unlisted.capacity; i++)
        if (self->unlisted.slots[i].used)
            self->unlisted.slots[i].value = description_id(sealed, self->unlisted.slots[i].value);
    self->about = sealed;
    self->renumbering = (struct lode_renumbering){.db = self->db,
                                                  .about = sealed,
                                                  .contexts = sealed->id_of,
                                                  .unlisted = &self->unlisted,
                                                  .value_ids = self->value_ids,
                                                  .divisor = 1.0,
                                                  .window = {.to = UINT64_MAX},
                                                  .dropped = &self->dropped};
    return LODE_OK;
}

static lode_status open_slots(struct lode_profile_source *base, unsigned count, lode_error *error)
{
    struct lode_database_source *self = source_of(base);
    self->slots = calloc(count, sizeof *self->slots);
    if (self->slots == NULL)
        return lode_fail_memory(error);
    self->slot_count = count;
    for (unsigned i = 0; i < count; i++)
        lode_block_builder_init(&self->slots[i].builder);
    return LODE_OK;
}

/* ---- values ---- */

struct recovered {
    const struct lode_database_source *source;
    struct lode_block_builder *builder;
};

static lode_status add_point(void *user, uint32_t context, uint16_t id, double value, lode_error *error)
{
    const struct recovered *self = user;
    return lode_block_builder_add(self->builder, self->source->about->id_of[context],
                                  self->source->value_ids[id], value, error);
}

static lode_status values(struct lode_profile_source *base, unsigned slot, uint32_t profile, lode_block *out,
                          lode_error *error)
{
    struct lode_database_source *self = source_of(base);
    uint32_t old = self->order[profile - 1];
    LODE_TRY(lode_profile_block(self->db, old, out, error));
    if (self->about == NULL)
        return LODE_OK;
    struct lode_block_builder *builder = &self->slots[slot].builder;
    struct recovered recovered = {self, builder};
    lode_block_builder_clear(builder);
    LODE_TRY(lode_renumber_values(&self->renumbering, old, out, builder, error));
    if (self->db->points_lost)
        LODE_TRY(lode_points_recover(self->db, old, add_point, &recovered, error));
    return lode_block_builder_end(builder, self->about->id_count, out, error);
}

static lode_status renumber_loops(const struct lode_database_source *self, const lode_block *block,
                                  struct lode_block_builder *builder, lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    for (uint32_t g = 0; g < block->group_count; g++) {
        lode_group group;
        LODE_TRY(lode_block_group(block, g, &group, error));
        uint32_t index = lode_context_tree_find(tree, group.key);
        if (index == LODE_NO_INDEX || tree->nodes[index].lexical != LODE_LEXICAL_LOOP)
            continue;
        for (uint64_t i = group.first; i < group.first + group.count; i++) {
            uint16_t id = self->statistic_ids[block_value_key(block, i)];
            if (id != UNKNOWN_ID)
                LODE_TRY(lode_block_builder_add(builder, self->about->id_of[index], id, block_value(block, i),
                                                error));
        }
    }
    return LODE_OK;
}

/* Statistics of loops; others are computed from profiles. Contradictory ones are ignored. */
static lode_status summary(struct lode_profile_source *base, lode_block *out, lode_error *error)
{
    struct lode_database_source *self = source_of(base);
    const lode_database *db = self->db;
    struct lode_block_builder *builder = &self->slots[0].builder;
    *out = (lode_block){.layout = LODE_LAYOUT_LITTLE};
    if (db->profile_count == 0 || (self->about && !lode_profile_is_summary(db, 0)))
        return self->about ? LODE_OK : LODE_ABSENT;
    lode_block block;
    LODE_TRY(lode_profile_block(db, 0, &block, error));
    if (self->about == NULL) {
        *out = block;
        return LODE_OK;
    }
    lode_block_builder_clear(builder);
    LODE_TRY(renumber_loops(self, &block, builder, error));
    lode_status status = lode_block_builder_end(builder, self->about->id_count, out, error);
    return status == LODE_ERR_ARGUMENT ? LODE_OK : status;
}

static lode_status context(struct lode_profile_source *base, uint32_t id, lode_block *out, lode_error *error)
{
    return lode_context_block(source_of(base)->db, id, out, error);
}

/* ---- samples ---- */

/* The old trace line of a new one; empty if the profile had none. */
static lode_status line_of(const struct lode_database_source *self, uint32_t line, lode_trace_line *out,
                           lode_error *error)
{
    uint32_t old = self->trace_of[self->order[line]];
    *out = (lode_trace_line){0};
    return old == LODE_NONE ? LODE_OK : lode_database_trace_line(self->db, old, out, error);
}

static lode_status samples(struct lode_profile_source *base, unsigned slot, uint32_t line,
                           lode_trace_line *out, lode_error *error)
{
    struct lode_database_source *self = source_of(base);
    struct lode_database_slot *own = &self->slots[slot];
    own->is_given = !own->is_given;
    if (!own->is_given)
        return LODE_END;
    if (self->about == NULL)
        return lode_database_trace_line(self->db, line, out, error);
    lode_trace_line from;
    own->samples.size = 0;
    LODE_TRY(line_of(self, line, &from, error));
    LODE_TRY(lode_renumber_samples(&self->renumbering, &from, &own->samples, error));
    *out = (lode_trace_line){.profile = line + 1,
                             .sample_count = own->samples.size / TRACE_SAMPLE_SIZE,
                             .samples = own->samples.bytes};
    return LODE_OK;
}

/* As many as `samples` gives; a line that cannot be read has none, and reading it fails later. */
static uint64_t sample_count(struct lode_profile_source *base, uint32_t line)
{
    struct lode_database_source *self = source_of(base);
    lode_trace_line from;
    return line_of(self, line, &from, NULL) == LODE_OK
               ? lode_renumber_count_samples(&self->renumbering, &from)
               : 0;
}

/* ---- all of it ---- */

static void close_slots(struct lode_database_source *self)
{
    for (unsigned i = 0; i < self->slot_count; i++) {
        lode_block_builder_free(&self->slots[i].builder);
        lode_blob_free(&self->slots[i].samples);
    }
    free(self->slots);
    self->slots = NULL;
    self->slot_count = 0;
}

static lode_status say(const struct lode_database_source *self, const char *rule, const char *text,
                       lode_error *error)
{
    const lode_convert_options *options = self->options;
    lode_finding finding = {rule, LODE_WARNING, "", LODE_NO_OFFSET, text};
    if (!is_first(self) || options->on_finding == NULL || options->on_finding(options->user, &finding) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
}

static lode_status end(struct lode_profile_source *base, lode_error *error)
{
    struct lode_database_source *self = source_of(base);
    uint64_t dropped = atomic_load_explicit(&self->dropped, memory_order_relaxed);
    char text[128];
    close_slots(self);
    /* Each block was made twice. */
    dropped = base->placed ? dropped / 2 : dropped;
    if (self->comm)
        LODE_TRY(lode_comm_allreduce(self->comm, &dropped, 1, LODE_COMM_SUM, error));
    if (carried_has_labels(self->db->carried))
        LODE_TRY(say(self, "labels-dropped", LODE_LABELS_DROPPED, error));
    if (dropped == 0)
        return LODE_OK;
    snprintf(text, sizeof text,
             "%s omitted at unlisted contexts, so inclusive values exceed the sum of their parts",
             LODE_COUNTED(dropped, "value was", "values were"));
    return say(self, "values-dropped", text, error);
}

lode_status lode_database_source_open(struct lode_database_source *self, const lode_database *db,
                                      const lode_convert_options *options, struct lode_comm *comm,
                                      lode_error *error)
{
    static const struct lode_profile_source_ops ops = {.describe = describe,
                                                       .number = number,
                                                       .open_slots = open_slots,
                                                       .values = values,
                                                       .samples = samples,
                                                       .sample_count = sample_count,
                                                       .summary = summary,
                                                       .context = context,
                                                       .end = end};
    *self =
        (struct lode_database_source){.base = {.ops = &ops, .placed = comm != NULL, .leaves_contexts = true},
                                      .db = db,
                                      .options = options,
                                      .comm = comm};
    lode_map_init(&self->unlisted);
    LODE_TRY(lode_profile_blocks_fit(db, error));
    LODE_TRY(lode_trace_lines_fit(db, error));
    self->value_ids = calloc(UINT16_MAX + 1, sizeof *self->value_ids);
    self->statistic_ids = calloc(UINT16_MAX + 1, sizeof *self->statistic_ids);
    self->order = calloc((size_t)db->profile_count + 1, sizeof *self->order);
    self->trace_of = calloc((size_t)db->profile_count + 1, sizeof *self->trace_of);
    if (!self->value_ids || !self->statistic_ids || !self->order || !self->trace_of)
        return lode_fail_memory(error);
    for (size_t i = 0; i <= UINT16_MAX; i++)
        self->value_ids[i] = self->statistic_ids[i] = UNKNOWN_ID;
    return LODE_OK;
}

void lode_database_source_close(struct lode_database_source *self)
{
    close_slots(self);
    free(self->value_ids);
    free(self->statistic_ids);
    free(self->order);
    free(self->trace_of);
    lode_map_free(&self->unlisted);
}
