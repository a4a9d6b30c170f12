/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules for recordings of requests work on: facts that are computed once. */
#ifndef LODE_ANALYSIS_DIAGNOSE_REQUESTS_FACTS_H
#define LODE_ANALYSIS_DIAGNOSE_REQUESTS_FACTS_H

#include "analysis/diagnose/report.h"

/* What rules need. A rule that lacks one does not run. */
enum request_need {
    REQUEST_NEED_DATA, /* enough requests */
    REQUEST_NEED_COUNT
};

struct request_facts {
    const lode_recording *recording;
};

/* Looks for what limits the run that a recording is of. */
lode_status lode_diagnose_requests(struct lode_diagnosis *d, const lode_recording *recording,
                                   lode_error *error);
/* NULL is allowed. */
void lode_request_facts_free(struct request_facts *facts);

#endif
