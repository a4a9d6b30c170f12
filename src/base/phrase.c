/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/phrase.h"

#include <stdlib.h>
#include <string.h>

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* How many letters match behind a text of which `matched` do, when this one comes next. */
static size_t step(const struct lode_phrase *phrase, size_t matched, char letter)
{
    while (matched > 0 && phrase->letters[matched] != letter)
        matched = phrase->back[matched];
    return matched + (phrase->letters[matched] == letter);
}

bool lode_phrase_init(struct lode_phrase *phrase, const char *text)
{
    *phrase = (struct lode_phrase){0};
    if (text == NULL)
        return true;
    phrase->length = strlen(text);
    phrase->letters = calloc(phrase->length + 1, 1);
    phrase->back = calloc(phrase->length + 1, sizeof *phrase->back);
    if (phrase->letters == NULL || phrase->back == NULL) {
        lode_phrase_free(phrase);
        return false;
    }
    for (size_t i = 0; i < phrase->length; i++)
        phrase->letters[i] = small(text[i]);
    for (size_t i = 1; i < phrase->length; i++)
        phrase->back[i + 1] = step(phrase, phrase->back[i], phrase->letters[i]);
    return true;
}

void lode_phrase_free(struct lode_phrase *phrase)
{
    free(phrase->letters);
    free(phrase->back);
    *phrase = (struct lode_phrase){0};
}

bool lode_phrase_is_in(const struct lode_phrase *phrase, const char *bytes, size_t count)
{
    size_t matched = 0;
    for (size_t i = 0; i < count && matched < phrase->length; i++)
        matched = step(phrase, matched, small(bytes[i]));
    return matched == phrase->length;
}
