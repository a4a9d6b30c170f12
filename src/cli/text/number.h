/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text: for people with units, for machines without loss. */
#ifndef CLI_NUMBER_H
#define CLI_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Enough for any number that is written here. */
#define NUMBER_SIZE 48

typedef enum metric_unit {
    UNIT_COUNT,
    UNIT_SECONDS,
    UNIT_NANOSECONDS,
    UNIT_BYTES
} metric_unit;

/* The unit that a metric's name states, such as "CPUTIME (sec)". */
metric_unit unit_of_metric(const char *name);

/* For people. */
void format_amount(char buffer[NUMBER_SIZE], double value, metric_unit unit);
/* With separators: "1,000". Returns the buffer. */
const char *format_count(char buffer[NUMBER_SIZE], uint64_t value);
/*
 * A count and what it counts, with the words that follow if they depend on it: "1 error",
 * "1,000 rows", "2 profiles are". Returns the buffer.
 */
#define COUNTED_SIZE 160
const char *format_counted(char buffer[COUNTED_SIZE], uint64_t count, const char *one, const char *many);
/* Both as arguments of a printf, with buffers of their own. */
#define GROUPED(count)            format_count((char[NUMBER_SIZE]){0}, count)
#define COUNTED(count, one, many) format_counted((char[COUNTED_SIZE]){0}, count, one, many)
void format_bytes(char buffer[NUMBER_SIZE], uint64_t value);
void format_duration(char buffer[NUMBER_SIZE], uint64_t nanoseconds);
void format_percent(char buffer[NUMBER_SIZE], double fraction);
/* Nanoseconds since the epoch, as a date in UTC. */
void format_utc(char buffer[NUMBER_SIZE], uint64_t nanoseconds);
/*
 * Whether a time stamp is UTC, as specified: recorders with only a monotonic clock store its time,
 * which is before 1990.
 */
int time_is_utc(uint64_t nanoseconds);
/* Where a trace begins: a date, or a time of such a clock. */
void format_start(char buffer[2 * NUMBER_SIZE], uint64_t nanoseconds);
/* A date for machines, as RFC 3339 has it: "2019-04-11T16:26:40.000000000Z". */
void format_rfc3339(char buffer[NUMBER_SIZE], uint64_t nanoseconds);

/* The shortest decimal number that reads back as the same double; "" for NaN and infinities. */
void format_exact(char buffer[NUMBER_SIZE], double value);

#endif
