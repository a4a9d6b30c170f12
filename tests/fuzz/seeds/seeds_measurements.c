/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes seeds for the targets of measurements: seeds_measurements PROFILE TRACE. */
#include "minihpcrun.h"
#include <stdio.h>

static int write_seed(const char *path, struct lode_blob *bytes)
{
    FILE *stream = fopen(path, "wb");
    size_t written = stream ? fwrite(bytes->bytes, 1, bytes->size, stream) : 0;
    int failed = stream == NULL || fclose(stream) != 0 || written != bytes->size;
    lode_blob_free(bytes);
    return failed;
}

int main(int count, char **arguments)
{
    struct lode_blob profile, trace;
    if (count != 3) {
        fprintf(stderr, "usage: seeds_measurements PROFILE TRACE\n");
        return 1;
    }
    minihpcrun_profile(&profile);
    minihpcrun_trace(&trace);
    return write_seed(arguments[1], &profile) | write_seed(arguments[2], &trace);
}
