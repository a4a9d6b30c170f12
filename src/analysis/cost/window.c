/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cost/window.h"

#include "base/error.h"
#include <stdlib.h>

/* Extends the time window to all samples of a line. */
static void widen(struct lode_window *window, const lode_trace_line *line)
{
    if (line->sample_count == 0)
        return;
    uint64_t first = trace_time(line, 0), last = trace_time(line, line->sample_count - 1);
    window->from = first < window->from ? first : window->from;
    window->to = last >= window->to ? last + 1 : window->to;
}

lode_status lode_window_init(struct lode_window *window, const lode_database *db,
                             const lode_selection *selection, uint64_t from, uint64_t to, lode_error *error)
{
    bool everything = from == 0 && to == 0;
    *window = (struct lode_window){.from = everything ? UINT64_MAX : from, .to = everything ? 0 : to};
    if (!lode_database_has(db, LODE_PART_TRACE))
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET, "the database has no traces");
    LODE_TRY(lode_trace_lines_fit(db, error));
    window->lines = calloc((size_t)db->trace_count + 1, sizeof *window->lines);
    window->profiles = calloc((size_t)db->trace_count + 1, sizeof *window->profiles);
    LODE_TRY_ALLOC(window->lines && window->profiles, error);
    for (uint32_t i = 0; i < db->trace_count; i++) {
        lode_trace_line line;
        int selected;
        LODE_TRY(lode_database_trace_line(db, i, &line, error));
        LODE_TRY(lode_selection_has(selection, db, line.profile, &selected, error));
        if (!selected)
            continue;
        window->lines[window->count] = i;
        window->profiles[window->count++] = line.profile;
        if (everything)
            widen(window, &line);
    }
    if (window->from >= window->to)
        window->from = window->to = everything ? 0 : from;
    return LODE_OK;
}

void lode_window_free(struct lode_window *window)
{
    free(window->lines);
    free(window->profiles);
}
