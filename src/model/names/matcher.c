/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares a typed name with the names of functions. */
#include "base/error.h"
#include "base/text/pattern.h"
#include "base/text/substring.h"
#include "model/database/context.h"
#include <inttypes.h>
#include <lode/unstable/match.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 1 << 16, /* bytes that can be typed */
    /*
     * Longer names are neither demangled nor searched to their end: many records of a file can
     * share one long string.
     */
    NAME_MAX_BYTES = 8192
};

/* A text to search for. */
struct needle {
    char *text; /* NULL: none */
    struct lode_substring part;
    struct lode_pattern *pattern; /* NULL: the text is none */
};

struct lode_matcher {
    struct needle name;
    /* "NAME [WHERE]", which may be a name as it is, too. */
    struct needle inside;
    char *where; /* NULL: none */
    lode_name_form shown;
};

/* Where a function is. */
struct place {
    const lode_module *module;
    const lode_file *file;
    uint32_t line;
};

/* ---- opening ---- */

static lode_status needle_init(struct needle *needle, const char *text, size_t length, lode_error *error)
{
    needle->text = strndup(text, length);
    if (needle->text == NULL || !lode_substring_init(&needle->part, needle->text))
        return lode_fail_memory(error);
    if (lode_pattern_is(needle->text))
        return lode_pattern_compile(&needle->pattern, needle->text, error);
    return LODE_OK;
}

static void needle_free(struct needle *needle)
{
    free(needle->text);
    lode_substring_free(&needle->part);
    lode_pattern_free(needle->pattern);
}

/* Splits "NAME [WHERE]". */
static lode_status find_where(struct lode_matcher *matcher, const char *text, lode_error *error)
{
    size_t length = strlen(text), start = length;
    while (start > 0 && text[start - 1] != '[')
        start--;
    if (length < 5 || text[length - 1] != ']' || start < 3 || text[start - 2] != ' ' || start == length - 1)
        return LODE_OK;
    matcher->where = strndup(text + start, length - 1 - start);
    LODE_TRY_ALLOC(matcher->where, error);
    return needle_init(&matcher->inside, text, start - 2, error);
}

lode_status lode_matcher_open(lode_matcher **out, const char *text, lode_name_form shown, lode_error *error)
{
    *out = NULL;
    if (text[0] == '\0')
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the name is empty");
    if (strnlen(text, TEXT_MAX + 1) > TEXT_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "a name of more than %d bytes",
                         TEXT_MAX);
    lode_matcher *matcher = calloc(1, sizeof *matcher);
    LODE_TRY_ALLOC(matcher, error);
    matcher->shown = shown;
    lode_status status = needle_init(&matcher->name, text, strlen(text), error);
    if (status == LODE_OK)
        status = find_where(matcher, text, error);
    if (status == LODE_OK)
        *out = matcher;
    else
        lode_matcher_close(matcher);
    return status;
}

void lode_matcher_close(lode_matcher *matcher)
{
    if (matcher == NULL)
        return;
    needle_free(&matcher->name);
    needle_free(&matcher->inside);
    free(matcher->where);
    free(matcher);
}

static bool gave_up(const struct needle *needle)
{
    return needle->pattern && lode_pattern_gave_up(needle->pattern);
}

lode_status lode_matcher_status(const lode_matcher *matcher, lode_error *error)
{
    if (gave_up(&matcher->name) || gave_up(&matcher->inside))
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "the regular expression takes too many steps");
    return LODE_OK;
}

/* ---- comparing ---- */

static lode_match better(lode_match a, lode_match b)
{
    return a > b ? a : b;
}

static lode_match match_name(const struct needle *needle, const char *name)
{
    /* Ends at the first difference, so that the length of the name does not matter. */
    if (strcmp(name, needle->text) == 0)
        return LODE_MATCH_WHOLE;
    size_t length = strnlen(name, NAME_MAX_BYTES);
    if (lode_substring_is_in(&needle->part, name, length)) {
        if (length == needle->part.length)
            return LODE_MATCH_WHOLE_ANY_CASE;
        return memmem(name, length, needle->text, needle->part.length) ? LODE_MATCH_PART
                                                                       : LODE_MATCH_PART_ANY_CASE;
    }
    bool matches = needle->pattern && lode_pattern_matches(needle->pattern, name, length);
    return matches ? LODE_MATCH_PATTERN : LODE_MATCH_NONE;
}

static bool is_long(const char *text)
{
    return text && strnlen(text, NAME_MAX_BYTES) == NAME_MAX_BYTES;
}

static bool is_path(const char *path, const char *where)
{
    return strcmp(path, where) == 0 || strcmp(lode_path_tail(path), where) == 0;
}

static bool is_file_line(const struct place *place, const char *where)
{
    char line[16];
    const char *colon = strrchr(where, ':');
    if (place->file == NULL || place->line == 0 || colon == NULL || is_long(place->file->path))
        return false;
    snprintf(line, sizeof line, "%" PRIu32, place->line);
    size_t length = (size_t)(colon - where);
    const char *path = place->file->path, *tail = lode_path_tail(path);
    return strcmp(colon + 1, line) == 0 && ((strlen(path) == length && memcmp(path, where, length) == 0) ||
                                            (strlen(tail) == length && memcmp(tail, where, length) == 0));
}

static bool is_at(const struct place *place, const char *where)
{
    return (place->module && !is_long(place->module->path) && is_path(place->module->path, where)) ||
           (place->file && !is_long(place->file->path) && is_path(place->file->path, where)) ||
           is_file_line(place, where);
}

/* What is compared, for one function or context. */
struct comparison {
    const lode_matcher *matcher;
    bool is_inside; /* it is where "NAME [WHERE]" says */
    lode_match best;
};

static struct comparison begin(const lode_matcher *matcher, const struct place *place)
{
    bool is_inside = matcher->where && is_at(place, matcher->where);
    return (struct comparison){matcher, is_inside, LODE_MATCH_NONE};
}

static void compare(struct comparison *self, const char *name, bool is_shown)
{
    lode_match found = match_name(&self->matcher->name, name);
    self->best = better(self->best, is_shown && found == LODE_MATCH_WHOLE ? LODE_MATCH_SHOWN : found);
    /* Names can end with brackets themselves: those come first. */
    if (self->is_inside)
        self->best = better(self->best, match_name(&self->matcher->inside, name));
}

static void compare_function(struct comparison *self, const lode_function *function)
{
    char label[NAME_MAX_BYTES + 1];
    bool has_name = function->name && function->name[0];
    if (has_name)
        compare(self, function->name, self->matcher->shown == LODE_NAME_RAW);
    if (is_long(function->name) || (function->module && is_long(function->module->path)) ||
        (function->file && is_long(function->file->path)))
        return;
    for (int form = LODE_NAME_FULL; form <= LODE_NAME_RAW && self->best < LODE_MATCH_SHOWN; form++) {
        lode_function_label_as(function, (lode_name_form)form, label, sizeof label);
        compare(self, label, !has_name || form == (int)self->matcher->shown);
        if (!has_name)
            return;
    }
}

lode_match lode_matcher_function(const lode_matcher *matcher, const lode_function *function)
{
    struct place place = {function->module, function->file, function->line};
    struct comparison self = begin(matcher, &place);
    compare_function(&self, function);
    return self.best;
}

lode_match lode_matcher_text(const lode_matcher *matcher, const char *text)
{
    return match_name(&matcher->name, text);
}

static bool has_long_label(const lode_context *context)
{
    if (context->lexical == LODE_LEXICAL_ENTRY)
        return is_long(context->entry_name);
    return (context->module && is_long(context->module->path)) ||
           (context->file && is_long(context->file->path));
}

lode_match lode_matcher_context(const lode_matcher *matcher, const lode_context *context)
{
    char label[NAME_MAX_BYTES + 1];
    const lode_function *function = lode_context_function(context);
    if (function && context->lexical == LODE_LEXICAL_FUNCTION)
        return lode_matcher_function(matcher, function);
    struct place place = {context->module, context->file, context->line};
    struct comparison self = begin(matcher, &place);
    if (has_long_label(context))
        return LODE_MATCH_NONE;
    lode_context_label(context, label, sizeof label);
    compare(&self, label, true);
    if (function)
        self.best = better(self.best, lode_matcher_function(matcher, function));
    return self.best;
}
