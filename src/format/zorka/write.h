/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a trace store. All traces are gone through twice, by any number of threads: first to note where each text is used first, which is
 * the order of their ids; then to encode and pack them. So the bytes do not depend on the threads, and of the traces only one chunk
 * for each thread is in memory: packed chunks wait on the disk until they are put in order.
 */
#ifndef LODE_ZORKA_WRITE_H
#define LODE_ZORKA_WRITE_H

#include "base/blob.h"
#include "base/output.h"
#include "base/spool.h"
#include "format/zorka/write_text.h"
#include "format/zorka/zorka.h"

enum zor_layout {
    ZOR_LAYOUT_PAGE, /* as the document describes it */
    ZOR_LAYOUT_ZICO  /* as collectors wrote it */
};

/* A chunk that waits: the record of qmeta.idx that goes with it, its header and its payload. */
struct zor_packed {
    uint64_t order, offset; /* of its track; in the spool */
    uint32_t size, encoder;
};

/* A call that is open. */
struct zor_open_call {
    uint64_t calls;   /* inside of it, and itself */
    uint64_t counted; /* the same as the tracer counted them; 0: not known */
    bool has_failed;
};

/* What is known of a trace while it is written. */
struct zor_written_trace {
    struct zor_id id;
    uint64_t stamp;           /* milliseconds since the epoch */
    struct zor_entry *method; /* of the outermost call */
    uint64_t start, stop;     /* ticks */
    uint64_t begin;           /* nanoseconds, of a clock of the caller, who sets it if he needs it */
    uint64_t records, errors, calls;
    uint64_t offset; /* bytes of payload in the chunks before this one */
    uint32_t chunk;  /* number of this one */
    size_t ids_at;   /* where numbers of the first chunk belong */
};

struct zor_encoder {
    enum zor_layout layout;
    bool is_noting;
    uint32_t number;          /* of this encoder */
    uint64_t order, position; /* of the track; strings used in it so far */
    struct lode_blob payload;
    struct zor_written_trace trace;
    struct lode_array frames;         /* of open calls */
    uint64_t hidden;                  /* calls that are open, but deeper than may be */
    uint64_t left_out;                /* events that have no place in a store */
    uint64_t first_stamp, last_stamp; /* of the traces that were encoded; milliseconds */
    bool has_memory;                  /* false: something was not encoded */
    struct z_stream_s *deflater;
    uint8_t *packed;
    size_t packed_capacity;
    struct lode_spool spool;
    struct lode_array chunks; /* struct zor_packed */
};

struct zor_writer {
    struct lode_output output;
    enum zor_layout layout;
    struct zor_dictionary strings;
    struct zor_encoder *encoders;
    uint32_t encoder_count;
};

/* What can be closed, whether it was created or not. */
#define ZOR_WRITER_INIT                                                                                      \
    {                                                                                                        \
        .output = LODE_OUTPUT_INIT                                                                           \
    }

/* Takes the target, for so many threads. With `force` a store that is there, and nothing else, is replaced. */
lode_status lode_zor_writer_create(struct zor_writer *writer, const char *path, enum zor_layout layout,
                                   bool force, uint32_t threads, lode_error *error);
/* All traces were gone through once: numbers the strings. From now on encoders encode. */
lode_status lode_zor_writer_number(struct zor_writer *writer, lode_error *error);
/* Puts everything in place. */
lode_status lode_zor_writer_finish(struct zor_writer *writer, lode_error *error);
/* Gives back all, and removes what was not finished. */
void lode_zor_writer_close(struct zor_writer *writer);

/* ---- traces: an encoder belongs to one thread at a time ---- */

lode_status lode_zor_encoder_open(struct zor_encoder *encoder, const struct zor_writer *writer,
                                  uint32_t number, lode_error *error);
void lode_zor_encoder_close(struct zor_encoder *encoder);

/* What follows is of the track at this place in the order of all. All of a track is of one encoder. */
void lode_zor_begin_track(struct zor_encoder *encoder, uint64_t order);
/* A trace begins with the next call. */
void lode_zor_begin_trace(struct zor_encoder *encoder, struct zor_id id, uint64_t stamp);
/*
 * A call begins. Behind it its numbers are to be put, and then, if it is the outermost, lode_zor_ids. `method` is NULL while strings are
 * noted, or if it is not known.
 */
lode_status lode_zor_enter(struct zor_encoder *encoder, uint64_t tick, struct zor_entry *method,
                           lode_error *error);
/* What tells the trace from all others. */
void lode_zor_put_ids(struct zor_encoder *encoder);
/*
 * Goes on in another chunk if this one is large enough. To be called before everything else inside of a call: what the call carries to its end is
 * one thing with the end. So the same events are cut at the same places, whoever they come from.
 */
lode_status lode_zor_more(struct zor_encoder *encoder, lode_error *error);
void lode_zor_number(struct zor_encoder *encoder, uint64_t key, uint64_t value);
/* A value as encoded. */
void lode_zor_info(struct zor_encoder *encoder, uint64_t key, struct lode_range value);
void lode_zor_thrown(struct zor_encoder *encoder, struct zor_entry *exception);
/* The call ended with an error. */
void lode_zor_failed(struct zor_encoder *encoder);
/* The calls inside of this one, with itself, that the tracer counted, which may be more than it recorded. */
void lode_zor_counted(struct zor_encoder *encoder, uint64_t calls);
/* A call ends. */
lode_status lode_zor_leave(struct zor_encoder *encoder, uint64_t tick, lode_error *error);
/* The innermost call that is open; there must be one. */
static inline struct zor_open_call *zor_innermost(const struct zor_encoder *encoder)
{
    return LODE_ARRAY_AT(&encoder->frames, struct zor_open_call, encoder->frames.count - 1);
}
/* Calls that are open. */
static inline size_t zor_depth(const struct zor_encoder *encoder)
{
    return encoder->frames.count + encoder->hidden;
}

/*
 * An attribute begins, and is to be followed by its value. In the layout of the page, values are strings or made of strings; attributes with
 * other values are written as collectors did.
 */
void lode_zor_attribute(struct zor_encoder *encoder, struct zor_entry *key, bool has_strings_only);
void lode_zor_attribute_text(struct zor_encoder *encoder, struct zor_entry *key, struct zor_entry *value);
void lode_zor_attribute_number(struct zor_encoder *encoder, struct zor_entry *key, int64_t value);
/* Parts of keys and values: a string, and anything as encoded. */
void lode_zor_put_string(struct zor_encoder *encoder, struct zor_entry *text, bool is_bare);
void lode_zor_put_raw(struct zor_encoder *encoder, struct lode_range bytes);
void lode_zor_put_head(struct zor_encoder *encoder, uint8_t major, uint64_t value);
/* Whether references of an attribute go without their tag. */
static inline bool zor_is_bare(const struct zor_encoder *encoder, bool has_strings_only)
{
    return encoder->layout == ZOR_LAYOUT_PAGE && has_strings_only;
}

/* This place in all that is written: a number that rises with each call, and with the order of tracks. */
uint64_t lode_zor_here(struct zor_encoder *encoder);

#endif
