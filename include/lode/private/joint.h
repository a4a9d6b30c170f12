/* SPDX-License-Identifier: BSD-3-Clause */
/* What several questions read all of a recording for, from one pass. */
#ifndef LODE_PRIVATE_JOINT_H
#define LODE_PRIVATE_JOINT_H

#include <lode/calltree.h>
#include <lode/unstable/diagnose.h>

LODE_BEGIN_DECLS

/* Each of them is for its own function to free. */
typedef struct lode_joint {
    lode_calls *calls;
    lode_calltree *tree;
    lode_diagnosis *diagnosis; /* NULL: it was not asked for, or takes a pass of its own */
} lode_joint;

/*
 * What lode_calls_compute, lode_calltree_compute and, with `diagnose`, lode_diagnose_recording
 * have: each event is read once. Findings and progress are as `options` say. A diagnosis is of the
 * whole recording, and takes the pass of calls if that reads the same events. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_joint_compute(lode_joint *out, const lode_recording *recording,
                                                     const lode_slice *slice,
                                                     const lode_calls_options *options,
                                                     const lode_diagnose_options *diagnose,
                                                     lode_error *error);

/*
 * Whether calls of these options are estimated: they ask for it, and there is enough to read. What
 * needs repairs shows only when it is read. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_joint_estimates(int *is_estimate, const lode_recording *recording,
                                                       const lode_slice *slice,
                                                       const lode_calls_options *options, lode_error *error);

LODE_END_DECLS
#endif
