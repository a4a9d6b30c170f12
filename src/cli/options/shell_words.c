/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/shell_words.h"

#include "alloc.h"
#include "output/escape.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Reads one word: until a blank outside of quotes, or the end. Returns where it ends. */
static size_t read_word(const char *line, size_t length, size_t at, char *word, char *open)
{
    char quote = 0;
    size_t used = 0;
    for (; at < length && (quote || !is_blank(line[at])); at++) {
        char c = line[at];
        int is_escape = c == '\\' && quote != '\'' && at + 1 < length;
        if (is_escape)
            word[used++] = line[++at];
        else if (c == quote)
            quote = 0;
        else if (!quote && (c == '\'' || c == '"'))
            quote = c;
        else
            word[used++] = c;
    }
    word[used] = '\0';
    *open = quote;
    return at;
}

void shell_words_read(shell_words *words, const char *line, size_t length)
{
    size_t at = 0;
    length = length < SHELL_LINE_MAX ? length : SHELL_LINE_MAX;
    *words = (shell_words){.items = alloc_array(SHELL_WORDS_MAX, sizeof *words->items)};
    do {
        while (at < length && is_blank(line[at]))
            at++;
        words->last = at;
        char *word = alloc_array(length - at + 1, 1);
        at = read_word(line, length, at, word, &words->quote);
        words->items[words->count++] = word;
    } while (at < length && words->count < SHELL_WORDS_MAX);
}

void shell_words_free(shell_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
}

char *shell_unquote(const char *text, size_t length)
{
    char *word = alloc_array(length + 1, 1);
    size_t used = 0;
    char quote;
    /* Blanks inside stand for themselves: their quotes may not be part of the text. */
    for (size_t at = 0; at < length;) {
        at = read_word(text, length, at, word + used, &quote);
        used += strlen(word + used);
        if (at < length)
            word[used++] = text[at++];
    }
    word[used] = '\0';
    return word;
}

static int is_special(char c, char quote)
{
    if (quote == '"')
        return strchr("\\\"$`", c) != NULL;
    return (unsigned char)c < 0x80 && !isalnum((unsigned char)c) && !strchr("_-./:=,+%@", c);
}

/* What has to leave the quotes and begin them again: "!" recalls commands inside double ones. */
static const char *outside_of(char c, char quote)
{
    if (quote == '\'' && c == '\'')
        return "'\\''";
    return quote == '"' && c == '!' ? "\"\\!\"" : NULL;
}

char *shell_quote(const char *text, char quote)
{
    char *word = alloc_array(4 * strlen(text) + 1, 1);
    size_t used = 0;
    for (; *text; text++) {
        const char *outside = outside_of(*text, quote);
        if (outside) {
            memcpy(word + used, outside, 4);
            used += 4;
            continue;
        }
        if (quote != '\'' && is_special(*text, quote))
            word[used++] = '\\';
        word[used++] = *text;
    }
    word[used] = '\0';
    return word;
}

/* What a shell takes for itself wherever it stands in a word. */
static int stands_for_itself(const char *text)
{
    if (text[0] == '\0' || text[0] == '=')
        return 0;
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < 0x80 && is_special(*at, 0))
            return 0;
    return 1;
}

static char *spell_bytes(const char *text)
{
    size_t size = 4 * strlen(text) + 4, used = 2;
    char *word = alloc_array(size, 1);
    memcpy(word, "$'", 2);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        int is_plain = byte >= 0x20 && byte < 0x7f && byte != '\'' && byte != '\\';
        used += (size_t)snprintf(word + used, size - used, is_plain ? "%c" : "\\%03o", byte);
    }
    word[used] = '\'';
    return word;
}

char *shell_spell(const char *text)
{
    size_t length = strlen(text);
    /* What is safe depends on the characters of the terminal, which reads the same line. */
    if (escape_plain(text, length, escape_has_utf8()) < length)
        return spell_bytes(text);
    if (stands_for_itself(text))
        return alloc_text(text);
    char *inside = shell_quote(text, '\'');
    size_t size = strlen(inside) + 3;
    char *word = alloc_array(size, 1);
    snprintf(word, size, "'%s'", inside);
    free(inside);
    return word;
}
