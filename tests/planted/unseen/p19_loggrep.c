// SPDX-License-Identifier: BSD-3-Clause
/* Log analyser: extracts status and duration of requests by regular expressions. */
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 20000

struct totals {
    long requests, errors, slow;
    uint64_t millis;
};

static const char *pattern = "^([A-Z]+) (/[a-z0-9/]*) ([0-9]{3}) ([0-9]+)ms$";

__attribute__((noinline)) static int match_line(const char *line, regmatch_t *m, size_t n)
{
#ifdef FIX
    static regex_t re;
    static int ready;

    if (!ready) {
        if (regcomp(&re, pattern, REG_EXTENDED))
            exit(1);
        ready = 1;
    }
    return regexec(&re, line, n, m, 0) == 0;
#else
    regex_t re;
    int r;

    if (regcomp(&re, pattern, REG_EXTENDED))
        exit(1);
    r = regexec(&re, line, n, m, 0) == 0;
    regfree(&re);
    return r;
#endif
}

static int field_number(const char *line, const regmatch_t *m)
{
    int v = 0;
    for (regoff_t i = m->rm_so; i < m->rm_eo; i++)
        v = v * 10 + line[i] - '0';
    return v;
}

__attribute__((noinline)) static void analyse_line(const char *line, struct totals *t)
{
    regmatch_t m[5];

    if (!match_line(line, m, 5))
        return;
    int status = field_number(line, &m[3]);
    int ms = field_number(line, &m[4]);
    t->requests++;
    t->millis += ms;
    if (status >= 500)
        t->errors++;
    if (ms > 900)
        t->slow++;
}

__attribute__((noinline)) static void next_line(char *line, size_t n, uint32_t *x)
{
    static const char *verb[] = { "GET", "POST", "PUT", "HEAD" };
    static const int code[] = { 200, 200, 301, 404, 500, 503 };

    *x = *x * 1664525u + 1013904223u;
    uint32_t v = *x >> 10;
    if (v % 10 == 0)
        snprintf(line, n, "# comment %u", v);
    else
        snprintf(line, n, "%s /item/%u %d %ums", verb[v % 4], v % 5000, code[v % 6], v % 1000);
}

int main(void)
{
    struct totals t = { 0 };
    char line[128];
    uint32_t x = 8;

    for (int i = 0; i < LINES; i++) {
        next_line(line, sizeof(line), &x);
        analyse_line(line, &t);
    }
    printf("requests %ld errors %ld slow %ld millis %lu\n", t.requests, t.errors, t.slow, t.millis);
    return 0;
}
