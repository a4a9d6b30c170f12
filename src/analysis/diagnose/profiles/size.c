/* SPDX-License-Identifier: BSD-3-Clause */
/* How much has to be read, and what is left out of large databases. */
#include "analysis/diagnose/profiles/facts.h"

#include "model/database/block.h"
#include "model/database/trace.h"

#define LIMIT_DEFAULT (UINT64_C(512) << 20)

enum {
    TREE_PER_CONTEXT = 4 /* as where values by context are read: see spread/contexts.c */
};

uint64_t lode_diagnose_limit(const struct lode_diagnosis *d)
{
    return d->options.read_limit ? d->options.read_limit : LIMIT_DEFAULT;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Bytes of the values at contexts where the row changes; UINT64_MAX: they cannot be used. */
static uint64_t size_by_contexts(const struct lode_diagnosis *d, const uint32_t *row_of)
{
    const lode_database *db = d->profiles->db;
    uint64_t bytes = 0, count = 0, most = db->tree.count / TREE_PER_CONTEXT;
    uint16_t id;
    if (!lode_database_has(db, LODE_PART_CONTEXT) ||
        lode_metric_id(d->run.metric, LODE_SCOPE_EXECUTION, &id) != LODE_OK)
        return UINT64_MAX;
    most = most > db->profile_count ? most : db->profile_count;
    for (uint32_t i = 0; i < db->tree.count; i++) {
        const lode_context *context = &db->tree.nodes[i];
        lode_block block;
        lode_group group = {0};
        if (i > 0 && row_of[i] == row_of[context->parent])
            continue;
        if (++count > most)
            return UINT64_MAX;
        if (lode_context_block(db, context->id, &block, NULL) == LODE_OK &&
            lode_block_find(&block, id, &group, NULL) == LODE_OK)
            bytes = add(bytes, group.count * block_value_stride(&block));
    }
    return bytes;
}

static lode_status size_by_profiles(const struct lode_diagnosis *d, uint64_t *bytes, lode_error *error)
{
    *bytes = 0;
    for (uint32_t p = 1; p < d->profiles->db->profile_count; p++) {
        lode_block block;
        LODE_TRY(lode_profile_block(d->profiles->db, p, &block, error));
        *bytes = add(*bytes, block.value_count * block_value_stride(&block) +
                                 block.group_count * block_group_stride(&block));
    }
    return LODE_OK;
}

lode_status lode_diagnose_size(struct lode_diagnosis *d, const uint32_t *row_of, lode_error *error)
{
    uint64_t limit = lode_diagnose_limit(d), bytes;
    LODE_TRY(size_by_profiles(d, &bytes, error));
    if (bytes > limit) {
        uint64_t other = size_by_contexts(d, row_of);
        bytes = other < bytes ? other : bytes;
    }
    d->lacks[NEED_VALUES] = bytes > limit;
    if (!d->lacks[NEED_VALUES])
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "not-read", LODE_NOTE_LEFT_OUT, (double)bytes,
        lode_diagnose_say(d,
                          "The values of each profile were not read (%.1f GiB): statements are made from "
                          "totals and the summary. --deep reads all.",
                          (double)bytes / 0x1p30),
        error);
}
