/* SPDX-License-Identifier: BSD-3-Clause */
#include "option.h"

#include "suggest.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const color_choices[] = {"auto", "always", "never", NULL};

static const struct shared_spec {
    unsigned bit; /* 0: in every command */
    option_spec option;
} shared_specs[] = {
    {SHARED_METRIC,
     {"metric", 'm', OPTION_TEXT, "METRIC", NULL, offsetof(shared_options, metric),
      "the metric: its name, a part of it that no other name has, or its number in 'lode info'; the default "
      "is CPUTIME, else REALTIME, else the first one with values"}},
    {SHARED_PROFILES,
     {"profiles", 'p', OPTION_TEXT, "SELECTION", NULL, offsetof(shared_options, profiles),
      "only these profiles, such as rank=0-3,thread=0: terms joined by commas must all hold, ranges are "
      "joined by '+', and the kinds of ids are those that 'lode info' lists, or 'profile' for the number"}},
    {SHARED_THREADS,
     {"threads", 0, OPTION_COUNT, "N", NULL, offsetof(shared_options, threads),
      "threads to work with; 0, the default, is one per processor"}},
    {SHARED_JSON,
     {"json", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, json), "print one JSON object"}},
    {SHARED_CSV,
     {"csv", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, csv),
      "print the rows as comma-separated values (RFC 4180) with a header line"}},
    {SHARED_COLOR,
     {"color", 0, OPTION_CHOICE, NULL, color_choices, offsetof(shared_options, color),
      "use colours; auto, the default, does so on a terminal unless NO_COLOR is set"}},
    {0, {"help", 'h', OPTION_FLAG, NULL, NULL, offsetof(shared_options, help), "print this help"}},
};
#define SHARED_SPEC_COUNT (sizeof shared_specs / sizeof shared_specs[0])

size_t option_list(const option_set *set, const option_spec *list[OPTION_LIST_MAX])
{
    size_t count = 0;
    for (const option_spec *option = set->own; option && option->name; option++)
        if (count < OPTION_LIST_MAX)
            list[count++] = option;
    for (size_t i = 0; i < SHARED_SPEC_COUNT; i++) {
        int is_in = shared_specs[i].bit == 0 || (set->shared & shared_specs[i].bit);
        if (is_in && count < OPTION_LIST_MAX)
            list[count++] = &shared_specs[i].option;
    }
    return count;
}

void option_argument(const option_spec *option, char *buffer, size_t capacity)
{
    size_t used = 0;
    snprintf(buffer, capacity, "%s", option->argument ? option->argument : "");
    if (option->argument || !option->choices)
        return;
    for (size_t i = 0; option->choices[i] && used < capacity; i++)
        used += (size_t)snprintf(buffer + used, capacity - used, "%s%s", i ? "|" : "", option->choices[i]);
}

typedef struct parser {
    const option_spec *list[OPTION_LIST_MAX];
    size_t count;
    const char *command;
    option_result *result;
} parser;

static int fail(parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(parser *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->result->problem, sizeof p->result->problem, format, arguments);
    va_end(arguments);
    return -1;
}

static int unknown_option(parser *p, const char *name)
{
    const char *names[OPTION_LIST_MAX];
    for (size_t i = 0; i < p->count; i++)
        names[i] = p->list[i]->name;
    const char *meant = suggest(name, names, p->count);
    if (meant)
        return fail(p, "unknown option '--%.60s' for 'lode %s'; did you mean --%s?", name, p->command, meant);
    return fail(p, "unknown option '--%.60s' for 'lode %s'", name, p->command);
}

static int parse_count(parser *p, const option_spec *option, const char *text, uint64_t *into)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno)
        return fail(p, "--%s takes a whole number, not '%.60s'", option->name, text);
    *into = value;
    return 0;
}

static int parse_size(parser *p, const option_spec *option, const char *text, uint64_t *into)
{
    static const char units[] = "KMGT";
    char *end = NULL;
    double value = isdigit((unsigned char)text[0]) ? strtod(text, &end) : -1;
    const char *unit = end && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    const char *rest = unit ? end + 1 : end;
    if (!end || (strcmp(rest, "") != 0 && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0) ||
        ldexp(value, shift) >= 0x1p63)
        return fail(p, "--%s takes a size such as 500M or 2G, not '%.60s'", option->name, text);
    *into = (uint64_t)ldexp(value, shift);
    return 0;
}

static int parse_real(parser *p, const option_spec *option, const char *text, double *into)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return fail(p, "--%s takes a number, not '%.60s'", option->name, text);
    *into = value;
    return 0;
}

static int parse_percent(parser *p, const option_spec *option, const char *text, double *into)
{
    char *end = NULL;
    double value = strtod(text, &end);
    int is_number = end != text && (*end == '\0' || strcmp(end, "%") == 0);
    if (!is_number || !(value >= 0 && value <= 100))
        return fail(p, "--%s takes a percentage from 0 to 100, not '%.60s'", option->name, text);
    *into = value / 100;
    return 0;
}

/* Nanoseconds in the unit that follows the number, 0 for an unknown one. */
static double unit_of_time(const char *text)
{
    static const struct {
        const char *name;
        double nanoseconds;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"min", 60e9}, {"h", 3600e9}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(text, units[i].name) == 0)
            return units[i].nanoseconds;
    return 0;
}

static int parse_moment(parser *p, const option_spec *option, const char *text, time_point *into)
{
    char *end = NULL;
    into->is_given = 1;
    if (text[0] == '@') {
        into->is_absolute = 1;
        return parse_count(p, option, text + 1, &into->nanoseconds);
    }
    double value = strtod(text, &end);
    double unit = end != text ? unit_of_time(end) : 0;
    double nanoseconds = value * unit;
    if (unit <= 0 || !(nanoseconds >= 0 && nanoseconds < 9e18))
        return fail(p, "--%s takes a time such as 1.5s, 250ms or 10us, or @NANOSECONDS, not '%.60s'",
                    option->name, text);
    into->nanoseconds = (uint64_t)llround(nanoseconds);
    return 0;
}

static int find_choice(const option_spec *option, const char *text, size_t length, size_t *index)
{
    for (size_t i = 0; option->choices[i]; i++) {
        if (strlen(option->choices[i]) == length && strncmp(option->choices[i], text, length) == 0) {
            *index = i;
            return 1;
        }
    }
    return 0;
}

static int unknown_choice(parser *p, const option_spec *option, const char *text)
{
    char all[160] = "";
    size_t count = 0, used = 0;
    for (; option->choices[count] && used < sizeof all; count++) {
        const char *joint = count == 0 ? "" : option->choices[count + 1] ? ", " : " or ";
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", joint, option->choices[count]);
    }
    const char *meant = suggest(text, option->choices, count);
    return fail(p, "--%s is %s, not '%.40s'%s%s%s", option->name, all, text, meant ? "; did you mean " : "",
                meant ? meant : "", meant ? "?" : "");
}

static int parse_choices(parser *p, const option_spec *option, const char *text, unsigned *into)
{
    while (*text) {
        size_t length = strcspn(text, ","), index;
        if (!find_choice(option, text, length, &index))
            return unknown_choice(p, option, text);
        *into |= 1u << index;
        text += length + (text[length] == ',');
    }
    return 0;
}

static int store(parser *p, const option_spec *option, const char *text)
{
    void *into = (char *)p->result->values + option->offset;
    size_t index = 0;
    switch (option->kind) {
    case OPTION_FLAG:
        *(int *)into = 1;
        return 0;
    case OPTION_TEXT:
        *(const char **)into = text;
        return 0;
    case OPTION_COUNT:
        return parse_count(p, option, text, into);
    case OPTION_SIZE:
        return parse_size(p, option, text, into);
    case OPTION_REAL:
        return parse_real(p, option, text, into);
    case OPTION_PERCENT:
        return parse_percent(p, option, text, into);
    case OPTION_MOMENT:
        return parse_moment(p, option, text, into);
    case OPTION_CHOICE:
        if (!find_choice(option, text, strlen(text), &index))
            return unknown_choice(p, option, text);
        *(int *)into = (int)index;
        return 0;
    case OPTION_CHOICES:
        return parse_choices(p, option, text, into);
    }
    return 0;
}

static int needs_argument(parser *p, const option_spec *option)
{
    char argument[128];
    option_argument(option, argument, sizeof argument);
    return fail(p, "--%s needs an argument: %s", option->name, argument);
}

/* `next` is the argument after this one, or NULL. Returns how many arguments were used, or -1. */
static int parse_long(parser *p, const char *text, const char *next)
{
    char name[64];
    size_t length = strcspn(text, "=");
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    const option_spec *option = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    for (size_t i = 0; i < p->count && !option; i++)
        if (strcmp(p->list[i]->name, name) == 0)
            option = p->list[i];
    if (!option)
        return unknown_option(p, name);
    if (option->kind == OPTION_FLAG && value)
        return fail(p, "--%s takes no argument", option->name);
    if (option->kind == OPTION_FLAG || value)
        return store(p, option, value) < 0 ? -1 : 1;
    if (!next)
        return needs_argument(p, option);
    return store(p, option, next) < 0 ? -1 : 2;
}

/* A group of letters: flags, of which the last may be an option with its argument. */
static int parse_letters(parser *p, const char *text, const char *next)
{
    for (; *text; text++) {
        const option_spec *option = NULL;
        for (size_t i = 0; i < p->count && !option; i++)
            if (p->list[i]->letter == *text)
                option = p->list[i];
        if (!option)
            return fail(p, "unknown option '-%c' for 'lode %s'", *text, p->command);
        if (option->kind != OPTION_FLAG) {
            const char *value = text[1] ? text + 1 : next;
            if (!value)
                return needs_argument(p, option);
            return store(p, option, value) < 0 ? -1 : text[1] ? 1 : 2;
        }
        if (store(p, option, NULL) < 0)
            return -1;
    }
    return 1;
}

int option_parse(const option_set *set, const char *command, int count, char **arguments,
                 option_result *result)
{
    parser p = {.command = command, .result = result};
    int is_over = 0;
    p.count = option_list(set, p.list);
    result->operand_count = 0;
    for (int i = 0; i < count;) {
        const char *text = arguments[i], *next = i + 1 < count ? arguments[i + 1] : NULL;
        int used = 1;
        if (is_over || text[0] != '-' || text[1] == '\0')
            result->operands[result->operand_count++] = text;
        else if (strcmp(text, "--") == 0)
            is_over = 1;
        else if (text[1] == '-')
            used = parse_long(&p, text + 2, next);
        else
            used = parse_letters(&p, text + 1, next);
        if (used < 0)
            return -1;
        i += used;
    }
    return 0;
}
