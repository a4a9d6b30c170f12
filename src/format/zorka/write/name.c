/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions as classes, methods and signatures. */
#include "format/zorka/write/origin.h"

/* A demangled name that is being parsed. */
struct naming {
    const char *whole;
    const char *name; /* its beginning, after the result type */
    const char *method;
    const char *at;
    unsigned depth; /* open brackets */
};

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static bool ends_with(const char *begin, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - begin) >= length && memcmp(end - length, word, length) == 0;
}

/* Skips the symbol after the word operator, or a type or word, up to the parameters. */
static const char *pass_operator(const char *at)
{
    if (begins_with(at, "()") || begins_with(at, "[]"))
        return at + 2;
    return at + (*at == ' ' ? strcspn(at, "(") : strspn(at, "<>=-!+*/%^&|~,"));
}

/* The result type precedes a name, unless it is a description such as "non-virtual thunk to". */
static void take_space(struct naming *naming)
{
    naming->at++;
    bool is_kind =
        ends_with(naming->whole, naming->at, " to ") || ends_with(naming->whole, naming->at, " for ");
    naming->name = naming->method = is_kind ? naming->whole : naming->at;
}

static void take_bracket(struct naming *naming)
{
    char byte = *naming->at++;
    if (strchr("<({[", byte))
        naming->depth++;
    else if (strchr(">)}]", byte) && naming->depth > 0)
        naming->depth--;
}

/* The end of the parameters of an enclosing function, or NULL if there is none. */
static const char *pass_outer(const char *at)
{
    unsigned depth = 0;
    do {
        depth += *at == '(';
        depth -= *at == ')';
        at++;
    } while (*at && depth > 0);
    if (begins_with(at, " const::"))
        at += strlen(" const");
    return begins_with(at, "::") ? at : NULL;
}

/* Takes one step; false at the parameters, and at the end. */
static bool step(struct naming *naming)
{
    const char *at = naming->at;
    bool is_outside = naming->depth == 0;
    if (is_outside && at > naming->name && ends_with(naming->name, at, "operator"))
        naming->at = at = pass_operator(at);
    if (is_outside && *at == '(' && at > naming->method && !begins_with(at, "(anonymous")) {
        const char *outer = pass_outer(at);
        naming->at = outer ? outer : at;
        return outer != NULL;
    }
    if (*at == '\0')
        return false;
    if (is_outside && begins_with(at, "::"))
        naming->method = naming->at = at + 2;
    else if (is_outside && *at == ' ')
        take_space(naming);
    else
        take_bracket(naming);
    return true;
}

void lode_zor_split_name(const char *name, struct lode_range parts[3])
{
    struct naming naming = {.whole = name, .name = name, .method = name, .at = name};
    while (step(&naming))
        continue;
    if (naming.at == naming.method)
        naming = (struct naming){name, name, name, name + strlen(name), 0};
    if (naming.method > naming.name)
        parts[0] =
            (struct lode_range){(const uint8_t *)naming.name, (uint64_t)(naming.method - 2 - naming.name)};
    parts[1] = (struct lode_range){(const uint8_t *)naming.method, (uint64_t)(naming.at - naming.method)};
    if (*naming.at)
        parts[2] = zor_range(naming.at);
}
