/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/merge/renumber.h"

#include "base/error.h"

/* The new id of a context by its old one; false if its values are left out. */
static bool find_context(const struct lode_renumbering *self, uint32_t old, uint32_t *id)
{
    uint32_t index = lode_context_tree_find(&self->db->tree, old);
    const uint32_t *unlisted = index == LODE_NO_INDEX ? lode_map_get(self->unlisted, old) : NULL;
    if (index != LODE_NO_INDEX)
        *id = self->contexts[index];
    else if (unlisted)
        *id = *unlisted;
    return index != LODE_NO_INDEX || unlisted != NULL;
}

lode_status lode_renumber_values(const struct lode_renumbering *self, uint32_t profile,
                                 const lode_block *block, struct lode_block_builder *builder,
                                 lode_error *error)
{
    struct lode_block_change change = {self->value_ids, self->divisor};
    for (uint32_t g = 0; g < block->group_count; g++) {
        lode_group group;
        uint32_t context, id = 0;
        LODE_TRY(lode_block_group(block, g, &group, error));
        if (!find_context(self, group.key, &context)) {
            atomic_fetch_add_explicit(self->dropped, group.count, memory_order_relaxed);
            continue;
        }
        lode_status status =
            lode_block_builder_add_group(builder, context, block, &group, &change, &id, error);
        if (status == LODE_NOT_FOUND)
            return lode_fail(error, LODE_ERR_CORRUPT, block->file, LODE_NO_OFFSET,
                             "profile %u has a value of metric %u, which %s does not list", profile, id,
                             lode_database_part_file(self->db, LODE_PART_META));
        LODE_TRY(status);
    }
    return LODE_OK;
}

/* ---- samples ---- */

static lode_status no_context(const struct lode_renumbering *self, uint32_t id, lode_error *error)
{
    return lode_fail(error, LODE_ERR_CORRUPT, lode_database_part_file(self->db, LODE_PART_TRACE),
                     LODE_NO_OFFSET, "a sample is at context %u, which %s does not list", id,
                     lode_database_part_file(self->db, LODE_PART_META));
}

/* To repeat that nothing ran says nothing, and some writers did. */
static bool is_repeated(bool *is_idle, uint32_t context)
{
    bool is = *is_idle && context == 0;
    *is_idle = context == 0;
    return is;
}

static lode_status put_sample(const struct lode_renumbering *self, uint64_t time, uint64_t *last, uint32_t id,
                              struct lode_blob *out, lode_error *error)
{
    LODE_TRY(lode_description_check_sample(self->about, time, *last, id, error));
    *last = time;
    size_t at = lode_blob_extend(out, TRACE_SAMPLE_SIZE);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    put_u64le(out->bytes + at, time);
    put_u32le(out->bytes + at + 8, id);
    return LODE_OK;
}

/* What a sample is about: nothing, if that is not in the slice. */
static lode_status find_sampled(const struct lode_renumbering *self, uint32_t old, uint32_t *id,
                                lode_error *error)
{
    *id = 0;
    if (old == 0 || find_context(self, old, id))
        return LODE_OK;
    return no_context(self, old, error);
}

static bool is_after(const struct lode_window *window, uint64_t time)
{
    return time >= window->to && window->to != UINT64_MAX;
}

lode_status lode_renumber_samples(const struct lode_renumbering *self, const lode_trace_line *line,
                                  struct lode_blob *out, lode_error *error)
{
    const struct lode_window *window = &self->window;
    bool is_idle = false;
    uint64_t last = 0;
    uint32_t id;
    if (line->sample_count == 0)
        return LODE_OK;
    struct lode_window_walk walk = window_walk(window, line);
    for (; walk.next < line->sample_count; walk.next++) {
        uint64_t time = trace_time(line, walk.next);
        if (is_after(window, time))
            break;
        LODE_TRY(find_sampled(self, trace_context(line, walk.next), &id, error));
        if (is_repeated(&is_idle, id))
            continue;
        time = time > window->from ? time : window->from;
        LODE_TRY(put_sample(self, time - self->shift, &last, id, out, error));
    }
    /* What went on at the end of the window ends there. */
    if (walk.next < line->sample_count && !is_idle && out->size > 0)
        return put_sample(self, window->to, &last, 0, out, error);
    return LODE_OK;
}

uint64_t lode_renumber_count_samples(const struct lode_renumbering *self, const lode_trace_line *line)
{
    uint64_t count = 0;
    bool is_idle = false;
    uint32_t id;
    if (line->sample_count == 0)
        return 0;
    struct lode_window_walk walk = window_walk(&self->window, line);
    for (; walk.next < line->sample_count; walk.next++) {
        if (is_after(&self->window, trace_time(line, walk.next)))
            break;
        if (find_sampled(self, trace_context(line, walk.next), &id, NULL) != LODE_OK)
            return 0;
        count += !is_repeated(&is_idle, id);
    }
    return count + (walk.next < line->sample_count && !is_idle && count > 0);
}
