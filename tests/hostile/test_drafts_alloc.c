/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every allocation fails once while a database of the draft with XML is opened and checked: the answer is that there is no
 * memory, and nothing is lost (the sanitizer would say so). The linker leads calls of the library here.
 */
#include "minidraft.h"
#include "unit.h"
#include <lode/check.h>
#include <stdlib.h>

enum {
    MOST_ALLOCATIONS = 5000
};

/* How many allocations still succeed; below 0: all. */
static long budget = -1;

static int is_spent(void)
{
    return budget >= 0 && budget-- == 0;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): the names that the linker wants. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return is_spent() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_spent() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_spent() ? NULL : __real_realloc(old, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */

typedef lode_status (*work_fn)(const lode_memory_file *files, lode_error *error);

static lode_status open_files(const lode_memory_file *files, lode_error *error)
{
    lode_database *db;
    lode_status status = lode_database_open_memory(&db, files, HPCT_FILES, error);
    lode_database_close(db);
    return status;
}

static lode_status check_files(const lode_memory_file *files, lode_error *error)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.level = LODE_CHECK_FULL;
    return lode_check_memory(files, HPCT_FILES, &options, &result, error);
}

/* Until all allocations succeed. */
static void fail_each(work_fn work, const struct minidraft_options *options)
{
    struct minidraft mini;
    lode_memory_file files[HPCT_FILES];
    long allowed = 0;
    minidraft_make(&mini, options);
    minidraft_files(&mini, files);
    for (; allowed < MOST_ALLOCATIONS; allowed++) {
        lode_error error = {0};
        budget = allowed;
        lode_status status = work(files, &error);
        bool spent = budget < 0;
        budget = -1;
        if (!spent) {
            assert_int_equal(status, LODE_OK);
            break;
        }
        if (status != LODE_ERR_MEMORY)
            fail_msg("allocation %ld failed, and the status is %d: %s", allowed, status, error.text);
    }
    print_message("# %ld allocations\n", allowed);
    assert_true(allowed > 10 && allowed < MOST_ALLOCATIONS);
    minidraft_free(&mini);
}

static void opening_survives_every_failing_allocation(void **state)
{
    (void)state;
    fail_each(open_files, &(struct minidraft_options){0});
    fail_each(open_files, &(struct minidraft_options){.zero_cct = true});
}

static void checking_survives_every_failing_allocation(void **state)
{
    (void)state;
    fail_each(check_files, &(struct minidraft_options){.unlisted = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_survives_every_failing_allocation),
        cmocka_unit_test(checking_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
