/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a diagnosis as it is made: notes, statements, and rules that ran or could not. */
#ifndef LODE_ANALYSIS_DIAGNOSE_REPORT_H
#define LODE_ANALYSIS_DIAGNOSE_REPORT_H

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include <lode/unstable/diagnose.h>
#include <stdbool.h>

enum {
    /* The last one: time that no function explains. */
    ACTIVITIES = LODE_ACTIVITY_COUNT + 1,
    NEEDS_MAX = 32
};

struct lode_pass;
struct profile_facts;
struct call_facts;
struct request_facts;

/* Its public name is lode_diagnosis. One of the facts is set: that of the kind of store. */
struct lode_diagnosis {
    lode_diagnose_options options;
    struct lode_arena arena; /* of all texts */
    lode_run run;
    double activities[ACTIVITIES]; /* time of threads */
    lode_efficiency efficiency;
    bool has_efficiency;
    bool lacks[NEEDS_MAX]; /* what rules need, by a number of the kind of store */
    struct lode_array notes, statements, rules;
    struct profile_facts *profiles;
    struct call_facts *calls;
    struct request_facts *requests;
    /* Other passes over all events, which the diagnosis reads for them too. */
    struct lode_pass *const *guests;
    size_t guest_count;
};

/* An empty one; NULL: no memory. */
struct lode_diagnosis *lode_diagnose_start(const lode_diagnose_options *options);

enum {
    DIAGNOSE_GUESTS_MAX = 4
};

/* As lode_diagnose_recording; runs other passes over all events with its own. */
lode_status lode_diagnose_with(lode_diagnosis **out, const lode_recording *recording,
                               const lode_diagnose_options *given, struct lode_pass *const *guests,
                               size_t guest_count, lode_error *error);
/* Runs the pass over all events, and the others. */
lode_status lode_diagnose_run_pass(const struct lode_diagnosis *d, struct lode_pass *pass, lode_error *error);

/* ---- texts ---- */

/* A text in the arena; "" if there is no memory. */
const char *lode_diagnose_say(struct lode_diagnosis *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- notes and statements ---- */

lode_status lode_diagnose_add_note(struct lode_diagnosis *d, const char *id, lode_note_level level,
                                   double value, const char *text, lode_error *error);

#define EVIDENCE_MAX 6

/* A statement as it is made. */
struct draft {
    lode_statement statement;
    lode_evidence evidence[EVIDENCE_MAX];
    /* In the order of `explains`; their evidence is gone. */
    lode_statement explained[LODE_EXPLAINS_MAX];
    bool is_full; /* there was no room for the latest evidence */
};

void lode_diagnose_set_text(struct lode_diagnosis *d, struct draft *draft, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A gain with its 95 % interval; all are cut to 0..1. */
void lode_diagnose_set_gain_within(struct draft *draft, double gain, double low, double high);
/* Adds a figure; NULL if there is no room. */
lode_evidence *lode_diagnose_add_evidence(struct draft *draft, const char *text, double value,
                                          const char *unit);
/* The same, with a text as lode_diagnose_say makes it. */
void lode_diagnose_show(struct lode_diagnosis *d, struct draft *draft, double value, const char *unit,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The command that shows the latest evidence; the words end with NULL. */
void lode_diagnose_set_command(struct draft *draft, const char *const *words);
#define LODE_SET_COMMAND(draft, ...)                                                                         \
    lode_diagnose_set_command(draft, (const char *const[]){__VA_ARGS__, NULL})
void lode_diagnose_add_explains(struct draft *draft, const char *const *ids);
#define LODE_ADD_EXPLAINS(draft, ...)                                                                        \
    lode_diagnose_add_explains(draft, (const char *const[]){__VA_ARGS__, NULL})
lode_status lode_diagnose_add_statement(struct lode_diagnosis *d, const struct draft *draft,
                                        lode_error *error);
/* The statement of a rule; NULL: there is none. */
struct draft *lode_diagnose_find_statement(const struct lode_diagnosis *d, const char *id);

/* ---- rules ---- */

struct lode_diagnose_rule {
    const char *id, *summary;
    unsigned needs; /* bits: numbers of `lacks` */
    lode_status (*run)(struct lode_diagnosis *d, lode_error *error);
};

/* Those of a kind of store, causes after symptoms, and what it means to lack a need. */
struct lode_diagnose_rules {
    const struct lode_diagnose_rule *const *items;
    size_t count;
    const char *const *reasons;
};

/* Runs the rules whose needs are met, and joins symptom, cause and place into one statement. */
lode_status lode_diagnose_run_rules(struct lode_diagnosis *d, const struct lode_diagnose_rules *rules,
                                    lode_error *error);

#endif
