/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/trace.h"

#include "model/database.h"

uint32_t lode_database_trace_count(const lode_database *db)
{
    return db->trace_count;
}

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
    return db->ops->trace_line(db, index, out, error);
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
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (trace_time(line, middle) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
