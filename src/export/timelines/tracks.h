/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timelines for exports: trace lines of databases and tracks of recordings as events of threads.
 * Every exporter of a timeline is an encoder: it turns the events of one line into bytes. Workers
 * encode several lines at once; the output is the same for any number of them.
 */
#ifndef LODE_EXPORT_TRACKS_H
#define LODE_EXPORT_TRACKS_H

#include "export/wire.h"
#include "model/database/context.h"
#include "model/recording/open_calls.h"
#include <lode/event.h>
#include <lode/name.h>
#include <lode/trace.h>
#include <stdatomic.h>

struct lode_export;

/* A process. Numbers are positive, and unique among processes. */
struct lode_tracks_process {
    int32_t pid;
    const char *name;    /* "rank 3", "node 1 rank 3", "app" */
    uint32_t first_line; /* the line of its first thread */
};

/*
 * A line: a thread with something in the time window. Trace lines and tracks that are empty there
 * have none. Requests of one thread share a line. `tid` is positive, and unique in the file; the
 * first thread of a process has its number if numbers are not recorded ones. A name has the
 * recorded number if that had to change.
 */
struct lode_line {
    uint32_t index, process;
    int32_t tid;
    const char *name;      /* "thread 0", "GPU context 0 stream 4" */
    uint32_t source;       /* profile or (first) track */
    uint64_t begin, end;   /* times of the first and the last event, clipped to the time window */
    uint64_t bytes;        /* in the store: for progress */
    uint64_t window_bytes; /* about how many of them are in the time window */
    uint32_t first, count; /* its trace line, or its tracks: internal */
};

struct lode_tracks;

/*
 * The timeline of the store of an export, as its options ask for it. LODE_ABSENT if there is none.
 * lode_tracks_close is due in every case.
 */
lode_status lode_tracks_open(struct lode_tracks **out, const struct lode_export *job, lode_error *error);
/* NULL is allowed. */
void lode_tracks_close(struct lode_tracks *tracks);

uint32_t lode_tracks_line_count(const struct lode_tracks *tracks);
const struct lode_line *lode_tracks_line(const struct lode_tracks *tracks, uint32_t index);
uint32_t lode_tracks_process_count(const struct lode_tracks *tracks);
const struct lode_tracks_process *lode_tracks_process(const struct lode_tracks *tracks, uint32_t index);
/* The first and the last time of all lines; 0 and 0 without lines. */
void lode_tracks_bounds(const struct lode_tracks *tracks, uint64_t *begin, uint64_t *end);
/* Nanoseconds to add to a time to get one since the epoch; 0 if that is not known. */
int64_t lode_tracks_utc_offset(const struct lode_tracks *tracks);
/* About how many events are in the time window, for estimates of sizes. */
uint64_t lode_tracks_estimate(const struct lode_tracks *tracks);

/* ---- frames ---- */

/*
 * A frame is a function, or what is known instead of one; events point to it as their function. Of
 * a database all are known from the beginning, and numbers follow the tree. Of a recording they are
 * found while events are read, and numbers depend on which thread was first: never write them.
 */
struct lode_frame_name {
    const char *text; /* UTF-8 without control characters; terminated */
    uint32_t length;
};
/* The name of a frame; made once. NULL if out of memory. MT: any thread. */
const struct lode_frame_name *lode_tracks_name(struct lode_tracks *tracks, const lode_function *frame);
/*
 * Reads everything to find the frames that occur, in an order that depends on their contents only.
 * For formats that need a table of all frames. Then lode_tracks_rank is the position of each.
 */
lode_status lode_tracks_find_frames(struct lode_tracks *tracks, lode_error *error);
uint32_t lode_tracks_frame_count(const struct lode_tracks *tracks);
const lode_function *lode_tracks_frame(const struct lode_tracks *tracks, uint32_t rank);
uint32_t lode_tracks_rank(const struct lode_tracks *tracks, const lode_function *frame);

/*
 * Of a database: the innermost frame of a stack, and the stack below it, which is 0 under the
 * outermost one.
 */
const lode_function *lode_tracks_stack(const struct lode_tracks *tracks, uint32_t stack, uint32_t *below);

/* ---- events ---- */

/*
 * What an encoder gets: events as in lode/event.h, balanced and nested over the line, clipped to
 * the time window, with times that do not go back. Of a database there are ENTER and LEAVE only.
 * Arguments come from lode_tracks_arguments.
 */
struct lode_encoder {
    /*
     * Chunks of lines alternate in the output, in a fixed order, so that several long lines are
     * encoded at once. Else lines are complete, one after the other.
     */
    bool alternates;
    /*
     * Of a database: samples too, as INSTANT events after the calls that they begin; `id` is for
     * lode_tracks_stack. Samples at which nothing ran are not among them.
     */
    bool wants_samples;
    size_t state_size; /* of the encoder's state of one line, zeroed once and used for many lines */
    void *user;
    /* A line begins. All of these may write to `out`; begin, end and close may be NULL. */
    lode_status (*begin)(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                         lode_error *error);
    /* Its next events; `track` is the track of a recording that they are from. */
    lode_status (*take)(void *user, void *state, const struct lode_line *line, uint32_t track,
                        const lode_event *events, size_t count, struct lode_wire *out, lode_error *error);
    lode_status (*end)(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                       lode_error *error);
    void (*close)(void *user, void *state);
    /* Takes the bytes, in order, never concurrently. NULL: they go to the file of the export. */
    lode_status (*write)(void *user, const void *bytes, size_t size, lode_error *error);
    const char *phase; /* of progress, in bytes of the store; NULL: "writing" */
};

/* What was read. */
struct lode_tracks_counts {
    uint64_t events;   /* as passed on: in the slice */
    uint64_t repairs;  /* of recordings that are damaged */
    uint64_t unlisted; /* samples at contexts that the metadata does not list */
    uint64_t moved;    /* samples whose times go back: they were moved */
};

/* Encodes all lines, with progress. LODE_ABSENT if nothing is in the time window. */
lode_status lode_tracks_run(struct lode_tracks *tracks, const struct lode_encoder *encoder,
                            struct lode_tracks_counts *counts, lode_error *error);

/* Counts what was repaired, and reports what was moved or not listed. */
lode_status lode_tracks_report(struct lode_export *job, const struct lode_tracks_counts *counts,
                               lode_error *error);
/* Reports calls that were left out below the deepest level that the viewer has room for. */
lode_status lode_tracks_report_cut(struct lode_export *job, uint64_t calls, unsigned levels,
                                   const char *reason, lode_error *error);
/*
 * Warns before writing if the file will be too large for its viewer: `size` is that of an event,
 * `limit` in bytes.
 */
lode_status lode_tracks_warn(const struct lode_tracks *tracks, struct lode_export *job, unsigned size,
                             uint64_t limit, const char *viewer, lode_error *error);

/* ---- values ---- */

/* Memory for the arguments of one event; keep one in the state, and free its items at the end. */
struct lode_arguments {
    lode_argument *items;
    size_t count, capacity;
};
/* The arguments, the result or the data of an event; none for a database. MT: any thread. */
lode_status lode_tracks_arguments(const struct lode_tracks *tracks, uint32_t track, const lode_event *event,
                                  struct lode_arguments *out, lode_error *error);
/* Appends text as UTF-8: control characters become spaces, bytes that are not UTF-8 U+FFFD. */
void lode_wire_clean(struct lode_wire *out, const char *text, size_t length);
/* Appends a value as text for people, as lode_argument_text does, but strings as they are. */
void lode_wire_argument(struct lode_wire *out, const lode_argument *argument);
/* Whether all values are numbers with names, which is what counters need. */
bool lode_arguments_are_numbers(const struct lode_arguments *arguments);

/* What an argument is called: one without a name is `unnamed`, with its position if numbered. */
const char *lode_argument_key(const struct lode_arguments *arguments, size_t index, const char *unnamed,
                              bool is_numbered, char *text, size_t size);

/*
 * An exception (LODE_INSTANT_EXCEPTION) as keys and values: "class", "message", "stack", then
 * "cause", "cause message", "cause stack", "cause 2"... Begin with zeros; false at the end.
 */
struct lode_thrown {
    size_t next;
    unsigned causes;
    char key[40];
    const lode_argument *value; /* NULL: a stack */
    size_t frame, frame_count;  /* of the stack, for lode_wire_frame: frame, frame + 4... */
};
bool lode_thrown_next(struct lode_thrown *thrown, const struct lode_arguments *arguments);
/* Appends a frame of such a stack: "class.method(file:line)". */
void lode_wire_frame(struct lode_wire *out, const struct lode_arguments *arguments, size_t frame);

/* ---- events one by one ---- */

struct lode_timeline;
struct lode_timeline_thread;

/* An event of a line, and what it is if it is no call. */
struct lode_timeline_event {
    const struct lode_line *line;
    uint32_t track;
    const lode_event *event;
    struct lode_wire *out;
    const char *name; /* of an instant of a recording */
    lode_instant instant;
};

/* What a format does with calls and with what happens in them; arguments are those of the event. */
struct lode_timeline_calls {
    /* Pushes and pops its item of the calls that are open. */
    lode_status (*begins)(struct lode_timeline *self, struct lode_timeline_thread *thread,
                          const struct lode_timeline_event *event, lode_error *error);
    lode_status (*ends)(struct lode_timeline *self, struct lode_timeline_thread *thread,
                        const struct lode_timeline_event *event, lode_error *error);
    /* An attribute of the innermost call, whose end will have it. */
    void (*hold)(struct lode_timeline_thread *thread, const char *key, size_t length,
                 const lode_argument *value);
    /* All else: losses, instants, and attributes outside of calls. */
    lode_status (*happens)(struct lode_timeline *self, struct lode_timeline_thread *thread,
                           const struct lode_timeline_event *event, lode_error *error);
};

/* An export; the first member of that of a format. */
struct lode_timeline {
    struct lode_export *job;
    struct lode_tracks *tracks;
    const struct lode_timeline_calls *calls;
    uint64_t base, last; /* the first and the last time */
    bool has_requests, has_values;
    atomic_uint_fast64_t cut; /* calls below the deepest level */
};

/* A line; the first member of the state of an encoder. */
struct lode_timeline_thread {
    struct lode_open_calls open;
    uint64_t cut;
    struct lode_arguments arguments;
    struct lode_wire key;
};

/* Closing the tracks is due in every case. */
lode_status lode_timeline_open(struct lode_timeline *self, struct lode_export *job, lode_error *error);
lode_status lode_timeline_put(struct lode_timeline *self, struct lode_timeline_thread *thread,
                              const struct lode_timeline_event *event, lode_error *error);
/* At the end of a line; memory stays. */
void lode_timeline_forget(struct lode_timeline *self, struct lode_timeline_thread *thread);
void lode_timeline_close(struct lode_timeline_thread *thread);
lode_status lode_timeline_report(const struct lode_timeline *self, const struct lode_tracks_counts *counts,
                                 unsigned levels, const char *reason, lode_error *error);

static inline bool lode_timeline_is_in_call(const struct lode_timeline_thread *thread)
{
    return thread->open.items.count > 0 && thread->open.hidden == 0;
}

#endif
