/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: the nodes of the calling context tree, and their values. */
#include "base/io/bytes.h"
#include "format/hpcrun/read/read.h"
#include <inttypes.h>
#include <math.h>

/* ---- nodes ---- */

static lode_status check_parent(struct hpcrun_profile *profile, uint64_t number,
                                const struct hpcrun_Node *node, const uint8_t *at)
{
    bool is_root = node->parent == 0;
    if (number == 0) {
        if (is_root && node->module == 0 && node->offset == HPCRUN_ROOT)
            return LODE_OK;
        return hpcrun_finding(profile, HPCRUN_RULE_NODE_ROOT, at, "the first node is not the root");
    }
    if (is_root)
        return hpcrun_finding(profile, HPCRUN_RULE_NODE_ROOT, at, "node %" PRIu32 " is another root",
                              node->id);
    if (lode_map_get(&profile->node_of, node->parent))
        return LODE_OK;
    return hpcrun_finding(profile, HPCRUN_RULE_NODE_PARENT, at,
                          "no node before node %" PRIu32 " is its parent %" PRIu32, node->id, node->parent);
}

static lode_status check_node(struct hpcrun_profile *profile, uint64_t number)
{
    const uint8_t *at = profile->nodes.data + number * HPCRUN_Node_SIZE;
    struct hpcrun_Node node = lode_hpcrun_node(profile, number);
    bool added;
    LODE_TRY(check_parent(profile, number, &node, at));
    if (node.module > profile->modules.count)
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_NODE_MODULE, at,
                                "node %" PRIu32 " is in load module %u of %zu", node.id, node.module,
                                profile->modules.count));
    if (node.flags & ~HPCRUN_NODE_UNWOUND)
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_NODE_FLAGS, at, "node %" PRIu32 " has the flags 0x%x",
                                node.id, node.flags));
    LODE_TRY_ALLOC(lode_map_add(&profile->node_of, node.id, (uint32_t)number, &added),
                   profile->report->error);
    if (node.id != 0 && added)
        return LODE_OK;
    return hpcrun_finding(profile, HPCRUN_RULE_NODE_ID, at, "%s node has the id %" PRIu32,
                          node.id ? "another" : "a", node.id);
}

static lode_status bad_size(struct hpcrun_profile *profile, uint64_t count, uint64_t size)
{
    uint64_t old;
    bool is_old = checked_mul(count, HPCRUN_OLD_NODE_SIZE, &old) && old == size && count > 0;
    LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_NODE_SIZE, profile->sections[HPCRUN_CCT].data,
                            "%" PRIu64 " nodes in %" PRIu64 " bytes%s", count, size,
                            is_old ? ": written by a development build of 2021" : ""));
    return LODE_END;
}

lode_status lode_hpcrun_read_tree(struct hpcrun_profile *profile)
{
    struct lode_range section = profile->sections[HPCRUN_CCT], part;
    uint64_t size;
    if (section.size < sizeof(uint64_t))
        return bad_size(profile, 0, section.size);
    uint64_t count = get_u64be(section.data);
    if (!checked_mul(count, HPCRUN_Node_SIZE, &size) || count > UINT32_MAX - 1 ||
        size != section.size - sizeof(uint64_t) || !lode_range_part(section, sizeof(uint64_t), size, &part))
        return bad_size(profile, count, section.size - sizeof(uint64_t));
    profile->nodes = part;
    profile->node_count = count;
    LODE_TRY_ALLOC(lode_map_reserve(&profile->node_of, (size_t)count), profile->report->error);
    for (uint64_t i = 0; i < count; i++)
        LODE_TRY(check_node(profile, i));
    return LODE_OK;
}

/* ---- values ---- */

double lode_hpcrun_number(const struct hpcrun_metric *metric, uint64_t bits)
{
    return metric->flags.format == HPCRUN_FORMAT_INTEGER ? (double)bits : f64_of_bits(bits);
}

static lode_status check_value(struct hpcrun_profile *profile, uint64_t number, uint32_t *next)
{
    const uint8_t *at = profile->values.data + number * HPCRUN_Value_SIZE;
    struct hpcrun_Value value = lode_hpcrun_value(profile, number);
    const struct hpcrun_metric *metric =
        value.metric < profile->metrics.count
            ? LODE_ARRAY_AT(&profile->metrics, struct hpcrun_metric, value.metric)
            : NULL;
    if (metric == NULL || metric->formula.size > 0)
        return hpcrun_finding(profile, HPCRUN_RULE_VALUE_METRIC, at, "a value is of metric %u of %zu%s",
                              value.metric, profile->metrics.count, metric ? ", which has a formula" : "");
    if (value.metric < *next)
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_VALUE_ORDER, at,
                                "a value of metric %u comes after one of metric %" PRIu32, value.metric,
                                *next - 1));
    *next = value.metric + 1u;
    if (profile->level < LODE_CHECK_FULL)
        return LODE_OK;
    double size = lode_hpcrun_number(metric, value.bits);
    if (value.bits == 0)
        return hpcrun_finding(profile, HPCRUN_RULE_VALUE_ZERO, at, "a value is zero");
    return size >= 0 && isfinite(size)
               ? LODE_OK
               : hpcrun_finding(profile, HPCRUN_RULE_VALUE_NUMBER, at, "a value is %g", size);
}

/* The values of a node; `position` is that of the entry's node in the tree, plus 1. */
static lode_status check_entry(struct hpcrun_profile *profile, uint32_t number, uint32_t *position)
{
    const uint8_t *at = profile->index.data + (uint64_t)number * HPCRUN_Index_SIZE;
    struct hpcrun_Index entry = lode_hpcrun_index(profile, number);
    const uint32_t *node = lode_map_get(&profile->node_of, entry.node);
    uint64_t past = lode_hpcrun_index(profile, number + 1).start;
    uint32_t next = 0;
    if (node == NULL)
        LODE_TRY(
            hpcrun_finding(profile, HPCRUN_RULE_INDEX_NODE, at, "there is no node %" PRIu32, entry.node));
    else if (*node < *position)
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_INDEX_ORDER, at,
                                "node %" PRIu32 " comes before the node of the entry before", entry.node));
    *position = node ? *node + 1 : *position;
    for (uint64_t i = entry.start; i < past; i++)
        LODE_TRY(check_value(profile, i, &next));
    return LODE_OK;
}

/* Entries lead to all values, in their order. */
static lode_status check_starts(struct hpcrun_profile *profile)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i <= profile->valued; i++) {
        const uint8_t *at = profile->index.data + (uint64_t)i * HPCRUN_Index_SIZE;
        struct hpcrun_Index entry = lode_hpcrun_index(profile, i);
        bool is_last = i == profile->valued;
        if (is_last && (entry.node != HPCRUN_INDEX_END || entry.start != profile->value_count)) {
            LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_INDEX_END, at,
                                    "the index ends with 0x%" PRIx32 " and %" PRIu64, entry.node,
                                    entry.start));
            return LODE_END;
        }
        if (i == 0 ? entry.start != 0 : entry.start <= before || entry.start > profile->value_count) {
            LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_INDEX, at,
                                    "entry %" PRIu32 " begins at value %" PRIu64 " of %" PRIu64, i,
                                    entry.start, profile->value_count));
            return LODE_END;
        }
        before = entry.start;
    }
    return LODE_OK;
}

lode_status lode_hpcrun_read_values(struct hpcrun_profile *profile)
{
    uint32_t position = 0;
    LODE_TRY(check_starts(profile));
    for (uint32_t i = 0; i < profile->valued; i++)
        LODE_TRY(check_entry(profile, i, &position));
    return LODE_OK;
}
