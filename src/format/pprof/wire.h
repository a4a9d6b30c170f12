/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire format of profile.proto: fields of messages, checked against their types. */
#ifndef LODE_FORMAT_PPROF_WIRE_H
#define LODE_FORMAT_PPROF_WIRE_H

#include "base/io/range.h"

enum pprof_message {
    PPROF_PROFILE,
    PPROF_VALUE_TYPE,
    PPROF_SAMPLE,
    PPROF_LABEL,
    PPROF_MAPPING,
    PPROF_LOCATION,
    PPROF_LINE,
    PPROF_FUNCTION
};

/* Numbers of fields. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_DROP_FRAMES = 7,
    PROFILE_KEEP_FRAMES = 8,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    PROFILE_DOC_URL = 15,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STR = 2,
    LABEL_NUM = 3,
    LABEL_NUM_UNIT = 4,
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILENAME = 5,
    MAPPING_BUILD_ID = 6,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5
};

/* A field of a message. */
struct pprof_field {
    uint64_t number;
    bool is_known;
    bool is_bytes; /* else a number */
    uint64_t value;
    struct lode_range bytes;
    const uint8_t *start; /* of its key */
};

/* A walk over the fields of a message. */
struct pprof_walk {
    enum pprof_message message;
    const uint8_t *at, *end;
};

enum pprof_step {
    PPROF_FIELD,
    PPROF_END,
    PPROF_CUT,     /* a field exceeds its message */
    PPROF_VARINT,  /* a number of more than 10 bytes */
    PPROF_TYPE,    /* a wire type that does not exist, or groups */
    PPROF_MISTYPED /* a known field of another wire type */
};

static inline struct pprof_walk pprof_walk_of(enum pprof_message message, struct lode_range bytes)
{
    /* A field that is a number has no bytes. */
    return (struct pprof_walk){message, bytes.data, bytes.data ? bytes.data + bytes.size : NULL};
}

/* The next field. After an error, `at` is where it was found. */
enum pprof_step lode_pprof_next(struct pprof_walk *walk, struct pprof_field *field);
/* A number of packed ones; PPROF_FIELD, PPROF_END or an error. */
enum pprof_step lode_pprof_number(struct pprof_walk *walk, uint64_t *number);
/* What an error is, in words. */
const char *lode_pprof_step_text(enum pprof_step step);

#endif
