/* SPDX-License-Identifier: BSD-3-Clause */
/* What the data cannot tell: said before anything else. */
#include "analysis/diagnose/profiles/facts.h"
#include "base/text/count.h"

#include "base/compare.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES_MIN = 100,
    MASK_MOST = 7 /* processors of a thread whose id is the first of them */
};

#define UNNAMED_MAX      0.20
#define UNATTRIBUTED_MAX 0.05
#define COVERED_MIN      0.20
#define SUM_MAX          1.05
#define MOST_BUSY        1.10
#define SECONDS_MIN      0.010
#define PREEMPTED_MAX    0.05
#define PREEMPTED_MOST   0.10

static lode_status look_at_damage(struct lode_diagnosis *d, lode_error *error)
{
    size_t count = 0;
    /* Values by context are not read. */
    const char *unused = lode_database_part_file(d->profiles->db, LODE_PART_CONTEXT);
    for (size_t i = 0; i < d->profiles->db->remark_count; i++)
        count += d->profiles->db->remarks[i].severity != LODE_NOTE &&
                 strcmp(d->profiles->db->remarks[i].file, unused) != 0;
    if (count == 0)
        return LODE_OK;
    return lode_diagnose_add_note(d, "damaged", LODE_NOTE_DAMAGED, (double)count,
                                  lode_diagnose_say(d, "The store is damaged: %s ('lode check' lists them).",
                                                    LODE_COUNTED(count, "finding", "findings")),
                                  error);
}

/* Of the time of calls there are no samples. */
static lode_status look_at_length(struct lode_diagnosis *d, lode_error *error)
{
    d->lacks[NEED_SAMPLES] = !(d->run.seconds >= SECONDS_MIN);
    if (!d->lacks[NEED_SAMPLES])
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "few-samples", LODE_NOTE_TOO_LITTLE, d->run.seconds,
        lode_diagnose_say(d, "The run took %.3g s: too short to judge. Record a longer one.", d->run.seconds),
        error);
}

static lode_status look_at_samples(struct lode_diagnosis *d, lode_error *error)
{
    uint64_t samples = d->run.samples;
    if (d->profiles->is_counted)
        return look_at_length(d, error);
    d->lacks[NEED_SAMPLES] = samples < SAMPLES_MIN;
    if (!d->lacks[NEED_SAMPLES])
        return LODE_OK;
    const char *text =
        samples ? lode_diagnose_say(d, "Only about %s: too few to judge. Run longer, or sample more often.",
                                    LODE_COUNTED(samples, "sample", "samples"))
                : lode_diagnose_say(
                      d, "The number of samples is not known, so nothing is judged. Record with traces.");
    return lode_diagnose_add_note(d, "few-samples", LODE_NOTE_TOO_LITTLE, (double)samples, text, error);
}

static lode_status look_at_runs(struct lode_diagnosis *d, lode_error *error)
{
    if (d->profiles->span > 0 && d->profiles->thread_count > 1 && d->profiles->covered < COVERED_MIN) {
        d->lacks[NEED_ONE_RUN] = true;
        d->run.seconds = 0;
        d->run.run_time = d->profiles->longest;
        LODE_TRY(lode_diagnose_add_note(
            d, "several-runs", LODE_NOTE_BIASED, d->profiles->covered,
            lode_diagnose_say(d,
                              "Threads were active in %.0f%% of the time from the first sample to the last: "
                              "several runs in one store. Nothing is said across threads.",
                              100 * d->profiles->covered),
            error));
    }
    double period = d->run.samples ? lode_diagnose_sampling_period(d) : 0;
    double most = (double)d->profiles->thread_count * (d->profiles->span + period);
    if (d->run.is_seconds && d->profiles->span > 0 && d->run.total > SUM_MAX * most) {
        d->lacks[NEED_CONSISTENT] = true;
        LODE_TRY(lode_diagnose_add_note(
            d, "inconsistent", LODE_NOTE_BIASED, d->run.total / most,
            lode_diagnose_say(
                d,
                "The threads have %.3g s of %s, but trace lines allow %.3g s: they do not belong "
                "together. No efficiency.",
                d->run.total, lode_metric_name(d->run.metric), most),
            error));
    }
    return LODE_OK;
}

static lode_status look_at_names(struct lode_diagnosis *d, lode_error *error)
{
    double unnamed = d->run.total > 0 ? lode_diagnose_unnamed(d) / d->run.total : 0;
    double nowhere = d->run.total > 0 ? d->activities[LODE_ACTIVITY_COUNT] / d->run.total : 0;
    if (unnamed > UNNAMED_MAX) {
        d->lacks[NEED_NAMES] = true;
        LODE_TRY(lode_diagnose_add_note(
            d, "no-symbols", LODE_NOTE_BIASED, unnamed,
            lode_diagnose_say(
                d, "%.0f%% of the time is in code without function names: no hot spot. %s", 100 * unnamed,
                d->profiles->tells_samples ? "Install debug symbols, or compile with -g and do not strip."
                                           : "Use debug symbols, and hpcstruct before hpcprof."),
            error));
    }
    if (nowhere > UNATTRIBUTED_MAX)
        return lode_diagnose_add_note(
            d, "unattributed", LODE_NOTE_BIASED, nowhere,
            lode_diagnose_say(d, "%.0f%% of the time belongs to no function that the store lists.",
                              100 * nowhere),
            error);
    return LODE_OK;
}

static int compare_cores(const void *left, const void *right)
{
    const struct thread *const *a = left, *const *b = right;
    return (*a)->node != (*b)->node ? LODE_COMPARE((*a)->node, (*b)->node)
                                    : LODE_COMPARE((*a)->core, (*b)->core);
}

/*
 * The id of a processor is the first one that a thread may use, if it may use fewer than 8. So it
 * stands for all up to the next id; the last one for as many as the one that stands for fewest.
 */
static size_t count_processors(const struct thread **threads, size_t count)
{
    size_t sum = 0, fewest = MASK_MOST;
    for (size_t i = 1; i <= count; i++) {
        bool is_same_node = i < count && threads[i]->node == threads[i - 1]->node;
        if (is_same_node && threads[i]->core == threads[i - 1]->core)
            continue;
        uint64_t gap = is_same_node ? threads[i]->core - threads[i - 1]->core : fewest;
        gap = gap < MASK_MOST ? gap : MASK_MOST;
        fewest = !is_same_node ? MASK_MOST : gap < fewest ? (size_t)gap : fewest;
        sum += (size_t)gap;
    }
    return sum;
}

/* At most so many processors that threads ran on; 0: not all say so. */
static lode_status count_cores(const struct lode_diagnosis *d, size_t *cores, lode_error *error)
{
    const struct thread **threads = calloc(d->profiles->thread_count + 1, sizeof *threads);
    LODE_TRY_ALLOC(threads, error);
    size_t count = 0;
    for (size_t i = 0; i < d->profiles->thread_count; i++)
        if (d->profiles->threads[i].has_core)
            threads[count++] = &d->profiles->threads[i];
    *cores = 0;
    if (count == d->profiles->thread_count && count)
        qsort(threads, count, sizeof *threads, compare_cores);
    if (count == d->profiles->thread_count)
        *cores = count_processors(threads, count);
    free(threads);
    return LODE_OK;
}

/*
 * Threads that share processors wait for each other: time in MPI is no measure then. Where all of
 * them ran at once, the ids do not mean that.
 */
static lode_status look_at_processors(struct lode_diagnosis *d, lode_error *error)
{
    size_t cores;
    LODE_TRY(count_cores(d, &cores, error));
    if (cores == 0 || cores >= d->profiles->thread_count ||
        d->run.total > MOST_BUSY * (double)cores * d->run.run_time)
        return LODE_OK;
    d->lacks[NEED_PROCESSORS] = true;
    return lode_diagnose_add_note(
        d, "oversubscribed", LODE_NOTE_BIASED, (double)cores,
        lode_diagnose_say(d, "%s ran on at most %s: time in MPI and in OpenMP is not judged.",
                          LODE_COUNTED(d->profiles->thread_count, "thread", "threads"),
                          LODE_COUNTED(cores, "processor", "processors")),
        error);
}

/* Threads that were ready to run, and did not. */
static lode_status look_at_preemption(struct lode_diagnosis *d, lode_error *error)
{
    double share = d->run.total > 0 ? lode_diagnose_time_of_threads(d, ALL, READY) / d->run.total : 0;
    d->lacks[NEED_RUNNING] = share > PREEMPTED_MOST;
    if (!(share > PREEMPTED_MAX))
        return LODE_OK;
    return lode_diagnose_add_note(
        d, "pre-empted", LODE_NOTE_BIASED, share,
        lode_diagnose_say(
            d, "Threads were pre-empted in %.0f%% of their time: processors were shared.%s", 100 * share,
            d->lacks[NEED_RUNNING] ? " Only running time is judged, not waiting for other threads." : ""),
        error);
}

/* All threads that were left out, by reason. */
static const char *say_helpers(struct lode_diagnosis *d)
{
    uint32_t joiners = d->profiles->joiners, launchers = d->profiles->launchers;
    uint32_t helpers = d->run.helpers - joiners - launchers;
    const char *of_libraries =
        helpers ? lode_diagnose_say(d, "Left out: %s of libraries that never ran code of the program.",
                                    LODE_COUNTED(helpers, "thread", "threads"))
                : "";
    const char *of_others =
        joiners ? lode_diagnose_say(d, "Left out: %s for others to end.",
                                    LODE_COUNTED(joiners, "thread that only waits", "threads that only wait"))
                : "";
    const char *of_launcher = launchers ? lode_diagnose_say(d, "Left out: %s of the launcher.",
                                                            LODE_COUNTED(launchers, "thread", "threads"))
                                        : "";
    return lode_diagnose_say(d, "%s%s%s%s%s", of_libraries, helpers && (joiners || launchers) ? " " : "",
                             of_others, joiners && launchers ? " " : "", of_launcher);
}

static lode_status look_at_left_out(struct lode_diagnosis *d, lode_error *error)
{
    if (d->run.empty)
        LODE_TRY(lode_diagnose_add_note(d, "empty", LODE_NOTE_LEFT_OUT, d->run.empty,
                                        lode_diagnose_say(d, "Left out: %s without %s.",
                                                          LODE_COUNTED(d->run.empty, "thread", "threads"),
                                                          lode_metric_name(d->run.metric)),
                                        error));
    if (d->run.helpers)
        return lode_diagnose_add_note(d, "helpers", LODE_NOTE_LEFT_OUT, d->run.helpers, say_helpers(d),
                                      error);
    return LODE_OK;
}

/* Samples show where time is, not how often something happens. */
static lode_status look_at_sampling(struct lode_diagnosis *d, lode_error *error)
{
    if (!d->profiles->tells_samples)
        return LODE_OK;
    bool has_off = lode_diagnose_metric(d, LODE_DIAGNOSE_OFF_CPU, NULL) != NULL;
    return lode_diagnose_add_note(
        d, "sampled", LODE_NOTE_LEFT_OUT, 0,
        lode_diagnose_say(d,
                          "Not looked at: what only calls tell, such as locks, many short calls, churn, "
                          "recursion and slow calls. The recording has samples.%s",
                          has_off ? "" : " Off-CPU time was not recorded (lode record --off-cpu)."),
        error);
}

lode_status lode_diagnose_quality(struct lode_diagnosis *d, lode_error *error)
{
    LODE_TRY(look_at_damage(d, error));
    if (d->lacks[NEED_METRIC])
        return lode_diagnose_add_note(
            d, "no-cpu-metric", LODE_NOTE_TOO_LITTLE, 0,
            "No metric of time on the processor: the host is not judged. Record CPUTIME or "
            "REALTIME, with traces.",
            error);
    LODE_TRY(look_at_samples(d, error));
    LODE_TRY(look_at_runs(d, error));
    LODE_TRY(look_at_names(d, error));
    LODE_TRY(look_at_processors(d, error));
    LODE_TRY(look_at_preemption(d, error));
    LODE_TRY(look_at_sampling(d, error));
    return look_at_left_out(d, error);
}
