/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes what a survey found from an index, as if from an enemy. LODE_ABSENT: survey the store. */
#include "base/cache/folder.h"
#include "base/error.h"
#include "base/memory/hash.h"
#include "format/protobuf.h"
#include "format/zorka/index/index.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct reading {
    struct zor_recording *rec;
    int fd;
    struct lode_blob whole, block;
    struct lode_pb_walk at, table, findings; /* in the block; in the whole */
    uint64_t offset;                         /* of the next block */
    uint64_t traces, segments;
    uint64_t stamp, chunk; /* of the trace before, in this block */
};

/* A number of at most `most`; false if there is none. */
static bool take(struct lode_pb_walk *walk, uint64_t most, uint64_t *number)
{
    return lode_pb_number(walk, number) == LODE_PB_FIELD && *number <= most;
}

static bool take_bytes(struct lode_pb_walk *walk, struct lode_range *bytes)
{
    uint64_t size;
    return take(walk, SIZE_MAX, &size) && lode_pb_take(walk, size, bytes) == LODE_PB_FIELD;
}

/* ---- the whole store ---- */

static bool take_layouts(struct reading *self, struct lode_pb_walk *walk)
{
    uint64_t count, flags;
    if (!take(walk, self->rec->store_count, &count) || count != self->rec->store_count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!take(walk, 3, &flags))
            return false;
        self->rec->stores[i].has_page_layout = flags & 1;
        self->rec->stores[i].has_real_layout = flags & 2;
    }
    return true;
}

static bool take_whole(struct reading *self, const struct lode_blob *key)
{
    struct lode_pb_walk walk = lode_pb_walk_of((struct lode_range){self->whole.bytes, self->whole.size});
    struct lode_range same, table, findings;
    if (!take_bytes(&walk, &same) || same.size != key->size ||
        memcmp(same.data, key->bytes, key->size) != 0 || !take_layouts(self, &walk) ||
        !take(&walk, INT32_MAX / 2, &self->traces) || !take(&walk, ZOR_SEGMENTS_MAX, &self->segments) ||
        !take_bytes(&walk, &table) || !take_bytes(&walk, &findings) || walk.at != walk.end)
        return false;
    self->table = lode_pb_walk_of(table);
    self->findings = lode_pb_walk_of(findings);
    return true;
}

static bool read_whole(struct reading *self)
{
    struct zor_index_head head;
    if (!lode_cache_read(self->fd, 0, sizeof head, &self->whole))
        return false;
    memcpy(&head, self->whole.bytes, sizeof head);
    self->offset = sizeof head;
    return head.magic == ZOR_INDEX_MAGIC && head.size <= ZOR_INDEX_WHOLE_MOST &&
           lode_cache_read(self->fd, head.offset, head.size, &self->whole) &&
           lode_hash_fixed(self->whole.bytes, self->whole.size) == head.checksum;
}

/* ---- blocks ---- */

static bool next_block(struct reading *self)
{
    uint64_t size, checksum;
    if (!take(&self->table, (uint64_t)ZOR_INDEX_BLOCK * ZOR_INDEX_ITEM_MOST, &size) ||
        !take(&self->table, UINT64_MAX, &checksum) ||
        !lode_cache_read(self->fd, self->offset, size, &self->block) ||
        lode_hash_fixed(self->block.bytes, self->block.size) != checksum)
        return false;
    self->at = lode_pb_walk_of((struct lode_range){self->block.bytes, self->block.size});
    self->offset += size;
    self->stamp = self->chunk = 0;
    return true;
}

/* A segment lies in a chunk of the store; `next` is further on, so that no trace is a ring. */
static bool take_segment(struct reading *self, uint64_t after, struct zor_segment *segment)
{
    const struct zor_recording *rec = self->rec;
    uint64_t step, begin, size, next;
    if (!take(&self->at, UINT64_MAX, &step) || !take(&self->at, ZOR_CHUNK_MAX, &begin) ||
        !take(&self->at, ZOR_CHUNK_MAX, &size) || !take(&self->at, self->segments << 1 | 1, &next))
        return false;
    self->chunk += zor_unzigzag(step);
    if (self->chunk >= rec->chunks.count || (next > 1 && next >> 1 <= after))
        return false;
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&rec->chunks, struct zor_chunk, self->chunk);
    uint64_t most = chunk->csize > chunk->lsize ? chunk->csize : chunk->lsize;
    *segment = (struct zor_segment){(uint32_t)self->chunk,
                                    (uint32_t)begin,
                                    (uint32_t)(begin + size),
                                    (uint32_t)(next >> 1) & ZOR_SEGMENT_MASK,
                                    next & 1,
                                    0};
    return begin + size <= most;
}

static bool take_id(struct reading *self, struct zor_id *id)
{
    struct lode_range bytes;
    if (lode_pb_take(&self->at, sizeof *id, &bytes) != LODE_PB_FIELD)
        return false;
    memcpy(id, bytes.data, sizeof *id);
    return true;
}

static bool take_trace(struct reading *self)
{
    struct zor_begun begun = {.id = {0, 0}};
    struct zor_trace *trace = &begun.trace;
    uint64_t flags, stamp, pid, tid;
    if (!take(&self->at, ZOR_INDEX_HAS_ERROR | ZOR_INDEX_HAS_ID, &flags) ||
        !take_segment(self, 0, &trace->first) || !take(&self->at, ZOR_TICKS_END - 1, &trace->start) ||
        !take(&self->at, ZOR_TICKS_END - 1, &trace->length) || !take(&self->at, UINT64_MAX, &stamp) ||
        !take(&self->at, INT32_MAX, &pid) || !take(&self->at, INT32_MAX, &tid) ||
        !take(&self->at, UINT32_MAX, &begun.method) ||
        ((flags & ZOR_INDEX_HAS_ID) && !take_id(self, &begun.id)))
        return false;
    self->stamp += zor_unzigzag(stamp);
    trace->stamp = self->stamp;
    trace->first.has_error = flags & ZOR_INDEX_HAS_ERROR;
    begun.pid = (int32_t)pid;
    begun.tid = (int32_t)tid;
    return trace->stamp < ZOR_STAMPS_END && trace->start + trace->length < ZOR_TICKS_END &&
           lode_zor_add_trace(self->rec, &begun) != NULL;
}

static bool take_further(struct reading *self)
{
    struct zor_segment *segment = lode_array_push(&self->rec->segments);
    return segment && take_segment(self, self->rec->segments.count, segment);
}

/* All items of a kind, block by block. */
static bool take_all(struct reading *self, uint64_t count, bool (*take_item)(struct reading *self))
{
    for (uint64_t i = 0; i < count; i++) {
        if (i % ZOR_INDEX_BLOCK == 0 && !next_block(self))
            return false;
        if (!take_item(self))
            return false;
        bool is_last = (i + 1) % ZOR_INDEX_BLOCK == 0 || i + 1 == count;
        if (is_last && self->at.at != self->at.end)
            return false;
    }
    return true;
}

/* Bytes of a trace: of all its segments, which are of one store, and of no other trace. */
static bool add_up(const struct zor_recording *rec, uint32_t track, uint64_t *left)
{
    const struct zor_trace *trace = zor_trace_at(rec, track);
    lode_track *about = LODE_ARRAY_AT(&rec->tracks, lode_track, track);
    uint32_t store = zor_store_of(rec, trace);
    for (uint32_t next = trace->first.next; next > 0;) {
        const struct zor_segment *segment = LODE_ARRAY_AT(&rec->segments, struct zor_segment, next - 1);
        uint64_t bytes = about->bytes + segment->end - segment->begin;
        about->bytes = bytes > UINT32_MAX ? UINT32_MAX : bytes;
        if ((*left)-- == 0 || LODE_ARRAY_AT(&rec->chunks, struct zor_chunk, segment->chunk)->store != store)
            return false;
        next = segment->next;
    }
    return true;
}

static bool take_blocks(struct reading *self)
{
    if (!take_all(self, self->traces, take_trace) || !take_all(self, self->segments, take_further) ||
        self->table.at != self->table.end)
        return false;
    uint64_t left = self->segments;
    for (uint32_t i = 0; i < self->traces; i++)
        if (!add_up(self->rec, i, &left))
            return false;
    return left == 0;
}

/* ---- findings ---- */

struct found {
    uint64_t rule, offset;
    struct lode_range file, text; /* with their NULs */
};

static bool is_text(struct lode_range bytes)
{
    return bytes.size > 0 && memchr(bytes.data, '\0', (size_t)bytes.size) == bytes.data + bytes.size - 1;
}

static bool take_finding(struct lode_pb_walk *walk, struct found *found)
{
    return take(walk, ZOR_RULE_COUNT - 1, &found->rule) && take(walk, UINT64_MAX, &found->offset) &&
           take_bytes(walk, &found->file) && take_bytes(walk, &found->text) && is_text(found->file) &&
           is_text(found->text);
}

static bool are_findings_sound(struct lode_pb_walk walk)
{
    struct found found;
    while (walk.at != walk.end)
        if (!take_finding(&walk, &found))
            return false;
    return true;
}

static lode_status report_all(struct reading *self, struct lode_report *report)
{
    struct found found;
    while (self->findings.at != self->findings.end && take_finding(&self->findings, &found))
        LODE_TRY(lode_report_add(report, (unsigned)found.rule, (const char *)found.file.data, found.offset,
                                 "%s", (const char *)found.text.data));
    return LODE_OK;
}

/* ---- all ---- */

static bool open_index(struct reading *self, const struct zor_index *index)
{
    char name[ZOR_INDEX_NAME_SIZE];
    int directory =
        lode_zor_index_name(&self->rec->folder, name) ? lode_cache_directory(index->directory, false) : -1;
    if (directory < 0)
        return false;
    self->fd = lode_cache_file(directory, name);
    close(directory);
    return self->fd >= 0;
}

/* As before an index was read. */
static void forget(struct zor_recording *rec)
{
    rec->traces.count = rec->tracks.count = rec->segments.count = 0;
    for (uint32_t i = 0; i < rec->store_count; i++)
        rec->stores[i].has_page_layout = rec->stores[i].has_real_layout = false;
}

lode_status lode_zor_index_read(struct zor_index *index, struct zor_recording *rec,
                                struct lode_report *report)
{
    struct reading self = {.rec = rec, .fd = -1};
    lode_status status = LODE_ABSENT;
    if (open_index(&self, index) && read_whole(&self) && take_whole(&self, &index->key) &&
        are_findings_sound(self.findings) && take_blocks(&self))
        status = LODE_OK;
    else
        forget(rec);
    if (status == LODE_OK) {
        (void)futimens(self.fd, NULL); /* when it was used, if that can be noted */
        status = report_all(&self, report);
    }
    if (self.fd >= 0)
        close(self.fd);
    lode_blob_free(&self.whole);
    lode_blob_free(&self.block);
    return status;
}
