/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/label.h"

#include "alloc.h"
#include "options/option.h"

#include <lode/private/usual_names.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

static void reserve(label *l, size_t length)
{
    while (l->capacity <= length || l->capacity < FIRST_CAPACITY)
        l->text = alloc_grow(l->text, &l->capacity, length > FIRST_CAPACITY ? length : FIRST_CAPACITY, 1);
}

/* Calls a library function on l->text and l->capacity, and again if the label did not fit. */
#define FILL(l, call)                                                                                        \
    do {                                                                                                     \
        reserve(l, 0);                                                                                       \
        size_t length = call;                                                                                \
        if (length >= (l)->capacity) {                                                                       \
            reserve(l, length);                                                                              \
            call;                                                                                            \
        }                                                                                                    \
        return (l)->text;                                                                                    \
    } while (0)

const char *label_function(label *l, const lode_function *function)
{
    FILL(l, lode_function_label(function, l->text, l->capacity));
}

const char *label_symbol(label *l, const char *symbol, int names)
{
    if (names == NAMES_RAW)
        return symbol;
    if (names == NAMES_SIMPLE)
        FILL(l, lode_simple_name(symbol, l->text, l->capacity));
    FILL(l, lode_demangle(symbol, l->text, l->capacity));
}

const char *label_name(label *l, const lode_function *function, int names)
{
    const char *symbol = lode_function_name(function);
    if (names == NAMES_RAW && symbol && symbol[0])
        return symbol;
    FILL(l, lode_function_label_as(function, name_form(names), l->text, l->capacity));
}

int names_of_database(const lode_database *db, int names)
{
    if (names != NAMES_BY_STORE)
        return names;
    return lode_database_usual_names(db) == LODE_NAME_SIMPLE ? NAMES_SIMPLE : NAMES_FULL;
}

int names_of_recordings(int names)
{
    return names == NAMES_BY_STORE ? NAMES_SIMPLE : names;
}

lode_name_form name_form(int names)
{
    return names == NAMES_RAW ? LODE_NAME_RAW : names == NAMES_FULL ? LODE_NAME_FULL : LODE_NAME_SIMPLE;
}

const char *label_context(label *l, const lode_context *context)
{
    FILL(l, lode_context_label(context, l->text, l->capacity));
}

const char *label_context_as(label *l, const lode_context *context, int names)
{
    FILL(l, lode_context_label_as(context, name_form(names), l->text, l->capacity));
}

const char *label_profile(label *l, const lode_database *db, uint32_t profile)
{
    FILL(l, lode_profile_label(db, profile, l->text, l->capacity));
}

const char *label_hotspot(label *l, const lode_hotspot *hotspot)
{
    FILL(l, lode_hotspot_label(hotspot, l->text, l->capacity));
}

const char *label_place(label *l, const lode_file *file, uint32_t line)
{
    const char *path = path_of_file(file);
    char number[16] = "";
    if (!path)
        return NULL;
    if (line)
        snprintf(number, sizeof number, ":%u", line);
    const char *tail = lode_path_tail(path);
    int length = snprintf(NULL, 0, "%s%s", tail, number);
    reserve(l, length > 0 ? (size_t)length : 0);
    snprintf(l->text, l->capacity, "%s%s", tail, number);
    return l->text;
}

void label_free(label *l)
{
    free(l->text);
    *l = (label){0};
}

const char *path_of_file(const lode_file *file)
{
    return file ? lode_file_path(file) : NULL;
}

const char *path_of_module(const lode_module *module)
{
    return module ? lode_module_path(module) : NULL;
}

const char *label_modules(const lode_module *module, int are_several)
{
    if (are_several)
        return "(several)";
    return module ? lode_path_tail(lode_module_path(module)) : NULL;
}

/* Code without a known function is called too: then an instruction stands for it. */
static int begins_function(const lode_context *context)
{
    return lode_context_relation(context) != LODE_RELATION_LEXICAL || lode_context_function(context) ||
           !lode_context_parent(context);
}

const lode_context *enclosing_function(const lode_context *context)
{
    const lode_context *at = context;
    while (!begins_function(at))
        at = lode_context_parent(at);
    return at;
}

const char *title_of_hotspots(lode_group_by by)
{
    static const char *const titles[] = {
        [LODE_BY_FUNCTION] = "Function", [LODE_BY_SYMBOL] = "Function", [LODE_BY_LINE] = "Line",
        [LODE_BY_SOURCE_LINE] = "Line",  [LODE_BY_LOOP] = "Loop",       [LODE_BY_MODULE] = "Module",
        [LODE_BY_FILE] = "File",         [LODE_BY_KIND] = "Kind",
    };
    return titles[by];
}

const char *kind_of_hotspot(const lode_hotspot *hotspot, lode_group_by by, const lode_kind_rules *rules)
{
    if (by == LODE_BY_MODULE || by == LODE_BY_FILE)
        return NULL;
    int is_inside = by == LODE_BY_LINE || by == LODE_BY_LOOP;
    if (is_inside && hotspot->function == NULL)
        return NULL;
    /* Functions of one name in several modules may be of several kinds. */
    int is_by_name = by == LODE_BY_FUNCTION || by == LODE_BY_SYMBOL;
    if (is_by_name && hotspot->functions > 1 && hotspot->module == NULL)
        return NULL;
    if (by == LODE_BY_KIND)
        return lode_kind_name((int)hotspot->kind);
    return lode_kind_name(
        (int)lode_kind_by_rules(rules, is_inside ? NULL : hotspot->sample, hotspot->function));
}
