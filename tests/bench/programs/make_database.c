/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a large valid database for benchmarks: make_database DIRECTORY PROFILES CHAINS SAMPLES */
#include "minidb.h"
#include <stdio.h>
#include <stdlib.h>

static int write_file(const char *directory, const lode_memory_file *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, file->name);
    FILE *stream = fopen(path, "wb");
    size_t written = stream ? fwrite(file->data, 1, file->size, stream) : 0;
    return stream == NULL || fclose(stream) != 0 || written != file->size;
}

int main(int count, char **arguments)
{
    struct minidb db;
    lode_memory_file files[HPCT_FILES];
    int failed = 0;
    if (count != 5) {
        fprintf(stderr, "usage: make_database DIRECTORY PROFILES CHAINS SAMPLES\n");
        return 2;
    }
    const struct minidb_options options = {.profiles = (uint32_t)strtoul(arguments[2], NULL, 10),
                                           .chains = (uint32_t)strtoul(arguments[3], NULL, 10),
                                           .samples = (uint32_t)strtoul(arguments[4], NULL, 10),
                                           .statistics = true};
    minidb_make(&db, &options);
    minidb_files(&db, files);
    for (unsigned i = 0; i < HPCT_FILES && !failed; i++)
        failed = write_file(arguments[1], &files[i]);
    minidb_free(&db);
    return failed;
}
