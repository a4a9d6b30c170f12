/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/target.h"

#include <string.h>

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place; -1 for a broken escape and for a zero byte, which no argument can have. */
static int decode(char *text, int is_query)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        int high, low;
        if (*from != '%') {
            *to++ = *from == '+' && is_query ? ' ' : *from;
            continue;
        }
        if ((high = digit_of(from[1])) < 0 || (low = digit_of(from[2])) < 0 || high + low == 0)
            return -1;
        *to++ = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return 0;
}

/* Ends the word at the first of the characters; what follows it, or NULL. */
static char *cut(char *text, char at)
{
    char *end = strchr(text, at);
    if (!end)
        return NULL;
    *end = '\0';
    return end + 1;
}

static int split_path(target *t, char *path)
{
    for (char *part = path; part && *part;) {
        char *next = cut(part, '/');
        if (t->part_count == TARGET_PARTS || decode(part, 0) != 0)
            return -1;
        /* What an escape hid is no separator, and there is nothing to walk up to. */
        if (strchr(part, '/') || strcmp(part, "..") == 0 || strcmp(part, ".") == 0 || *part == '\0')
            return -1;
        t->parts[t->part_count++] = part;
        part = next;
    }
    return 0;
}

static int split_query(target *t, char *query)
{
    for (char *pair = query; pair;) {
        char *next = cut(pair, '&');
        char *value = cut(pair, '=');
        if (*pair || value) {
            if (t->parameter_count == TARGET_PARAMETERS || decode(pair, 1) != 0 ||
                (value && decode(value, 1)))
                return -1;
            t->parameters[t->parameter_count++] = (target_parameter){pair, value ? value : ""};
        }
        pair = next;
    }
    return 0;
}

int target_parse(target *t, const char *text)
{
    size_t size = strlen(text);
    memset(t, 0, offsetof(target, text));
    if (size >= TARGET_SIZE || text[0] != '/')
        return -1;
    memcpy(t->text, text, size + 1);
    char *query = cut(t->text, '?');
    if (split_path(t, t->text + 1) != 0)
        return -1;
    return query ? split_query(t, query) : 0;
}
