/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes seeds for fuzz_store into a directory: valid databases of several shapes. */
#include "base/io/bytes.h"
#include "minidb.h"
#include <stdio.h>

static int write_seed(const char *directory, unsigned index, const struct minidb_options *options)
{
    char path[4096];
    struct minidb db;
    unsigned char sizes[4 * HPCT_FILES];
    snprintf(path, sizeof path, "%s/seed-%u", directory, index);
    minidb_make(&db, options);
    for (unsigned i = 0; i < HPCT_FILES; i++)
        put_u32le(sizes + (size_t)4 * i, (uint32_t)db.size[i]);
    FILE *stream = fopen(path, "wb");
    size_t written = stream ? fwrite(sizes, 1, sizeof sizes, stream) : 0;
    for (unsigned i = 0; stream && i < HPCT_FILES; i++)
        written += fwrite(db.bytes[i], 1, db.size[i], stream);
    int failed = stream == NULL || fclose(stream) != 0 || written < sizeof sizes;
    minidb_free(&db);
    return failed;
}

int main(int count, char **arguments)
{
    const struct minidb_options seeds[] = {
        {.profiles = 1, .samples = 2},
        {.profiles = 2, .samples = 3, .statistics = true, .unlisted = true},
        {.profiles = 3, .samples = 6, .statistics = true, .empty_profile = true},
        {.profiles = 2, .samples = 4, .chains = 2},
    };
    int failed = count != 2;
    for (unsigned i = 0; i < sizeof seeds / sizeof *seeds && !failed; i++)
        failed = write_seed(arguments[1], i, &seeds[i]);
    if (failed)
        fprintf(stderr, "usage: seeds DIRECTORY\n");
    return failed;
}
