/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces as tracks: their begin, name and thread. Threads that were not recorded are assigned
 * (model/recording/threads.h).
 */
#include "base/error.h"
#include "format/zorka/zorka.h"
#include "model/recording/threads.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    ID_SIZE = 33
};

/* Times are relative to the first time stamp. */
static void place_traces(struct zor_recording *rec)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < rec->traces.count; i++) {
        uint64_t stamp = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i)->stamp;
        first = stamp > 0 && stamp < first ? stamp : first;
    }
    if (first < UINT64_MAX)
        rec->base.utc_offset = (int64_t)(first * 1000000);
    for (size_t i = 0; i < rec->traces.count; i++) {
        struct zor_trace *trace = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i);
        trace->begin = trace->stamp > 0 ? (trace->stamp - first) * 1000000 : trace->start << ZOR_TICK_SHIFT;
    }
}

/* ---- threads ---- */

static lode_status place_on_threads(const struct zor_recording *rec, lode_error *error)
{
    size_t count = rec->traces.count;
    struct lode_track_place *places = calloc(count + 1, sizeof *places);
    LODE_TRY_ALLOC(places, error);
    for (size_t i = 0; i < count; i++) {
        const struct zor_trace *trace = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i);
        int32_t pid = trace->pid > 0 ? trace->pid : (int32_t)rec->stores[trace->store].number;
        places[i] = (struct lode_track_place){trace->begin, zor_end_of(trace), (uint32_t)i, pid, trace->tid};
    }
    lode_status status = lode_track_places_assign(places, count, rec->base.tracks, error);
    free(places);
    return status;
}

/* ---- tracks ---- */

static const char *id_of(struct lode_arena *arena, struct zor_id id)
{
    if (!zor_id_is_known(id))
        return "";
    char *digits = lode_arena_alloc(arena, ID_SIZE, 1);
    if (digits)
        snprintf(digits, ID_SIZE, "%016llx%016llx", (unsigned long long)id.high, (unsigned long long)id.low);
    return digits;
}

lode_status lode_zor_make_tracks(struct zor_recording *rec, lode_error *error)
{
    size_t count = rec->traces.count;
    struct lode_arena *arena = &rec->base.arena;
    bool is_known;
    place_traces(rec);
    rec->base.tracks = lode_arena_alloc(arena, count, sizeof *rec->base.tracks);
    LODE_TRY_ALLOC(rec->base.tracks, error);
    rec->base.track_count = (uint32_t)count;
    rec->base.has_requests = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct zor_trace *trace = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i);
        /* All traces of the method share its name. */
        const lode_function *function = lode_zor_function(rec, trace->store, trace->method, &is_known);
        const char *id = id_of(arena, trace->id);
        LODE_TRY_ALLOC(function && id, error);
        rec->base.tracks[i] = (lode_track){.index = i,
                                           .name = function->name,
                                           .program = rec->stores[trace->store].name,
                                           .bytes = trace->bytes,
                                           .id = id};
    }
    return place_on_threads(rec, error);
}
