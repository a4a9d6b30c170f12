/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of attributes as text, and conditions on them. */
#ifndef LODE_ANALYSIS_VALUE_H
#define LODE_ANALYSIS_VALUE_H

#include "base/memory/blob.h"
#include "base/text/substring.h"
#include "model/recording/recording.h"
#include <lode/unstable/search.h>

/* A value as text; strings without quotes. Valid until the next one is read. */
struct lode_read_value {
    const char *bytes;
    size_t length;
    lode_value_kind kind; /* TEXT: also several values */
    double real;
    bool is_read;
};

/* Reads values of events of a track. All zero but for the recording: none yet. */
struct lode_value_reader {
    const lode_recording *recording;
    uint32_t track;
    lode_argument *arguments;
    size_t capacity;
    struct lode_blob text; /* a value converted to text */
};

void lode_value_reader_free(struct lode_value_reader *reader);
/* Decodes at most `most` arguments; sets *count. Invalid ones give none. False: out of memory. */
bool lode_value_decode(struct lode_value_reader *reader, const lode_event *event, size_t most, size_t *count);
/* Reads a value unless it is read already. False: out of memory. */
bool lode_value_read(struct lode_value_reader *reader, const lode_event *event,
                     struct lode_read_value *value);

bool lode_put_bytes(struct lode_blob *blob, const void *bytes, size_t count);
bool lode_put_text(struct lode_blob *blob, const char *text);

/* A blob with a string; "" if it is empty. */
static inline const char *lode_blob_string(const struct lode_blob *blob)
{
    return blob->size > 0 ? (const char *)blob->bytes : "";
}

/* ---- names of attributes (conventions.c) ---- */

/*
 * A key that is asked for. It means the attribute of that name, and those that OpenTelemetry's
 * conventions called so in other years.
 */
struct lode_attribute_key {
    const char *name;
    const char *now; /* what it is called today; NULL: it has one name */
};

struct lode_attribute_key lode_attribute_key_of(const char *name);
bool lode_attribute_key_is(const struct lode_attribute_key *key, const char *name);
/* Whether it describes the process, so that all of its calls have it. */
bool lode_is_resource_key(const char *name);

/* ---- conditions ---- */

/* A condition on the value of an attribute. */
struct lode_condition {
    lode_search_attribute attribute;
    struct lode_attribute_key key;
    struct lode_substring part; /* of LODE_ATTRIBUTE_CONTAINS */
};

/* False if out of memory. What is initialised must be freed in any case. */
bool lode_condition_init(struct lode_condition *condition, const lode_search_attribute *attribute);
void lode_condition_free(struct lode_condition *condition);
/* Whether a value meets it; any does if it asks for none. */
bool lode_condition_fits(const struct lode_condition *condition, const char *bytes, size_t length);

#endif
