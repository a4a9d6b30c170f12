/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/moment.h"

#include "output/report.h"

static uint64_t add(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static int resolve_calendar(const time_point *moment, const char *option, const store_clock *clock,
                            uint64_t *out)
{
    uint64_t utc;
    if (!clock->has_utc)
        return report("%s: it is not known what time of day it was; --%s takes a time after the first event, "
                      "such as 1.5s, or @NANOSECONDS",
                      clock->path, option);
    if (!calendar_resolve(&moment->calendar, add(clock->begin, clock->utc_offset),
                          add(clock->end, clock->utc_offset), &utc))
        return report("%s: --%s is not a time of the calendar", clock->path, option);
    *out = utc > clock->utc_offset ? utc - clock->utc_offset : 0;
    return EXIT_DONE;
}

int moment_resolve(const time_point *moment, const char *option, const store_clock *clock, uint64_t otherwise,
                   uint64_t *out)
{
    *out = otherwise;
    if (!moment->is_given)
        return EXIT_DONE;
    if (moment->is_calendar)
        return resolve_calendar(moment, option, clock, out);
    *out = moment->is_absolute ? moment->nanoseconds : add(clock->begin, moment->nanoseconds);
    return EXIT_DONE;
}
