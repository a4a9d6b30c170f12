/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sound trace store with one file, FUZZED, replaced by the fuzzer's bytes: everything is read, and what must hold of any recording is
 * looked at (support/walk_recording.h).
 */
#include "minizor.h"
#include "walk_recording.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Made once, for all inputs. */
static const struct minizor *sound_store(void)
{
    static struct minizor store;
    if (store.count == 0) {
        minizor_make(&store, 0, false);
        minizor_describe(&store);
        minizor_file(&store, FUZZED);
    }
    return &store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lode_memory_file files[MINIZOR_FILES];
    struct recording_walk walk;
    size_t count = minizor_list(sound_store(), files);
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].name, FUZZED) == 0)
            files[i] = (lode_memory_file){FUZZED, data, size};
    walk_recording(&walk, files, count);
    if (walk.problem[0] == '\0')
        return 0;
    fprintf(stderr, "%s: %s\n", FUZZED, walk.problem);
    abort();
}
