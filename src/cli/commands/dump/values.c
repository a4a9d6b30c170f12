/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "commands/dump/dump.h"
#include "stores/session.h"

#include <stdlib.h>

/* Values that are in memory at a time. */
#define CHUNK 512

/* Bytes that things of a database have in their file, at least. */
enum {
    LEAST_VALUE = 10, /* and the entry of an index */
    LEAST_ID = 16,
    LEAST_SAMPLE = 12
};

/*
 * Subtracts what is to be written from the remaining size of a part's file. Valid databases share
 * no bytes; otherwise a small file could produce unbounded output.
 */
static lode_status take(uint64_t *left, const lode_database *db, lode_part part, uint64_t count,
                        unsigned size, lode_error *error)
{
    if (count <= *left / size) {
        *left -= count * size;
        return LODE_OK;
    }
    return session_shared(db, part, error);
}

static lode_status take_block(uint64_t *left, const lode_database *db, lode_part part,
                              const lode_block *block, lode_error *error)
{
    uint64_t count = lode_block_value_count(block) + lode_block_group_count(block);
    return take(left, db, part, count, LEAST_VALUE, error);
}

static lode_status dump_group(out *o, const lode_block *block, const lode_group *group)
{
    lode_value chunk[CHUNK];
    out_number_key_object(o, group->key);
    for (uint64_t done = 0; done < group->count && !out_has_failed(o); done += CHUNK) {
        uint64_t part = group->count - done < CHUNK ? group->count - done : CHUNK;
        lode_status status = lode_block_read(block, group->first + done, part, chunk);
        if (status != LODE_OK)
            return status;
        for (uint64_t i = 0; i < part; i++)
            out_number_key_real(o, chunk[i].key, chunk[i].value);
    }
    out_object_end(o);
    return LODE_OK;
}

/* A member "values": {"<group>": {"<key>": number}}. */
static lode_status dump_block(out *o, const lode_block *block, lode_error *error)
{
    out_object(o, "values");
    for (uint32_t i = 0; i < lode_block_group_count(block) && !out_has_failed(o); i++) {
        lode_group group;
        lode_status status = lode_block_group(block, i, &group, error);
        if (status == LODE_OK)
            status = dump_group(o, block, &group);
        if (status != LODE_OK)
            return status;
    }
    out_object_end(o);
    return LODE_OK;
}

static lode_status dump_ids(out *o, const lode_database *db, uint32_t profile, uint64_t *left,
                            lode_error *error)
{
    uint32_t count = 0;
    lode_status status = lode_profile_ids(db, profile, NULL, 0, &count, error);
    if (status >= 0)
        status = take(left, db, LODE_PART_PROFILE, count, LEAST_ID, error);
    if (status < 0)
        return status;
    lode_id *ids = alloc_array(count, sizeof *ids);
    status = lode_profile_ids(db, profile, ids, count, &count, error);
    out_array(o, "ids");
    for (uint32_t i = 0; status >= 0 && i < count; i++) {
        OUT_OBJECT(o, NULL, "kind", ids[i].kind, "flags", ids[i].flags, "logical", ids[i].logical, "physical",
                   out_digits(ids[i].physical));
    }
    out_array_end(o);
    free(ids);
    return status;
}

static lode_status dump_profile(out *o, const lode_database *db, uint32_t index, uint64_t *left,
                                lode_error *error)
{
    uint32_t flags = 0;
    lode_block block;
    lode_status status = lode_profile_flags(db, index, &flags, error);
    if (status >= 0)
        status = lode_profile_block(db, index, &block, error);
    if (status >= 0)
        status = take_block(left, db, LODE_PART_PROFILE, &block, error);
    if (status < 0)
        return status;
    out_break(o);
    out_object(o, NULL);
    OUT_FIELDS(o, "index", index, "summary", lode_profile_is_summary(db, index), "flags", flags);
    status = dump_ids(o, db, index, left, error);
    if (status >= 0)
        status = dump_block(o, &block, error);
    out_object_end(o);
    return status;
}

lode_status dump_profiles(out *o, const lode_database *db, lode_error *error)
{
    uint64_t left = lode_database_part_size(db, LODE_PART_PROFILE);
    out_break(o);
    out_array(o, "profiles");
    for (uint32_t i = 0; i < lode_database_profile_count(db) && !out_has_failed(o); i++) {
        lode_status status = dump_profile(o, db, i, &left, error);
        if (status < 0)
            return status;
    }
    out_array_end(o);
    return LODE_OK;
}

static lode_status dump_context(out *o, const lode_database *db, uint32_t id, uint64_t *left,
                                lode_error *error)
{
    lode_block block;
    lode_status status = lode_context_block(db, id, &block, error);
    if (status == LODE_OK)
        status = take_block(left, db, LODE_PART_CONTEXT, &block, error);
    if (status != LODE_OK || lode_block_value_count(&block) == 0)
        return status;
    out_break(o);
    out_object(o, NULL);
    OUT_FIELDS(o, "id", id);
    status = dump_block(o, &block, error);
    out_object_end(o);
    return status;
}

lode_status dump_contexts(out *o, const lode_database *db, lode_error *error)
{
    uint32_t count = lode_database_context_block_count(db);
    uint64_t left = lode_database_part_size(db, LODE_PART_CONTEXT);
    out_break(o);
    if (!lode_database_has(db, LODE_PART_CONTEXT)) {
        OUT_FIELDS(o, "contexts", out_none(), "context_block_count", out_none());
        return LODE_OK;
    }
    out_array(o, "contexts");
    for (uint32_t id = 0; id < count && !out_has_failed(o); id++) {
        lode_status status = dump_context(o, db, id, &left, error);
        if (status < 0)
            return status;
    }
    out_array_end(o);
    OUT_FIELDS(o, "context_block_count", count);
    return LODE_OK;
}

static void dump_samples(out *o, const lode_trace_line *line)
{
    out_array(o, "samples");
    for (uint64_t i = 0; i < line->sample_count && !out_has_failed(o); i++) {
        lode_sample sample;
        if (lode_trace_line_sample(line, i, &sample) != LODE_OK)
            break;
        OUT_ARRAY(o, NULL, out_digits(sample.time), sample.context_id);
    }
    out_array_end(o);
}

lode_status dump_traces(out *o, const lode_database *db, lode_error *error)
{
    uint64_t min = 0, max = 0, left = lode_database_part_size(db, LODE_PART_TRACE);
    out_break(o);
    if (lode_database_trace_bounds(db, &min, &max) != LODE_OK) {
        OUT_FIELDS(o, "traces", out_none());
        return LODE_OK;
    }
    out_object(o, "traces");
    OUT_FIELDS(o, "min_time_ns", out_digits(min), "max_time_ns", out_digits(max));
    out_array(o, "lines");
    for (uint32_t i = 0; i < lode_database_trace_count(db) && !out_has_failed(o); i++) {
        lode_trace_line line;
        lode_status status = lode_database_trace_line(db, i, &line, error);
        if (status >= 0)
            status = take(&left, db, LODE_PART_TRACE, line.sample_count, LEAST_SAMPLE, error);
        if (status < 0)
            return status;
        out_break(o);
        out_object(o, NULL);
        OUT_FIELDS(o, "profile", line.profile);
        dump_samples(o, &line);
        out_object_end(o);
    }
    out_array_end(o);
    out_object_end(o);
    return LODE_OK;
}
