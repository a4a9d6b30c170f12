/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/merge/merge_source.h"

#include "base/error.h"
#include "base/text/count.h"
#include "model/database/block_builder.h"
#include "model/import/carried.h"
#include "transform/build/points.h"
#include "transform/slice/slice.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What one slot gives: a block, or a trace line, whose samples are given at once. */
struct lode_merge_slot {
    struct lode_block_builder builder;
    struct lode_blob samples;
    bool is_given;
    struct lode_slice_scratch *scratch;
};

static struct lode_merge_source *source_of(struct lode_profile_source *base)
{
    return (struct lode_merge_source *)base;
}

/* ---- the description ---- */

lode_status lode_merge_report(const struct lode_merge_source *self, const char *rule, const char *file,
                              const char *text, lode_error *error)
{
    const lode_merge_options *options = self->options;
    lode_finding finding = {rule, LODE_WARNING, file, LODE_NO_OFFSET, text};
    if (!lode_merge_is_first(self) || options->on_finding == NULL ||
        options->on_finding(options->user, &finding) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
}

static lode_status pass_remarks(const struct lode_merge_source *self, lode_error *error)
{
    const lode_merge_options *options = self->options;
    if (!lode_merge_is_first(self) || options->on_finding == NULL)
        return LODE_OK;
    for (uint32_t p = 0; p < self->count; p++)
        for (size_t i = 0; i < self->parts[p].db->remark_count; i++)
            if (options->on_finding(options->user, &self->parts[p].db->remarks[i]) != 0)
                return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET,
                                 "cancelled by the callback");
    return LODE_OK;
}

/* Whether values become others, instead of getting other ids. */
static bool is_computed(const struct lode_merge_part *part)
{
    return part->filter && (part->filter->moves || lode_slice_has_window(part));
}

static lode_status choose_contexts(struct lode_merge_source *self, struct lode_merge_part *part,
                                   lode_error *error)
{
    if (part->filter)
        LODE_TRY(lode_slice_choose(self, part, error));
    self->base.leaves_contexts &= !is_computed(part);
    return LODE_OK;
}

/* All ranks describe everything: nothing need be sent. */
static lode_status describe(struct lode_profile_source *base, struct lode_description *out, bool keeps_ids,
                            int scratch, lode_error *error)
{
    struct lode_merge_source *self = source_of(base);
    (void)keeps_ids;
    (void)scratch;
    out->keeps_strings = true;
    self->base.leaves_contexts = true;
    LODE_TRY(pass_remarks(self, error));
    LODE_TRY(lode_merge_describe_profiles(self, out, error));
    for (uint32_t i = 0; i < self->count; i++)
        LODE_TRY(choose_contexts(self, &self->parts[i], error));
    LODE_TRY(lode_merge_describe_texts(self, out, error));
    LODE_TRY(lode_merge_describe_metrics(self, out, error));
    LODE_TRY(lode_merge_describe_tree(self, out, error));
    return lode_merge_describe_unlisted(self, out, error);
}

/* Contexts that are left out get the id of the one that they go into. */
static void number_slice(struct lode_merge_part *part, const struct lode_description *sealed)
{
    struct lode_merge_filter *filter = part->filter;
    for (uint32_t i = 0; filter && i < part->db->tree.count; i++)
        if (filter->target[i] != i)
            part->contexts[i] = filter->target[i] == LODE_NONE ? 0 : part->contexts[filter->target[i]];
    if (filter && filter->is_top)
        filter->focus_entry = description_id(sealed, filter->focus_entry);
}

/* The time window of a part's samples. */
static struct lode_window window_of(const struct lode_merge_part *part)
{
    const lode_database_slice *slice = lode_slice_has_window(part) ? part->filter->slice : NULL;
    return (struct lode_window){.from = slice ? slice->from : 0, .to = slice ? slice->to : UINT64_MAX};
}

/* From numbers to ids. */
static lode_status number(struct lode_profile_source *base, const struct lode_description *sealed,
                          lode_error *error)
{
    struct lode_merge_source *self = source_of(base);
    (void)error;
    self->about = sealed;
    for (uint32_t p = 0; p < self->count; p++) {
        struct lode_merge_part *part = &self->parts[p];
        for (uint32_t i = 0; i < part->db->tree.count; i++)
            if (part->filter == NULL || part->filter->target[i] == i)
                part->contexts[i] = description_id(sealed, part->contexts[i]);
        number_slice(part, sealed);
        for (uint32_t i = 0; i < part->unlisted_count; i++) {
            uint32_t *at = lode_map_add(&part->unlisted, part->unlisted_ids[i], 0, NULL);
            *at = description_id(sealed, *at);
        }
        part->renumbering = (struct lode_renumbering){.db = part->db,
                                                      .about = sealed,
                                                      .contexts = part->contexts,
                                                      .unlisted = &part->unlisted,
                                                      .value_ids = part->value_ids,
                                                      .divisor = self->divisor,
                                                      .window = window_of(part),
                                                      .shift = part->shift,
                                                      .dropped = &self->dropped};
    }
    return LODE_OK;
}

static lode_status open_slots(struct lode_profile_source *base, unsigned count, lode_error *error)
{
    struct lode_merge_source *self = source_of(base);
    self->slots = calloc(count, sizeof *self->slots);
    LODE_TRY_ALLOC(self->slots, error);
    self->slot_count = count;
    for (unsigned i = 0; i < count; i++)
        lode_block_builder_init(&self->slots[i].builder);
    return LODE_OK;
}

/* ---- values ---- */

struct recovered {
    const struct lode_merge_source *source;
    const struct lode_merge_part *part;
    struct lode_block_builder *builder;
};

static lode_status add_point(void *user, uint32_t context, uint16_t id, double value, lode_error *error)
{
    const struct recovered *self = user;
    return lode_block_builder_add(self->builder, self->part->contexts[context], self->part->value_ids[id],
                                  value / self->source->divisor, error);
}

/* The old trace line of a new one; empty if the profile had none. */
static lode_status line_of(const struct lode_merge_source *self, uint32_t line, lode_trace_line *out,
                           lode_error *error)
{
    const struct lode_merge_profile *from = &self->profiles[line];
    const struct lode_merge_part *part = &self->parts[from->part];
    uint32_t old = part->trace_of[from->profile];
    *out = (lode_trace_line){0};
    return old == LODE_NONE ? LODE_OK : lode_database_trace_line(part->db, old, out, error);
}

/* The values of a slice that has other contexts, or times instead. */
static lode_status sliced_values(struct lode_merge_source *self, unsigned slot, uint32_t profile,
                                 lode_block *out, lode_error *error)
{
    struct lode_merge_slot *own = &self->slots[slot];
    const struct lode_merge_profile *from = &self->profiles[profile - 1];
    const struct lode_merge_part *part = &self->parts[from->part];
    lode_trace_line line;
    lode_block_builder_clear(&own->builder);
    if (lode_slice_has_window(part)) {
        LODE_TRY(line_of(self, profile - 1, &line, error));
        LODE_TRY(lode_slice_times(self, part, &line, &own->scratch, &own->builder, error));
    } else {
        LODE_TRY(lode_profile_block(part->db, from->profile, out, error));
        LODE_TRY(lode_slice_values(self, part, out, &own->scratch, &own->builder, error));
    }
    return lode_block_builder_end(&own->builder, self->about->id_count, out, error);
}

static lode_status values(struct lode_profile_source *base, unsigned slot, uint32_t profile, lode_block *out,
                          lode_error *error)
{
    struct lode_merge_source *self = source_of(base);
    const struct lode_merge_profile *from = &self->profiles[profile - 1];
    const struct lode_merge_part *part = &self->parts[from->part];
    struct lode_block_builder *builder = &self->slots[slot].builder;
    struct recovered recovered = {self, part, builder};
    if (is_computed(part))
        return sliced_values(self, slot, profile, out, error);
    LODE_TRY(lode_profile_block(part->db, from->profile, out, error));
    lode_block_builder_clear(builder);
    LODE_TRY(lode_renumber_values(&part->renumbering, from->profile, out, builder, error));
    if (part->db->points_lost)
        LODE_TRY(lode_points_recover(part->db, from->profile, add_point, &recovered, error));
    return lode_block_builder_end(builder, self->about->id_count, out, error);
}

/* Statistics are computed, those of loops too. */
static lode_status summary(struct lode_profile_source *base, lode_block *out, lode_error *error)
{
    (void)base;
    (void)error;
    *out = (lode_block){.layout = LODE_LAYOUT_LITTLE};
    return LODE_OK;
}

/* ---- samples ---- */

static lode_status samples(struct lode_profile_source *base, unsigned slot, uint32_t line,
                           lode_trace_line *out, lode_error *error)
{
    struct lode_merge_source *self = source_of(base);
    struct lode_merge_slot *own = &self->slots[slot];
    lode_trace_line from;
    own->is_given = !own->is_given;
    if (!own->is_given)
        return LODE_END;
    own->samples.size = 0;
    LODE_TRY(line_of(self, line, &from, error));
    LODE_TRY(lode_renumber_samples(&self->parts[self->profiles[line].part].renumbering, &from, &own->samples,
                                   error));
    *out = (lode_trace_line){.profile = line + 1,
                             .sample_count = own->samples.size / TRACE_SAMPLE_SIZE,
                             .samples = own->samples.bytes};
    return LODE_OK;
}

/* As many as `samples` gives; a line that cannot be read has none, and reading it fails later. */
static uint64_t sample_count(struct lode_profile_source *base, uint32_t line)
{
    struct lode_merge_source *self = source_of(base);
    lode_trace_line from;
    if (line_of(self, line, &from, NULL) != LODE_OK)
        return 0;
    return lode_renumber_count_samples(&self->parts[self->profiles[line].part].renumbering, &from);
}

/* ---- all of it ---- */

static void close_slots(struct lode_merge_source *self)
{
    for (unsigned i = 0; i < self->slot_count; i++) {
        lode_block_builder_free(&self->slots[i].builder);
        lode_blob_free(&self->slots[i].samples);
        lode_slice_scratch_free(self->slots[i].scratch);
    }
    free(self->slots);
    self->slots = NULL;
    self->slot_count = 0;
}

static lode_status end(struct lode_profile_source *base, lode_error *error)
{
    struct lode_merge_source *self = source_of(base);
    uint64_t dropped = atomic_load_explicit(&self->dropped, memory_order_relaxed);
    char text[128];
    close_slots(self);
    /* Each block was made twice. */
    dropped = base->placed ? dropped / 2 : dropped;
    if (self->comm)
        LODE_TRY(lode_comm_allreduce(self->comm, &dropped, 1, LODE_COMM_SUM, error));
    for (uint32_t p = 0; p < self->count; p++)
        if (carried_has_labels(self->parts[p].db->carried))
            LODE_TRY(lode_merge_report(self, "labels-dropped", "", LODE_LABELS_DROPPED, error));
    if (dropped == 0)
        return LODE_OK;
    snprintf(text, sizeof text,
             "%s omitted at unlisted contexts, so inclusive values exceed the sum of their parts",
             LODE_COUNTED(dropped, "value was", "values were"));
    return lode_merge_report(self, "values-dropped", "", text, error);
}

static lode_status open_parts(struct lode_merge_source *self, const lode_merge_input *inputs, size_t count,
                              lode_error *error)
{
    self->parts = calloc(count, sizeof *self->parts);
    LODE_TRY_ALLOC(self->parts, error);
    self->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct lode_merge_part *part = &self->parts[i];
        *part = (struct lode_merge_part){
            .db = inputs[i].db, .directory = inputs[i].directory, .label = inputs[i].label};
        lode_map_init(&part->unlisted);
        LODE_TRY(lode_profile_blocks_fit(part->db, error));
        LODE_TRY(lode_trace_lines_fit(part->db, error));
        self->has_traces |= lode_database_has(part->db, LODE_PART_TRACE);
    }
    LODE_TRY(lode_merge_order_parts(self, error));
    /* Runs are numbered from 0 in the order of parts. */
    self->divisor = self->options->mean ? (double)self->parts[count - 1].run + 1 : 1.0;
    return lode_merge_unify(self, error);
}

static lode_status open_filter(struct lode_merge_source *self, const lode_database_slice *slice,
                               lode_error *error)
{
    struct lode_merge_part *part = &self->parts[0];
    if (slice == NULL)
        return LODE_OK;
    part->filter = calloc(1, sizeof *part->filter);
    LODE_TRY_ALLOC(part->filter, error);
    part->filter->slice = slice;
    if (slice->to > 0 && !lode_database_has(part->db, LODE_PART_TRACE))
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET, "the database has no traces");
    return LODE_OK;
}

lode_status lode_merge_source_open(struct lode_merge_source *self, const lode_merge_input *inputs,
                                   size_t count, const lode_database_slice *slice,
                                   const lode_merge_options *options, struct lode_comm *comm,
                                   lode_error *error)
{
    static const struct lode_profile_source_ops ops = {.describe = describe,
                                                       .number = number,
                                                       .open_slots = open_slots,
                                                       .values = values,
                                                       .samples = samples,
                                                       .sample_count = sample_count,
                                                       .summary = summary,
                                                       .end = end};
    *self = (struct lode_merge_source){
        .base = {.ops = &ops, .placed = comm != NULL}, .options = options, .comm = comm};
    lode_arena_init(&self->arena, SIZE_MAX);
    if (count == 0 || count > UINT16_MAX)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "from 1 to %d databases are merged",
                         UINT16_MAX);
    LODE_TRY(open_parts(self, inputs, count, error));
    return open_filter(self, slice, error);
}

void lode_merge_source_close(struct lode_merge_source *self)
{
    close_slots(self);
    for (uint32_t i = 0; i < self->count; i++) {
        struct lode_merge_part *part = &self->parts[i];
        if (part->filter)
            lode_slice_free(part->filter);
        free(part->filter);
        free(part->contexts);
        free(part->unlisted_ids);
        free(part->value_ids);
        free(part->metrics);
        free(part->scopes);
        free(part->kinds);
        free(part->trace_of);
        lode_map_free(&part->unlisted);
    }
    free(self->parts);
    free(self->profiles);
    free(self->metric_names);
    free(self->metric_of);
    lode_merge_list_free(&self->kinds);
    lode_merge_list_free(&self->scopes);
    lode_merge_list_free(&self->metrics);
    lode_arena_free(&self->arena);
}
