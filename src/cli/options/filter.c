/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/filter.h"

#include "output/report.h"

int filter_open(lode_filter **filter, const shared_options *shared)
{
    lode_error error = {0};
    *filter = NULL;
    if (shared->include.count == 0 && shared->exclude.count == 0)
        return EXIT_DONE;
    if (lode_filter_open(filter, shared->include.items, shared->include.count, shared->exclude.items,
                         shared->exclude.count, &error) != LODE_OK)
        return report("--include, --exclude: %s", error.text);
    return EXIT_DONE;
}

void filter_say_hidden(out *o, size_t count)
{
    OUT_FIELDS(o, "hidden_count", count);
    if (count)
        out_say(o, "%s hidden by --include and --exclude; totals include them",
                COUNTED(count, "function is", "functions are"));
}
