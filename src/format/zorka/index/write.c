/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes an index after the survey. Whatever fails, there is none. */
#include "base/cache/folder.h"
#include "base/io/output.h"
#include "base/memory/hash.h"
#include "format/zorka/index/index.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MODE_PRIVATE = 0600,
    PATH_SIZE = 4096
};

struct writing {
    const struct zor_recording *rec;
    struct lode_output output;
    struct lode_output_file file;
    struct lode_blob block, whole;
    struct lode_blob table; /* size and checksum of each block */
    uint64_t stamp, chunk;  /* of the trace before, in this block */
    bool has_failed;
};

static void put(struct writing *self, uint64_t number)
{
    self->has_failed = self->has_failed || !lode_zor_index_put(&self->block, number);
}

/* ---- findings ---- */

static int note(void *user, const lode_finding *finding)
{
    struct zor_index *self = user;
    unsigned rule = 0;
    size_t file = strlen(finding->file) + 1, text = strlen(finding->text) + 1;
    while (rule < ZOR_RULE_COUNT && strcmp(lode_zor_rules[rule].id, finding->rule) != 0)
        rule++;
    if (self->finding_count < ZOR_INDEX_FINDINGS_MOST && lode_zor_index_put(&self->findings, rule) &&
        lode_zor_index_put(&self->findings, finding->offset) && lode_zor_index_put(&self->findings, file) &&
        lode_zor_index_put_bytes(&self->findings, finding->file, file) &&
        lode_zor_index_put(&self->findings, text) &&
        lode_zor_index_put_bytes(&self->findings, finding->text, text))
        self->finding_count++;
    else
        self->finding_count = UINT32_MAX;
    return self->on_finding ? self->on_finding(self->user, finding) : 0;
}

void lode_zor_index_begin(struct zor_index *self, struct zor_recording *rec, struct lode_report *report)
{
    rec->keeps_methods = true;
    self->on_finding = report->on_finding;
    self->user = report->user;
    report->on_finding = note;
    report->user = self;
}

void lode_zor_index_end(struct zor_index *self, struct lode_report *report)
{
    report->on_finding = self->on_finding;
    report->user = self->user;
}

/* ---- blocks ---- */

static void end_block(struct writing *self)
{
    uint64_t checksum = lode_hash_fixed(self->block.bytes, self->block.size);
    if (self->has_failed || !lode_zor_index_put(&self->table, self->block.size) ||
        !lode_zor_index_put(&self->table, checksum) ||
        lode_output_write(&self->file, self->block.bytes, self->block.size, NULL) != LODE_OK)
        self->has_failed = true;
    self->block.size = 0;
    self->stamp = self->chunk = 0;
}

static void put_segment(struct writing *self, const struct zor_segment *segment)
{
    put(self, zor_zigzag(segment->chunk - self->chunk));
    put(self, segment->begin);
    put(self, segment->end - segment->begin);
    put(self, (uint64_t)segment->next << 1 | segment->is_behind_loss);
    self->chunk = segment->chunk;
}

static void put_trace(struct writing *self, uint32_t track)
{
    const struct zor_trace *trace = zor_trace_at(self->rec, track);
    const lode_track *about = &self->rec->base.tracks[track];
    struct zor_id id = lode_zor_track_id(about);
    put(self,
        (trace->first.has_error ? ZOR_INDEX_HAS_ERROR : 0) | (zor_id_is_known(id) ? ZOR_INDEX_HAS_ID : 0));
    put_segment(self, &trace->first);
    put(self, trace->start);
    put(self, trace->length);
    put(self, zor_zigzag(trace->stamp - self->stamp));
    put(self, (uint32_t)about->pid);
    put(self, (uint32_t)about->tid);
    put(self, *LODE_ARRAY_AT(&self->rec->methods, uint32_t, track));
    if (zor_id_is_known(id))
        self->has_failed = self->has_failed || !lode_zor_index_put_bytes(&self->block, &id, sizeof id);
    self->stamp = trace->stamp;
}

static void put_blocks(struct writing *self)
{
    const struct zor_recording *rec = self->rec;
    for (uint32_t i = 0; i < rec->base.track_count && !self->has_failed; i++) {
        put_trace(self, i);
        if ((i + 1) % ZOR_INDEX_BLOCK == 0 || i + 1 == rec->base.track_count)
            end_block(self);
    }
    for (size_t i = 0; i < rec->segments.count && !self->has_failed; i++) {
        put_segment(self, LODE_ARRAY_AT(&rec->segments, struct zor_segment, i));
        if ((i + 1) % ZOR_INDEX_BLOCK == 0 || i + 1 == rec->segments.count)
            end_block(self);
    }
}

/* ---- the whole store ---- */

static void put_blob(struct writing *self, const struct lode_blob *blob)
{
    put(self, blob->size);
    self->has_failed = self->has_failed || !lode_zor_index_put_bytes(&self->block, blob->bytes, blob->size);
}

static bool put_whole(struct writing *self, const struct zor_index *index)
{
    struct zor_index_head head = {.magic = ZOR_INDEX_MAGIC, .offset = self->file.size};
    put_blob(self, &index->key);
    put(self, self->rec->store_count);
    for (uint32_t i = 0; i < self->rec->store_count; i++)
        put(self,
            (self->rec->stores[i].has_page_layout ? 1 : 0) | (self->rec->stores[i].has_real_layout ? 2 : 0));
    put(self, self->rec->base.track_count);
    put(self, self->rec->segments.count);
    put_blob(self, &self->table);
    put_blob(self, &index->findings);
    head.size = self->block.size;
    head.checksum = lode_hash_fixed(self->block.bytes, self->block.size);
    return !self->has_failed && head.size <= ZOR_INDEX_WHOLE_MOST &&
           lode_output_write(&self->file, self->block.bytes, self->block.size, NULL) == LODE_OK &&
           lode_output_flush(&self->file, NULL) == LODE_OK &&
           lode_output_write_at(&self->file, 0, &head, sizeof head, NULL) == LODE_OK;
}

/* ---- the file ---- */

static bool write_all(struct writing *self, const struct zor_index *index)
{
    static const struct zor_index_head none;
    if (fchmod(self->file.fd, MODE_PRIVATE) != 0 ||
        lode_output_write(&self->file, &none, sizeof none, NULL) != LODE_OK)
        return false;
    put_blocks(self);
    return put_whole(self, index);
}

static bool write_file(struct writing *self, const struct zor_index *index, const char *path)
{
    bool done = lode_output_create_file(&self->output, path, true, NULL) == LODE_OK;
    if (done && lode_output_file_single(&self->file, &self->output, NULL) == LODE_OK) {
        done = write_all(self, index);
        if (done)
            done = lode_output_file_close(&self->file, NULL) == LODE_OK;
        else
            lode_output_file_abandon(&self->file);
        /* The files may have changed while they were read. */
        done = done && lode_zor_index_is_current(index, &self->rec->folder) &&
               lode_output_commit(&self->output, NULL) == LODE_OK;
    } else {
        done = false;
    }
    lode_output_close(&self->output);
    return done;
}

void lode_zor_index_write(const struct zor_index *index, const struct zor_recording *rec)
{
    struct writing self = {.rec = rec, .output = LODE_OUTPUT_INIT};
    char name[ZOR_INDEX_NAME_SIZE], path[PATH_SIZE];
    if (index->finding_count > ZOR_INDEX_FINDINGS_MOST || !lode_zor_index_is_current(index, &rec->folder) ||
        !lode_zor_index_name(&rec->folder, name) ||
        snprintf(path, sizeof path, "%s/%s", index->directory, name) >= (int)sizeof path)
        return;
    int directory = lode_cache_directory(index->directory, true);
    if (directory < 0)
        return;
    if (write_file(&self, index, path))
        lode_cache_trim(directory,
                        &(struct lode_cache_kind){ZOR_INDEX_PREFIX, ZOR_INDEX_SUFFIX, ZOR_INDEX_ALL_MOST},
                        name);
    close(directory);
    lode_blob_free(&self.block);
    lode_blob_free(&self.table);
}
