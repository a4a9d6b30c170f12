/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts that metadata do not list. They have no content, so those of different databases are
 * different ones, unless the databases list the same contexts with the same ids: then they are
 * parts of one, and their unlisted ids mean the same.
 */
#include "base/compare.h"
#include "base/error.h"
#include "transform/slice/slice.h"
#include <pthread.h>
#include <stdlib.h>

/* ---- finding them ---- */

struct scan {
    struct lode_merge_source *source;
    pthread_mutex_t lock; /* of the maps */
};

static lode_status add_id(struct scan *self, struct lode_merge_part *part, uint32_t id, lode_error *error)
{
    pthread_mutex_lock(&self->lock);
    bool done = lode_map_add(&part->unlisted, id, 0, NULL) != NULL;
    pthread_mutex_unlock(&self->lock);
    return done ? LODE_OK : lode_fail_memory(error);
}

static lode_status scan_profile(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct scan *self = context;
    const struct lode_merge_profile *profile = &self->source->profiles[self->source->base.first + item];
    struct lode_merge_part *part = &self->source->parts[profile->part];
    lode_block block;
    uint32_t last = LODE_NONE;
    (void)worker;
    LODE_TRY(lode_profile_block(part->db, profile->profile, &block, error));
    for (uint32_t g = 0; g < block.group_count; g++) {
        uint32_t id = block_group_key(&block, g);
        if (id != last && lode_context_tree_find(&part->db->tree, id) == LODE_NO_INDEX)
            LODE_TRY(add_id(self, part, id, error));
        last = id;
    }
    return LODE_OK;
}

static lode_status scan_profiles(struct lode_merge_source *source, lode_error *error)
{
    struct scan self = {.source = source};
    struct lode_job job = {
        .items = source->base.count, .work = scan_profile, .context = &self, .pool = source->options->pool};
    pthread_mutex_init(&self.lock, NULL);
    lode_status status = lode_pool_run(lode_pool_threads(source->threads, job.items), &job, error);
    pthread_mutex_destroy(&self.lock);
    return status;
}

/* Profiles that are not in the slice, too. */
static lode_status scan_all(struct lode_merge_source *source, lode_error *error)
{
    struct lode_merge_part *part = &source->parts[0];
    for (uint32_t i = 1; i < part->db->profile_count; i++) {
        lode_block block;
        LODE_TRY(lode_profile_block(part->db, i, &block, error));
        for (uint32_t g = 0; g < block.group_count && !lode_profile_is_summary(part->db, i); g++) {
            uint32_t id = block_group_key(&block, g);
            if (lode_context_tree_find(&part->db->tree, id) == LODE_NO_INDEX &&
                lode_map_add(&part->unlisted, id, 0, NULL) == NULL)
                return lode_fail_memory(error);
        }
    }
    return LODE_OK;
}

static lode_status list_ids(struct lode_merge_part *part, lode_error *error)
{
    part->unlisted_ids = calloc(part->unlisted.count + 1, sizeof *part->unlisted_ids);
    LODE_TRY_ALLOC(part->unlisted_ids, error);
    part->unlisted_count = 0;
    for (size_t i = 0; i < part->unlisted.capacity; i++)
        if (part->unlisted.slots[i].used)
            part->unlisted_ids[part->unlisted_count++] = (uint32_t)part->unlisted.slots[i].key;
    if (part->unlisted_count > 1)
        qsort(part->unlisted_ids, part->unlisted_count, sizeof *part->unlisted_ids, lode_compare_u32);
    return LODE_OK;
}

/* All ranks get the ids of one part that any rank has met. */
static lode_status share_ids(struct lode_merge_source *source, struct lode_merge_part *part,
                             lode_error *error)
{
    void *all;
    uint64_t size;
    LODE_TRY(lode_comm_gather(source->comm, part->unlisted_ids,
                              part->unlisted_count * sizeof *part->unlisted_ids, true, &all, &size, NULL,
                              error));
    const uint32_t *ids = all;
    bool done = true;
    for (uint64_t i = 0; done && i < size / sizeof *ids; i++)
        done = lode_map_add(&part->unlisted, ids[i], 0, NULL) != NULL;
    free(all);
    free(part->unlisted_ids);
    part->unlisted_ids = NULL;
    return done ? list_ids(part, error) : lode_fail_memory(error);
}

/* ---- the same ones ---- */

/* Whether two parts list the same contexts, with the same ids, in the same order. */
static bool has_same_contexts(const struct lode_merge_part *a, const struct lode_merge_part *b)
{
    const struct lode_context_tree *x = &a->db->tree, *y = &b->db->tree;
    if (x->count != y->count)
        return false;
    for (uint32_t i = 1; i < x->count; i++)
        if (a->contexts[i] != b->contexts[i] || x->nodes[i].id != y->nodes[i].id)
            return false;
    return true;
}

/* The first part that has the unlisted contexts of part `p`. */
static uint32_t find_family(const struct lode_merge_source *source, const uint32_t *families, uint32_t p)
{
    enum {
        TRIED = 64 /* parts of one database have neighbours */
    };
    for (uint32_t i = p; i-- > 0 && p - i <= TRIED;)
        if (has_same_contexts(&source->parts[i], &source->parts[p]))
            return families[i];
    return p;
}

static lode_status add_ids(struct lode_map *all, const struct lode_merge_part *part, lode_error *error)
{
    for (uint32_t i = 0; i < part->unlisted_count; i++)
        LODE_TRY_ALLOC(lode_map_add(all, part->unlisted_ids[i], 0, NULL), error);
    return LODE_OK;
}

/* Adds a context for each id, in the order of ids. */
static lode_status describe_ids(struct lode_map *all, struct lode_description *out, lode_error *error)
{
    uint32_t *ids = calloc(all->count + 1, sizeof *ids), count = 0;
    lode_status status = LODE_OK;
    LODE_TRY_ALLOC(ids, error);
    for (size_t i = 0; i < all->capacity; i++)
        if (all->slots[i].used)
            ids[count++] = (uint32_t)all->slots[i].key;
    if (count > 1)
        qsort(ids, count, sizeof *ids, lode_compare_u32);
    for (uint32_t i = 0; i < count && status == LODE_OK; i++)
        status = lode_description_add_unlisted(out, lode_map_add(all, ids[i], 0, NULL), error);
    free(ids);
    return status;
}

static lode_status describe_family(struct lode_merge_source *source, const uint32_t *families, uint32_t first,
                                   struct lode_description *out, lode_error *error)
{
    struct lode_map all;
    lode_status status = LODE_OK;
    lode_map_init(&all);
    for (uint32_t p = first; p < source->count && status == LODE_OK; p++)
        if (families[p] == first)
            status = add_ids(&all, &source->parts[p], error);
    if (status == LODE_OK)
        status = describe_ids(&all, out, error);
    for (uint32_t p = first; p < source->count && status == LODE_OK; p++) {
        struct lode_merge_part *part = &source->parts[p];
        for (uint32_t i = 0; families[p] == first && i < part->unlisted_count; i++)
            *lode_map_add(&part->unlisted, part->unlisted_ids[i], 0, NULL) =
                *lode_map_get(&all, part->unlisted_ids[i]);
    }
    lode_map_free(&all);
    return status;
}

static lode_status describe_families(struct lode_merge_source *source, struct lode_description *out,
                                     lode_error *error)
{
    uint32_t *families = calloc((size_t)source->count + 1, sizeof *families);
    lode_status status = LODE_OK;
    LODE_TRY_ALLOC(families, error);
    for (uint32_t p = 0; p < source->count; p++)
        families[p] = find_family(source, families, p);
    for (uint32_t p = 0; p < source->count && status == LODE_OK; p++)
        if (families[p] == p)
            status = describe_family(source, families, p, out, error);
    free(families);
    return status;
}

lode_status lode_merge_describe_unlisted(struct lode_merge_source *source, struct lode_description *out,
                                         lode_error *error)
{
    const struct lode_merge_part *first = &source->parts[0];
    /* If contexts are left out, what is at unlisted ones stays with listed ones. */
    if (source->options->drop_unlisted ||
        (first->filter && (first->filter->moves || lode_slice_has_window(first))))
        return LODE_OK;
    LODE_TRY(first->filter && first->filter->slice->keep_contexts ? scan_all(source, error)
                                                                  : scan_profiles(source, error));
    for (uint32_t p = 0; p < source->count; p++) {
        LODE_TRY(list_ids(&source->parts[p], error));
        if (source->comm)
            LODE_TRY(share_ids(source, &source->parts[p], error));
    }
    return describe_families(source, out, error);
}
