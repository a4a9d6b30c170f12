/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/suggest.h"

#include <string.h>

#define WORD_MAX 40

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distance (insert, delete, replace, transpose) of words of at most WORD_MAX characters. */
static unsigned distance(const char *from, const char *to)
{
    unsigned rows[3][WORD_MAX + 1];
    size_t from_length = strlen(from), to_length = strlen(to);
    for (size_t j = 0; j <= to_length; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= from_length; i++) {
        const unsigned *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        unsigned *row = rows[i % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= to_length; j++) {
            row[j] = above[j - 1] + (from[i - 1] != to[j - 1]);
            row[j] = smaller(row[j], smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[from_length % 3][to_length];
}

const char *suggest(const char *word, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    size_t length = strlen(word);
    unsigned closest =
        length < 6 ? 2 : (unsigned)length / 3 + 1; /* one edit in three letters, at least one */
    if (length == 0 || length > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t candidate_length = strlen(candidates[i]);
        if (candidate_length > WORD_MAX)
            continue;
        int is_beginning = length >= 2 && strncmp(word, candidates[i], length) == 0;
        unsigned edits = is_beginning ? 0 : distance(word, candidates[i]);
        if (edits < closest && edits < candidate_length) {
            closest = edits;
            best = candidates[i];
        }
    }
    return best;
}

const char *suggest_choice(const char *word, const char *const *choices)
{
    size_t count = 0;
    while (choices[count])
        count++;
    return suggest(word, choices, count);
}
