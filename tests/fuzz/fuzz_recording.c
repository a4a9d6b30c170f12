/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sound recording with one file, FUZZED, replaced by the fuzzer's bytes: everything is read, and what must hold of any recording
 * is looked at (support/walk_recording.h).
 */
#include "minirec.h"
#include "walk_recording.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Made once, for all inputs. */
static const struct minirec *sound_recording(void)
{
    static const struct minirec_options options = MINIREC_OPTIONS_INIT;
    static struct minirec rec;
    if (rec.count == 0)
        minirec_make(&rec, &options);
    return &rec;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lode_memory_file files[MINIREC_FILES];
    struct recording_walk walk;
    size_t count = minirec_list(sound_recording(), files);
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].name, FUZZED) == 0)
            files[i] = (lode_memory_file){FUZZED, data, size};
    walk_recording(&walk, files, count);
    if (walk.problem[0] == '\0')
        return 0;
    fprintf(stderr, "%s: %s\n", FUZZED, walk.problem);
    abort();
}
