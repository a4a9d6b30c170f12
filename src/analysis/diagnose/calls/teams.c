/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes whose threads run OpenMP regions: while the first thread of a process works outside of
 * regions, its other threads wait. Where other threads work beside the regions, this does not hold,
 * and nothing is divided.
 */
#include "analysis/diagnose/calls/facts.h"

#include <math.h>

#define OTHERS_MAX 0.05 /* of the useful time of a process */

size_t lode_diagnose_call_team(const struct call_facts *facts, size_t first, struct call_team *team)
{
    double outside = 0;
    size_t i = first;
    *team = (struct call_team){0};
    for (; i < facts->track_count && facts->tracks[i].pid == facts->tracks[first].pid; i++) {
        const struct call_track *track = &facts->tracks[i], *master = team->master;
        if (track->is_left_out)
            continue;
        team->threads++;
        team->inside += (double)track->region;
        team->most = fmax(team->most, (double)track->region);
        outside += (double)(track->useful - track->region);
        if (master == NULL || track->parallel > master->parallel ||
            (track->parallel == master->parallel && track->useful > master->useful))
            team->master = track;
    }
    if (team->master) {
        team->parallel = (double)team->master->parallel;
        team->outside = (double)(team->master->useful - team->master->region);
        team->others = outside - team->outside;
    }
    return i;
}

bool lode_diagnose_call_has_teams(const struct call_facts *facts)
{
    size_t judged = 0;
    bool has_regions = false;
    struct call_team team;
    for (size_t i = 0; i < facts->track_count; i++) {
        judged += !facts->tracks[i].is_left_out;
        has_regions |= facts->tracks[i].parallel && facts->tracks[i].region;
    }
    for (size_t i = 0; i < facts->track_count;) {
        i = lode_diagnose_call_team(facts, i, &team);
        if (team.others > OTHERS_MAX * (team.inside + team.outside + team.others))
            return false;
    }
    return has_regions && facts->slot_count == judged;
}

/* What others do outside of regions, they do not wait. */
static double find_serial(const struct call_team *team)
{
    return fmax(0, team->outside * (team->threads - 1) - team->others);
}

void lode_diagnose_call_divide(struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    lode_efficiency *e = &d->efficiency;
    double run = (double)(facts->end - facts->begin), whole = (double)facts->slot_count * run;
    double sum = 0, most = 0, processes = 0;
    struct call_team team;
    e->is_hybrid = 1;
    e->serial = e->openmp = 1;
    for (size_t i = 0; i < facts->track_count;) {
        i = lode_diagnose_call_team(facts, i, &team);
        if (team.master == NULL)
            continue;
        double work = team.parallel + team.outside;
        e->process += team.threads * work / whole;
        e->serial -= find_serial(&team) / whole;
        e->openmp -= (team.threads * team.parallel - team.inside) / whole;
        sum += work;
        most = fmax(most, work);
        processes++;
    }
    e->rank_balance = most > 0 ? sum / processes / most : 1;
    e->rank_communication = most / run;
}

struct call_waiting lode_diagnose_call_waiting(const struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    struct call_waiting w = {.serial = fmax(0, 1 - d->efficiency.serial),
                             .inside = fmax(0, 1 - d->efficiency.openmp),
                             .run = lode_diagnose_call_run(d)};
    double whole = 0, serial = 0, inside = 0;
    struct call_team team;
    for (size_t i = 0; i < facts->track_count;) {
        i = lode_diagnose_call_team(facts, i, &team);
        if (team.master == NULL)
            continue;
        w.processes++;
        w.alone += team.outside;
        if (w.most == NULL || team.master->alone.time > w.most->alone.time)
            w.most = team.master;
        serial += find_serial(&team);
        inside += team.threads * team.most - team.inside;
        whole += team.threads * (team.outside + team.most);
    }
    if (d->efficiency.is_hybrid)
        return w;
    w.serial = serial / fmax(1, whole);
    w.inside = inside / fmax(1, whole);
    w.run = whole / fmax(1, (double)facts->slot_count);
    return w;
}
