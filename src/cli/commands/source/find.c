/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "commands/source/source.h"
#include "output/report.h"
#include "text/label.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES_SHOWN 10

int source_same_file(const lode_file *a, const lode_file *b)
{
    return a == b || (a && b && strcmp(lode_file_path(a), lode_file_path(b)) == 0);
}

void source_functions_add(source_functions *functions, const lode_function *function, double exclusive)
{
    functions->items =
        alloc_grow(functions->items, &functions->capacity, functions->count, sizeof *functions->items);
    functions->items[functions->count++] = (source_function){function, exclusive};
}

static int compare_functions(const void *left, const void *right)
{
    const source_function *a = left, *b = right;
    uint32_t i = lode_function_index(a->function), k = lode_function_index(b->function);
    if (a->exclusive != b->exclusive)
        return a->exclusive > b->exclusive ? -1 : 1;
    return i < k ? -1 : i > k;
}

void source_functions_sort(source_functions *functions)
{
    if (functions->count)
        qsort(functions->items, functions->count, sizeof *functions->items, compare_functions);
}

void source_functions_add_file(source_functions *functions, const lode_file *file)
{
    functions->files = alloc_grow(functions->files, &functions->file_capacity, functions->file_count,
                                  sizeof *functions->files);
    functions->files[functions->file_count++] = file;
}

void source_functions_free(source_functions *functions)
{
    free(functions->items);
    free(functions->files);
}

/* ---- files ---- */

/* Whether `text` is the path or its last components. */
static int is_path(const lode_file *file, const char *text, size_t length)
{
    const char *path = lode_file_path(file);
    size_t size = strlen(path);
    if (length == 0 || size < length || memcmp(path + size - length, text, length) != 0)
        return 0;
    return size == length || text[0] == '/' || path[size - length - 1] == '/';
}

/* Splits FILE:LINE. Returns the length of FILE, and 0 as the line if there is none. */
static size_t split(const char *text, uint32_t *line)
{
    const char *colon = strrchr(text, ':');
    *line = 0;
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
        return strlen(text);
    errno = 0;
    unsigned long long number = strtoull(colon + 1, NULL, 10);
    if (errno || number == 0 || number > UINT32_MAX)
        return strlen(text);
    *line = (uint32_t)number;
    return (size_t)(colon - text);
}

static int list_files(const source_functions *functions, const char *text, size_t length, const char *store)
{
    size_t shown = 0;
    report("%s: several source files match '%s':", store, text);
    for (size_t i = 0; i < functions->file_count && shown < CANDIDATES_SHOWN; i++)
        if (is_path(functions->files[i], text, length)) {
            report("  %s", lode_file_path(functions->files[i]));
            shown++;
        }
    return EXIT_TROUBLE;
}

/* A file by its path, or by the end of its path if that is unique. */
static int find_file(source_target *target, const source_functions *functions, const char *text,
                     const char *store)
{
    uint32_t line;
    size_t length = split(text, &line);
    const lode_file *found = NULL;
    int is_ambiguous = 0;
    for (size_t i = 0; i < functions->file_count; i++) {
        const lode_file *file = functions->files[i];
        if (!is_path(file, text, length))
            continue;
        if (strlen(lode_file_path(file)) == length) {
            found = file;
            is_ambiguous = 0;
            break;
        }
        is_ambiguous = is_ambiguous || (found && !source_same_file(found, file));
        found = found ? found : file;
    }
    if (is_ambiguous)
        return list_files(functions, text, length, store);
    if (found)
        *target = (source_target){.file = found, .line = line};
    return EXIT_DONE;
}

/* ---- functions ---- */

static int same_label(const lode_function *a, const lode_function *b)
{
    label left = {0}, right = {0};
    int result = strcmp(label_function(&left, a), label_function(&right, b)) == 0;
    label_free(&left);
    label_free(&right);
    return result;
}

static lode_match best_match(const source_functions *functions, const lode_matcher *matcher)
{
    lode_match best = LODE_MATCH_NONE;
    for (size_t i = 0; i < functions->count; i++) {
        lode_match how = lode_matcher_function(matcher, functions->items[i].function);
        best = how > best ? how : best;
    }
    return best;
}

static int list_candidates(const source_functions *functions, const lode_matcher *matcher, lode_match best,
                           const char *heading, int names)
{
    label l = {0};
    size_t shown = 0;
    report("%s:", heading);
    for (size_t i = 0; i < functions->count && shown < CANDIDATES_SHOWN; i++) {
        const lode_function *function = functions->items[i].function;
        if (lode_matcher_function(matcher, function) == best) {
            report("  %s", label_name(&l, function, names));
            shown++;
        }
    }
    label_free(&l);
    return EXIT_TROUBLE;
}

/* The most expensive function that matches best. By a part or a pattern it must be the only one. */
static const lode_function *choose(const source_functions *functions, const lode_matcher *matcher,
                                   lode_match best, int *is_ambiguous)
{
    const lode_function *found = NULL;
    for (size_t i = 0; i < functions->count && !*is_ambiguous; i++) {
        const lode_function *function = functions->items[i].function;
        if (lode_matcher_function(matcher, function) != best)
            continue;
        *is_ambiguous = found && best < LODE_MATCH_WHOLE_ANY_CASE && !same_label(found, function);
        /* Of several with this name, one with a source file is worth more. */
        if (!found || (!lode_function_file(found) && lode_function_file(function)))
            found = function;
    }
    return found;
}

/* Leaves the target as it is if no function matches at least so well. */
static int find_function(source_target *target, const source_functions *functions, const char *text,
                         lode_match least, const char *store, int names)
{
    lode_matcher *matcher = NULL;
    lode_error error = {0};
    int is_ambiguous = 0, status = EXIT_DONE;
    char heading[512];
    if (lode_matcher_open(&matcher, text, name_form(names), &error) != LODE_OK)
        return report("%s", error.text);
    lode_match best = best_match(functions, matcher);
    const lode_function *found = best >= least ? choose(functions, matcher, best, &is_ambiguous) : NULL;
    if (lode_matcher_status(matcher, &error) != LODE_OK) {
        status = report("%s", error.text);
    } else if (is_ambiguous) {
        snprintf(heading, sizeof heading, "%s: several functions match '%s'", store, text);
        status = list_candidates(functions, matcher, best, heading, names);
    } else if (found) {
        *target = (source_target){
            .function = found, .file = lode_function_file(found), .line = lode_function_line(found)};
    }
    lode_matcher_close(matcher);
    return status;
}

static int find_default(source_target *target, const source_functions *functions, const char *store)
{
    for (size_t i = 0; i < functions->count; i++) {
        const lode_function *function = functions->items[i].function;
        if (lode_function_file(function)) {
            *target = (source_target){.function = function,
                                      .file = lode_function_file(function),
                                      .line = lode_function_line(function)};
            return EXIT_DONE;
        }
    }
    return report("%s: no function with a cost has a known source file", store);
}

int source_find(source_target *target, const source_functions *functions, const char *text, const char *store,
                int names)
{
    uint32_t line;
    int status = EXIT_DONE;
    *target = (source_target){0};
    if (!text)
        return find_default(target, functions, store);
    split(text, &line);
    if (line)
        status = find_file(target, functions, text, store);
    if (status == EXIT_DONE && !target->file)
        status = find_function(target, functions, text, LODE_MATCH_WHOLE_ANY_CASE, store, names);
    if (status == EXIT_DONE && !target->file && !target->function)
        status = find_file(target, functions, text, store);
    if (status == EXIT_DONE && !target->file && !target->function)
        status = find_function(target, functions, text, LODE_MATCH_PATTERN, store, names);
    if (status == EXIT_DONE && !target->file && !target->function)
        return report("%s: no function or source file with a cost matches '%s'", store, text);
    return status;
}
