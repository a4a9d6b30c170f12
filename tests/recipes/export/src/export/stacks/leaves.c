/* SPDX-License-Identifier: BSD-3-Clause */
/* One line for each stack with a cost of its own: its innermost function, its depth, its cost. */
#include "export/formats.h"
#include "export/stacks/stacks.h"

static lode_status write_stacks(const struct lode_stacks *stacks, lode_error *error)
{
    for (uint32_t i = 1; i < stacks->count; i++) {
        const struct lode_position *position = &stacks->positions[i];
        long long value = (long long)stacks->values[(size_t)i * stacks->metric_count];
        struct lode_export_frame frame = lode_export_frames_at(&stacks->frames, position->frame);
        if (value > 0)
            LODE_TRY(lode_export_print(stacks->job->file, error, "%s %lu %lld\n", frame.name,
                                       (unsigned long)position->depth, value));
    }
    return LODE_OK;
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    static const struct lode_stack_form form = {.by_name = true, .one_metric = true, .no_negative = true};
    struct lode_stacks stacks;
    lode_status status = lode_stacks_open(&stacks, job, &form, error);
    while (status == LODE_OK && (status = lode_stacks_next(&stacks, error)) == LODE_OK)
        status = write_stacks(&stacks, error);
    if (status == LODE_END)
        status = lode_stacks_report(&stacks, error);
    lode_stacks_close(&stacks);
    return status;
}

const struct lode_export_format lode_export_leaves = {
    .name = "leaves",
    .description = "innermost functions of stacks, with depth and cost",
    .suffix = ".leaves",
    .names = "*.leaves",
    .loses = "all but the innermost function of each stack",
    .holds = LODE_EXPORT_STACKS,
    .usual = LODE_COMPRESSION_NONE,
    .run = run,
};
