/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recording/threads.h"

#include "base/error.h"
#include <stdbool.h>
#include <stdlib.h>

/* Small, for there may be millions; its process and thread are those of the track. */
struct place {
    uint64_t begin;
    uint32_t track;
};

/* What to assign, and to what. */
struct assigning {
    lode_track *tracks;
    lode_track_interval_fn interval;
    const void *user;
    bool is_uniform; /* one process, and no thread was recorded */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By process; tracks without a thread come first, by time, then the others by thread. */
static int compare(const void *left, const void *right, void *argument)
{
    const struct place *a = left, *b = right;
    const struct assigning *self = argument;
    const lode_track *of_a = &self->tracks[a->track], *of_b = &self->tracks[b->track];
    if (!self->is_uniform && of_a->pid != of_b->pid)
        return of_a->pid < of_b->pid ? -1 : 1;
    if (!self->is_uniform && of_a->tid != of_b->tid)
        return of_a->tid < of_b->tid ? -1 : 1;
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
    const struct place *recorded, *past; /* tracks with numbers in use, from the next one on */
};

/* The next unused number: there are fewer tracks than numbers. */
static int32_t make_up(const struct assigning *self, struct threads *threads)
{
    int32_t next = threads->last + 1;
    for (; threads->recorded < threads->past; threads->recorded++) {
        int32_t recorded = self->tracks[threads->recorded->track].tid;
        if (recorded > next)
            break;
        next += recorded == next;
    }
    threads->last = next;
    return next;
}

static int32_t take_thread(const struct assigning *self, struct threads *threads, const struct place *place)
{
    uint64_t begin, end;
    self->interval(self->user, place->track, &begin, &end);
    while (threads->busy.count > 0 && threads->busy.items[0].key <= place->begin) {
        int32_t tid = pop(&threads->busy);
        push(&threads->free, (uint64_t)tid, tid);
    }
    int32_t tid = threads->free.count > 0 ? pop(&threads->free) : make_up(self, threads);
    push(&threads->busy, end, tid);
    return tid;
}

/* The tracks of one process. */
static void place_process(const struct assigning *self, const struct place *places, size_t count,
                          struct threads *threads)
{
    size_t unknown = 0;
    while (unknown < count && self->tracks[places[unknown].track].tid == 0)
        unknown++;
    threads->busy.count = threads->free.count = 0;
    threads->last = 0;
    threads->recorded = places + unknown;
    threads->past = places + count;
    for (size_t i = 0; i < unknown; i++)
        self->tracks[places[i].track].tid = take_thread(self, threads, &places[i]);
}

/* Stores mostly have their requests in this order. */
static void sort(struct assigning *self, struct place *places, uint32_t count)
{
    bool is_sorted = true;
    for (uint32_t i = 1; i < count && is_sorted; i++)
        is_sorted = compare(&places[i - 1], &places[i], self) < 0;
    if (!is_sorted)
        qsort_r(places, count, sizeof *places, compare, self);
}

static void list_places(struct assigning *self, struct place *places, uint32_t count)
{
    uint64_t end;
    self->is_uniform = true;
    for (uint32_t i = 0; i < count; i++) {
        places[i].track = i;
        self->interval(self->user, i, &places[i].begin, &end);
        self->is_uniform =
            self->is_uniform && self->tracks[i].tid == 0 && self->tracks[i].pid == self->tracks[0].pid;
    }
}

lode_status lode_tracks_assign(lode_track *tracks, uint32_t count, lode_track_interval_fn interval,
                               const void *user, lode_error *error)
{
    struct assigning self = {.tracks = tracks, .interval = interval, .user = user};
    struct place *places = malloc(((size_t)count + 1) * sizeof *places);
    /* Untouched, as far as threads are not busy at once. */
    struct threads threads = {.busy.items = calloc((size_t)count + 1, sizeof(struct thread)),
                              .free.items = calloc((size_t)count + 1, sizeof(struct thread))};
    bool has_memory = places && threads.busy.items && threads.free.items;
    if (has_memory) {
        list_places(&self, places, count);
        sort(&self, places, count);
    }
    for (size_t i = 0, next; i < count && has_memory; i = next) {
        int32_t pid = tracks[places[i].track].pid;
        for (next = i + 1; next < count && tracks[places[next].track].pid == pid;)
            next++;
        place_process(&self, places + i, next - i, &threads);
    }
    free(places);
    free(threads.busy.items);
    free(threads.free.items);
    return has_memory ? LODE_OK : lode_fail_memory(error);
}
