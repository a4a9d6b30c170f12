/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/source/source.h"

#include "base/compare.h"
#include "base/progress.h"
#include "format/perf/source/chains.h"
#include "format/perf/source/jitdump.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    KIND_RANK = 2,
    KIND_THREAD = 3,
    METRIC_NAME = 256
};

/* ---- reading ---- */

struct reading {
    struct perf_source *source;
    struct lode_progress progress;
};

static lode_status read_piece(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct reading *self = context;
    return lode_perf_collect(&self->source->workers[worker], item, error);
}

static lode_status count_piece(void *context, uint64_t item, lode_error *error)
{
    struct reading *self = context;
    const struct perf_piece *piece = LODE_ARRAY_AT(&self->source->store.pieces, struct perf_piece, item);
    return lode_progress_add(&self->progress, piece->end - piece->begin, error);
}

/* Stacks of this kind of machine are unwound: each worker has a helper of its own. */
static lode_status begin_unwinding(struct perf_source *source, lode_error *error)
{
    const lode_build_options *options = source->base.input->options;
    source->asking = (struct hpcrun_asking){.options = options,
                                            .binaries = {.program = options->symbols_program,
                                                         .replacements = options->replacements,
                                                         .replacement_count = options->replacement_count,
                                                         .foreign = options->foreign}};
    if (!lode_perf_can_unwind(&source->store) || options->symbols_program == NULL ||
        !lode_perf_has_stacks(&source->store))
        return LODE_OK;
    LODE_TRY(lode_perf_archive_read(&source->archive, &source->replay, source->folder.directory,
                                    options->symbols_program, error));
    source->unwinders = calloc(source->worker_count, sizeof *source->unwinders);
    LODE_TRY_ALLOC(source->unwinders, error);
    for (unsigned i = 0; i < source->worker_count; i++) {
        lode_perf_unwinder_open(&source->unwinders[i], &source->replay, &source->asking, source->recorded,
                                source->folder.directory, &source->archive);
        source->workers[i].unwinder = &source->unwinders[i];
    }
    return LODE_OK;
}

static void end_unwinding(struct perf_source *source)
{
    for (unsigned i = 0; source->unwinders && i < source->worker_count; i++)
        lode_perf_unwinder_close(&source->unwinders[i]);
    free(source->unwinders);
    source->unwinders = NULL;
}

/* Each piece becomes sums and a spool of instants. */
static lode_status read_pieces(struct perf_source *source, int scratch, lode_error *error)
{
    const struct lode_measured_input *input = source->base.input;
    const lode_build_options *options = input->options;
    struct reading self = {.source = source,
                           .progress = {.report = options->on_progress,
                                        .user = options->user,
                                        .phase = "reading",
                                        .total = source->store.bytes}};
    struct lode_job job = {.items = source->store.pieces.count,
                           .work = read_piece,
                           .finish = count_piece,
                           .context = &self,
                           .pool = options->pool};
    unsigned threads = lode_perf_is_serial(&source->store) ? 1 : lode_pool_threads(input->threads, job.items);
    bool needs_spool = source->base.base.has_traces || source->has_switches;
    source->workers = calloc(threads, sizeof *source->workers);
    LODE_TRY_ALLOC(source->workers, error);
    for (unsigned i = 0; i < threads; i++) {
        source->worker_count++;
        LODE_TRY(lode_perf_worker_open(&source->workers[i], &source->replay, i, needs_spool ? scratch : -1,
                                       error));
    }
    LODE_TRY(begin_unwinding(source, error));
    LODE_TRY(lode_pool_run(threads, &job, error));
    end_unwinding(source);
    for (unsigned i = 0; i < threads; i++) {
        struct perf_worker *worker = &source->workers[i];
        if (worker->has_spool)
            LODE_TRY(lode_spool_flush(&worker->spool, error));
        lode_perf_counts_add(&source->counts, &worker->counts);
        source->base.base.counts.spooled_samples += worker->spool.size;
        source->base.base.counts.worker_contexts += worker->raw.tree.count;
    }
    source->base.base.counts.bytes = source->store.bytes;
    return lode_perf_report_counts(&source->store, &source->counts);
}

/* ---- merging ---- */

static lode_status limit_contexts(struct perf_source *source, uint64_t count, lode_error *error)
{
    lode_status status = lode_perf_limit_contexts(&source->store, count);
    return status == LODE_END ? lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET,
                                          "it has more contexts than its size allows (perf-limit)")
                              : status;
}

/* All trees become one, that of the first worker, and so do the threads. */
static lode_status merge_workers(struct perf_source *source, lode_error *error)
{
    struct hpcrun_raw *raw = &source->base.workers[0].raw;
    source->nodes = calloc(source->worker_count, sizeof *source->nodes);
    source->who_of = calloc(source->worker_count, sizeof *source->who_of);
    LODE_TRY_ALLOC(source->nodes && source->who_of, error);
    for (unsigned w = 0; w < source->worker_count; w++) {
        struct perf_worker *worker = &source->workers[w];
        source->nodes[w] = calloc((size_t)worker->raw.tree.count + 1, sizeof **source->nodes);
        source->who_of[w] = calloc(worker->whos.items.count + 1, sizeof **source->who_of);
        LODE_TRY_ALLOC(source->nodes[w] && source->who_of[w], error);
        LODE_TRY_ALLOC(lode_hpcrun_raw_merge(raw, &worker->raw, source->nodes[w], NULL), error);
        LODE_TRY(limit_contexts(source, raw->tree.count, error));
        lode_hpcrun_raw_free(&worker->raw);
        worker->raw = (struct hpcrun_raw){0};
        for (size_t i = 0; i < worker->whos.items.count; i++) {
            source->who_of[w][i] = lode_interner_add(
                &source->whos, LODE_ARRAY_AT(&worker->whos.items, struct perf_who, i), NULL);
            LODE_TRY_ALLOC(source->who_of[w][i] != LODE_NO_NUMBER, error);
        }
    }
    return LODE_OK;
}

/* ---- profiles ---- */

static int compare_profiles(const void *left, const void *right)
{
    const struct perf_profile *a = left, *b = right;
    int order = LODE_COMPARE(a->who.pid, b->who.pid);
    order = order ? order : LODE_COMPARE(a->leader, b->leader);
    order = order ? order : LODE_COMPARE(a->who.tid, b->who.tid);
    return order ? order : LODE_COMPARE(a->who.thread, b->who.thread);
}

/* A process is a rank, by its id; its threads are numbered in it. */
static lode_status name_profiles(struct perf_source *source, lode_error *error)
{
    struct hpcrun_source *base = &source->base;
    const struct perf_profile *profile = source->profiles, *last = NULL;
    uint32_t rank = 0, thread = 0;
    for (uint32_t i = 0; i < base->entry_count; i++, last = profile++) {
        bool is_new = last && (last->who.pid != profile->who.pid || last->leader != profile->leader);
        lode_id *ids = lode_arena_alloc(&base->arena, 2, sizeof *ids);
        LODE_TRY_ALLOC(ids, error);
        rank += is_new;
        thread = i == 0 || is_new ? 0 : thread + 1;
        ids[0] = (lode_id){KIND_RANK, LODE_ID_PHYSICAL, rank, (uint32_t)profile->who.pid};
        ids[1] = (lode_id){KIND_THREAD, LODE_ID_PHYSICAL, thread, (uint32_t)profile->who.tid};
        base->entries[i] = (struct hpcrun_entry){.name = "", .id_count = 2, .ids = ids};
        base->item_of[i] = i;
        source->profile_of[profile->number] = i;
    }
    return LODE_OK;
}

/* Switches name threads of other processes, too, of which nothing else is told. */
static lode_status find_own(const struct perf_source *source, bool **out, lode_error *error)
{
    size_t count = source->whos.items.count;
    bool *is_own = calloc(count + 1, sizeof *is_own);
    *out = is_own;
    LODE_TRY_ALLOC(is_own, error);
    for (size_t i = 0; i < count; i++)
        is_own[i] = LODE_ARRAY_AT(&source->whos.items, struct perf_who, i)->thread != LODE_NONE;
    for (unsigned w = 0; w < source->worker_count; w++) {
        const struct perf_worker *worker = &source->workers[w];
        for (size_t i = 0; i < worker->lanes.items.count; i++)
            is_own[source->who_of[w][LODE_ARRAY_AT(&worker->lanes.items, struct perf_lane, i)->who]] = true;
        for (size_t i = 0; i < worker->runs.count; i++) {
            const struct perf_run *run = LODE_ARRAY_AT(&worker->runs, struct perf_run, i);
            is_own[source->who_of[w][run->who]] |= run->is_own;
        }
    }
    return LODE_OK;
}

static void list_profiles(struct perf_source *source, const bool *is_own)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < source->whos.items.count; i++) {
        const struct perf_who *who = LODE_ARRAY_AT(&source->whos.items, struct perf_who, i);
        uint32_t leader =
            who->thread == LODE_NONE ? LODE_NONE : perf_thread_at(&source->replay, who->thread)->leader;
        source->profile_of[i] = LODE_NONE;
        if (is_own[i])
            source->profiles[count++] = (struct perf_profile){*who, leader, i};
    }
    if (count > 1)
        qsort(source->profiles, count, sizeof *source->profiles, compare_profiles);
    source->base.entry_count = source->base.share = count;
    source->base.base.base.count = count;
}

static lode_status make_profiles(struct perf_source *source, lode_error *error)
{
    struct hpcrun_source *base = &source->base;
    size_t most = source->whos.items.count + 1;
    bool *is_own = NULL;
    source->profiles = calloc(most, sizeof *source->profiles);
    source->profile_of = calloc(most, sizeof *source->profile_of);
    base->entries = calloc(most, sizeof *base->entries);
    base->reads = calloc(most, sizeof *base->reads);
    base->item_of = calloc(most, sizeof *base->item_of);
    LODE_TRY_ALLOC(source->profiles && source->profile_of && base->entries && base->reads && base->item_of,
                   error);
    lode_status status = find_own(source, &is_own, error);
    if (status == LODE_OK) {
        list_profiles(source, is_own);
        status = name_profiles(source, error);
    }
    free(is_own);
    return status;
}

/* ---- metrics ---- */

static lode_status add_metric(struct perf_source *source, const char *name, uint32_t position, uint32_t *out,
                              lode_error *error)
{
    struct hpcrun_raw *raw = &source->base.workers[0].raw;
    struct hpcrun_raw_metric metric = {.name = name,
                                       .description = "",
                                       .format = "",
                                       .formula = "",
                                       .origin = {0, position},
                                       .show = 1,
                                       .percent = 1};
    char other[METRIC_NAME + 16];
    size_t before = raw->metrics.count;
    *out = lode_hpcrun_raw_metric(raw, &metric);
    /* Two events may have one name. */
    for (unsigned i = 2; *out != LODE_NO_NUMBER && raw->metrics.count == before; i++) {
        snprintf(other, sizeof other, "%s #%u", name, i);
        metric.name = other;
        *out = lode_hpcrun_raw_metric(raw, &metric);
    }
    LODE_TRY_ALLOC(*out != LODE_NO_NUMBER, error);
    return LODE_OK;
}

/* The metrics of an event: its costs, and what else was counted, if anything was. */
static bool has_metric(const struct perf_store *store, const struct perf_event *event, unsigned kind)
{
    bool has_branches = event->attr.sample_type & PERF_HAS_BRANCHES && !perf_branches_are_calls(event);
    return kind == PERF_METRIC_PERIOD || kind == PERF_METRIC_SAMPLES ||
           (kind == PERF_METRIC_COUNTED ? store->counts[PERF_READ] > 0 : has_branches);
}

static lode_status add_event_metrics(struct perf_source *source, uint32_t number, lode_error *error)
{
    static const char *const suffixes[PERF_METRICS] = {"", ":samples", ":branches", ":mispredicted",
                                                       ":counted"};
    const struct perf_event *event = perf_event_at(&source->store, number);
    char buffer[PERF_EVENT_NAME], name[METRIC_NAME];
    const char *words = lode_perf_event_name(event, buffer);
    for (unsigned kind = 0; kind < PERF_METRICS && !event->is_dummy; kind++) {
        bool is_time =
            lode_perf_event_is_time(event) && (kind == PERF_METRIC_PERIOD || kind == PERF_METRIC_COUNTED);
        uint32_t position = PERF_METRICS * number + kind;
        if (!has_metric(&source->store, event, kind))
            continue;
        snprintf(name, sizeof name, "%.200s%s%s", words, suffixes[kind], is_time ? " (sec)" : "");
        LODE_TRY(add_metric(source, name, position, &source->metrics[position], error));
    }
    return LODE_OK;
}

static lode_status add_metrics(struct perf_source *source, lode_error *error)
{
    size_t count = source->store.events.count;
    source->metrics = calloc(PERF_METRICS * count + 1, sizeof *source->metrics);
    LODE_TRY_ALLOC(source->metrics, error);
    for (uint32_t i = 0; i < count; i++)
        LODE_TRY(add_event_metrics(source, i, error));
    return source->has_switches ? add_metric(source, "off-CPU (sec)", (uint32_t)(PERF_METRICS * count),
                                             &source->off_metric, error)
                                : LODE_OK;
}

/* ---- costs ---- */

static int compare_costs(const void *left, const void *right)
{
    const struct perf_cost *a = left, *b = right;
    int order = LODE_COMPARE(a->profile, b->profile);
    order = order ? order : LODE_COMPARE(a->node, b->node);
    return order ? order : LODE_COMPARE(a->event, b->event);
}

static lode_status list_costs(struct perf_source *source, lode_error *error)
{
    for (unsigned w = 0; w < source->worker_count; w++) {
        const struct perf_worker *worker = &source->workers[w];
        for (size_t i = 0; i < worker->rows.count; i++) {
            const struct perf_row *row = LODE_ARRAY_AT(&worker->rows, struct perf_row, i);
            const struct perf_lane *lane = LODE_ARRAY_AT(&worker->lanes.items, struct perf_lane, row->lane);
            struct perf_cost *cost = lode_array_push(&source->costs);
            LODE_TRY_ALLOC(cost, error);
            *cost = (struct perf_cost){.profile = source->profile_of[source->who_of[w][lane->who]],
                                       .node = source->nodes[w][row->node],
                                       .event = lane->event,
                                       .count = row->count,
                                       .sum = row->sum};
        }
    }
    return LODE_OK;
}

static lode_status put_row(struct perf_source *source, const struct perf_cost *cost, uint32_t metric,
                           double value, lode_error *error)
{
    struct hpcrun_row row = {.value = value, .node = cost->node, .metric = metric};
    source->base.reads[cost->profile].row_count++;
    return lode_spool_write(&source->base.workers[0].rows, &row, sizeof row, error);
}

/* Counts that are no samples may be 0, which is no value. */
static lode_status put_counts(struct perf_source *source, const struct perf_cost *cost,
                              const uint32_t *metrics, double sum, lode_error *error)
{
    bool has_branches = (cost->event & PERF_EVENT_BRANCHES) != 0;
    if (has_branches && cost->count > 0)
        LODE_TRY(put_row(source, cost, metrics[PERF_METRIC_BRANCHES], (double)cost->count, error));
    uint32_t metric = metrics[has_branches ? PERF_METRIC_MISPREDICTED : PERF_METRIC_COUNTED];
    return sum > 0 ? put_row(source, cost, metric, sum, error) : LODE_OK;
}

static lode_status put_cost(struct perf_source *source, const struct perf_cost *cost, lode_error *error)
{
    enum {
        SECOND = 1000000000
    };
    if (cost->event == PERF_COST_OFF)
        return put_row(source, cost, source->off_metric, (double)cost->sum / SECOND, error);
    uint32_t number = cost->event & PERF_EVENT_NUMBER;
    const struct perf_event *event = perf_event_at(&source->store, number);
    const uint32_t *metrics = &source->metrics[PERF_METRICS * (size_t)number];
    if (event->is_dummy)
        return LODE_OK;
    bool is_time = lode_perf_event_is_time(event) && !(cost->event & PERF_EVENT_BRANCHES);
    double sum = (double)cost->sum / (is_time ? SECOND : 1);
    if (cost->event != number)
        return put_counts(source, cost, metrics, sum, error);
    LODE_TRY(put_row(source, cost, metrics[PERF_METRIC_PERIOD], sum, error));
    return put_row(source, cost, metrics[PERF_METRIC_SAMPLES], (double)cost->count, error);
}

/* Of the samples of a module, those without a name are told. */
static void count_sample(const struct perf_source *source, const struct perf_cost *cost)
{
    const struct hpcrun_raw *raw = &source->base.workers[0].raw;
    const struct hpcrun_raw_frame *frame =
        lode_hpcrun_raw_frame(raw, lode_tree_node(&raw->tree, cost->node)->frame);
    if (frame->kind == HPCRUN_RAW_POINT)
        source->module_samples[LODE_ARRAY_AT(&raw->modules.items, struct hpcrun_module_key, frame->module)
                                   ->directory] += cost->count;
}

/* Costs of several workers at one place are added up exactly, then written by profile. */
static lode_status put_costs(struct perf_source *source, lode_error *error)
{
    struct perf_cost *costs = source->costs.items;
    size_t count = source->costs.count, i = 0;
    uint64_t overflows = 0;
    source->module_samples = calloc(source->replay.modules.items.count + 1, sizeof *source->module_samples);
    LODE_TRY_ALLOC(source->module_samples, error);
    if (count > 1)
        qsort(costs, count, sizeof *costs, compare_costs);
    for (uint32_t profile = 0; profile < source->base.entry_count; profile++) {
        source->base.reads[profile].rows_at = source->base.workers[0].rows.size;
        while (i < count && costs[i].profile == profile) {
            struct perf_cost sum = costs[i++];
            for (; i < count && compare_costs(&sum, &costs[i]) == 0; i++) {
                sum.count += costs[i].count;
                lode_wide_add(&sum.sum, costs[i].sum, &overflows);
            }
            LODE_TRY(put_cost(source, &sum, error));
            if (sum.event > PERF_EVENT_NUMBER)
                continue;
            count_sample(source, &sum);
            source->store.report->result.values++;
        }
    }
    lode_array_free(&source->costs);
    return LODE_OK;
}

/* ---- the source ---- */

/* The program that was recorded, or how perf was called. */
static const char *title_of(const struct perf_store *store)
{
    const char *program = store->command ? strstr(store->command, " -- ") : NULL;
    return program          ? program + strlen(" -- ")
           : store->command ? store->command
                            : perf_part_at(store, 0)->name;
}

static lode_status name_all(struct perf_source *source, lode_error *error)
{
    static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    struct hpcrun_raw *raw = &source->base.workers[0].raw;
    struct hpcrun_origin origin = {0, 0};
    bool done = lode_hpcrun_raw_title(raw, title_of(&source->store), origin);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds && done; i++)
        done = lode_hpcrun_raw_kind(raw, i, kinds[i], origin);
    LODE_TRY_ALLOC(done, error);
    return add_metrics(source, error);
}

/* The earliest and the latest instant. */
static void find_times(struct perf_source *source)
{
    struct hpcrun_worker *out = &source->base.workers[0];
    for (unsigned w = 0; w < source->worker_count; w++)
        for (size_t i = 0; i < source->workers[w].runs.count; i++) {
            const struct perf_run *run = LODE_ARRAY_AT(&source->workers[w].runs, struct perf_run, i);
            uint64_t first = lode_perf_wall_time(&source->store, run->first);
            uint64_t last = lode_perf_wall_time(&source->store, run->last);
            out->first = first < out->first ? first : out->first;
            out->last = last > out->last ? last : out->last;
        }
}

/* What a check says that there is. */
static void count_all(const struct perf_source *source)
{
    lode_check_result *result = &source->store.report->result;
    result->contexts = source->base.workers[0].raw.tree.count;
    result->profiles = source->base.entry_count + 1; /* and the summary */
    result->samples = source->counts.samples;
}

static lode_status read_all(struct hpcrun_source *base, int scratch, lode_error *error)
{
    struct perf_source *source = perf_source_of(base);
    struct hpcrun_worker *out;
    base->threads = 1;
    LODE_TRY(lode_hpcrun_open_workers(base, scratch, error));
    out = &base->workers[0];
    LODE_TRY(read_pieces(source, scratch, error));
    LODE_TRY(merge_workers(source, error));
    LODE_TRY(make_profiles(source, error));
    LODE_TRY(name_all(source, error));
    LODE_TRY(list_costs(source, error));
    find_times(source);
    if (source->has_switches || (base->base.has_traces && !source->puts_off))
        LODE_TRY(lode_perf_lines(source, error));
    LODE_TRY(put_costs(source, error));
    count_all(source);
    LODE_TRY(lode_spool_flush(&out->rows, error));
    base->base.counts.records = out->records;
    base->base.counts.spooled_rows = out->rows.size;
    return lode_spool_flush(&out->samples, error);
}

static void close_workers(struct perf_source *source)
{
    for (unsigned i = 0; i < source->worker_count; i++) {
        lode_perf_worker_close(&source->workers[i]);
        if (source->nodes)
            free(source->nodes[i]);
        if (source->who_of)
            free(source->who_of[i]);
    }
    free(source->workers);
    free(source->nodes);
    free(source->who_of);
}

static void close_all(struct hpcrun_source *base)
{
    struct perf_source *source = perf_source_of(base);
    end_unwinding(source);
    close_workers(source);
    free(source->profiles);
    free(source->profile_of);
    free(source->metrics);
    free(source->module_samples);
    lode_array_free(&source->costs);
    lode_perf_free_dumps(source);
    lode_perf_archive_free(&source->archive);
    lode_interner_free(&source->whos);
    lode_perf_replay_free(&source->replay);
    lode_perf_free(&source->store);
    if (source->is_open)
        lode_folder_close(&source->folder);
}

static const struct hpcrun_reader reader = {
    .read = read_all,
    .ask = lode_perf_ask,
    .close = close_all,
};

/* Switches of threads tell how long they did not run. */
static bool has_switches(const struct perf_store *store)
{
    bool found = store->counts[PERF_SWITCH] + store->counts[PERF_SWITCH_CPU] > 0;
    for (size_t i = 0; i < store->events.count; i++)
        found |= perf_event_at(store, i)->is_switch;
    return found;
}

/* Who may read the recording, and when it was written last. */
static lode_status look(struct perf_source *source, lode_error *error)
{
    const char *name = perf_part_at(&source->store, 0)->name;
    struct stat about = {.st_mode = S_IFREG | 0600};
    int fd = source->folder.directory < 0 ? -1 : lode_folder_open_fd(&source->folder, name);
    if (fd < 0)
        return source->folder.directory < 0 ? LODE_OK : lode_fail_errno(error, name, "cannot open");
    int status = fstat(fd, &about);
    close(fd);
    if (status != 0)
        return lode_fail_errno(error, name, "cannot look at it");
    source->base.base.access = lode_access_of(&about);
    source->recorded = about.st_mtime;
    source->owner = about.st_uid;
    return LODE_OK;
}

static lode_status open_recording(struct perf_source *source, const struct lode_folder *folder,
                                  lode_error *error)
{
    const lode_build_options *options = source->base.input->options;
    LODE_TRY(lode_folder_copy(&source->folder, folder, &source->base.arena, error));
    source->is_open = true;
    LODE_TRY(lode_perf_begin(&source->store, &source->folder));
    LODE_TRY(look(source, error));
    LODE_TRY(lode_perf_read_dumps(source, error));
    LODE_TRY(lode_perf_replay(&source->replay));
    source->has_switches = has_switches(&source->store);
    source->base.base.has_traces =
        options->trace != LODE_TRACE_NONE &&
        (lode_perf_trace_event(&source->store) != LODE_NONE || source->has_switches);
    return LODE_OK;
}

lode_status lode_perf_source_open(struct perf_source **out, const struct lode_folder *folder,
                                  const struct lode_measured_input *input, struct lode_report *report,
                                  lode_error *error)
{
    struct perf_source *source = calloc(1, sizeof *source);
    LODE_TRY_ALLOC(source, error);
    lode_hpcrun_source_init(&source->base, input, &reader);
    *out = source;
    source->base.report = report;
    lode_perf_init(&source->store, report);
    lode_perf_replay_init(&source->replay, &source->store);
    lode_perf_archive_init(&source->archive);
    lode_interner_init(&source->whos, sizeof(struct perf_who));
    lode_array_init(&source->costs, sizeof(struct perf_cost), SIZE_MAX);
    lode_map_init(&source->dump_of);
    lode_array_init(&source->dumps, sizeof(struct perf_dump), UINT32_MAX - 1);
    lode_status status = open_recording(source, folder, error);
    return status == LODE_END ? lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET,
                                          "nothing in it can be read; 'lode check' says why")
                              : status;
}
