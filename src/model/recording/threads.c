/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recording/threads.h"

#include "base/error.h"
#include <stdbool.h>
#include <stdlib.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By process; tracks without a thread come first, by time, then the others by thread. */
static int compare(const void *left, const void *right)
{
    const struct lode_track_place *a = left, *b = right;
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
    int32_t last;                                   /* last synthetic one */
    const struct lode_track_place *recorded, *past; /* numbers in use, from the next candidate on */
};

/* The next unused number: there are fewer tracks than numbers. */
static int32_t make_up(struct threads *threads)
{
    int32_t next = threads->last + 1;
    for (; threads->recorded < threads->past && threads->recorded->tid <= next; threads->recorded++)
        next += threads->recorded->tid == next;
    threads->last = next;
    return next;
}

static int32_t take_thread(struct threads *threads, const struct lode_track_place *place)
{
    while (threads->busy.count > 0 && threads->busy.items[0].key <= place->begin) {
        int32_t tid = pop(&threads->busy);
        push(&threads->free, (uint64_t)tid, tid);
    }
    int32_t tid = threads->free.count > 0 ? pop(&threads->free) : make_up(threads);
    push(&threads->busy, place->end, tid);
    return tid;
}

/* The tracks of one process. */
static void place_process(lode_track *tracks, const struct lode_track_place *places, size_t count,
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
        lode_track *track = &tracks[places[i].track];
        track->pid = places[i].pid;
        track->tid = i < unknown ? take_thread(threads, &places[i]) : places[i].tid;
    }
}

/* Stores mostly have their requests in this order. */
static bool is_sorted(const struct lode_track_place *places, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare(&places[i - 1], &places[i]) > 0)
            return false;
    return true;
}

lode_status lode_track_places_assign(struct lode_track_place *places, size_t count, lode_track *tracks,
                                     lode_error *error)
{
    struct threads threads = {.busy.items = calloc(count + 1, sizeof(struct thread)),
                              .free.items = calloc(count + 1, sizeof(struct thread))};
    bool has_memory = threads.busy.items && threads.free.items;
    if (has_memory && !is_sorted(places, count))
        qsort(places, count, sizeof *places, compare);
    for (size_t i = 0, next; i < count && has_memory; i = next) {
        for (next = i + 1; next < count && places[next].pid == places[i].pid;)
            next++;
        place_process(tracks, places + i, next - i, &threads);
    }
    free(threads.busy.items);
    free(threads.free.items);
    return has_memory ? LODE_OK : lode_fail_memory(error);
}
