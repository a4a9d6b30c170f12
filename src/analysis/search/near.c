/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/search/near.h"

#include "analysis/cost/key.h"
#include <lode/name.h>
#include <stdio.h>
#include <string.h>

enum {
    CONTEXTS_MAX = 1 << 20, /* that are looked at */
    NAME_BYTES = 1024       /* of names that are demangled */
};

struct near {
    unsigned distance;
    char name[LODE_NEAR_WORD + 1];
};

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distance (insert, delete, replace) without regard to case. */
static unsigned distance(const char *from, size_t from_length, const char *to, size_t to_length)
{
    unsigned row[LODE_NEAR_WORD + 1];
    for (size_t k = 0; k <= to_length; k++)
        row[k] = (unsigned)k;
    for (size_t i = 1; i <= from_length; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= to_length; k++) {
            unsigned replaced = diagonal + (small(from[i - 1]) != small(to[k - 1]));
            diagonal = row[k];
            row[k] = least(replaced, least(row[k], row[k - 1]) + 1);
        }
    }
    return row[to_length];
}

/* The part after the last "::" or ".". */
static const char *last_part(const char *name)
{
    const char *colon = strrchr(name, ':'), *dot = strrchr(name, '.');
    const char *at = colon > dot ? colon : dot;
    return at && at[1] ? at + 1 : name;
}

static unsigned how_far(const char *text, const char *name, unsigned most)
{
    size_t from = strlen(text), to = strlen(name);
    size_t apart = from > to ? from - to : to - from;
    return to > LODE_NEAR_WORD || apart > most ? most + 1 : distance(text, from, name, to);
}

/* Keeps the most similar names, each once. */
static void add(struct near best[LODE_NEAR_COUNT], const char *name, unsigned far)
{
    for (int i = 0; i < LODE_NEAR_COUNT; i++)
        if (strcmp(best[i].name, name) == 0)
            return;
    int at = LODE_NEAR_COUNT;
    while (at > 0 && (best[at - 1].name[0] == '\0' || far < best[at - 1].distance))
        at--;
    if (at == LODE_NEAR_COUNT)
        return;
    memmove(&best[at + 1], &best[at], (size_t)(LODE_NEAR_COUNT - 1 - at) * sizeof *best);
    best[at].distance = far;
    memcpy(best[at].name, name, strlen(name) + 1);
}

/* The first context of each function, as far as neighbours tell. */
static bool is_worth(const lode_context *context, const lode_function *last)
{
    const lode_function *function = lode_context_function(context);
    return begins_function(context) && function && function != last && function->name && function->name[0] &&
           strnlen(function->name, NAME_BYTES) < NAME_BYTES;
}

void lode_near_names(const struct lode_context_tree *tree, const char *text, char names[LODE_NEAR_SIZE])
{
    struct near best[LODE_NEAR_COUNT] = {0};
    size_t length = strnlen(text, LODE_NEAR_WORD + 1), used = 0;
    unsigned most = (unsigned)length / 3 + 1;
    const lode_function *last = NULL;
    names[0] = '\0';
    if (length > LODE_NEAR_WORD)
        return;
    for (uint32_t i = 1; i < tree->count && i < CONTEXTS_MAX; i++) {
        char name[LODE_NEAR_WORD + 2];
        if (!is_worth(&tree->nodes[i], last))
            continue;
        last = lode_context_function(&tree->nodes[i]);
        if (lode_function_label_as(last, LODE_NAME_SIMPLE, name, sizeof name) > LODE_NEAR_WORD)
            continue;
        unsigned far = least(how_far(text, name, most), how_far(text, last_part(name), most));
        if (far <= most)
            add(best, name, far);
    }
    for (int i = 0; i < LODE_NEAR_COUNT && best[i].name[0]; i++)
        used += (size_t)snprintf(names + used, LODE_NEAR_SIZE - used, "%s'%s'", i ? ", " : "", best[i].name);
}
