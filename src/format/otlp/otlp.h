/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans of OpenTelemetry, Jaeger and Zipkin as a recording of requests. Opening reads all files
 * once and keeps 64 bytes of each span; cursors read the rest from the files.
 */
#ifndef LODE_FORMAT_OTLP_H
#define LODE_FORMAT_OTLP_H

#include "format/format.h"
#include "format/otlp/decode/decode.h"
#include "format/otlp/rules.h"
#include "format/otlp/sort.h"
#include "model/finding.h"
#include "model/recording/recording.h"

#define OTLP_TARGET "otlp" /* what writes spans */

enum {
    OTLP_FILES_MAX = 1 << 23,
    OTLP_DEPTH_MAX = 65536 /* nested calls */
};

/* How messages follow each other in a file. */
enum otlp_framing {
    OTLP_LINES,     /* one JSON value a line */
    OTLP_VALUES,    /* JSON values, of any number of lines */
    OTLP_LENGTHS,   /* 4 bytes, big-endian, before each */
    OTLP_DELIMITED, /* a varint before each */
    OTLP_BARE       /* protobuf messages that make one */
};

/* What the content of a file is. */
struct otlp_form {
    const struct otlp_codec *codec; /* NULL: not known */
    enum otlp_framing framing;
};

struct otlp_file {
    const char *name;
    struct lode_input input;
    struct lode_backed_blob unpacked;
    struct lode_range bytes; /* of the input, or unpacked */
    struct otlp_form form;
};

/* A resource: the process that recorded spans. */
struct otlp_resource {
    struct lode_range attributes; /* a protobuf Resource */
    uint32_t service;             /* index of a module */
    int32_t pid;                  /* 0: not known */
};

/* A resource and the library that made spans. */
struct otlp_origin {
    uint32_t resource;
    const lode_file *scope; /* NULL: none */
};

/* A trace: all of its spans are contiguous, and its tracks too. */
struct otlp_trace {
    uint32_t first, count; /* spans */
    bool has_failed;       /* its outermost call, or one of a server or a consumer */
};

/* Parallel to lode_track: spans in the order in which they begin, callers first. */
struct otlp_track {
    uint32_t first, count; /* spans */
    uint32_t trace;
    uint64_t begin, end; /* in the clock of the recording */
};

/* About all spans of a store, even if only a few requests of it are open. */
struct otlp_whole {
    bool is_known; /* from an index; else all spans are read */
    uint64_t spans, traces, tracks;
    uint64_t begin, end; /* since the epoch; since then */
    uint64_t span_bytes; /* in files, in the mean */
    uint64_t *tolerance; /* nanoseconds, by service */
};

struct otlp_recording {
    struct lode_recording base;
    struct lode_folder folder; /* a duplicate of the caller's */
    struct otlp_file *files;
    uint32_t file_count;
    struct otlp_table resource_bytes, origin_bytes;
    struct otlp_resource *resources;
    struct otlp_origin *origins;
    struct otlp_spans span_memory;
    struct otlp_span *spans;         /* in that memory */
    struct lode_backed track_memory; /* of base.tracks, if spans are in a file */
    uint32_t span_count;
    struct lode_array traces; /* struct otlp_trace */
    struct lode_array tracks; /* struct otlp_track */
    uint64_t counts[OTLP_COUNTS];
    struct otlp_whole whole;
    struct lode_function_table names; /* keys of attributes and names of events, by index */
};

static inline const struct otlp_recording *otlp_of(const lode_recording *recording)
{
    return (const struct otlp_recording *)recording;
}

static inline uint32_t otlp_service_of(const struct otlp_recording *rec, const struct otlp_span *span)
{
    return rec->resources[rec->origins[span->origin].resource].service;
}

/* ---- opening ---- */

/* Requests that are asked for by their ids, and where an index of ids may be. */
struct otlp_wanted {
    const char *directory, *ids;
    struct lode_blob key; /* of the files, before they are read */
    struct lode_blob findings;
    uint64_t finding_count;
};

struct otlp_opening {
    struct otlp_recording *rec;
    struct otlp_wanted *wanted; /* NULL: all requests */
    struct lode_report *report;
    unsigned threads;  /* 0: one per processor */
    uint64_t memory;   /* budget in bytes; 0: a quarter of what the process may use */
    uint64_t unpacked; /* bytes of compressed files that are in memory */
    lode_progress_fn on_progress;
    void *user;
    lode_error *error;
};

/* What the first bytes of a file are; they may be cut off if it is not complete. */
struct otlp_form lode_otlp_form(struct lode_range bytes, bool is_complete);
/* Whether some file is a store, by its first bytes. */
bool lode_otlp_is_store(const struct lode_folder *folder, const char *name);
/* The budget of memory, in bytes. */
uint64_t lode_otlp_budget(const struct otlp_opening *opening);
/* Opens a file. Unpacks it to memory, or to a temporary file if the share of the budget is used. */
lode_status lode_otlp_file_open(struct otlp_opening *opening, struct otlp_file *file);
/* Reads all files: origins, and spans sorted by trace. */
lode_status lode_otlp_index(struct otlp_opening *opening);
/* Reports what was counted. */
lode_status lode_otlp_say_counts(const struct otlp_opening *opening);
/* Removes duplicates, lists traces and finds parents. */
lode_status lode_otlp_assemble(struct otlp_opening *opening);
/* Moves spans whose clocks are off. */
lode_status lode_otlp_repair(struct otlp_opening *opening);
/* Puts spans on tracks, and orders them accordingly. */
lode_status lode_otlp_place(struct otlp_opening *opening);
/* Describes tracks, modules and metadata. */
lode_status lode_otlp_describe(struct otlp_opening *opening);
lode_status lode_otlp_make_origins(struct otlp_opening *opening);
lode_status lode_otlp_make_facts(struct otlp_opening *opening);
/* Without a survey, files are opened but not read. */
lode_status lode_otlp_open(lode_recording **out, const struct lode_folder *folder,
                           const struct otlp_opening *options, bool is_quick);

/*
 * Opens the index of a store whose files are listed, but not open; then reads the requests that are
 * wanted. LODE_ABSENT: there is none, or it is of no use.
 */
struct otlp_lookup;
lode_status lode_otlp_lookup_open(struct otlp_lookup **out, struct otlp_opening *opening);
lode_status lode_otlp_lookup_take(struct otlp_lookup *lookup);
void lode_otlp_lookup_close(struct otlp_lookup *lookup);
/* Whether these are ids that an index has. */
bool lode_otlp_lookup_knows(const char *ids);
/* Keeps a finding for the index. */
void lode_otlp_lookup_note(struct otlp_wanted *wanted, const lode_finding *finding);
/* Writes the index of a store that was read, if that can be done. */
void lode_otlp_lookup_write(const struct otlp_recording *rec, const struct otlp_wanted *wanted);

/*
 * Children of spans of a trace, as lists. Spans have indices into rec->spans; arrays are relative
 * to the first span of the trace. Item `count` of first_child lists those without a parent.
 */
struct otlp_family {
    uint32_t *first_child, *next; /* OTLP_NO_SPAN ends a list */
    uint32_t *order;              /* scratch: as many as there are spans */
    uint32_t first, count, capacity;
};
void lode_otlp_family_free(struct otlp_family *family);
/* Lists of the children of a trace, by begin; of equal ones the longest first. */
lode_status lode_otlp_family_of(struct otlp_family *family, const struct otlp_recording *rec,
                                const struct otlp_trace *trace, lode_error *error);

/* ---- reading ---- */

/* A span in protobuf; `blob` has it if it is not so in the file. */
lode_status lode_otlp_read(const struct otlp_recording *rec, const struct otlp_span *record,
                           struct lode_blob *blob, struct lode_range *bytes, lode_error *error);
/* The function of a span; NULL if out of memory. */
const lode_function *lode_otlp_function(const struct otlp_recording *rec, const struct otlp_span *span,
                                        struct lode_range bytes);
/* The number of a key or a name; LODE_NO_NUMBER if out of memory. */
uint32_t lode_otlp_name(const struct otlp_recording *rec, struct lode_range text);

lode_status lode_otlp_cursor_open(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                  const lode_cursor_options *options, lode_error *error);
lode_status lode_otlp_cursor_next(lode_cursor *cursor, const lode_event **events, size_t *count,
                                  lode_error *error);
void lode_otlp_cursor_close(lode_cursor *cursor);

/* What an INSTANT is: in the upper half of its id; the lower half is the number of its name. */
enum otlp_instant {
    OTLP_ATTRIBUTE, /* data: AnyValue */
    OTLP_STATUS,    /* an attribute; data: Status */
    OTLP_EVENT,     /* data: Event */
    OTLP_EXCEPTION, /* data: Event */
    OTLP_LINK       /* data: Link */
};
static inline uint64_t otlp_instant_id(enum otlp_instant instant, uint32_t name)
{
    return (uint64_t)instant << 32 | name;
}

lode_instant lode_otlp_instant(const lode_recording *recording, uint64_t id);
const char *lode_otlp_event_name(const lode_recording *recording, uint64_t id);
lode_status lode_otlp_arguments(const lode_recording *recording, uint32_t track, const lode_event *event,
                                lode_argument *arguments, size_t capacity, size_t *count, lode_error *error);

/* A frame of a stack, as parts of the text. */
struct otlp_frame {
    struct lode_range type, method, file; /* type and file may be empty */
    uint64_t line;                        /* 0: not known */
};
/* The next frame of a stack in the format of some language; false after the last. */
bool lode_otlp_next_frame(struct lode_range *stack, struct otlp_frame *frame);

/* Whether a recording is one of spans. */
bool lode_otlp_is_spans(const lode_recording *recording);
extern const struct lode_recording_sink_ops lode_otlp_sink_ops;

lode_status lode_otlp_check(const struct lode_folder *folder, const lode_check_options *options,
                            lode_check_result *result, lode_error *error);

#endif
