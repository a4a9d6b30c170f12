/* SPDX-License-Identifier: BSD-3-Clause */
/* A valid trace store with one file, FUZZED, replaced by the fuzzer's bytes. */
#include "fuzz_walk.h"
#include "minizor.h"

static const struct minizor *sound_store(void)
{
    static struct minizor store; /* made once, for all inputs */
    if (store.count == 0) {
        minizor_make(&store, 0, false);
        minizor_describe(&store);
        if (strcmp(FUZZED, MINIZOR_INDEX) == 0)
            minizor_compress(&store, false);
        minizor_file(&store, FUZZED);
    }
    return &store;
}

/* Checksums keep a fuzzer out of a compressed index: half of the inputs get the right ones. */
static int walk_sealed(lode_memory_file *files, size_t count, const uint8_t *data, size_t size)
{
    unsigned char *sealed = malloc(size);
    if (sealed == NULL)
        return 0;
    memcpy(sealed, data, size);
    minizor_seal(sealed, size);
    int status = fuzz_walk(files, count, sealed, size);
    free(sealed);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lode_memory_file files[MINIZOR_FILES];
    size_t count = minizor_list(sound_store(), files);
    if (strcmp(FUZZED, MINIZOR_INDEX) == 0 && size > 0 && size % 2 == 0)
        return walk_sealed(files, count, data, size);
    return fuzz_walk(files, count, data, size);
}
