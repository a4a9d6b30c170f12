/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each thread did in order of time: its runs are merged. Runs of neighbouring pieces overlap
 * little, so that nearly everything before the first time of all later runs is final at once, and
 * only what overlaps is in memory.
 */
#include "base/compare.h"
#include "format/perf/source/path.h"
#include "format/perf/source/source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    struct perf_source *source;
    struct hpcrun_worker *out;
    struct perf_run *runs; /* by profile, then as in the recording; `who` is the profile */
    uint64_t *later;       /* by run: the first time of all runs of the profile behind it */
    size_t run_count;
    struct lode_array window, merged; /* struct perf_instant, in order of time */

    /* Of the profile that is being read. */
    uint32_t profile;
    bool is_off;       /* it does not run, */
    uint64_t off_from; /* since then, */
    uint32_t off_node; /* and was there */
    uint32_t waker;    /* a thread of the source; LODE_NONE: nobody woke it yet */
    uint64_t woken_at;
    struct lode_map off_of; /* from a node */
    struct lode_array off;  /* struct perf_cost */
    lode_error *error;
};

/* ---- samples ---- */

static lode_status put_sample(struct lines *self, uint64_t time, uint32_t node)
{
    struct hpcrun_worker *out = self->out;
    const struct perf_source *source = self->source;
    if (!source->base.base.has_traces)
        return LODE_OK;
    time = lode_perf_wall_time(&source->store, time);
    LODE_TRY(lode_spool_reserve(&out->samples, HPCRUN_SAMPLE_SIZE, self->error));
    unsigned char *at = out->samples.buffer + out->samples.used;
    memcpy(at, &time, sizeof time);
    memcpy(at + sizeof time, &node, sizeof node);
    out->samples.used += HPCRUN_SAMPLE_SIZE;
    out->samples.size += HPCRUN_SAMPLE_SIZE;
    out->records++;
    source->base.reads[self->profile].sample_count++;
    return LODE_OK;
}

/* ---- off-CPU time ---- */

/* Who ended the wait is below it. */
static uint32_t off_node(const struct lines *self)
{
    struct perf_source *source = self->source;
    struct perf_moment moment;
    char buffer[16];
    if (self->waker == LODE_NONE)
        return self->off_node;
    const struct perf_who *who = LODE_ARRAY_AT(&source->whos.items, struct perf_who, self->waker);
    lode_perf_moment_find(&source->replay, who->pid, who->tid, self->woken_at, &moment);
    const char *name = lode_strings_at(&source->store.strings, moment.name);
    snprintf(buffer, sizeof buffer, ":%d", who->tid);
    return lode_perf_woken(&source->base.workers[0].raw, self->off_node, name && name[0] ? name : buffer);
}

static lode_status add_off(struct lines *self, uint64_t until)
{
    bool added;
    uint64_t overflows = 0;
    uint32_t node = off_node(self);
    LODE_TRY_ALLOC(node, self->error);
    uint32_t *number = lode_map_add(&self->off_of, node, (uint32_t)self->off.count, &added);
    struct perf_cost *cost = number && added ? lode_array_push(&self->off) : NULL;
    LODE_TRY_ALLOC(number && (cost || !added), self->error);
    if (added)
        *cost = (struct perf_cost){.profile = self->profile, .node = node, .event = PERF_COST_OFF};
    cost = LODE_ARRAY_AT(&self->off, struct perf_cost, *number);
    cost->count++;
    lode_wide_add(&cost->sum, until - self->off_from, &overflows);
    return LODE_OK;
}

/* Where it waits is known if the switch has a call chain; else it is the entry point. */
static lode_status leave(struct lines *self, const struct perf_instant *instant)
{
    if (self->is_off)
        return LODE_OK;
    self->is_off = true;
    self->off_from = instant->time;
    self->waker = LODE_NONE;
    self->off_node = instant->node & PERF_INSTANT_NODE;
    return put_sample(self, instant->time, LODE_TREE_ROOT);
}

/* It runs again. */
static lode_status arrive(struct lines *self, uint64_t time)
{
    if (!self->is_off)
        return LODE_OK;
    self->is_off = false;
    return add_off(self, time);
}

/* The first one counts: what runs already cannot be woken. */
static void wake(struct lines *self, const struct perf_instant *instant)
{
    if (!self->is_off || self->waker != LODE_NONE)
        return;
    self->waker = instant->node & PERF_INSTANT_NODE;
    self->woken_at = instant->time;
}

static lode_status take(struct lines *self, const struct perf_instant *instant)
{
    if ((instant->node & PERF_INSTANT_WOKEN) == PERF_INSTANT_WOKEN) {
        wake(self, instant);
        return LODE_OK;
    }
    if (instant->node & PERF_INSTANT_OUT)
        return leave(self, instant);
    bool was_off = self->is_off;
    LODE_TRY(arrive(self, instant->time));
    /* Nobody knows where until the next sample: at the entry point. */
    if (instant->node & PERF_INSTANT_IN)
        return was_off ? put_sample(self, instant->time, instant->node & PERF_INSTANT_NODE) : LODE_OK;
    return put_sample(self, instant->time, instant->node);
}

/* ---- merging ---- */

/* Adds a run to the window; equal times stay in the order of the recording. */
static lode_status merge_run(struct lines *self, const struct perf_run *run)
{
    struct lode_array *window = &self->window, *merged = &self->merged;
    size_t count = run->count, kept = window->count, a = 0, b = kept;
    const uint32_t *nodes = self->source->nodes[run->worker];
    for (size_t i = 0; i < count; i++)
        LODE_TRY_ALLOC(lode_array_push(window), self->error);
    struct perf_instant *items = window->items;
    LODE_TRY(lode_spool_read(&self->source->workers[run->worker].spool, run->at, items + kept,
                             count * sizeof *items, self->error));
    for (size_t i = kept; i < window->count; i++) {
        bool is_woken = (items[i].node & PERF_INSTANT_WOKEN) == PERF_INSTANT_WOKEN;
        const uint32_t *map = is_woken ? self->source->who_of[run->worker] : nodes;
        items[i].node = (items[i].node & ~PERF_INSTANT_NODE) | map[items[i].node & PERF_INSTANT_NODE];
    }
    if (kept == 0 || items[kept - 1].time <= items[kept].time)
        return LODE_OK;
    merged->count = 0;
    while (a < kept || b < window->count) {
        struct perf_instant *slot = lode_array_push(merged);
        LODE_TRY_ALLOC(slot, self->error);
        *slot = b == window->count || (a < kept && items[a].time <= items[b].time) ? items[a++] : items[b++];
    }
    struct lode_array swapped = *window;
    *window = *merged;
    *merged = swapped;
    return LODE_OK;
}

/* What is before a time is final; before the end of time, everything is. */
static lode_status release(struct lines *self, uint64_t before)
{
    struct perf_instant *items = self->window.items;
    size_t done = 0;
    for (; done < self->window.count && (items[done].time < before || before == UINT64_MAX); done++)
        LODE_TRY(take(self, &items[done]));
    self->window.count -= done;
    if (done > 0 && self->window.count > 0)
        memmove(items, items + done, self->window.count * sizeof *items);
    return LODE_OK;
}

static lode_status begin_profile(struct lines *self, uint32_t profile)
{
    self->profile = profile;
    self->is_off = false;
    lode_map_clear(&self->off_of);
    self->off.count = 0;
    self->source->base.reads[profile].samples_at = self->out->samples.size;
    return LODE_OK;
}

static lode_status end_profile(struct lines *self)
{
    for (size_t i = 0; i < self->off.count; i++) {
        struct perf_cost *cost = lode_array_push(&self->source->costs);
        LODE_TRY_ALLOC(cost, self->error);
        *cost = *LODE_ARRAY_AT(&self->off, struct perf_cost, i);
    }
    return LODE_OK;
}

static lode_status merge_profiles(struct lines *self)
{
    size_t at = 0;
    for (uint32_t profile = 0; profile < self->source->base.entry_count; profile++) {
        LODE_TRY(begin_profile(self, profile));
        for (; at < self->run_count && self->runs[at].who == profile; at++) {
            LODE_TRY(merge_run(self, &self->runs[at]));
            LODE_TRY(release(self, self->later[at]));
        }
        LODE_TRY(release(self, UINT64_MAX));
        LODE_TRY(end_profile(self));
    }
    return LODE_OK;
}

/* ---- runs ---- */

static int compare_runs(const void *left, const void *right)
{
    const struct perf_run *a = left, *b = right;
    int order = LODE_COMPARE(a->who, b->who);
    order = order ? order : LODE_COMPARE(a->piece, b->piece);
    return order ? order : LODE_COMPARE(a->at, b->at);
}

static lode_status list_runs(struct lines *self)
{
    const struct perf_source *source = self->source;
    size_t count = 0;
    for (unsigned w = 0; w < source->worker_count; w++)
        count += source->workers[w].runs.count;
    self->runs = calloc(count + 1, sizeof *self->runs);
    self->later = calloc(count + 1, sizeof *self->later);
    LODE_TRY_ALLOC(self->runs && self->later, self->error);
    for (unsigned w = 0; w < source->worker_count; w++) {
        const struct lode_array *runs = &source->workers[w].runs;
        for (size_t i = 0; i < runs->count; i++) {
            struct perf_run run = *LODE_ARRAY_AT(runs, struct perf_run, i);
            run.who = source->profile_of[source->who_of[w][run.who]];
            if (run.who != LODE_NONE)
                self->runs[self->run_count++] = run;
        }
    }
    count = self->run_count;
    qsort(self->runs, count, sizeof *self->runs, compare_runs);
    for (size_t i = count; i-- > 0;) {
        bool is_last = i + 1 == count || self->runs[i + 1].who != self->runs[i].who;
        uint64_t next = is_last ? UINT64_MAX : self->runs[i + 1].first;
        uint64_t later = is_last ? UINT64_MAX : self->later[i + 1];
        self->later[i] = next < later ? next : later;
    }
    return LODE_OK;
}

lode_status lode_perf_lines(struct perf_source *source, lode_error *error)
{
    struct lines self = {.source = source, .out = &source->base.workers[0], .error = error};
    lode_array_init(&self.window, sizeof(struct perf_instant), SIZE_MAX);
    lode_array_init(&self.merged, sizeof(struct perf_instant), SIZE_MAX);
    lode_array_init(&self.off, sizeof(struct perf_cost), UINT32_MAX - 1);
    lode_map_init(&self.off_of);
    source->has_lines = true;
    lode_status status = list_runs(&self);
    if (status == LODE_OK)
        status = merge_profiles(&self);
    lode_array_free(&self.window);
    lode_array_free(&self.merged);
    lode_array_free(&self.off);
    lode_map_free(&self.off_of);
    free(self.runs);
    free(self.later);
    return status;
}
