/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation fails once while a profile of pprof is opened, read by context, and checked. */
#include "fail_each.h"
#include "minipprof.h"
#include <lode/block.h>
#include <lode/check.h>

static lode_status open_file(void *user, lode_error *error)
{
    lode_database *db;
    lode_block block;
    lode_status status = lode_database_open_memory(&db, user, 1, error);
    if (status == LODE_OK)
        status = lode_context_block(db, 0, &block, error);
    lode_database_close(db);
    return status;
}

static lode_status check_file(void *user, lode_error *error)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.level = LODE_CHECK_FULL;
    return lode_check_memory(user, 1, &options, &result, error);
}

/* Until all succeed. Looking at a file allocates, too: if that fails, its name says what it is. */
static void fail_one_by_one(work_fn work, lode_memory_file *file)
{
    long allowed = 0;
    for (bool is_spent = true; is_spent; allowed++) {
        lode_error error = {0};
        budget = allowed;
        lode_status status = work(file, &error);
        is_spent = budget < 0;
        budget = -1;
        if (status != LODE_OK && (status != LODE_ERR_MEMORY || !is_spent))
            fail_msg("allocation %ld failed, and the status is %d: %s", allowed, status, error.text);
    }
    print_message("# %ld allocations\n", allowed);
    assert_true(allowed > 50 && allowed < MOST_ALLOCATIONS);
}

static void profiles_survive_every_failing_allocation(void **state)
{
    (void)state;
    for (unsigned packed = 0; packed < 2; packed++) {
        struct lode_blob bytes = {0};
        minipprof_make(&bytes);
        if (packed)
            minipprof_gzip(&bytes);
        lode_memory_file file = {"profile.pb.gz", bytes.bytes, bytes.size};
        fail_one_by_one(open_file, &file);
        fail_one_by_one(check_file, &file);
        lode_blob_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_survive_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
