/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Repairs of times. Clocks of hosts differ: a server's span that does not lie inside its client's
 * is moved there, with all that is below it. Clocks have a resolution: spans that do not nest by
 * less than that are moved or cut. What lies inside is not touched: queues on one side look like an
 * offset.
 */
#include "base/compare.h"
#include "base/error.h"
#include "base/text/count.h"
#include "format/otlp/otlp.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
    MILLI = 1000000,
    MICRO = 1000,
    COARSE_SHARE = 10 /* if one of so many begins is whole, the clock has that resolution */
};
#define TIME_MOST ((uint64_t)INT64_MAX)

/* A subtree that was moved. */
struct move {
    uint32_t service;
    int64_t by;
};

struct repairing {
    struct otlp_opening *opening;
    struct otlp_recording *rec;
    struct otlp_family family;
    int64_t *shifts; /* of spans of the trace, with those of their callers */
    uint32_t shift_capacity;
    uint32_t *queue;         /* callers before callees; as many as there are shifts */
    uint64_t *calls;         /* by service: from other services */
    struct lode_array moves; /* struct move */
    uint64_t settled, cut;
};

/* ---- resolution ---- */

/* Clocks of milliseconds are known by begins that are whole ones. */
static lode_status find_resolution(struct repairing *self)
{
    struct otlp_recording *rec = self->rec;
    uint32_t services = rec->base.module_count;
    uint64_t(*counts)[3] = calloc((size_t)services + 1, sizeof *counts);
    rec->whole.tolerance =
        lode_arena_alloc(&rec->base.arena, (size_t)services + 1, sizeof *rec->whole.tolerance);
    if (counts == NULL || rec->whole.tolerance == NULL) {
        free(counts);
        return lode_fail_memory(self->opening->error);
    }
    for (uint32_t i = 0; i < rec->span_count; i++) {
        uint64_t *count = counts[otlp_service_of(rec, &rec->spans[i])];
        count[0]++;
        count[1] += rec->spans[i].begin % MICRO == 0;
        count[2] += rec->spans[i].begin % MILLI == 0;
    }
    for (uint32_t i = 0; i < services; i++)
        rec->whole.tolerance[i] = counts[i][2] * COARSE_SHARE > counts[i][0]   ? MILLI
                                  : counts[i][1] * COARSE_SHARE > counts[i][0] ? MICRO + 1
                                                                               : 0;
    free(counts);
    return LODE_OK;
}

static int64_t tolerance_of(const struct repairing *self, const struct otlp_span *a,
                            const struct otlp_span *b)
{
    uint64_t first = self->rec->whole.tolerance[otlp_service_of(self->rec, a)];
    uint64_t second = self->rec->whole.tolerance[otlp_service_of(self->rec, b)];
    return (int64_t)(first > second ? first : second);
}

/* ---- a trace ---- */

static uint64_t add(uint64_t time, int64_t shift)
{
    if (shift < 0)
        return time > (uint64_t)-shift ? time + (uint64_t)shift : 1;
    return TIME_MOST - time > (uint64_t)shift ? time + (uint64_t)shift : TIME_MOST;
}

/* Times are below 2^62, but sums of shifts may not be. */
static int64_t sum(int64_t a, int64_t b)
{
    int64_t result;
    if (__builtin_add_overflow(a, b, &result))
        return a < 0 ? INT64_MIN + 1 : INT64_MAX;
    return result;
}

static void move_span(struct otlp_span *span, int64_t shift)
{
    if (shift == 0)
        return;
    span->begin = add(span->begin, shift);
    span->end = add(span->end, shift);
    span->flags |= OTLP_SPAN_MOVED;
}

static uint32_t local(const struct repairing *self, uint32_t span)
{
    return span - self->family.first;
}

/* Lists the spans of a trace, callers first. */
static void list_down(struct repairing *self)
{
    const struct otlp_family *family = &self->family;
    uint32_t count = 0;
    for (uint32_t i = family->first_child[family->count]; i != OTLP_NO_SPAN; i = family->next[local(self, i)])
        self->queue[count++] = i;
    for (uint32_t at = 0; at < count; at++)
        for (uint32_t i = family->first_child[local(self, self->queue[at])]; i != OTLP_NO_SPAN;
             i = family->next[local(self, i)])
            self->queue[count++] = i;
}

/* Spans without an end last as long as what is below them. Whether there are any. */
static bool end_open_spans(struct repairing *self)
{
    struct otlp_span *spans = self->rec->spans;
    bool found = false;
    for (uint32_t i = self->family.count; i-- > 0;) {
        const struct otlp_span *span = &spans[self->queue[i]];
        struct otlp_span *parent = span->parent == OTLP_NO_SPAN ? NULL : &spans[span->parent];
        if (parent && (parent->flags & OTLP_SPAN_NO_END) && parent->end < span->end) {
            parent->end = span->end;
            found = true;
        }
    }
    return found;
}

/* By how much a span must be moved so that it lies in the middle of its caller. */
static int64_t offset_of(struct repairing *self, const struct otlp_span *caller, const struct otlp_span *span)
{
    bool is_call = span->kind == OTLP_SERVER && caller->kind == OTLP_CLIENT &&
                   otlp_service_of(self->rec, span) != otlp_service_of(self->rec, caller);
    bool is_inside = span->begin >= caller->begin && span->end <= caller->end;
    self->calls[otlp_service_of(self->rec, span)] += is_call;
    if (!is_call || is_inside || ((span->flags | caller->flags) & OTLP_SPAN_ADJUSTED))
        return 0;
    int64_t slack = (int64_t)(caller->end - caller->begin) - (int64_t)(span->end - span->begin);
    return (int64_t)caller->begin - (int64_t)span->begin + (slack > 0 ? slack / 2 : 0);
}

static bool note_move(struct repairing *self, const struct otlp_span *span, int64_t by)
{
    struct move *move = lode_array_push(&self->moves);
    if (move)
        *move = (struct move){otlp_service_of(self->rec, span), by};
    return move != NULL;
}

/* Callers are in place when their callees are moved. */
static lode_status correct_clocks(struct repairing *self)
{
    struct otlp_span *spans = self->rec->spans;
    for (uint32_t i = 0; i < self->family.count; i++) {
        struct otlp_span *span = &spans[self->queue[i]];
        int64_t *shift = &self->shifts[local(self, self->queue[i])];
        *shift = 0;
        if (span->parent == OTLP_NO_SPAN)
            continue;
        *shift = self->shifts[local(self, span->parent)];
        move_span(span, *shift);
        int64_t by = offset_of(self, &spans[span->parent], span);
        if (by == 0)
            continue;
        LODE_TRY_ALLOC(note_move(self, span, by), self->opening->error);
        move_span(span, by);
        *shift = sum(*shift, by);
    }
    return LODE_OK;
}

/* Moves a child behind the one before it, and into its parent, if it is off by less than `most`. */
static int64_t settle(struct repairing *self, const struct otlp_span *parent, struct otlp_span *span,
                      uint64_t at, int64_t most)
{
    int64_t before = (int64_t)(at - span->begin), by = 0;
    if (before > 0 && before < most) {
        by = before;
        move_span(span, by);
    }
    int64_t beyond = (int64_t)(span->end - parent->end);
    if (beyond > 0 && beyond < most) {
        int64_t space = span->begin > at ? (int64_t)(span->begin - at) : 0;
        int64_t back = beyond < space ? beyond : space;
        move_span(span, -back);
        by = sum(by, -back);
        if (span->end > parent->end) {
            span->end = parent->end > span->begin ? parent->end : span->begin;
            span->flags |= OTLP_SPAN_MOVED;
            self->cut++;
        }
    }
    self->settled += by != 0;
    return by;
}

static void settle_children(struct repairing *self, uint32_t index)
{
    struct otlp_span *spans = self->rec->spans;
    const struct otlp_span *parent = &spans[index];
    const struct otlp_family *family = &self->family;
    uint64_t at = parent->begin;
    int64_t inherited = self->shifts[local(self, index)];
    for (uint32_t i = family->first_child[local(self, index)]; i != OTLP_NO_SPAN;
         i = family->next[local(self, i)]) {
        struct otlp_span *span = &spans[i];
        int64_t by = 0;
        move_span(span, inherited);
        if (span->kind == OTLP_SERVER ||
            otlp_service_of(self->rec, span) == otlp_service_of(self->rec, parent)) {
            by = settle(self, parent, span, at, tolerance_of(self, span, parent));
            if (span->end <= parent->end && span->begin >= at && span->end > at)
                at = span->end;
        }
        self->shifts[local(self, i)] = sum(inherited, by);
    }
}

static lode_status repair_trace(struct repairing *self, const struct otlp_trace *trace)
{
    const struct otlp_family *family = &self->family;
    LODE_TRY(lode_otlp_family_of(&self->family, self->rec, trace, self->opening->error));
    list_down(self);
    size_t moves = self->moves.count;
    bool has_changed = end_open_spans(self);
    LODE_TRY(correct_clocks(self));
    /* What was moved may have another order. */
    if (has_changed || self->moves.count > moves) {
        LODE_TRY(lode_otlp_family_of(&self->family, self->rec, trace, self->opening->error));
        list_down(self);
    }
    for (uint32_t i = family->first_child[family->count]; i != OTLP_NO_SPAN; i = family->next[local(self, i)])
        self->shifts[local(self, i)] = 0;
    for (uint32_t i = 0; i < family->count; i++)
        settle_children(self, self->queue[i]);
    return LODE_OK;
}

/* ---- findings ---- */

static int compare_moves(const void *left, const void *right)
{
    const struct move *a = left, *b = right;
    return a->service != b->service ? LODE_COMPARE(a->service, b->service) : LODE_COMPARE(a->by, b->by);
}

static void note_clock(struct repairing *self, uint32_t service, int64_t by)
{
    struct lode_recording_quality *quality = &self->opening->rec->base.quality;
    if (quality->clocks++ > 0)
        return;
    quality->clock_of = self->rec->base.modules[service].path;
    quality->clock_by = by;
}

/* One finding for each service. */
static lode_status report_moves(struct repairing *self)
{
    const struct move *moves = self->moves.items;
    size_t count = self->moves.count;
    if (count > 0)
        qsort(self->moves.items, count, sizeof *moves, compare_moves);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && moves[next].service == moves[i].service;)
            next++;
        /* A queue on one side has the same look, but not in most calls. */
        bool is_clock = 2 * (next - i) > self->calls[moves[i].service];
        int64_t by = moves[i + (next - i) / 2].by;
        double median = (double)by / MILLI;
        if (is_clock)
            note_clock(self, moves[i].service, by);
        LODE_TRY(lode_report_add(self->opening->report, is_clock ? OTLP_CLOCK : OTLP_OUTSIDE, NULL,
                                 LODE_NO_OFFSET, "service %s: %s, by %+.3f ms in the median",
                                 self->rec->base.modules[moves[i].service].path,
                                 LODE_COUNTED(next - i, "span was moved", "spans were moved"), median));
    }
    if (self->settled + self->cut == 0)
        return LODE_OK;
    return lode_report_add(self->opening->report, OTLP_SETTLED, NULL, LODE_NO_OFFSET, "%s, %s",
                           LODE_COUNTED(self->settled, "span was moved", "spans were moved"),
                           LODE_COUNTED(self->cut, "was cut", "were cut"));
}

static lode_status repair_all(struct repairing *self)
{
    const struct otlp_recording *rec = self->rec;
    self->calls = calloc((size_t)rec->base.module_count + 1, sizeof *self->calls);
    LODE_TRY_ALLOC(self->calls, self->opening->error);
    if (!rec->whole.is_known)
        LODE_TRY(find_resolution(self));
    for (size_t i = 0; i < rec->traces.count; i++) {
        const struct otlp_trace *trace = LODE_ARRAY_AT(&rec->traces, struct otlp_trace, i);
        if (self->shift_capacity < trace->count) {
            uint32_t capacity = trace->count + trace->count / 2;
            bool done =
                lode_grow(&self->shifts, self->shift_capacity, capacity, sizeof *self->shifts, false) &&
                lode_grow(&self->queue, self->shift_capacity, capacity, sizeof *self->queue, false);
            LODE_TRY_ALLOC(done, self->opening->error);
            self->shift_capacity = capacity;
        }
        LODE_TRY(repair_trace(self, trace));
    }
    return report_moves(self);
}

lode_status lode_otlp_repair(struct otlp_opening *opening)
{
    struct repairing self = {.opening = opening, .rec = opening->rec};
    lode_array_init(&self.moves, sizeof(struct move), SIZE_MAX);
    lode_status status = repair_all(&self);
    lode_array_free(&self.moves);
    lode_otlp_family_free(&self.family);
    free(self.shifts);
    free(self.queue);
    free(self.calls);
    return status;
}
