/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record/words.h"

#include "alloc.h"
#include "options/shell_words.h"
#include "text/line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void words_add(words *list, const char *text)
{
    list->items = alloc_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = alloc_text(text);
    list->items[list->count] = NULL;
}

void words_print(words *list, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = alloc_array((size_t)(length > 0 ? length : 0) + 1, 1);
    vsnprintf(text, (size_t)(length > 0 ? length : 0) + 1, format, again);
    va_end(again);
    va_end(arguments);
    words_add(list, text);
    free(text);
}

void words_add_all(words *list, const char *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words_add(list, items[i]);
}

void words_free(words *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (words){0};
}

char *words_spell(const words *list)
{
    line typed = {0};
    for (size_t i = 0; i < list->count; i++) {
        char *word = shell_spell(list->items[i]);
        line_add(&typed, i > 0 ? " " : "");
        line_add(&typed, word);
        free(word);
    }
    line_add_bytes(&typed, "", 1);
    return typed.text;
}
