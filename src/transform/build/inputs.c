/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/build/inputs.h"

#include "analysis/calls/by_thread.h"
#include "base/comm/pack.h"
#include "base/error.h"
#include "base/memory/map.h"
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_OPEN = 64 /* recordings that stay open until they are read; others are opened again */
};

/* ---- opening and closing ---- */

static lode_status open_input(const struct lode_build_inputs *self, struct lode_build_input *input,
                              struct lode_finding_buffer *buffer, lode_error *error)
{
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    options.strict = self->options->strict;
    options.on_finding = buffer ? lode_finding_buffer_take : NULL;
    options.user = buffer;
    options.threads = self->options->threads;
    options.memory = self->options->memory;
    LODE_TRY(lode_recording_open(&input->recording, input->path, &options, error));
    input->has_requests = lode_recording_has_requests(input->recording);
    if (!self->options->per_thread)
        return LODE_OK;
    lode_recording *inner = input->recording;
    return lode_by_thread(&input->recording, inner, error);
}

lode_status lode_build_input_blame(const struct lode_build_inputs *inputs,
                                   const struct lode_build_input *input, lode_status status,
                                   lode_error *error)
{
    if (status == LODE_OK || error == NULL || inputs->count == 1)
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
                           "the recording changed while it was read");
    pthread_mutex_unlock(&input->lock);
    return status;
}

bool lode_build_input_release(struct lode_build_input *input)
{
    pthread_mutex_lock(&input->lock);
    bool was_last = --input->unread == 0;
    pthread_mutex_unlock(&input->lock);
    return was_last;
}

/* ---- the survey ---- */

/* Which of the recordings this rank opens first. */
struct survey {
    struct lode_build_inputs *inputs;
    size_t first, count;
    struct lode_array *tracks; /* by recording from the first: of struct lode_build_track */
    struct lode_progress progress;
};

static uint32_t process_of(struct lode_map *processes, int32_t pid)
{
    const uint32_t *number = lode_map_add(processes, (uint32_t)pid, (uint32_t)processes->count, NULL);
    return number ? *number : LODE_NONE;
}

/* The calls of a trace are no program's, whichever thread made them. */
static uint32_t entry_of(const struct lode_build_input *input, const lode_track *track)
{
    return !input->has_requests && track->tid == track->pid ? LODE_BUILD_MAIN : LODE_BUILD_THREAD;
}

static bool list_tracks(const struct lode_build_input *input, struct lode_array *tracks, uint32_t number)
{
    const lode_recording *recording = input->recording;
    struct lode_map processes;
    bool done = true;
    lode_map_init(&processes);
    for (uint32_t i = 0; i < lode_recording_track_count(recording) && done; i++) {
        const lode_track *from = lode_recording_track(recording, i);
        struct lode_build_track *track = lode_array_push(tracks);
        uint32_t process = track ? process_of(&processes, from->pid) : LODE_NONE;
        done = process != LODE_NONE;
        if (done)
            *track = (struct lode_build_track){.input = number,
                                               .track = i,
                                               .entry = entry_of(input, from),
                                               .tid = input->has_requests ? 0 : from->tid,
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

static void close_recording(struct lode_build_input *input)
{
    lode_recording_close(input->recording);
    input->recording = NULL;
}

static lode_status look_at(struct survey *self, struct lode_build_input *input, size_t item,
                           lode_error *error)
{
    struct lode_array *tracks = &self->tracks[item];
    input->clock = lode_recording_utc_offset(input->recording);
    input->host = strdup(host_of(input->recording));
    if (input->host == NULL || !list_tracks(input, tracks, (uint32_t)(self->first + item)))
        return lode_fail_memory(error);
    if (item >= KEPT_OPEN || tracks->count == 0)
        close_recording(input);
    return LODE_OK;
}

static lode_status survey_input(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct survey *self = context;
    struct lode_build_input *input = &self->inputs->items[self->first + item];
    struct lode_finding_buffer buffer = {0};
    (void)worker;
    lode_finding_buffer_begin(&buffer, &input->kept);
    lode_status status = open_input(self->inputs, input, &buffer, error);
    if (buffer.failed)
        status = lode_fail_memory(error);
    lode_finding_buffer_free(&buffer);
    if (status == LODE_OK)
        status = look_at(self, input, item, error);
    return lode_build_input_blame(self->inputs, input, status, error);
}

static lode_status count_input(void *context, uint64_t item, lode_error *error)
{
    struct survey *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* ---- what ranks tell each other ---- */

struct packed_track {
    uint32_t entry;
    int32_t tid;
    uint64_t process, bytes;
};

static bool pack_inputs(const struct survey *self, struct lode_blob *blob)
{
    bool done = true;
    for (size_t i = 0; i < self->count && done; i++) {
        const struct lode_build_input *input = &self->inputs->items[self->first + i];
        const struct lode_array *tracks = &self->tracks[i];
        done = pack_string(blob, input->host) && pack_number(blob, (uint64_t)input->clock) &&
               pack_number(blob, tracks->count);
        for (size_t k = 0; k < tracks->count && done; k++) {
            const struct lode_build_track *track = LODE_ARRAY_AT(tracks, struct lode_build_track, k);
            struct packed_track packed = {track->entry, track->tid, track->process, track->bytes};
            done = pack_bytes(blob, &packed, sizeof packed);
        }
    }
    return done;
}

static void unpack_tracks(struct lode_build_inputs *inputs, uint32_t input, const unsigned char *at)
{
    const struct lode_build_input *from = &inputs->items[input];
    for (uint32_t i = 0; i < from->count; i++) {
        struct packed_track packed;
        unpack_bytes(&at, &packed, sizeof packed);
        inputs->tracks[from->first + i] = (struct lode_build_track){.input = input,
                                                                    .track = i,
                                                                    .entry = packed.entry,
                                                                    .tid = packed.tid,
                                                                    .process = (uint32_t)packed.process,
                                                                    .bytes = packed.bytes};
    }
}

/* Unpacks the inputs of all ranks, in recording order. Without a table, only counts tracks. */
static bool unpack_inputs(struct lode_build_inputs *inputs, const unsigned char *at)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < inputs->count; i++) {
        struct lode_build_input *input = &inputs->items[i];
        const char *host = unpack_string(&at);
        int64_t clock = (int64_t)unpack_number(&at);
        uint64_t count = unpack_number(&at);
        if (inputs->tracks) {
            free(input->host);
            input->host = strdup(host);
            input->clock = clock;
            input->first = (uint32_t)total;
            input->count = (uint32_t)count;
            if (input->host == NULL)
                return false;
            unpack_tracks(inputs, i, at);
        }
        at += count * sizeof(struct packed_track);
        total += count;
    }
    inputs->track_count = total < UINT32_MAX - 1 ? (uint32_t)total : UINT32_MAX;
    return true;
}

static lode_status make_table(struct lode_build_inputs *inputs, const unsigned char *packed,
                              lode_error *error)
{
    unpack_inputs(inputs, packed);
    if (inputs->track_count == UINT32_MAX) {
        inputs->track_count = 0;
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more tracks than can be numbered");
    }
    inputs->tracks = calloc((size_t)inputs->track_count + 1, sizeof *inputs->tracks);
    if (inputs->tracks == NULL || !unpack_inputs(inputs, packed))
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < inputs->track_count; i++) {
        lode_finding_list_init(&inputs->tracks[i].kept);
        inputs->bytes += inputs->tracks[i].bytes;
        inputs->items[inputs->tracks[i].input].bytes += inputs->tracks[i].bytes;
    }
    return LODE_OK;
}

static lode_status tell(const struct survey *self, lode_error *error)
{
    struct lode_blob own = {0};
    void *all = NULL;
    uint64_t size;
    lode_status status = pack_inputs(self, &own) ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK)
        status = lode_comm_gather(self->inputs->comm, own.bytes, own.size, true, &all, &size, NULL, error);
    if (status == LODE_OK)
        status = make_table(self->inputs, all, error);
    lode_blob_free(&own);
    free(all);
    return status;
}

static lode_status pass_inputs_on(const struct survey *self, lode_error *error)
{
    struct lode_finding_list **kept = calloc(self->count + 1, sizeof *kept);
    for (size_t i = 0; kept && i < self->count; i++)
        kept[i] = &self->inputs->items[self->first + i].kept;
    lode_status status =
        kept ? lode_build_pass_on(self->inputs, kept, self->count, error) : lode_fail_memory(error);
    for (size_t i = 0; kept && i < self->count; i++)
        lode_finding_list_free(kept[i]);
    free(kept);
    return status;
}

static lode_status survey(struct lode_build_inputs *inputs, lode_error *error)
{
    const struct lode_comm_place *place = &inputs->comm->place;
    struct survey self = {.inputs = inputs, .first = inputs->count * place->rank / place->size};
    self.count = inputs->count * (place->rank + 1) / place->size - self.first;
    self.progress = lode_build_progress(inputs, "opening", self.count);
    self.tracks = calloc(self.count + 1, sizeof *self.tracks);
    LODE_TRY_ALLOC(self.tracks, error);
    for (size_t i = 0; i < self.count; i++)
        lode_array_init(&self.tracks[i], sizeof(struct lode_build_track), UINT32_MAX - 1);
    struct lode_job job = {.items = self.count,
                           .work = survey_input,
                           .finish = count_input,
                           .context = &self,
                           .pool = inputs->options->pool};
    lode_status status = lode_pool_run(lode_build_threads(inputs, self.count), &job, error);
    if (status == LODE_OK)
        status = pass_inputs_on(&self, error);
    if (status == LODE_OK)
        status = tell(&self, error);
    for (size_t i = 0; i < self.count; i++)
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
    inputs->reading = calloc((size_t)inputs->share + 1, sizeof *inputs->reading);
    LODE_TRY_ALLOC(inputs->reading, error);
    for (uint32_t i = 0; i < inputs->share; i++) {
        inputs->reading[i] = inputs->profiles[inputs->first + i];
        inputs->items[build_share(inputs, i)->input].unread++;
    }
    qsort_r(inputs->reading, inputs->share, sizeof *inputs->reading, compare_sizes, inputs);
    /* What others read. */
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->items[i].unread == 0)
            close_recording(&inputs->items[i]);
    return LODE_OK;
}

/* ---- all of it ---- */

lode_status lode_build_inputs_open(struct lode_build_inputs *inputs, struct lode_comm *comm,
                                   const char *const *paths, size_t count, const lode_build_options *options,
                                   lode_error *error)
{
    *inputs = (struct lode_build_inputs){.options = options, .comm = comm};
    if (count == 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there is no recording to read");
    if (count >= UINT32_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more recordings than can be numbered");
    inputs->items = calloc(count, sizeof *inputs->items);
    LODE_TRY_ALLOC(inputs->items, error);
    inputs->count = count;
    for (size_t i = 0; i < count; i++) {
        inputs->items[i].path = paths[i];
        inputs->items[i].rank = LODE_NONE;
        pthread_mutex_init(&inputs->items[i].lock, NULL);
        lode_finding_list_init(&inputs->items[i].kept);
    }
    /* What is wrong with a pattern or a table shows before anything is read. */
    LODE_TRY(lode_build_find_ranks(inputs, error));
    LODE_TRY(survey(inputs, error));
    LODE_TRY(lode_build_name_tracks(inputs, error));
    lode_build_inputs_cut(inputs);
    return order_reading(inputs, error);
}

void lode_build_inputs_close(struct lode_build_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        struct lode_build_input *input = &inputs->items[i];
        close_recording(input);
        pthread_mutex_destroy(&input->lock);
        lode_finding_list_free(&input->kept);
        free(input->host);
    }
    for (uint32_t i = 0; inputs->tracks && i < inputs->track_count; i++)
        lode_finding_list_free(&inputs->tracks[i].kept);
    free(inputs->items);
    free(inputs->tracks);
    free(inputs->reading);
    free(inputs->profiles);
    *inputs = (struct lode_build_inputs){0};
}
