/* SPDX-License-Identifier: BSD-3-Clause */
/* Conditions on calls, from texts. */
#include "analysis/search/where.h"
#include "base/error.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS " \t\n,"
#define WORD_ENDS  " \t\n,{}=!~<>'\""
#define BIT(i)     (UINT64_C(1) << (i))

struct parser {
    struct lode_where *where;
    const char *text, *at;
    lode_error *error;
};

static lode_status fail(const struct parser *parser, const char *wanted)
{
    return lode_fail(parser->error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                     "%s at character %zu of the conditions '%.100s'", wanted,
                     (size_t)(parser->at - parser->text) + 1, parser->text);
}

static void skip(struct parser *parser)
{
    parser->at += strspn(parser->at, SEPARATORS);
}

/* Whether the next word is this one; then it is passed. */
static bool takes(struct parser *parser, const char *word)
{
    size_t length = strlen(word);
    skip(parser);
    if (strncmp(parser->at, word, length) != 0 || strcspn(parser->at, WORD_ENDS) != length)
        return false;
    parser->at += length;
    return true;
}

static const char *copy(const struct parser *parser, const char *bytes, size_t length)
{
    char *text = lode_arena_alloc(&parser->where->arena, length + 1, 1);
    if (text) {
        memcpy(text, bytes, length);
        text[length] = '\0';
    }
    return text;
}

/* ---- conditions ---- */

static const struct {
    const char *sign;
    lode_attribute_relation relation;
} relations[] = {{"!=", LODE_ATTRIBUTE_IS_NOT},   {"<=", LODE_ATTRIBUTE_AT_MOST},
                 {">=", LODE_ATTRIBUTE_AT_LEAST}, {"<", LODE_ATTRIBUTE_BELOW},
                 {">", LODE_ATTRIBUTE_ABOVE},     {"=", LODE_ATTRIBUTE_IS},
                 {"~", LODE_ATTRIBUTE_CONTAINS}};

/* The relation that comes next; false: there is none. */
static bool take_relation(struct parser *parser, int *relation)
{
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        if (strncmp(parser->at, relations[i].sign, strlen(relations[i].sign)) != 0)
            continue;
        parser->at += strlen(relations[i].sign);
        *relation = (int)relations[i].relation;
        return true;
    }
    return false;
}

/* A word, or a text in quotes. NULL: there is none. */
static lode_status take_value(struct parser *parser, const char **value)
{
    char quote = *parser->at;
    bool is_quoted = quote == '\'' || quote == '"';
    const char *begin = parser->at + is_quoted;
    size_t length = is_quoted ? strcspn(begin, quote == '"' ? "\"" : "'") : strcspn(begin, SEPARATORS "{}");
    if (is_quoted && begin[length] != quote)
        return fail(parser, "expected a closing quote");
    if (!is_quoted && length == 0)
        return fail(parser, "expected a value");
    *value = copy(parser, begin, length);
    LODE_TRY_ALLOC(*value, parser->error);
    parser->at = begin + length + is_quoted;
    return LODE_OK;
}

static lode_status read_duration(const struct parser *parser, const char *value, double *nanoseconds)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    char *end;
    double number = strtod(value, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) != 0 || end == value || !isfinite(number))
            continue;
        *nanoseconds = number * units[i].factor;
        return LODE_OK;
    }
    return fail(parser, "expected a time such as 100ms before");
}

static enum lode_where_subject subject_of(const char *key)
{
    static const struct {
        const char *key;
        enum lode_where_subject subject;
    } subjects[] = {{"service", LODE_WHERE_SERVICE},
                    {"name", LODE_WHERE_NAME},
                    {"kind", LODE_WHERE_KIND},
                    {"duration", LODE_WHERE_DURATION}};
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        if (strcmp(subjects[i].key, key) == 0)
            return subjects[i].subject;
    return LODE_WHERE_ATTRIBUTE;
}

static lode_status take_comparison(struct parser *parser, struct lode_where_condition *condition)
{
    size_t length = strcspn(parser->at, WORD_ENDS);
    lode_search_attribute attribute = {.key = copy(parser, parser->at, length)};
    if (length == 0 || strcmp(parser->at, ".") == 0)
        return fail(parser, "expected a condition");
    LODE_TRY_ALLOC(attribute.key, parser->error);
    parser->at += length;
    condition->subject = subject_of(attribute.key);
    attribute.key += attribute.key[0] == '.';
    bool has_value = take_relation(parser, &attribute.is_part);
    if (has_value)
        LODE_TRY(take_value(parser, &attribute.value));
    else if (condition->subject != LODE_WHERE_ATTRIBUTE)
        return fail(parser, "expected =, !=, ~, <, <=, > or >=");
    if (condition->subject == LODE_WHERE_DURATION) {
        if (attribute.is_part < LODE_ATTRIBUTE_BELOW)
            return fail(parser, "duration takes <, <=, > or >=, before what follows");
        LODE_TRY(read_duration(parser, attribute.value, &condition->nanoseconds));
    }
    condition->is_resource =
        condition->subject == LODE_WHERE_ATTRIBUTE && lode_is_resource_key(attribute.key);
    LODE_TRY_ALLOC(lode_condition_init(&condition->condition, &attribute), parser->error);
    return LODE_OK;
}

static lode_status take_condition(struct parser *parser, struct lode_where_term *term)
{
    struct lode_where *where = parser->where;
    if (where->condition_count == LODE_WHERE_MAX)
        return fail(parser, "64 conditions at most");
    size_t index = where->condition_count++;
    struct lode_where_condition *condition = &where->conditions[index];
    if (takes(parser, "failed"))
        condition->subject = LODE_WHERE_FAILED;
    else if (takes(parser, "outermost"))
        condition->subject = LODE_WHERE_OUTERMOST;
    else
        LODE_TRY(take_comparison(parser, condition));
    term->conditions |= BIT(index);
    where->asks_kind |= condition->subject == LODE_WHERE_KIND;
    if (condition->is_resource)
        where->resource_bits |= BIT(index);
    return LODE_OK;
}

/* ---- terms ---- */

/* Whether a relation between terms, or the end, comes next. */
static bool is_over(struct parser *parser)
{
    struct parser ahead = *parser;
    skip(parser);
    return *parser->at == '\0' || takes(&ahead, "below") || takes(&ahead, "directly");
}

static lode_status take_term(struct parser *parser, struct lode_where_term *term)
{
    skip(parser);
    bool has_brace = *parser->at == '{';
    parser->at += has_brace;
    skip(parser);
    while (has_brace ? *parser->at != '}' : !is_over(parser)) {
        LODE_TRY(take_condition(parser, term));
        skip(parser);
        (void)takes(parser, "and");
        skip(parser);
    }
    if (term->conditions == 0 && !has_brace)
        return fail(parser, "expected a condition");
    parser->at += has_brace;
    return LODE_OK;
}

static lode_status take_text(struct parser *parser)
{
    struct lode_where *where = parser->where;
    where->firsts |= where->term_count < LODE_WHERE_MAX ? BIT(where->term_count) : 0;
    for (bool has_more = true; has_more;) {
        if (where->term_count == LODE_WHERE_MAX)
            return fail(parser, "64 terms at most");
        struct lode_where_term *term = &where->terms[where->term_count++];
        LODE_TRY(take_term(parser, term));
        term->directly = takes(parser, "directly");
        has_more = term->has_below = takes(parser, "below");
        skip(parser);
        if (!has_more && (term->directly || *parser->at))
            return fail(parser, "expected 'below', 'directly below' or the end");
    }
    return LODE_OK;
}

lode_status lode_where_compile(struct lode_where *where, const char *const *texts, size_t count,
                               lode_error *error)
{
    lode_arena_init(&where->arena, SIZE_MAX);
    for (size_t i = 0; i < count; i++) {
        struct parser parser = {where, texts[i], texts[i], error};
        LODE_TRY(take_text(&parser));
    }
    return LODE_OK;
}

void lode_where_free(struct lode_where *where)
{
    for (size_t i = 0; i < where->condition_count; i++)
        lode_condition_free(&where->conditions[i].condition);
    lode_arena_free(&where->arena);
}
