/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXACT_INTEGERS 9007199254740992.0 /* 2^53: below it, a double holds every integer */

metric_unit unit_of_metric(const char *name)
{
    if (strstr(name, "(sec)") || strstr(name, "(s)"))
        return UNIT_SECONDS;
    /* The clocks of Linux perf count nanoseconds. */
    if (strstr(name, "(nanoseconds)") || strcmp(name, "perf::cpu-clock") == 0 ||
        strcmp(name, "perf::task-clock") == 0)
        return UNIT_NANOSECONDS;
    if (strstr(name, "(B)") || strstr(name, "(bytes)"))
        return UNIT_BYTES;
    return UNIT_COUNT;
}

static void format_scaled(char buffer[NUMBER_SIZE], double value, const double *scales,
                          const char *const *names, size_t count, int decimals)
{
    size_t i = 0;
    while (i + 1 < count && fabs(value) < scales[i])
        i++;
    snprintf(buffer, NUMBER_SIZE, "%.*f %s", decimals, value / scales[i], names[i]);
}

static void format_seconds(char buffer[NUMBER_SIZE], double seconds)
{
    static const double scales[] = {1, 1e-3, 1e-6, 1e-9};
    static const char *const names[] = {"s", "ms", "us", "ns"};
    /* Some databases have denormal numbers, which stand for "there is something". */
    if (fabs(seconds) < 0.5e-12)
        snprintf(buffer, NUMBER_SIZE, "0 s");
    else
        format_scaled(buffer, seconds, scales, names, 4, 3);
}

/* Whole nanoseconds need no smaller unit than microseconds. */
static void format_nanoseconds(char buffer[NUMBER_SIZE], double nanoseconds)
{
    static const double scales[] = {1e9, 1e6, 1e3};
    static const char *const names[] = {"s", "ms", "us"};
    if (nanoseconds == 0)
        snprintf(buffer, NUMBER_SIZE, "0 s");
    else
        format_scaled(buffer, nanoseconds, scales, names, 3, 3);
}

static void format_size(char buffer[NUMBER_SIZE], double bytes)
{
    static const double scales[] = {0x1p50, 0x1p40, 0x1p30, 0x1p20, 0x1p10};
    static const char *const names[] = {"PiB", "TiB", "GiB", "MiB", "KiB"};
    if (fabs(bytes) < 1024)
        snprintf(buffer, NUMBER_SIZE, "%.6g B", bytes);
    else
        format_scaled(buffer, bytes, scales, names, 5, 1);
}

/* Grouped digits where they say enough: whole numbers, and large ones. */
static void format_events(char buffer[NUMBER_SIZE], double value)
{
    char digits[NUMBER_SIZE];
    double size = fabs(value);
    if (size >= EXACT_INTEGERS || (size < 1e4 && size != floor(size))) {
        snprintf(buffer, NUMBER_SIZE, "%.6g", value);
        return;
    }
    format_count(digits, (uint64_t)llround(size));
    snprintf(buffer, NUMBER_SIZE, "%s%.40s", value < 0 ? "-" : "", digits);
}

void format_amount(char buffer[NUMBER_SIZE], double value, metric_unit unit)
{
    if (!isfinite(value))
        snprintf(buffer, NUMBER_SIZE, "%g", value);
    else if (unit == UNIT_SECONDS)
        format_seconds(buffer, value);
    else if (unit == UNIT_NANOSECONDS)
        format_nanoseconds(buffer, value);
    else if (unit == UNIT_BYTES)
        format_size(buffer, value);
    else
        format_events(buffer, value);
}

const char *format_count(char buffer[NUMBER_SIZE], uint64_t value)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), out = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buffer[out++] = ',';
        buffer[out++] = digits[i];
    }
    buffer[out] = '\0';
    return buffer;
}

const char *format_counted(char buffer[COUNTED_SIZE], uint64_t count, const char *one, const char *many)
{
    snprintf(buffer, COUNTED_SIZE, "%s %s", GROUPED(count), count == 1 ? one : many);
    return buffer;
}

void format_bytes(char buffer[NUMBER_SIZE], uint64_t value)
{
    format_size(buffer, (double)value);
}

void format_duration(char buffer[NUMBER_SIZE], uint64_t nanoseconds)
{
    format_nanoseconds(buffer, (double)nanoseconds);
}

void format_percent(char buffer[NUMBER_SIZE], double fraction)
{
    double percent = fraction * 100;
    if (!isfinite(percent))
        snprintf(buffer, NUMBER_SIZE, "-");
    else
        snprintf(buffer, NUMBER_SIZE, "%.1f%%", percent);
}

/* The second that a time is in; "" if the calendar does not reach that far. */
static void format_second(char buffer[NUMBER_SIZE / 2], uint64_t nanoseconds)
{
    time_t seconds = (time_t)(nanoseconds / 1000000000u);
    struct tm date;
    if (!gmtime_r(&seconds, &date) || strftime(buffer, NUMBER_SIZE / 2, "%Y-%m-%d %H:%M:%S", &date) == 0)
        buffer[0] = '\0';
}

void format_utc(char buffer[NUMBER_SIZE], uint64_t nanoseconds)
{
    char second[NUMBER_SIZE / 2];
    unsigned milliseconds = (unsigned)(nanoseconds % 1000000000u / 1000000u);
    format_second(second, nanoseconds);
    if (second[0])
        snprintf(buffer, NUMBER_SIZE, "%s.%03u UTC", second, milliseconds);
    else
        snprintf(buffer, NUMBER_SIZE, "@%llu", (unsigned long long)nanoseconds);
}

/* 1990-01-01: before that no program was measured whose clock was UTC. */
#define FIRST_DATE UINT64_C(631152000000000000)

int time_is_utc(uint64_t nanoseconds)
{
    return nanoseconds >= FIRST_DATE;
}

void format_start(char buffer[2 * NUMBER_SIZE], uint64_t nanoseconds)
{
    char time[NUMBER_SIZE];
    if (time_is_utc(nanoseconds)) {
        format_utc(buffer, nanoseconds);
        return;
    }
    format_duration(time, nanoseconds);
    snprintf(buffer, 2 * (size_t)NUMBER_SIZE, "%s (not UTC)", time);
}

void format_rfc3339(char buffer[NUMBER_SIZE], uint64_t nanoseconds)
{
    char second[NUMBER_SIZE / 2];
    format_second(second, nanoseconds);
    size_t day = strcspn(second, " ");
    snprintf(buffer, NUMBER_SIZE, "%.*sT%s.%09uZ", (int)day, second, second + day + (second[day] == ' '),
             (unsigned)(nanoseconds % 1000000000u));
}

void format_exact(char buffer[NUMBER_SIZE], double value)
{
    buffer[0] = '\0';
    if (!isfinite(value))
        return;
    /* Most values are whole numbers, and printing those needs no search. */
    if (fabs(value) < 1e15 && value == floor(value) && !(value == 0 && signbit(value))) {
        snprintf(buffer, NUMBER_SIZE, "%lld", (long long)value);
        return;
    }
    /*
     * With an exponent, a large number does not look like an integer that is exact. With 15 digits
     * it always has one, and no zeros at the end.
     */
    int is_large = fabs(value) >= EXACT_INTEGERS;
    for (int digits = 15; digits <= 17; digits++) {
        if (is_large && digits > 15)
            snprintf(buffer, NUMBER_SIZE, "%.*e", digits - 1, value);
        else
            snprintf(buffer, NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            return;
    }
}
