/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules for recordings of function calls work on: facts that are computed once. */
#ifndef LODE_ANALYSIS_DIAGNOSE_CALLS_FACTS_H
#define LODE_ANALYSIS_DIAGNOSE_CALLS_FACTS_H

#include "analysis/diagnose/report.h"

/* What rules need. A rule that lacks one does not run. */
enum call_need {
    CALL_NEED_DATA, /* enough calls */
    CALL_NEED_COUNT
};

struct call_facts {
    const lode_recording *recording;
};

/* Looks for what limits the run that a recording is of. */
lode_status lode_diagnose_calls(struct lode_diagnosis *d, const lode_recording *recording, lode_error *error);
/* NULL is allowed. */
void lode_call_facts_free(struct call_facts *facts);

#endif
