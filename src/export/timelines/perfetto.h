/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto traces; private to the format. Each line is a packet sequence with a clock of its own
 * that counts from the packet before, and with texts of its own, which it defines where they are
 * first used. perfetto.c writes the head of the file, perfetto_events.c the events of lines, with
 * packets and texts from perfetto_sequence.c.
 */
#ifndef LODE_EXPORT_PERFETTO_H
#define LODE_EXPORT_PERFETTO_H

#include "base/memory/intern.h"
#include "base/memory/map.h"
#include "export/export.h"
#include "export/timelines/tracks.h"

/* Fields of the messages, by number. */
enum {
    TRACE_PACKET = 1,
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_PERF_SAMPLE = 66,
    PACKET_TRACK_DESCRIPTOR = 60,
    SNAPSHOT_CLOCKS = 1,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    CLOCK_IS_INCREMENTAL = 3,
    DEFAULTS_TRACK_EVENT = 11,
    DEFAULTS_CLOCK_ID = 58,
    DEFAULTS_PERF_SAMPLE = 12,
    PERF_TIMEBASE = 1,
    TIMEBASE_FREQUENCY = 2,
    TIMEBASE_COUNTER = 4,
    TIMEBASE_NAME = 10,
    SAMPLE_PID = 2,
    SAMPLE_TID = 3,
    SAMPLE_CALLSTACK_ID = 4,
    INTERNED_FUNCTION_NAMES = 5,
    INTERNED_FRAMES = 6,
    INTERNED_CALLSTACKS = 7,
    FRAME_FUNCTION_ID = 2,
    CALLSTACK_FRAME_IDS = 2,
    INTERNED_CATEGORIES = 1,
    INTERNED_NAMES = 2,
    INTERNED_ANNOTATION_NAMES = 3,
    INTERNED_ID = 1,
    INTERNED_TEXT = 2,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    EVENT_CATEGORY_IDS = 3,
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_DOUBLE_VALUE = 44,
    ANNOTATION_NAME_ID = 1,
    ANNOTATION_BOOL = 2,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_NAME = 10,
    ANNOTATION_ARRAY = 12
};

enum {
    REALTIME_CLOCK = 1,
    BOOTTIME_CLOCK = 6,
    SEQUENCE_CLOCK = 64,
    STATE_CLEARED = 1, /* sequence flags */
    NEEDS_STATE = 2,
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
    TYPE_COUNTER = 4,
    CATEGORY_SCHED = 1,
    CATEGORY_ERROR = 2,
    CATEGORY_EVENT = 4,
    /* Deeper calls would become new outermost ones, and their ends would end others. */
    LEVELS_MAX = 512,
    TEXTS_MAX = 4096 /* interned texts of a line, besides functions; others are repeated */
};

/*
 * What follows the time in the packet of a call that has nothing but a known name: the suffix and
 * the event. Sizes are 0 if it is longer.
 */
struct packet_tail {
    uint8_t bytes[15], size;
};

/* The state of one sequence. */
struct sequence {
    /* Open calls are of size_t: where the annotations of each begin in `held`. */
    struct lode_timeline_thread base;
    uint64_t time;                   /* of the last packet */
    uint64_t uuid;                   /* of the thread's track */
    uint8_t suffix[16], suffix_size; /* sequence id and flags of each packet */
    bool has_begun;
    unsigned categories; /* bits of those that were defined */
    /* Ids of function names, by index; and which are not 0. */
    uint32_t *ids;
    size_t id_capacity;
    struct lode_array used;
    uint32_t next_id;
    struct packet_tail *tails; /* by id: of begins; 0: of ends */
    size_t tail_capacity;
    struct lode_map frames, stacks;            /* of samples: ids of both */
    struct lode_strings texts, keys, counters; /* names of instants, annotations and counters */
    uint32_t text_ids[TEXTS_MAX];
    struct lode_wire interned; /* for the next packet */
    struct lode_wire held;     /* annotations of open calls, which go out with their ends */
    struct lode_wire text, more;
};

struct perfetto {
    struct lode_timeline base;
    bool has_samples;
    uint64_t process_count;
};

/* Tracks: processes have numbers from 1, then threads; counters are above all of them. */
static inline uint64_t perfetto_thread_uuid(const struct perfetto *self, const struct lode_line *line)
{
    return self->process_count + 1 + line->index;
}

/* ---- packets ---- */

/* Begins a sequence at the time of its first event. */
void lode_perfetto_begin_sequence(const struct perfetto *self, struct sequence *sequence, uint64_t time,
                                  struct lode_wire *out);
/* Begins a packet at a time, with the texts that are new; wire_end takes what this returns. */
size_t lode_perfetto_begin_packet(struct sequence *sequence, uint64_t time, struct lode_wire *out);
/* Puts an event that is more than a call; takes its annotations from `sequence->more`. */
void lode_perfetto_put_event(struct sequence *sequence, uint64_t time, unsigned type, uint32_t id,
                             unsigned category, struct lode_wire *out);

/* What follows the time of a plain call that begins, by its name; 0: that ends. */
void lode_perfetto_make_tail(const struct sequence *sequence, uint32_t id, struct packet_tail *out);

/* ---- texts ---- */

/* Defines a text in the next packet. */
void lode_perfetto_intern(struct sequence *sequence, unsigned field, uint32_t id, const char *text,
                          size_t size);
/* The id of a function's name; its text goes into the next packet if it is new. 0: no memory. */
uint32_t lode_perfetto_name_id(struct perfetto *self, struct sequence *sequence, const lode_function *frame);
/* The number of a text among those of its kind, from 1; 0: it is not interned. */
uint32_t lode_perfetto_text_number(struct lode_strings *texts, const char *text, bool *is_new);
/* The name of an instant, in `sequence->text`; its id, or 0. */
uint32_t lode_perfetto_instant_id(struct sequence *sequence, const char *name);
/* Defines a category, once. */
void lode_perfetto_categorize(struct sequence *sequence, unsigned category, const char *name);

/* ---- annotations, of an event or of a held list: both have the same form ---- */

void lode_perfetto_annotate(struct sequence *sequence, const char *key, size_t length,
                            const lode_argument *argument, struct lode_wire *out);
/* All arguments; those without a name are numbered. */
void lode_perfetto_annotate_all(struct sequence *sequence, const char *unnamed, struct lode_wire *out);
void lode_perfetto_annotate_flag(struct sequence *sequence, const char *key, struct lode_wire *out);
void lode_perfetto_annotate_text(struct sequence *sequence, const char *key, const char *text,
                                 struct lode_wire *out);
void lode_perfetto_annotate_exception(struct sequence *sequence, struct lode_wire *out);

/* ---- events ---- */

lode_status lode_perfetto_write_events(struct perfetto *self, struct lode_tracks_counts *counts,
                                       lode_error *error);

#endif
