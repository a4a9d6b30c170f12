/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file-io, small-io: file I/O takes more than 10 % of the run time, and more than 7 % without what
 * recording its calls cost. small-io: at least 10,000 calls of less than 20 us each.
 * Guard: share of the run; where one thread does it beside others that work, possible only.
 * Weak: a function that is seldom called makes few, long calls; or it reads or writes by
 * descriptor, and the program has sockets, pipes or timers.
 * Gain: the corrected share, which it accounts for. Likely.
 */
#include "analysis/diagnose/calls/facts.h"
#include "base/text/count.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define IO_MIN      0.10
#define CORRECTED   0.07
#define BY_ONE      0.80
#define BESIDE      0.50
#define AGAIN_MIN   10   /* calls of a function that does so again and again */
#define OFTEN_MIN   1000 /* calls of file I/O itself */
#define SMALL_CALLS 10000
#define SMALL_CALL  20000.0 /* nanoseconds */

struct io {
    double share, corrected;
    bool is_beside; /* other threads work meanwhile */
    struct call_place place;
};

/* The share of the run: of one thread, if it does nearly all of it. */
static struct io measure(const struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    struct io io = {.place = lode_diagnose_call_place(d, CALL_SET(FILE))};
    double time = lode_diagnose_call_time(d, CALL_SET(FILE)), most = 0, others = 0, lives = 0;
    const struct call_track *one = NULL;
    for (size_t i = 0; i < facts->track_count; i++)
        if (!facts->tracks[i].is_left_out && (double)facts->tracks[i].time[LODE_ACTIVITY_FILE] > most) {
            most = (double)facts->tracks[i].time[LODE_ACTIVITY_FILE];
            one = &facts->tracks[i];
        }
    for (size_t i = 0; i < facts->track_count; i++)
        if (&facts->tracks[i] != one && !facts->tracks[i].is_left_out) {
            others += (double)facts->tracks[i].useful;
            lives += (double)(facts->tracks[i].end - facts->tracks[i].begin);
        }
    bool is_of_one = most > BY_ONE * time;
    io.share = is_of_one ? time / lode_diagnose_call_run(d) : lode_diagnose_call_share(d, time);
    io.corrected = time > 0 ? io.share * fmax(0, 1 - (double)io.place.calls * (double)facts->cost / time) : 0;
    io.is_beside = is_of_one && others > BESIDE * lives && lives > 0;
    return io;
}

/* Whether read and write of this program may be for something else than files. */
static bool has_streams(struct lode_diagnosis *d)
{
    static const char *const makers[] = {"pipe",           "pipe2",   "socketpair",
                                         "timerfd_create", "eventfd", "signalfd"};
    const struct call_facts *facts = d->calls;
    for (uint32_t i = 0; i < facts->function_count; i++) {
        if (facts->functions[i].calls == 0)
            continue;
        if (facts->functions[i].effect == LODE_EFFECT_NETWORK)
            return true;
        for (size_t k = 0; k < sizeof makers / sizeof *makers; k++)
            if (strcmp(lode_diagnose_call_name(d, i + 1), makers[k]) == 0)
                return true;
    }
    return false;
}

static bool is_by_descriptor(const char *name)
{
    static const char *const calls[] = {"read", "write", "readv", "writev"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i]) == 0)
            return true;
    return false;
}

/* A function that reads or writes once, in few and long calls, may just have much to transfer. */
static lode_confidence judge(struct lode_diagnosis *d, const struct io *io)
{
    const struct call_pair *best = io->place.best;
    uint64_t holder = best->holder ? d->calls->functions[best->holder - 1].calls : 0;
    if (best->calls < AGAIN_MIN || (holder < AGAIN_MIN && best->calls < OFTEN_MIN))
        return LODE_WEAK;
    if (is_by_descriptor(lode_diagnose_call_name(d, best->entry)) && has_streams(d))
        return LODE_WEAK;
    return io->is_beside ? LODE_POSSIBLE : LODE_LIKELY;
}

static lode_status state(struct lode_diagnosis *d, const struct io *io, const char *id,
                         lode_confidence confidence, lode_error *error)
{
    const struct call_pair *best = io->place.best;
    bool is_small = id[0] == 's';
    const char *basis = lode_diagnose_call_basis(d, "the run time");
    struct draft draft = {.statement = {.id = id, .confidence = confidence}};
    lode_diagnose_call_gain(&draft, io->corrected);
    draft.statement.function = lode_diagnose_call_name(d, best->holder);
    draft.statement.text =
        is_small
            ? lode_diagnose_say(d, "Many short calls of file I/O take %.0f%% of %s, %s in %s.",
                                100 * io->corrected, basis, lode_diagnose_call_most(&io->place),
                                lode_diagnose_call_pair_name(d, best))
            : lode_diagnose_say(d, "File I/O takes %.0f%% of %s, %s in %s.", 100 * io->corrected, basis,
                                lode_diagnose_call_most(&io->place), lode_diagnose_call_pair_name(d, best));
    draft.statement.advice = is_small ? "Try to gather them in a buffer." : NULL;
    if (is_small)
        LODE_ADD_EXPLAINS(&draft, "file-io");
    lode_diagnose_show(
        d, &draft, (double)best->calls, "calls", "%s: %s of %s each", lode_diagnose_call_pair_name(d, best),
        LODE_COUNTED(best->calls, "call", "calls"),
        lode_diagnose_call_amount(d, lode_diagnose_call_pair_time(best) / (double)best->calls));
    lode_diagnose_call_show_callers(d, &draft, best->entry);
    if (best->sized)
        lode_diagnose_show(d, &draft, (double)best->bytes / (double)best->sized, "bytes", "%.3g bytes each",
                           (double)best->bytes / (double)best->sized);
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run_either(struct lode_diagnosis *d, bool is_for_small, lode_error *error)
{
    struct io io = measure(d);
    if (io.share <= IO_MIN || io.corrected <= CORRECTED || io.place.best == NULL || io.place.best->calls == 0)
        return LODE_OK;
    const struct call_pair *best = io.place.best;
    bool is_small =
        best->calls >= SMALL_CALLS && lode_diagnose_call_pair_time(best) < SMALL_CALL * (double)best->calls;
    return is_small == is_for_small ? state(d, &io, is_small ? "small-io" : "file-io", judge(d, &io), error)
                                    : LODE_OK;
}

/* Many short calls that run, beside fewer that take longer; of streams, too. */
static struct io find_beside(const struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    struct io io = {0};
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        double time = (double)pair->running - (double)pair->calls * (double)facts->cost;
        if (pair->entry && pair->holder && facts->functions[pair->entry - 1].activity == LODE_ACTIVITY_FILE &&
            pair->calls >= SMALL_CALLS &&
            lode_diagnose_call_pair_time(pair) < SMALL_CALL * (double)pair->calls &&
            pair->blocked < pair->running / 3 && time > io.place.time)
            io.place = (struct call_place){.time = time, .part = time, .calls = pair->calls, .best = pair};
    }
    io.share = io.corrected = io.place.time / lode_diagnose_call_run(d);
    return io;
}

static lode_status run_file(struct lode_diagnosis *d, lode_error *error)
{
    return run_either(d, false, error);
}

static lode_status run_small(struct lode_diagnosis *d, lode_error *error)
{
    LODE_TRY(run_either(d, true, error));
    struct draft *said = lode_diagnose_find_statement(d, "small-io");
    struct io beside = find_beside(d);
    if (beside.place.best == NULL || beside.corrected <= IO_MIN)
        return LODE_OK;
    if (said == NULL)
        return state(d, &beside, "small-io", LODE_LIKELY, error);
    /* Short calls that run are slow on streams as well. */
    if (said->statement.confidence == LODE_WEAK)
        said->statement.confidence = LODE_LIKELY;
    return LODE_OK;
}

const struct lode_diagnose_rule lode_diagnose_call_rule_file_io = {
    "file-io", "file I/O takes more than 10% of the run time", CALL_NEEDS, run_file};
const struct lode_diagnose_rule lode_diagnose_call_rule_small_io = {
    "small-io", "10,000 or more short calls of file I/O take more than 10% of the run time", CALL_NEEDS,
    run_small};
