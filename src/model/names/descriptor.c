/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/names/descriptor.h"

#include "base/text/label.h"
#include <stddef.h>
#include <string.h>

static const char *word_of(char letter)
{
    switch (letter) {
    case 'B':
        return "byte";
    case 'C':
        return "char";
    case 'D':
        return "double";
    case 'F':
        return "float";
    case 'I':
        return "int";
    case 'J':
        return "long";
    case 'S':
        return "short";
    case 'Z':
        return "boolean";
    default:
        return NULL;
    }
}

/* The end of a type; NULL if there is none. */
static const char *skip_type(const char *at)
{
    at += strspn(at, "[");
    if (*at != 'L')
        return word_of(*at) ? at + 1 : NULL;
    const char *end = strpbrk(at, ";()");
    return end && *end == ';' && end > at + 1 ? end + 1 : NULL;
}

const char *lode_descriptor(const char *name)
{
    const char *begin = strchr(name, '('), *at = begin;
    if (begin == NULL || begin == name)
        return NULL;
    for (at++; at && *at != ')';)
        at = skip_type(at);
    if (at == NULL)
        return NULL;
    at = at[1] == 'V' ? at + 2 : skip_type(at + 1);
    return at && *at == '\0' ? begin : NULL;
}

static void put_type(struct lode_label *label, const char *at)
{
    size_t dimensions = strspn(at, "[");
    const char *word = word_of(*(at += dimensions));
    if (word)
        lode_label_text(label, word);
    else
        for (at++; *at != ';';) {
            size_t part = strcspn(at, "/;");
            lode_label_bytes(label, at, part);
            at += part;
            lode_label_text(label, *at == '/' ? "." : "");
            at += *at == '/';
        }
    while (dimensions-- > 0)
        lode_label_text(label, "[]");
}

void lode_descriptor_put(struct lode_label *label, const char *descriptor)
{
    lode_label_text(label, "(");
    for (const char *at = descriptor + 1; *at != ')'; at = skip_type(at)) {
        lode_label_text(label, at > descriptor + 1 ? ", " : "");
        put_type(label, at);
    }
    lode_label_text(label, ")");
}
