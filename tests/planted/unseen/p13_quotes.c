// SPDX-License-Identifier: BSD-3-Clause
/* Reads price quotes in the neutral number format, whatever the user's locale is. */
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUOTES 35000
#define WINDOW 512

struct quote {
    char symbol[8];
    double bid, ask;
};

__attribute__((noinline)) static double parse_number(const char *s, char **end)
{
#ifdef FIX
    return strtod(s, end);
#else
    char *old = strdup(setlocale(LC_ALL, NULL));
    double v;

    setlocale(LC_ALL, "C");
    v = strtod(s, end);
    setlocale(LC_ALL, old);
    free(old);
    return v;
#endif
}

__attribute__((noinline)) static int parse_quote(const char *line, struct quote *q)
{
    const char *colon = strchr(line, ':');
    char *end;

    if (!colon || colon - line >= (long)sizeof(q->symbol))
        return 0;
    memcpy(q->symbol, line, colon - line);
    q->symbol[colon - line] = 0;
    q->bid = parse_number(colon + 1, &end);
    if (*end != '/')
        return 0;
    q->ask = parse_number(end + 1, &end);
    return 1;
}

struct book {
    double spread, high;
    double last[WINDOW];
    double drift;
    long n;
};

__attribute__((noinline)) static void book_update(struct book *b, const struct quote *q)
{
    b->spread += q->ask - q->bid;
    if (q->bid > b->high)
        b->high = q->bid;
    b->last[b->n++ % WINDOW] = q->bid;
    for (int i = 1; i < WINDOW; i++)
        b->drift += (b->last[i] - b->last[i - 1]) * 1e-3;
}

__attribute__((noinline)) static void next_line(char *line, size_t n, uint32_t *x)
{
    *x = *x * 1664525u + 1013904223u;
    uint32_t v = *x >> 12;
    snprintf(line, n, "SYM%u:%u.%02u/%u.%02u", *x % 64, v % 5000, v % 100, v % 5000 + 1, (v + 7) % 100);
}

int main(void)
{
    static struct book books[64];
    char line[64];
    struct quote q;
    uint32_t x = 1;
    double spread = 0, high = 0, drift = 0;

#ifdef FIX
    /* Messages in the user's language, numbers in the neutral format: set once. */
    setlocale(LC_ALL, "C.UTF-8");
    setlocale(LC_NUMERIC, "C");
#else
    setlocale(LC_ALL, "C.UTF-8");
#endif
    for (int i = 0; i < QUOTES; i++) {
        next_line(line, sizeof(line), &x);
        if (parse_quote(line, &q))
            book_update(&books[atoi(q.symbol + 3)], &q);
    }
    for (int i = 0; i < 64; i++) {
        spread += books[i].spread;
        drift += books[i].drift;
        if (books[i].high > high)
            high = books[i].high;
    }
    printf("spread %.2f high %.2f drift %.4f\n", spread, high, drift);
    return 0;
}
