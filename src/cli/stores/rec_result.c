/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/rec_result.h"

#include "alloc.h"
#include "host.h"
#include "output/report.h"
#include "text/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes of results, about. */
#define ROW_SIZE     2048 /* of each function, with its percentiles */
#define TRACK_SIZE   128
#define CONTEXT_SIZE 128
#define REQUEST_SIZE 128 /* of a diagnosis */

static void free_result(void *result)
{
    rec_result *r = result;
    lode_calls_free(r->joint.calls);
    lode_calltree_free(r->joint.tree);
    lode_diagnosis_free(r->joint.diagnosis);
    tally_free(&r->reading);
    free(r);
}

static size_t size_of(const rec_session *s, const lode_joint *joint)
{
    size_t size = 0;
    if (joint->calls)
        size += lode_calls_count(joint->calls) * ROW_SIZE +
                (size_t)lode_calls_track_count(joint->calls) * TRACK_SIZE;
    if (joint->tree)
        size += (size_t)lode_calltree_context_count(joint->tree) * CONTEXT_SIZE;
    if (joint->diagnosis)
        size += (size_t)lode_recording_request_count(s->recording) * REQUEST_SIZE;
    return size;
}

char *rec_key(const rec_session *s, const char *word)
{
    char *key = NULL;
    const shared_options *shared = s->shared;
    /* Without off-CPU time, it makes no difference whether it is a call. */
    int no_sched = s->slice.no_sched && lode_recording_has_sched(s->recording);
    if (!s->is_borrowed || asprintf(&key, "%s %p %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %d %d\n%s\n%s", word,
                                    (const void *)s->recording, s->slice.from, s->slice.to,
                                    (unsigned)s->slice.depth, s->slice.min_time, no_sched, s->is_running,
                                    shared->tasks ? shared->tasks : "", shared->ids ? shared->ids : "") < 0)
        return NULL;
    return key;
}

rec_result *rec_make_result(rec_session *s, rec_compute *compute, const lode_calls_options *options)
{
    rec_result *r = alloc_array(1, sizeof *r);
    int status = compute(r, s, options);
    progress_clear(&s->progress);
    if (status == EXIT_DONE) {
        tally_merge(&r->reading, &s->reading, LODE_NOTE);
        return r;
    }
    free_result(r);
    return NULL;
}

rec_result *rec_take_result(rec_session *s, const char *word, rec_compute *compute,
                            const lode_calls_options *options)
{
    char *key = rec_key(s, word);
    rec_result *r = key ? host_cache_take(key) : NULL;
    if (r) {
        tally_merge(&s->reading, &r->reading, LODE_NOTE);
    } else {
        r = rec_make_result(s, compute, options);
        if (key && r)
            host_cache_put(key, r, size_of(s, &r->joint), free_result);
        else if (key)
            host_cache_abandon(key);
    }
    free(key);
    return r;
}

void rec_release_result(rec_result *result)
{
    host_cache_release(result, free_result);
}

/* ---- what a host is asked for ---- */

static int compute_joint(rec_result *result, rec_session *s, const lode_calls_options *options)
{
    lode_error error = {0};
    lode_diagnose_options diagnose = LODE_DIAGNOSE_OPTIONS_INIT;
    diagnose.kinds = host_current()->kinds;
    diagnose.threads = options->threads;
    diagnose.on_progress = rec_on_progress;
    diagnose.user = s;
    diagnose.findings = rec_damage(s);
    /* Requests are packed: to unpack them takes as long as a diagnosis. */
    int has_requests = lode_recording_has_requests(s->recording);
    lode_status status = lode_joint_compute(&result->joint, s->recording, &s->slice, options,
                                            has_requests ? &diagnose : NULL, &error);
    return status == LODE_OK ? EXIT_DONE : rec_error(s, &error);
}

/* Calls are NULL if they cannot be estimated. */
static int compute_estimate(rec_result *result, rec_session *s, const lode_calls_options *options)
{
    lode_error error = {0};
    lode_status status = lode_joint_compute(&result->joint, s->recording, &s->slice, options, NULL, &error);
    return status == LODE_OK || status == LODE_ABSENT ? EXIT_DONE : rec_error(s, &error);
}

rec_result *rec_take_joint(rec_session *s)
{
    lode_calls_options options = rec_calls_options(s);
    options.merge = 1;
    options.names = name_form(names_of_recordings(NAMES_BY_STORE));
    int is_estimate = 0;
    lode_error error = {0};
    if (lode_joint_estimates(&is_estimate, s->recording, &s->slice, &options, &error) != LODE_OK) {
        rec_error(s, &error);
        return NULL;
    }
    if (is_estimate) {
        rec_result *estimate = rec_take_result(s, "estimate", compute_estimate, &options);
        if (estimate == NULL || estimate->joint.calls)
            return estimate;
        rec_release_result(estimate);
    }
    options.parts = 0;
    return rec_take_result(s, "joint", compute_joint, &options);
}

int rec_has_joint(const rec_session *s)
{
    return s->is_borrowed && !s->is_running && host_current() && host_current()->results;
}

uint64_t rec_damage(const rec_session *s)
{
    uint64_t count = 0;
    for (size_t i = 0; i < s->opening.count; i++)
        count += s->opening.items[i].severity == LODE_NOTE ? 0 : s->opening.items[i].count;
    return count;
}

int rec_find_diagnosis(rec_session *s, const lode_diagnosis **found)
{
    *found = NULL;
    if (!rec_has_joint(s) || !lode_recording_has_requests(s->recording))
        return EXIT_DONE;
    s->diagnosed = rec_take_joint(s);
    if (!s->diagnosed)
        return EXIT_TROUBLE;
    /* The diagnosis itself says what reading found. */
    tally_free(&s->reading);
    *found = s->diagnosed->joint.diagnosis;
    return EXIT_DONE;
}

void rec_free_diagnosis(rec_session *s)
{
    rec_release_result(s->diagnosed);
    s->diagnosed = NULL;
}
