/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text that a store, a file name or a user has chosen, made safe to show: what a terminal would obey, or what hides or
 * reorders other characters, is written as an escape such as \n, \x1b or \u202e.
 *
 * Escaping changes nothing in text that is escaped already, so that callers that measure text may escape it first and
 * the writer may do so again. A backslash stands for itself: text is for people, and JSON is exact.
 */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/* Whether characters beyond ASCII can be shown. Elsewhere a byte of theirs may be a control character. */
int escape_has_utf8(void);

/*
 * Whether a character is never sent: controls (C0, DEL, C1), separators of lines and paragraphs, marks that change the
 * direction of text, and all that Unicode shows as nothing (Default_Ignorable_Code_Point). Joiners and variation
 * selectors are sent, since scripts and emoji need them, and so are combining characters.
 */
int escape_is_due(uint32_t character);

#define ESCAPE_SIZE 12

/* How many bytes from the start stand for themselves. */
size_t escape_plain(const char *text, size_t size, int has_utf8);
/* The escape for what the text begins with, a character or a byte that is part of none. Returns the bytes it stands for. */
size_t escape_first(const char *text, size_t size, char escape[ESCAPE_SIZE]);

/* A copy without anything that is not safe to show; the caller frees it. */
char *escape_text(const char *text, int has_utf8);

#endif
