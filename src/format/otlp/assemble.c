/* SPDX-License-Identifier: BSD-3-Clause */
/* From sorted spans to traces: removes duplicates, finds parents. */
#include "base/error.h"
#include "base/text/count.h"
#include "format/otlp/otlp.h"
#include "format/protobuf.h"
#include <stdlib.h>

struct assembling {
    struct otlp_recording *rec;
    uint64_t duplicates, conflicts, missing, remote, cycles;
    uint32_t *marks; /* of spans of a trace, to find cycles */
    struct lode_blob blob;
};

/* ---- duplicates ---- */

static bool is_same_trace(const struct otlp_span *a, const struct otlp_span *b)
{
    return a->trace[0] == b->trace[0] && a->trace[1] == b->trace[1];
}

static bool has_ids_of(const struct otlp_span *a, const struct otlp_span *b)
{
    return a->id == b->id && is_same_trace(a, b);
}

/* Both halves of a call may have one id, in systems that are like Zipkin. */
static bool is_pair(const struct otlp_recording *rec, const struct otlp_span *a, const struct otlp_span *b)
{
    if ((a->flags & OTLP_SPAN_SHARED) != (b->flags & OTLP_SPAN_SHARED))
        return true;
    bool are_halves = (a->kind == OTLP_CLIENT && b->kind == OTLP_SERVER) ||
                      (a->kind == OTLP_SERVER && b->kind == OTLP_CLIENT);
    return are_halves && otlp_service_of(rec, a) != otlp_service_of(rec, b);
}

/* The server is the half that is marked. */
static void mark_pair(struct otlp_span *a, struct otlp_span *b)
{
    if (!((a->flags | b->flags) & OTLP_SPAN_SHARED))
        (a->kind == OTLP_SERVER ? a : b)->flags |= OTLP_SPAN_SHARED;
}

static bool is_equal(const struct otlp_span *a, const struct otlp_span *b)
{
    return a->begin == b->begin && a->end == b->end && a->parent_id == b->parent_id && a->kind == b->kind &&
           a->flags == b->flags;
}

/* What was dropped from a span that was stored twice was dropped once. */
static void uncount(struct assembling *self, const struct otlp_span *span)
{
    struct lode_range bytes;
    struct lode_pb_walk walk;
    struct lode_pb_field field;
    if (self->rec->counts[OTLP_COUNT_DROPPED_ATTRIBUTES] + self->rec->counts[OTLP_COUNT_DROPPED_EVENTS] +
                self->rec->counts[OTLP_COUNT_DROPPED_LINKS] ==
            0 ||
        lode_otlp_read(self->rec, span, &self->blob, &bytes, NULL) != LODE_OK)
        return;
    walk = lode_pb_walk_of(bytes);
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        if (field.number == SPAN_DROPPED_ATTRIBUTES)
            self->rec->counts[OTLP_COUNT_DROPPED_ATTRIBUTES] -= field.value;
        else if (field.number == SPAN_DROPPED_EVENTS)
            self->rec->counts[OTLP_COUNT_DROPPED_EVENTS] -= field.value;
        else if (field.number == SPAN_DROPPED_LINKS)
            self->rec->counts[OTLP_COUNT_DROPPED_LINKS] -= field.value;
    }
}

/* Keeps a span, unless one of those from `group` on with its id is the same. */
static void keep_span(struct assembling *self, uint32_t group, uint32_t *kept, const struct otlp_span *span)
{
    struct otlp_span *spans = self->rec->spans;
    for (uint32_t i = group; i < *kept; i++) {
        if (is_pair(self->rec, &spans[i], span))
            continue;
        self->duplicates++;
        uncount(self, span);
        self->conflicts += !is_equal(&spans[i], span);
        /* Late data of Zipkin: the part with an end replaces the one without. */
        if ((spans[i].flags & OTLP_SPAN_NO_END) && !(span->flags & OTLP_SPAN_NO_END))
            spans[i] = *span;
        return;
    }
    if (&spans[*kept] != span) /* else its page may be clean, and need not be written */
        spans[*kept] = *span;
    ++*kept;
    if (*kept - group == 2)
        mark_pair(&spans[group], &spans[group + 1]);
}

static void remove_duplicates(struct assembling *self)
{
    struct otlp_recording *rec = self->rec;
    uint32_t kept = 0, group = 0;
    for (uint32_t i = 0; i < rec->span_count; i++) {
        const struct otlp_span *span = &rec->spans[i];
        if (kept > 0 && !has_ids_of(&rec->spans[kept - 1], span))
            group = kept;
        keep_span(self, group, &kept, span);
    }
    rec->span_count = kept;
}

/* ---- traces ---- */

static lode_status list_traces(struct otlp_recording *rec, lode_error *error)
{
    for (uint32_t i = 0, next; i < rec->span_count; i = next) {
        for (next = i + 1; next < rec->span_count && is_same_trace(&rec->spans[i], &rec->spans[next]);)
            next++;
        struct otlp_trace *trace = lode_array_push(&rec->traces);
        LODE_TRY_ALLOC(trace, error);
        *trace = (struct otlp_trace){.first = i, .count = next - i};
    }
    return LODE_OK;
}

/* ---- parents ---- */

/* The first span of a trace whose id is not below this one. */
static uint32_t lower_bound(const struct otlp_recording *rec, const struct otlp_trace *trace, uint64_t id)
{
    uint32_t low = trace->first, high = trace->first + trace->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rec->spans[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of two halves, a child belongs to the one of its service; a server to its client. */
static uint32_t find_span(const struct otlp_recording *rec, const struct otlp_trace *trace, uint64_t id,
                          uint32_t child)
{
    uint32_t found = OTLP_NO_SPAN, end = trace->first + trace->count;
    uint32_t service = otlp_service_of(rec, &rec->spans[child]);
    for (uint32_t i = lower_bound(rec, trace, id); i < end && rec->spans[i].id == id; i++) {
        bool is_server = (rec->spans[i].flags & OTLP_SPAN_SHARED) != 0;
        if (i == child)
            continue;
        if (is_server && otlp_service_of(rec, &rec->spans[i]) == service)
            return i;
        if (found == OTLP_NO_SPAN || !is_server)
            found = i;
    }
    return found;
}

static uint32_t find_parent(struct assembling *self, const struct otlp_trace *trace, uint32_t index)
{
    const struct otlp_span *span = &self->rec->spans[index];
    if (span->flags & OTLP_SPAN_SHARED) {
        uint32_t client = find_span(self->rec, trace, span->id, index);
        if (client != OTLP_NO_SPAN)
            return client;
    }
    if (span->parent_id == 0 || span->parent_id == span->id)
        return OTLP_NO_SPAN;
    uint32_t parent = find_span(self->rec, trace, span->parent_id, index);
    bool is_remote =
        (span->flags & OTLP_SPAN_REMOTE) || span->kind == OTLP_SERVER || span->kind == OTLP_CONSUMER;
    self->missing += parent == OTLP_NO_SPAN && !is_remote;
    self->remote += parent == OTLP_NO_SPAN && is_remote;
    return parent;
}

/* The span of a cycle that begins first loses its parent. */
static void cut_cycle(struct assembling *self, uint32_t member)
{
    struct otlp_span *spans = self->rec->spans;
    uint32_t first = member;
    for (uint32_t i = spans[member].parent; i != member; i = spans[i].parent)
        if (spans[i].begin < spans[first].begin || (spans[i].begin == spans[first].begin && i < first))
            first = i;
    spans[first].parent = OTLP_NO_SPAN;
    self->cycles++;
}

/* Walks up from each span, as far as no earlier walk came. */
static void cut_cycles(struct assembling *self, const struct otlp_trace *trace)
{
    struct otlp_span *spans = self->rec->spans;
    memset(self->marks, 0, trace->count * sizeof *self->marks);
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t at = trace->first + i;
        while (at != OTLP_NO_SPAN && self->marks[at - trace->first] == 0) {
            self->marks[at - trace->first] = i + 1;
            at = spans[at].parent;
        }
        if (at != OTLP_NO_SPAN && self->marks[at - trace->first] == i + 1)
            cut_cycle(self, at);
    }
}

static lode_status find_parents(struct assembling *self, lode_error *error)
{
    struct otlp_recording *rec = self->rec;
    uint32_t most = 0;
    for (size_t i = 0; i < rec->traces.count; i++) {
        uint32_t count = LODE_ARRAY_AT(&rec->traces, struct otlp_trace, i)->count;
        most = count > most ? count : most;
    }
    self->marks = malloc(((size_t)most + 1) * sizeof *self->marks);
    LODE_TRY_ALLOC(self->marks, error);
    for (size_t i = 0; i < rec->traces.count; i++) {
        const struct otlp_trace *trace = LODE_ARRAY_AT(&rec->traces, struct otlp_trace, i);
        for (uint32_t k = 0; k < trace->count; k++)
            self->marks[k] = find_parent(self, trace, trace->first + k);
        /* The id of the parent is in the place of its index. */
        for (uint32_t k = 0; k < trace->count; k++) {
            rec->spans[trace->first + k].parent = self->marks[k];
            rec->spans[trace->first + k].depth = 0;
        }
        cut_cycles(self, trace);
    }
    free(self->marks);
    return LODE_OK;
}

/* ---- findings ---- */

static lode_status report(const struct otlp_opening *opening, unsigned rule, uint64_t count, const char *one,
                          const char *many)
{
    if (count == 0)
        return LODE_OK;
    return lode_report_add(opening->report, rule, NULL, LODE_NO_OFFSET, "%s", LODE_COUNTED(count, one, many));
}

lode_status lode_otlp_assemble(struct otlp_opening *opening)
{
    struct assembling self = {.rec = opening->rec};
    remove_duplicates(&self);
    lode_blob_free(&self.blob);
    LODE_TRY(list_traces(opening->rec, opening->error));
    LODE_TRY(find_parents(&self, opening->error));
    LODE_TRY(
        report(opening, OTLP_DUPLICATE, self.duplicates, "span was stored again", "spans were stored again"));
    LODE_TRY(report(opening, OTLP_CONFLICT, self.conflicts, "span differs from one with its ids",
                    "spans differ from others with their ids"));
    LODE_TRY(report(opening, OTLP_MISSING_PARENT, self.missing, "span lacks a parent of its process",
                    "spans lack a parent of their process"));
    LODE_TRY(report(opening, OTLP_REMOTE_PARENT, self.remote, "span lacks a parent of another process",
                    "spans lack a parent of another process"));
    opening->rec->base.quality.lost_callers = self.missing + self.remote;
    return report(opening, OTLP_CYCLE, self.cycles, "cycle of spans", "cycles of spans");
}
