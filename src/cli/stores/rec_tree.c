/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/rec_result.h"

#include "output/report.h"

static int compute(rec_result *result, rec_session *s, const lode_calls_options *options)
{
    lode_error error = {0};
    lode_calls_options all = *options;
    lode_status status = lode_calltree_compute(&result->joint.tree, s->recording, &s->slice, options, &error);
    all.parts = 0;
    if (status == LODE_ABSENT && options->parts > 0)
        status = lode_calltree_compute(&result->joint.tree, s->recording, &s->slice, &all, &error);
    return status == LODE_OK ? EXIT_DONE : rec_error(s, &error);
}

const lode_calltree *rec_calltree(rec_session *s)
{
    lode_calls_options options = rec_calls_options(s);
    rec_result **tree = &s->tree[s->is_running];
    if (s->is_borrowed)
        options.parts = 0;
    *tree = rec_has_joint(s) ? rec_take_joint(s) : rec_take_result(s, "calltree", compute, &options);
    if (*tree)
        s->estimate = lode_calltree_estimate((*tree)->joint.tree);
    return *tree ? (*tree)->joint.tree : NULL;
}

void rec_free_calltree(rec_session *s)
{
    for (int i = 0; i < 2; i++) {
        rec_release_result(s->tree[i]);
        s->tree[i] = NULL;
    }
}
