/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recording/cuts.h"

#include "base/error.h"
#include "base/pool.h"
#include "model/recording/recording.h"
#include <stdlib.h>
#include <string.h>

enum {
    RECORD_ALIGN = 16,  /* pieces begin at multiples of it */
    OPEN_MAX = 1 << 20, /* calls of all cuts of a track: 24 MB */
    /* So that the last one does not keep the others waiting long; more cost a longer survey. */
    PIECES_PER_THREAD = 4
};

struct run {
    const lode_recording *recording;
    uint32_t track;
    struct lode_cut_survey *surveys;
};

static lode_status work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    const struct run *run = context;
    (void)worker;
    return run->recording->ops->survey(run->recording, run->track, &run->surveys[item], error);
}

/* The cut after a survey, from the one before it; false if they do not fit. */
static bool join(struct lode_cuts *cuts, const struct lode_cut_survey *survey, size_t *open)
{
    static const struct lode_cut first;
    const struct lode_cut *before = cuts->count ? &cuts->items[cuts->count - 1] : &first;
    size_t count = survey->kept + survey->count;
    *open += count;
    if (!survey->is_regular || survey->kept > before->count || *open > OPEN_MAX)
        return false;
    struct lode_cut_call *calls = lode_arena_alloc(&cuts->arena, count + 1, sizeof *calls);
    if (calls == NULL)
        return false;
    if (survey->kept > 0)
        memcpy(calls, before->calls, survey->kept * sizeof *calls);
    for (size_t i = 0; i < survey->count; i++)
        calls[count - 1 - i] = survey->calls[i];
    cuts->items[cuts->count++] = (struct lode_cut){survey->to, survey->time, count, calls};
    return true;
}

/* Surveys all pieces but the last one. */
static lode_status make(struct lode_cuts *cuts, struct run *run, uint64_t piece, size_t count,
                        unsigned threads, lode_pool *pool, lode_error *error)
{
    struct lode_job job = {.items = count, .work = work, .context = run, .pool = pool};
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        run->surveys[i].from = i * piece;
        run->surveys[i].to = (i + 1) * piece;
    }
    LODE_TRY(lode_pool_run(lode_pool_threads(threads, count), &job, error));
    cuts->items = lode_arena_alloc(&cuts->arena, count, sizeof *cuts->items);
    LODE_TRY_ALLOC(cuts->items, error);
    for (size_t i = 0; i < count && join(cuts, &run->surveys[i], &open); i++) {
    }
    return LODE_OK;
}

uint64_t lode_cuts_size(const lode_recording *recording, uint64_t total, unsigned threads)
{
    if (recording->ops->survey == NULL || recording->piece > 0)
        return recording->ops->survey ? recording->piece : 0;
    uint64_t share = total / threads / PIECES_PER_THREAD;
    return threads == 1 ? 0 : share > LODE_PIECE_MIN ? share : LODE_PIECE_MIN;
}

/* Pieces of one size; a little more than one piece is one, too. */
static uint64_t even_size(const lode_recording *recording, uint64_t bytes, uint64_t piece)
{
    uint64_t pieces = piece ? (bytes + piece / 4 * 3) / piece : 0;
    uint64_t size = recording->piece > 0 || pieces == 0 ? piece : bytes / pieces + 1;
    return (size + RECORD_ALIGN - 1) / RECORD_ALIGN * RECORD_ALIGN;
}

lode_status lode_cuts_make(struct lode_cuts *cuts, const lode_recording *recording, uint32_t track,
                           uint64_t piece, unsigned threads, lode_pool *pool, lode_error *error)
{
    struct run run = {recording, track, NULL};
    uint64_t bytes = recording->tracks[track].bytes;
    *cuts = (struct lode_cuts){.items = NULL};
    lode_arena_init(&cuts->arena, SIZE_MAX);
    piece = even_size(recording, bytes, piece);
    if (recording->ops->survey == NULL || piece == 0 || bytes <= piece)
        return LODE_OK;
    size_t count = (size_t)((bytes - 1) / piece);
    run.surveys = calloc(count, sizeof *run.surveys);
    LODE_TRY_ALLOC(run.surveys, error);
    lode_status status = make(cuts, &run, piece, count, threads, pool, error);
    for (size_t i = 0; i < count; i++)
        free(run.surveys[i].calls);
    free(run.surveys);
    return status;
}

void lode_cuts_free(struct lode_cuts *cuts)
{
    lode_arena_free(&cuts->arena);
}
