/* SPDX-License-Identifier: BSD-3-Clause */
/* Interning: one number for equal items, whatever their hash. */
#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "failing_memory.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = 3000,
    DIFFERENT = 500,
    KEYS = 20000
};

struct pair {
    uint32_t first, second;
};

struct triple {
    uint32_t values[3];
};

static void equal_strings_have_one_number(void **state)
{
    struct lode_strings strings;
    char word[32];
    (void)state;
    lode_strings_init(&strings);
    for (unsigned i = 0; i < WORDS; i++) {
        snprintf(word, sizeof word, "%u", i * 7919 % DIFFERENT);
        uint32_t number = lode_strings_add(&strings, word);
        assert_int_equal(number, i < DIFFERENT ? i : i % DIFFERENT);
        assert_string_equal(lode_strings_at(&strings, number), word);
    }
    assert_int_equal(strings.items.count, DIFFERENT);
    lode_strings_free(&strings);
}

static void no_string_has_no_number(void **state)
{
    struct lode_strings strings;
    uint32_t number = 0;
    (void)state;
    lode_strings_init(&strings);
    assert_int_equal(lode_strings_add(&strings, NULL), LODE_NO_NUMBER);
    assert_true(lode_strings_put(&strings, NULL, &number));
    assert_int_equal(number, LODE_NO_NUMBER);
    assert_null(lode_strings_at(&strings, LODE_NO_NUMBER));
    assert_int_equal(lode_strings_add(&strings, ""), 0);
    lode_strings_free(&strings);
}

/* Of two sizes, as one of them has a hash of its own. */
static void add_all(struct lode_interner *pairs, struct lode_interner *triples)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t what = i % DIFFERENT;
        struct pair pair = {what, what / 2};
        struct triple triple = {{1, what, what / 3}};
        bool added;
        assert_int_equal(lode_interner_add(pairs, &pair, &added), what);
        assert_int_equal(added, i < DIFFERENT);
        assert_int_equal(lode_interner_add(triples, &triple, NULL), what);
        assert_int_equal(lode_interner_find(triples, &triple), what);
    }
    assert_int_equal(pairs->items.count, DIFFERENT);
    assert_int_equal(triples->items.count, DIFFERENT);
}

static void equal_structs_have_one_number(void **state)
{
    struct lode_interner pairs, triples;
    struct pair absent = {DIFFERENT, 0};
    (void)state;
    lode_interner_init(&pairs, sizeof(struct pair));
    lode_interner_init(&triples, sizeof(struct triple));
    assert_int_equal(lode_interner_find(&pairs, &absent), LODE_NO_NUMBER);
    for (unsigned round = 0; round < 3; round++) {
        add_all(&pairs, &triples);
        assert_int_equal(lode_interner_find(&pairs, &absent), LODE_NO_NUMBER);
        lode_interner_clear(&pairs);
        lode_interner_clear(&triples);
    }
    lode_interner_free(&pairs);
    lode_interner_free(&triples);
}

static void different_structs_with_one_hash_stay_apart(void **state)
{
    struct lode_interner pairs;
    (void)state;
    struct lode_hash_seed seed = lode_hash_seed;
    lode_hash_seed.first = lode_hash_seed.second = 0;
    lode_interner_init(&pairs, sizeof(struct pair));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(lode_interner_add(&pairs, &(struct pair){i % DIFFERENT, 3}, NULL), i % DIFFERENT);
    lode_interner_free(&pairs);
    lode_hash_seed = seed;
}

/* How many slots are looked at, beyond the first, to find all. */
static uint64_t steps(const uint64_t *keys)
{
    struct lode_interner interner;
    uint64_t sum = 0;
    lode_interner_init(&interner, sizeof *keys);
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(lode_interner_add(&interner, &keys[i], NULL), i);
    const struct lode_index *index = &interner.index;
    for (uint32_t i = 0; i < index->slot_count; i++)
        if (index->slots[i].number > 0)
            sum += (i - index->slots[i].hash) & (index->slot_count - 1);
    lode_interner_free(&interner);
    return sum;
}

static void keys_made_to_collide_are_harmless_in_another_process(void **state)
{
    uint64_t *keys = malloc(KEYS * sizeof *keys), key = 0;
    (void)state;
    assert_non_null(keys);
    lode_hash_reseed(1);
    for (unsigned i = 0; i < KEYS; i++) {
        do
            key += 16;
        while ((lode_hash_number(key) >> 32 & 0x7fff) >= 64);
        keys[i] = key;
    }
    assert_true(steps(keys) > KEYS * UINT64_C(1000));
    lode_hash_reseed(2);
    assert_true(steps(keys) < KEYS * UINT64_C(4));
    free(keys);
}

/* Adds 100 things; true if there was memory for all. */
static bool try_to_intern(void)
{
    struct lode_strings strings;
    struct lode_interner pairs;
    bool done = true;
    lode_strings_init(&strings);
    lode_interner_init(&pairs, sizeof(struct pair));
    for (uint32_t i = 0; i < 100 && done; i++) {
        char word[16];
        snprintf(word, sizeof word, "%u", i);
        uint32_t number = lode_strings_add(&strings, word),
                 pair = lode_interner_add(&pairs, &(struct pair){i, i}, NULL);
        done = number != LODE_NO_NUMBER && pair != LODE_NO_NUMBER;
        /* What failed once works the next time. */
        assert_int_equal(lode_strings_add(&strings, word), i);
        assert_int_equal(lode_interner_add(&pairs, &(struct pair){i, i}, NULL), i);
    }
    lode_strings_free(&strings);
    lode_interner_free(&pairs);
    return done;
}

static void each_allocation_may_fail(void **state)
{
    long failed = 0;
    (void)state;
    for (bool done = false; !done; failed += !done) {
        memory_left = failed;
        done = try_to_intern();
        memory_left = -1;
    }
    /* Under the address sanitizer, an arena makes each piece an allocation of its own. */
    assert_in_range(failed, 8, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_strings_have_one_number),
        cmocka_unit_test(no_string_has_no_number),
        cmocka_unit_test(equal_structs_have_one_number),
        cmocka_unit_test(different_structs_with_one_hash_stay_apart),
        cmocka_unit_test(keys_made_to_collide_are_harmless_in_another_process),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
