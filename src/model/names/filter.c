/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions to show and to hide. */
#include "model/names/filter.h"

#include "base/error.h"
#include "base/text/pattern.h"
#include "model/database/context.h"
#include <stdlib.h>
#include <string.h>

enum {
    TERMS_MAX = 64,
    NAME_MAX_BYTES = 8192 /* the rest of a name is not compared, nor are its other forms */
};

/* What a pattern is compared with. */
enum subject {
    SUBJECT_FUNCTION,
    SUBJECT_MODULE,
    SUBJECT_FILE
};

struct term {
    enum subject subject;
    char *text;
    struct lode_pattern *pattern; /* NULL: a whole name */
};

struct lode_filter {
    struct term *include, *exclude;
    size_t include_count, exclude_count;
};

/* ---- opening ---- */

static bool take_prefix(const char **text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(*text, prefix, length) != 0)
        return false;
    *text += length;
    return true;
}

static lode_status term_init(struct term *term, const char *text, lode_error *error)
{
    term->subject = take_prefix(&text, "module:") ? SUBJECT_MODULE
                    : take_prefix(&text, "file:") ? SUBJECT_FILE
                                                  : SUBJECT_FUNCTION;
    if (term->subject == SUBJECT_FUNCTION)
        take_prefix(&text, "function:");
    if (text[0] == '\0')
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the pattern is empty");
    term->text = strdup(text);
    LODE_TRY_ALLOC(term->text, error);
    return lode_pattern_is(text) ? lode_pattern_compile(&term->pattern, text, error) : LODE_OK;
}

static lode_status add_terms(struct term **terms, size_t *count, const char *const *texts, size_t text_count,
                             lode_error *error)
{
    if (text_count > TERMS_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "%zu patterns; there can be %d",
                         text_count, TERMS_MAX);
    *terms = calloc(text_count + 1, sizeof **terms);
    LODE_TRY_ALLOC(*terms, error);
    for (*count = 0; *count < text_count;) {
        size_t at = (*count)++;
        LODE_TRY(term_init(&(*terms)[at], texts[at], error));
    }
    return LODE_OK;
}

lode_status lode_filter_open(lode_filter **out, const char *const *include, size_t include_count,
                             const char *const *exclude, size_t exclude_count, lode_error *error)
{
    *out = NULL;
    lode_filter *filter = calloc(1, sizeof *filter);
    LODE_TRY_ALLOC(filter, error);
    lode_status status = add_terms(&filter->include, &filter->include_count, include, include_count, error);
    if (status == LODE_OK)
        status = add_terms(&filter->exclude, &filter->exclude_count, exclude, exclude_count, error);
    if (status == LODE_OK)
        *out = filter;
    else
        lode_filter_close(filter);
    return status;
}

static void free_terms(struct term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(terms[i].text);
        lode_pattern_free(terms[i].pattern);
    }
    free(terms);
}

void lode_filter_close(lode_filter *filter)
{
    if (filter == NULL)
        return;
    free_terms(filter->include, filter->include_count);
    free_terms(filter->exclude, filter->exclude_count);
    free(filter);
}

static bool gave_up(const struct term *terms, size_t count)
{
    bool result = false;
    for (size_t i = 0; i < count; i++)
        result = result || (terms[i].pattern && lode_pattern_gave_up(terms[i].pattern));
    return result;
}

lode_status lode_filter_status(const lode_filter *filter, lode_error *error)
{
    if (filter &&
        (gave_up(filter->include, filter->include_count) || gave_up(filter->exclude, filter->exclude_count)))
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "the regular expression takes too many steps");
    return LODE_OK;
}

/* ---- comparing ---- */

/* What a function or a context is known by. */
struct described {
    const lode_function *function; /* with a name; else NULL, and there is a label */
    const lode_context *context;
    const lode_module *module;
    const lode_file *file;
};

static bool is_text(const struct term *term, const char *text)
{
    if (strcmp(text, term->text) == 0)
        return true;
    return term->pattern && lode_pattern_matches(term->pattern, text, strnlen(text, NAME_MAX_BYTES));
}

static bool is_long(const char *text)
{
    return strnlen(text, NAME_MAX_BYTES) == NAME_MAX_BYTES;
}

static bool is_path(const struct term *term, const char *path)
{
    return is_text(term, path) || (!is_long(path) && is_text(term, lode_path_tail(path)));
}

static bool is_named(const struct term *term, const lode_function *function)
{
    char label[NAME_MAX_BYTES + 1];
    if (is_text(term, function->name))
        return true;
    if (is_long(function->name))
        return false;
    for (int form = LODE_NAME_FULL; form <= LODE_NAME_RAW; form++) {
        lode_function_label_as(function, (lode_name_form)form, label, sizeof label);
        if (is_text(term, label))
            return true;
    }
    return false;
}

static bool is_labelled(const struct term *term, const struct described *what)
{
    char label[NAME_MAX_BYTES + 1];
    if ((what->module && is_long(what->module->path)) || (what->file && is_long(what->file->path)))
        return false;
    if (what->context == NULL)
        return false;
    if (what->context->lexical == LODE_LEXICAL_ENTRY && is_long(what->context->entry_name))
        return false;
    lode_context_label(what->context, label, sizeof label);
    return is_text(term, label);
}

static bool is_anonymous(const struct term *term, const lode_function *function)
{
    char label[NAME_MAX_BYTES + 1];
    if ((function->module && is_long(function->module->path)) ||
        (function->file && is_long(function->file->path)))
        return false;
    lode_function_label(function, label, sizeof label);
    return is_text(term, label);
}

static bool matches(const struct term *term, const struct described *what)
{
    if (term->subject == SUBJECT_MODULE)
        return what->module && is_path(term, what->module->path);
    if (term->subject == SUBJECT_FILE)
        return what->file && is_path(term, what->file->path);
    if (what->function && what->function->name && what->function->name[0])
        return is_named(term, what->function);
    return what->function ? is_anonymous(term, what->function) : is_labelled(term, what);
}

static bool any_matches(const struct term *terms, size_t count, const struct described *what)
{
    for (size_t i = 0; i < count; i++)
        if (matches(&terms[i], what))
            return true;
    return false;
}

bool lode_filter_has_include(const lode_filter *filter)
{
    return filter->include_count > 0;
}

static struct described describe(const lode_context *context)
{
    const lode_function *function = lode_context_function(context);
    if (function)
        return (struct described){function, NULL, function->module, function->file};
    return (struct described){NULL, context, context->module, context->file};
}

bool lode_filter_includes(const lode_filter *filter, const lode_context *context)
{
    struct described what = describe(context);
    return any_matches(filter->include, filter->include_count, &what);
}

bool lode_filter_excludes(const lode_filter *filter, const lode_context *context)
{
    struct described what = describe(context);
    return any_matches(filter->exclude, filter->exclude_count, &what);
}

static bool shows(const lode_filter *filter, const struct described *what)
{
    return (filter->include_count == 0 || any_matches(filter->include, filter->include_count, what)) &&
           !any_matches(filter->exclude, filter->exclude_count, what);
}

int lode_filter_shows_function(const lode_filter *filter, const lode_function *function)
{
    struct described what = {function, NULL, function->module, function->file};
    return filter == NULL || shows(filter, &what);
}

int lode_filter_shows_context(const lode_filter *filter, const lode_context *context)
{
    struct described what = describe(context);
    return filter == NULL || shows(filter, &what);
}
