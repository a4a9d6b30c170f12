/* SPDX-License-Identifier: BSD-3-Clause */
/* What concerns the ranks of a communicator: who reads what, who says what. */
#include "base/comm/ranks.h"
#include "base/memory/blob.h"
#include "transform/build/inputs.h"
#include <stdlib.h>

enum {
    TRACK_BYTES = 1 << 12 /* what a track counts besides its records: the cost of opening it */
};

void lode_build_inputs_cut(struct lode_build_inputs *inputs)
{
    const struct lode_comm_place *place = &inputs->comm->place;
    uint64_t total = inputs->bytes + (uint64_t)inputs->track_count * TRACK_BYTES, before = 0;
    inputs->first = inputs->share = 0;
    inputs->share_bytes = 0;
    for (uint32_t i = 0; i < inputs->track_count; i++) {
        uint64_t bytes = inputs->tracks[inputs->profiles[i]].bytes;
        uint32_t rank = ranks_owner(before, bytes + TRACK_BYTES, total, place->size);
        inputs->first += rank < place->rank;
        inputs->share += rank == place->rank;
        inputs->share_bytes += rank == place->rank ? bytes : 0;
        before += bytes + TRACK_BYTES;
    }
}

unsigned lode_build_threads(const struct lode_build_inputs *inputs, uint64_t items)
{
    unsigned asked = lode_pool_asked(inputs->options->threads, inputs->options->pool);
    return lode_pool_threads(lode_ranks_threads(inputs->comm, asked), items);
}

/* ---- findings ---- */

static lode_status hand_in(const struct lode_build_inputs *inputs, struct lode_finding_list *const *kept,
                           size_t count, lode_error *error)
{
    struct lode_blob blob = {0};
    bool done = true;
    for (size_t i = 0; i < count && done; i++)
        done = lode_finding_list_pack(kept[i], &blob);
    uint64_t size = blob.size;
    lode_status status =
        done ? lode_comm_send(inputs->comm, 0, &size, sizeof size, error) : lode_fail_memory(error);
    if (status == LODE_OK)
        status = lode_comm_send(inputs->comm, 0, blob.bytes, blob.size, error);
    lode_blob_free(&blob);
    return status;
}

static lode_status take_from(const struct lode_build_inputs *inputs, uint32_t rank, lode_error *error)
{
    const lode_build_options *options = inputs->options;
    uint64_t size;
    LODE_TRY(lode_comm_receive(inputs->comm, rank, &size, sizeof size, error));
    unsigned char *bytes = malloc((size_t)size + 1);
    if (bytes == NULL)
        return lode_fail_memory(error);
    lode_status status = lode_comm_receive(inputs->comm, rank, bytes, (size_t)size, error);
    if (status == LODE_OK)
        status =
            lode_finding_list_pass_packed(bytes, (size_t)size, options->on_finding, options->user, error);
    free(bytes);
    return status;
}

lode_status lode_build_pass_on(const struct lode_build_inputs *inputs, struct lode_finding_list *const *kept,
                               size_t count, lode_error *error)
{
    const lode_build_options *options = inputs->options;
    const struct lode_comm_place *place = &inputs->comm->place;
    if (options->on_finding == NULL)
        return LODE_OK;
    if (place->rank > 0)
        return hand_in(inputs, kept, count, error);
    for (size_t i = 0; i < count; i++)
        LODE_TRY(lode_finding_list_pass_on(kept[i], options->on_finding, options->user, error));
    for (uint32_t rank = 1; rank < place->size; rank++)
        LODE_TRY(take_from(inputs, rank, error));
    return LODE_OK;
}

/* ---- progress ---- */

static int report_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const struct lode_build_inputs *inputs = user;
    const lode_build_options *options = inputs->options;
    lode_error raised;
    if (lode_comm_poll(inputs->comm, &raised) != LODE_OK)
        return 1;
    if (inputs->comm->place.rank > 0 || options->on_progress == NULL)
        return 0;
    return options->on_progress(options->user, phase, done, total);
}

struct lode_progress lode_build_progress(struct lode_build_inputs *inputs, const char *phase, uint64_t total)
{
    return (struct lode_progress){.report = report_progress, .user = inputs, .phase = phase, .total = total};
}
