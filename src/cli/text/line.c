/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/line.h"

#include "alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void line_add_bytes(line *l, const char *text, size_t length)
{
    l->text = alloc_grow(l->text, &l->capacity, l->used + length, 1);
    memcpy(l->text + l->used, text, length);
    l->used += length;
}

void line_add(line *l, const char *text)
{
    line_add_bytes(l, text, strlen(text));
}

void line_add_blanks(line *l, size_t count)
{
    static const char blanks[] = "                                                                ";
    for (; count > sizeof blanks - 1; count -= sizeof blanks - 1)
        line_add_bytes(l, blanks, sizeof blanks - 1);
    line_add_bytes(l, blanks, count);
}

/* Digits to the left of `end`, as many as there is room for. */
static void put_digits(char *begin, char *end, uint64_t number, int has_zeros)
{
    do {
        *--end = (char)('0' + number % 10);
        number /= 10;
    } while (end > begin && (number || has_zeros));
    while (end > begin)
        *--end = ' ';
}

void line_add_duration(line *l, uint64_t nanoseconds)
{
    static const char *const units[] = {" us", " ms", "  s"};
    char text[LINE_DURATION_WIDTH];
    uint64_t whole = nanoseconds / 1000, rest = nanoseconds % 1000;
    int unit = 0;
    for (; whole >= 1000 && unit < 2; unit++) {
        rest = whole % 1000;
        whole /= 1000;
    }
    if (whole < 1000) {
        put_digits(text, text + 4, whole, 0);
        text[4] = '.';
        put_digits(text + 5, text + 8, rest, 1);
    } else {
        put_digits(text, text + 8, whole, 0);
    }
    memcpy(text + 8, units[unit], 3);
    line_add_bytes(l, text, sizeof text);
}

void line_add_time(line *l, uint64_t time, uint64_t origin)
{
    char text[64];
    uint64_t passed = time > origin ? time - origin : 0;
    int length = snprintf(text, sizeof text, "%5llu.%09llu ", (unsigned long long)(passed / 1000000000u),
                          (unsigned long long)(passed % 1000000000u));
    line_add_bytes(l, text, (size_t)length);
}

void line_free(line *l)
{
    free(l->text);
    *l = (line){0};
}
