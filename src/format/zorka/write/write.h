/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a trace store. Any number of threads read all traces twice: first to note where each
 * string is used first, which determines the ids; then to encode and pack. So the output does not
 * depend on the threads, and only one chunk per thread is in memory: the others are on disk.
 */
#ifndef LODE_ZORKA_WRITE_H
#define LODE_ZORKA_WRITE_H

#include "base/io/output.h"
#include "base/io/spool.h"
#include "base/memory/blob.h"
#include "format/zorka/write/text.h"
#include "format/zorka/zorka.h"
#include "model/recording/open_calls.h"

enum zor_layout {
    ZOR_LAYOUT_PAGE, /* as documented */
    ZOR_LAYOUT_ZICO  /* as collectors write it */
};

/* A chunk in the spool: its record of qmeta.idx, its header and its payload. */
struct zor_packed {
    uint64_t order, offset; /* of its track; in the spool */
    uint32_t size, encoder;
};

/* An open call. */
struct zor_open_call {
    uint64_t calls;   /* inside it, and itself */
    uint64_t counted; /* as counted by the tracer; 0: not known */
    bool has_failed;
};

/* A trace that is being written. */
struct zor_written_trace {
    struct zor_id id;
    uint64_t stamp;           /* milliseconds since the epoch */
    struct zor_entry *method; /* of the outermost call */
    uint64_t start, stop;     /* ticks */
    uint64_t begin;           /* nanoseconds, in the caller's clock; set by callers that need it */
    uint64_t records, errors, calls;
    uint64_t offset; /* payload size of the chunks before this one */
    uint32_t chunk;  /* index of this one */
    size_t ids_at;   /* where the first chunk's numbers belong */
};

struct zor_encoder {
    enum zor_layout layout;
    bool is_noting;
    uint32_t number;          /* of this encoder */
    uint64_t order, position; /* of the track; strings used in it so far */
    struct lode_blob payload;
    struct zor_written_trace trace;
    struct lode_open_calls calls;     /* of struct zor_open_call */
    uint64_t left_out;                /* events that a store cannot represent */
    uint64_t first_stamp, last_stamp; /* of the encoded traces; milliseconds */
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

/* May be closed, whether it was created or not. */
#define ZOR_WRITER_INIT                                                                                      \
    {                                                                                                        \
        .output = LODE_OUTPUT_INIT                                                                           \
    }

/* Creates the target for so many threads. With `force`, an existing store is replaced. */
lode_status lode_zor_writer_create(struct zor_writer *writer, const char *path, enum zor_layout layout,
                                   bool force, uint32_t threads, lode_error *error);
/* All traces were read once: numbers the strings. From now on encoders encode. */
lode_status lode_zor_writer_number(struct zor_writer *writer, lode_error *error);
/* Assembles and publishes the store. */
lode_status lode_zor_writer_finish(struct zor_writer *writer, lode_error *error);
/* Frees everything, and removes an unfinished store. */
void lode_zor_writer_close(struct zor_writer *writer);

/* ---- traces: an encoder belongs to one thread at a time ---- */

lode_status lode_zor_encoder_open(struct zor_encoder *encoder, const struct zor_writer *writer,
                                  uint32_t number, lode_error *error);
void lode_zor_encoder_close(struct zor_encoder *encoder);

/* Starts the track of this position among all. One encoder takes a whole track. */
void lode_zor_begin_track(struct zor_encoder *encoder, uint64_t order);
/* A trace begins with the next call. */
void lode_zor_begin_trace(struct zor_encoder *encoder, struct zor_id id, uint64_t stamp);
/*
 * Begins a call. Its numbers follow, and then, for the outermost call, lode_zor_put_ids. `method`
 * is NULL while strings are noted, or if it is not known.
 */
lode_status lode_zor_enter(struct zor_encoder *encoder, uint64_t tick, struct zor_entry *method,
                           lode_error *error);
/* The id of the trace. */
void lode_zor_put_ids(struct zor_encoder *encoder);
/*
 * Starts another chunk if this one is large enough. Call it before anything else inside of a call:
 * the data of a call's end stays with the end. So equal events are split at the same places.
 */
lode_status lode_zor_more(struct zor_encoder *encoder, lode_error *error);
void lode_zor_number(struct zor_encoder *encoder, uint64_t key, uint64_t value);
/* An encoded value. */
void lode_zor_info(struct zor_encoder *encoder, uint64_t key, struct lode_range value);
void lode_zor_thrown(struct zor_encoder *encoder, struct zor_entry *exception);
/* The call ended with an error. */
void lode_zor_failed(struct zor_encoder *encoder);
/* The calls that the tracer counted inside this one, with itself; it may have recorded fewer. */
void lode_zor_counted(struct zor_encoder *encoder, uint64_t calls);
/* A call ends. */
lode_status lode_zor_leave(struct zor_encoder *encoder, uint64_t tick, lode_error *error);
/* The innermost open call; there must be one. */
static inline struct zor_open_call *zor_innermost(const struct zor_encoder *encoder)
{
    return OPEN_CALLS_TOP(&encoder->calls, struct zor_open_call);
}
/* The number of open calls, without those beyond the maximal depth. */
static inline size_t zor_depth(const struct zor_encoder *encoder)
{
    return open_calls_count(&encoder->calls);
}

/*
 * Begins an attribute; its value follows. In the documented layout, values are strings or consist
 * of strings; attributes with other values are written like collectors do.
 */
void lode_zor_attribute(struct zor_encoder *encoder, struct zor_entry *key, bool has_strings_only);
void lode_zor_attribute_text(struct zor_encoder *encoder, struct zor_entry *key, struct zor_entry *value);
void lode_zor_attribute_number(struct zor_encoder *encoder, struct zor_entry *key, int64_t value);
/* Parts of keys and values: a string, or encoded bytes. */
void lode_zor_put_string(struct zor_encoder *encoder, struct zor_entry *text, bool is_bare);
void lode_zor_put_raw(struct zor_encoder *encoder, struct lode_range bytes);
void lode_zor_put_head(struct zor_encoder *encoder, uint8_t major, uint64_t value);
/* Whether references of an attribute have no tag. */
static inline bool zor_is_bare(const struct zor_encoder *encoder, bool has_strings_only)
{
    return encoder->layout == ZOR_LAYOUT_PAGE && has_strings_only;
}

/* The current position in the output: rises with each call, and with the order of tracks. */
uint64_t lode_zor_here(struct zor_encoder *encoder);

#endif
