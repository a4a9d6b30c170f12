/* SPDX-License-Identifier: BSD-3-Clause */
/* Zorka trace stores: the data of an open recording. */
#ifndef LODE_FORMAT_ZORKA_H
#define LODE_FORMAT_ZORKA_H

#include "format/format.h"
#include "format/zorka/chunks/chunks.h"
#include "format/zorka/chunks/events.h"
#include "format/zorka/chunks/payloads.h"
#include "format/zorka/meta.h"
#include "format/zorka/rules.h"
#include "format/zorka/text.h"
#include "model/recording/argument.h"
#include "model/recording/recording.h"

extern const struct lode_format lode_format_zorka;
extern const struct lode_recording_sink_ops lode_zor_page_sink, lode_zor_zico_sink;
lode_status lode_zor_example(const char *path, lode_error *error);
lode_status lode_zor_synth_page(const char *path, const lode_synth_recording_options *options,
                                lode_error *error);
lode_status lode_zor_synth_zico(const char *path, const lode_synth_recording_options *options,
                                lode_error *error);

enum {
    ZOR_DEPTH_MAX = 65536, /* nested calls */
    ZOR_TICK_SHIFT = 16,   /* a tick is 65,536 ns */
    ZOR_STORES_MAX = 65536,
    ZOR_STORE_DIGITS = 6, /* of its name */
    ZOR_PROPERTIES_MAX = 256
};
#define ZOR_TICKS_END  (UINT64_C(1) << 46) /* real ones have 40 bits */
#define ZOR_STAMPS_END (UINT64_C(1) << 42) /* milliseconds since the epoch: until 2109 */

/* The type of lists and maps. */
struct zor_structure {
    struct lode_structure base;
    const struct zor_strings *strings;
    bool is_page; /* numbers are references to strings */
};

/* One directory with a data file. */
struct zor_store {
    const char *name;      /* "000000", or "" if the folder is the store itself */
    const char *data_file; /* its path in the folder */
    uint32_t number;
    struct lode_input source;
    struct zor_data data;
    bool has_page_layout, has_real_layout; /* of tags: as documented, as in existing files */
    struct zor_strings strings;
    struct zor_metas metas;
    struct zor_structure structures[2]; /* of existing files; of the documented layout */
    uint64_t process_key, thread_key;   /* string ids of attribute keys; 0: none */
};

enum {
    ZOR_SEGMENT_MASK = (1 << 30) - 1,
    ZOR_SEGMENTS_MAX = ZOR_SEGMENT_MASK
};

/* A part of a chunk's payload that belongs to a trace. */
struct zor_segment {
    uint32_t chunk, begin, end;
    uint32_t next : 30;          /* 1 + the index of the next one among all further ones; 0: none */
    uint32_t is_behind_loss : 1; /* a damaged chunk may precede it */
    uint32_t has_error : 1;      /* of the first one: the trace has, see struct zor_meta */
};

/* Parallel to lode_track, which has all else: there may be millions of either. */
struct zor_trace {
    uint64_t start, length; /* ticks */
    uint64_t stamp;         /* milliseconds since the epoch; 0: not known */
    struct zor_segment first;
};

struct zor_recording {
    struct lode_recording base;
    struct lode_folder folder; /* a duplicate of the caller's */
    struct zor_store *stores;
    uint32_t store_count;
    struct lode_array properties; /* lode_fact */
    struct lode_array chunks;     /* struct zor_chunk, by store and offset */
    struct lode_array segments;   /* struct zor_segment: after the first of each trace */
    struct lode_array traces;     /* struct zor_trace */
    struct lode_array tracks;     /* lode_track: those of the base */
    struct lode_array methods;    /* uint32_t, of traces: only for an index */
    bool keeps_methods;
    uint64_t first_stamp; /* of all traces */
    char *digits;         /* space for ids of traces */
    uint32_t digits_left; /* ids that fit there */
    struct zor_payloads *payloads;
    struct zor_cursors *cursors;
};

static inline const struct zor_recording *zor_of(const lode_recording *recording)
{
    return (const struct zor_recording *)recording;
}

static inline const struct zor_trace *zor_trace_at(const struct zor_recording *rec, uint32_t track)
{
    return LODE_ARRAY_AT(&rec->traces, struct zor_trace, track);
}

static inline uint32_t zor_store_of(const struct zor_recording *rec, const struct zor_trace *trace)
{
    return LODE_ARRAY_AT(&rec->chunks, struct zor_chunk, trace->first.chunk)->store;
}

/* Nanoseconds, in the clock of the recording: relative to the first time stamp. */
static inline uint64_t zor_begin_of(const struct zor_recording *rec, const struct zor_trace *trace)
{
    return trace->stamp > 0 ? (trace->stamp - rec->first_stamp) * 1000000 : trace->start << ZOR_TICK_SHIFT;
}

static inline uint64_t zor_end_of(const struct zor_recording *rec, const struct zor_trace *trace)
{
    return zor_begin_of(rec, trace) + (trace->length << ZOR_TICK_SHIFT);
}

/* ---- opening ---- */

struct zor_survey_options {
    unsigned threads; /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    const char *index_directory; /* NULL: no index */
};

/* Finds all traces: unpacks every chunk once. */
lode_status lode_zor_survey(struct zor_recording *rec, const struct zor_survey_options *options,
                            struct lode_report *report, lode_error *error);
/* What is known of a trace when it begins. */
struct zor_begun {
    struct zor_trace trace;
    struct zor_id id;
    uint64_t method;  /* 0: not known */
    int32_t pid, tid; /* as recorded; 0: not known */
};
/* Adds a trace and its track. NULL: out of memory. */
struct zor_trace *lode_zor_add_trace(struct zor_recording *rec, const struct zor_begun *begun);
/* All traces are added: their times. */
void lode_zor_set_tracks(struct zor_recording *rec);
/* Assigns threads to all tracks. */
lode_status lode_zor_place_tracks(struct zor_recording *rec, lode_error *error);
/* The id of a trace, from that of its track. */
struct zor_id lode_zor_track_id(const lode_track *track);
/* Reads a file of properties into rec->properties. */
lode_status lode_zor_read_props(struct zor_recording *rec, const struct zor_store *store,
                                struct lode_range bytes, lode_error *error);
lode_status lode_zor_make_facts(struct zor_recording *rec, lode_error *error);
/* Opens a store or a base of stores. Without a survey: no traces, and no chunk is unpacked. */
lode_status lode_zor_open(lode_recording **out, const struct lode_folder *folder,
                          const struct zor_survey_options *survey, struct lode_report *report,
                          lode_error *error);

/* ---- reading ---- */

lode_status lode_zor_cursor_open(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                 const lode_cursor_options *options, lode_error *error);
/* With a report that keeps its findings. */
lode_status lode_zor_cursor_open_kept(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                      const struct lode_report *model, lode_error *error);
lode_status lode_zor_cursor_next(lode_cursor *cursor, const lode_event **events, size_t *count,
                                 lode_error *error);
void lode_zor_cursor_close(lode_cursor *cursor);
struct lode_report *lode_zor_cursor_report(lode_cursor *cursor);

/* A few closed cursors, whose memory others use. NULL if out of memory. */
struct zor_cursors *lode_zor_cursors_new(void);
/* NULL is allowed. */
void lode_zor_cursors_free(struct zor_cursors *cursors);

/* ---- names and values ---- */

/* The meaning of an event's id: the string id of an attribute's key in a store, or one of these. */
enum zor_point {
    ZOR_POINT_INFO,
    ZOR_POINT_THROWN,
    ZOR_POINT_NAMELESS /* an attribute whose key is no reference; its data includes the key */
};
#define ZOR_POINT_SPECIAL (UINT64_C(1) << 63)
#define ZOR_POINT_PAGE    (UINT64_C(1) << 62)

static inline uint64_t zor_point_id(uint32_t store, uint32_t number)
{
    return (uint64_t)store << 32 | number;
}

/* The function of a method; unknown methods share one. NULL if out of memory. */
const lode_function *lode_zor_function(const struct zor_recording *rec, uint32_t store, uint64_t method,
                                       bool *is_known);
lode_instant lode_zor_point(const lode_recording *recording, uint64_t id);
const char *lode_zor_event_name(const lode_recording *recording, uint64_t id);
lode_status lode_zor_arguments(const lode_recording *recording, uint32_t track, const lode_event *event,
                               lode_argument *arguments, size_t capacity, size_t *count, lode_error *error);
/* Id 0 is the empty string. */
void lode_zor_set_string(lode_argument *argument, const struct zor_strings *strings, uint64_t id);
/* `value`, or -1 - `value`. */
void lode_zor_set_number(lode_argument *argument, bool is_negative, uint64_t value);
/* Decodes a value: one item, as in lode_zor_skip. */
void lode_zor_value(const struct zor_structure *type, struct lode_range bytes, lode_argument *argument);
/* The positive integer of a value or of its digits; 0 if there is none below 2^31. */
int32_t lode_zor_whole(const struct zor_structure *type, struct lode_range bytes);
void lode_zor_put_structure(const struct lode_structure *self, struct lode_label *label, const void *bytes,
                            size_t length);
/* Writes the name of a method, possibly cut off; returns its length, or 0 if it is unknown. */
size_t lode_zor_method_name(const struct zor_strings *strings, uint64_t method, char *buffer,
                            size_t capacity);

lode_status lode_zor_check(const struct lode_folder *folder, const lode_check_options *options,
                           lode_check_result *result, lode_error *error);

#endif
