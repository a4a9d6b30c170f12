/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/source/unnamed.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/text/count.h"
#include "format/perf/read/rules.h"
#include <stdio.h>
#include <stdlib.h>

/* Warnings are of what the user can mend. They are shown in one line: the reason comes first. */
static const struct {
    unsigned rule;
    const char *text;
} lacks[] = {
    [PERF_LACK_HELPER] = {PERF_RULE_BINARY, "lode-symbols, which reads binaries, is not installed"},
    [PERF_LACK_BINARY] = {PERF_RULE_BINARY, "the file is missing (see 'perf buildid-cache --add')"},
    [PERF_LACK_BUILD] = {PERF_RULE_BINARY, "the file has another build id (see 'perf buildid-cache --add')"},
    [PERF_LACK_TIME] = {PERF_RULE_BINARY,
                        "the file has changed since, and no build id was recorded (see 'perf record "
                        "--buildid-mmap')"},
    [PERF_LACK_READER] = {PERF_RULE_BINARY, "the file there is no binary, or cannot be read"},
    [PERF_LACK_SYMBOLS] = {PERF_RULE_BINARY, "the file has no symbols, and there is no package with them"},
    [PERF_LACK_SOME_SYMBOLS] = {PERF_RULE_SYMBOLS, "the file has no symbols for them"},
    [PERF_LACK_PERMISSION] = {PERF_RULE_SYMBOLS, "files of this machine were not to be read"},
    [PERF_LACK_FILE] = {PERF_RULE_SYMBOLS, "it is memory without a file"},
    [PERF_LACK_KERNEL] = {PERF_RULE_SYMBOLS,
                          "the kernel's symbols are needed: /proc/kallsyms of the same kernel, as root"},
    [PERF_LACK_KERNEL_MODULE] = {PERF_RULE_SYMBOLS, "symbols of kernel modules are not read"},
    [PERF_LACK_JIT_MAP] = {PERF_RULE_SYMBOLS, "there is no perf-PID.map or jit-PID.dump of the process"},
};

static int compare(const void *left, const void *right)
{
    const struct perf_unnamed *a = left, *b = right;
    int order = LODE_COMPARE(b->samples, a->samples);
    return order ? order : LODE_COMPARE(a->number, b->number);
}

lode_status lode_perf_report_unnamed(struct lode_report *report, struct lode_array *list, uint64_t samples)
{
    if (list->count > 1)
        qsort(list->items, list->count, list->item_size, compare);
    for (size_t i = 0; i < list->count; i++) {
        const struct perf_unnamed *unnamed = LODE_ARRAY_AT(list, struct perf_unnamed, i);
        char share[2 * LODE_COUNTED_SIZE] = "";
        /* Of some addresses, the samples are not counted. */
        if (unnamed->lack != PERF_LACK_SOME_SYMBOLS)
            snprintf(share, sizeof share, " (%s %s)", LODE_COUNTED(unnamed->samples, "of", "of"),
                     LODE_COUNTED(samples, "sample", "samples"));
        /* Who only calls, from a binary without symbols, has no costs that lack a name. */
        bool is_minor = unnamed->lack == PERF_LACK_SYMBOLS && unnamed->samples == 0;
        LODE_TRY(lode_report_add(report, is_minor ? PERF_RULE_SYMBOLS : lacks[unnamed->lack].rule,
                                 unnamed->module, LODE_NO_OFFSET, "%s no name%s: %s",
                                 LODE_COUNTED(unnamed->addresses, "address has", "addresses have"), share,
                                 lacks[unnamed->lack].text));
    }
    return LODE_OK;
}
