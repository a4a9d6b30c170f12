/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.db, cct.db, trace.db: blocks, id tuples and trace lines, decoded in place. */
#include "base/io/bytes.h"
#include "format/hpctoolkit/read.h"

void lode_hpct_profile(const struct hpct_database *db, uint32_t index, struct wire_Profile *out)
{
    lode_wire_read_Profile(out, hpct_record(&db->profiles, index), db->profiles.stride);
    if (db->profiles.stride < WIRE_Profile_flags + sizeof out->flags)
        out->flags = index == 0 ? HPCT_PROFILE_SUMMARY : 0;
}

void lode_hpct_context(const struct hpct_database *db, uint32_t index, struct wire_ContextInfo *out)
{
    lode_wire_read_ContextInfo(out, hpct_record(&db->contexts, index), db->contexts.stride);
}

void lode_hpct_trace(const struct hpct_database *db, uint32_t index, struct wire_Trace *out)
{
    lode_wire_read_Trace(out, hpct_record(&db->traces, index), db->traces.stride);
}

/* The part of a file that may have values: all but its footer. */
static struct lode_range file_body(const struct hpct_database *db, enum hpct_file_id id)
{
    struct lode_range bytes = db->files[id].source.bytes;
    bytes.size -= bytes.size < HPCT_FOOTER_SIZE ? bytes.size : HPCT_FOOTER_SIZE;
    return bytes;
}

/* Sets the arrays of a block whose counts and key sizes are set. */
static bool place_block(const struct hpct_database *db, enum hpct_file_id id, uint64_t values,
                        uint64_t groups, lode_block *block)
{
    struct lode_range body = file_body(db, id), value_bytes = {body.data, 0}, group_bytes = {body.data, 0};
    block->file = lode_hpct_specs[id].name;
    block->groups_offset = groups;
    /* Pointers of empty arrays are ignored. */
    if (block->value_count && !lode_range_array(body, values, block->value_count,
                                                (uint64_t)block->value_key_size + 8, &value_bytes))
        return false;
    if (block->group_count && !lode_range_array(body, groups, block->group_count,
                                                (uint64_t)block->group_key_size + 8, &group_bytes))
        return false;
    block->values = value_bytes.data;
    block->groups = group_bytes.data;
    return true;
}

bool lode_hpct_profile_block(const struct hpct_database *db, const struct wire_Profile *profile,
                             lode_block *out)
{
    *out = (lode_block){.value_count = profile->nValues,
                        .group_count = profile->nCtxs,
                        .group_key_size = sizeof(uint32_t),
                        .value_key_size = sizeof(uint16_t)};
    return place_block(db, HPCT_PROFILE, profile->pValues, profile->pCtxIndices, out);
}

bool lode_hpct_context_block(const struct hpct_database *db, const struct wire_ContextInfo *context,
                             lode_block *out)
{
    *out = (lode_block){.value_count = context->nValues,
                        .group_count = context->nMetrics,
                        .group_key_size = sizeof(uint16_t),
                        .value_key_size = sizeof(uint32_t)};
    return place_block(db, HPCT_CCT, context->pValues, context->pMetricIndices, out);
}

bool lode_hpct_trace_line(const struct hpct_database *db, const struct wire_Trace *trace,
                          lode_trace_line *out)
{
    struct lode_range body = file_body(db, HPCT_TRACE), bytes = {body.data, 0};
    *out = (lode_trace_line){.profile = trace->profIndex, .idle_id = db->idle_id, .samples = body.data};
    if (trace->pStart == trace->pEnd)
        return true;
    if (trace->pEnd < trace->pStart || (trace->pEnd - trace->pStart) % WIRE_Sample_SIZE != 0 ||
        !lode_range_part(body, trace->pStart, trace->pEnd - trace->pStart, &bytes))
        return false;
    out->samples = bytes.data;
    out->sample_count = bytes.size / WIRE_Sample_SIZE;
    return true;
}

bool lode_hpct_id_tuple(const struct hpct_database *db, uint64_t pointer, struct lode_range *ids)
{
    const struct hpct_section *section = &db->files[HPCT_PROFILE].sections[1];
    struct lode_range head;
    if (pointer < section->offset ||
        !lode_range_part(section->bytes, pointer - section->offset, WIRE_IdTuple_SIZE, &head))
        return false;
    struct wire_IdTuple tuple;
    lode_wire_read_IdTuple(&tuple, head.data, head.size);
    return lode_range_array(section->bytes, pointer - section->offset + WIRE_IdTuple_SIZE, tuple.nIds,
                            WIRE_Id_SIZE, ids);
}
