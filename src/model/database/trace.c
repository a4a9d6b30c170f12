/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/trace.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include "model/database/database.h"

LODE_GETTER(uint32_t, lode_database_trace_count, lode_database, trace_count);

lode_status lode_database_trace_bounds(const lode_database *db, uint64_t *min, uint64_t *max)
{
    if (!lode_database_has(db, LODE_PART_TRACE))
        return LODE_ABSENT;
    *min = db->trace_min;
    *max = db->trace_max;
    return LODE_OK;
}

lode_status lode_database_trace_line(const lode_database *db, uint32_t index, lode_trace_line *out,
                                     lode_error *error)
{
    if (index >= db->trace_count)
        return lode_database_no_item(db, LODE_PART_TRACE, "trace line", index, db->trace_count, error);
    return db->ops->trace_line(db, index, out, error);
}

lode_status lode_trace_lines_fit(const lode_database *db, lode_error *error)
{
    const struct lode_part_info *part = &db->parts[LODE_PART_TRACE];
    uint64_t left = part->size;
    for (uint32_t i = 0; i < db->trace_count; i++) {
        lode_trace_line line;
        LODE_TRY(lode_database_trace_line(db, i, &line, error));
        uint64_t size = line.sample_count * TRACE_SAMPLE_SIZE;
        if (size > left)
            return lode_fail(
                error, LODE_ERR_CORRUPT, part->file, LODE_NO_OFFSET,
                "trace lines share their samples: those of the first %u exceed the size of the file", i + 1);
        left -= size;
    }
    return LODE_OK;
}

lode_status lode_trace_line_sample(const lode_trace_line *line, uint64_t index, lode_sample *out)
{
    if (index >= line->sample_count)
        return LODE_END;
    *out = (lode_sample){trace_time(line, index), trace_context(line, index)};
    return LODE_OK;
}

uint64_t lode_trace_line_seek(const lode_trace_line *line, uint64_t time)
{
    uint64_t low = 0, high = line->sample_count;
    LODE_BISECT(low, high, trace_time(line, middle) < time);
    return low;
}

/* A context that stands for "not running" would show in place. */
lode_status lode_trace_line_view(const lode_trace_line *line, const void **bytes, size_t *stride,
                                 lode_error *error)
{
    if (!layout_is_in_place(line->layout) || line->idle_id)
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET,
                         "the samples have another layout than that of this machine");
    *bytes = line->samples;
    *stride = TRACE_SAMPLE_SIZE;
    return LODE_OK;
}
