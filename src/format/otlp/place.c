/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts spans on tracks. A span is on the track of its parent if it lies inside of it and begins
 * when the siblings before it on that track have ended; else on a side track of its parent. Spans
 * that merely lie inside the time of a sibling are not below it: they are concurrent.
 */
#include "base/compare.h"
#include "base/error.h"
#include "base/text/count.h"
#include "format/otlp/otlp.h"
#include <stdlib.h>

/* A side track, and when its last span ends. */
struct side {
    uint64_t end;
    uint32_t track;
};

struct request {
    uint64_t begin;
    uint32_t trace, first, count; /* tracks, before they are ordered */
};

struct placing {
    struct otlp_opening *opening;
    struct otlp_recording *rec;
    struct otlp_family family;
    /* By span of a trace; as many as the largest one has. */
    uint32_t *track, *stack, *map;
    struct otlp_span *copy;
    uint32_t capacity;
    uint32_t *counts; /* by track of a trace */
    uint32_t count_capacity;
    struct lode_array sides;    /* struct side: a heap, of the children of one span */
    struct lode_array tracks;   /* struct otlp_track, by trace */
    struct lode_array requests; /* struct request */
    uint32_t track_count;       /* of this trace */
    uint64_t too_deep;
};

static uint32_t local(const struct placing *self, uint32_t span)
{
    return span - self->family.first;
}

/* ---- side tracks: a heap by end, then by number ---- */

static bool is_less(const struct side *a, const struct side *b)
{
    return a->end != b->end ? a->end < b->end : a->track < b->track;
}

static void swap(struct side *a, struct side *b)
{
    struct side item = *a;
    *a = *b;
    *b = item;
}

static void sink(struct side *heap, size_t count)
{
    for (size_t at = 0, least;; at = least) {
        least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            least = is_less(&heap[child], &heap[least]) ? child : least;
        if (least == at)
            return;
        swap(&heap[at], &heap[least]);
    }
}

static void rise(struct side *heap, size_t at)
{
    for (; at > 0 && is_less(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

/* The side track on which a span is: the one that has been free for longest, or a new one. */
static lode_status take_side(struct placing *self, const struct otlp_span *span, uint32_t *track)
{
    struct side *heap = self->sides.items;
    if (self->sides.count > 0 && heap[0].end <= span->begin) {
        *track = heap[0].track;
        heap[0].end = span->end;
        sink(heap, self->sides.count);
        return LODE_OK;
    }
    struct side *side = lode_array_push(&self->sides);
    LODE_TRY_ALLOC(side, self->opening->error);
    *track = self->track_count++;
    *side = (struct side){span->end, *track};
    rise(self->sides.items, self->sides.count - 1);
    return LODE_OK;
}

/* ---- a trace ---- */

/* Puts the children of a span on tracks; of OTLP_NO_SPAN, those without a parent. */
static lode_status place_children(struct placing *self, uint32_t index, uint32_t *pushed)
{
    struct otlp_span *spans = self->rec->spans;
    const struct otlp_family *family = &self->family;
    bool is_root = index == OTLP_NO_SPAN;
    const struct otlp_span *parent = is_root ? NULL : &spans[index];
    uint32_t own = is_root ? 0 : self->track[local(self, index)];
    uint64_t free_from = is_root ? 0 : parent->begin;
    self->sides.count = 0;
    for (uint32_t i = family->first_child[is_root ? family->count : local(self, index)]; i != OTLP_NO_SPAN;
         i = family->next[local(self, i)]) {
        struct otlp_span *span = &spans[i];
        bool is_deep = parent && parent->depth + 1 >= OTLP_DEPTH_MAX;
        bool is_nested = span->begin >= free_from && (parent == NULL || span->end <= parent->end) && !is_deep;
        self->too_deep += is_deep;
        self->track[local(self, i)] = own;
        span->depth = is_nested && parent ? parent->depth + 1 : 0;
        if (is_nested)
            free_from = span->end;
        else
            LODE_TRY(take_side(self, span, &self->track[local(self, i)]));
        self->stack[(*pushed)++] = i;
    }
    return LODE_OK;
}

static void reverse(uint32_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t item = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
}

/* Lists spans in family.order, callers first, and puts each on a track. */
static lode_status visit(struct placing *self)
{
    uint32_t depth = 0, visited = 0;
    self->track_count = 1;
    LODE_TRY(place_children(self, OTLP_NO_SPAN, &depth));
    reverse(self->stack, depth);
    while (depth > 0) {
        uint32_t span = self->stack[--depth], before = depth;
        self->family.order[visited++] = span;
        LODE_TRY(place_children(self, span, &depth));
        reverse(self->stack + before, depth - before);
    }
    return LODE_OK;
}

static bool reserve(struct placing *self, uint32_t count)
{
    if (self->capacity >= count)
        return true;
    uint32_t before = self->capacity, capacity = count + count / 2;
    bool done = lode_grow(&self->track, before, capacity, sizeof *self->track, false) &&
                lode_grow(&self->stack, before, capacity, sizeof *self->stack, false) &&
                lode_grow(&self->map, before, capacity, sizeof *self->map, false) &&
                lode_grow(&self->copy, before, capacity, sizeof *self->copy, false);
    if (done)
        self->capacity = capacity;
    return done;
}

static bool is_failure(const struct otlp_span *span)
{
    bool counts = span->parent == OTLP_NO_SPAN || span->kind == OTLP_SERVER || span->kind == OTLP_CONSUMER;
    return counts && (span->flags & OTLP_SPAN_FAILED);
}

/* Where the spans of each track begin in the trace; counts[track] is where the next one goes. */
static lode_status count_spans(struct placing *self)
{
    uint32_t wanted = self->track_count + 1, sum = 0;
    if (self->count_capacity < wanted)
        LODE_TRY_ALLOC(LODE_GROW(self->counts, self->count_capacity, wanted + wanted / 2),
                       self->opening->error);
    memset(self->counts, 0, wanted * sizeof *self->counts);
    for (uint32_t i = 0; i < self->family.count; i++)
        self->counts[self->track[i]]++;
    for (uint32_t i = 0; i < self->track_count; i++) {
        uint32_t count = self->counts[i];
        self->counts[i] = sum;
        sum += count;
    }
    return LODE_OK;
}

/* Orders the spans of a trace by track, then callers first. Indices of parents follow. */
static void arrange(struct placing *self)
{
    struct otlp_span *spans = self->rec->spans + self->family.first;
    uint32_t count = self->family.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = local(self, self->family.order[i]), to = self->counts[self->track[from]]++;
        self->map[from] = to;
        self->copy[to] = spans[from];
    }
    for (uint32_t i = 0; i < count; i++) {
        spans[i] = self->copy[i];
        if (spans[i].parent != OTLP_NO_SPAN)
            spans[i].parent = self->family.first + self->map[local(self, spans[i].parent)];
    }
}

/* After `arrange`, counts[track] is where the track ends. */
static lode_status add_tracks(struct placing *self, uint32_t number)
{
    struct otlp_trace *trace = LODE_ARRAY_AT(&self->rec->traces, struct otlp_trace, number);
    struct request *request = lode_array_push(&self->requests);
    LODE_TRY_ALLOC(request, self->opening->error);
    *request = (struct request){.trace = number,
                                .first = (uint32_t)self->tracks.count,
                                .count = self->track_count,
                                .begin = UINT64_MAX};
    for (uint32_t i = 0, at = 0; i < self->track_count; at = self->counts[i++]) {
        struct otlp_track *track = lode_array_push(&self->tracks);
        LODE_TRY_ALLOC(track, self->opening->error);
        *track = (struct otlp_track){
            .first = trace->first + at, .count = self->counts[i] - at, .trace = number, .begin = UINT64_MAX};
        for (uint32_t k = 0; k < track->count; k++) {
            const struct otlp_span *span = &self->rec->spans[track->first + k];
            track->begin = span->begin < track->begin ? span->begin : track->begin;
            track->end = span->end > track->end ? span->end : track->end;
            trace->has_failed |= is_failure(span);
        }
        request->begin = track->begin < request->begin ? track->begin : request->begin;
    }
    return LODE_OK;
}

static lode_status place_trace(struct placing *self, uint32_t number)
{
    const struct otlp_trace *trace = LODE_ARRAY_AT(&self->rec->traces, struct otlp_trace, number);
    LODE_TRY_ALLOC(reserve(self, trace->count), self->opening->error);
    LODE_TRY(lode_otlp_family_of(&self->family, self->rec, trace, self->opening->error));
    LODE_TRY(visit(self));
    LODE_TRY(count_spans(self));
    arrange(self);
    return add_tracks(self, number);
}

/* ---- all traces ---- */

/* Those that begin at the same time are in the order of their ids. */
static int compare_requests(const void *left, const void *right, void *argument)
{
    const struct request *a = left, *b = right;
    const struct otlp_recording *rec = argument;
    if (a->begin != b->begin)
        return LODE_COMPARE(a->begin, b->begin);
    const uint64_t *x = rec->spans[LODE_ARRAY_AT(&rec->traces, struct otlp_trace, a->trace)->first].trace;
    const uint64_t *y = rec->spans[LODE_ARRAY_AT(&rec->traces, struct otlp_trace, b->trace)->first].trace;
    return x[0] != y[0] ? LODE_COMPARE(x[0], y[0]) : LODE_COMPARE(x[1], y[1]);
}

/* Requests in chronological order, each with its tracks; times from the first begin. */
static lode_status order_tracks(struct placing *self)
{
    struct otlp_recording *rec = self->rec;
    uint32_t *mains = lode_arena_alloc(&rec->base.arena, self->tracks.count + 1, sizeof *mains);
    LODE_TRY_ALLOC(mains, self->opening->error);
    if (self->requests.count > 0)
        qsort_r(self->requests.items, self->requests.count, sizeof(struct request), compare_requests, rec);
    if (!rec->whole.is_known && self->requests.count > 0)
        rec->whole.begin = LODE_ARRAY_AT(&self->requests, struct request, 0)->begin;
    uint64_t first = rec->whole.begin;
    rec->base.utc_offset = (int64_t)first;
    for (size_t i = 0; i < self->requests.count; i++) {
        const struct request *request = LODE_ARRAY_AT(&self->requests, struct request, i);
        uint32_t main = (uint32_t)rec->tracks.count;
        for (uint32_t k = 0; k < request->count; k++) {
            struct otlp_track *track = lode_array_push(&rec->tracks);
            LODE_TRY_ALLOC(track, self->opening->error);
            *track = *LODE_ARRAY_AT(&self->tracks, struct otlp_track, request->first + k);
            track->begin -= first;
            track->end -= first;
            mains[rec->tracks.count - 1] = main;
        }
    }
    rec->base.mains = mains;
    return LODE_OK;
}

static lode_status place_all(struct placing *self)
{
    for (uint32_t i = 0; i < self->rec->traces.count; i++)
        LODE_TRY(place_trace(self, i));
    if (self->too_deep > 0)
        LODE_TRY(lode_report_add(self->opening->report, OTLP_DEPTH, NULL, LODE_NO_OFFSET, "%s",
                                 LODE_COUNTED(self->too_deep, "span is too deep", "spans are too deep")));
    return order_tracks(self);
}

lode_status lode_otlp_place(struct otlp_opening *opening)
{
    struct placing self = {.opening = opening, .rec = opening->rec};
    lode_array_init(&self.sides, sizeof(struct side), SIZE_MAX);
    lode_array_init(&self.tracks, sizeof(struct otlp_track), INT32_MAX / 2);
    lode_array_init(&self.requests, sizeof(struct request), SIZE_MAX);
    lode_status status = place_all(&self);
    lode_array_free(&self.sides);
    lode_array_free(&self.tracks);
    lode_array_free(&self.requests);
    lode_otlp_family_free(&self.family);
    free(self.track);
    free(self.stack);
    free(self.map);
    free(self.copy);
    free(self.counts);
    return status;
}
