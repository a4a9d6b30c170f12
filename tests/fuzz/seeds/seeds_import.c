/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes seeds for fuzz_pprof into a directory: small valid profiles of several forms. */
#include "minipprof.h"
#include <stdio.h>

static int write_seed(const char *directory, unsigned index, const struct lode_blob *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%u", directory, index);
    FILE *stream = fopen(path, "wb");
    size_t written = stream ? fwrite(bytes->bytes, 1, bytes->size, stream) : 0;
    return stream == NULL || fclose(stream) != 0 || written != bytes->size;
}

/* What a seed has besides the base. */
static void add_more(struct lode_blob *bytes, unsigned index)
{
    if (index == 1) {
        minipprof_string(bytes, "f|x.*");
        minipprof_field(bytes, 7, MINI_STRINGS);
        minipprof_field(bytes, 8, MINI_G);
    }
    if (index == 2) {
        minipprof_field(bytes, 9, 1600000000000000000u);
        minipprof_field(bytes, 10, 1000000000);
        minipprof_bytes(bytes, 11, "\x08\x01\x10\x02", 4);
        minipprof_field(bytes, 12, 10000000);
        minipprof_field(bytes, 13, MINI_FILE);
        minipprof_field(bytes, 14, MINI_CPU);
        minipprof_field(bytes, 15, MINI_FILE);
    }
    if (index == 3) {
        minipprof_location(bytes, 9, 1, 0x2000, 0);
        minipprof_bytes(bytes, 4, "\x08\x0a\x22\x04\x08\x01\x10\x05\x22\x02\x08\x02", 12);
        minipprof_bytes(
            bytes, 2, "\x08\x09\x08\x0a\x10\x03\x1a\x04\x08\x03\x10\x04\x1a\x06\x08\x03\x18\x05\x20\x02", 20);
        minipprof_sample(bytes, NULL, 0, -4);
    }
}

int main(int count, char **arguments)
{
    int failed = count != 2;
    for (unsigned i = 0; i < 5 && !failed; i++) {
        struct lode_blob bytes = {0};
        minipprof_make(&bytes);
        add_more(&bytes, i);
        if (i == 4)
            minipprof_gzip(&bytes);
        failed = write_seed(arguments[1], i, &bytes);
        lode_blob_free(&bytes);
    }
    if (failed)
        fprintf(stderr, "usage: seeds_import DIRECTORY\n");
    return failed;
}
