/* SPDX-License-Identifier: BSD-3-Clause */
/* Elapsed time: the union of intervals of calls. */
#include "analysis/calls/elapsed.h"
#include "base/compare.h"
#include <stdlib.h>

enum {
    KEYS_FIRST = 256
};

void lode_elapsed_init(struct lode_elapsed *elapsed)
{
    *elapsed = (struct lode_elapsed){.begin = UINT64_MAX};
    lode_array_init(&elapsed->open, sizeof(struct lode_interval), SIZE_MAX);
    lode_array_init(&elapsed->calls, sizeof(struct lode_interval), SIZE_MAX);
}

void lode_elapsed_free(struct lode_elapsed *elapsed)
{
    lode_array_free(&elapsed->open);
    lode_array_free(&elapsed->calls);
    free(elapsed->times);
    *elapsed = (struct lode_elapsed){0};
}

static bool reserve(struct lode_elapsed *self, uint32_t key)
{
    uint32_t count = self->capacity ? self->capacity : KEYS_FIRST;
    while (count <= key)
        count *= 2;
    return count == self->capacity || LODE_GROW_ZEROED(self->times, self->capacity, count);
}

bool lode_elapsed_enter(struct lode_elapsed *elapsed, uint32_t key, uint64_t time)
{
    struct lode_interval *call = lode_array_push(&elapsed->open);
    if (call == NULL || !reserve(elapsed, key))
        return false;
    *call = (struct lode_interval){time, time, key};
    if (time < elapsed->begin)
        elapsed->begin = time;
    return true;
}

bool lode_elapsed_leave(struct lode_elapsed *elapsed, uint64_t time)
{
    if (elapsed->open.count == 0)
        return true;
    struct lode_interval *call = lode_array_push(&elapsed->calls);
    if (call == NULL)
        return false;
    *call = *LODE_ARRAY_AT(&elapsed->open, struct lode_interval, elapsed->open.count - 1);
    call->end = time;
    lode_array_pop(&elapsed->open);
    if (time > elapsed->end)
        elapsed->end = time;
    return true;
}

void lode_elapsed_end_track(struct lode_elapsed *elapsed)
{
    elapsed->open.count = 0;
}

static int compare_calls(const void *left, const void *right)
{
    const struct lode_interval *a = left, *b = right;
    if (a->key != b->key)
        return LODE_COMPARE(a->key, b->key);
    return a->begin != b->begin ? LODE_COMPARE(a->begin, b->begin) : LODE_COMPARE(a->end, b->end);
}

void lode_elapsed_end_request(struct lode_elapsed *elapsed)
{
    struct lode_interval *calls = elapsed->calls.items;
    uint64_t covered = 0; /* until then, calls with the key are counted */
    if (elapsed->calls.count > 0)
        qsort(calls, elapsed->calls.count, sizeof *calls, compare_calls);
    for (size_t i = 0; i < elapsed->calls.count; i++) {
        uint64_t begin = calls[i].begin;
        if (i > 0 && calls[i].key == calls[i - 1].key && covered > begin)
            begin = covered;
        if (calls[i].end > begin)
            elapsed->times[calls[i].key] += calls[i].end - begin;
        covered = calls[i].end > begin ? calls[i].end : begin;
    }
    if (elapsed->end > elapsed->begin)
        elapsed->whole += elapsed->end - elapsed->begin;
    elapsed->calls.count = 0;
    elapsed->begin = UINT64_MAX;
    elapsed->end = 0;
}

bool lode_pass_has_sides(const struct lode_pass *pass)
{
    for (uint32_t i = 0; pass->recording->mains && i < pass->row_count; i++)
        if (recording_main(pass->recording, pass->rows[i].track) != pass->rows[i].track)
            return true;
    return false;
}
