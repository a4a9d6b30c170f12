/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text/pattern.h"

#include "base/error.h"
#include "base/text/utf8.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    STEPS_MAX = 200000, /* of a regular expression, per name */
    HEAP_MAX = 1024     /* KiB, likewise */
};

#define ELLIPSIS "\xe2\x80\xa6"

/* A piece of a glob. */
enum {
    PIECE_ANY = 256, /* any characters */
    PIECE_ONE = 257  /* one character; smaller numbers are a byte */
};

struct lode_pattern {
    pcre2_code *code; /* NULL: a glob */
    pcre2_match_context *limits;
    size_t count; /* of pieces */
    unsigned short pieces[LODE_PATTERN_MAX];
    atomic_bool flag;
    atomic_bool *gave_up; /* the flag: set by readers of the pattern */
};

static bool is_regex(const char *text)
{
    size_t length = strlen(text);
    return length > 2 && text[0] == '/' && text[length - 1] == '/';
}

bool lode_pattern_is(const char *text)
{
    return is_regex(text) || strpbrk(text, "*?") || strstr(text, ELLIPSIS) || strstr(text, "...");
}

/* ---- globs ---- */

static const char *take_piece(const char *at, unsigned short *piece)
{
    size_t any = at[0] == '*'                                   ? 1
                 : strncmp(at, ELLIPSIS, strlen(ELLIPSIS)) == 0 ? strlen(ELLIPSIS)
                 : strncmp(at, "...", 3) == 0                   ? 3
                                                                : 0;
    if (any > 0) {
        *piece = PIECE_ANY;
        return at + any;
    }
    if (at[0] == '?') {
        *piece = PIECE_ONE;
        return at + 1;
    }
    at += at[0] == '\\' && at[1] != '\0';
    *piece = (unsigned char)at[0];
    return at + 1;
}

/* Two "any" in a row are one. */
static void compile_glob(struct lode_pattern *pattern, const char *at)
{
    while (*at) {
        unsigned short piece;
        at = take_piece(at, &piece);
        if (piece != PIECE_ANY || pattern->count == 0 || pattern->pieces[pattern->count - 1] != PIECE_ANY)
            pattern->pieces[pattern->count++] = piece;
    }
}

/* The position after a character. */
static size_t next_character(const char *name, size_t length, size_t at)
{
    for (at++; at < length && utf8_is_continuation(name[at]);)
        at++;
    return at;
}

/* Only the last "any" is ever tried again: at most pieces times length steps. */
static bool glob_matches(const struct lode_pattern *pattern, const char *name, size_t length)
{
    const unsigned short *pieces = pattern->pieces;
    size_t piece = 0, at = 0, any = SIZE_MAX, any_at = 0;
    while (at < length) {
        bool is_left = piece < pattern->count;
        if (is_left && pieces[piece] == PIECE_ANY) {
            any = piece++;
            any_at = at;
        } else if (is_left && pieces[piece] == PIECE_ONE) {
            at = next_character(name, length, at);
            piece++;
        } else if (is_left && pieces[piece] == (unsigned char)name[at]) {
            at++;
            piece++;
        } else if (any != SIZE_MAX) {
            piece = any + 1;
            at = ++any_at;
        } else {
            return false;
        }
    }
    while (piece < pattern->count && pieces[piece] == PIECE_ANY)
        piece++;
    return piece == pattern->count;
}

/* ---- regular expressions ---- */

static lode_status compile_regex(struct lode_pattern *pattern, const char *text, size_t length,
                                 uint32_t options, unsigned steps, lode_error *error)
{
    int code;
    size_t offset;
    pattern->limits = pcre2_match_context_create(NULL);
    LODE_TRY_ALLOC(pattern->limits, error);
    pcre2_set_match_limit(pattern->limits, steps);
    pcre2_set_heap_limit(pattern->limits, HEAP_MAX);
    pattern->code = pcre2_compile((PCRE2_SPTR)text, length,
                                  options | PCRE2_DOTALL | PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C,
                                  &code, &offset, NULL);
    if (pattern->code)
        return LODE_OK;
    char words[128] = "";
    pcre2_get_error_message(code, (PCRE2_UCHAR *)words, sizeof words);
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                     "not a regular expression, at character %zu: %s", offset + 1, words);
}

static bool regex_matches(const struct lode_pattern *pattern, const char *name, size_t length)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int found = PCRE2_ERROR_NOMEMORY;
    if (data)
        found = pcre2_match(pattern->code, (PCRE2_SPTR)name, length, 0, 0, data, pattern->limits);
    pcre2_match_data_free(data);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH)
        atomic_store(pattern->gave_up, true);
    return found >= 0;
}

/* ---- both ---- */

lode_status lode_pattern_compile(struct lode_pattern **out, const char *text, lode_error *error)
{
    *out = NULL;
    if (strlen(text) > LODE_PATTERN_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "a pattern of more than %d bytes",
                         LODE_PATTERN_MAX);
    struct lode_pattern *pattern = calloc(1, sizeof *pattern);
    LODE_TRY_ALLOC(pattern, error);
    pattern->gave_up = &pattern->flag;
    lode_status status = LODE_OK;
    if (is_regex(text))
        status = compile_regex(pattern, text + 1, strlen(text) - 2, 0, STEPS_MAX, error);
    else
        compile_glob(pattern, text);
    if (status == LODE_OK)
        *out = pattern;
    else
        lode_pattern_free(pattern);
    return status;
}

/* References, assertions and verbs, for which there is no linear time; RE2 has none of them. */
static bool is_beyond_re2(const char *text)
{
    for (; *text; text++) {
        if (text[0] == '\\' && text[1] != '\0') {
            text++;
            if (*text >= '1' && *text <= '9')
                return true;
        } else if (strncmp(text, "(*", 2) == 0 ||
                   (strncmp(text, "(?", 2) == 0 && (text[2] == '\0' || strchr(":imsUP-", text[2]) == NULL)) ||
                   (strncmp(text, "(?P", 3) == 0 && text[3] != '<')) {
            return true;
        }
    }
    return false;
}

lode_status lode_pattern_compile_whole(struct lode_pattern **out, const char *text, unsigned steps,
                                       lode_error *error)
{
    *out = NULL;
    if (strlen(text) > LODE_PATTERN_MAX || is_beyond_re2(text))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a regular expression of more than %d bytes, or with references or assertions",
                         LODE_PATTERN_MAX);
    struct lode_pattern *pattern = calloc(1, sizeof *pattern);
    LODE_TRY_ALLOC(pattern, error);
    pattern->gave_up = &pattern->flag;
    lode_status status =
        compile_regex(pattern, text, strlen(text), PCRE2_ANCHORED | PCRE2_ENDANCHORED, steps, error);
    if (status == LODE_OK)
        *out = pattern;
    else
        lode_pattern_free(pattern);
    return status;
}

void lode_pattern_free(struct lode_pattern *pattern)
{
    if (pattern == NULL)
        return;
    pcre2_code_free(pattern->code);
    pcre2_match_context_free(pattern->limits);
    free(pattern);
}

bool lode_pattern_matches(const struct lode_pattern *pattern, const char *name, size_t length)
{
    if (pattern->code == NULL)
        return glob_matches(pattern, name, length);
    if (lode_pattern_gave_up(pattern))
        return false;
    return regex_matches(pattern, name, length);
}

bool lode_pattern_gave_up(const struct lode_pattern *pattern)
{
    return atomic_load(pattern->gave_up);
}
