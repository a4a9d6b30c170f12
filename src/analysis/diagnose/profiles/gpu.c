/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When GPUs work, from the trace lines of their streams: a sample says what a stream does from then
 * on. Streams of one GPU may overlap; the sum of their busy times is then an upper bound.
 */
#include "analysis/diagnose/profiles/facts.h"

#include "base/comm/ranks.h"
#include "base/compare.h"
#include "model/database/trace.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDS_MAX = 16
};

struct stream {
    uint32_t node, rank, device, line;
};

/* Nanoseconds; all 0 if no time passes. */
struct device {
    uint64_t span, busy;
};

struct reading {
    struct lode_diagnosis *d;
    struct lode_array streams; /* of struct stream */
    struct device *devices;
    size_t *starts; /* by device: its first stream; then the end */
    size_t device_count;
    uint32_t *lines;      /* of CPU threads, by profile */
    uint64_t first, last; /* of all lines */
    uint64_t bytes;
    uint64_t *meanwhile; /* by index of context: what masters do while their only stream is idle */
};

static int compare_streams(const void *left, const void *right)
{
    const struct stream *a = left, *b = right;
    if (a->node != b->node || a->rank != b->rank)
        return a->node != b->node ? LODE_COMPARE(a->node, b->node) : LODE_COMPARE(a->rank, b->rank);
    return a->device != b->device ? LODE_COMPARE(a->device, b->device) : LODE_COMPARE(a->line, b->line);
}

static bool is_of_same_device(const struct stream *a, const struct stream *b)
{
    return a->node == b->node && a->rank == b->rank && a->device == b->device;
}

/* Whether a profile is of a GPU stream, and which. */
static lode_status read_stream(const lode_database *db, uint32_t profile, struct stream *stream,
                               bool *is_stream, lode_error *error)
{
    lode_id ids[IDS_MAX];
    uint32_t count;
    *is_stream = false;
    stream->rank = UINT32_MAX;
    LODE_TRY(lode_profile_ids(db, profile, ids, IDS_MAX, &count, error));
    for (uint32_t i = 0; i < count && i < IDS_MAX; i++) {
        const char *kind = lode_database_id_kind_name(db, ids[i].kind);
        if (kind == NULL)
            continue;
        if (strcmp(kind, "NODE") == 0)
            stream->node = ids[i].logical;
        else if (strcmp(kind, "RANK") == 0)
            stream->rank = ids[i].logical;
        else if (strcmp(kind, "GPUDEVICE") == 0 || strcmp(kind, "GPUCONTEXT") == 0)
            stream->device = ids[i].logical;
        else if (strcmp(kind, "GPUSTREAM") == 0)
            *is_stream = true;
    }
    return LODE_OK;
}

static lode_status take_line(struct reading *self, uint32_t number, lode_error *error)
{
    const lode_database *db = self->d->profiles->db;
    lode_trace_line line;
    struct stream found = {.line = number};
    bool is_stream;
    LODE_TRY(lode_database_trace_line(db, number, &line, error));
    if (line.sample_count == 0 || line.profile == 0 || line.profile >= db->profile_count)
        return LODE_OK;
    uint64_t begin = trace_time(&line, 0), end = trace_time(&line, line.sample_count - 1);
    self->first = begin < self->first ? begin : self->first;
    self->last = end > self->last ? end : self->last;
    LODE_TRY(read_stream(db, line.profile, &found, &is_stream, error));
    if (!is_stream) {
        self->lines[line.profile] = number + 1;
        return LODE_OK;
    }
    struct stream *stream = lode_array_push(&self->streams);
    LODE_TRY_ALLOC(stream, error);
    *stream = found;
    self->bytes += line.sample_count * TRACE_SAMPLE_SIZE;
    return LODE_OK;
}

/* The trace line of the first thread of a rank; no samples: there is none. */
static lode_status find_master(const struct reading *self, const struct stream *stream, lode_trace_line *line,
                               lode_error *error)
{
    const struct profile_facts *facts = self->d->profiles;
    *line = (lode_trace_line){0};
    for (size_t i = 0; i < facts->rank_count; i++) {
        const struct thread *master = &facts->threads[facts->ranks[i].first];
        if (master->node == stream->node && master->rank == stream->rank && self->lines[master->profile])
            return lode_database_trace_line(facts->db, self->lines[master->profile] - 1, line, error);
    }
    return LODE_OK;
}

/* Adds the busy time of a stream; `cpu`: whose samples tell what happens meanwhile. */
static lode_status add_stream(struct reading *self, const struct stream *stream, const lode_trace_line *cpu,
                              uint64_t bounds[2], uint64_t *busy, lode_error *error)
{
    lode_trace_line line;
    uint64_t at = 1, done = 0;
    LODE_TRY(lode_database_trace_line(self->d->profiles->db, stream->line, &line, error));
    for (uint64_t i = 0; i < line.sample_count; i++) {
        uint64_t from = trace_time(&line, i);
        bounds[0] = from < bounds[0] ? from : bounds[0];
        bounds[1] = from > bounds[1] ? from : bounds[1];
        uint64_t to = i + 1 < line.sample_count ? trace_time(&line, i + 1) : from;
        if (to <= from || from < done)
            continue;
        done = to;
        if (trace_context(&line, i) != 0)
            *busy += to - from;
        else if (cpu)
            at = lode_diagnose_blame_interval(self->d, self->meanwhile, cpu, at, from, to);
    }
    return LODE_OK;
}

static lode_status read_device(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct reading *self = context;
    struct device *device = &self->devices[item];
    const struct stream *streams = LODE_ARRAY_AT(&self->streams, struct stream, self->starts[item]);
    size_t count = self->starts[item + 1] - self->starts[item];
    uint64_t bounds[2] = {UINT64_MAX, 0}, busy = 0;
    lode_trace_line cpu = {0};
    (void)worker;
    if (count == 1)
        LODE_TRY(find_master(self, streams, &cpu, error));
    for (size_t i = 0; i < count; i++)
        LODE_TRY(add_stream(self, &streams[i], cpu.sample_count > 1 ? &cpu : NULL, bounds, &busy, error));
    if (bounds[1] > bounds[0])
        *device = (struct device){bounds[1] - bounds[0], busy};
    return LODE_OK;
}

static void find_devices(struct reading *self)
{
    const struct stream *streams = self->streams.items;
    size_t count = self->streams.count;
    if (count)
        qsort(self->streams.items, count, sizeof *streams, compare_streams);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !is_of_same_device(&streams[self->starts[self->device_count - 1]], &streams[i]))
            self->starts[self->device_count++] = i;
    self->starts[self->device_count] = count;
}

/* Samples of a GPU. */
static uint64_t weight_of(const void *context, uint64_t item)
{
    const struct reading *self = context;
    uint64_t weight = 1;
    for (size_t i = self->starts[item]; i < self->starts[item + 1]; i++) {
        const struct stream *stream = LODE_ARRAY_AT(&self->streams, struct stream, i);
        lode_trace_line line;
        if (lode_database_trace_line(self->d->profiles->db, stream->line, &line, NULL) == LODE_OK)
            weight += line.sample_count;
    }
    return weight;
}

/* One after the other: they share sums. Ranks have sums of their own. */
static lode_status read_devices(struct reading *self, lode_error *error)
{
    struct lode_comm *comm = self->d->options.comm;
    struct lode_job job = {.work = read_device, .context = self};
    const struct lode_share share = lode_ranks_share(comm, self->device_count, weight_of, self);
    LODE_TRY(lode_ranks_job(comm, 1, &job, &share, error));
    LODE_TRY(lode_ranks_collect(comm, self->devices, self->device_count * 2, error));
    return lode_ranks_add_up(comm, self->meanwhile, self->d->profiles->db->tree.count, error);
}

static lode_status add_devices(struct reading *self, lode_error *error)
{
    struct gpu *gpu = &self->d->profiles->gpu;
    self->starts = calloc(self->streams.count + 1, sizeof *self->starts);
    self->devices = calloc(self->streams.count + 1, sizeof *self->devices);
    LODE_TRY_ALLOC(self->starts && self->devices, error);
    find_devices(self);
    LODE_TRY(read_devices(self, error));
    for (size_t i = 0; i < self->device_count; i++) {
        const struct device *device = &self->devices[i];
        gpu->devices += device->span > 0;
        gpu->span += (double)device->span * 1e-9;
        gpu->busy += (double)(device->busy < device->span ? device->busy : device->span) * 1e-9;
    }
    return LODE_OK;
}

static lode_status collect(const struct reading *self, struct gpu *gpu, lode_error *error)
{
    const lode_database *db = self->d->profiles->db;
    LODE_TRY(lode_cost_make(&gpu->meanwhile, db, error));
    for (uint32_t i = 0; i < db->tree.count; i++)
        gpu->meanwhile->own[i] = (double)self->meanwhile[i] * 1e-9;
    return LODE_OK;
}

static lode_status read_lines(struct reading *self, lode_error *error)
{
    const lode_database *db = self->d->profiles->db;
    struct gpu *gpu = &self->d->profiles->gpu;
    self->lines = calloc((size_t)db->profile_count + 1, sizeof *self->lines);
    self->meanwhile = calloc((size_t)db->tree.count + 1, sizeof *self->meanwhile);
    LODE_TRY_ALLOC(self->lines && self->meanwhile, error);
    LODE_TRY(lode_trace_lines_fit(db, error));
    for (uint32_t i = 0; i < lode_database_trace_count(db); i++)
        LODE_TRY(take_line(self, i, error));
    gpu->run = self->last > self->first ? (double)(self->last - self->first) * 1e-9 : 0;
    gpu->is_too_large = self->bytes > lode_diagnose_limit(self->d);
    if (gpu->is_too_large)
        return LODE_OK;
    LODE_TRY(add_devices(self, error));
    return collect(self, gpu, error);
}

lode_status lode_diagnose_gpu(struct lode_diagnosis *d, lode_error *error)
{
    struct reading self = {.d = d, .first = UINT64_MAX};
    if (d->profiles->db->profile_count == 0 ||
        !lode_diagnose_metric(d, "GPUOP (sec)", &d->profiles->gpu.operations))
        return LODE_OK;
    lode_array_init(&self.streams, sizeof(struct stream), UINT32_MAX);
    lode_status status = read_lines(&self, error);
    lode_array_free(&self.streams);
    free(self.lines);
    free(self.meanwhile);
    free(self.starts);
    free(self.devices);
    if (d->run.seconds > 0)
        d->profiles->gpu.run = d->run.seconds;
    return status;
}
