/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the tracks of a slice. */
#include "analysis/calls/calls.h"
#include "analysis/calls/finding_list.h"
#include "analysis/calls/off_cpu.h"
#include "analysis/calls/parts/estimate.h"
#include "analysis/calls/parts/pieces.h"
#include "analysis/calls/parts/sample.h"
#include "analysis/calls/slice.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/progress.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENT_BYTES = 16,          /* approximate size of a record, for progress */
    EVENTS_PER_STEP = 1 << 20, /* between progress reports */
    SMALL_TRACKS = 64          /* tracks per worker's share that count as small */
};

/* Findings of a row that has some. */
struct kept {
    uint32_t row;
    struct lode_finding_list list;
};

struct worker {
    /* If off-CPU time is no call: the window first, depth and shortest time on the new clock. */
    _Alignas(LODE_WORKER_ALIGN) struct lode_slicer slicer, inner;
    struct lode_off_cpu off_cpu;
    unsigned number; /* as the consumer knows it: another one for each group of an estimate */
    struct lode_finding_buffer buffer;
    struct lode_finding_list found; /* in the row that it reads */
    struct lode_array kept;         /* struct kept: most rows have none, and may be millions */
};

struct run {
    struct lode_pass *pass;
    /* First rows of what a worker reads and, after the number of rows, pieces. */
    struct lode_sampled order;
    struct lode_pieces pieces;
    atomic_bool is_misfit; /* a piece did not end where the next one began */
    struct worker *workers;
    pthread_mutex_t lock; /* protects progress, and rows that are cut */
    struct lode_progress progress;
};

/* ---- the pass ---- */

lode_status lode_pass_open(struct lode_pass *pass, const lode_recording *recording, const lode_slice *slice,
                           const lode_calls_options *options, lode_error *error)
{
    *pass = (struct lode_pass){
        .recording = recording, .slice = LODE_SLICE_INIT, .options = LODE_CALLS_OPTIONS_INIT, .groups = 1};
    LODE_TRY(lode_options_take(&pass->slice, slice, error));
    LODE_TRY(lode_options_take(&pass->options, options, error));
    LODE_TRY(lode_slice_tracks(&pass->slice, recording, &pass->row_count, error));
    pass->threads =
        lode_pool_threads(lode_pool_asked(pass->options.threads, pass->options.pool), pass->row_count);
    pass->rows = calloc((size_t)pass->row_count + 1, sizeof *pass->rows);
    LODE_TRY_ALLOC(pass->rows, error);
    for (uint32_t i = 0; i < pass->row_count; i++)
        pass->rows[i].track = lode_slice_track(&pass->slice, i);
    return LODE_OK;
}

void lode_pass_join(struct lode_pass *pass)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pass->row_count; i++) {
        uint32_t track = pass->rows[i].track, main = recording_main(pass->recording, track);
        if (kept == 0 || recording_main(pass->recording, pass->rows[kept - 1].track) != main)
            pass->rows[kept++].track = track;
    }
    pass->row_count = kept;
    pass->has_requests = true;
}

/* The track after the last one of a row. */
static uint32_t end_of_row(const struct lode_pass *pass, uint32_t track)
{
    uint32_t end = track + 1;
    while (pass->has_requests && end < pass->recording->track_count &&
           recording_main(pass->recording, end) == recording_main(pass->recording, track))
        end++;
    return end;
}

static uint64_t bytes_of_row(const struct lode_pass *pass, uint32_t track)
{
    uint64_t bytes = 0;
    for (uint32_t end = end_of_row(pass, track); track < end; track++)
        bytes += pass->recording->tracks[track].bytes;
    return bytes;
}

void lode_pass_close(struct lode_pass *pass)
{
    free(pass->rows);
    pass->rows = NULL;
}

void *lode_workers_new(unsigned count, size_t size)
{
    void *workers = aligned_alloc(LODE_WORKER_ALIGN, count * size);
    return workers ? memset(workers, 0, count * size) : NULL;
}

void *lode_pass_workers(const struct lode_pass *pass, size_t size)
{
    return lode_workers_new(lode_pass_worker_count(pass), size);
}

/* ---- findings ---- */

/* The row, or its last piece, was read. */
static lode_status keep_findings(struct worker *self, uint32_t row, lode_error *error)
{
    if (self->buffer.failed)
        return lode_fail_memory(error);
    if (self->found.items.count == 0)
        return LODE_OK;
    struct kept *kept = lode_array_push(&self->kept);
    LODE_TRY_ALLOC(kept, error);
    *kept = (struct kept){row, self->found};
    lode_finding_list_init(&self->found);
    return LODE_OK;
}

LODE_COMPARE_BY(compare_kept, struct kept, row);

/* In the order of rows, each of which one worker has read. */
static lode_status pass_findings_on(const struct run *run, lode_error *error)
{
    const lode_calls_options *options = &run->pass->options;
    size_t count = 0;
    for (unsigned i = 0; i < run->pass->threads; i++)
        count += run->workers[i].kept.count;
    struct kept *all = calloc(count + 1, sizeof *all), *end = all;
    LODE_TRY_ALLOC(all, error);
    for (unsigned i = 0; i < run->pass->threads; i++)
        for (size_t k = 0; k < run->workers[i].kept.count; k++)
            *end++ = *LODE_ARRAY_AT(&run->workers[i].kept, struct kept, k);
    qsort(all, count, sizeof *all, compare_kept);
    lode_status status = LODE_OK;
    for (size_t i = 0; i < count && status == LODE_OK; i++)
        status = lode_finding_list_pass_on(&all[i].list, options->on_finding, options->user, error);
    free(all);
    return status;
}

static void forget_findings(struct worker *self)
{
    for (size_t i = 0; i < self->kept.count; i++)
        lode_finding_list_free(&LODE_ARRAY_AT(&self->kept, struct kept, i)->list);
    lode_array_free(&self->kept);
    lode_finding_list_free(&self->found);
    lode_finding_buffer_free(&self->buffer);
}

/* ---- a track ---- */

/* Reports `events` more of a track of which `*left` bytes are not yet reported. */
static lode_status report_events(struct run *run, uint64_t events, uint64_t *left, lode_error *error)
{
    uint64_t bytes = events * EVENT_BYTES < *left ? events * EVENT_BYTES : *left;
    *left -= bytes;
    pthread_mutex_lock(&run->lock);
    lode_status status = lode_progress_add(&run->progress, bytes, error);
    pthread_mutex_unlock(&run->lock);
    return status;
}

static lode_status hand_on(const struct run *run, unsigned worker, lode_track_row *row,
                           const lode_event *events, size_t count, lode_error *error)
{
    const struct lode_pass *pass = run->pass;
    if (count == 0)
        return LODE_OK;
    if (row->events == 0 || events[0].time < row->begin)
        row->begin = events[0].time;
    row->events += count;
    if (events[count - 1].time > row->end)
        row->end = events[count - 1].time;
    return pass->take(pass->user, run->workers[worker].number, events, count, error);
}

/* Passes the output of the first slicer to the consumer. */
static lode_status process(const struct run *run, unsigned worker, lode_track_row *row,
                           const lode_event *events, size_t count, lode_error *error)
{
    struct worker *self = &run->workers[worker];
    LODE_TRY(lode_off_cpu_take(&self->off_cpu, &events, &count, error));
    LODE_TRY(lode_slicer_push(&self->inner, events, count, &events, &count, error));
    return hand_on(run, worker, row, events, count, error);
}

/* `left`: bytes of the track, or of the piece. */
static lode_status read_events(struct run *run, unsigned worker, lode_track_row *row, uint64_t left,
                               lode_cursor *cursor, lode_error *error)
{
    struct lode_slicer *slicer = &run->workers[worker].slicer;
    uint64_t unreported = 0;
    const lode_event *events;
    size_t count;
    while (!lode_slicer_has_ended(slicer) && !run->is_misfit) {
        lode_status status = lode_cursor_next(cursor, &events, &count, error);
        if (status == LODE_END)
            break;
        LODE_TRY(status);
        unreported += count;
        LODE_TRY(lode_slicer_push(slicer, events, count, &events, &count, error));
        LODE_TRY(process(run, worker, row, events, count, error));
        if (unreported >= EVENTS_PER_STEP) {
            LODE_TRY(report_events(run, unreported, &left, error));
            unreported = 0;
        }
    }
    LODE_TRY(lode_slicer_finish(slicer, &events, &count, error));
    LODE_TRY(process(run, worker, row, events, count, error));
    LODE_TRY(lode_slicer_finish(&run->workers[worker].inner, &events, &count, error));
    LODE_TRY(hand_on(run, worker, row, events, count, error));
    row->repairs += cursor->repairs;
    return report_events(run, left, &left, error);
}

static void reset_worker(struct worker *self)
{
    lode_slicer_reset(&self->slicer);
    lode_slicer_reset(&self->inner);
    lode_off_cpu_reset(&self->off_cpu);
}

/* Reads one track of a row. */
static lode_status read_part(struct run *run, unsigned worker, lode_track_row *row, uint32_t track,
                             const lode_cursor_options *options, lode_error *error)
{
    const lode_recording *recording = run->pass->recording;
    lode_cursor *cursor;
    reset_worker(&run->workers[worker]);
    lode_status status = lode_cursor_open(&cursor, recording, track, options, error);
    if (status == LODE_OK)
        status = read_events(run, worker, row, recording->tracks[track].bytes, cursor, error);
    lode_cursor_close(cursor);
    return status;
}

static lode_status read_parts(struct run *run, unsigned worker, lode_track_row *row,
                              const lode_cursor_options *options, lode_error *error)
{
    const struct lode_pass *pass = run->pass;
    LODE_TRY(read_part(run, worker, row, row->track, options, error));
    for (uint32_t i = row->track + 1, end = end_of_row(pass, row->track); i < end; i++) {
        if (pass->side)
            LODE_TRY(pass->side(pass->user, run->workers[worker].number, i, error));
        LODE_TRY(read_part(run, worker, row, i, options, error));
    }
    return LODE_OK;
}

/* Findings go to those of the row that the worker reads. */
static lode_cursor_options options_of_row(struct run *run, unsigned worker)
{
    const struct lode_pass *pass = run->pass;
    struct worker *self = &run->workers[worker];
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    options.strict = pass->options.strict;
    if (pass->options.on_finding) {
        lode_finding_buffer_begin(&self->buffer, &self->found);
        options.on_finding = lode_finding_buffer_take;
        options.user = &self->buffer;
    }
    return options;
}

/* What is not read may be damaged, too: not for an estimate. */
static void meet_repairs(struct run *run)
{
    if (run->pass->sample.piece > 0)
        run->is_misfit = true;
}

static lode_status read_track(struct run *run, unsigned worker, lode_track_row *row, lode_error *error)
{
    const struct lode_pass *pass = run->pass;
    struct worker *self = &run->workers[worker];
    lode_track_row own = *row; /* copied: adjacent rows belong to other workers */
    if (pass->begin)
        LODE_TRY(pass->begin(pass->user, self->number, row, error));
    lode_cursor_options options = options_of_row(run, worker);
    lode_status status = read_parts(run, worker, &own, &options, error);
    LODE_TRY(keep_findings(self, (uint32_t)(row - pass->rows), error));
    if (status == LODE_OK)
        status = pass->end(pass->user, self->number, &own, error);
    if (self->off_cpu.is_asked)
        own.out = self->off_cpu.inside;
    if (own.repairs > 0)
        meet_repairs(run);
    /* Not its track, which other workers read. */
    lode_piece_add(row, &own);
    return status;
}

/* ---- a piece of a track ---- */

/* Only the last piece may repair: what the others repair could change what follows. */
static lode_status read_piece_events(struct run *run, unsigned worker, const struct lode_piece *piece,
                                     lode_track_row *part, lode_error *error)
{
    const lode_recording *recording = run->pass->recording;
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    reset_worker(&run->workers[worker]);
    run->workers[worker].off_cpu.depth = piece->from ? piece->from->count : 0;
    if (piece->to == NULL)
        options = options_of_row(run, worker);
    LODE_TRY(recording->ops->cursor_open_piece(&cursor, recording, part->track, piece->from, piece->to,
                                               &options, error));
    lode_status status = read_events(run, worker, part, piece->bytes, cursor, error);
    if (piece->to && status == LODE_OK && !recording->ops->cursor_meets(cursor, piece->to))
        run->is_misfit = true;
    lode_cursor_close(cursor);
    LODE_TRY(keep_findings(&run->workers[worker], piece->row, error));
    return status;
}

static lode_status read_piece(struct run *run, unsigned worker, const struct lode_piece *piece,
                              lode_error *error)
{
    const struct lode_pass *pass = run->pass;
    unsigned number = run->workers[worker].number;
    lode_track_row *row = &pass->rows[piece->row], part = {.track = row->track};
    if (pass->begin)
        LODE_TRY(pass->begin(pass->user, number, &part, error));
    if (piece->from)
        LODE_TRY(pass->resume(pass->user, number, piece->from, error));
    LODE_TRY(read_piece_events(run, worker, piece, &part, error));
    if (piece->to && pass->sample.piece > 0 && pass->pause)
        pass->pause(pass->user, number, piece->to);
    if (piece->to && pass->stop)
        LODE_TRY(pass->stop(pass->user, number, piece->to, error));
    LODE_TRY(pass->end(pass->user, number, &part, error));
    if (run->workers[worker].off_cpu.is_asked)
        part.out = run->workers[worker].off_cpu.inside;
    if (part.repairs > 0)
        meet_repairs(run);
    if (pass->sample.piece > 0 && !lode_sample_is_sure(&pass->sample, number))
        lode_sample_piece(&pass->sample, &part);
    pthread_mutex_lock(&run->lock);
    lode_piece_add(row, &part);
    pthread_mutex_unlock(&run->lock);
    return LODE_OK;
}

/* ---- items of work ---- */

/* Whether a track has events in the time window; much cheaper than reading it. */
static lode_status meets_window(const struct lode_pass *pass, uint32_t track, bool *meets, lode_error *error)
{
    *meets = pass->slice.from == 0 && pass->slice.to == 0;
    for (uint32_t i = track, last = end_of_row(pass, track); i < last && !*meets; i++) {
        uint64_t begin, end;
        lode_status status = lode_track_interval(pass->recording, i, &begin, &end, error);
        *meets = status == LODE_OK && lode_slice_meets(&pass->slice, begin, end);
        if (status != LODE_OK && status != LODE_ABSENT)
            return status;
    }
    return LODE_OK;
}

static lode_status read_row(struct run *run, unsigned worker, lode_track_row *row, lode_error *error)
{
    uint64_t left = bytes_of_row(run->pass, row->track);
    bool meets;
    LODE_TRY(meets_window(run->pass, row->track, &meets, error));
    return meets ? read_track(run, worker, row, error) : report_events(run, left, &left, error);
}

/* The row after the last one of what a worker reads: one row, or those of a request. */
static uint32_t end_of_item(const struct lode_pass *pass, uint32_t row)
{
    uint32_t end = row + 1, main = recording_main(pass->recording, pass->rows[row].track);
    while (pass->end_request && end < pass->row_count &&
           recording_main(pass->recording, pass->rows[end].track) == main)
        end++;
    return end;
}

static uint64_t bytes_of_item(const struct lode_pass *pass, uint32_t row)
{
    uint64_t bytes = 0;
    for (uint32_t end = end_of_item(pass, row); row < end; row++)
        bytes += bytes_of_row(pass, pass->rows[row].track);
    return bytes;
}

static lode_status work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct run *run = context;
    uint32_t row = run->order.places[item], rows = run->pass->row_count;
    run->workers[worker].number =
        worker * run->pass->groups + (run->order.groups ? run->order.groups[item] : 0);
    if (run->is_misfit)
        return LODE_OK;
    if (row >= rows)
        return read_piece(run, worker, &run->pieces.items[row - rows], error);
    for (uint32_t end = end_of_item(run->pass, row); row < end; row++)
        LODE_TRY(read_row(run, worker, &run->pass->rows[row], error));
    if (run->pass->end_request)
        run->pass->end_request(run->pass->user, run->workers[worker].number);
    return LODE_OK;
}

/* ---- a run ---- */

static uint64_t bytes_of(const struct run *run, uint32_t place)
{
    uint32_t rows = run->pass->row_count;
    return place < rows ? bytes_of_item(run->pass, place) : run->pieces.items[place - rows].bytes;
}

static int compare_sizes(const void *left, const void *right, void *argument)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint64_t x = bytes_of(argument, a), y = bytes_of(argument, b);
    if (x != y)
        return x > y ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void open_worker(struct worker *self, const struct lode_pass *pass)
{
    lode_slice window = pass->slice, inner = LODE_SLICE_INIT;
    self->off_cpu.stops = pass->options.is_running;
    /* Without such events, only the order of the two slicers would matter. */
    bool can_be_out = !pass->recording->is_never_out || window.depth > 0 || window.min_time > 0;
    self->off_cpu.is_asked = pass->options.is_running || (pass->slice.no_sched && can_be_out);
    window.no_sched = self->off_cpu.is_asked && window.no_sched;
    if (self->off_cpu.is_asked) {
        inner.depth = window.depth;
        inner.min_time = window.min_time;
        window.depth = 0;
        window.min_time = 0;
        window.no_sched = 0;
    }
    lode_slicer_init(&self->slicer, &window);
    lode_slicer_init(&self->inner, &inner);
    lode_finding_list_init(&self->found);
    lode_array_init(&self->kept, sizeof(struct kept), SIZE_MAX);
}

/* Puts a row or a piece among the large ones, or where it is in the order of the others. */
static void put(struct run *run, uint32_t place, bool is_large)
{
    uint64_t least = run->progress.total / SMALL_TRACKS / run->pass->threads;
    if ((bytes_of(run, place) >= least) == is_large)
        run->order.places[run->order.count++] = place;
}

/*
 * Rows that are not cut, and all pieces, the largest first. Small ones keep their order, so that
 * adjacent ones are read together; there may be millions.
 */
static lode_status put_in_order(struct run *run, lode_error *error)
{
    const struct lode_pieces *pieces = &run->pieces;
    uint32_t rows = run->pass->row_count;
    run->order.places = calloc(rows + pieces->count + 1, sizeof *run->order.places);
    LODE_TRY_ALLOC(run->order.places, error);
    for (int is_large = 1; is_large >= 0; is_large--) {
        for (uint32_t i = 0; i < rows; i = end_of_item(run->pass, i))
            if (pieces->cuts == NULL || pieces->cuts[i].count == 0)
                put(run, i, is_large);
        for (uint32_t i = 0; i < pieces->count; i++)
            put(run, rows + i, is_large);
        if (is_large)
            qsort_r(run->order.places, run->order.count, sizeof *run->order.places, compare_sizes, run);
    }
    return LODE_OK;
}

static lode_status run_open(struct run *run, lode_error *error)
{
    struct lode_pass *pass = run->pass;
    run->workers = lode_pass_workers(pass, sizeof *run->workers);
    LODE_TRY_ALLOC(run->workers, error);
    for (uint32_t i = 0; i < pass->row_count; i++)
        run->progress.total += bytes_of_row(pass, pass->rows[i].track);
    for (unsigned i = 0; i < pass->threads; i++)
        open_worker(&run->workers[i], pass);
    LODE_TRY(lode_pieces_make(&run->pieces, pass, run->progress.total, error));
    if (pass->sample.piece == 0)
        return put_in_order(run, error);
    LODE_TRY(lode_sample_choose(&run->order, pass, &run->pieces, end_of_item, error));
    run->progress.total = pass->sample.read.bytes_read;
    return LODE_OK;
}

static void run_close(struct run *run)
{
    for (unsigned i = 0; run->workers && i < run->pass->threads; i++) {
        lode_slicer_free(&run->workers[i].slicer);
        lode_slicer_free(&run->workers[i].inner);
        lode_off_cpu_free(&run->workers[i].off_cpu);
        forget_findings(&run->workers[i]);
    }
    lode_pieces_free(&run->pieces);
    free(run->workers);
    free(run->order.places);
    free(run->order.groups);
    pthread_mutex_destroy(&run->lock);
}

/* Of all rows from those that were read whole; pieces are estimates already. */
static void estimate_rows(struct run *run)
{
    struct lode_pass *pass = run->pass;
    struct lode_sample_carry carry = {0};
    for (uint32_t i = 0; i < run->order.count; i++) {
        uint32_t row = run->order.places[i];
        if (row >= pass->row_count || run->order.groups[i] == LODE_SAMPLE_GROUPS)
            continue;
        for (uint32_t end = end_of_item(pass, row); row < end; row++)
            lode_sample_row(&pass->sample, &carry, &pass->rows[row]);
    }
}

/* LODE_NOT_FOUND: the pieces do not fit, or what failed is to be found in a whole track. */
static lode_status run_once(struct lode_pass *pass, lode_error *error)
{
    struct run run = {
        .pass = pass,
        .progress = {.report = pass->options.on_progress, .user = pass->options.user, .phase = "reading"}};
    pthread_mutex_init(&run.lock, NULL);
    lode_status status = run_open(&run, error);
    /* The window spans all tracks: nothing waits for the first, largest one. */
    struct lode_job job = {.items = run.order.count,
                           .work = work,
                           .context = &run,
                           .window = run.order.count,
                           .pool = pass->options.pool};
    if (status == LODE_OK)
        status = lode_pool_run(pass->threads, &job, error);
    bool has_parts = run.pieces.count > 0 || pass->sample.piece > 0;
    if (has_parts && (run.is_misfit || status != LODE_OK) && status != LODE_ERR_CANCELLED)
        status = LODE_NOT_FOUND;
    if (status == LODE_OK && pass->sample.piece > 0)
        estimate_rows(&run);
    if (status == LODE_OK && pass->options.on_finding)
        status = pass_findings_on(&run, error);
    run_close(&run);
    return status;
}

lode_status lode_pass_run(struct lode_pass *pass, lode_error *error)
{
    bool was_cut = pass->cuts;
    lode_status status = run_once(pass, error);
    if (pass->sample.piece > 0 && status == LODE_NOT_FOUND)
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET,
                         "these calls cannot be estimated from parts");
    if (status != LODE_NOT_FOUND || !was_cut)
        return status;
    pass->cuts = false;
    for (uint32_t i = 0; i < pass->row_count; i++)
        pass->rows[i] = (lode_track_row){.track = pass->rows[i].track};
    LODE_TRY(pass->restart(pass->user, error));
    return run_once(pass, error);
}
