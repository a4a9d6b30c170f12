/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the fuzzer's bytes as a store that is one file, named FUZZED, walks it, and checks it. */
#include "walk.h"
#include <lode/check.h>
#include <lode/recording.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_recording(const uint8_t *data, size_t size)
{
    return size >= 8 && (memcmp(data, "PERFILE2", 8) == 0 || memcmp(data, "2ELIFREP", 8) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lode_memory_file file = {FUZZED, data, size};
    lode_database *db;
    lode_recording *recording;
    /* Spans are recordings. */
    if (lode_recording_open_memory(&recording, &file, 1, NULL, NULL) == LODE_OK) {
        lode_recording_close(recording);
        return 0;
    }
    /* Measurements are recognised by their first bytes, checked, and no database. */
    if (size >= 3 && memcmp(data, "HPC", 3) == 0)
        return 0;
    if (lode_database_open_memory(&db, &file, 1, NULL) == LODE_OK)
        walk_database(db, 1);
    bool opened = db != NULL;
    lode_database_close(db);
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.level = LODE_CHECK_FULL;
    options.threads = 1;
    lode_status status = lode_check_memory(&file, 1, &options, &result, NULL);
    /* What opens has no errors, and the other way round; perf.data is read as far as it goes. */
    bool is_sound = status == LODE_OK && result.errors == 0, is_partial = opened && is_recording(data, size);
    if (opened != is_sound && !is_partial)
        abort();
    return 0;
}
