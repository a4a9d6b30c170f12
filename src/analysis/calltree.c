/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees: the pass that grows them, and the public face. */
#include "analysis/calltree.h"

#include "analysis/calls.h"
#include "base/error.h"
#include <stdlib.h>

struct computation {
    struct lode_pass pass;
    struct lode_calltree_builder *workers;
};

static lode_status take(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error)
{
    struct computation *self = user;
    return lode_calltree_builder_take(&self->workers[worker], events, count, error);
}

static lode_status end_track(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    struct computation *self = user;
    (void)row, (void)error;
    lode_calltree_builder_end(&self->workers[worker]);
    return LODE_OK;
}

static lode_status compute(struct computation *self, lode_calltree *tree, lode_error *error)
{
    self->workers = lode_pass_workers(&self->pass, sizeof *self->workers);
    if (self->workers == NULL)
        return lode_fail_memory(error);
    for (unsigned i = 0; i < self->pass.threads; i++)
        LODE_TRY(lode_calltree_builder_open(&self->workers[i], error));
    self->pass.take = take;
    self->pass.end = end_track;
    self->pass.user = self;
    LODE_TRY(lode_pass_run(&self->pass, error));
    for (unsigned i = 1; i < self->pass.threads; i++) {
        LODE_TRY(lode_calltree_builder_add(&self->workers[0], &self->workers[i], error));
        lode_calltree_builder_close(&self->workers[i]);
    }
    tree->cost.profiles = self->pass.row_count;
    return lode_calltree_arrange(tree, &self->workers[0], self->pass.recording, error);
}

lode_status lode_calltree_compute(lode_calltree **out, const lode_recording *recording,
                                  const lode_slice *slice, const lode_calls_options *options,
                                  lode_error *error)
{
    struct computation self = {.workers = NULL};
    lode_calltree *tree = calloc(1, sizeof *tree);
    *out = NULL;
    if (tree == NULL)
        return lode_fail_memory(error);
    lode_status status = lode_pass_open(&self.pass, recording, slice, options, error);
    if (status == LODE_OK)
        status = compute(&self, tree, error);
    for (unsigned i = 0; self.workers && i < self.pass.threads; i++)
        lode_calltree_builder_close(&self.workers[i]);
    free(self.workers);
    lode_pass_close(&self.pass);
    if (status == LODE_OK)
        *out = tree;
    else
        lode_calltree_free(tree);
    return status;
}

void lode_calltree_free(lode_calltree *tree)
{
    if (tree == NULL)
        return;
    lode_context_tree_free(&tree->contexts);
    free(tree->calls);
    free(tree->total);
    free(tree->self);
    free(tree->cost.inclusive);
    free(tree->cost.own);
    free(tree);
}

const lode_cost *lode_calltree_cost(const lode_calltree *tree)
{
    return &tree->cost;
}

uint32_t lode_calltree_context_count(const lode_calltree *tree)
{
    return tree->contexts.count;
}
