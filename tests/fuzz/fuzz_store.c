/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a database from the fuzzer's bytes, walks everything, and checks it. The input is the sizes
 * of the four files (32 bits each, little-endian) and then their bytes; a size past the end takes
 * the rest. A size of 0 is an absent file.
 */
#include "base/io/bytes.h"
#include "format/hpctoolkit/wire.h"
#include "walk.h"
#include <lode/check.h>
#include <stdlib.h>

/* What holds the metadata: it tells formats apart. */
#ifndef FUZZED_META
#define FUZZED_META "meta.db"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t split(const uint8_t *data, size_t size, lode_memory_file *files)
{
    size_t at = (size_t)HPCT_FILES * 4, count = 0;
    for (unsigned i = 0; i < HPCT_FILES && size >= at; i++) {
        size_t wanted = get_u32le(data + (size_t)4 * i), left = size - at;
        size_t got = wanted < left ? wanted : left;
        if (got == 0)
            continue;
        const char *name = i == HPCT_META ? FUZZED_META : lode_hpct_specs[i].name;
        files[count++] = (lode_memory_file){name, data + at, got};
        at += got;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lode_memory_file files[HPCT_FILES];
    size_t count = split(data, size, files);
    lode_database *db;
    if (lode_database_open_memory(&db, files, count, NULL) == LODE_OK)
        walk_database(db, 1);
    lode_database_close(db);
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.level = LODE_CHECK_FULL;
    options.threads = 1;
    lode_status status = lode_check_memory(files, count, &options, &result, NULL);
    /* What opens is a known format, so it can be checked. */
    if (db != NULL && status != LODE_OK)
        abort();
    return 0;
}
