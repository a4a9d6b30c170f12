/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the rules, and joins symptom, cause and place into one statement. */
#include "analysis/diagnose/report.h"

#include "base/compare.h"
#include <stdlib.h>
#include <string.h>

static const char *find_reason(const struct lode_diagnosis *d, const struct rules *rules,
                               const struct rule *rule)
{
    for (unsigned i = 0; i < NEEDS_MAX; i++)
        if (rule->needs >> i & 1 && d->lacks[i])
            return rules->reasons[i];
    return NULL;
}

static lode_status run_rules(struct lode_diagnosis *d, const struct rules *rules, lode_error *error)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = rules->items[i];
        const char *reason = find_reason(d, rules, rule);
        lode_rule_state *state = lode_array_push(&d->rules);
        LODE_TRY_ALLOC(state, error);
        *state = (lode_rule_state){rule->id, rule->summary, reason == NULL, reason};
        if (reason == NULL)
            LODE_TRY(rule->run(d, error));
    }
    return LODE_OK;
}

static bool explains(const struct draft *cause, const char *id)
{
    for (size_t i = 0; i < LODE_EXPLAINS_MAX && cause->statement.explains[i]; i++)
        if (strcmp(cause->statement.explains[i], id) == 0)
            return true;
    return false;
}

/* What a symptom says becomes evidence of its cause. */
static void fold(struct draft *cause, const struct draft *symptom)
{
    for (size_t i = 0; i < symptom->statement.evidence_count && i < 1; i++) {
        const lode_evidence *given = &symptom->evidence[i];
        lode_evidence *copy = lode_add_evidence(cause, given->text, given->value, given->unit);
        lode_set_command(copy, given->command);
    }
}

static void join(struct lode_diagnosis *d)
{
    struct draft *items = d->statements.items;
    size_t kept = 0;
    bool *gone = calloc(d->statements.count + 1, sizeof *gone);
    for (size_t s = 0; gone && s < d->statements.count; s++)
        for (size_t c = d->statements.count; c-- > 0 && !gone[s];)
            if (c != s && explains(&items[c], items[s].statement.id)) {
                fold(&items[c], &items[s]);
                gone[s] = true;
            }
    for (size_t s = 0; gone && s < d->statements.count; s++)
        if (!gone[s])
            items[kept++] = items[s];
    if (gone)
        d->statements.count = kept;
    free(gone);
}

static int compare_statements(const void *left, const void *right)
{
    const lode_statement *a = &((const struct draft *)left)->statement;
    const lode_statement *b = &((const struct draft *)right)->statement;
    if (a->has_gain != b->has_gain)
        return a->has_gain ? -1 : 1;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return strcmp(a->id, b->id);
}

static int compare_notes(const void *left, const void *right)
{
    const lode_quality_note *a = left, *b = right;
    return a->level != b->level ? LODE_COMPARE(b->level, a->level) : strcmp(a->id, b->id);
}

static void arrange(struct lode_diagnosis *d)
{
    join(d);
    if (d->statements.count)
        qsort(d->statements.items, d->statements.count, d->statements.item_size, compare_statements);
    if (d->notes.count)
        qsort(d->notes.items, d->notes.count, d->notes.item_size, compare_notes);
    for (size_t i = 0; i < d->statements.count; i++) {
        struct draft *draft = LODE_ARRAY_AT(&d->statements, struct draft, i);
        draft->statement.evidence = draft->evidence;
    }
}

lode_status lode_run_rules(struct lode_diagnosis *d, const struct rules *rules, lode_error *error)
{
    LODE_TRY(run_rules(d, rules, error));
    arrange(d);
    return LODE_OK;
}
