/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result type of a demangled template function: "void std::swap<int>(int&, int&)". It says
 * nothing about which function it is, and hpcstruct drops it.
 */
#include "model/names/descriptor.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Behind a bracket and what it encloses; the end of the text if it is not closed. */
static const char *skip_brackets(const char *at)
{
    size_t depth = 0;
    for (; *at; at++) {
        /* "->" and operators are no brackets. */
        bool is_arrow = *at == '>' && at[-1] == '-';
        depth += strchr("(<[{", *at) ? 1 : 0;
        depth -= strchr(")>]}", *at) && !is_arrow && depth > 0 ? 1 : 0;
        if (depth == 0 && !is_arrow)
            return at + 1;
    }
    return at;
}

const char *lode_without_result(const char *demangled)
{
    const char *name = demangled;
    for (const char *at = demangled; *at;) {
        bool is_first = at == demangled || !is_word(at[-1]);
        if (is_first && begins(at, "operator") && !is_word(at[8]))
            return name;
        if (is_first && begins(at, "decltype")) {
            at += strlen("decltype");
            at = skip_brackets(at + (*at == ' '));
        } else if (*at == '(' && !begins(at, "(anonymous namespace)")) {
            /* Parameters; or a result that is a pointer to a function, around the name. */
            return at > name && at[-1] != ' ' ? name : demangled;
        } else if (strchr("(<[{", *at)) {
            at = skip_brackets(at);
        } else {
            name = *at == ' ' ? at + 1 : name;
            at++;
        }
    }
    return demangled; /* no function */
}
