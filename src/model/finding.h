/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports: where readers and checkers say what is wrong. A reader uses a strict report, which stops at the first error;
 * a checker uses one that passes findings on and lets the work continue with what is left. So the same code opens a
 * store and checks it.
 */
#ifndef LODE_MODEL_FINDING_H
#define LODE_MODEL_FINDING_H

#include "base/array.h"
#include <lode/check.h>
#include <stdbool.h>

struct lode_report {
    const lode_rule *rules;
    size_t rule_count;
    uint64_t *seen; /* per rule; NULL in a strict report */
    uint64_t limit; /* findings kept per rule */
    lode_error *error;

    /* One of these is set, or neither in a strict report. */
    lode_finding_fn on_finding;
    struct lode_array *kept;
    void *user;

    lode_check_result result;
};

/* Stops at the first error and describes it in `error`; ignores the rest. */
void lode_report_strict(struct lode_report *report, const lode_rule *rules, lode_error *error);
/* Passes findings on to a callback, which may be NULL to count only. */
lode_status lode_report_open(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                             uint64_t limit, lode_finding_fn on_finding, void *user, lode_error *error);
/* One of these, as a reader asks for: `strict`, or with a callback and all findings. */
lode_status lode_report_begin(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                              bool strict, lode_finding_fn on_finding, void *user, lode_error *error);
/* Findings of any kind so far. */
static inline uint64_t report_count(const struct lode_report *report)
{
    return report->result.errors + report->result.warnings + report->result.notes;
}
/* Keeps findings, so that a worker's can be passed on in order. Same rules and limit as `model`. */
lode_status lode_report_keep(struct lode_report *report, const struct lode_report *model, lode_error *error);
/* Passes on, and forgets, what `from` has kept, and adds its counts. */
lode_status lode_report_flush(struct lode_report *from, struct lode_report *to);
void lode_report_close(struct lode_report *report);

/*
 * One finding. LODE_OK: go on without the thing that is wrong; otherwise stop and return the status.
 */
lode_status lode_report_add(struct lode_report *report, unsigned rule, const char *file, uint64_t offset,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));
/* How many findings of a rule there were. */
uint64_t lode_report_seen(const struct lode_report *report, unsigned rule);

#endif
