/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation fails once while a database of the draft with XML is opened and checked. */
#include "fail_each.h"
#include "minidraft.h"
#include <lode/check.h>

static lode_status open_files(void *user, lode_error *error)
{
    lode_database *db;
    lode_status status = lode_database_open_memory(&db, user, HPCT_FILES, error);
    lode_database_close(db);
    return status;
}

static lode_status check_files(void *user, lode_error *error)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.level = LODE_CHECK_FULL;
    return lode_check_memory(user, HPCT_FILES, &options, &result, error);
}

static void fail_each_with(work_fn work, const struct minidraft_options *options)
{
    struct minidraft mini;
    lode_memory_file files[HPCT_FILES];
    minidraft_make(&mini, options);
    minidraft_files(&mini, files);
    fail_each(work, files);
    minidraft_free(&mini);
}

static void opening_survives_every_failing_allocation(void **state)
{
    (void)state;
    fail_each_with(open_files, &(struct minidraft_options){0});
    fail_each_with(open_files, &(struct minidraft_options){.zero_cct = true});
}

static void checking_survives_every_failing_allocation(void **state)
{
    (void)state;
    fail_each_with(check_files, &(struct minidraft_options){.unlisted = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_survives_every_failing_allocation),
        cmocka_unit_test(checking_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
