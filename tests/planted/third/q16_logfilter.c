// SPDX-License-Identifier: BSD-3-Clause
// Log pipeline: access log lines are matched against a pattern; status codes
// and sizes of the matching lines are accumulated.
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NLINES 5000

struct stats {
    long matched;
    long status[6];
    long bytes;
    long api;
};

static const char pattern[] =
    "^([0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}) - (-|[a-z]+) "
    "\"(GET|POST|PUT) (/[A-Za-z0-9/_.]*)\" ([1-5])[0-9][0-9] ([0-9]+)$";

__attribute__((noinline)) static void make_line(char *buf, size_t n, int i)
{
    static const char *const method[] = { "GET", "POST", "PUT", "BREW" };
    static const char *const path[] = { "/index.html", "/api/v1/items", "/img/logo.png",
                                        "/api/v1/users", "/static/app.js" };
    unsigned r = i * 2654435761u;

    snprintf(buf, n, "10.%u.%u.%u - %s \"%s %s\" %u %u", r % 250, (r >> 8) % 250,
             (r >> 16) % 250, i % 3 ? "-" : "alice", method[(r >> 5) % 4], path[i % 5],
             200 + 100 * ((r >> 9) % 4) + i % 7, (r >> 7) % 20000);
}

#ifdef FIX
static regex_t compiled;
static int is_compiled;
#endif

__attribute__((noinline)) static int match_line(const char *line, regmatch_t *m, size_t n)
{
#ifdef FIX
    if (!is_compiled) {
        if (regcomp(&compiled, pattern, REG_EXTENDED))
            abort();
        is_compiled = 1;
    }
    return regexec(&compiled, line, n, m, 0) == 0;
#else
    regex_t re;
    int ok;

    if (regcomp(&re, pattern, REG_EXTENDED))
        abort();
    ok = regexec(&re, line, n, m, 0) == 0;
    regfree(&re);
    return ok;
#endif
}

__attribute__((noinline)) static void account(struct stats *s, const char *line, const regmatch_t *m)
{
    s->matched++;
    s->status[line[m[5].rm_so] - '0']++;
    s->bytes += strtol(line + m[6].rm_so, NULL, 10);
    if (strncmp(line + m[4].rm_so, "/api/", 5) == 0)
        s->api++;
}

__attribute__((noinline)) static void filter_log(struct stats *s)
{
    char line[256];
    regmatch_t m[7];

    for (int i = 0; i < NLINES; i++) {
        make_line(line, sizeof(line), i);
        if (match_line(line, m, 7))
            account(s, line, m);
    }
}

int main(void)
{
    struct stats s = { 0 };

    filter_log(&s);
    printf("matched %ld 2xx %ld 3xx %ld 4xx %ld 5xx %ld bytes %ld api %ld\n", s.matched,
           s.status[2], s.status[3], s.status[4], s.status[5], s.bytes, s.api);
#ifdef FIX
    regfree(&compiled);
#endif
    return 0;
}
