/* SPDX-License-Identifier: BSD-3-Clause */
/* Activities and effects: names, and what costs belong to along a call path. */
#include "analysis/kinds/activity.h"

#include "analysis/cost/key.h"
#include "base/error.h"
#include "base/text/label.h"
#include <stdlib.h>

static const struct {
    lode_kind kind;
    const char *name, *title;
} activities[LODE_ACTIVITY_COUNT] = {
#define ACTIVITY(id, kind, name, title) [LODE_ACTIVITY_##id] = {LODE_KIND_##kind, name, title},
#include "analysis/kinds/activities.def"
#undef ACTIVITY
};

static bool is_known(int activity)
{
    return activity >= 0 && activity < LODE_ACTIVITY_COUNT;
}

lode_kind lode_activity_kind(int activity)
{
    return is_known(activity) ? activities[activity].kind : LODE_KIND_OWN;
}

const char *lode_activity_name(int activity)
{
    return is_known(activity) ? activities[activity].name : NULL;
}

const char *lode_activity_title(int activity)
{
    return is_known(activity) ? activities[activity].title : NULL;
}

/* ---- effects ---- */

static const struct {
    lode_activity activity;
    int waits;
    const char *name, *title;
} effects[LODE_EFFECT_COUNT] = {
#define EFFECT(id, activity, waits, name, title)                                                             \
    [LODE_EFFECT_##id] = {LODE_ACTIVITY_##activity, waits, name, title},
#include "analysis/kinds/effects.def"
#undef EFFECT
};

static bool is_effect(int effect)
{
    return effect >= 0 && effect < LODE_EFFECT_COUNT;
}

const char *lode_effect_name(int effect)
{
    return is_effect(effect) ? effects[effect].name : NULL;
}

const char *lode_effect_title(int effect)
{
    return is_effect(effect) ? effects[effect].title : NULL;
}

int lode_effect_waits(int effect)
{
    return is_effect(effect) ? effects[effect].waits : 0;
}

lode_activity lode_effect_activity(int effect)
{
    return is_effect(effect) ? effects[effect].activity : LODE_ACTIVITY_OWN;
}

/* ---- functions ---- */

struct lode_decision lode_decide_call(const lode_kind_rules *rules, const lode_function *function)
{
    const char *module = function->module ? function->module->path : NULL;
    struct lode_decision decision = lode_decide(rules, module, function->name, function->is_stub);
    if (function->is_stub && decision.decided == LODE_DECIDED_DEFAULT)
        decision.activity = LODE_ACTIVITY_LIB;
    return decision;
}

static struct lode_decision decide_context(const lode_kind_rules *rules, const lode_context *context)
{
    while (!begins_function(context))
        context = lode_context_parent(context);
    if (context->lexical == LODE_LEXICAL_ENTRY || context->lexical == LODE_LEXICAL_GLOBAL)
        return (struct lode_decision){.activity = LODE_ACTIVITY_OWN};
    const lode_function *function = context->function;
    if (function && (function->module || context->module == NULL))
        return lode_decide_call(rules, function);
    return lode_decide(rules, context->module ? context->module->path : NULL,
                       function ? function->name : NULL, false);
}

lode_activity lode_activity_of_context(const lode_kind_rules *rules, const lode_context *context)
{
    return decide_context(rules, context).activity;
}

size_t lode_kind_reason(const lode_kind_rules *rules, const lode_context *context, lode_activity *activity,
                        lode_effect *effect, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    struct lode_decision decision = decide_context(rules, context);
    *activity = decision.activity;
    *effect = decision.effect;
    switch (decision.decided) {
    case LODE_DECIDED_USER:
        lode_label_format(&label, "line %u: ", decision.line);
        break;
    case LODE_DECIDED_NAME:
        lode_label_text(&label, "name ");
        break;
    case LODE_DECIDED_MODULE:
        lode_label_text(&label, "module ");
        break;
    case LODE_DECIDED_DEFAULT:
        lode_label_text(&label, "no rule");
        break;
    }
    lode_label_bytes(&label, decision.word.bytes, decision.word.length);
    return lode_label_end(&label);
}

/* ---- paths ---- */

/* Passes time on to its caller. */
static bool is_transparent(unsigned activity)
{
    return activity == LODE_ACTIVITY_LIB || activity == LODE_ACTIVITY_OFF_CPU;
}

/* Says less than what it calls. */
static bool is_weak(unsigned activity)
{
    return activity == LODE_ACTIVITY_TOOL || activity == LODE_ACTIVITY_THREAD ||
           activity == LODE_ACTIVITY_KERNEL || activity == LODE_ACTIVITY_COUNT;
}

unsigned lode_activity_below(unsigned above, unsigned activity)
{
    if (activity == LODE_ACTIVITY_OWN)
        return activity;
    if (activity == LODE_ACTIVITY_OMP_WAIT && above == LODE_ACTIVITY_OMP)
        return activity;
    if (is_transparent(activity))
        return above;
    return above == LODE_ACTIVITY_OWN || is_weak(above) ? activity : above;
}

/* By its name, as if it were a stub for a function of a library: "read [program]". */
static unsigned activity_of_leaf(const lode_function *function)
{
    lode_activity activity = lode_decide_names(NULL, function->name, true).activity;
    return activity == LODE_ACTIVITY_LIB ? LODE_ACTIVITY_OWN : activity;
}

lode_status lode_activity_paths(unsigned char *paths, unsigned char *is_own,
                                const struct lode_context_tree *tree, const lode_kind_rules *rules,
                                const unsigned char *leaves, lode_error *error)
{
    uint32_t functions = 0;
    for (uint32_t i = 0; i < tree->count; i++) {
        const lode_context *node = &tree->nodes[i];
        bool is_entry = node->lexical == LODE_LEXICAL_ENTRY || node->lexical == LODE_LEXICAL_GLOBAL;
        if (!is_entry && node->function && node->function->index >= functions)
            functions = node->function->index + 1;
    }
    /* By function: its activity + 1, once it is known. */
    unsigned char *known = calloc((size_t)functions + 1, 1);
    LODE_TRY_ALLOC(known, error);
    for (uint32_t i = 0; i < tree->count; i++) {
        const lode_context *node = &tree->nodes[i];
        unsigned above = i ? paths[node->parent] : LODE_ACTIVITY_COUNT;
        bool is_entry = node->lexical == LODE_LEXICAL_ENTRY || node->lexical == LODE_LEXICAL_GLOBAL;
        paths[i] = (unsigned char)above;
        is_own[i] = 0;
        if (is_entry || !begins_function(node))
            continue;
        unsigned char *cached =
            node->function && node->function->module ? &known[node->function->index] : NULL;
        unsigned activity =
            cached && *cached ? *cached - 1u : (unsigned)lode_activity_of_context(rules, node);
        if (activity == LODE_ACTIVITY_OWN && leaves && node->function && leaves[node->function->index])
            activity = activity_of_leaf(node->function);
        if (cached)
            *cached = (unsigned char)(activity + 1);
        paths[i] = (unsigned char)lode_activity_below(above, activity);
        is_own[i] = activity == LODE_ACTIVITY_OWN;
    }
    free(known);
    return LODE_OK;
}
