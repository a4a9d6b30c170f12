/* SPDX-License-Identifier: BSD-3-Clause */
/* A pool that callers share: results are the same, and every caller makes progress. */
#include "base/pool.h"
#include "minidb.h"
#include "unit.h"
#include <lode/unstable.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- jobs that add up their items, in order ---- */

struct sum {
    lode_pool *pool;
    uint64_t items, next, total;
    _Atomic uint64_t worked;
    _Atomic unsigned most_worker;
    /* Items wait until this one has worked on some; may be NULL. */
    struct sum *other;
    unsigned rounds;
    bool in_order;
};

static lode_status work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct sum *sum = context;
    (void)item;
    (void)error;
    while (sum->other && atomic_load(&sum->other->worked) == 0)
        sched_yield();
    unsigned most = atomic_load(&sum->most_worker);
    while (worker > most && !atomic_compare_exchange_weak(&sum->most_worker, &most, worker))
        continue;
    atomic_fetch_add(&sum->worked, 1);
    return LODE_OK;
}

static lode_status finish(void *context, uint64_t item, lode_error *error)
{
    struct sum *sum = context;
    (void)error;
    sum->in_order = sum->in_order && item == sum->next;
    sum->next++;
    sum->total += item;
    return LODE_OK;
}

static void *run(void *argument)
{
    struct sum *sum = argument;
    for (unsigned i = 0; i < sum->rounds; i++) {
        struct lode_job job = {
            .items = sum->items, .work = work, .finish = finish, .context = sum, .pool = sum->pool};
        sum->next = sum->total = 0;
        sum->in_order = true;
        if (lode_pool_run(4, &job, NULL) != LODE_OK || sum->total != sum->items * (sum->items - 1) / 2)
            sum->in_order = false;
    }
    return NULL;
}

static void many_callers_share_a_pool(void **state)
{
    struct sum sums[8];
    pthread_t threads[8];
    lode_pool *pool;
    (void)state;
    for (unsigned size = 1; size < 5; size++) {
        assert_int_equal(lode_pool_create(&pool, size, NULL), LODE_OK);
        assert_int_equal(lode_pool_size(pool), size);
        for (size_t i = 0; i < 8; i++) {
            sums[i] = (struct sum){.pool = pool, .items = 20 + i, .rounds = 50};
            assert_int_equal(pthread_create(&threads[i], NULL, run, &sums[i]), 0);
        }
        for (size_t i = 0; i < 8; i++) {
            pthread_join(threads[i], NULL);
            assert_true(sums[i].in_order);
            assert_int_equal(sums[i].worked, sums[i].items * 50);
            assert_true(sums[i].most_worker < 4);
        }
        lode_pool_free(pool);
    }
    lode_pool_free(NULL);
}

/* The first caller keeps all threads of the pool until the second has done something. */
static void a_caller_never_waits_for_another(void **state)
{
    lode_pool *pool;
    pthread_t thread;
    struct sum second = {.items = 3, .rounds = 1}, first = {.items = 100, .rounds = 1, .other = &second};
    (void)state;
    assert_int_equal(lode_pool_create(&pool, 3, NULL), LODE_OK);
    first.pool = second.pool = pool;
    assert_int_equal(pthread_create(&thread, NULL, run, &first), 0);
    run(&second);
    pthread_join(thread, NULL);
    assert_true(first.in_order && second.in_order);
    lode_pool_free(pool);
}

static lode_status nest(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct sum inner = {.pool = context, .items = 30, .rounds = 1};
    (void)item;
    (void)worker;
    (void)error;
    run(&inner);
    return inner.in_order ? LODE_OK : LODE_ERR_CORRUPT;
}

static void a_job_may_use_the_pool_that_it_runs_on(void **state)
{
    lode_pool *pool;
    (void)state;
    assert_int_equal(lode_pool_create(&pool, 3, NULL), LODE_OK);
    struct lode_job job = {.items = 20, .work = nest, .context = pool, .pool = pool};
    assert_int_equal(lode_pool_run(0, &job, NULL), LODE_OK);
    lode_pool_free(pool);
}

/* ---- through the public API ---- */

static void check_with(const struct minidb *mini, lode_pool *pool, lode_check_result *result)
{
    lode_memory_file files[HPCT_FILES];
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    minidb_files(mini, files);
    options.level = LODE_CHECK_FULL;
    options.pool = pool;
    assert_int_equal(lode_check_memory(files, HPCT_FILES, &options, result, NULL), LODE_OK);
}

static void compare_costs(const lode_database *db, lode_pool *pool, const char *profiles)
{
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    lode_selection *selection;
    lode_cost *plain, *pooled;
    assert_int_equal(lode_selection_parse(&selection, db, profiles, NULL), LODE_OK);
    options.selection = selection;
    assert_int_equal(lode_cost_compute(&plain, db, &options, NULL), LODE_OK);
    options.pool = pool;
    assert_int_equal(lode_cost_compute(&pooled, db, &options, NULL), LODE_OK);
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        assert_true(lode_cost_inclusive(plain, context) == lode_cost_inclusive(pooled, context));
        assert_true(lode_cost_own(plain, context) == lode_cost_own(pooled, context));
    }
    lode_cost_free(plain);
    lode_cost_free(pooled);
    lode_selection_free(selection);
}

static void compare_timelines(const lode_database *db, lode_pool *pool)
{
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    lode_timeline *plain, *pooled;
    assert_int_equal(lode_timeline_compute(&plain, db, &options, NULL), LODE_OK);
    options.pool = pool;
    assert_int_equal(lode_timeline_compute(&pooled, db, &options, NULL), LODE_OK);
    assert_int_equal(lode_timeline_samples(plain), lode_timeline_samples(pooled));
    for (uint32_t row = 0; row < lode_timeline_row_count(plain); row++)
        for (unsigned column = 0; column < options.columns; column++)
            assert_int_equal(lode_timeline_cell(plain, row, column), lode_timeline_cell(pooled, row, column));
    lode_timeline_free(plain);
    lode_timeline_free(pooled);
}

static void results_do_not_depend_on_the_pool(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_check_result plain, pooled;
    lode_database *db;
    lode_pool *pool;
    (void)state;
    options.profiles = 20;
    options.chains = 1000;
    options.samples = 50;
    minidb_make(&mini, &options);
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(lode_pool_create(&pool, 3, NULL), LODE_OK);
    check_with(&mini, NULL, &plain);
    check_with(&mini, pool, &pooled);
    assert_memory_equal(&plain, &pooled, sizeof plain);
    compare_costs(db, pool, "thread=0");
    compare_costs(db, pool, "profile=1-9");
    compare_timelines(db, pool);
    lode_pool_free(pool);
    lode_database_close(db);
    minidb_free(&mini);
}

/* The bytes of a file of a database. */
static size_t read_part(const char *folder, const char *name, char **bytes)
{
    char path[2048];
    long size = -1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = ftell(file);
    rewind(file);
    *bytes = malloc((size_t)size + 1);
    assert_non_null(*bytes);
    assert_int_equal(fread(*bytes, 1, (size_t)size, file), (size_t)size);
    fclose(file);
    return (size_t)size;
}

static void remove_database(const char *folder)
{
    static const char *const names[] = {"meta.db", "profile.db", "cct.db", "trace.db", ""};
    char path[2048];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
}

static void what_is_written_does_not_depend_on_the_pool(void **state)
{
    static const char *const names[] = {"meta.db", "profile.db", "cct.db", "trace.db"};
    struct minidb_options mini_options = MINIDB_OPTIONS_INIT;
    lode_convert_options options = LODE_CONVERT_OPTIONS_INIT;
    char root[] = "/tmp/lode-pool-XXXXXX", plain[64], pooled[64];
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    (void)state;
    mini_options.profiles = 30;
    mini_options.chains = 100;
    minidb_make(&mini, &mini_options);
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    assert_non_null(mkdtemp(root));
    snprintf(plain, sizeof plain, "%s/plain", root);
    snprintf(pooled, sizeof pooled, "%s/pooled", root);
    assert_int_equal(lode_convert(db, plain, NULL, NULL), LODE_OK);
    assert_int_equal(lode_pool_create(&options.pool, 3, NULL), LODE_OK);
    assert_int_equal(lode_convert(db, pooled, &options, NULL), LODE_OK);
    for (size_t i = 0; i < 4; i++) {
        char *a, *b;
        size_t size = read_part(plain, names[i], &a);
        assert_int_equal(read_part(pooled, names[i], &b), size);
        assert_memory_equal(a, b, size);
        free(a);
        free(b);
    }
    remove_database(plain);
    remove_database(pooled);
    remove(root);
    lode_pool_free(options.pool);
    lode_database_close(db);
    minidb_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_callers_share_a_pool),
        cmocka_unit_test(a_caller_never_waits_for_another),
        cmocka_unit_test(a_job_may_use_the_pool_that_it_runs_on),
        cmocka_unit_test(results_do_not_depend_on_the_pool),
        cmocka_unit_test(what_is_written_does_not_depend_on_the_pool),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
