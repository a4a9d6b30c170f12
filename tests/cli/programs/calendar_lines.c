/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lines of "BEGIN END TIME", and prints nanoseconds since the epoch, or "-" for no time. */
#include "text/calendar.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        uint64_t found;
        calendar_time time;
        char *text = line;
        line[strcspn(line, "\n")] = '\0';
        uint64_t begin = strtoull(text, &text, 10), end = strtoull(text, &text, 10);
        text += strspn(text, " ");
        int is_time = calendar_is_meant(text) && calendar_parse(text, &time) &&
                      calendar_resolve(&time, begin, end, &found);
        if (is_time)
            printf("%" PRIu64 "\n", found);
        else
            printf("-\n");
    }
    return 0;
}
