/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes untrusted text (of stores, file names, users) safe to show: terminal controls and
 * characters that hide or reorder others become escapes such as \n, \x1b or \u202e.
 *
 * Escaping is idempotent, so callers that measure text may escape it first. A backslash is not
 * escaped: text is for display, JSON is exact.
 */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/* Whether non-ASCII characters can be shown. Otherwise their bytes may be control characters. */
int escape_has_utf8(void);

/*
 * Whether a character is never sent: controls (C0, DEL, C1), line and paragraph separators,
 * direction marks, and invisible ones (Default_Ignorable_Code_Point). Joiners, variation selectors
 * and combining characters are sent, since scripts and emoji need them.
 */
int escape_is_due(uint32_t character);

#define ESCAPE_SIZE 12

/* How many bytes from the start stand for themselves. */
size_t escape_plain(const char *text, size_t size, int has_utf8);
/* The escape for the first character or invalid byte. Returns the number of bytes it replaces. */
size_t escape_first(const char *text, size_t size, char escape[ESCAPE_SIZE]);

/* A copy without anything that is not safe to show; the caller frees it. */
char *escape_text(const char *text, int has_utf8);

#endif
