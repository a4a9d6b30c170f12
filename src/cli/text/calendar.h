/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a clock on the wall: as people write them, and in nanoseconds since the epoch. */
#ifndef CLI_CALENDAR_H
#define CLI_CALENDAR_H

#include <stdint.h>

/* Where the zone of a time comes from. */
typedef enum calendar_zone {
    ZONE_LOCAL, /* the environment (TZ) */
    ZONE_OFFSET /* the time itself: "Z", "UTC", "+02:00" */
} calendar_zone;

typedef struct calendar_time {
    int has_date;
    int year, month, day; /* if so */
    int hour, minute, second;
    uint32_t nanosecond;
    calendar_zone zone;
    int offset; /* seconds east of Greenwich */
} calendar_time;

/* Whether a text is meant as such a time: it begins like a date, or has a colon. */
int calendar_is_meant(const char *text);

/*
 * Reads "16:26", "16:26:03.250", "2022-09-13", "2022-09-13T08:57:51Z", "2022-09-13 08:57:51.5 UTC",
 * "2022-09-13T10:57+02:00". Returns 0 if it is not one of these.
 */
int calendar_parse(const char *text, calendar_time *out);

/*
 * Nanoseconds since the epoch. A time without a date is that of the first day on which it is in
 * the interval or, if there is none, of the day on which it is nearest to it. Of two times with the
 * same name, at the end of daylight saving time, the same rule takes one. Returns 0 if there is
 * none in 1970-2500.
 */
int calendar_resolve(const calendar_time *time, uint64_t begin, uint64_t end, uint64_t *nanoseconds);

#endif
