/* SPDX-License-Identifier: BSD-3-Clause */
/* From the rows of tracks to the values of profiles: integers up the tree, and one division at the end. */
#include "base/bytes.h"
#include "base/error.h"
#include "build/build.h"
#include "build/profiles.h"
#include <stdlib.h>
#include <string.h>

#define NANOSECONDS 1e9

/* What one thread works with. Between profiles all bits are 0. */
struct desk {
    struct desk *next; /* of those that nobody uses */
    uint64_t *bits;    /* by id: the profile has something there or below */
    uint32_t *line_of; /* by id: its place among those */
    uint32_t *ids;     /* of those, rising */
    size_t room;       /* of ids and sums */
    /* [line][metric][own, with all below]; changes may fall, and wrap around as they should */
    uint64_t *sums;
    unsigned char *bytes; /* what was spooled */
    size_t byte_room;
};

struct desks {
    struct lode_build *build;
    pthread_mutex_t lock;
    struct desk *free;
};

/* ---- desks ---- */

static size_t word_count(const struct lode_build *build)
{
    return (size_t)build->writer->id_count / 64 + 1;
}

static void close_desk(struct desk *desk)
{
    free(desk->bits);
    free(desk->line_of);
    free(desk->ids);
    free(desk->sums);
    free(desk->bytes);
    free(desk);
}

static struct desk *open_desk(const struct lode_build *build)
{
    struct desk *desk = calloc(1, sizeof *desk);
    if (desk == NULL)
        return NULL;
    desk->bits = calloc(word_count(build), sizeof *desk->bits);
    desk->line_of = calloc(build->writer->id_count, sizeof *desk->line_of);
    if (desk->bits && desk->line_of)
        return desk;
    close_desk(desk);
    return NULL;
}

static struct desk *take_desk(struct desks *desks)
{
    pthread_mutex_lock(&desks->lock);
    struct desk *desk = desks->free;
    if (desk)
        desks->free = desk->next;
    pthread_mutex_unlock(&desks->lock);
    return desk ? desk : open_desk(desks->build);
}

static void leave_desk(struct desks *desks, struct desk *desk)
{
    pthread_mutex_lock(&desks->lock);
    desk->next = desks->free;
    desks->free = desk;
    pthread_mutex_unlock(&desks->lock);
}

static bool make_room(struct desk *desk, size_t lines, size_t columns)
{
    if (lines <= desk->room)
        return true;
    free(desk->ids);
    free(desk->sums);
    desk->ids = calloc(lines, sizeof *desk->ids);
    desk->sums = calloc(lines, columns * sizeof *desk->sums);
    desk->room = desk->ids && desk->sums ? lines : 0;
    return desk->room == lines;
}

/* ---- one profile ---- */

static lode_status fetch(const struct lode_build *build, const struct lode_build_harvest *harvest,
                         struct desk *desk, lode_error *error)
{
    /* Both counts are of what was in memory. */
    size_t size = harvest->row_count * sizeof(struct lode_build_row) +
                  harvest->change_count * sizeof(struct lode_build_change);
    if (size > desk->byte_room) {
        free(desk->bytes);
        desk->bytes = malloc(size);
        desk->byte_room = desk->bytes ? size : 0;
        if (desk->bytes == NULL)
            return lode_fail_memory(error);
    }
    return lode_spool_read(&build->growers[harvest->worker].rows, harvest->rows_at, desk->bytes, size, error);
}

static const struct lode_build_row *rows_of(const struct desk *desk)
{
    return (const struct lode_build_row *)(const void *)desk->bytes;
}

static const struct lode_build_change *changes_of(const struct desk *desk,
                                                  const struct lode_build_harvest *harvest)
{
    return (const struct lode_build_change *)(const void *)(desk->bytes + harvest->row_count *
                                                                              sizeof(struct lode_build_row));
}

/* Marks the contexts of the rows and all above them. Changes are at contexts that have rows. Returns how many there are. */
static size_t mark(const struct lode_build *build, const struct lode_build_harvest *harvest,
                   struct desk *desk)
{
    const struct numbered_context *numbered = build->writer->numbered;
    const uint32_t *ids = build->nodes[harvest->worker];
    size_t count = 0;
    for (uint64_t i = 0; i < harvest->row_count; i++)
        for (uint32_t id = ids[rows_of(desk)[i].node];; id = numbered[id].parent) {
            uint64_t bit = UINT64_C(1) << id % 64;
            if (desk->bits[id / 64] & bit)
                break;
            desk->bits[id / 64] |= bit;
            count++;
            if (id == 0)
                break;
        }
    return count;
}

/* Lists what is marked in the order of ids, and takes the marks away. */
static void list(const struct lode_build *build, struct desk *desk)
{
    uint32_t line = 0;
    for (size_t word = 0; word < word_count(build); word++) {
        for (uint64_t bits = desk->bits[word]; bits; bits &= bits - 1) {
            uint32_t id = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
            desk->line_of[id] = line;
            desk->ids[line++] = id;
        }
        desk->bits[word] = 0;
    }
}

static void add_up(const struct lode_build *build, const struct lode_build_harvest *harvest,
                   struct desk *desk, size_t lines)
{
    size_t columns = (size_t)build->metric_count * 2;
    const uint32_t *ids = build->nodes[harvest->worker], *metrics = build->metrics[harvest->worker];
    memset(desk->sums, 0, lines * columns * sizeof *desk->sums);
    for (uint64_t i = 0; i < harvest->row_count; i++) {
        const struct lode_build_row *row = &rows_of(desk)[i];
        uint64_t *sums = desk->sums + desk->line_of[ids[row->node]] * columns;
        sums[(size_t)LODE_BUILD_TIME * 2] = row->self;
        sums[(size_t)LODE_BUILD_CALLS * 2] = row->calls;
    }
    for (uint64_t i = 0; i < harvest->change_count; i++) {
        const struct lode_build_change *change = &changes_of(desk, harvest)[i];
        uint64_t *sums = desk->sums + desk->line_of[ids[change->node]] * columns;
        sums[(size_t)metrics[change->metric] * 2] = (uint64_t)change->value;
    }
    /* A parent's id is below those of its children. */
    for (size_t i = lines; i-- > 0;) {
        uint64_t *sums = desk->sums + i * columns;
        uint64_t *above = desk->sums + desk->line_of[build->writer->numbered[desk->ids[i]].parent] * columns;
        for (size_t m = 0; m < columns; m += 2) {
            sums[m + 1] += sums[m];
            if (desk->ids[i] != 0)
                above[m + 1] += sums[m + 1];
        }
    }
}

static double amount(uint32_t metric, uint64_t sum)
{
    if (metric == LODE_BUILD_TIME)
        return (double)sum / NANOSECONDS;
    return metric == LODE_BUILD_CALLS ? (double)sum : (double)(int64_t)sum;
}

static lode_status draft_values(const struct lode_build *build, const struct desk *desk, size_t lines,
                                lode_draft *draft, lode_error *error)
{
    size_t columns = (size_t)build->metric_count * 2;
    for (size_t i = 0; i < lines; i++) {
        uint32_t handle = desk->ids[i] == 0 ? LODE_NONE : build->writer->handle_of[desk->ids[i]];
        const uint64_t *sums = desk->sums + i * columns;
        for (uint32_t m = 0; m < build->metric_count; m++) {
            const uint16_t *ids = build->value_ids[m];
            double own = amount(m, sums[(size_t)m * 2]);
            LODE_TRY(lode_draft_value(draft, handle, ids[LODE_BUILD_FUNCTION], own, error));
            LODE_TRY(lode_draft_value(draft, handle, ids[LODE_BUILD_LEXICAL], own, error));
            LODE_TRY(lode_draft_value(draft, handle, ids[LODE_BUILD_EXECUTION],
                                      amount(m, sums[(size_t)m * 2 + 1]), error));
        }
    }
    return LODE_OK;
}

static lode_status draft_profile(const struct lode_build *build, const struct lode_build_track *track,
                                 struct desk *desk, lode_draft *draft, lode_error *error)
{
    const struct lode_build_harvest *harvest = &track->harvest;
    LODE_TRY(lode_draft_begin(draft, track->ids, LODE_BUILD_IDS, error));
    LODE_TRY(lode_draft_reserve(draft, harvest->sample_count, error));
    if (harvest->row_count == 0)
        return LODE_OK;
    LODE_TRY(fetch(build, harvest, desk, error));
    size_t lines = mark(build, harvest, desk);
    if (!make_room(desk, lines, (size_t)build->metric_count * 2))
        return lode_fail_memory(error);
    list(build, desk);
    add_up(build, harvest, desk, lines);
    return draft_values(build, desk, lines, draft, error);
}

static lode_status fill(void *context, uint64_t item, lode_draft *draft, lode_error *error)
{
    struct desks *desks = context;
    const struct lode_build_inputs *inputs = &desks->build->inputs;
    struct desk *desk = take_desk(desks);
    if (desk == NULL)
        return lode_fail_memory(error);
    lode_status status =
        draft_profile(desks->build, &inputs->tracks[inputs->profiles[item]], desk, draft, error);
    leave_desk(desks, desk);
    return status;
}

lode_status lode_build_profiles(struct lode_build *build, lode_error *error)
{
    struct desks desks = {.build = build};
    struct lode_profiles profiles = {.writer = build->writer,
                                     .count = build->inputs.track_count,
                                     .fill = fill,
                                     .context = &desks,
                                     .threads = build->options->threads,
                                     .phase = "writing profiles",
                                     .on_progress = build->options->on_progress,
                                     .user = build->options->user};
    pthread_mutex_init(&desks.lock, NULL);
    lode_status status = lode_write_profiles(&profiles, error);
    while (desks.free) {
        struct desk *desk = desks.free;
        desks.free = desk->next;
        close_desk(desk);
    }
    pthread_mutex_destroy(&desks.lock);
    return status;
}
