/* SPDX-License-Identifier: BSD-3-Clause */
/* The fuzzer's bytes as a file of measurements, FUZZED, alone and beside others: opens, checks. */
#include "minihpcrun.h"
#include <lode/check.h>
#include <lode/unstable/measurements.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void exercise(const lode_memory_file *files, size_t count)
{
    lode_measurements *measurements;
    lode_status opened = lode_measurements_open_memory(&measurements, files, count, NULL);
    lode_measurements_close(measurements);
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.level = LODE_CHECK_FULL;
    lode_status status = lode_check_memory(files, count, &options, &result, NULL);
    /*
     * A file alone opens if it has no errors, and the other way round; others need not, nor those
     * that this build cannot read, nor those that are of another kind: pprof has no magic.
     */
    bool is_known = opened != LODE_ERR_UNSUPPORTED && opened != LODE_ERR_ARGUMENT;
    bool is_judged = status == LODE_OK && count == 1 && is_known;
    if (is_judged && (opened == LODE_OK) != (result.errors == 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct lode_blob profile, trace; /* made once, for all inputs */
    if (profile.size == 0) {
        minihpcrun_profile(&profile);
        minihpcrun_trace(&trace);
    }
    lode_memory_file files[] = {{"x.hpcrun", profile.bytes, profile.size},
                                {"x.hpctrace", trace.bytes, trace.size},
                                {"structs/x.hpcstruct", NULL, 0},
                                {"kernel_symbols/vmlinux.1", NULL, 0},
                                {"logical/x.0123abcd", NULL, 0}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, FUZZED) == 0)
            files[i] = (lode_memory_file){FUZZED, data, size};
    exercise(files, sizeof files / sizeof *files);
    /* Alone, a file of a folder has no folder. */
    const char *slash = strrchr(FUZZED, '/');
    exercise(&(lode_memory_file){slash ? slash + 1 : FUZZED, data, size}, 1);
    return 0;
}
