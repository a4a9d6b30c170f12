/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders: from messages of a file to span records, and from a position to a span. */
#ifndef LODE_OTLP_DECODE_H
#define LODE_OTLP_DECODE_H

#include "base/memory/array.h"
#include "format/otlp/decode/put.h"
#include "format/otlp/span.h"
#include "format/otlp/table.h"

/* What is counted while spans are read. */
enum otlp_count {
    OTLP_COUNT_BAD_ID,
    OTLP_COUNT_BAD_TIME,
    OTLP_COUNT_NO_END,
    OTLP_COUNT_SIGNAL, /* messages with other signals */
    OTLP_COUNT_DROPPED_ATTRIBUTES,
    OTLP_COUNT_DROPPED_EVENTS,
    OTLP_COUNT_DROPPED_LINKS,
    OTLP_COUNT_WARNED,
    OTLP_COUNTS
};

/* What a worker read. */
struct otlp_batch {
    struct lode_array spans;     /* struct otlp_span */
    struct otlp_table resources; /* protobuf Resource */
    struct otlp_table origins;   /* number of a resource, 4 bytes, and the name of a scope */
    struct lode_blob scratch, names;
    uint64_t counts[OTLP_COUNTS];
    bool has_failed;      /* out of memory */
    const uint8_t *start; /* of the file */
    uint64_t file;        /* its number, shifted */
};

void lode_otlp_batch_init(struct otlp_batch *batch);
void lode_otlp_batch_free(struct otlp_batch *batch);
/* A span as it is read. */
struct otlp_reading {
    struct otlp_span span;
    uint64_t dropped[3]; /* attributes, events, links */
    bool is_warned;
};
/* The flags of W3C and OpenTelemetry. */
static inline void otlp_reading_flags(struct otlp_reading *reading, uint64_t flags)
{
    if ((flags & OTLP_FLAG_KNOWS_REMOTE) && (flags & OTLP_FLAG_REMOTE))
        reading->span.flags |= OTLP_SPAN_REMOTE;
}
/* Adds a span, which is at `position` of the file. */
void lode_otlp_batch_put(struct otlp_batch *batch, struct otlp_reading *reading, const uint8_t *position,
                         uint32_t origin);
/* The same, whose protobuf form is `bytes`; false if that is damaged. */
bool lode_otlp_batch_add(struct otlp_batch *batch, struct lode_range bytes, const uint8_t *position,
                         uint32_t origin);
/* The number of a resource and a scope; LODE_NO_NUMBER if out of memory. */
uint32_t lode_otlp_batch_origin(struct otlp_batch *batch, struct lode_range resource,
                                struct lode_range scope);

/* What a span is for: brief ones have ids, times, kind and status. */
enum otlp_detail {
    OTLP_BRIEF,
    OTLP_WHOLE
};

struct otlp_codec {
    const char *name; /* of the format, for people */
    /* Reads a message; false if it is damaged. */
    bool (*read)(struct otlp_batch *batch, struct lode_range message);
    /* Writes the span that comes next in protobuf; NULL: it is that already. False if damaged. */
    bool (*write)(struct lode_json *json, enum otlp_detail detail, struct otlp_put *put);
    /* Reads what a brief span has, without a detour; NULL: write it. False if damaged. */
    bool (*brief)(struct lode_json *json, struct otlp_reading *reading);
};

extern const struct otlp_codec lode_otlp_protobuf, lode_otlp_json, lode_otlp_jaeger, lode_otlp_zipkin;

/*
 * The span at the beginning of some bytes, in protobuf: borrowed from them, or written to `put`.
 * False if there is none.
 */
bool lode_otlp_span(const struct otlp_codec *codec, struct lode_range from, struct otlp_put *put,
                    struct lode_range *span);

/* ---- shared by decoders of JSON ---- */

/* A number, or the digits of one in a string. Other values are 0. */
uint64_t lode_otlp_json_unsigned(struct lode_json *json);
/* A string; other values are skipped and empty. */
struct lode_range lode_otlp_json_text(struct lode_json *json);
/* Whether the value is true, or the string "true". */
bool lode_otlp_json_true(struct lode_json *json);
/* A pair of a key and a string. */
void lode_otlp_put_pair(struct otlp_put *put, unsigned field, const char *key, struct lode_range text);
/* Adds the span that comes next. */
bool lode_otlp_json_add(struct otlp_batch *batch, struct lode_json *json, const struct otlp_codec *codec,
                        uint32_t origin);

#endif
