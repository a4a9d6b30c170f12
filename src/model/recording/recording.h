/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording in memory: tracks, functions, and the format's access to events in files. */
#ifndef LODE_MODEL_RECORDING_H
#define LODE_MODEL_RECORDING_H

#include "base/io/watch.h"
#include "base/memory/arena.h"
#include "model/database/context.h"
#include "model/names/functions.h"
#include "model/recording/checkpoints.h"
#include "model/recording/cuts.h"
#include <lode/event.h>

/* Operations of a format. All but close and those of a cursor are thread-safe. */
struct lode_recording_ops {
    lode_status (*track_interval)(const lode_recording *recording, uint32_t track, uint64_t *begin,
                                  uint64_t *end, lode_error *error);
    lode_status (*cursor_open)(lode_cursor **out, const lode_recording *recording, uint32_t track,
                               const lode_cursor_options *options, lode_error *error);
    lode_status (*cursor_next)(lode_cursor *cursor, const lode_event **events, size_t *count,
                               lode_error *error);
    void (*cursor_close)(lode_cursor *cursor);
    /*
     * Moves a cursor, as if it had been opened with this time as `from`: cheap where times rise
     * from call to call. NULL: it cannot be moved.
     */
    lode_status (*cursor_seek)(lode_cursor *cursor, uint64_t time, lode_error *error);
    /*
     * Where the next record is, and a new cursor that begins there, at the first record that is not
     * before a time; nothing is sought. With a checkpoint. NULL: there are none.
     */
    uint64_t (*cursor_position)(const lode_cursor *cursor);
    lode_status (*cursor_resume)(lode_cursor *cursor, uint64_t position, uint64_t time, lode_error *error);
    /*
     * Pieces of a track: what a part of it leaves open; a cursor between two cuts (NULL: the
     * beginning, the end); and whether one that ended is where the next piece began. NULL: tracks
     * are not cut.
     */
    lode_status (*survey)(const lode_recording *recording, uint32_t track, struct lode_cut_survey *survey,
                          lode_error *error);
    lode_status (*cursor_open_piece)(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                     const struct lode_cut *from, const struct lode_cut *to,
                                     const lode_cursor_options *options, lode_error *error);
    bool (*cursor_meets)(const lode_cursor *cursor, const struct lode_cut *cut);
    lode_status (*arguments)(const lode_recording *recording, uint32_t track, const lode_event *event,
                             lode_argument *arguments, size_t capacity, size_t *count, lode_error *error);
    const char *(*event_name)(const lode_recording *recording, uint64_t id);
    /* For an instant event; NULL: all are LODE_INSTANT_OTHER. */
    lode_instant (*point)(const lode_recording *recording, uint64_t id);
    /* Whether a request failed, by the rule of its format; NULL: if its outermost call did. */
    bool (*has_failed)(const lode_recording *recording, uint32_t track);
    /* The call that made the outermost ones of a side track: which one of its track. NULL: none. */
    bool (*caller)(const lode_recording *recording, uint32_t track, uint32_t *caller_track,
                   uint64_t *calls_before);
    /*
     * The callers of the outermost calls of a side track, the outermost first: writes at most
     * `capacity`, and sets how many there are. NULL: none.
     */
    lode_status (*callers)(const lode_recording *recording, uint32_t track, const lode_function **functions,
                           size_t capacity, size_t *count, lode_error *error);
    void (*close)(lode_recording *recording);
};

/* The beginning of a format's cursor. */
struct lode_cursor {
    const lode_recording *recording;
    uint64_t repairs; /* number of findings so far */
};

/* What the recorder lost, and clocks that do not agree: no damage of files. */
struct lode_recording_quality {
    uint64_t lost_callers; /* calls whose caller is not in the store */
    uint64_t dropped;      /* attributes, events and links that limits removed */
    uint64_t clocks;       /* services whose clock is off; each is a finding */
    const char *clock_of;  /* the first one */
    int64_t clock_by;      /* nanoseconds that it is behind */
};

struct lode_recording {
    const struct lode_recording_ops *ops;
    const char *format;
    const char *target;       /* that writes it; NULL: the one whose name the format begins with */
    struct lode_watch *watch; /* of its files; NULL if in memory */
    struct lode_arena arena;  /* of all arrays below */
    int64_t utc_offset;       /* nanoseconds */
    lode_fact *facts;
    size_t fact_count;
    lode_track *tracks;
    uint32_t track_count;
    bool has_requests;
    /* By track: the main one of its request, which comes first; NULL: each is its own. */
    const uint32_t *mains;
    /* By track: its index in the store, of which only a part is open; NULL: its own. */
    const uint32_t *numbers;
    uint64_t whole_end; /* if there are numbers: the last end of all tracks of the store */
    struct lode_module *modules;
    uint32_t module_count;
    /* Events without a track, chronological. */
    lode_event *messages;
    size_t message_count;
    struct lode_function_table functions; /* grows while cursors read; has its own lock */
    const lode_recording *functions_of;   /* the owner of the function table; NULL: this one */
    struct lode_checkpoints *checkpoints; /* of tracks that were read; NULL: none are kept */
    uint64_t piece;                       /* bytes of a piece of a track that is cut; 0: chosen */
    const lode_rule *rules;               /* of the format, for findings of cursors */
    size_t rule_count;
    bool has_sched;    /* off-CPU events were recorded, even if there are none */
    bool is_never_out; /* no track has such events; false: perhaps */
    struct lode_recording_quality quality;
};

/* The main track of the request that a track belongs to: most often itself. */
static inline uint32_t recording_main(const lode_recording *recording, uint32_t track)
{
    return recording->mains ? recording->mains[track] : track;
}

static inline const struct lode_function_table *recording_functions(const lode_recording *recording)
{
    return recording->functions_of ? &recording->functions_of->functions : &recording->functions;
}

#endif
