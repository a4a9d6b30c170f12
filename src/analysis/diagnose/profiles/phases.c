/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work of threads in parts of the run. How much work there is comes from the metric, so that
 * parts add up to the run; when it was done comes from trace lines. A sample stands for the time
 * before it: that is when the metric counted it. Databases that were built from calls have a sample
 * where something begins; it stands for the time after it.
 */
#include "analysis/diagnose/profiles/facts.h"

#include "base/pool.h"
#include "base/progress.h"
#include "model/database/trace.h"
#include <lode/unstable/efficiency.h>
#include <math.h>
#include <stdlib.h>

enum {
    PERIODS_MAX = 10, /* a longer time between samples: the thread was off the processor */
    PERIODS_MIN = 10, /* of a part */
    CELLS_MAX = 1 << 26
};

/* What struct work distinguishes. */
enum class {
    CLASS_OUTSIDE,
    CLASS_INSIDE,
    CLASS_RUNTIME,
    CLASS_OTHER,
    CLASS_COUNT
};

struct reading {
    const struct lode_diagnosis *d;
    const struct phases *phases;
    unsigned char *classes; /* by index of context */
    uint32_t *lines;        /* by thread */
    struct work *work;
    struct lode_progress progress;
};

/* Time of one thread: by class, of all its samples, and by part. */
struct weights {
    double all[CLASS_COUNT];
    double (*parts)[CLASS_COUNT];
};

/* ---- parts ---- */

/* The first line of each thread; UINT32_MAX: none. */
static lode_status find_lines(uint32_t *lines, const struct lode_diagnosis *d, lode_error *error)
{
    const struct profile_facts *facts = d->profiles;
    uint32_t *threads = calloc((size_t)facts->db->profile_count + 1, sizeof *threads);
    lode_status status = LODE_OK;
    LODE_TRY_ALLOC(threads, error);
    for (size_t i = 0; i < facts->thread_count; i++) {
        threads[facts->threads[i].profile] = (uint32_t)i + 1;
        lines[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < lode_database_trace_count(facts->db) && status == LODE_OK; i++) {
        lode_trace_line line;
        status = lode_database_trace_line(facts->db, i, &line, error);
        if (status != LODE_OK || line.profile >= facts->db->profile_count || line.sample_count < 2)
            continue;
        uint32_t thread = threads[line.profile];
        if (thread && lines[thread - 1] == UINT32_MAX)
            lines[thread - 1] = i;
    }
    free(threads);
    return status;
}

static lode_status find_span(struct phases *phases, const struct lode_diagnosis *d, lode_error *error)
{
    const struct profile_facts *facts = d->profiles;
    uint32_t *lines = calloc(facts->thread_count + 1, sizeof *lines);
    size_t without = 0;
    LODE_TRY_ALLOC(lines, error);
    lode_status status = find_lines(lines, d, error);
    phases->first = UINT64_MAX;
    for (size_t i = 0; i < facts->thread_count && status == LODE_OK; i++) {
        lode_trace_line line;
        without += lines[i] == UINT32_MAX;
        if (lines[i] == UINT32_MAX)
            continue;
        status = lode_database_trace_line(facts->db, lines[i], &line, error);
        if (status != LODE_OK)
            break;
        uint64_t begin = trace_time(&line, 0), end = trace_time(&line, line.sample_count - 1);
        phases->first = begin < phases->first ? begin : phases->first;
        phases->last = end > phases->last ? end : phases->last;
    }
    free(lines);
    LODE_TRY(status);
    if (without)
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET,
                         "efficiencies over time need trace lines: %zu of %zu threads have none", without,
                         facts->thread_count);
    if (phases->first >= phases->last)
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET, "trace lines have no length");
    return LODE_OK;
}

/* How long a sample stands for on average; 0: nothing was sampled. */
static double period_of(const struct lode_diagnosis *d)
{
    const struct profile_facts *facts = d->profiles;
    if (d->run.is_seconds || facts->is_counted)
        return facts->is_counted ? 0 : lode_diagnose_sampling_period(d);
    return facts->covered * facts->span * (double)facts->thread_count / fmax(1, (double)d->run.samples);
}

static lode_status check_length(const struct phases *phases, const struct lode_diagnosis *d,
                                lode_error *error)
{
    double length = (double)(phases->bounds[phases->count] - phases->bounds[0]) * 1e-9;
    double part = length / (double)phases->count, period = period_of(d);
    if (part >= PERIODS_MIN * period * (1 - 1e-6))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                     "%.3g s are too short for samples of %.3g s: at least ten of them are needed", part,
                     period);
}

lode_status lode_diagnose_phases_init(struct phases *phases, const struct lode_diagnosis *d, uint64_t from,
                                      uint64_t to, uint64_t count, lode_error *error)
{
    *phases = (struct phases){.count = count ? (size_t)count : 1};
    if (count > LODE_PHASES_MAX)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "more than %d phases",
                         LODE_PHASES_MAX);
    if (d->profiles->thread_count * phases->count > CELLS_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "%zu phases of %zu threads are too many", phases->count, d->profiles->thread_count);
    LODE_TRY(find_span(phases, d, error));
    bool is_whole = from == 0 && to == 0;
    uint64_t begin = is_whole || from < phases->first ? phases->first : from;
    uint64_t end = is_whole || to > phases->last ? phases->last : to;
    if (begin >= end)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the time window has no samples");
    phases->bounds = calloc(phases->count + 1, sizeof *phases->bounds);
    LODE_TRY_ALLOC(phases->bounds, error);
    uint64_t part = (end - begin) / phases->count, rest = (end - begin) % phases->count;
    for (size_t i = 0; i <= phases->count; i++)
        phases->bounds[i] = begin + part * i + rest * i / phases->count;
    return check_length(phases, d, error);
}

/* ---- weights ---- */

/* The last part that begins at or before a time. */
static size_t part_at(const struct phases *phases, uint64_t time)
{
    size_t low = 0, high = phases->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (phases->bounds[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double overlap(const struct phases *phases, size_t part, uint64_t from, uint64_t to)
{
    uint64_t begin = from > phases->bounds[part] ? from : phases->bounds[part];
    uint64_t end = to < phases->bounds[part + 1] ? to : phases->bounds[part + 1];
    return begin < end ? (double)(end - begin) : 0;
}

static void add_interval(struct weights *w, const struct phases *phases, unsigned class, uint64_t from,
                         uint64_t to)
{
    w->all[class] += (double)(to - from);
    for (size_t i = part_at(phases, from); i < phases->count && phases->bounds[i] < to; i++)
        w->parts[i][class] += overlap(phases, i, from, to);
}

/* The most that a sample of a line stands for. */
static double limit_of(const struct lode_diagnosis *d, const lode_trace_line *line, double total)
{
    double samples = (double)(line->sample_count - 1);
    double length = (double)trace_time(line, line->sample_count - 1) - (double)trace_time(line, 0);
    if (d->profiles->is_counted)
        return HUGE_VAL;
    return PERIODS_MAX * (d->run.is_seconds ? total * 1e9 : length) / samples;
}

static void weigh(struct weights *w, const struct reading *self, const lode_trace_line *line, double total)
{
    const struct profile_facts *facts = self->d->profiles;
    double limit = limit_of(self->d, line, total);
    uint64_t before = trace_time(line, 0);
    for (uint64_t i = 1; i < line->sample_count; i++) {
        uint64_t time = trace_time(line, i), from = before;
        /* Calls are known when they begin. */
        uint32_t id = trace_context(line, facts->is_counted ? i - 1 : i);
        uint32_t index = lode_context_tree_find(&facts->db->tree, id);
        if (time <= before)
            continue;
        if ((double)(time - from) > limit)
            from = time - (uint64_t)limit;
        add_interval(w, self->phases, index == LODE_NO_INDEX ? CLASS_OTHER : self->classes[index], from,
                     time);
        before = time;
    }
}

/* ---- work ---- */

static void put(struct work *work, unsigned class, double time)
{
    double *const fields[] = {&work->outside, &work->inside, &work->runtime};
    if (class < CLASS_OTHER)
        *fields[class] += time;
    work->total += time;
}

/* Spreads the time of a thread over parts, by class as its samples do. */
static void spread(const struct reading *self, size_t thread, const struct weights *w,
                   const lode_trace_line *line)
{
    const struct work whole = lode_diagnose_work_of_thread(&self->d->profiles->threads[thread]);
    const double times[] = {whole.outside, whole.inside, whole.runtime,
                            whole.total - whole.outside - whole.inside - whole.runtime};
    uint64_t begin = trace_time(line, 0), end = trace_time(line, line->sample_count - 1);
    double length = end > begin ? (double)(end - begin) : 0;
    for (size_t p = 0; p < self->phases->count; p++) {
        struct work *work = &self->work[p * self->d->profiles->thread_count + thread];
        for (unsigned c = 0; c < CLASS_COUNT; c++) {
            /* Time without a sample may be anywhere in the line. */
            double share = w->all[c] > 0 ? w->parts[p][c] / w->all[c]
                           : length > 0  ? overlap(self->phases, p, begin, end) / length
                                         : 0;
            put(work, c, times[c] * share);
        }
    }
}

static lode_status read_line(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct reading *self = context;
    struct weights w = {.parts = calloc(self->phases->count, sizeof *w.parts)};
    lode_trace_line line;
    (void)worker;
    LODE_TRY_ALLOC(w.parts, error);
    lode_status status = lode_database_trace_line(self->d->profiles->db, self->lines[item], &line, error);
    if (status == LODE_OK) {
        weigh(&w, self, &line, self->d->profiles->threads[item].total);
        spread(self, (size_t)item, &w, &line);
    }
    free(w.parts);
    return status;
}

static lode_status finish_line(void *context, uint64_t item, lode_error *error)
{
    struct reading *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

static unsigned class_of(const struct profile_facts *facts, uint32_t context)
{
    unsigned activity = 1u << facts->activities_of[context];
    if (activity & OPENMP)
        return CLASS_RUNTIME;
    if (activity & NOT_USEFUL)
        return CLASS_OTHER;
    return facts->places[context] == PLACE_REGION ? CLASS_INSIDE : CLASS_OUTSIDE;
}

static lode_status read_lines(struct reading *self, lode_error *error)
{
    const struct lode_diagnosis *d = self->d;
    LODE_TRY(find_lines(self->lines, d, error));
    for (uint32_t i = 0; i < d->profiles->db->tree.count; i++)
        self->classes[i] = (unsigned char)class_of(d->profiles, i);
    struct lode_job job = {.items = d->profiles->thread_count,
                           .work = read_line,
                           .finish = finish_line,
                           .context = self,
                           .pool = d->options.pool};
    self->progress = (struct lode_progress){.report = d->options.on_progress,
                                            .user = d->options.user,
                                            .phase = "reading traces",
                                            .total = job.items};
    return lode_pool_run(lode_pool_threads(lode_pool_asked(d->options.threads, d->options.pool), job.items),
                         &job, error);
}

lode_status lode_diagnose_phases_work(struct work *work, const struct lode_diagnosis *d,
                                      const struct phases *phases, lode_error *error)
{
    struct reading self = {.d = d, .phases = phases, .work = work};
    LODE_TRY(lode_trace_lines_fit(d->profiles->db, error));
    self.classes = calloc((size_t)d->profiles->db->tree.count + 1, 1);
    self.lines = calloc(d->profiles->thread_count + 1, sizeof *self.lines);
    lode_status status = self.classes && self.lines ? read_lines(&self, error) : lode_fail_memory(error);
    free(self.classes);
    free(self.lines);
    return status;
}
