/* SPDX-License-Identifier: BSD-3-Clause */
#include "build/inputs.h"

#include "base/error.h"
#include "base/progress.h"
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_OPEN = 64 /* recordings that stay open until they are read; others are opened again */
};

/* ---- opening and closing ---- */

static lode_status open_input(const struct lode_build_inputs *self, struct lode_build_input *input,
                              struct lode_keeper *keeper, lode_error *error)
{
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    options.strict = self->options->strict;
    options.on_finding = keeper ? lode_keeper_take : NULL;
    options.user = keeper;
    return lode_recording_open(&input->recording, input->path, &options, error);
}

/* Errors of one recording among many say which. */
static lode_status name_input(const struct lode_build_inputs *self, const struct lode_build_input *input,
                              lode_status status, lode_error *error)
{
    if (status == LODE_OK || error == NULL || self->count == 1)
        return status;
    lode_error cause = *error;
    const char *gap = cause.file[0] ? ": " : "";
    lode_describe(error, status, input->path, cause.offset, "%.90s%s%.300s", cause.file, gap, cause.text);
    error->os_errno = cause.os_errno;
    return status;
}

lode_status lode_build_input_acquire(struct lode_build_inputs *inputs, struct lode_build_input *input,
                                     lode_error *error)
{
    pthread_mutex_lock(&input->lock);
    lode_status status = input->recording ? LODE_OK : open_input(inputs, input, NULL, error);
    /* It may have changed since it was looked at. */
    if (status == LODE_OK && lode_recording_track_count(input->recording) < input->count)
        status = lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET,
                           "the recording has changed while it was read");
    pthread_mutex_unlock(&input->lock);
    return name_input(inputs, input, status, error);
}

bool lode_build_input_release(struct lode_build_input *input)
{
    pthread_mutex_lock(&input->lock);
    bool was_last = --input->unread == 0;
    pthread_mutex_unlock(&input->lock);
    return was_last;
}

/* ---- the survey ---- */

struct survey {
    struct lode_build_inputs *inputs;
    struct lode_array *tracks; /* by input: of struct lode_build_track */
    struct lode_progress progress;
};

static uint32_t process_of(struct lode_map *processes, int32_t pid)
{
    const uint32_t *number = lode_map_add(processes, (uint32_t)pid, (uint32_t)processes->count, NULL);
    return number ? *number : LODE_NONE;
}

static bool list_tracks(const lode_recording *recording, struct lode_array *tracks, uint32_t input)
{
    struct lode_map processes;
    bool done = true;
    lode_map_init(&processes);
    for (uint32_t i = 0; i < lode_recording_track_count(recording) && done; i++) {
        const lode_track *from = lode_recording_track(recording, i);
        struct lode_build_track *track = lode_array_push(tracks);
        uint32_t process = track ? process_of(&processes, from->pid) : LODE_NONE;
        done = process != LODE_NONE;
        if (done)
            *track = (struct lode_build_track){.input = input,
                                               .track = i,
                                               .pid = from->pid,
                                               .tid = from->tid,
                                               .process = process,
                                               .bytes = from->bytes};
    }
    lode_map_free(&processes);
    return done;
}

static const char *host_of(const lode_recording *recording)
{
    for (size_t i = 0; i < lode_recording_fact_count(recording); i++)
        if (strcmp(lode_recording_fact(recording, i)->key, "host") == 0)
            return lode_recording_fact(recording, i)->value;
    return "";
}

static lode_status look_at(struct survey *self, struct lode_build_input *input, lode_error *error)
{
    uint32_t number = (uint32_t)(input - self->inputs->items);
    struct lode_array *tracks = &self->tracks[number];
    input->clock = lode_recording_utc_offset(input->recording);
    input->host = strdup(host_of(input->recording));
    if (input->host == NULL || !list_tracks(input->recording, tracks, number))
        return lode_fail_memory(error);
    input->count = input->unread = (uint32_t)tracks->count;
    for (size_t i = 0; i < tracks->count; i++)
        input->bytes += LODE_ARRAY_AT(tracks, struct lode_build_track, i)->bytes;
    if (number >= KEPT_OPEN || input->count == 0) {
        lode_recording_close(input->recording);
        input->recording = NULL;
    }
    return LODE_OK;
}

static lode_status survey_input(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct survey *self = context;
    struct lode_build_input *input = &self->inputs->items[item];
    struct lode_keeper keeper = {0};
    (void)worker;
    lode_keeper_begin(&keeper, &input->kept);
    lode_status status = open_input(self->inputs, input, &keeper, error);
    if (keeper.failed)
        status = lode_fail_memory(error);
    lode_keeper_free(&keeper);
    if (status == LODE_OK)
        status = look_at(self, input, error);
    return name_input(self->inputs, input, status, error);
}

static lode_status report_input(void *context, uint64_t item, lode_error *error)
{
    struct survey *self = context;
    const lode_build_options *options = self->inputs->options;
    struct lode_build_input *input = &self->inputs->items[item];
    if (options->on_finding)
        LODE_TRY(lode_kept_pass_on(&input->kept, options->on_finding, options->user, error));
    lode_kept_free(&input->kept);
    return lode_progress_add(&self->progress, 1, error);
}

/* Puts the tracks of all recordings one behind the other. */
static lode_status join_tracks(struct survey *self, lode_error *error)
{
    struct lode_build_inputs *inputs = self->inputs;
    uint64_t count = 0;
    for (size_t i = 0; i < inputs->count; i++)
        count += inputs->items[i].count;
    if (count >= UINT32_MAX - 1)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more tracks than can be numbered");
    inputs->tracks = calloc(count + 1, sizeof *inputs->tracks);
    if (inputs->tracks == NULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < inputs->count; i++) {
        struct lode_build_input *input = &inputs->items[i];
        input->first = inputs->track_count;
        if (input->count > 0)
            memcpy(inputs->tracks + input->first, self->tracks[i].items,
                   input->count * sizeof *inputs->tracks);
        inputs->track_count += input->count;
        inputs->bytes += input->bytes;
    }
    for (uint32_t i = 0; i < inputs->track_count; i++)
        lode_kept_init(&inputs->tracks[i].kept);
    return LODE_OK;
}

static lode_status survey(struct lode_build_inputs *inputs, lode_error *error)
{
    const lode_build_options *options = inputs->options;
    struct survey self = {.inputs = inputs,
                          .tracks = calloc(inputs->count + 1, sizeof *self.tracks),
                          .progress = {.report = options->on_progress,
                                       .user = options->user,
                                       .phase = "opening",
                                       .total = inputs->count}};
    if (self.tracks == NULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < inputs->count; i++)
        lode_array_init(&self.tracks[i], sizeof(struct lode_build_track), UINT32_MAX - 1);
    struct lode_job job = {
        .items = inputs->count, .work = survey_input, .finish = report_input, .context = &self};
    lode_status status = lode_pool_run(options->threads, &job, error);
    if (status == LODE_OK)
        status = join_tracks(&self, error);
    for (size_t i = 0; i < inputs->count; i++)
        lode_array_free(&self.tracks[i]);
    free(self.tracks);
    return status;
}

/* ---- the order of reading ---- */

static int compare_sizes(const void *left, const void *right, void *argument)
{
    const struct lode_build_inputs *inputs = argument;
    const struct lode_build_track *a = &inputs->tracks[*(const uint32_t *)left];
    const struct lode_build_track *b = &inputs->tracks[*(const uint32_t *)right];
    if (a->input != b->input) {
        uint64_t x = inputs->items[a->input].bytes, y = inputs->items[b->input].bytes;
        if (x != y)
            return x > y ? -1 : 1;
        return a->input < b->input ? -1 : 1;
    }
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

static lode_status order_reading(struct lode_build_inputs *inputs, lode_error *error)
{
    inputs->reading = calloc((size_t)inputs->track_count + 1, sizeof *inputs->reading);
    if (inputs->reading == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < inputs->track_count; i++)
        inputs->reading[i] = i;
    qsort_r(inputs->reading, inputs->track_count, sizeof *inputs->reading, compare_sizes, inputs);
    return LODE_OK;
}

/* ---- all of it ---- */

lode_status lode_build_inputs_open(struct lode_build_inputs *inputs, const char *const *paths, size_t count,
                                   const lode_build_options *options, lode_error *error)
{
    *inputs = (struct lode_build_inputs){.options = options};
    if (count == 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there is no recording to read");
    if (count >= UINT32_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more recordings than can be numbered");
    inputs->items = calloc(count, sizeof *inputs->items);
    if (inputs->items == NULL)
        return lode_fail_memory(error);
    inputs->count = count;
    for (size_t i = 0; i < count; i++) {
        inputs->items[i].path = paths[i];
        inputs->items[i].rank = LODE_NONE;
        pthread_mutex_init(&inputs->items[i].lock, NULL);
        lode_kept_init(&inputs->items[i].kept);
    }
    /* What is wrong with a pattern or a table shows before anything is read. */
    LODE_TRY(lode_build_find_ranks(inputs, error));
    LODE_TRY(survey(inputs, error));
    LODE_TRY(lode_build_name_tracks(inputs, error));
    return order_reading(inputs, error);
}

void lode_build_inputs_close(struct lode_build_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        struct lode_build_input *input = &inputs->items[i];
        lode_recording_close(input->recording);
        pthread_mutex_destroy(&input->lock);
        lode_kept_free(&input->kept);
        free(input->host);
    }
    for (uint32_t i = 0; inputs->tracks && i < inputs->track_count; i++)
        lode_kept_free(&inputs->tracks[i].kept);
    free(inputs->items);
    free(inputs->tracks);
    free(inputs->reading);
    free(inputs->profiles);
    *inputs = (struct lode_build_inputs){0};
}
