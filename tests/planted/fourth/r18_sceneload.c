// SPDX-License-Identifier: BSD-3-Clause
/* Loads a list of item prices from one long text in memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 90000

struct item { int id, price; };

__attribute__((noinline)) static char *make_text(void)
{
    char *text = malloc(ITEMS * 24 + 1), *p = text;
    for (int i = 0; i < ITEMS; i++)
        p += sprintf(p, "%d:%d,", i, i * 7919 % 100003);
    *p = 0;
    return text;
}

__attribute__((noinline)) static const char *parse_item(const char *p, struct item *it)
{
#ifdef FIX
    char *end;
    it->id = (int)strtol(p, &end, 10);
    if (end == p || *end != ':')
        return NULL;
    it->price = (int)strtol(end + 1, &end, 10);
    return *end == ',' ? end + 1 : NULL;
#else
    int used = 0;
    if (sscanf(p, "%d:%d,%n", &it->id, &it->price, &used) != 2 || !used)
        return NULL;
    return p + used;
#endif
}

__attribute__((noinline)) static int load_items(const char *text, struct item *items)
{
    int count = 0;
    const char *p = text;
    while (*p && count < ITEMS) {
        p = parse_item(p, &items[count]);
        if (!p)
            break;
        count++;
    }
    return count;
}

int main(void)
{
    char *text = make_text();
    struct item *items = calloc(ITEMS, sizeof *items);
    int count = load_items(text, items);
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += (uint64_t)items[i].id * (uint64_t)items[i].price % 1009;
    printf("items %d sum %lu\n", count, (unsigned long)sum);
    free(items);
    free(text);
    return 0;
}
