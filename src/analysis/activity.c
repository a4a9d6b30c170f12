/* SPDX-License-Identifier: BSD-3-Clause */
/* Activities: names, rules that a user adds, and what costs belong to along a call path. */
#include "analysis/activity.h"

#include "analysis/key.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    lode_kind kind;
    const char *name, *title;
} activities[LODE_ACTIVITY_COUNT] = {
#define ACTIVITY(id, kind, name, title) [LODE_ACTIVITY_##id] = {LODE_KIND_##kind, name, title},
#include "analysis/activities.def"
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

/* ---- rules of a user ---- */

enum {
    RULES_MAX = 4096,
    LINE_MAX_BYTES = 1024
};

struct user_rule {
    lode_activity activity;
    const char *module, *name; /* patterns */
};

struct lode_kind_rules {
    struct lode_arena arena;
    struct lode_array items; /* of struct user_rule */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line; the rest of it, without blanks at the end, if it is the last. */
static struct lode_text take_word(struct lode_text *line, bool is_last)
{
    while (line->length && is_blank(*line->bytes)) {
        line->bytes++;
        line->length--;
    }
    struct lode_text word = {line->bytes, 0};
    while (word.length < line->length && (is_last || !is_blank(word.bytes[word.length])))
        word.length++;
    line->bytes += word.length;
    line->length -= word.length;
    while (word.length && is_blank(word.bytes[word.length - 1]))
        word.length--;
    return word;
}

static const char *keep(lode_kind_rules *rules, struct lode_text text)
{
    char *copy = lode_arena_alloc(&rules->arena, text.length + 1, 1);
    return copy ? memcpy(copy, text.bytes, text.length) : NULL;
}

static int find_activity(struct lode_text name)
{
    for (int i = 0; i < LODE_ACTIVITY_COUNT; i++)
        if (strlen(activities[i].name) == name.length &&
            memcmp(activities[i].name, name.bytes, name.length) == 0)
            return i;
    return -1;
}

static lode_status add_line(lode_kind_rules *rules, struct lode_text line, unsigned number, lode_error *error)
{
    if (line.length > LINE_MAX_BYTES || memchr(line.bytes, '\0', line.length))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "line %u of the rules is longer than %d bytes, or has a zero byte", number,
                         LINE_MAX_BYTES);
    struct lode_text kind = take_word(&line, false);
    if (kind.length == 0 || *kind.bytes == '#')
        return LODE_OK;
    struct lode_text module = take_word(&line, false), name = take_word(&line, true);
    int activity = find_activity(kind);
    if (activity < 0 || name.length == 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         activity < 0 ? "line %u of the rules: no such activity; 'lode help "
                                        "diagnose' lists them"
                                      : "line %u of the rules: expected ACTIVITY MODULE NAME",
                         number);
    if (rules->items.count >= RULES_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %d rules", RULES_MAX);
    struct user_rule *rule = lode_array_push(&rules->items);
    LODE_TRY_ALLOC(rule, error);
    *rule = (struct user_rule){(lode_activity)activity, keep(rules, module), keep(rules, name)};
    LODE_TRY_ALLOC(rule->module && rule->name, error);
    return LODE_OK;
}

lode_status lode_kind_rules_parse(lode_kind_rules **out, const char *text, size_t size, lode_error *error)
{
    lode_kind_rules *rules = calloc(1, sizeof *rules);
    *out = NULL;
    LODE_TRY_ALLOC(rules, error);
    lode_arena_init(&rules->arena, SIZE_MAX);
    lode_array_init(&rules->items, sizeof(struct user_rule), RULES_MAX);
    lode_status status = LODE_OK;
    unsigned number = 1;
    for (size_t at = 0; at < size && status == LODE_OK; number++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        status = add_line(rules, (struct lode_text){text + at, length}, number, error);
        at += length + 1;
    }
    if (status != LODE_OK) {
        lode_kind_rules_free(rules);
        return status;
    }
    *out = rules;
    return LODE_OK;
}

void lode_kind_rules_free(lode_kind_rules *rules)
{
    if (rules == NULL)
        return;
    lode_array_free(&rules->items);
    lode_arena_free(&rules->arena);
    free(rules);
}

static struct lode_text text_of(const char *string)
{
    return (struct lode_text){string, strnlen(string, LODE_NAME_COMPARED)};
}

/* The first rule of a user that matches; NULL: none. */
static const struct user_rule *find_rule(const lode_kind_rules *rules, const char *module, const char *name)
{
    size_t count = rules ? rules->items.count : 0;
    const struct user_rule *items = rules ? rules->items.items : NULL;
    struct lode_text path = text_of(module ? module : "");
    struct lode_text tail = text_of(module ? lode_path_tail(module) : "");
    struct lode_text symbol = lode_activity_symbol(name ? name : "");
    for (size_t i = 0; i < count; i++)
        if ((lode_activity_matches(items[i].module, tail) || lode_activity_matches(items[i].module, path)) &&
            lode_activity_matches(items[i].name, symbol))
            return &items[i];
    return NULL;
}

lode_activity lode_activity_of(const lode_kind_rules *rules, const char *module, const char *name)
{
    const struct user_rule *rule = find_rule(rules, module, name);
    return rule ? rule->activity : lode_activity_of_names(module, name);
}

lode_activity lode_activity_of_call(const lode_kind_rules *rules, const lode_function *function)
{
    char stub[LODE_NAME_COMPARED + sizeof "@plt"];
    const char *module = function->module ? function->module->path : NULL;
    const struct user_rule *rule = find_rule(rules, module, function->name);
    if (rule)
        return rule->activity;
    lode_activity activity = lode_activity_of_names(module, function->name);
    if (activity != LODE_ACTIVITY_OWN || !function->is_stub || function->name == NULL)
        return activity;
    (void)snprintf(stub, sizeof stub, "%.*s@plt", LODE_NAME_COMPARED, function->name);
    activity = lode_activity_of_names(NULL, stub);
    return activity == LODE_ACTIVITY_OWN ? LODE_ACTIVITY_LIB : activity;
}

lode_activity lode_activity_of_context(const lode_kind_rules *rules, const lode_context *context)
{
    while (!begins_function(context))
        context = lode_context_parent(context);
    if (context->lexical == LODE_LEXICAL_ENTRY || context->lexical == LODE_LEXICAL_GLOBAL)
        return LODE_ACTIVITY_OWN;
    const lode_module *module = context->module;
    const lode_function *function = context->function;
    if (function && function->module)
        module = function->module;
    return lode_activity_of(rules, module ? module->path : NULL, function ? function->name : NULL);
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
    char stub[LODE_NAME_COMPARED + sizeof "@plt"];
    struct lode_text symbol = lode_activity_symbol(function->name ? function->name : "");
    if (symbol.length == 0 || symbol.length > LODE_NAME_COMPARED)
        return LODE_ACTIVITY_OWN;
    (void)snprintf(stub, sizeof stub, "%.*s@plt", (int)symbol.length, symbol.bytes);
    lode_activity activity = lode_activity_of_names(NULL, stub);
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
