/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache of results: its bound, what goes first, and that a result is made once. */
#include "cache.h"
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The program's own main has this name; the linker renames it. */
int __wrap_main(void); // NOLINT(bugprone-reserved-identifier)

static atomic_int alive; /* results that are not freed */

static void *make_result(void)
{
    atomic_fetch_add(&alive, 1);
    return malloc(1);
}

static void free_result(void *result)
{
    atomic_fetch_sub(&alive, 1);
    free(result);
}

static int never(void *user)
{
    (void)user;
    return 0;
}

static int at_once(void *user)
{
    (void)user;
    return 1;
}

static void put(cache *k, const char *key, size_t size)
{
    assert_null(cache_take(k, key, never, NULL));
    void *result = make_result();
    cache_put(k, key, result, size, free_result);
    assert_true(cache_release(k, result));
}

static int has(cache *k, const char *key)
{
    void *result = cache_find(k, key);
    if (result)
        cache_release(k, result);
    return result != NULL;
}

static void size_stays_below_the_bound(void **state)
{
    cache *k = cache_create(100);
    char key[32];
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "result %u", i);
        put(k, key, 1 + i % 40);
        assert_in_range(cache_size(k), 1, 100);
    }
    assert_in_range(atomic_load(&alive), 1, 100);
    put(k, "larger than all", 101);
    assert_int_equal(cache_size(k), 0);
    cache_destroy(k);
    assert_int_equal(atomic_load(&alive), 0);
}

static void the_least_recently_used_goes_first(void **state)
{
    cache *k = cache_create(30);
    (void)state;
    put(k, "a", 10);
    put(k, "b", 10);
    put(k, "c", 10);
    assert_true(has(k, "a"));
    put(k, "d", 10);
    assert_true(has(k, "a") && has(k, "c") && has(k, "d"));
    assert_false(has(k, "b"));
    cache_destroy(k);
}

/* What somebody uses stays, even beyond the bound, until it is released. */
static void results_in_use_are_not_freed(void **state)
{
    cache *k = cache_create(10);
    (void)state;
    assert_null(cache_take(k, "used", never, NULL));
    void *used = make_result();
    cache_put(k, "used", used, 10, free_result);
    put(k, "other", 10);
    assert_ptr_equal(cache_find(k, "used"), used);
    assert_false(has(k, "other"));
    assert_true(cache_release(k, used));
    assert_true(cache_release(k, used));
    put(k, "other", 10);
    assert_false(has(k, "used"));
    cache_destroy(k);
    assert_int_equal(atomic_load(&alive), 0);
}

static void what_is_not_cached_is_the_callers(void **state)
{
    cache *k = cache_create(10);
    int mine;
    (void)state;
    assert_false(cache_release(k, &mine));
    cache_destroy(k);
    cache_destroy(NULL);
}

/* The one that makes a result gives up: the next one makes it. */
static void abandoned_results_are_made_by_the_next(void **state)
{
    cache *k = cache_create(10);
    (void)state;
    assert_null(cache_take(k, "a", never, NULL));
    /* It is being made, and the caller does not wait. */
    assert_null(cache_take(k, "a", at_once, NULL));
    cache_abandon(k, "a");
    put(k, "a", 1);
    cache_abandon(k, "a"); /* too late */
    assert_true(has(k, "a"));
    cache_destroy(k);
}

static void a_second_result_of_a_key_is_freed(void **state)
{
    cache *k = cache_create(10);
    (void)state;
    cache_add(k, "a", make_result(), 4, free_result);
    void *first = cache_find(k, "a");
    cache_add(k, "a", make_result(), 4, free_result);
    assert_int_equal(atomic_load(&alive), 1);
    assert_ptr_equal(cache_find(k, "a"), first);
    assert_int_equal(cache_size(k), 4);
    cache_release(k, first);
    cache_release(k, first);
    cache_destroy(k);
}

/* ---- threads ---- */

enum {
    THREADS = 4,
    ROUNDS = 200
};

struct shared {
    cache *k;
    atomic_int made[ROUNDS];
    atomic_int wrong;
};

/* All want the results of all rounds, of which the bound leaves some. */
static void *want_all(void *argument)
{
    struct shared *shared = argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char key[32];
        snprintf(key, sizeof key, "round %u", i);
        void *result = cache_take(shared->k, key, never, NULL);
        if (!result) {
            /* Nobody else is making it. */
            if (atomic_fetch_add(&shared->made[i], 1) != 0)
                atomic_fetch_add(&shared->wrong, 1);
            result = make_result();
            cache_put(shared->k, key, result, 1, free_result);
        }
        if (!cache_release(shared->k, result))
            atomic_fetch_add(&shared->wrong, 1);
    }
    return NULL;
}

static void a_result_that_several_want_is_made_once(void **state)
{
    static struct shared shared;
    pthread_t threads[THREADS];
    (void)state;
    shared.k = cache_create(ROUNDS);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, want_all, &shared), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&shared.wrong), 0);
    assert_int_equal(cache_size(shared.k), ROUNDS);
    cache_destroy(shared.k);
    assert_int_equal(atomic_load(&alive), 0);
}

int __wrap_main(void) // NOLINT(bugprone-reserved-identifier)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_stays_below_the_bound),
        cmocka_unit_test(the_least_recently_used_goes_first),
        cmocka_unit_test(results_in_use_are_not_freed),
        cmocka_unit_test(what_is_not_cached_is_the_callers),
        cmocka_unit_test(abandoned_results_are_made_by_the_next),
        cmocka_unit_test(a_second_result_of_a_key_is_freed),
        cmocka_unit_test(a_result_that_several_want_is_made_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
