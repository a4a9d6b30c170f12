/* SPDX-License-Identifier: BSD-3-Clause */
/* Several passes over the same events as one: each event is read once, and all take it. */
#include "analysis/calls/calls.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

struct joint {
    struct lode_pass pass; /* that reads */
    struct lode_pass *const *guests;
    size_t count;
};

/* A row of a guest for one of the pass that reads; a piece of a track is no row. */
static const lode_track_row *row_of(const struct joint *self, const struct lode_pass *guest,
                                    const lode_track_row *row)
{
    const lode_track_row *rows = self->pass.rows;
    bool is_row = row >= rows && row < rows + self->pass.row_count;
    return is_row ? &guest->rows[row - rows] : row;
}

static lode_status begin(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    const struct joint *self = user;
    for (size_t i = 0; i < self->count; i++) {
        const struct lode_pass *guest = self->guests[i];
        if (guest->begin)
            LODE_TRY(guest->begin(guest->user, worker, row_of(self, guest, row), error));
    }
    return LODE_OK;
}

static lode_status take(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error)
{
    const struct joint *self = user;
    for (size_t i = 0; i < self->count; i++)
        LODE_TRY(self->guests[i]->take(self->guests[i]->user, worker, events, count, error));
    return LODE_OK;
}

/* Each guest sets other fields of the row, or none. */
static lode_status end(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    const struct joint *self = user;
    for (size_t i = 0; i < self->count; i++)
        LODE_TRY(self->guests[i]->end(self->guests[i]->user, worker, row, error));
    return LODE_OK;
}

static void end_request(void *user, unsigned worker)
{
    const struct joint *self = user;
    for (size_t i = 0; i < self->count; i++)
        if (self->guests[i]->end_request)
            self->guests[i]->end_request(self->guests[i]->user, worker);
}

static lode_status resume(void *user, unsigned worker, const struct lode_cut *cut, lode_error *error)
{
    const struct joint *self = user;
    for (size_t i = 0; i < self->count; i++)
        LODE_TRY(self->guests[i]->resume(self->guests[i]->user, worker, cut, error));
    return LODE_OK;
}

static lode_status stop(void *user, unsigned worker, const struct lode_cut *cut, lode_error *error)
{
    const struct joint *self = user;
    for (size_t i = 0; i < self->count; i++)
        if (self->guests[i]->stop)
            LODE_TRY(self->guests[i]->stop(self->guests[i]->user, worker, cut, error));
    return LODE_OK;
}

static void pause_all(void *user, unsigned worker, const struct lode_cut *cut)
{
    const struct joint *self = user;
    for (size_t i = 0; i < self->count; i++)
        if (self->guests[i]->pause)
            self->guests[i]->pause(self->guests[i]->user, worker, cut);
}

static lode_status restart(void *user, lode_error *error)
{
    const struct joint *self = user;
    for (size_t i = 0; i < self->count; i++)
        LODE_TRY(self->guests[i]->restart(self->guests[i]->user, error));
    return LODE_OK;
}

static int on_finding(void *user, const lode_finding *finding)
{
    const struct joint *self = user;
    int is_over = 0;
    for (size_t i = 0; i < self->count && !is_over; i++) {
        const lode_calls_options *options = &self->guests[i]->options;
        is_over = options->on_finding ? options->on_finding(options->user, finding) : 0;
    }
    return is_over;
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const struct joint *self = user;
    const lode_calls_options *options = &self->guests[0]->options;
    return options->on_progress ? options->on_progress(options->user, phase, done, total) : 0;
}

/* Threads and cuts as all guests can have them; findings and requests if one wants those. */
static lode_status open_joint(struct joint *self, lode_error *error)
{
    struct lode_pass *pass = &self->pass;
    bool wants_findings = false, wants_requests = false;
    *pass = *self->guests[0];
    for (size_t i = 0; i < self->count; i++) {
        const struct lode_pass *guest = self->guests[i];
        pass->threads = guest->threads < pass->threads ? guest->threads : pass->threads;
        pass->cuts = pass->cuts && guest->cuts;
        wants_findings = wants_findings || guest->options.on_finding;
        wants_requests = wants_requests || guest->end_request;
    }
    pass->rows = calloc((size_t)pass->row_count + 1, sizeof *pass->rows);
    LODE_TRY_ALLOC(pass->rows, error);
    memcpy(pass->rows, self->guests[0]->rows, pass->row_count * sizeof *pass->rows);
    pass->options.on_finding = wants_findings ? on_finding : NULL;
    pass->options.on_progress = on_progress;
    pass->options.user = self;
    pass->begin = begin;
    pass->take = take;
    pass->side = NULL;
    pass->end = end;
    pass->end_request = wants_requests ? end_request : NULL;
    pass->resume = resume;
    pass->stop = stop;
    pass->restart = restart;
    pass->pause = pause_all;
    pass->user = self;
    return LODE_OK;
}

lode_status lode_pass_run_all(struct lode_pass *const *passes, size_t count, lode_error *error)
{
    if (count == 1)
        return lode_pass_run(passes[0], error);
    struct joint self = {.guests = passes, .count = count};
    LODE_TRY(open_joint(&self, error));
    lode_status status = lode_pass_run(&self.pass, error);
    for (size_t i = 0; i < count && status == LODE_OK; i++) {
        memcpy(passes[i]->rows, self.pass.rows, self.pass.row_count * sizeof *self.pass.rows);
        passes[i]->sample = self.pass.sample;
    }
    lode_pass_close(&self.pass);
    return status;
}
