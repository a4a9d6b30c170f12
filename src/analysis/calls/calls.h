/* SPDX-License-Identifier: BSD-3-Clause */
/* A pass over the tracks of a slice, and the order of functions, for calls and call trees. */
#ifndef LODE_ANALYSIS_CALLS_H
#define LODE_ANALYSIS_CALLS_H

#include "analysis/statistics/sketch.h"
#include "model/recording/recording.h"
#include <lode/unstable/estimate.h>

/* Groups of an estimate's parts: how much they differ says how far off it may be. */
#define LODE_SAMPLE_GROUPS 8

/*
 * What a pass that estimates reads, and what there is. Parts with much of the time are read in any
 * case and stand for themselves: they are the group after the last one.
 */
struct lode_sampling {
    uint64_t piece; /* bytes of a part, about; 0: everything is read */
    lode_calls_sample read;
    /* The other parts, their bytes, and the time between first and last event of each. */
    uint64_t others, others_read, bytes, time;
    uint64_t bytes_read[LODE_SAMPLE_GROUPS + 1], time_read[LODE_SAMPLE_GROUPS + 1];
};

struct lode_pass {
    const lode_recording *recording;
    lode_slice slice;
    lode_calls_options options;
    unsigned threads;
    /* The tracks of the slice in order. The pass sets all fields but calls, total and out. */
    lode_track_row *rows;
    uint32_t row_count;
    /* A worker starts a track; may be NULL. */
    lode_status (*begin)(void *user, unsigned worker, const lode_track_row *row, lode_error *error);
    /* The next events of the worker's track: balanced and nested over the whole track. */
    lode_status (*take)(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error);
    /* Of a pass over requests: a side track of the worker's request begins; may be NULL. */
    lode_status (*side)(void *user, unsigned worker, uint32_t track, lode_error *error);
    bool has_requests; /* rows are requests, with their side tracks */
    /* The track is complete, or a piece of it: sets what this piece adds. */
    lode_status (*end)(void *user, unsigned worker, lode_track_row *row, lode_error *error);
    /* All tracks of a request are complete, which one worker reads then. May be NULL. */
    void (*end_request)(void *user, unsigned worker);
    /*
     * Of a pass that cuts tracks: a piece begins, inside of calls that another worker saw begin.
     * They count where they end; a piece does not count what it leaves open.
     */
    lode_status (*resume)(void *user, unsigned worker, const struct lode_cut *cut, lode_error *error);
    /* A piece that is not the last one ends at a cut; may be NULL. */
    lode_status (*stop)(void *user, unsigned worker, const struct lode_cut *cut, lode_error *error);
    /* The pieces did not fit: all that was taken is void, and tracks are read again as a whole. */
    lode_status (*restart)(void *user, lode_error *error);
    bool cuts;
    struct lode_sampling sample;
    unsigned groups; /* workers per thread: 1, or the groups of an estimate and one more */
    /* Of an estimate: a part ends, inside of calls whose time counts up to here. May be NULL. */
    void (*pause)(void *user, unsigned worker, const struct lode_cut *cut);
    void *user;
};

/* Determines tracks and number of workers. `slice` and `options` may be NULL. */
lode_status lode_pass_open(struct lode_pass *pass, const lode_recording *recording, const lode_slice *slice,
                           const lode_calls_options *options, lode_error *error);
/* Makes rows requests: the side tracks of a request are read after its main one, as one row. */
void lode_pass_join(struct lode_pass *pass);
/* Whether the pass takes whole tracks as they were recorded, which can be cut anywhere. */
bool lode_pass_is_whole(const struct lode_pass *pass);
/* Cuts long tracks, so that all threads have work; sets `threads`. Needs resume and restart. */
void lode_pass_cut(struct lode_pass *pass);
/*
 * Reads about options.parts parts only, if there are some times as many; else cuts tracks. A
 * part begins inside of calls, which count from there: resume has their times. LODE_ABSENT: the
 * slice cannot be estimated; the run says so of tracks.
 */
lode_status lode_pass_sample(struct lode_pass *pass, lode_error *error);
/* Reads the tracks, largest first for load balance; then passes findings on in track order. */
lode_status lode_pass_run(struct lode_pass *pass, lode_error *error);
/*
 * The same for several passes over the same events: the recording, the slice and what is done about
 * off-CPU time are the same, and none has side tracks in its rows. Progress is that of the first.
 */
lode_status lode_pass_run_all(struct lode_pass *const *passes, size_t count, lode_error *error);
void lode_pass_close(struct lode_pass *pass);

/*
 * Calls in three steps, so that one pass can serve others, too: prepare sets up a pass, somebody
 * runs it, and conclude makes the result. As lode_calls_compute takes it; the end of the job is due
 * in every case.
 */
struct lode_calls_job;
lode_status lode_calls_prepare(struct lode_calls_job **job, const lode_recording *recording,
                               const lode_slice *slice, const lode_calls_options *options, lode_error *error);
struct lode_pass *lode_calls_pass(struct lode_calls_job *job);
/* After the pass. */
lode_status lode_calls_conclude(lode_calls **out, struct lode_calls_job *job, lode_error *error);
/* NULL is allowed. */
void lode_calls_end(struct lode_calls_job *job);

/*
 * A zeroed array with an item of `size` bytes per worker, for free(). Items must be a multiple of
 * LODE_WORKER_ALIGN bytes, so that workers do not share cache lines.
 */
#define LODE_WORKER_ALIGN 128
void *lode_workers_new(unsigned count, size_t size);
void *lode_pass_workers(const struct lode_pass *pass, size_t size);
static inline unsigned lode_pass_worker_count(const struct lode_pass *pass)
{
    return pass->threads * pass->groups;
}

__extension__ typedef unsigned __int128 lode_square;

/* Durations of calls of one function on the tracks of one worker. The sketch has the count. */
struct lode_tally {
    uint64_t squares_low, squares_high; /* of the durations */
    uint64_t sum;                       /* of the durations */
    uint64_t nested;                    /* of calls inside calls of the same function */
    uint64_t min, max;
    uint64_t errors; /* failed calls */
    uint64_t unused; /* pads to a cache line */
};

struct lode_call_names;

/*
 * A worker: tallies and sketches by function index, and the open calls. With names, the index is
 * that of the function that stands for the name.
 */
struct lode_tallies {
    _Alignas(LODE_WORKER_ALIGN) struct lode_tally *items;
    /* Time of callees, by function index plus 1; at 0, of outermost calls of this track. */
    uint64_t *inside;
    uint32_t *active; /* open calls by function index; 0 between tracks */
    uint32_t capacity;
    struct lode_sketches sketches;
    /* Open calls, outermost first, above an entry with function 0: outside of all calls. */
    uint64_t *begins;
    uint32_t *functions; /* index plus 1 */
    size_t depth, depth_max;
    uint64_t calls, errors, out;   /* of this track */
    struct lode_call_names *names; /* NULL: every function by itself */
    uint32_t *groups;              /* by function: the one that stands for it, plus 1; 0: ask */
    uint32_t group_count;
};

/* `names` may be NULL. */
lode_status lode_tallies_open(struct lode_tallies *tallies, struct lode_call_names *names, lode_error *error);
void lode_tallies_close(struct lode_tallies *tallies);
/* Implement take and end of struct lode_pass, for one worker. */
lode_status lode_tallies_take(struct lode_tallies *tallies, const lode_event *events, size_t count,
                              lode_error *error);
void lode_tallies_end(struct lode_tallies *tallies, lode_track_row *row);
/*
 * Implements resume: calls that count where they end, and their time in their callers. As of `from`
 * they begin there.
 */
lode_status lode_tallies_resume(struct lode_tallies *tallies, const struct lode_cut *cut, uint64_t from,
                                lode_error *error);
/* Implements pause. */
void lode_tallies_pause(struct lode_tallies *tallies, const struct lode_cut *cut);

/*
 * The canonical order of functions: by label, module path, offset. Sets `ranks`, by function index,
 * of the distinct `functions`. Does not depend on which function was met first.
 */
lode_status lode_rank_functions(const lode_function *const *functions, size_t count, uint32_t *ranks,
                                lode_error *error);

#endif
