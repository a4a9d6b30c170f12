/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests with hostile recordings: a walk with limits on time and memory. */
#ifndef LODE_TESTS_HOSTILE_H
#define LODE_TESTS_HOSTILE_H

#include "minirec.h"
#include "unit.h"
#include "walk_recording.h"
#include <sys/resource.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

struct outcome {
    struct recording_walk walk;
    double milliseconds;
};

/* CPU time: other programs on the machine do not count. */
static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Fails if more CPU time has passed since start than an ordinary build may take. A sanitized one
   takes ten times as long at most. */
static inline double assert_little_time(double start, double most_milliseconds)
{
#ifdef SANITIZED
    most_milliseconds *= 10;
#endif
    double milliseconds = now() - start;
    if (milliseconds > most_milliseconds)
        fail_msg("took %.0f ms", milliseconds);
    return milliseconds;
}

/* Walks a recording; fails the test if an invariant is broken or it takes too long. */
static inline struct outcome exercise(const lode_memory_file *files, size_t count, double most_milliseconds)
{
    struct outcome outcome;
    double start = now();
    walk_recording(&outcome.walk, files, count);
    if (outcome.walk.problem[0] != '\0')
        fail_msg("%s", outcome.walk.problem);
    outcome.milliseconds = assert_little_time(start, most_milliseconds);
    return outcome;
}

/* The sanitizer keeps freed memory: its own allocation limit applies instead (meson.build). */
static inline void assert_little_memory(long most_megabytes)
{
#ifndef SANITIZED
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss >= most_megabytes * 1024)
        fail_msg("took %ld MB", usage.ru_maxrss / 1024);
#else
    (void)most_megabytes;
#endif
}

/* xorshift64*: the same on every machine. */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
