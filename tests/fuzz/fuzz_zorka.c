/* SPDX-License-Identifier: BSD-3-Clause */
/* A sound trace store with one file, FUZZED, replaced by the fuzzer's bytes. */
#include "fuzz_walk.h"
#include "minizor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct minizor store; /* made once, for all inputs */
    lode_memory_file files[MINIZOR_FILES];
    if (store.count == 0) {
        minizor_make(&store, 0, false);
        minizor_describe(&store);
        minizor_file(&store, FUZZED);
    }
    return fuzz_walk(files, minizor_list(&store, files), data, size);
}
