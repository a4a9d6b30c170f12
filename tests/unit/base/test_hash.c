/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes with a seed: what they are, and that keys made for one seed are harmless under another. */
#include "base/memory/hash.h"
#include "base/memory/map.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEYS = 20000,
    TABLE = 1 << 15 /* the slots that a map of so many keys has */
};

/* From CPython: the hash of bytes(range(n)), SipHash-1-3 with a zero key (PYTHONHASHSEED=0). */
static void bytes_are_hashed_as_cpython_hashes_them(void **state)
{
    static const struct {
        size_t size;
        uint64_t hash;
    } known[] = {{1, UINT64_C(0x68a914128e01e473)},  {7, UINT64_C(0x2f098ab0c751325a)},
                 {8, UINT64_C(0xead411e67ebe2eea)},  {9, UINT64_C(0x75927f9d95124362)},
                 {31, UINT64_C(0x169739443111d49b)}, {64, UINT64_C(0x75e05fd5bbc870c6)}};
    unsigned char bytes[64];
    (void)state;
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    memset(lode_hash_seed.bytes, 0, sizeof lode_hash_seed.bytes);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(lode_hash_bytes(bytes, known[i].size) == known[i].hash);
}

/* The definition, with long multiplication by hand. */
static void numbers_are_hashed_as_the_theorem_says(void **state)
{
    (void)state;
    lode_hash_seed.first = (lode_hash_wide)3 << 64 | 5;
    lode_hash_seed.second = (lode_hash_wide)7 << 64;
    lode_hash_seed.offset = (lode_hash_wide)11 << 64;
    assert_true(lode_hash_number(UINT64_C(1) << 63) == (UINT64_C(3) << 63) + 2 + 11);
    assert_true(lode_hash_pair(2, 10) == 6 + 70 + 11);
}

/* How many slots are looked at, beyond the first, to find every key of a map. */
static uint64_t steps(const uint64_t *keys)
{
    struct lode_map map;
    uint64_t sum = 0;
    lode_map_init(&map);
    for (uint32_t i = 0; i < KEYS; i++)
        assert_non_null(lode_map_add(&map, keys[i], i, NULL));
    assert_int_equal(map.capacity, TABLE);
    for (size_t i = 0; i < map.capacity; i++)
        if (map.slots[i].used)
            sum += (i - (size_t)lode_hash_number(map.slots[i].key)) & (TABLE - 1);
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(*lode_map_get(&map, keys[i]), i);
    lode_map_free(&map);
    return sum;
}

static void keys_that_collide_under_one_seed_spread_under_another(void **state)
{
    uint64_t *keys = malloc(KEYS * sizeof *keys), key = 0;
    (void)state;
    assert_non_null(keys);
    lode_hash_reseed(1);
    for (unsigned i = 0; i < KEYS; i++) {
        do
            key += 16;
        while ((lode_hash_number(key) & (TABLE - 1)) >= 64);
        keys[i] = key;
    }
    uint64_t made_for_it = steps(keys);
    lode_hash_reseed(2);
    uint64_t under_another = steps(keys);
    print_message("# %llu steps under the seed that the keys were made for, %llu under another\n",
                  (unsigned long long)made_for_it, (unsigned long long)under_another);
    assert_true(made_for_it > KEYS * UINT64_C(1000));
    assert_true(under_another < KEYS * UINT64_C(4));
    free(keys);
}

/* Keys that programs have: ids from 0 on, addresses with a stride, pairs of small numbers. */
static void keys_in_a_row_spread_under_any_seed(void **state)
{
    static const uint64_t strides[] = {1, 16, 4096, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1};
    uint64_t *keys = malloc(KEYS * sizeof *keys);
    (void)state;
    assert_non_null(keys);
    for (uint64_t seed = 0; seed < 20; seed++)
        for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
            for (unsigned i = 0; i < KEYS; i++)
                keys[i] = i * strides[s];
            lode_hash_reseed(seed);
            assert_true(steps(keys) < KEYS * UINT64_C(20));
        }
    free(keys);
}

/* A new process: prints a hash, so that two of them can be compared. */
static uint64_t hash_of_a_new_process(void)
{
    char path[1024], command[2048], text[64] = "";
    const char *emulator = getenv("MESON_EXE_WRAPPER"); /* of a cross build */
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    path[length] = '\0';
    assert_true(snprintf(command, sizeof command, "%s '%s' hash", emulator ? emulator : "", path) <
                (int)sizeof command);
    FILE *other = popen(command, "r"); // NOLINT(cert-env33-c): this program again
    assert_non_null(other);
    assert_non_null(fgets(text, sizeof text, other));
    assert_int_equal(pclose(other), 0);
    return strtoull(text, NULL, 16);
}

static void each_process_has_a_seed_of_its_own(void **state)
{
    (void)state;
    assert_true(hash_of_a_new_process() != hash_of_a_new_process());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_hashed_as_cpython_hashes_them),
        cmocka_unit_test(numbers_are_hashed_as_the_theorem_says),
        cmocka_unit_test(keys_that_collide_under_one_seed_spread_under_another),
        cmocka_unit_test(keys_in_a_row_spread_under_any_seed),
        cmocka_unit_test(each_process_has_a_seed_of_its_own),
    };
    if (argc > 1 && strcmp(argv[1], "hash") == 0)
        return printf("%llx\n", (unsigned long long)lode_hash_number(1)) > 0 ? 0 : 1;
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
