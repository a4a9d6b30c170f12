/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces as tracks: their begin, name and thread. If the thread was not recorded, each trace is
 * assigned the lowest synthetic thread that is free when it begins.
 */
#include "base/error.h"
#include "format/zorka/zorka.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    ID_SIZE = 33
};

/* Times are relative to the first time stamp. */
static void place_traces(struct zor_recording *rec)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < rec->traces.count; i++) {
        uint64_t stamp = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i)->stamp;
        first = stamp > 0 && stamp < first ? stamp : first;
    }
    if (first < UINT64_MAX)
        rec->base.utc_offset = (int64_t)(first * 1000000);
    for (size_t i = 0; i < rec->traces.count; i++) {
        struct zor_trace *trace = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i);
        trace->begin = trace->stamp > 0 ? (trace->stamp - first) * 1000000 : trace->start << ZOR_TICK_SHIFT;
    }
}

/* ---- synthetic threads ---- */

/* A trace and its thread. */
struct place {
    uint64_t begin, end;
    uint32_t track;
    int32_t pid, tid;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By process; traces without a thread come first, by time, then the others by thread. */
static int compare(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    int order = compare_numbers(a->begin, b->begin);
    return order != 0 ? order : compare_numbers(a->track, b->track);
}

/* A heap of threads: busy ones by their end, free ones by their number. */
struct heap {
    struct thread {
        uint64_t key;
        int32_t tid;
    } * items;
    size_t count;
};

static bool is_less(const struct heap *heap, size_t a, size_t b)
{
    const struct thread *left = &heap->items[a], *right = &heap->items[b];
    return left->key != right->key ? left->key < right->key : left->tid < right->tid;
}

static void swap(struct heap *heap, size_t a, size_t b)
{
    struct thread item = heap->items[a];
    heap->items[a] = heap->items[b];
    heap->items[b] = item;
}

static void push(struct heap *heap, uint64_t key, int32_t tid)
{
    size_t at = heap->count++;
    heap->items[at] = (struct thread){key, tid};
    for (; at > 0 && is_less(heap, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(heap, at, (at - 1) / 2);
}

static int32_t pop(struct heap *heap)
{
    int32_t tid = heap->items[0].tid;
    heap->items[0] = heap->items[--heap->count];
    for (size_t at = 0, least;; at = least) {
        least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
            least = is_less(heap, child, least) ? child : least;
        if (least == at)
            return tid;
        swap(heap, at, least);
    }
}

/* Assigns the threads of one process. */
struct threads {
    struct heap busy, free;
    int32_t last;                        /* last synthetic one */
    const struct place *recorded, *past; /* numbers in use, from the next candidate on */
};

/* The next unused number: there are fewer traces than numbers. */
static int32_t make_up(struct threads *threads)
{
    int32_t next = threads->last + 1;
    for (; threads->recorded < threads->past && threads->recorded->tid <= next; threads->recorded++)
        next += threads->recorded->tid == next;
    threads->last = next;
    return next;
}

static int32_t take_thread(struct threads *threads, const struct place *place)
{
    while (threads->busy.count > 0 && threads->busy.items[0].key <= place->begin) {
        int32_t tid = pop(&threads->busy);
        push(&threads->free, (uint64_t)tid, tid);
    }
    int32_t tid = threads->free.count > 0 ? pop(&threads->free) : make_up(threads);
    push(&threads->busy, place->end, tid);
    return tid;
}

/* The traces of one process. */
static void place_process(const struct zor_recording *rec, const struct place *places, size_t count,
                          struct threads *threads)
{
    size_t unknown = 0;
    while (unknown < count && places[unknown].tid == 0)
        unknown++;
    threads->busy.count = threads->free.count = 0;
    threads->last = 0;
    threads->recorded = places + unknown;
    threads->past = places + count;
    for (size_t i = 0; i < count; i++) {
        lode_track *track = &rec->base.tracks[places[i].track];
        track->pid = places[i].pid;
        track->tid = i < unknown ? take_thread(threads, &places[i]) : places[i].tid;
    }
}

static lode_status place_on_threads(const struct zor_recording *rec, lode_error *error)
{
    size_t count = rec->traces.count;
    struct place *places = calloc(count + 1, sizeof *places);
    struct threads threads = {.busy.items = calloc(count + 1, sizeof(struct thread)),
                              .free.items = calloc(count + 1, sizeof(struct thread))};
    bool has_memory = places && threads.busy.items && threads.free.items;
    for (size_t i = 0; i < count && has_memory; i++) {
        const struct zor_trace *trace = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i);
        int32_t pid = trace->pid > 0 ? trace->pid : (int32_t)rec->stores[trace->store].number;
        places[i] = (struct place){trace->begin, zor_end_of(trace), (uint32_t)i, pid, trace->tid};
    }
    if (has_memory)
        qsort(places, count, sizeof *places, compare);
    for (size_t i = 0, next; i < count && has_memory; i = next) {
        for (next = i + 1; next < count && places[next].pid == places[i].pid;)
            next++;
        place_process(rec, places + i, next - i, &threads);
    }
    free(threads.busy.items);
    free(threads.free.items);
    free(places);
    return has_memory ? LODE_OK : lode_fail_memory(error);
}

/* ---- tracks ---- */

static const char *id_of(struct lode_arena *arena, struct zor_id id)
{
    if (!zor_id_is_known(id))
        return "";
    char *digits = lode_arena_alloc(arena, ID_SIZE, 1);
    if (digits)
        snprintf(digits, ID_SIZE, "%016llx%016llx", (unsigned long long)id.high, (unsigned long long)id.low);
    return digits;
}

lode_status lode_zor_make_tracks(struct zor_recording *rec, lode_error *error)
{
    size_t count = rec->traces.count;
    struct lode_arena *arena = &rec->base.arena;
    bool is_known;
    place_traces(rec);
    rec->base.tracks = lode_arena_alloc(arena, count, sizeof *rec->base.tracks);
    LODE_TRY_ALLOC(rec->base.tracks, error);
    rec->base.track_count = (uint32_t)count;
    rec->base.has_requests = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct zor_trace *trace = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i);
        /* All traces of the method share its name. */
        const lode_function *function = lode_zor_function(rec, trace->store, trace->method, &is_known);
        const char *id = id_of(arena, trace->id);
        LODE_TRY_ALLOC(function && id, error);
        rec->base.tracks[i] = (lode_track){.index = i,
                                           .name = function->name,
                                           .program = rec->stores[trace->store].name,
                                           .bytes = trace->bytes,
                                           .id = id};
    }
    return place_on_threads(rec, error);
}
