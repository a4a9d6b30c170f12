/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/option.h"

#include "launcher.h"
#include "text/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const color_choices[] = {
    [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};

static const char *const names_choices[] = {
    [NAMES_SIMPLE] = "simple", [NAMES_FULL] = "full", [NAMES_RAW] = "raw", NULL};

static const struct shared_spec {
    unsigned bit; /* 0: in every command */
    unsigned stores;
    option_spec option;
} shared_specs[] = {
    {SHARED_METRIC,
     FOR_DATABASES,
     {"metric", 'm', OPTION_TEXTS, "METRIC", NULL, offsetof(shared_options, metrics)}},
    {SHARED_METRICS,
     FOR_DATABASES,
     {"metric", 'm', OPTION_TEXTS, "METRIC[,METRIC]...", NULL, offsetof(shared_options, metrics)}},
    {SHARED_ANY_METRIC,
     FOR_ALL,
     {"metric", 'm', OPTION_TEXTS, "METRIC", NULL, offsetof(shared_options, metrics)}},
    {SHARED_ANY_METRICS,
     FOR_ALL,
     {"metric", 'm', OPTION_TEXTS, "METRIC[,METRIC]...", NULL, offsetof(shared_options, metrics)}},
    {SHARED_PROFILES,
     FOR_DATABASES,
     {"profiles", 'p', OPTION_TEXT, "SELECTION", NULL, offsetof(shared_options, profiles)}},
    {SHARED_TIMES, FOR_ALL, {"from", 0, OPTION_MOMENT, "TIME", NULL, offsetof(shared_options, from)}},
    {SHARED_TIMES, FOR_ALL, {"to", 0, OPTION_MOMENT, "TIME", NULL, offsetof(shared_options, to)}},
    {SHARED_WINDOW, FOR_RECORDINGS, {"from", 0, OPTION_MOMENT, "TIME", NULL, offsetof(shared_options, from)}},
    {SHARED_WINDOW, FOR_RECORDINGS, {"to", 0, OPTION_MOMENT, "TIME", NULL, offsetof(shared_options, to)}},
    {SHARED_WINDOW | SHARED_TRACKS,
     FOR_RECORDINGS,
     {"task", 't', OPTION_TEXT, "TASK[,TASK]...", NULL, offsetof(shared_options, tasks)}},
    {SHARED_WINDOW | SHARED_TRACKS,
     FOR_RECORDINGS,
     {"id", 0, OPTION_TEXT, "ID[,ID]...", NULL, offsetof(shared_options, ids)}},
    {SHARED_DEPTH, FOR_RECORDINGS, {"depth", 'd', OPTION_COUNT, "N", NULL, offsetof(shared_options, depth)}},
    {SHARED_MIN_TIME,
     FOR_RECORDINGS,
     {"min-time", 0, OPTION_SPAN, "TIME", NULL, offsetof(shared_options, min_time)}},
    {SHARED_FILTER,
     FOR_ALL,
     {"include", 0, OPTION_TEXTS, "PATTERN", NULL, offsetof(shared_options, include)}},
    {SHARED_FILTER,
     FOR_ALL,
     {"exclude", 0, OPTION_TEXTS, "PATTERN", NULL, offsetof(shared_options, exclude)}},
    {SHARED_NO_SCHED,
     FOR_RECORDINGS,
     {"no-sched", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, no_sched)}},
    {SHARED_SCHED, FOR_RECORDINGS, {"sched", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, sched)}},
    {SHARED_ESTIMATE,
     FOR_RECORDINGS,
     {"estimate", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, estimate)}},
    {SHARED_KINDS, FOR_ALL, {"kinds", 0, OPTION_TEXT, "FILE", NULL, offsetof(shared_options, kinds)}},
    {SHARED_NAMES,
     FOR_ALL,
     {"names", 0, OPTION_CHOICE, NULL, names_choices, offsetof(shared_options, names)}},
    {SHARED_VERBOSE, FOR_ALL, {"verbose", 'v', OPTION_FLAG, NULL, NULL, offsetof(shared_options, verbose)}},
    {SHARED_STRICT,
     FOR_RECORDINGS | FOR_MEASUREMENTS,
     {"strict", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, strict)}},
    {SHARED_MEMORY,
     FOR_RECORDINGS,
     {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(shared_options, memory)}},
    {SHARED_THREADS, FOR_ALL, {"threads", 0, OPTION_COUNT, "N", NULL, offsetof(shared_options, threads)}},
    {SHARED_RANKS, FOR_ALL, {"mpi", 0, OPTION_CHOICE, NULL, job_choices, offsetof(shared_options, mpi)}},
    {SHARED_RANKS,
     FOR_ALL,
     {"local-ranks", 0, OPTION_COUNT, "N", NULL, offsetof(shared_options, local_ranks)}},
    {SHARED_JSON, FOR_ALL, {"json", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, json)}},
    {SHARED_CSV, FOR_ALL, {"csv", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, csv)}},
    {SHARED_CSV, FOR_ALL, {"table", 0, OPTION_TEXT, "NAME", NULL, offsetof(shared_options, table)}},
    {SHARED_CSV, FOR_ALL, {"csv-raw", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, csv_raw)}},
    {SHARED_MARKDOWN, FOR_ALL, {"markdown", 0, OPTION_FLAG, NULL, NULL, offsetof(shared_options, markdown)}},
    {SHARED_COLOR,
     FOR_ALL,
     {"color", 0, OPTION_CHOICE, NULL, color_choices, offsetof(shared_options, color)}},
    {0, FOR_ALL, {"help", 'h', OPTION_FLAG, NULL, NULL, offsetof(shared_options, help)}},
};
#define SHARED_SPEC_COUNT (sizeof shared_specs / sizeof shared_specs[0])

static size_t add_option(option_entry *list, size_t count, const option_spec *option, unsigned stores)
{
    if (count >= OPTION_LIST_MAX)
        abort();
    list[count] = (option_entry){option, stores};
    return count + 1;
}

static size_t add_table(option_entry *list, size_t count, const option_spec *table, unsigned stores)
{
    for (const option_spec *option = table; option && option->name; option++)
        count = add_option(list, count, option, stores);
    return count;
}

size_t option_list(const option_set *set, option_entry list[OPTION_LIST_MAX])
{
    size_t count = add_table(list, 0, set->own, FOR_ALL);
    count = add_table(list, count, set->of_databases, FOR_DATABASES);
    count = add_table(list, count, set->of_recordings, FOR_RECORDINGS);
    for (size_t i = 0; i < SHARED_SPEC_COUNT; i++) {
        const struct shared_spec *shared = &shared_specs[i];
        int is_in = shared->bit == 0 || (set->shared & shared->bit);
        if (is_in)
            count = add_option(list, count, &shared->option, shared->stores);
    }
    return count;
}

const option_spec *option_misplaced(const option_set *set, uint64_t given, unsigned store)
{
    option_entry list[OPTION_LIST_MAX];
    size_t count = option_list(set, list);
    for (size_t i = 0; i < count; i++)
        if ((given & UINT64_C(1) << i) && list[i].stores != FOR_ALL && !(list[i].stores & store))
            return list[i].option;
    return NULL;
}

void option_argument(const option_spec *option, char *buffer, size_t capacity)
{
    int has_words = option->choices && (!option->argument || option->kind == OPTION_SPAN_OR_WORD);
    size_t used = (size_t)snprintf(buffer, capacity, "%s", option->argument ? option->argument : "");
    for (size_t i = 0; has_words && option->choices[i] && used < capacity; i++)
        used += (size_t)snprintf(buffer + used, capacity - used, "%s%s", used ? "|" : "", option->choices[i]);
}

typedef struct parser {
    option_entry list[OPTION_LIST_MAX];
    size_t count;
    const char *command;
    option_result *result;
    const option_entry *open; /* takes what follows, up to the next option; NULL: none does */
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
        names[i] = p->list[i].option->name;
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
        return fail(p, "--%s takes an integer, not '%.60s'", option->name, text);
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
    } units[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                 {"ns", 1}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(text, units[i].name) == 0)
            return units[i].nanoseconds;
    return 0;
}

/* A number and its unit, in whole nanoseconds; false for anything else. */
static int parse_nanoseconds(const char *text, uint64_t *into)
{
    char *end = NULL;
    double value = strtod(text, &end);
    double unit = end != text ? unit_of_time(end) : 0;
    double nanoseconds = value * unit;
    if (unit <= 0 || !(nanoseconds >= 0 && nanoseconds < 9e18))
        return 0;
    *into = (uint64_t)llround(nanoseconds);
    return 1;
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

/* The option that takes this word, which another one does not; NULL if there is none. */
static const char *option_of_word(const parser *p, const char *text)
{
    size_t index;
    for (size_t i = 0; i < p->count; i++)
        if (p->list[i].option->choices && find_choice(p->list[i].option, text, strlen(text), &index))
            return p->list[i].option->name;
    return NULL;
}

static int parse_moment(parser *p, const option_spec *option, const char *text, time_point *into)
{
    into->is_given = 1;
    into->is_absolute = text[0] == '@';
    if (into->is_absolute)
        return parse_count(p, option, text + 1, &into->nanoseconds);
    into->is_calendar = calendar_is_meant(text);
    if (into->is_calendar ? calendar_parse(text, &into->calendar)
                          : parse_nanoseconds(text, &into->nanoseconds))
        return 0;
    const char *meant = option_of_word(p, text);
    if (meant)
        return fail(p, "--%s takes a time; did you mean --%s %.60s?", option->name, meant, text);
    return fail(
        p,
        "--%s takes a time such as 1.5s, 250ms, 16:26:03 or 2022-09-13T08:57Z, or @NANOSECONDS, not '%.60s'",
        option->name, text);
}

static int parse_span(parser *p, const option_spec *option, const char *text, uint64_t *into)
{
    if (!parse_nanoseconds(text, into))
        return fail(p, "--%s takes a time such as 1.5s, 250ms or 10us, not '%.60s'", option->name, text);
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
    const char *other = option->kind == OPTION_SPAN_OR_WORD ? ", or a time such as 10us" : "";
    return fail(p, "--%s is %s%s, not '%.40s'%s%s%s", option->name, all, other, text,
                meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
}

static int parse_span_or_word(parser *p, const option_spec *option, const char *text, span_or_word *into)
{
    size_t index = 0;
    int is_word = find_choice(option, text, strlen(text), &index);
    *into = (span_or_word){.word = is_word ? (int)index : -1};
    if (!is_word && !parse_nanoseconds(text, &into->nanoseconds))
        return unknown_choice(p, option, text);
    return 0;
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

static int add_text(parser *p, const option_spec *option, const char *text, text_list *into)
{
    if (into->count == TEXT_LIST_MAX)
        return fail(p, "--%s can be repeated at most %d times", option->name, TEXT_LIST_MAX);
    into->items[into->count++] = text;
    return 0;
}

static int store(parser *p, const option_entry *entry, const char *text)
{
    const option_spec *option = entry->option;
    void *into = (char *)p->result->values + option->offset;
    size_t index = 0;
    p->result->given |= UINT64_C(1) << (entry - p->list);
    p->open = option->kind == OPTION_STORES ? entry : NULL;
    switch (option->kind) {
    case OPTION_FLAG:
        *(int *)into = 1;
        return 0;
    case OPTION_TEXT:
        *(const char **)into = text;
        return 0;
    case OPTION_TEXTS:
    case OPTION_STORES:
        return add_text(p, option, text, into);
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
    case OPTION_SPAN:
        return parse_span(p, option, text, into);
    case OPTION_SPAN_OR_WORD:
        return parse_span_or_word(p, option, text, into);
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

static const option_entry *find_option(const parser *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->list[i].option->name, name) == 0)
            return &p->list[i];
    return NULL;
}

/* `next` is the argument after this one, or NULL. Returns how many arguments were used, or -1. */
static int parse_long(parser *p, const char *text, const char *next)
{
    char name[64];
    size_t length = strcspn(text, "=");
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    const option_entry *entry = find_option(p, name);
    if (!entry)
        return unknown_option(p, name);
    int is_flag = entry->option->kind == OPTION_FLAG;
    if (is_flag && value)
        return fail(p, "--%s takes no argument", name);
    if (is_flag || value)
        return store(p, entry, value) < 0 ? -1 : 1;
    if (!next)
        return needs_argument(p, entry->option);
    return store(p, entry, next) < 0 ? -1 : 2;
}

/* A group of letters: flags, of which the last may be an option with its argument. */
static int parse_letters(parser *p, const char *text, const char *next)
{
    for (; *text; text++) {
        const option_entry *entry = NULL;
        for (size_t i = 0; i < p->count && !entry; i++)
            if (p->list[i].option->letter == *text)
                entry = &p->list[i];
        if (!entry)
            return fail(p, "unknown option '-%c' for 'lode %s'", *text, p->command);
        if (entry->option->kind != OPTION_FLAG) {
            const char *value = text[1] ? text + 1 : next;
            if (!value)
                return needs_argument(p, entry->option);
            return store(p, entry, value) < 0 ? -1 : text[1] ? 1 : 2;
        }
        if (store(p, entry, NULL) < 0)
            return -1;
    }
    return 1;
}

/*
 * A comment of SQL is no option, though it begins like one: blanks follow "--", or the name ends
 * with a blank and the text goes on in another line.
 */
static int is_comment(const char *text)
{
    size_t length = strcspn(text, " \t\r\n=");
    if (strncmp(text, "--", 2) != 0 || text[length] == '\0' || text[length] == '=')
        return 0;
    return length == 2 || strchr(text, '\n') != NULL;
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
        int is_option = !is_over && text[0] == '-' && text[1] && !is_comment(text);
        if (!is_option && p.open && !is_over)
            used = store(&p, p.open, text) < 0 ? -1 : 1;
        else if (!is_option) {
            result->operands[result->operand_count++] = text;
            is_over |= set->ends_at_operand;
        } else if (strcmp(text, "--") == 0)
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
