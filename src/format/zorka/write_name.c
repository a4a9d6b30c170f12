/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions as classes, methods and signatures. */
#include "format/zorka/write_source.h"

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* Whether the word `operator` ends here, behind which brackets are a part of the name. */
static bool is_behind_operator(const char *name, const char *at)
{
    static const char word[] = "operator";
    size_t length = sizeof word - 1;
    return (size_t)(at - name) >= length && memcmp(at - length, word, length) == 0;
}

/* The end of an operator's sign: `at` is behind the word. */
static const char *pass_sign(const char *at)
{
    if (begins_with(at, "()") || begins_with(at, "[]"))
        return at + 2;
    return at + strspn(at, "<>=-!+*/%^&|~,");
}

/* Splits at the last :: that is in no brackets, and before the parameters. Names with a result type before them keep it in the class. */
void lode_zor_split_name(const char *name, const char *module, struct lode_span parts[3])
{
    const char *method = name, *at = name;
    unsigned depth = 0;
    while (*at) {
        if (is_behind_operator(name, at) && depth == 0 && strchr("()[]<>=-!+*/%^&|~,", *at)) {
            at = pass_sign(at);
            if (*at == '\0')
                break;
        }
        if (*at == '(' && depth == 0 && at > name && !begins_with(at, "(anonymous namespace)"))
            break;
        if (depth == 0 && at[0] == ':' && at[1] == ':') {
            at += 2;
            method = at;
            continue;
        }
        depth += *at == '<' || *at == '(' || *at == '{' || *at == '[';
        depth -= depth > 0 && (*at == '>' || *at == ')' || *at == '}' || *at == ']');
        at++;
    }
    parts[0] = method > name ? (struct lode_span){(const uint8_t *)name, (uint64_t)(method - 2 - name)}
                             : zor_span(module[0] ? module : "<unknown>");
    parts[1] = (struct lode_span){(const uint8_t *)method, (uint64_t)(at - method)};
    parts[2] = zor_span(*at ? at : "()");
}
