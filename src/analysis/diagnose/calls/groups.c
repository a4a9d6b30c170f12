/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Like is compared with like: ranks of an MPI job, threads in OpenMP regions, threads of a process
 * that began with the same function at about the same time. A thread that has less work than
 * another loses time only if it waits: threads that take work from a common queue have less if they
 * are pre-empted. Threads that start one after the other, such as one for each connection, may
 * overlap, but none waits for another.
 */
#include "analysis/diagnose/calls/groups.h"

#include "base/compare.h"
#include <math.h>
#include <stdlib.h>

/* Of the time from the first begin to the last end. With few processors, threads begin late. */
#define BEGINS_MAX (2.0 / 3)
#define AFTER_MAX  0.1 /* what others do after the end of the longest */

/* ---- members ---- */

/* The threads of a process that uses MPI are one member. */
static void add_ranks(const struct call_facts *facts, struct call_group *group)
{
    double run = (double)(facts->end - facts->begin);
    for (size_t i = 0, next; i < facts->track_count; i = next) {
        const struct call_track *busiest = &facts->tracks[i];
        double work = 0, stolen = 0, threads = 0;
        for (next = i; next < facts->track_count && facts->tracks[next].pid == facts->tracks[i].pid; next++) {
            const struct call_track *track = &facts->tracks[next];
            work += (double)track->useful;
            stolen += (double)track->stolen;
            threads += !track->is_left_out;
            busiest = track->useful > busiest->useful ? track : busiest;
        }
        if (busiest->is_left_out || !(threads > 0))
            continue;
        work /= threads;
        struct call_member *member = &group->members[group->count];
        *member = (struct call_member){busiest, work, fmax(0, run - work - stolen / threads),
                                       (uint32_t)group->count};
        group->count++;
    }
}

static void add_regions(const struct call_facts *facts, struct call_group *group)
{
    double parallel = 0;
    for (size_t i = 0; i < facts->track_count; i++)
        parallel = fmax(parallel, (double)facts->tracks[i].parallel);
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        if (track->region == 0)
            continue;
        double waiting = parallel - (double)track->region - (double)track->stolen;
        group->members[group->count++] =
            (struct call_member){track, (double)track->region, fmax(0, waiting), 0};
    }
}

/* Not if they begin all along, or go on after the end of the one with the most work. */
static bool are_together(const struct call_track *const *order, size_t count, uint64_t end)
{
    const struct call_track *longest = order[0];
    uint64_t begin = order[0]->begin, last = order[count - 1]->begin;
    for (size_t i = 1; i < count; i++)
        longest = order[i]->useful > longest->useful ? order[i] : longest;
    double window = (double)(end - begin);
    return (double)(last - begin) <= BEGINS_MAX * window &&
           (double)(end - longest->end) <= AFTER_MAX * window;
}

/* Threads after each other in `order`, which is by begin, that overlap; the number looked at. */
static size_t add_threads(const struct call_track *const *order, size_t count, struct call_group *group)
{
    uint64_t end = order[0]->end;
    size_t used = 0;
    for (; used < count && order[used]->pid == order[0]->pid && order[used]->entry == order[0]->entry &&
           order[used]->begin <= end;
         used++) {
        end = order[used]->end > end ? order[used]->end : end;
        group->members[group->count++] = (struct call_member){order[used], (double)order[used]->useful, 0, 0};
    }
    if (!are_together(order, used, end))
        group->count = 0;
    /* Waiting for work in a queue does not count: only barriers, and having ended. */
    for (size_t i = 0; i < group->count; i++) {
        struct call_member *member = &group->members[i];
        if (member->track)
            member->waiting = (double)(end - member->track->end) + (double)member->track->barriers;
    }
    return used;
}

/* ---- groups ---- */

static void conclude(struct call_group *group)
{
    double sum = 0;
    for (size_t i = 1; i < group->count; i++) {
        const struct call_member *member = &group->members[i], *longest = &group->members[group->longest];
        if (member->work > longest->work)
            group->longest = i;
    }
    for (size_t i = 0; i < group->count; i++)
        sum += group->members[i].work;
    if (group->count == 0)
        return;
    group->most = group->members[group->longest].work;
    group->mean = sum / (double)group->count;
    for (size_t i = 0; i < group->count; i++)
        group->loss += fmin(group->most - group->members[i].work, group->members[i].waiting);
    group->loss /= (double)group->count;
}

static lode_status start(struct call_group *group, enum call_group_kind kind, const struct call_facts *facts,
                         lode_error *error)
{
    *group = (struct call_group){.kind = kind};
    group->members = calloc(facts->track_count + 1, sizeof *group->members);
    LODE_TRY_ALLOC(group->members, error);
    return LODE_OK;
}

/* By rank of functions: their indices depend on who met them first. */
static int compare_threads(const void *left, const void *right, void *argument)
{
    const struct call_track *const *a = left, *const *b = right;
    const uint32_t *ranks = argument;
    uint32_t x = (*a)->entry ? ranks[(*a)->entry - 1] + 1 : 0,
             y = (*b)->entry ? ranks[(*b)->entry - 1] + 1 : 0;
    if ((*a)->pid != (*b)->pid)
        return LODE_COMPARE((*a)->pid, (*b)->pid);
    if (x != y)
        return LODE_COMPARE(x, y);
    return (*a)->begin != (*b)->begin ? LODE_COMPARE((*a)->begin, (*b)->begin)
                                      : LODE_COMPARE((*a)->track, (*b)->track);
}

static bool is_better(const struct call_group *group, const struct call_group *best)
{
    if (group->count < 2 || group->loss < best->loss)
        return false;
    return group->loss > best->loss || best->count == 0;
}

static lode_status find_threads(const struct call_facts *facts, struct call_group *best, lode_error *error)
{
    size_t count = 0;
    const struct call_track **order = calloc(facts->track_count + 1, sizeof *order);
    struct call_group group;
    lode_status status = start(&group, GROUP_THREADS, facts, error);
    for (size_t i = 0; order && i < facts->track_count; i++)
        if (!facts->tracks[i].is_parent && !facts->tracks[i].is_left_out)
            order[count++] = &facts->tracks[i];
    if (count)
        qsort_r(order, count, sizeof *order, compare_threads, facts->ranks);
    for (size_t i = 0; status == LODE_OK && i < count;) {
        struct call_member *members = group.members;
        group = (struct call_group){.kind = GROUP_THREADS, .members = members};
        i += add_threads(order + i, count - i, &group);
        conclude(&group);
        if (is_better(&group, best)) {
            group.members = best->members;
            best->members = members;
            *best = (struct call_group){GROUP_THREADS, members,    group.count, group.longest,
                                        group.most,    group.mean, group.loss};
        }
    }
    free(group.members);
    free(order);
    return status == LODE_OK && order == NULL ? lode_fail_memory(error) : status;
}

lode_status lode_diagnose_call_group_find(const struct lode_diagnosis *d, struct call_group *group,
                                          lode_error *error)
{
    const struct call_facts *facts = d->calls;
    bool has_ranks = facts->mpi_processes > 1, has_regions = !d->lacks[CALL_NEED_REGIONS];
    LODE_TRY(start(group,
                   has_ranks     ? GROUP_RANKS
                   : has_regions ? GROUP_OPENMP
                                 : GROUP_THREADS,
                   facts, error));
    if (has_ranks)
        add_ranks(facts, group);
    else if (has_regions && facts->processes == 1)
        add_regions(facts, group);
    conclude(group);
    if (has_ranks || has_regions)
        return LODE_OK;
    lode_status status = find_threads(facts, group, error);
    if (status != LODE_OK) {
        free(group->members);
        group->members = NULL;
    }
    return status;
}
