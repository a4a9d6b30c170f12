/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports collect what readers and checkers find. A reader uses a strict report, which stops at the
 * first error. A checker passes findings on and continues. So the same code opens and checks a
 * store.
 */
#ifndef LODE_MODEL_FINDING_H
#define LODE_MODEL_FINDING_H

#include "base/comm/comm.h"
#include "base/memory/array.h"
#include <lode/check.h>
#include <stdbool.h>

struct lode_report {
    const lode_rule *rules;
    size_t rule_count;
    uint64_t *seen; /* per rule; NULL in a strict report */
    uint64_t limit; /* findings passed on per rule */
    bool stops;     /* at the first error, like a strict one */
    lode_error *error;

    /* One of these is set, or neither in a strict report. */
    lode_finding_fn on_finding;
    struct lode_array *kept;
    void *user;

    lode_check_result result;
};

/* Stops at the first error and describes it in `error`; ignores other findings. */
void lode_report_strict(struct lode_report *report, const lode_rule *rules, lode_error *error);
/* Passes findings to a callback; NULL: only counts. */
lode_status lode_report_open(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                             uint64_t limit, lode_finding_fn on_finding, void *user, lode_error *error);
/* For a reader: strict, or with a callback and no limit. */
lode_status lode_report_begin(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                              bool strict, lode_finding_fn on_finding, void *user, lode_error *error);
/* The same for one that was opened before, or is zeroed: memory that is there is used again. */
lode_status lode_report_again(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                              bool strict, lode_finding_fn on_finding, void *user, lode_error *error);
/* For a reader that reads all: stops at the first error, and buffers the other findings. */
lode_status lode_report_read(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                             lode_error *error);
/* The number of findings so far. */
static inline uint64_t report_count(const struct lode_report *report)
{
    return report->result.errors + report->result.warnings + report->result.notes;
}
/* Buffers findings of a worker, to be passed on in order. Same rules and limit as `model`. */
lode_status lode_report_keep(struct lode_report *report, const struct lode_report *model, lode_error *error);
/* Calls back for each finding in the buffer; a non-zero return ends it. */
int lode_report_each(const struct lode_report *report, lode_finding_fn on_finding, void *user);
/* Passes on and clears the findings of `from`, and adds its counts. */
lode_status lode_report_flush(struct lode_report *from, struct lode_report *to);
/*
 * The same on ranks: flushes `from` of all ranks, in their order, to `to` of rank 0; then all ranks
 * have its counts. On its way to rank 0, no message has more findings of a rule than the limit.
 */
lode_status lode_report_gather(struct lode_report *from, struct lode_report *to, struct lode_comm *comm);
void lode_report_close(struct lode_report *report);

/* Reports a finding. LODE_OK: continue without the faulty item; otherwise stop with the status. */
lode_status lode_report_add(struct lode_report *report, unsigned rule, const char *file, uint64_t offset,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The number of findings of a rule. */
uint64_t lode_report_seen(const struct lode_report *report, unsigned rule);

#endif
