/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is kept of a span while a store is open. Names, attributes and events stay in the file.
 * Every decoder yields a span as the bytes of an OpenTelemetry Span in protobuf, so that all that
 * follows knows one form only.
 */
#ifndef LODE_OTLP_SPAN_H
#define LODE_OTLP_SPAN_H

#include "base/io/range.h"

/* Numbers of protobuf fields. */
enum {
    TRACES_RESOURCE_SPANS = 1,
    RESOURCE_SPANS_RESOURCE = 1,
    RESOURCE_SPANS_SCOPES = 2,
    RESOURCE_SPANS_LIBRARIES = 1000, /* until 2022 */
    RESOURCE_ATTRIBUTES = 1,
    SCOPE_SPANS_SCOPE = 1,
    SCOPE_SPANS_SPANS = 2,
    SCOPE_NAME = 1,
    SPAN_TRACE_ID = 1,
    SPAN_ID = 2,
    SPAN_TRACE_STATE = 3,
    SPAN_PARENT = 4,
    SPAN_NAME = 5,
    SPAN_KIND = 6,
    SPAN_BEGIN = 7,
    SPAN_END = 8,
    SPAN_ATTRIBUTES = 9,
    SPAN_DROPPED_ATTRIBUTES = 10,
    SPAN_EVENTS = 11,
    SPAN_DROPPED_EVENTS = 12,
    SPAN_LINKS = 13,
    SPAN_DROPPED_LINKS = 14,
    SPAN_STATUS = 15,
    SPAN_FLAGS = 16,
    SPAN_NOTES = 1 << 20, /* of decoders of other forms: OTLP_SPAN_... */
    STATUS_MESSAGE = 2,
    STATUS_CODE = 3,
    EVENT_TIME = 1,
    EVENT_NAME = 2,
    EVENT_ATTRIBUTES = 3,
    LINK_TRACE_ID = 1,
    LINK_SPAN_ID = 2,
    LINK_ATTRIBUTES = 4,
    PAIR_KEY = 1,
    PAIR_VALUE = 2,
    ANY_STRING = 1,
    ANY_BOOL = 2,
    ANY_INT = 3,
    ANY_DOUBLE = 4,
    ANY_ARRAY = 5,
    ANY_MAP = 6,
    ANY_BYTES = 7,
    LIST_VALUES = 1
};

enum otlp_kind {
    OTLP_UNSPECIFIED,
    OTLP_INTERNAL,
    OTLP_SERVER,
    OTLP_CLIENT,
    OTLP_PRODUCER,
    OTLP_CONSUMER,
    OTLP_KINDS
};

enum {
    OTLP_STATUS_ERROR = 2,
    OTLP_FLAG_KNOWS_REMOTE = 0x100,
    OTLP_FLAG_REMOTE = 0x200
};

/* Of a span. */
enum {
    OTLP_SPAN_FAILED = 1,
    OTLP_SPAN_REMOTE = 2,   /* its parent is in another process */
    OTLP_SPAN_SHARED = 4,   /* Zipkin: the server's half, with the id of the client's */
    OTLP_SPAN_MOVED = 8,    /* its times are not those of the file */
    OTLP_SPAN_NO_END = 16,  /* the file has no end */
    OTLP_SPAN_ADJUSTED = 32 /* Jaeger moved it already */
};

#define OTLP_NO_SPAN UINT32_MAX
enum {
    OTLP_FILE_SHIFT = 40 /* of a position: offset below, number of the file above */
};

struct otlp_span {
    uint64_t trace[2];
    uint64_t id;
    union {
        uint64_t parent_id; /* 0: none; until traces are assembled */
        struct {
            uint32_t parent; /* index; OTLP_NO_SPAN: none */
            uint32_t depth;  /* callers on its track */
        };
    };
    uint64_t begin, end; /* nanoseconds since the epoch */
    uint64_t position;
    uint32_t origin;
    uint8_t kind, flags;
    uint16_t unused;
};
_Static_assert(sizeof(struct otlp_span) == 64, "memory for each span");

static inline uint64_t otlp_offset_of(const struct otlp_span *span)
{
    return span->position & ((UINT64_C(1) << OTLP_FILE_SHIFT) - 1);
}

static inline uint32_t otlp_file_of(const struct otlp_span *span)
{
    return (uint32_t)(span->position >> OTLP_FILE_SHIFT);
}

#endif
