/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf-cpuN.dat: records of the kernel, { u32 type, u16 misc, u16 size } and data of the type. Each
 * file is chronological but for a few records: merge files by time, then sort each thread.
 */
#include "format/uftrace/perf.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/uftrace/rules.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    RECORD_HEADER = 8,
    RECORD_COMM = 3,    /* u32 pid, tid; char name[], padded to 8; then the sample id */
    RECORD_EXIT = 4,    /* u32 pid, parent pid, tid, parent tid; u64 time; then the sample id */
    RECORD_FORK = 7,    /* the same */
    RECORD_SWITCH = 14, /* the sample id alone */
    SAMPLE_ID = 16,     /* u32 pid, tid; u64 time */
    MISC_OUT = 0x2000,
    MISC_PREEMPTED = 0x4000
};

/* Larger event arrays are in a temporary file, so that memory does not grow with the recording. */
#define MEMORY_MAX ((size_t)64 << 20)

struct item {
    uint64_t time;
    int32_t tid;
    enum lode_uft_perf_kind kind;
    struct lode_range name;
};

/* A file that is being read. */
struct stream {
    const struct lode_uft_perf_file *file;
    uint64_t at;
    uint64_t end; /* of the valid part */
    struct item item;
};

struct reader {
    struct lode_uft_perf *perf;
    struct stream *streams; /* by cpu */
    size_t stream_count;
    const int32_t *tids;
    size_t tid_count;
    bool big_endian;
    uint64_t *places; /* by tid: number of events, then the index of the next one */
    uint64_t event_count;
    size_t name_bytes, name_count;
    struct lode_report *report;
    lode_error *error;
};

/* ---- records ---- */

static uint32_t read32(const struct reader *self, const uint8_t *bytes)
{
    return self->big_endian ? get_u32be(bytes) : get_u32le(bytes);
}

static uint64_t read64(const struct reader *self, const uint8_t *bytes)
{
    return self->big_endian ? get_u64be(bytes) : get_u64le(bytes);
}

static uint16_t read16(const struct reader *self, const uint8_t *bytes)
{
    return self->big_endian ? get_u16be(bytes) : get_u16le(bytes);
}

/* The minimal size of a record of this type. */
static uint64_t least_size(uint32_t type)
{
    if (type == RECORD_SWITCH)
        return RECORD_HEADER + SAMPLE_ID;
    if (type == RECORD_COMM)
        return RECORD_HEADER + 8 + SAMPLE_ID;
    return type == RECORD_EXIT || type == RECORD_FORK ? RECORD_HEADER + 24 : RECORD_HEADER;
}

/* Decodes a valid record; false if it is not needed. */
static bool read_item(const struct reader *self, struct lode_range record, struct item *item)
{
    const uint8_t *bytes = record.data;
    uint32_t type = read32(self, bytes), misc = read16(self, bytes + 4);
    switch (type) {
    case RECORD_SWITCH:
        item->kind =
            misc & MISC_OUT ? misc & MISC_PREEMPTED ? UFT_PERF_OUT_PREEMPTED : UFT_PERF_OUT : UFT_PERF_IN;
        item->tid = (int32_t)read32(self, bytes + 12);
        item->time = read64(self, bytes + 16);
        return true;
    case RECORD_FORK:
    case RECORD_EXIT:
        item->kind = type == RECORD_FORK ? UFT_PERF_NEW : UFT_PERF_EXIT;
        item->tid = (int32_t)read32(self, bytes + 16);
        item->time = read64(self, bytes + 24);
        return true;
    case RECORD_COMM:
        item->kind = UFT_PERF_NAME;
        item->tid = (int32_t)read32(self, bytes + 12);
        item->time = read64(self, bytes + record.size - 8);
        item->name = (struct lode_range){bytes + 16, record.size - 16 - SAMPLE_ID};
        item->name.size = strnlen((const char *)item->name.data, (size_t)item->name.size);
        return true;
    default:
        return false;
    }
}

/* The index of a wanted tid; SIZE_MAX for others. */
static size_t find_tid(const struct reader *self, int32_t tid)
{
    size_t low = 0, high = self->tid_count;
    LODE_BISECT(low, high, self->tids[middle] < tid);
    return low < self->tid_count && self->tids[low] == tid ? low : SIZE_MAX;
}

/* The next event of a wanted thread, in valid records. */
static bool next_item(const struct reader *self, struct stream *stream, size_t *thread)
{
    const uint8_t *bytes = stream->file->bytes.data;
    while (stream->at < stream->end) {
        struct lode_range record = {bytes + stream->at, read16(self, bytes + stream->at + 6)};
        stream->at += record.size;
        if (!read_item(self, record, &stream->item))
            continue;
        *thread = find_tid(self, stream->item.tid);
        if (*thread != SIZE_MAX)
            return true;
    }
    return false;
}

/* ---- counting ---- */

/* Finds the end of the valid records of a file. */
static lode_status find_end(struct reader *self, struct stream *stream)
{
    struct lode_range bytes = stream->file->bytes, header, record;
    while (lode_range_part(bytes, stream->end, RECORD_HEADER, &header)) {
        uint32_t type = read32(self, header.data);
        uint64_t size = read16(self, header.data + 6);
        if (size < least_size(type))
            return lode_report_add(self->report, UFT_PERF_RECORD, stream->file->name, stream->end,
                                   "a record of type %u has %u bytes", type, (unsigned)size);
        if (!lode_range_part(bytes, stream->end, size, &record))
            break;
        stream->end += size;
    }
    if (stream->end == bytes.size)
        return LODE_OK;
    return lode_report_add(self->report, UFT_PERF_CUT, stream->file->name, stream->end,
                           "the last record is truncated");
}

static lode_status count_events(struct reader *self)
{
    for (size_t i = 0; i < self->stream_count; i++) {
        struct stream *stream = &self->streams[i];
        size_t thread;
        LODE_TRY(find_end(self, stream));
        while (next_item(self, stream, &thread)) {
            self->places[thread]++;
            self->event_count++;
            if (stream->item.kind == UFT_PERF_NAME) {
                self->name_count++;
                self->name_bytes += (size_t)stream->item.name.size + 1;
            }
        }
        stream->at = 0;
    }
    return LODE_OK;
}

/* ---- memory ---- */

static void *map_temporary(size_t size)
{
    int fd = open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    /* Allocate blocks now: a full disk must not cause a signal later. */
    void *memory = MAP_FAILED;
    if (posix_fallocate(fd, 0, (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Allocates in memory, or a large size in a temporary file; `mapped` is 0 in memory. */
static void *take_room(size_t size, size_t *mapped)
{
    void *room = size > MEMORY_MAX ? map_temporary(size) : NULL;
    *mapped = room ? size : 0;
    return room ? room : malloc(size ? size : 1);
}

static void give_room_back(void *room, size_t mapped)
{
    if (mapped)
        munmap(room, mapped);
    else
        free(room);
}

static lode_status make_room(struct reader *self)
{
    struct lode_uft_perf *perf = self->perf;
    size_t bytes, threads = 0, heads = self->name_count * sizeof *perf->names;
    uint64_t first = 0;
    if (self->event_count > SIZE_MAX || self->name_count > UINT32_MAX ||
        !checked_mul_size((size_t)self->event_count, sizeof *perf->events, &bytes))
        return lode_fail_memory(self->error);
    perf->events = take_room(bytes, &perf->mapped);
    perf->threads = calloc(self->tid_count + 1, sizeof *perf->threads);
    perf->names = malloc(heads + self->name_bytes + 1);
    LODE_TRY_ALLOC(perf->events && perf->threads && perf->names, self->error);
    for (size_t i = 0; i < self->tid_count; i++) {
        uint64_t count = self->places[i];
        self->places[i] = first;
        if (count > 0)
            perf->threads[threads++] = (struct lode_uft_perf_thread){self->tids[i], first, count};
        first += count;
    }
    perf->thread_count = (uint32_t)threads;
    return LODE_OK;
}

/* ---- placing ---- */

/* A heap of stream indices, ordered by the time of the next event. */
struct heap {
    struct stream *streams;
    size_t *threads; /* of the next event of each stream */
    size_t *items;
    size_t count;
};

static bool is_before(const struct heap *heap, size_t a, size_t b)
{
    uint64_t left = heap->streams[a].item.time, right = heap->streams[b].item.time;
    return left < right || (left == right && a < b);
}

static void sift_down(struct heap *heap, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
            if (is_before(heap, heap->items[child], heap->items[least]))
                least = child;
        if (least == at)
            return;
        size_t swapped = heap->items[at];
        heap->items[at] = heap->items[least];
        heap->items[least] = swapped;
        at = least;
    }
}

static void place(struct reader *self, const struct stream *stream, size_t thread, char **text)
{
    struct lode_uft_perf *perf = self->perf;
    const struct item *item = &stream->item;
    uint32_t value = stream->file->cpu;
    if (item->kind == UFT_PERF_NAME) {
        value = perf->name_count;
        memcpy(*text, item->name.data, (size_t)item->name.size);
        (*text)[item->name.size] = '\0';
        perf->names[perf->name_count++] = *text;
        *text += item->name.size + 1;
    }
    perf->events[self->places[thread]++] = (struct lode_uft_perf_event){item->time, item->kind, value};
}

static void place_events(struct reader *self, struct heap *heap)
{
    char *text = (char *)(self->perf->names + self->name_count);
    for (size_t i = 0; i < self->stream_count; i++)
        if (next_item(self, &self->streams[i], &heap->threads[i]))
            heap->items[heap->count++] = i;
    for (size_t i = heap->count; i > 0; i--)
        sift_down(heap, i - 1);
    while (heap->count > 0) {
        size_t first = heap->items[0];
        place(self, &self->streams[first], heap->threads[first], &text);
        if (!next_item(self, &self->streams[first], &heap->threads[first]))
            heap->items[0] = heap->items[--heap->count];
        sift_down(heap, 0);
    }
}

/* ---- order ---- */

static void merge_halves(const struct lode_uft_perf_event *from, struct lode_uft_perf_event *to,
                         uint64_t middle, uint64_t count)
{
    uint64_t left = 0, right = middle;
    for (uint64_t i = 0; i < count; i++) {
        bool is_right = left == middle || (right < count && from[right].time < from[left].time);
        to[i] = from[is_right ? right++ : left++];
    }
}

/* Sorts by time, stably. `spare` has space for as many events. */
static void sort_events(struct lode_uft_perf_event *events, struct lode_uft_perf_event *spare, uint64_t count)
{
    struct lode_uft_perf_event *from = events, *to = spare;
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t start = 0; start < count; start += 2 * width) {
            uint64_t left = count - start;
            uint64_t middle = left < width ? left : width;
            merge_halves(from + start, to + start, middle, left < 2 * width ? left : 2 * width);
        }
        struct lode_uft_perf_event *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != events)
        memcpy(events, from, (size_t)count * sizeof *events);
}

/* Insertion sort for events that are slightly late; false if it would take long. */
static bool sort_nearly_sorted(struct lode_uft_perf_event *events, uint64_t count)
{
    uint64_t budget = 4 * count;
    for (uint64_t i = 1; i < count; i++) {
        struct lode_uft_perf_event event = events[i];
        uint64_t to = i;
        for (; to > 0 && events[to - 1].time > event.time && budget > 0; to--, budget--)
            events[to] = events[to - 1];
        events[to] = event;
    }
    return budget > 0;
}

/* The kernel writes some records shortly after others of a later time. */
static lode_status order_threads(struct reader *self)
{
    const struct lode_uft_perf *perf = self->perf;
    for (uint32_t i = 0; i < perf->thread_count; i++) {
        struct lode_uft_perf_event *events = perf->events + perf->threads[i].first;
        uint64_t count = perf->threads[i].count;
        size_t mapped;
        if (sort_nearly_sorted(events, count))
            continue;
        struct lode_uft_perf_event *spare = take_room((size_t)count * sizeof *spare, &mapped);
        LODE_TRY_ALLOC(spare, self->error);
        sort_events(events, spare, count);
        give_room_back(spare, mapped);
    }
    return LODE_OK;
}

/* ---- all ---- */

static int compare_streams(const void *left, const void *right)
{
    const struct stream *a = left, *b = right;
    if (a->file->cpu != b->file->cpu)
        return a->file->cpu < b->file->cpu ? -1 : 1;
    return a->file < b->file ? -1 : a->file > b->file;
}

static lode_status read_all(struct reader *self)
{
    struct heap heap = {.streams = self->streams};
    LODE_TRY(count_events(self));
    LODE_TRY(make_room(self));
    heap.threads = calloc(self->stream_count + 1, sizeof *heap.threads);
    heap.items = calloc(self->stream_count + 1, sizeof *heap.items);
    bool has_memory = heap.threads && heap.items;
    if (has_memory)
        place_events(self, &heap);
    free(heap.threads);
    free(heap.items);
    return has_memory ? order_threads(self) : lode_fail_memory(self->error);
}

lode_status lode_uft_perf_read(struct lode_uft_perf *out, const struct lode_uft_perf_file *files,
                               size_t file_count, const int32_t *tids, size_t tid_count, bool big_endian,
                               struct lode_report *report, lode_error *error)
{
    struct reader self = {.perf = out,
                          .stream_count = file_count,
                          .tids = tids,
                          .tid_count = tid_count,
                          .big_endian = big_endian,
                          .report = report,
                          .error = error};
    *out = (struct lode_uft_perf){0};
    self.streams = calloc(file_count + 1, sizeof *self.streams);
    self.places = calloc(tid_count + 1, sizeof *self.places);
    lode_status status = LODE_OK;
    if (self.streams == NULL || self.places == NULL || tid_count >= UINT32_MAX) {
        status = lode_fail_memory(error);
    } else {
        for (size_t i = 0; i < file_count; i++)
            self.streams[i].file = &files[i];
        qsort(self.streams, file_count, sizeof *self.streams, compare_streams);
        status = read_all(&self);
    }
    free(self.streams);
    free(self.places);
    if (status != LODE_OK)
        lode_uft_perf_free(out);
    return status;
}

void lode_uft_perf_free(struct lode_uft_perf *perf)
{
    give_room_back(perf->events, perf->mapped);
    free(perf->threads);
    free(perf->names);
    *perf = (struct lode_uft_perf){0};
}

const struct lode_uft_perf_thread *lode_uft_perf_find(const struct lode_uft_perf *perf, int32_t tid)
{
    uint32_t low = 0, high = perf->thread_count;
    LODE_BISECT(low, high, perf->threads[middle].tid < tid);
    return low < perf->thread_count && perf->threads[low].tid == tid ? &perf->threads[low] : NULL;
}
