/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/search/request.h"
#include "base/error.h"
#include <stdlib.h>

enum {
    CALLS_MAX = INT32_MAX /* of a request */
};

/* ---- reading ---- */

void lode_request_free(struct lode_request *request)
{
    lode_array_free(&request->calls);
    open_calls_free(&request->open);
    lode_array_free(&request->parts);
    free(request->first);
    free(request->next);
}

static lode_status add_part(struct lode_request *request, uint32_t track, lode_error *error)
{
    struct lode_request_part *part = lode_array_push(&request->parts);
    LODE_TRY_ALLOC(part, error);
    *part = (struct lode_request_part){track, lode_request_count(request)};
    open_calls_reset(&request->open);
    request->caller = LODE_NO_CALL;
    return LODE_OK;
}

lode_status lode_request_begin(struct lode_request *request, const lode_recording *recording, uint32_t track,
                               lode_error *error)
{
    if (request->recording == NULL) {
        lode_array_init(&request->calls, sizeof(struct lode_request_call), CALLS_MAX);
        open_calls_init(&request->open, sizeof(uint32_t), CALLS_MAX);
        lode_array_init(&request->parts, sizeof(struct lode_request_part), CALLS_MAX);
    }
    request->recording = recording;
    request->track = track;
    request->calls.count = request->parts.count = 0;
    return add_part(request, track, error);
}

/* The last part whose track and first call are not beyond these. Both rise from part to part. */
static const struct lode_request_part *last_part(const struct lode_request *request, uint32_t track,
                                                 uint32_t call)
{
    const struct lode_request_part *parts = request->parts.items;
    size_t low = 0, high = request->parts.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (parts[middle].track <= track && parts[middle].first <= call)
            low = middle;
        else
            high = middle;
    }
    return &parts[low];
}

static uint32_t find_call(const struct lode_request *request, uint32_t track, uint64_t before)
{
    const struct lode_request_part *part = last_part(request, track, LODE_NO_CALL);
    bool is_there = part->track == track && before < lode_request_count(request) - part->first;
    return is_there ? part->first + (uint32_t)before : LODE_NO_CALL;
}

uint32_t lode_request_track_of(const struct lode_request *request, uint32_t call)
{
    return last_part(request, UINT32_MAX, call)->track;
}

lode_status lode_request_side(struct lode_request *request, uint32_t track, lode_error *error)
{
    const lode_recording *recording = request->recording;
    uint32_t caller_track;
    uint64_t before;
    LODE_TRY(add_part(request, track, error));
    if (recording->ops->caller && recording->ops->caller(recording, track, &caller_track, &before))
        request->caller = find_call(request, caller_track, before);
    return LODE_OK;
}

static lode_status enter(struct lode_request *request, const lode_event *event, lode_error *error)
{
    uint32_t index = lode_request_count(request), caller = lode_request_open(request);
    uint32_t parent = caller == LODE_NO_CALL ? request->caller : caller;
    struct lode_request_call *call = lode_array_push(&request->calls);
    uint32_t *open = call ? open_calls_push(&request->open) : NULL;
    LODE_TRY_ALLOC(open, error);
    *call = (struct lode_request_call){
        .function = event->function, .begin = event->time, .end = event->time, .parent = parent};
    *open = index;
    return LODE_OK;
}

lode_status lode_request_take(struct lode_request *request, const lode_event *event, lode_error *error)
{
    struct lode_request_call *call = lode_request_innermost(request);
    if (event->kind == LODE_EVENT_ENTER)
        return enter(request, event, error);
    if (event->kind != LODE_EVENT_LEAVE || call == NULL)
        return LODE_OK;
    call->end = event->time > call->begin ? event->time : call->begin;
    call->has_failed = (event->flags & LODE_EVENT_FAILED) != 0;
    (void)open_calls_pop(&request->open);
    return LODE_OK;
}

lode_status lode_request_finish(struct lode_request *request, lode_error *error)
{
    uint32_t count = lode_request_count(request);
    if (count >= request->capacity) {
        uint32_t capacity = request->capacity, wanted = count + count / 2 + 1;
        LODE_TRY_ALLOC(LODE_GROW(request->first, capacity, wanted), error);
        LODE_TRY_ALLOC(LODE_GROW(request->next, request->capacity, wanted), error);
    }
    for (uint32_t i = 0; i <= count; i++)
        request->first[i] = LODE_NO_CALL;
    for (uint32_t i = count; i > 0; i--) {
        uint32_t parent = lode_request_call_at(request, i - 1)->parent;
        uint32_t list = parent == LODE_NO_CALL ? count : parent;
        request->next[i - 1] = request->first[list];
        request->first[list] = i - 1;
    }
    return LODE_OK;
}

bool lode_request_has_failed(const struct lode_request *request)
{
    const lode_recording *recording = request->recording;
    if (recording->ops->has_failed)
        return recording->ops->has_failed(recording, request->track);
    return lode_request_count(request) > 0 && lode_request_call_at(request, 0)->has_failed;
}

/* ---- requests that a search finds ---- */

struct run {
    const struct lode_visit *visit;
    struct lode_request *requests; /* by worker */
};

static lode_status begin(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    struct run *run = user;
    return lode_request_begin(&run->requests[worker], run->visit->recording, row->track, error);
}

static lode_status side(void *user, unsigned worker, uint32_t track, lode_error *error)
{
    struct run *run = user;
    return lode_request_side(&run->requests[worker], track, error);
}

static lode_status take(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error)
{
    struct run *run = user;
    const struct lode_visit *visit = run->visit;
    struct lode_request *request = &run->requests[worker];
    for (size_t i = 0; i < count; i++) {
        LODE_TRY(lode_request_take(request, &events[i], error));
        if (visit->event)
            LODE_TRY(visit->event(visit->user, worker, request, &events[i], error));
    }
    return LODE_OK;
}

static lode_status end(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    struct run *run = user;
    (void)row;
    LODE_TRY(lode_request_finish(&run->requests[worker], error));
    return run->visit->request(run->visit->user, worker, &run->requests[worker], error);
}

static lode_status read_requests(struct run *run, struct lode_pass *pass, lode_error *error)
{
    lode_pass_join(pass);
    pass->begin = begin;
    pass->side = side;
    pass->take = take;
    pass->end = end;
    pass->user = run;
    run->requests = lode_pass_workers(pass, sizeof *run->requests);
    LODE_TRY_ALLOC(run->requests, error);
    lode_status status = run->visit->open(run->visit->user, pass->threads, error);
    if (status == LODE_OK)
        status = lode_pass_run(pass, error);
    for (unsigned i = 0; i < pass->threads; i++)
        lode_request_free(&run->requests[i]);
    free(run->requests);
    return status;
}

lode_status lode_visit_requests(const struct lode_visit *visit, lode_error *error)
{
    struct run run = {.visit = visit};
    struct lode_array tracks;
    struct lode_pass pass;
    lode_slice slice = LODE_SLICE_INIT;
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    static const uint32_t none = 0;
    bool has_read = false;
    lode_array_init(&tracks, sizeof(uint32_t), UINT32_MAX);
    lode_status status = lode_search_tracks(&tracks, &has_read, visit->recording, visit->options, error);
    slice.tracks = tracks.count ? tracks.items : &none;
    slice.track_count = (uint32_t)tracks.count;
    options.threads = visit->options->threads;
    options.pool = visit->options->pool;
    options.strict = visit->options->strict;
    options.on_finding = has_read ? NULL : visit->options->on_finding;
    options.on_progress = visit->options->on_progress;
    options.user = visit->options->user;
    if (status == LODE_OK)
        status = lode_pass_open(&pass, visit->recording, &slice, &options, error);
    if (status == LODE_OK) {
        status = read_requests(&run, &pass, error);
        lode_pass_close(&pass);
    }
    lode_array_free(&tracks);
    return status;
}
