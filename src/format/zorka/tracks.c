/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces as tracks: their begin, name and thread. Threads that were not recorded are assigned
 * (model/recording/threads.h).
 */
#include "base/error.h"
#include "format/zorka/zorka.h"
#include "model/recording/threads.h"
#include <stdlib.h>

enum {
    ID_DIGITS = 32,
    IDS_AT_ONCE = 64 /* that memory is allocated for: a string of an arena is rounded up */
};

/* ---- ids ---- */

static void put_digits(char *digits, uint64_t word)
{
    for (unsigned i = 0; i < ID_DIGITS / 2; i++)
        digits[i] = "0123456789abcdef"[word >> (60 - 4 * i) & 15];
}

static uint64_t word_of(const char *digits)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < ID_DIGITS / 2; i++)
        word = word << 4 | (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
    return word;
}

struct zor_id lode_zor_track_id(const lode_track *track)
{
    if (track->id[0] == '\0')
        return (struct zor_id){0, 0};
    return (struct zor_id){word_of(track->id), word_of(track->id + ID_DIGITS / 2)};
}

/* NULL if out of memory. */
static const char *id_of(struct zor_recording *rec, struct zor_id id)
{
    if (!zor_id_is_known(id))
        return "";
    if (rec->digits_left == 0) {
        rec->digits = lode_arena_alloc(&rec->base.arena, IDS_AT_ONCE, ID_DIGITS + 1);
        if (rec->digits == NULL)
            return NULL;
        rec->digits_left = IDS_AT_ONCE;
    }
    char *digits = rec->digits;
    put_digits(digits, id.high);
    put_digits(digits + ID_DIGITS / 2, id.low);
    rec->digits += ID_DIGITS + 1;
    rec->digits_left--;
    return digits;
}

/* ---- tracks ---- */

/* Ids of strings have 32 bits: a larger number is the id of none, as 0. */
static bool keep_method(struct zor_recording *rec, uint64_t method)
{
    uint32_t *kept = lode_array_push(&rec->methods);
    if (kept)
        *kept = method > UINT32_MAX ? 0 : (uint32_t)method;
    return kept != NULL;
}

struct zor_trace *lode_zor_add_trace(struct zor_recording *rec, const struct zor_begun *begun)
{
    uint32_t index = (uint32_t)rec->traces.count, store = zor_store_of(rec, &begun->trace);
    bool is_known;
    /* All traces of the method share its name. */
    const lode_function *function = lode_zor_function(rec, store, begun->method, &is_known);
    const char *id = id_of(rec, begun->id);
    lode_track *track = function && id ? lode_array_push(&rec->tracks) : NULL;
    struct zor_trace *trace = track ? lode_array_push(&rec->traces) : NULL;
    if (trace == NULL || (rec->keeps_methods && !keep_method(rec, begun->method)))
        return NULL;
    *trace = begun->trace;
    *track = (lode_track){.index = index,
                          .pid = begun->pid > 0 ? begun->pid : (int32_t)rec->stores[store].number,
                          .tid = begun->tid,
                          .name = function->name,
                          .program = rec->stores[store].name,
                          .bytes = trace->first.end - trace->first.begin,
                          .id = id};
    return trace;
}

/* ---- times and threads ---- */

/* Times are relative to the first time stamp. */
void lode_zor_set_tracks(struct zor_recording *rec)
{
    uint64_t first = UINT64_MAX;
    rec->base.tracks = rec->tracks.items;
    rec->base.track_count = (uint32_t)rec->tracks.count;
    rec->base.has_requests = true;
    for (size_t i = 0; i < rec->traces.count; i++) {
        uint64_t stamp = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i)->stamp;
        first = stamp > 0 && stamp < first ? stamp : first;
    }
    rec->first_stamp = first;
    if (first < UINT64_MAX)
        rec->base.utc_offset = (int64_t)(first * 1000000);
}

static void interval_of(const void *user, uint32_t track, uint64_t *begin, uint64_t *end)
{
    const struct zor_recording *rec = user;
    const struct zor_trace *trace = zor_trace_at(rec, track);
    *begin = zor_begin_of(rec, trace);
    *end = zor_end_of(rec, trace);
}

lode_status lode_zor_place_tracks(struct zor_recording *rec, lode_error *error)
{
    return lode_tracks_assign(rec->base.tracks, rec->base.track_count, interval_of, rec, error);
}
