/* SPDX-License-Identifier: BSD-3-Clause */
/* A search filters tracks by their intervals, then by their events, one batch at a time. */
#include "analysis/search/search.h"
#include "analysis/search/request.h"
#include "analysis/time/density.h"

#include "analysis/calls/slice.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include <stdlib.h>

enum {
    BATCH = 1 << 15 /* tracks per pass, which bounds memory */
};

struct lode_search {
    struct lode_best best;
    uint64_t found;
    uint64_t found_by[LODE_MATCH_SHOWN + 1]; /* by the match of the method */
};

struct run {
    const lode_recording *recording;
    lode_search_options options;
    struct lode_wanted wanted;
    struct lode_search *search;
    struct lode_density *density; /* instead of rows; NULL: rows */
    bool has_read;                /* events of all tracks whose intervals match */
    struct lode_array *chosen;    /* struct lode_found, instead of rows; NULL: rows */
    struct lode_scan *scans;      /* by worker */
    pthread_mutex_t lock;         /* protects the search */
    /* Bytes of tracks before this batch, and in total. */
    uint64_t before, total;
};

/* ---- intervals ---- */

static lode_status read_interval(const struct run *run, uint32_t track, struct lode_found *found,
                                 uint64_t *duration, lode_error *error)
{
    uint64_t end;
    LODE_TRY(lode_track_interval(run->recording, track, &found->begin, &end, error));
    found->track = track;
    *duration = end > found->begin ? end - found->begin : 0;
    return LODE_OK;
}

/* LODE_ABSENT if the interval of the track does not match. */
static lode_status choose(const struct run *run, uint32_t track, struct lode_found *found, uint64_t *duration,
                          lode_error *error)
{
    const lode_search_options *options = &run->options;
    lode_slice window = LODE_SLICE_INIT;
    window.from = options->from;
    window.to = options->to;
    if (recording_main(run->recording, track) != track)
        return LODE_ABSENT; /* it is read with its main track */
    LODE_TRY(read_interval(run, track, found, duration, error));
    bool is_wanted = *duration >= options->min_duration &&
                     (options->max_duration == 0 || *duration <= options->max_duration) &&
                     lode_slice_meets(&window, found->begin, found->begin + *duration);
    return is_wanted ? LODE_OK : LODE_ABSENT;
}

/* Instead of rows: cells, or a list. */
static lode_status note(struct run *run, const struct lode_found *found, uint64_t duration, lode_error *error)
{
    if (run->density)
        return lode_density_add(run->density, found, duration, error);
    struct lode_found *slot = lode_array_push(run->chosen);
    LODE_TRY_ALLOC(slot, error);
    *slot = *found;
    return LODE_OK;
}

static bool has_rows(const struct run *run)
{
    return run->density == NULL && run->chosen == NULL;
}

static lode_status search_spans(struct run *run, const lode_slice *asked, uint32_t count,
                                struct lode_best *best, lode_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct lode_found found = {0};
        uint64_t duration;
        lode_status status = choose(run, lode_slice_track(asked, i), &found, &duration, error);
        if (status == LODE_ABSENT)
            continue;
        LODE_TRY(status);
        if (!has_rows(run)) {
            LODE_TRY(note(run, &found, duration, error));
            continue;
        }
        run->search->found++;
        found.rank = run->options.sort == LODE_SEARCH_BY_DURATION ? duration : 0;
        if (lode_best_admits(best, &found) && !lode_best_add(best, &found))
            return lode_fail_memory(error);
    }
    return LODE_OK;
}

/* ---- events ---- */

static lode_status begin(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    struct run *run = user;
    return lode_scan_begin(&run->scans[worker], &run->wanted, row->track, error);
}

static lode_status side(void *user, unsigned worker, uint32_t track, lode_error *error)
{
    struct run *run = user;
    return lode_scan_side(&run->scans[worker], track, error);
}

static lode_status take(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error)
{
    struct run *run = user;
    return lode_scan_take(&run->scans[worker], events, count, error);
}

static uint64_t rank_of(lode_search_sort sort, const struct lode_scan *scan, uint64_t duration)
{
    switch (sort) {
    case LODE_SEARCH_BY_DURATION:
        return duration;
    case LODE_SEARCH_BY_CALLS:
        return scan->calls;
    case LODE_SEARCH_BY_ERRORS:
        return scan->errors;
    case LODE_SEARCH_BY_TIME:
        break;
    }
    return 0;
}

/* Called with the lock held. */
static lode_status add_hit(struct run *run, const struct lode_scan *scan, struct lode_found *found,
                           uint64_t duration, lode_error *error)
{
    if (!has_rows(run))
        return note(run, found, duration, error);
    struct lode_best *best = &run->search->best;
    run->search->found += lode_wanted_asks_events(&run->wanted);
    run->search->found_by[found->method]++;
    if (!lode_best_admits(best, found))
        return LODE_OK;
    found->hit = lode_scan_hit(scan, found->begin, duration);
    if (found->hit && lode_best_add(best, found))
        return LODE_OK;
    free(found->hit);
    return lode_fail_memory(error);
}

static lode_status end(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    struct run *run = user;
    struct lode_scan *scan = &run->scans[worker];
    struct lode_found found = {0};
    uint64_t duration;
    LODE_TRY(lode_scan_finish(scan, error));
    if (!lode_scan_matches(scan))
        return LODE_OK;
    LODE_TRY(read_interval(run, row->track, &found, &duration, error));
    found.rank = rank_of(run->options.sort, scan, duration);
    found.method = scan->method;
    pthread_mutex_lock(&run->lock);
    lode_status status = add_hit(run, scan, &found, duration, error);
    pthread_mutex_unlock(&run->lock);
    return status;
}

static int on_finding(void *user, const lode_finding *finding)
{
    const struct run *run = user;
    return run->options.on_finding(run->options.user, finding);
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const struct run *run = user;
    (void)total;
    return run->options.on_progress(run->options.user, phase, run->before + done, run->total);
}

/* Reads one batch. */
static lode_status read_tracks(struct run *run, const uint32_t *tracks, uint32_t count, lode_error *error)
{
    lode_slice slice = LODE_SLICE_INIT;
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    struct lode_pass pass;
    slice.tracks = tracks;
    slice.track_count = count;
    options.threads = run->options.threads;
    options.pool = run->options.pool;
    options.strict = run->options.strict;
    options.on_finding = run->options.on_finding ? on_finding : NULL;
    options.on_progress = run->options.on_progress ? on_progress : NULL;
    options.user = run;
    LODE_TRY(lode_pass_open(&pass, run->recording, &slice, &options, error));
    lode_pass_join(&pass);
    pass.begin = begin;
    pass.side = side;
    pass.take = take;
    pass.end = end;
    pass.user = run;
    run->scans = lode_pass_workers(&pass, sizeof *run->scans);
    lode_status status = run->scans ? lode_pass_run(&pass, error) : lode_fail_memory(error);
    for (unsigned i = 0; run->scans && i < pass.threads; i++)
        lode_scan_free(&run->scans[i]);
    free(run->scans);
    lode_pass_close(&pass);
    return status;
}

/* Reads the tracks with matching intervals, one batch at a time. */
static lode_status read_batches(struct run *run, const lode_slice *asked, uint32_t count, uint32_t *batch,
                                lode_error *error)
{
    uint64_t bytes = 0;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct lode_found found = {0};
        uint64_t duration;
        uint32_t track = lode_slice_track(asked, i);
        lode_status status = choose(run, track, &found, &duration, error);
        if (status == LODE_OK)
            batch[chosen++] = track;
        else if (status != LODE_ABSENT)
            return status;
        bytes += run->recording->tracks[track].bytes;
        if (chosen < BATCH && i + 1 < count)
            continue;
        if (chosen > 0)
            LODE_TRY(read_tracks(run, batch, chosen, error));
        run->before = bytes;
        chosen = 0;
    }
    return LODE_OK;
}

static lode_status search_events(struct run *run, const lode_slice *asked, uint32_t count, lode_error *error)
{
    uint32_t *batch = malloc(BATCH * sizeof *batch);
    LODE_TRY_ALLOC(batch, error);
    run->total = 0;
    for (uint32_t i = 0; i < count; i++)
        run->total += run->recording->tracks[lode_slice_track(asked, i)].bytes;
    lode_status status = read_batches(run, asked, count, batch, error);
    free(batch);
    return status;
}

/* ---- both ---- */

/* Reads the tracks of a result that was found by intervals, to fill in details. */
static lode_status describe(struct run *run, const struct lode_best *best, lode_error *error)
{
    lode_slice slice = LODE_SLICE_INIT;
    uint32_t count = (uint32_t)best->items.count;
    uint32_t *tracks = malloc(((size_t)count + 1) * sizeof *tracks);
    LODE_TRY_ALLOC(tracks, error);
    for (uint32_t i = 0; i < count; i++)
        tracks[i] = LODE_ARRAY_AT(&best->items, struct lode_found, i)->track;
    qsort(tracks, count, sizeof *tracks, lode_compare_u32);
    slice.tracks = tracks;
    slice.track_count = count;
    lode_status status = search_events(run, &slice, count, error);
    free(tracks);
    return status;
}

static lode_status search_and_describe(struct run *run, const lode_slice *asked, uint32_t count,
                                       lode_error *error)
{
    struct lode_best best;
    lode_best_init(&best, run->options.limit);
    lode_status status = search_spans(run, asked, count, &best, error);
    if (status == LODE_OK)
        status = describe(run, &best, error);
    lode_best_free(&best);
    return status;
}

static lode_status run_search(struct run *run, lode_error *error)
{
    lode_slice asked = LODE_SLICE_INIT;
    uint32_t count;
    asked.tracks = run->options.tracks;
    asked.track_count = run->options.track_count;
    LODE_TRY(lode_slice_tracks(&asked, run->recording, &count, error));
    LODE_TRY(lode_wanted_init(&run->wanted, run->recording, &run->options, error));
    run->has_read = lode_wanted_asks_events(&run->wanted);
    if (run->has_read)
        LODE_TRY(search_events(run, &asked, count, error));
    if (run->wanted.method)
        return lode_matcher_status(run->wanted.method, error);
    if (run->has_read)
        return LODE_OK;
    if (!has_rows(run))
        return search_spans(run, &asked, count, NULL, error);
    return search_and_describe(run, &asked, count, error);
}

static lode_status run_locked(struct run *run, lode_error *error)
{
    pthread_mutex_init(&run->lock, NULL);
    lode_status status = run_search(run, error);
    pthread_mutex_destroy(&run->lock);
    lode_wanted_free(&run->wanted);
    return status;
}

/* Of functions that match, the best ones count. */
static void keep_methods(lode_search *search)
{
    lode_match best = LODE_MATCH_SHOWN;
    while (best > LODE_MATCH_NONE && search->found_by[best] == 0)
        best--;
    lode_best_keep_methods(&search->best);
    search->found = search->found_by[best];
}

lode_status lode_search_run(lode_search **out, const lode_recording *recording,
                            const lode_search_options *options, lode_error *error)
{
    struct run run = {.recording = recording, .options = LODE_SEARCH_OPTIONS_INIT};
    *out = NULL;
    LODE_TRY(lode_options_take(&run.options, options, error));
    run.search = calloc(1, sizeof *run.search);
    LODE_TRY_ALLOC(run.search, error);
    lode_best_init(&run.search->best, run.options.limit);
    lode_status status = run_locked(&run, error);
    if (status != LODE_OK) {
        lode_search_free(run.search);
        return status;
    }
    if (run.options.method)
        keep_methods(run.search);
    lode_best_sort(&run.search->best);
    *out = run.search;
    return LODE_OK;
}

/* ---- requests ---- */

/* Of functions that match, the best ones count. */
static bool list_best(struct lode_array *tracks, const struct lode_array *chosen)
{
    lode_match best = LODE_MATCH_NONE;
    for (size_t i = 0; i < chosen->count; i++) {
        lode_match method = LODE_ARRAY_AT(chosen, struct lode_found, i)->method;
        best = method > best ? method : best;
    }
    for (size_t i = 0; i < chosen->count; i++) {
        const struct lode_found *found = LODE_ARRAY_AT(chosen, struct lode_found, i);
        uint32_t *track = found->method == best ? lode_array_push(tracks) : NULL;
        if (found->method == best && track == NULL)
            return false;
        if (track)
            *track = found->track;
    }
    if (tracks->count)
        qsort(tracks->items, tracks->count, sizeof(uint32_t), lode_compare_u32);
    return true;
}

lode_status lode_search_tracks(struct lode_array *tracks, bool *has_read, const lode_recording *recording,
                               const lode_search_options *options, lode_error *error)
{
    struct run run = {.recording = recording, .options = LODE_SEARCH_OPTIONS_INIT};
    struct lode_array chosen;
    LODE_TRY(lode_options_take(&run.options, options, error));
    run.options.sort = LODE_SEARCH_BY_TIME;
    lode_array_init(&chosen, sizeof(struct lode_found), UINT32_MAX);
    run.chosen = &chosen;
    lode_status status = run_locked(&run, error);
    *has_read = run.has_read;
    if (status == LODE_OK && !list_best(tracks, &chosen))
        status = lode_fail_memory(error);
    lode_array_free(&chosen);
    return status;
}

/* ---- cells ---- */

/* From the first to the last time at which a track begins, or as asked for. */
static lode_status find_columns(const struct run *run, struct lode_intervals *columns, lode_error *error)
{
    const lode_search_options *options = &run->options;
    lode_slice asked = LODE_SLICE_INIT;
    uint64_t first = UINT64_MAX, last = 0;
    uint32_t count;
    asked.tracks = options->tracks;
    asked.track_count = options->track_count;
    LODE_TRY(lode_slice_tracks(&asked, run->recording, &count, error));
    for (uint32_t i = 0; i < count; i++) {
        struct lode_found found;
        uint64_t duration;
        uint32_t track = lode_slice_track(&asked, i);
        bool is_side = recording_main(run->recording, track) != track;
        lode_status status = is_side ? LODE_ABSENT : read_interval(run, track, &found, &duration, error);
        if (status == LODE_ABSENT)
            continue;
        LODE_TRY(status);
        first = found.begin < first ? found.begin : first;
        last = found.begin > last ? found.begin : last;
    }
    columns->from = options->from ? options->from : first <= last ? first : 0;
    columns->to = options->to ? options->to : last < UINT64_MAX ? last + 1 : last;
    if (columns->to <= columns->from)
        columns->to = columns->from < UINT64_MAX ? columns->from + 1 : columns->from;
    return LODE_OK;
}

lode_status lode_density_compute(lode_density **out, const lode_recording *recording,
                                 const lode_search_options *options, unsigned columns, lode_error *error)
{
    struct run run = {.recording = recording, .options = LODE_SEARCH_OPTIONS_INIT};
    struct lode_intervals window = {.count = columns ? columns : 1};
    *out = NULL;
    LODE_TRY(lode_options_take(&run.options, options, error));
    run.options.sort = LODE_SEARCH_BY_TIME;
    LODE_TRY(find_columns(&run, &window, error));
    lode_status status = lode_density_init(&run.density, window, error);
    if (status == LODE_OK)
        status = run_locked(&run, error);
    if (status != LODE_OK) {
        lode_density_free(run.density);
        return status;
    }
    lode_density_finish(run.density);
    *out = run.density;
    return LODE_OK;
}

void lode_search_free(lode_search *search)
{
    if (search == NULL)
        return;
    lode_best_free(&search->best);
    free(search);
}

LODE_GETTER(size_t, lode_search_count, lode_search, best.items.count);
LODE_GETTER(uint64_t, lode_search_found, lode_search, found);

const lode_search_row *lode_search_at(const lode_search *search, size_t index)
{
    if (index >= search->best.items.count)
        return NULL;
    return &LODE_ARRAY_AT(&search->best.items, struct lode_found, index)->hit->row;
}
