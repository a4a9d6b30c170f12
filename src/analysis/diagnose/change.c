/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements of two diagnoses: what is new, and what changed beyond sampling error. */
#include "analysis/diagnose/report.h"

#include <lode/unstable/compare.h>
#include <math.h>
#include <string.h>

enum {
    NAME_SIZE = 1024
};

static const char *normal_name(const lode_name_rules *rules, const char *name, char buffer[NAME_SIZE])
{
    size_t length;
    lode_status status = lode_name_rules_apply(rules, LODE_SUBJECT_NAME, name, NULL, buffer, NAME_SIZE,
                                               &length, NULL, 0, NULL, NULL);
    return status == LODE_OK && length < NAME_SIZE ? buffer : name;
}

/* Of the same function, with names as comparisons normalise them, or of none. */
static bool is_same_subject(const lode_name_rules *rules, const lode_statement *a, const lode_statement *b)
{
    char left[NAME_SIZE], right[NAME_SIZE];
    if (a->function == NULL || b->function == NULL)
        return a->function == b->function;
    return strcmp(normal_name(rules, a->function, left), normal_name(rules, b->function, right)) == 0;
}

/* The statement of a rule that another statement explains; NULL: none. */
static const lode_statement *find_explained(const lode_diagnosis *d, const char *id)
{
    for (size_t i = 0; i < d->statements.count; i++) {
        const struct draft *cause = LODE_ARRAY_AT(&d->statements, struct draft, i);
        for (size_t e = 0; e < LODE_EXPLAINS_MAX && cause->statement.explains[e]; e++)
            if (strcmp(cause->statement.explains[e], id) == 0)
                return &cause->explained[e];
    }
    return NULL;
}

static bool has_run(const lode_diagnosis *d, const char *id)
{
    const lode_rule_state *rule;
    for (size_t i = 0; (rule = lode_diagnosis_rule(d, i)) != NULL; i++)
        if (strcmp(rule->id, id) == 0)
            return rule->ran;
    return false;
}

/* By gains; their errors are independent. */
static lode_statement_change judge(const lode_statement *before, const lode_statement *now)
{
    if (!before->has_gain || !now->has_gain)
        return LODE_STATEMENT_SAME;
    double change = now->gain - before->gain;
    double error = hypot((now->high - now->low) / 2, (before->high - before->low) / 2);
    return fabs(change) <= error ? LODE_STATEMENT_SAME
           : change > 0          ? LODE_STATEMENT_MORE
                                 : LODE_STATEMENT_LESS;
}

/* A statement that another one explains in the base is judged as if it had been made there. */
static lode_statement_change find(const lode_name_rules *rules, const lode_diagnosis *base,
                                  const lode_statement *now, const lode_statement **match)
{
    const lode_statement *before;
    for (size_t i = 0; (before = lode_diagnosis_statement(base, i)) != NULL; i++)
        if (strcmp(before->id, now->id) == 0 && is_same_subject(rules, before, now)) {
            *match = before;
            return judge(before, now);
        }
    before = find_explained(base, now->id);
    if (before)
        return judge(before, now);
    return has_run(base, now->id) ? LODE_STATEMENT_NEW : LODE_STATEMENT_UNKNOWN;
}

lode_status lode_diagnosis_change(const lode_diagnosis *base, const lode_statement *statement,
                                  lode_statement_change *change, const lode_statement **match,
                                  lode_error *error)
{
    const lode_statement *found = NULL;
    lode_name_rules *rules = NULL;
    LODE_TRY(lode_name_rules_open(&rules, NULL, 0, error));
    *change = find(rules, base, statement, &found);
    if (match)
        *match = found;
    lode_name_rules_close(rules);
    return LODE_OK;
}

const char *lode_statement_change_name(int change)
{
    static const char *const names[] = {"same", "new", "more", "less", "unknown"};
    return change >= 0 && change < 5 ? names[change] : NULL;
}
