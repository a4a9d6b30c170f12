/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text/substring.h"

#include <stdlib.h>
#include <string.h>

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* KMP: the number of matched letters after this one. */
static size_t step(const struct lode_substring *substring, size_t matched, char letter)
{
    while (matched > 0 && substring->letters[matched] != letter)
        matched = substring->back[matched];
    return matched + (substring->letters[matched] == letter);
}

bool lode_substring_init(struct lode_substring *substring, const char *text)
{
    *substring = (struct lode_substring){0};
    if (text == NULL)
        return true;
    substring->length = strlen(text);
    substring->letters = calloc(substring->length + 1, 1);
    substring->back = calloc(substring->length + 1, sizeof *substring->back);
    if (substring->letters == NULL || substring->back == NULL) {
        lode_substring_free(substring);
        return false;
    }
    for (size_t i = 0; i < substring->length; i++)
        substring->letters[i] = small(text[i]);
    for (size_t i = 1; i < substring->length; i++)
        substring->back[i + 1] = step(substring, substring->back[i], substring->letters[i]);
    return true;
}

void lode_substring_free(struct lode_substring *substring)
{
    free(substring->letters);
    free(substring->back);
    *substring = (struct lode_substring){0};
}

bool lode_substring_is_in(const struct lode_substring *substring, const char *bytes, size_t count)
{
    size_t matched = 0;
    for (size_t i = 0; i < count && matched < substring->length; i++)
        matched = step(substring, matched, small(bytes[i]));
    return matched == substring->length;
}
