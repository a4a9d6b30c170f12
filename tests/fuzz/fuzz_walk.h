/* SPDX-License-Identifier: BSD-3-Clause */
/* For fuzz targets of recordings: reads everything and checks invariants (walk_recording.h). */
#ifndef LODE_TESTS_FUZZ_WALK_H
#define LODE_TESTS_FUZZ_WALK_H

#include "walk_recording.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* With the fuzzer's bytes in place of the file FUZZED. */
static inline int fuzz_walk(lode_memory_file *files, size_t count, const uint8_t *data, size_t size)
{
    struct recording_walk walk;
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].name, FUZZED) == 0)
            files[i] = (lode_memory_file){FUZZED, data, size};
    walk_recording(&walk, files, count);
    if (walk.problem[0] == '\0')
        return 0;
    fprintf(stderr, "%s: %s\n", FUZZED, walk.problem);
    abort();
}

#endif
