/* SPDX-License-Identifier: BSD-3-Clause */
/* What a recording of calls cannot tell: said before anything else. */
#include "analysis/diagnose/calls/facts.h"
#include "base/text/count.h"

#include "model/recording/recording.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MIN     10e6  /* nanoseconds */
#define TIME_MAX     1e18  /* more is damage */
#define DAMAGE_MAX   0.001 /* findings per call */
#define UNNAMED_MAX  0.20
#define OVERHEAD_MAX 0.20
#define YIELDED_MAX  0.20
#define RUNNABLE_MIN 0.10
#define IDLE_MAX     0.10
#define SPUN_MAX     0.10
#define UNENDED_MAX  0.05
#define UNENDED_MIN  1000000 /* nanoseconds: a program takes time to end */

static const char *find_fact(const lode_recording *recording, const char *key)
{
    for (size_t i = 0; i < recording->fact_count; i++)
        if (strcmp(recording->facts[i].key, key) == 0)
            return recording->facts[i].value;
    return NULL;
}

static lode_status look_at_damage(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    const char *end = find_fact(facts->recording, "exit status");
    uint64_t findings = facts->findings + d->options.findings;
    d->lacks[CALL_NEED_SOUND] = (double)facts->findings > DAMAGE_MAX * (double)d->run.calls;
    d->lacks[CALL_NEED_COMPLETE] = d->options.findings > 0;
    if (findings)
        LODE_TRY(lode_diagnose_add_note(
            d, "damaged", LODE_NOTE_DAMAGED, (double)findings,
            lode_diagnose_say(d, "The store is damaged: %s ('lode check' lists them).%s",
                              LODE_COUNTED(findings, "finding", "findings"),
                              d->lacks[CALL_NEED_SOUND]      ? " Nothing is judged."
                              : d->lacks[CALL_NEED_COMPLETE] ? " Threads are not compared."
                                                             : ""),
            error));
    if (end && strstr(end, "signal"))
        return lode_diagnose_add_note(d, "killed", LODE_NOTE_BIASED, 1,
                                      lode_diagnose_say(d, "The program did not end by itself: %s.", end),
                                      error);
    return LODE_OK;
}

/* A file that was cut at the end of a record looks as if calls were open when the thread ended. */
static lode_status look_at_ends(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    uint32_t count = 0;
    double most = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        double share =
            track->unended > UNENDED_MIN ? (double)track->unended / (double)(track->end - track->begin) : 0;
        count += share > UNENDED_MAX && !track->is_left_out;
        most = share > most && !track->is_left_out ? share : most;
    }
    if (count == 0)
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "cut-off", LODE_NOTE_BIASED, most,
        lode_diagnose_say(d,
                          "The records of %s end early, in calls that did not end: up to "
                          "%.0f%% of %s time is after them. Such calls are not judged.",
                          LODE_COUNTED(count, "thread", "threads"), 100 * most, count > 1 ? "their" : "its"),
        error);
}

static lode_status look_at_time(struct lode_diagnosis *d, lode_error *error)
{
    double run = d->run.run_time * 1e9;
    d->lacks[CALL_NEED_TIME] = !(run >= TIME_MIN && run <= TIME_MAX);
    if (!d->lacks[CALL_NEED_TIME])
        return LODE_OK;
    if (d->run.calls == 0)
        return lode_diagnose_add_note(d, "no-calls", LODE_NOTE_TOO_LITTLE, 0, "No calls were recorded.",
                                      error);
    return lode_diagnose_add_note(
        d, "short-run", LODE_NOTE_TOO_LITTLE, run / 1e9,
        lode_diagnose_say(d, "The recording is %s long: %s. Run longer.", lode_diagnose_call_amount(d, run),
                          run > TIME_MAX ? "times are damaged" : "too short to judge"),
        error);
}

static lode_status look_at_names(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    double all = 0, unnamed = 0;
    for (uint32_t f = 0; f < facts->function_count; f++) {
        if (!facts->functions[f].is_known)
            continue;
        const lode_function *function = lode_function_table_at(recording_functions(facts->recording), f);
        all += (double)facts->functions[f].own;
        unnamed += function->name ? 0 : (double)facts->functions[f].own;
    }
    d->lacks[CALL_NEED_NAMES] = unnamed > UNNAMED_MAX * all;
    if (!d->lacks[CALL_NEED_NAMES])
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "no-symbols", LODE_NOTE_BIASED, unnamed / all,
        lode_diagnose_say(d,
                          "%.0f%% of the running time is in functions without names: no hot spot. "
                          "Record a program that is not stripped.",
                          100 * unnamed / all),
        error);
}

static lode_status look_at_overhead(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    double running = 0, cost = (double)d->run.calls * (double)facts->cost;
    uint32_t shortest = 0;
    for (size_t i = 0; i < facts->track_count; i++)
        running += (double)facts->tracks[i].running;
    if (!(cost > OVERHEAD_MAX * running))
        return LODE_OK;
    for (uint32_t f = 0; f < facts->function_count; f++)
        if (facts->functions[f].is_known &&
            (shortest == 0 || facts->functions[f].calls > facts->functions[shortest - 1].calls ||
             (facts->functions[f].calls == facts->functions[shortest - 1].calls &&
              facts->ranks[f] < facts->ranks[shortest - 1])))
            shortest = f + 1;
    const char *name = lode_diagnose_call_name(d, shortest);
    return lode_diagnose_add_note(
        d, "recorder-overhead", LODE_NOTE_BIASED, cost / running,
        lode_diagnose_say(
            d,
            "Recording took about %.0f%% of the running time: %" PRIu64
            " calls, most often of %s. Times of calls below 2 us are judged without that, or not at all. "
            "Try to record without it ('-N %s'), or without short calls ('-t 2us').",
            100 * (cost < running ? cost / running : 1), d->run.calls, name, name),
        error);
}

static lode_status look_at_sched(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    d->lacks[CALL_NEED_SCHED] = !facts->has_sched;
    if (!facts->has_sched)
        return lode_diagnose_add_note(
            d, "no-sched", LODE_NOTE_BIASED, 0,
            "Off-CPU time was not recorded: running and waiting cannot be distinguished. "
            "Record scheduling events, too ('-E linux:schedule').",
            error);
    double stolen = d->run.total > 0 ? facts->stolen_time / (d->run.total * 1e9) : 0;
    d->calls->is_calm = stolen <= CALL_PREEMPTED_MAX;
    d->calls->stolen = stolen;
    if (d->calls->is_calm)
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "pre-empted", LODE_NOTE_BIASED, stolen,
        lode_diagnose_say(d,
                          "Threads were pre-empted for %.0f%% of their time, not counting where they "
                          "spin: other programs or threads used their processors. Shares and "
                          "gains of statements are of the time without that.",
                          100 * stolen),
        error);
}

/* Threads that want a processor for a part of their time; at most as many as exist at once. */
static size_t count_runnable(const struct call_facts *facts)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        double wanted = facts->has_sched ? (double)track->running + (double)track->preempted
                                         : (double)track->useful + (double)track->time[LODE_ACTIVITY_MPI] +
                                               (double)track->time[LODE_ACTIVITY_OMP] +
                                               (double)track->time[LODE_ACTIVITY_OMP_WAIT];
        count += !track->is_left_out && wanted > RUNNABLE_MIN * (double)(track->end - track->begin);
    }
    return count < facts->slot_count ? count : facts->slot_count;
}

static lode_status look_at_processors(struct lode_diagnosis *d, lode_error *error)
{
    struct call_facts *facts = d->calls;
    const char *words = find_fact(facts->recording, "processors");
    unsigned long count = words ? strtoul(words, NULL, 10) : 0;
    double yielded = 0, mpi = lode_diagnose_call_time(d, CALL_SET(MPI));
    d->run.processors = count < UINT32_MAX ? (uint32_t)count : 0;
    for (size_t i = 0; i < facts->track_count; i++)
        yielded += facts->tracks[i].is_left_out ? 0 : (double)facts->tracks[i].yielded;
    size_t runnable = count_runnable(facts);
    bool has_few = d->run.processors && runnable > d->run.processors;
    bool has_yields = yielded > YIELDED_MAX * mpi && mpi > 0;
    d->lacks[CALL_NEED_PROCESSORS] = has_few || has_yields;
    d->lacks[CALL_NEED_RUNNING] = has_few && !facts->has_sched;
    if (!has_few && !has_yields)
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "oversubscribed", LODE_NOTE_BIASED, has_few ? (double)d->run.processors : yielded / mpi,
        has_few ? lode_diagnose_say(d, "%s ran on %s: time in MPI and in OpenMP is not judged.",
                                    LODE_COUNTED(runnable, "thread", "threads"),
                                    LODE_COUNTED(d->run.processors, "processor", "processors"))
                : lode_diagnose_say(
                      d,
                      "%.0f%% of the time in MPI other threads used the processor: time in MPI and in "
                      "OpenMP is not judged.",
                      100 * yielded / mpi),
        error);
}

/*
 * A thread that was woken, and waits for a processor, looks blocked. If threads only wait for each
 * other, one of them can always run: time in which none did belongs to the machine.
 */
static lode_status look_at_idle(struct lode_diagnosis *d, lode_error *error)
{
    struct call_facts *facts = d->calls;
    double run = (double)(facts->end - facts->begin), covered = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        if (!track->is_left_out)
            covered += (double)(track->end - track->begin) - (double)track->mutual;
    }
    double idle = run > 0 ? 1 - covered / run : 0;
    if (!facts->has_sched || facts->slot_count < 2 || idle <= IDLE_MAX)
        return LODE_OK;
    facts->is_calm = false;
    d->lacks[CALL_NEED_CALM] = true;
    if (d->lacks[CALL_NEED_TIME])
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "nobody-ran", LODE_NOTE_BIASED, idle,
        lode_diagnose_say(d,
                          "For at least %.0f%% of the run time no thread ran, although they waited "
                          "for each other: other programs may have used the processors. Such "
                          "waiting is not judged.",
                          100 * idle),
        error);
}

/* OpenMP threads that spin are pre-empted there: others then wait for the machine. */
static lode_status look_at_openmp(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    double preempted = 0;
    bool has_regions = false;
    for (size_t i = 0; i < facts->track_count; i++) {
        preempted += facts->tracks[i].is_left_out ? 0 : (double)facts->tracks[i].preempted;
        has_regions |= facts->tracks[i].region > 0;
    }
    double share = d->run.total > 0 ? preempted / (d->run.total * 1e9) : 0;
    if (!has_regions || share <= SPUN_MAX)
        return LODE_OK;
    d->lacks[CALL_NEED_CALM] = true;
    return lode_diagnose_add_note(
        d, "openmp-not-judged", LODE_NOTE_BIASED, share,
        lode_diagnose_say(d,
                          "OpenMP threads were pre-empted for %.0f%% of their time, and others "
                          "waited for them. Waiting inside of OpenMP regions is not judged.",
                          100 * share),
        error);
}

static lode_status look_at_short_waits(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    uint32_t count = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        count += track->wait_min > 0;
        most = track->wait_min > most ? track->wait_min : most;
    }
    if (count == 0)
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "short-waits", LODE_NOTE_LEFT_OUT, count,
        lode_diagnose_say(d, "Left out: the shortest waits of %s, up to %s; there are too many.",
                          LODE_COUNTED(count, "thread", "threads"),
                          lode_diagnose_call_amount(d, (double)most)),
        error);
}

static lode_status look_at_left_out(struct lode_diagnosis *d, lode_error *error)
{
    if (d->run.empty)
        LODE_TRY(lode_diagnose_add_note(d, "empty", LODE_NOTE_LEFT_OUT, d->run.empty,
                                        lode_diagnose_say(d, "Left out: %s without calls.",
                                                          LODE_COUNTED(d->run.empty, "thread", "threads")),
                                        error));
    if (d->run.helpers)
        return lode_diagnose_add_note(
            d, "helpers", LODE_NOTE_LEFT_OUT, d->run.helpers,
            lode_diagnose_say(d, "Left out: %s for their end.",
                              LODE_COUNTED(d->run.helpers, "thread that started others, or only waits",
                                           "threads that started others, or only wait")),
            error);
    return LODE_OK;
}

lode_status lode_diagnose_call_quality(struct lode_diagnosis *d, lode_error *error)
{
    LODE_TRY(look_at_damage(d, error));
    LODE_TRY(look_at_time(d, error));
    if (d->run.calls == 0)
        return look_at_left_out(d, error);
    LODE_TRY(look_at_ends(d, error));
    LODE_TRY(look_at_names(d, error));
    LODE_TRY(look_at_overhead(d, error));
    LODE_TRY(look_at_sched(d, error));
    LODE_TRY(look_at_processors(d, error));
    LODE_TRY(look_at_idle(d, error));
    LODE_TRY(look_at_openmp(d, error));
    LODE_TRY(look_at_short_waits(d, error));
    return look_at_left_out(d, error);
}
