/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of a command line as shells read and write them. */
#ifndef CLI_SHELL_WORDS_H
#define CLI_SHELL_WORDS_H

#include <stddef.h>

#define SHELL_WORDS_MAX 4096
#define SHELL_LINE_MAX  (1u << 17)

typedef struct shell_words {
    char **items; /* without quotes */
    size_t count;
    size_t last; /* where the last word begins in the line */
    char quote;  /* that is open at the end, or 0 */
} shell_words;

/* The words of an unfinished line; the last one is empty after a blank. */
void shell_words_read(shell_words *words, const char *line, size_t length);
void shell_words_free(shell_words *words);
/* The text that stands for itself in an unfinished word: without quotes. free() it. */
char *shell_unquote(const char *text, size_t length);
/* The text so that bash reads it back, after an open quote (' or ") or none (0). free() it. */
char *shell_quote(const char *text, char quote);
/*
 * One whole word, so that bash, zsh and ksh read it back. Bytes that are not safe to show are
 * written as $'\NNN'. free() it.
 */
char *shell_spell(const char *text);

#endif
