/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for kinds that a user adds. They decide before those of the library. */
#include "analysis/kinds/activity.h"

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "base/text/label.h"
#include "model/names/descriptor.h"
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

enum {
    RULES_MAX = 4096,
    LINE_MAX_BYTES = 1024
};

struct user_kind_rule {
    lode_activity activity;
    lode_effect effect;
    const char *module, *name; /* patterns */
    unsigned line;
};

struct lode_kind_rules {
    struct lode_arena arena;
    struct lode_array items; /* of struct user_kind_rule */
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

static bool is_name(const char *name, struct lode_text word)
{
    return strlen(name) == word.length && memcmp(name, word.bytes, word.length) == 0;
}

/* An activity or an effect by its name; false: neither. Some have the same name. */
static bool find_meaning(struct lode_text word, lode_activity *activity, lode_effect *effect)
{
    bool is_known = false;
    for (int i = 0; i < LODE_EFFECT_COUNT; i++)
        if (is_name(lode_effect_name(i), word)) {
            *effect = (lode_effect)i;
            *activity = lode_effect_activity(i);
            is_known = true;
        }
    for (int i = 0; i < LODE_ACTIVITY_COUNT; i++)
        if (is_name(lode_activity_name(i), word)) {
            *activity = (lode_activity)i;
            is_known = true;
        }
    return is_known;
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
    struct user_kind_rule found = {.line = number};
    bool is_known = find_meaning(kind, &found.activity, &found.effect);
    if (!is_known || name.length == 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         !is_known ? "line %u of the rules: no such activity; 'lode help "
                                     "diagnose' lists them"
                                   : "line %u of the rules: expected ACTIVITY MODULE NAME",
                         number);
    if (rules->items.count >= RULES_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %d rules", RULES_MAX);
    struct user_kind_rule *rule = lode_array_push(&rules->items);
    LODE_TRY_ALLOC(rule, error);
    found.module = keep(rules, module);
    found.name = keep(rules, name);
    *rule = found;
    LODE_TRY_ALLOC(rule->module && rule->name, error);
    return LODE_OK;
}

lode_status lode_kind_rules_parse(lode_kind_rules **out, const char *text, size_t size, lode_error *error)
{
    lode_kind_rules *rules = calloc(1, sizeof *rules);
    *out = NULL;
    LODE_TRY_ALLOC(rules, error);
    lode_arena_init(&rules->arena, SIZE_MAX);
    lode_array_init(&rules->items, sizeof(struct user_kind_rule), RULES_MAX);
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

/* ---- matching ---- */

static struct lode_text text_of(const char *string)
{
    return (struct lode_text){string, strnlen(string, LODE_NAME_COMPARED)};
}

/*
 * The forms of a name that a rule can mean: as in the file, as people see it, and as the rules of
 * the library have it.
 */
struct forms {
    struct lode_text raw, symbol, full, simple, scoped;
    char full_bytes[4 * LODE_NAME_COMPARED], simple_bytes[2 * LODE_NAME_COMPARED];
    char scoped_bytes[2 * LODE_NAME_COMPARED];
};

static void find_forms(struct forms *forms, const char *name)
{
    char copy[LODE_NAME_COMPARED + 1];
    forms->raw = text_of(name);
    forms->symbol = lode_symbol_of(name).name;
    memcpy(copy, forms->symbol.bytes, forms->symbol.length);
    copy[forms->symbol.length] = '\0';
    struct lode_label full = {forms->full_bytes, sizeof forms->full_bytes, 0};
    lode_symbol_put(&full, copy);
    lode_label_end(&full);
    struct lode_label simple = {forms->simple_bytes, sizeof forms->simple_bytes, 0};
    lode_simple_put(&simple, copy);
    lode_label_end(&simple);
    forms->full = (struct lode_text){forms->full_bytes, strlen(forms->full_bytes)};
    forms->simple = (struct lode_text){forms->simple_bytes, strlen(forms->simple_bytes)};
    forms->scoped = lode_scoped_name(forms->full, forms->scoped_bytes, sizeof forms->scoped_bytes);
}

static bool matches_form(const char *pattern, const struct forms *forms)
{
    return lode_activity_matches(pattern, forms->symbol) || lode_activity_matches(pattern, forms->raw) ||
           lode_activity_matches(pattern, forms->full) || lode_activity_matches(pattern, forms->simple) ||
           (forms->scoped.length && lode_activity_matches(pattern, forms->scoped));
}

/* The first rule of a user that matches; NULL: none. */
static const struct user_kind_rule *find_rule(const lode_kind_rules *rules, const char *module,
                                              const char *name)
{
    struct forms forms;
    if (rules == NULL || rules->items.count == 0)
        return NULL;
    find_forms(&forms, name ? name : "");
    const struct user_kind_rule *items = rules->items.items;
    struct lode_text path = text_of(module ? module : "");
    struct lode_text tail = text_of(module ? lode_path_tail(module) : "");
    for (size_t i = 0; i < rules->items.count; i++)
        if ((lode_activity_matches(items[i].module, tail) || lode_activity_matches(items[i].module, path)) &&
            matches_form(items[i].name, &forms))
            return &items[i];
    return NULL;
}

struct lode_decision lode_decide(const lode_kind_rules *rules, const char *module, const char *name,
                                 bool is_stub)
{
    const struct user_kind_rule *rule = find_rule(rules, module, name);
    if (rule == NULL)
        return lode_decide_names(module, name, is_stub);
    return (struct lode_decision){rule->activity, rule->effect, LODE_DECIDED_USER, text_of(rule->name),
                                  rule->line};
}

lode_activity lode_activity_of(const lode_kind_rules *rules, const char *module, const char *name)
{
    return lode_decide(rules, module, name, false).activity;
}

lode_effect lode_effect_of(const lode_kind_rules *rules, const char *module, const char *name)
{
    return lode_decide(rules, module, name, false).effect;
}
