/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the rules, and joins symptom, cause and place into one statement. */
#include "analysis/diagnose/report.h"

#include "base/compare.h"
#include <stdlib.h>
#include <string.h>

static const char *find_reason(const struct lode_diagnosis *d, const struct lode_diagnose_rules *rules,
                               const struct lode_diagnose_rule *rule)
{
    for (unsigned i = 0; i < NEEDS_MAX; i++)
        if (rule->needs >> i & 1 && d->lacks[i])
            return rules->reasons[i];
    return NULL;
}

static lode_status run_rules(struct lode_diagnosis *d, const struct lode_diagnose_rules *rules,
                             lode_error *error)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct lode_diagnose_rule *rule = rules->items[i];
        const char *reason = find_reason(d, rules, rule);
        lode_rule_state *state = lode_array_push(&d->rules);
        LODE_TRY_ALLOC(state, error);
        *state = (lode_rule_state){rule->id, rule->summary, reason == NULL, reason};
        if (reason == NULL)
            LODE_TRY(rule->run(d, error));
    }
    return LODE_OK;
}

/* ---- symptoms and causes ---- */

/* Of the gain of a symptom, that its causes need together. */
#define EXPLAINED_MIN 0.40

/* What a symptom says becomes evidence of its cause. */
static void fold(struct draft *cause, const struct draft *symptom)
{
    for (size_t i = 0; i < symptom->statement.evidence_count && i < 1; i++) {
        const lode_evidence *given = &symptom->evidence[i];
        cause->is_full = lode_diagnose_add_evidence(cause, given->text, given->value, given->unit) == NULL;
        lode_diagnose_set_command(cause, given->command);
    }
}

static bool declares(const struct draft *cause, const char *id)
{
    for (size_t i = 0; i < LODE_EXPLAINS_MAX && cause->statement.explains[i]; i++)
        if (strcmp(cause->statement.explains[i], id) == 0)
            return true;
    return false;
}

/*
 * The last statement that declares to explain one; NULL: none, or all of them explain too little. A
 * cause without a gain has tested that itself.
 */
static struct draft *find_cause(const struct lode_diagnosis *d, const struct draft *symptom)
{
    struct draft *items = d->statements.items, *cause = NULL;
    double explained = 0;
    for (size_t i = 0; i < d->statements.count; i++)
        if (&items[i] != symptom && declares(&items[i], symptom->statement.id)) {
            cause = &items[i];
            explained += cause->statement.has_gain ? cause->statement.gain : symptom->statement.gain;
        }
    return !symptom->statement.has_gain || explained >= EXPLAINED_MIN * symptom->statement.gain ? cause
                                                                                                : NULL;
}

/* The cause of the cause, and so on. */
static struct draft *find_root(const struct lode_diagnosis *d, struct draft *const *causes, size_t symptom)
{
    struct draft *items = d->statements.items, *root = causes[symptom];
    for (size_t steps = 0; root && causes[root - items] && steps < d->statements.count; steps++)
        root = causes[root - items];
    return root == &items[symptom] ? NULL : root;
}

/* Keeps only the ids that were folded into it, with their gains. */
static void keep_explained(struct lode_diagnosis *d, struct draft *const *causes, struct draft *cause)
{
    const struct draft *items = d->statements.items;
    size_t kept = 0;
    for (size_t i = 0; i < LODE_EXPLAINS_MAX && cause->statement.explains[i]; i++) {
        const char *id = cause->statement.explains[i];
        for (size_t s = 0; s < d->statements.count; s++)
            if (causes[s] && strcmp(items[s].statement.id, id) == 0) {
                cause->explained[kept] = items[s].statement;
                cause->statement.explains[kept++] = id;
                break;
            }
    }
    while (kept < LODE_EXPLAINS_MAX)
        cause->statement.explains[kept++] = NULL;
}

static lode_status join(struct lode_diagnosis *d, lode_error *error)
{
    struct draft *items = d->statements.items;
    size_t kept = 0;
    struct draft **causes = calloc(d->statements.count + 1, sizeof *causes);
    LODE_TRY_ALLOC(causes, error);
    for (size_t s = 0; s < d->statements.count; s++)
        causes[s] = find_cause(d, &items[s]);
    for (size_t s = 0; s < d->statements.count; s++) {
        struct draft *root = find_root(d, causes, s);
        if (root)
            fold(root, &items[s]);
        else
            causes[s] = NULL;
    }
    for (size_t s = 0; s < d->statements.count; s++)
        keep_explained(d, causes, &items[s]);
    for (size_t s = 0; s < d->statements.count; s++)
        if (causes[s] == NULL)
            items[kept++] = items[s];
    d->statements.count = kept;
    free(causes);
    return LODE_OK;
}

/* ---- order ---- */

/* Where time is, no fault: after everything else. */
static bool is_place(const lode_statement *statement)
{
    return strcmp(statement->id, "hot-spot") == 0;
}

static int compare_statements(const void *left, const void *right)
{
    const lode_statement *a = &((const struct draft *)left)->statement;
    const lode_statement *b = &((const struct draft *)right)->statement;
    if (a->has_gain != b->has_gain)
        return a->has_gain ? -1 : 1;
    if (is_place(a) != is_place(b))
        return is_place(a) ? 1 : -1;
    if ((a->confidence >= LODE_LIKELY) != (b->confidence >= LODE_LIKELY))
        return a->confidence > b->confidence ? -1 : 1;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return strcmp(a->id, b->id);
}

static int compare_notes(const void *left, const void *right)
{
    const lode_quality_note *a = left, *b = right;
    int by_id = strcmp(a->id, b->id);
    return a->level != b->level ? LODE_COMPARE(b->level, a->level) : by_id ? by_id : strcmp(a->text, b->text);
}

static void arrange(struct lode_diagnosis *d)
{
    if (d->statements.count)
        qsort(d->statements.items, d->statements.count, d->statements.item_size, compare_statements);
    if (d->notes.count)
        qsort(d->notes.items, d->notes.count, d->notes.item_size, compare_notes);
    for (size_t i = 0; i < d->statements.count; i++) {
        struct draft *draft = LODE_ARRAY_AT(&d->statements, struct draft, i);
        draft->statement.evidence = draft->evidence;
    }
}

lode_status lode_diagnose_run_rules(struct lode_diagnosis *d, const struct lode_diagnose_rules *rules,
                                    lode_error *error)
{
    LODE_TRY(run_rules(d, rules, error));
    LODE_TRY(join(d, error));
    arrange(d);
    return LODE_OK;
}
