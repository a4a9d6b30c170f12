/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An index of trace ids, in a directory of the user: where the spans of each trace are. A few
 * requests of a large store are opened with it without reading all spans. The store is the truth:
 * an index that is stale, damaged or hostile counts as missing.
 *
 * A file has a head, buckets, and a part about the whole store. Buckets are messages of protobuf:
 * a record for each trace, chosen by the hash of its id. Each bucket, and the part, has a checksum.
 */
#ifndef LODE_OTLP_LOOKUP_H
#define LODE_OTLP_LOOKUP_H

#include "format/otlp/otlp.h"
#include "format/protobuf.h"

#define LOOKUP_MAGIC  UINT64_C(0x3144495345444f4c) /* LODESID1; in another order of bytes: none */
#define LOOKUP_PREFIX "spans-"
#define LOOKUP_SUFFIX ".index"

enum {
    LOOKUP_STORE_LEAST = 1 << 20, /* bytes of a store: smaller ones are read as fast */
    LOOKUP_BUCKET = 64 << 10,     /* bytes of a bucket, about */
    LOOKUP_BUCKET_MOST = 1 << 28, /* of one with a very large trace */
    LOOKUP_BITS_MOST = 16,        /* of the hash that choose a bucket */
    LOOKUP_WHOLE_MOST = 64 << 20, /* bytes of the part about the whole store */
    LOOKUP_FINDINGS_MOST = 1000,  /* of opening; more are not kept, and there is no index */
    LOOKUP_IDS_MOST = 64,         /* that can be asked for at once */
    LOOKUP_DIGITS = 32,           /* of an id */
    LOOKUP_NAME_SIZE = 64
};
#define LOOKUP_ALL_MOST (UINT64_C(4) << 30) /* bytes of all indexes */

/* Fields of the part about the whole store. */
enum {
    WHOLE_KEY = 1, /* of the files that it was made from */
    WHOLE_BITS,
    WHOLE_BUCKETS, /* struct lookup_bucket, each */
    WHOLE_SPANS,
    WHOLE_TRACES,
    WHOLE_TRACKS,
    WHOLE_BEGIN,
    WHOLE_END,
    WHOLE_SPAN_BYTES,
    WHOLE_TOLERANCE, /* of each service */
    WHOLE_RESOURCE,
    WHOLE_ORIGIN,
    WHOLE_FINDING
};

/* Of a finding. */
enum {
    FOUND_RULE = 1,
    FOUND_FILE,
    FOUND_OFFSET,
    FOUND_TEXT
};

/* Of a bucket, and of a record. An origin is that of all spans that follow, until the next. */
enum {
    BUCKET_RECORD = 1,
    RECORD_HIGH = 1,
    RECORD_LOW,
    RECORD_NUMBER, /* of the main track */
    RECORD_THREAD, /* of each track */
    RECORD_ORIGIN,
    RECORD_STEP /* from the position of the span before */
};

struct lookup_head {
    uint64_t magic, offset, size, checksum; /* of the part about the whole store */
};

/* Buckets follow each other, the first one after the head. */
struct lookup_bucket {
    uint64_t size, checksum;
};

/* Names, sizes, times and inodes of all files; false if that cannot be known. */
bool lode_otlp_lookup_key(const struct otlp_recording *rec, struct lode_blob *key);
/* Whether no file was changed a moment ago: a change in the same moment would not be seen. */
bool lode_otlp_lookup_is_quiet(const struct otlp_recording *rec);
/* The name of the index of this store; false if it can have none. */
bool lode_otlp_lookup_name(const struct otlp_recording *rec, char name[LOOKUP_NAME_SIZE]);
/* Removes indexes that were not used for the longest time, while all are too large. */
void lode_otlp_lookup_trim(int directory, const char *kept);

#endif
