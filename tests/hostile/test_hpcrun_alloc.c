/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation fails once while measurements are opened, and checked. */
#include "fail_each.h"
#include "minihpcrun.h"
#include <lode/check.h>
#include <lode/unstable/measurements.h>

static lode_memory_file files[2];

static lode_status open_files(void *user, lode_error *error)
{
    lode_measurements *measurements;
    (void)user;
    lode_status status = lode_measurements_open_memory(&measurements, files, 2, error);
    lode_measurements_close(measurements);
    return status;
}

static lode_status check_files(void *user, lode_error *error)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    (void)user;
    options.level = LODE_CHECK_FULL;
    return lode_check_memory(files, 2, &options, &result, error);
}

/* Until all succeed. Without memory for the list of names, it is no store. */
static void fail_one_by_one(work_fn work)
{
    long allowed = 0;
    for (bool is_spent = true; is_spent; allowed++) {
        lode_error error = {0};
        budget = allowed;
        lode_status status = work(NULL, &error);
        is_spent = budget < 0;
        budget = -1;
        if (status != LODE_OK && status != LODE_ERR_UNSUPPORTED && (status != LODE_ERR_MEMORY || !is_spent))
            fail_msg("allocation %ld failed, and the status is %d: %s", allowed, status, error.text);
    }
    print_message("# %ld allocations\n", allowed);
    assert_true(allowed > 10 && allowed < MOST_ALLOCATIONS);
}

static void measurements_survive_every_failing_allocation(void **state)
{
    struct lode_blob profile, trace;
    (void)state;
    minihpcrun_profile(&profile);
    minihpcrun_trace(&trace);
    files[0] = (lode_memory_file){"x.hpcrun", profile.bytes, profile.size};
    files[1] = (lode_memory_file){"x.hpctrace", trace.bytes, trace.size};
    fail_one_by_one(open_files);
    fail_one_by_one(check_files);
    lode_blob_free(&profile);
    lode_blob_free(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measurements_survive_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
