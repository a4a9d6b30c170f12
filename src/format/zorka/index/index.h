/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An index of requests, in a directory of the user: what the survey of a store has found, so that
 * the next one who opens it does not unpack all chunks. The store is the truth: an index that is
 * stale, damaged or hostile counts as missing.
 *
 * A file has a head, blocks of traces and of further segments, and a part about the whole store.
 * All but the head are numbers of a variable length. Each block, and the part, has a checksum.
 */
#ifndef LODE_ZORKA_INDEX_H
#define LODE_ZORKA_INDEX_H

#include "base/memory/blob.h"
#include "format/zorka/zorka.h"

#define ZOR_INDEX_MAGIC  UINT64_C(0x31524f5a45444f4c) /* LODEZOR1 in this order of bytes */
#define ZOR_INDEX_PREFIX "zorka-"
#define ZOR_INDEX_SUFFIX ".index"

enum {
    ZOR_INDEX_STORE_LEAST = 1 << 20, /* bytes of a store: smaller ones are read as fast */
    ZOR_INDEX_BLOCK = 4096,          /* items of a block */
    ZOR_INDEX_ITEM_MOST = 13 * 10,   /* bytes of an item */
    ZOR_INDEX_WHOLE_MOST = 64 << 20, /* bytes of the part about the whole store */
    ZOR_INDEX_FINDINGS_MOST = 1000,  /* of the survey; more are not kept, and there is no index */
    ZOR_INDEX_NAME_SIZE = 64
};
#define ZOR_INDEX_ALL_MOST (UINT64_C(4) << 30) /* bytes of all indexes */

/* Of a trace. Its store is that of its first chunk. */
enum {
    ZOR_INDEX_HAS_ERROR = 1,
    ZOR_INDEX_HAS_ID = 2
};

struct zor_index_head {
    uint64_t magic, offset, size, checksum; /* of the part about the whole store */
};

/* A recording that is being opened. */
struct zor_index {
    const char *directory; /* NULL: there is no index */
    struct lode_blob key;  /* names, sizes, times and inodes of all files */
    int64_t newest;        /* seconds: when one was changed */
    uint64_t bytes;        /* of data files */
    struct lode_blob findings;
    uint32_t finding_count; /* UINT32_MAX: not all are kept */
    /* To whom findings of the survey go on. */
    lode_finding_fn on_finding;
    void *user;
};

/* ---- numbers ---- */

/* 0 if out of memory. */
int lode_zor_index_put(struct lode_blob *blob, uint64_t number);
int lode_zor_index_put_bytes(struct lode_blob *blob, const void *bytes, size_t size);

/* Differences of either sign, as small numbers. */
static inline uint64_t zor_zigzag(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t zor_unzigzag(uint64_t number)
{
    return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* ---- the key ---- */

/* A file is about to be read. */
void lode_zor_index_note(struct zor_index *self, const struct lode_folder *folder, const char *file);
/* Whether no noted file has changed since. */
bool lode_zor_index_is_current(const struct zor_index *self, const struct lode_folder *folder);
/* The name of the index of this store; false if it can have none. */
bool lode_zor_index_name(const struct lode_folder *folder, char name[ZOR_INDEX_NAME_SIZE]);
/* Whether the store can have an index. */
bool lode_zor_index_is_possible(const struct zor_index *self);

/* ---- reading and writing ---- */

/* Takes traces, tracks and findings of the survey from an index. LODE_ABSENT: there is none. */
lode_status lode_zor_index_read(struct zor_index *self, struct zor_recording *rec,
                                struct lode_report *report);
/* Between these, findings are noted and passed on. */
void lode_zor_index_begin(struct zor_index *self, struct zor_recording *rec, struct lode_report *report);
void lode_zor_index_end(struct zor_index *self, struct lode_report *report);
/* Writes the index after the survey. Whatever fails, there is none. */
void lode_zor_index_write(const struct zor_index *self, const struct zor_recording *rec);
void lode_zor_index_free(struct zor_index *self);

#endif
