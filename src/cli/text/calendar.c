/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/calendar.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

int calendar_is_meant(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return strchr(text, ':') != NULL || (digits == 4 && text[4] == '-');
}

/* ---- reading ---- */

/* Exactly so many digits. */
static int read_number(const char **text, size_t digits, int *out)
{
    *out = 0;
    for (size_t i = 0; i < digits; i++, (*text)++) {
        if (!isdigit((unsigned char)**text))
            return 0;
        *out = *out * 10 + (**text - '0');
    }
    return !isdigit((unsigned char)**text);
}

static int read_char(const char **text, char wanted)
{
    int is_there = **text == wanted;
    *text += is_there;
    return is_there;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap);
}

static int read_date(const char **text, calendar_time *t)
{
    if (!read_number(text, 4, &t->year) || !read_char(text, '-') || !read_number(text, 2, &t->month) ||
        !read_char(text, '-') || !read_number(text, 2, &t->day))
        return 0;
    t->has_date = 1;
    return t->year >= 1970 && t->year <= 2500 && t->month >= 1 && t->month <= 12 && t->day >= 1 &&
           t->day <= days_in(t->year, t->month);
}

/* Digits after the point, nine of which count. */
static int read_fraction(const char **text, uint32_t *nanosecond)
{
    uint32_t unit = 100000000;
    if (!isdigit((unsigned char)**text))
        return 0;
    for (; isdigit((unsigned char)**text); (*text)++, unit /= 10)
        *nanosecond += (uint32_t)(**text - '0') * unit;
    return 1;
}

static int read_clock(const char **text, calendar_time *t)
{
    size_t digits = isdigit((unsigned char)**text) && (*text)[1] == ':' ? 1 : 2;
    if (!read_number(text, digits, &t->hour) || !read_char(text, ':') || !read_number(text, 2, &t->minute))
        return 0;
    if (read_char(text, ':')) {
        if (!read_number(text, 2, &t->second))
            return 0;
        if (read_char(text, '.') && !read_fraction(text, &t->nanosecond))
            return 0;
    }
    return t->hour < 24 && t->minute < 60 && t->second < 60;
}

/* "Z", "UTC", "+02:00", "-0730", "+02"; nothing is the local zone. */
static int read_zone(const char **text, calendar_time *t)
{
    int hours = 0, minutes = 0, is_west;
    const char *at = *text + (**text == ' ');
    if (!**text)
        return 1;
    t->zone = ZONE_OFFSET;
    if (strcmp(at, "Z") == 0 || strcmp(at, "UTC") == 0) {
        *text = at + strlen(at);
        return 1;
    }
    is_west = *at == '-';
    if (*at != '+' && *at != '-')
        return 0;
    at++;
    if (isdigit((unsigned char)at[0]) && isdigit((unsigned char)at[1])) {
        hours = 10 * (at[0] - '0') + (at[1] - '0');
        at += 2;
    } else {
        return 0;
    }
    if (*at && ((*at == ':' && !*++at) || !read_number(&at, 2, &minutes)))
        return 0;
    t->offset = (is_west ? -1 : 1) * (hours * 3600 + minutes * 60);
    *text = at;
    return hours < 24 && minutes < 60;
}

int calendar_parse(const char *text, calendar_time *out)
{
    int is_date = strspn(text, "0123456789") == 4, has_clock = 1;
    *out = (calendar_time){0};
    if (is_date && !read_date(&text, out))
        return 0;
    if (is_date) {
        has_clock = (*text == 'T' || *text == ' ') && isdigit((unsigned char)text[1]);
        text += has_clock;
    }
    if (has_clock && !read_clock(&text, out))
        return 0;
    return read_zone(&text, out) && *text == '\0';
}

/* ---- in nanoseconds ---- */

typedef struct search {
    uint64_t begin, end; /* the interval */
    uint64_t found, distance;
    int is_found;
} search;

static uint64_t distance_of(const search *s, uint64_t time)
{
    return time < s->begin ? s->begin - time : time > s->end ? time - s->end : 0;
}

static void consider(search *s, int64_t seconds, uint32_t nanosecond)
{
    if (seconds < 0 || seconds > INT64_C(16725225600)) /* 2500 */
        return;
    uint64_t time = (uint64_t)seconds * SECOND + nanosecond, distance = distance_of(s, time);
    if (s->is_found && (distance > s->distance || (distance == s->distance && time >= s->found)))
        return;
    s->found = time;
    s->distance = distance;
    s->is_found = 1;
}

static int is_same_clock(const struct tm *a, const calendar_time *t)
{
    return a->tm_hour == t->hour && a->tm_min == t->minute && a->tm_sec == t->second;
}

/* In a zone with daylight saving time, a time of day can come twice, or not at all. */
static void consider_local(search *s, const calendar_time *t, struct tm date)
{
    int is_there = 0;
    for (int is_summer = 1; is_summer >= 0; is_summer--) {
        struct tm moment = date, back;
        moment.tm_isdst = is_summer;
        time_t seconds = mktime(&moment);
        if (seconds == (time_t)-1 || !localtime_r(&seconds, &back) || !is_same_clock(&back, t))
            continue;
        consider(s, (int64_t)seconds, t->nanosecond);
        is_there = 1;
    }
    /* With a date there is no other day to take. */
    if (!is_there && t->has_date) {
        date.tm_isdst = -1;
        consider(s, (int64_t)mktime(&date), t->nanosecond);
    }
}

static void consider_day(search *s, const calendar_time *t, int year, int month, int day)
{
    struct tm date = {.tm_year = year - 1900,
                      .tm_mon = month - 1,
                      .tm_mday = day,
                      .tm_hour = t->hour,
                      .tm_min = t->minute,
                      .tm_sec = t->second};
    if (t->zone == ZONE_OFFSET)
        consider(s, (int64_t)timegm(&date) - t->offset, t->nanosecond);
    else
        consider_local(s, t, date);
}

int calendar_resolve(const calendar_time *time, uint64_t begin, uint64_t end, uint64_t *nanoseconds)
{
    search s = {.begin = begin, .end = end};
    time_t first = (time_t)(begin / SECOND);
    struct tm day;
    tzset();
    if (time->has_date) {
        consider_day(&s, time, time->year, time->month, time->day);
    } else {
        /* An interval of a day or more has every time of day within its first two days. */
        if (!gmtime_r(&first, &day))
            return 0;
        for (int i = -2; i <= 2; i++)
            consider_day(&s, time, day.tm_year + 1900, day.tm_mon + 1, day.tm_mday + i);
    }
    *nanoseconds = s.found;
    return s.is_found;
}
