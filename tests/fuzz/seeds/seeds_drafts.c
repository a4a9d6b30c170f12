/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes seeds for fuzz_drafts into a directory: valid databases of several variants. */
#include "base/io/bytes.h"
#include "minidraft.h"
#include <stdio.h>

static int write_seed(const char *directory, unsigned index, const struct minidraft_options *options)
{
    char path[4096];
    struct minidraft db;
    unsigned char sizes[4 * HPCT_FILES];
    snprintf(path, sizeof path, "%s/seed-%u", directory, index);
    minidraft_make(&db, options);
    for (unsigned i = 0; i < HPCT_FILES; i++)
        put_u32le(sizes + (size_t)4 * i, (uint32_t)db.size[i]);
    FILE *stream = fopen(path, "wb");
    size_t written = stream ? fwrite(sizes, 1, sizeof sizes, stream) : 0;
    for (unsigned i = 0; stream && i < HPCT_FILES; i++)
        written += fwrite(db.bytes[i], 1, db.size[i], stream);
    int failed = stream == NULL || fclose(stream) != 0 || written < sizeof sizes;
    minidraft_free(&db);
    return failed;
}

int main(int count, char **arguments)
{
    const struct minidraft_options seeds[] = {
        {.unlisted = true},
        {.unpadded = true, .big_footer = true, .version_4 = true},
        {.old_magic = true, .old_ids = true, .trace_footer = true},
        {.zero_cct = true, .unpadded = true},
    };
    int failed = count != 2;
    for (unsigned i = 0; i < sizeof seeds / sizeof *seeds && !failed; i++)
        failed = write_seed(arguments[1], i, &seeds[i]);
    if (failed)
        fprintf(stderr, "usage: seeds_drafts DIRECTORY\n");
    return failed;
}
