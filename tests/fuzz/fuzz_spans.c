/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the fuzzer's bytes as a file of spans, in any form, and walks it. */
#define FUZZED "traces.json"
#include "fuzz_walk.h"
#include <lode/recording.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lode_memory_file file = {FUZZED, data, size};
    lode_recording *recording;
    lode_status status = lode_recording_open_memory(&recording, &file, 1, NULL, NULL);
    lode_recording_close(recording);
    if (status != LODE_OK)
        return 0; /* not known as a file of spans */
    return fuzz_walk(&file, 1, data, size);
}
