/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/gate_limits.h"

#include "alloc.h"
#include "options/statistic.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LEVEL     0.05
#define DEFAULT_MIN_SHARE 0.01
#define DEFAULT_TOTAL     0.05
#define DEFAULT_FUNCTION  0.10
#define PERCENT_MAX       1e6

void gate_limits_init(gate_limits *limits)
{
    *limits = (gate_limits){.level = DEFAULT_LEVEL, .min_share = DEFAULT_MIN_SHARE};
}

void gate_limits_free(gate_limits *limits)
{
    for (size_t i = 0; i < limits->count; i++)
        free(limits->limits[i].name);
    for (size_t i = 0; i < limits->metric_count; i++)
        free(limits->metrics[i]);
    for (size_t i = 0; i < limits->exclude_count; i++)
        free(limits->excludes[i]);
    limits->count = limits->metric_count = limits->exclude_count = 0;
}

static int fail(gate_limits *limits, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(gate_limits *limits, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(limits->problem, sizeof limits->problem, format, arguments);
    va_end(arguments);
    return -1;
}

/* ---- values ---- */

static char *copy_bytes(const char *text, size_t length)
{
    char *copy = alloc_array(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

static int read_percent(const char *text, double *fraction)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || (*end != '\0' && strcmp(end, "%") != 0) || !(value >= 0 && value <= PERCENT_MAX))
        return 0;
    *fraction = value / 100;
    return 1;
}

static int add_limit(gate_limits *limits, gate_kind kind, char *name, double amount)
{
    if (limits->count == GATE_LIMIT_MAX) {
        free(name);
        return fail(limits, "more than %d limits", GATE_LIMIT_MAX);
    }
    limits->limits[limits->count++] = (gate_limit){kind, name, amount};
    return 0;
}

/* There is one of its kind; the last one counts. */
static int set_percent(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    double amount;
    if (!read_percent(value, &amount))
        return fail(limits, "%s takes a percentage such as 5%%, not '%.60s'", key, value);
    for (size_t i = 0; i < limits->count; i++)
        if (limits->limits[i].kind == kind) {
            limits->limits[i].amount = amount;
            return 0;
        }
    return add_limit(limits, kind, NULL, amount);
}

/* "NAME=PERCENT", where the name may have equals signs. */
static int set_named(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    const char *sign = strrchr(value, '=');
    double amount;
    if (!sign || sign == value || !read_percent(sign + 1, &amount))
        return fail(limits, "%s takes a name and a percentage such as solve=5%%, not '%.60s'", key, value);
    while (sign > value && sign[-1] == ' ')
        sign--;
    if (sign == value)
        return fail(limits, "%s takes a name before the percentage", key);
    return add_limit(limits, kind, copy_bytes(value, (size_t)(sign - value)), amount);
}

static int set_absent(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    if (!value[0])
        return fail(limits, "%s takes the name of a function", key);
    return add_limit(limits, kind, copy_bytes(value, strlen(value)), 0.0);
}

static int set_metric(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    (void)kind;
    if (!value[0] || limits->metric_count == GATE_METRIC_MAX)
        return fail(limits, "%s takes 1 to %d metrics", key, GATE_METRIC_MAX);
    limits->metrics[limits->metric_count++] = copy_bytes(value, strlen(value));
    return 0;
}

static int set_exclude(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    (void)kind;
    if (!value[0] || limits->exclude_count == GATE_EXCLUDE_MAX)
        return fail(limits, "%s takes 1 to %d patterns", key, GATE_EXCLUDE_MAX);
    limits->excludes[limits->exclude_count++] = copy_bytes(value, strlen(value));
    return 0;
}

static int set_share(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    (void)kind;
    if (!read_percent(value, &limits->min_share) || limits->min_share > 1)
        return fail(limits, "%s takes a percentage from 0 to 100, not '%.60s'", key, value);
    return 0;
}

static int set_confidence(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    double confidence;
    (void)kind;
    if (!read_percent(value, &confidence) || !(confidence > 0 && confidence < 1))
        return fail(limits, "%s takes a percentage between 0 and 100, not '%.60s'", key, value);
    limits->level = 1 - confidence;
    return 0;
}

static int set_floor(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    static const struct {
        const char *name;
        metric_unit unit;
        double factor;
    } units[] = {
        {"", UNIT_COUNT, 1},        {"ns", UNIT_SECONDS, 1e-9},   {"us", UNIT_SECONDS, 1e-6},
        {"ms", UNIT_SECONDS, 1e-3}, {"s", UNIT_SECONDS, 1},       {"B", UNIT_BYTES, 1},
        {"KiB", UNIT_BYTES, 1024},  {"MiB", UNIT_BYTES, 1 << 20}, {"GiB", UNIT_BYTES, 1 << 30},
    };
    char *end = NULL;
    double number = strtod(value, &end);
    (void)kind;
    for (size_t i = 0; end != value && isfinite(number) && number >= 0 && i < sizeof units / sizeof *units;
         i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        limits->floors[units[i].unit] = number * units[i].factor;
        if (units[i].unit == UNIT_SECONDS)
            limits->floors[UNIT_NANOSECONDS] = number * units[i].factor * 1e9;
        return 0;
    }
    return fail(limits, "%s takes an amount such as 2ms, 64KiB or 1000, not '%.60s'", key, value);
}

static int set_runs(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    char *end = NULL;
    (void)kind;
    unsigned long long number = strtoull(value, &end, 10);
    if (end == value || *end || value[0] == '-' || number > 1000)
        return fail(limits, "%s takes a number of runs up to 1000, not '%.60s'", key, value);
    limits->require_runs = number;
    return 0;
}

static int set_statistic(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    (void)kind;
    for (int i = 0; statistic_choices[i]; i++)
        if (strcmp(value, statistic_choices[i]) == 0) {
            limits->statistic = i;
            return 0;
        }
    return fail(limits, "%s is sum, median, min or max, not '%.60s'", key, value);
}

static int set_unsure(gate_limits *limits, const char *key, const char *value, gate_kind kind)
{
    (void)kind;
    if (value[0])
        return fail(limits, "%s takes no argument, not '%.60s'", key, value);
    limits->fails_unsure = 1;
    return 0;
}

/* ---- keys ---- */

static const struct gate_key {
    const char *name;
    int (*set)(gate_limits *limits, const char *key, const char *value, gate_kind kind);
    gate_kind kind;
} keys[] = {
    {"max-slower", set_percent, GATE_TOTAL},
    {"max", set_named, GATE_METRIC},
    {"max-function", set_percent, GATE_FUNCTIONS},
    {"max-exclusive", set_named, GATE_FUNCTION},
    {"max-inclusive", set_named, GATE_SUBTREE},
    {"absent", set_absent, GATE_ABSENT},
    {"max-imbalance", set_percent, GATE_IMBALANCE},
    {"min-share", set_share, GATE_TOTAL},
    {"floor", set_floor, GATE_TOTAL},
    {"metric", set_metric, GATE_TOTAL},
    {"exclude", set_exclude, GATE_TOTAL},
    {"confidence", set_confidence, GATE_TOTAL},
    {"require-runs", set_runs, GATE_TOTAL},
    {"statistic", set_statistic, GATE_TOTAL},
    {"fail-unsure", set_unsure, GATE_TOTAL},
};

int gate_limits_set(gate_limits *limits, const char *key, const char *value)
{
    if (strlen(value) > GATE_LINE_MAX)
        return fail(limits, "%s: the argument has more than %d bytes", key, GATE_LINE_MAX);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i].name) == 0)
            return keys[i].set(limits, keys[i].name, value, keys[i].kind);
    return fail(limits, "unknown limit '%.40s' (see 'lode help gate')", key);
}

/* ---- files ---- */

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts a line into key and value; a '#' that follows a blank begins a comment. */
static int read_line(gate_limits *limits, char *line)
{
    char *end = line;
    while (*end && !(*end == '#' && (end == line || is_blank(end[-1]))))
        end++;
    while (end > line && is_blank(end[-1]))
        end--;
    *end = '\0';
    while (is_blank(*line))
        line++;
    if (!*line)
        return 0;
    char *value = line;
    while (*value && !is_blank(*value))
        value++;
    if (*value)
        *value++ = '\0';
    while (is_blank(*value))
        value++;
    return gate_limits_set(limits, line, value);
}

int gate_limits_read(gate_limits *limits, const char *text, size_t size)
{
    char line[GATE_LINE_MAX + 1], problem[GATE_PROBLEM_MAX];
    unsigned number = 0;
    if (size > GATE_FILE_MAX)
        return fail(limits, "the file has more than %d bytes", GATE_FILE_MAX);
    for (size_t start = 0; start < size;) {
        const char *end = memchr(text + start, '\n', size - start);
        size_t length = end ? (size_t)(end - (text + start)) : size - start;
        number++;
        if (length > GATE_LINE_MAX)
            return fail(limits, "line %u: more than %d bytes", number, GATE_LINE_MAX);
        if (memchr(text + start, '\0', length))
            return fail(limits, "line %u: a NUL byte", number);
        memcpy(line, text + start, length);
        line[length] = '\0';
        if (read_line(limits, line) != 0) {
            memcpy(problem, limits->problem, sizeof problem);
            return fail(limits, "line %u: %.230s", number, problem);
        }
        start += length + 1;
    }
    return 0;
}

void gate_limits_complete(gate_limits *limits)
{
    if (limits->count > 0)
        return;
    limits->limits[limits->count++] = (gate_limit){GATE_TOTAL, NULL, DEFAULT_TOTAL};
    limits->limits[limits->count++] = (gate_limit){GATE_FUNCTIONS, NULL, DEFAULT_FUNCTION};
}

void gate_limit_text(const gate_limit *limit, char *buffer, size_t capacity)
{
    static const char *const names[] = {"max-slower",    "max",    "max-function", "max-exclusive",
                                        "max-inclusive", "absent", "max-imbalance"};
    const char *key = names[limit->kind];
    if (limit->kind == GATE_ABSENT)
        (void)snprintf(buffer, capacity, "%s %s", key, limit->name);
    else if (limit->name)
        (void)snprintf(buffer, capacity, "%s %s=%g%%", key, limit->name, 100 * limit->amount);
    else
        (void)snprintf(buffer, capacity, "%s %g%%", key, 100 * limit->amount);
}
