/* SPDX-License-Identifier: BSD-3-Clause */
/* What a pass over the calls of a recording gives. A host keeps it for later commands. */
#ifndef CLI_REC_RESULT_H
#define CLI_REC_RESULT_H

#include "stores/rec_session.h"

#include <lode/private/joint.h>

typedef struct rec_result {
    lode_joint joint; /* what was not asked for is NULL */
    tally reading;    /* findings of the pass */
} rec_result;

/* Computes a result; `options` are for calls. EXIT_DONE, or EXIT_TROUBLE after a message. */
typedef int rec_compute(rec_result *result, rec_session *s, const lode_calls_options *options);

/*
 * The result of a word, that of the host or a new one; rec_release_result is due. NULL after a
 * message.
 */
rec_result *rec_take_result(rec_session *s, const char *word, rec_compute *compute,
                            const lode_calls_options *options);
/* The same, always a new one, which the host does not keep. */
rec_result *rec_make_result(rec_session *s, rec_compute *compute, const lode_calls_options *options);
/* NULL is allowed. */
void rec_release_result(rec_result *result);

/*
 * Calls by name, the call tree and the diagnosis of requests, for a host, which is asked for all of
 * them: from one pass. NULL after a message.
 */
rec_result *rec_take_joint(rec_session *s);
/* Whether the host has such results of the slice. */
int rec_has_joint(const rec_session *s);

#endif
