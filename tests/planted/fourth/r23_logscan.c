// SPDX-License-Identifier: BSD-3-Clause
/* Scans log lines for failed logins with POSIX regular expressions. */
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 12000

static const char *pattern =
    "^([0-9]{2}:[0-9]{2}:[0-9]{2}) (login|logout|sudo) (failed|refused) for ([a-z]+[0-9]*)$";

__attribute__((noinline)) static void next_line(char *line, size_t size, int i)
{
    static const char *what[] = { "login", "logout", "sudo", "mount" };
    static const char *how[] = { "failed", "accepted", "refused" };
    snprintf(line, size, "%02d:%02d:%02d %s %s for user%d", i / 3600 % 24, i / 60 % 60,
             i % 60, what[i % 4], how[i % 3], i % 211);
}

__attribute__((noinline)) static int match_line(const char *line, char *user, size_t size)
{
    regmatch_t group[5];
#ifdef FIX
    static regex_t expression;
    static int ready;
    if (!ready && !(ready = !regcomp(&expression, pattern, REG_EXTENDED)))
        return 0;
    int failed = regexec(&expression, line, 5, group, 0);
#else
    regex_t expression;
    if (regcomp(&expression, pattern, REG_EXTENDED))
        return 0;
    int failed = regexec(&expression, line, 5, group, 0);
    regfree(&expression);
#endif
    if (failed)
        return 0;
    snprintf(user, size, "%.*s", (int)(group[4].rm_eo - group[4].rm_so), line + group[4].rm_so);
    return 1;
}

__attribute__((noinline)) static uint32_t count_user(const char *user)
{
    uint32_t h = 2166136261u;
    for (; *user; user++)
        h = (h ^ (uint8_t)*user) * 16777619u;
    return h;
}

int main(void)
{
    char line[160], user[64];
    uint64_t sum = 0;
    int hits = 0;
    for (int i = 0; i < LINES; i++) {
        next_line(line, sizeof line, i);
        if (match_line(line, user, sizeof user)) {
            hits++;
            sum += count_user(user);
        }
    }
    printf("hits %d sum %lu\n", hits, (unsigned long)sum);
    return 0;
}
