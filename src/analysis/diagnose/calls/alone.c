/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread does in the times in which it works alone: its long calls, from the outside in. */
#include "analysis/diagnose/calls/sweep.h"

#include "base/compare.h"
#include <stdlib.h>

#define MOST_MIN   0.5 /* of the time, for the next function of the path */
#define SECOND_MIN 0.2 /* for a second function */

enum {
    PATH_MAX_LENGTH = 4
};

/* Calls of one function at one depth. */
struct part {
    uint32_t depth, function;
    double time;
};

static double time_of(const struct call_blame *blame, uint32_t track)
{
    double time = 0;
    for (size_t i = 0; i < blame->alone_count; i++)
        if (blame->alone[i].track == track)
            time += (double)(blame->alone[i].to - blame->alone[i].from);
    return time;
}

static double overlap(const struct call_blame *blame, uint32_t track, const struct call_span *span)
{
    double time = 0;
    for (size_t i = 0; i < blame->alone_count; i++) {
        const struct call_alone *alone = &blame->alone[i];
        if (alone->from >= span->to)
            break;
        uint64_t from = alone->from > span->from ? alone->from : span->from;
        uint64_t to = alone->to < span->to ? alone->to : span->to;
        time += alone->track == track && to > from ? (double)(to - from) : 0;
    }
    return time;
}

static int compare_places(const void *left, const void *right, void *argument)
{
    const struct part *a = left, *b = right;
    const uint32_t *ranks = argument;
    return a->depth != b->depth ? LODE_COMPARE(a->depth, b->depth)
                                : LODE_COMPARE(ranks[a->function], ranks[b->function]);
}

static size_t add_up(struct part *parts, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept && parts[kept - 1].depth == parts[i].depth && parts[kept - 1].function == parts[i].function)
            parts[kept - 1].time += parts[i].time;
        else
            parts[kept++] = parts[i];
    return kept;
}

/* The two largest of one depth; the index behind it. */
static size_t find_largest(const struct part *parts, size_t count, size_t first,
                           const struct part *largest[2])
{
    size_t i = first;
    largest[0] = largest[1] = NULL;
    for (; i < count && parts[i].depth == parts[first].depth; i++)
        if (largest[0] == NULL || parts[i].time > largest[0]->time) {
            largest[1] = largest[0];
            largest[0] = &parts[i];
        } else if (largest[1] == NULL || parts[i].time > largest[1]->time)
            largest[1] = &parts[i];
    return i;
}

static const char *describe(struct lode_diagnosis *d, const struct part *parts, size_t count, double all,
                            uint32_t *innermost)
{
    const char *path = "";
    const struct part *largest[2];
    size_t length = 0;
    for (size_t i = 0; i < count && length < PATH_MAX_LENGTH;) {
        i = find_largest(parts, count, i, largest);
        if (largest[0] == NULL || largest[0]->time < SECOND_MIN * all)
            break;
        bool has_two = largest[0]->time < 0.9 * all && largest[1] && largest[1]->time > SECOND_MIN * all;
        const char *name = lode_diagnose_call_name(d, largest[0]->function + 1);
        *innermost = largest[0]->function + 1;
        path = lode_diagnose_say(d, "%s%s%s%s%s", path, length ? " > " : "", name, has_two ? " and " : "",
                                 has_two ? lode_diagnose_call_name(d, largest[1]->function + 1) : "");
        length++;
        if (has_two || largest[0]->time < MOST_MIN * all)
            break;
    }
    return path;
}

const char *lode_diagnose_call_alone_path(struct lode_diagnosis *d, uint32_t *innermost)
{
    const struct call_facts *facts = d->calls;
    const struct call_blame *blame = facts->blame;
    uint32_t track = 0;
    double all = 0;
    for (uint32_t i = 0; i < facts->track_count; i++) {
        double time = time_of(blame, i);
        if (time > all) {
            all = time;
            track = i;
        }
    }
    const struct call_track *one = &facts->tracks[track];
    struct part *parts = calloc(one->span_count + 1, sizeof *parts);
    size_t count = 0;
    for (size_t i = 0; parts && i < one->span_count; i++) {
        double time = overlap(blame, track, &one->spans[i]);
        if (time > 0)
            parts[count++] = (struct part){one->spans[i].depth, one->spans[i].function, time};
    }
    *innermost = one->busy[0].function;
    const char *path = "";
    if (count) {
        qsort_r(parts, count, sizeof *parts, compare_places, facts->ranks);
        path = describe(d, parts, add_up(parts, count), all, innermost);
    }
    free(parts);
    return *path ? path : lode_diagnose_call_name(d, *innermost);
}
