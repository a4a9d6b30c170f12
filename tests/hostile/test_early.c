/* SPDX-License-Identifier: BSD-3-Clause */
/* A truncated and mutated database of early 2022 is checked, and opened or rejected. */
#include "base/io/bytes.h"
#include "corpus.h"
#include "format/hpctoolkit/wire.h"
#include "unit.h"
#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>

#define NAME "hpctoolkit/pre-a/toolkit-small-v4.0-v2"

/* The meta.db of a database, in memory of its own size; its place among the files. */
static unsigned char *own_meta(struct loaded_database *db, size_t *index, size_t size)
{
    for (*index = 0; strcmp(db->files[*index].name, "meta.db") != 0;)
        ++*index;
    unsigned char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    memcpy(bytes, db->files[*index].data, size);
    return bytes;
}

/* All that can be read is. Returns whether it opens. */
static bool use(const struct loaded_database *db, lode_check_result *result)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_database *opened;
    lode_error error = {0};
    options.level = LODE_CHECK_FULL;
    options.threads = 1;
    if (lode_check_memory(db->files, db->count, &options, result, &error) != LODE_OK)
        fail_msg("could not check: %s", error.text);
    bool opens = lode_database_open_memory(&opened, db->files, db->count, &error) == LODE_OK;
    for (uint32_t i = 0; opens && i < lode_database_context_count(opened); i++) {
        const lode_function *function = lode_context_function(lode_database_context_at(opened, i));
        if (function && lode_function_name(function))
            assert_true(strlen(lode_function_name(function)) < 4096);
    }
    lode_database_close(opened);
    return opens;
}

static bool load(struct loaded_database *db)
{
    if (load_database(db, NAME))
        return true;
    print_message("# " NAME " is not in the corpus\n");
    skip();
    return false;
}

static void any_cut_is_found(void **state)
{
    struct loaded_database db;
    size_t index;
    (void)state;
    if (!load(&db))
        return;
    unsigned char *bytes = own_meta(&db, &index, 0);
    const lode_memory_file before = db.files[index];
    free(bytes);
    for (size_t size = 0; size < before.size; size++) {
        lode_check_result result;
        bytes = own_meta(&db, &index, size);
        db.files[index] = (lode_memory_file){"meta.db", bytes, size};
        assert_false(use(&db, &result));
        assert_true(result.errors > 0);
        db.files[index] = before;
        free(bytes);
    }
    unload_database(&db);
}

static void any_changed_byte_is_survived(void **state)
{
    static const unsigned char values[] = {0, 1, 0x18, 0x7f, 0xff};
    struct loaded_database db;
    size_t index;
    unsigned opened = 0;
    (void)state;
    if (!load(&db))
        return;
    unsigned char *bytes = own_meta(&db, &index, 0);
    const lode_memory_file before = db.files[index];
    free(bytes);
    bytes = own_meta(&db, &index, before.size);
    db.files[index] = (lode_memory_file){"meta.db", bytes, before.size};
    for (size_t i = 0; i < before.size; i++) {
        unsigned char kept = bytes[i];
        for (size_t k = 0; k < sizeof values; k++) {
            lode_check_result result;
            bytes[i] = values[k];
            opened += use(&db, &result);
        }
        bytes[i] = kept;
    }
    assert_true(opened > 0);
    db.files[index] = before;
    free(bytes);
    unload_database(&db);
}

/* Every metric has the same array of 65,535 scopes: they are not all read. */
static void shared_scopes_take_no_longer_than_the_file(void **state)
{
    enum {
        METRICS = 4000,
        SECTION = 144,
        SCOPES = SECTION + 16 + METRICS * 24,
        SIZE = SCOPES + UINT16_MAX * 24 + 8
    };
    unsigned char *bytes = calloc(SIZE, 1);
    assert_non_null(bytes);
    (void)state;
    memcpy(bytes, "HPCTOOLKITmeta\4", 15);
    uint64_t sections[META_SECTIONS][2] = {{0}};
    for (size_t i = 0; i < META_SECTIONS; i++) {
        sections[i][0] = i == META_METRICS ? SIZE - SECTION - 8 : 0;
        sections[i][1] = SECTION;
        struct wire_Section wire = {sections[i][0], sections[i][1]};
        lode_wire_write_Section(&wire, bytes + WIRE_FileHeader_SIZE + i * WIRE_Section_SIZE);
    }
    struct wire_Metrics header = {
        .pMetrics = SECTION + 16, .nMetrics = METRICS, .szMetric = 24, .szScopeInst = 24, .szSummary = 16};
    uint8_t head[WIRE_Metrics_SIZE];
    lode_wire_write_Metrics(&header, head);
    memcpy(bytes + SECTION, head, 16);
    for (size_t m = 0; m < METRICS; m++) {
        unsigned char *metric = bytes + SECTION + 16 + m * 24;
        metric[0] = SECTION + 15; /* its name is empty */
        memset(metric + 8, 0xff, 2);
        put_u64le(metric + 16, SCOPES);
    }
    memcpy(bytes + SIZE - 8, "_meta.db", 8);
    const lode_memory_file file = {"meta.db", bytes, SIZE};
    const struct loaded_database db = {{file}, 1};
    lode_check_result result;
    assert_false(use(&db, &result));
    assert_true(result.errors >= METRICS - 1);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_is_found),
        cmocka_unit_test(any_changed_byte_is_survived),
        cmocka_unit_test(shared_scopes_take_no_longer_than_the_file),
    };
    correct_skips();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
