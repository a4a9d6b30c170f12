/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lines of "BEGIN END TIME", and prints nanoseconds since the epoch, or "-" for no time. */
#include "text/calendar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        uint64_t begin, end, found;
        calendar_time time;
        int used = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%" SCNu64 " %" SCNu64 " %n", &begin, &end, &used) != 2)
            return 1;
        int is_time = calendar_is_meant(line + used) && calendar_parse(line + used, &time) &&
                      calendar_resolve(&time, begin, end, &found);
        if (is_time)
            printf("%" PRIu64 "\n", found);
        else
            printf("-\n");
    }
    return 0;
}
