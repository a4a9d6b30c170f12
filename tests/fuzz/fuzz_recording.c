/* SPDX-License-Identifier: BSD-3-Clause */
/* A valid uftrace recording with one file, FUZZED, replaced by the fuzzer's bytes. */
#include "fuzz_walk.h"
#include "minirec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct minirec_options options = MINIREC_OPTIONS_INIT;
    static struct minirec rec; /* made once, for all inputs */
    lode_memory_file files[MINIREC_FILES];
    if (rec.count == 0)
        minirec_make(&rec, &options);
    return fuzz_walk(files, minirec_list(&rec, files), data, size);
}
