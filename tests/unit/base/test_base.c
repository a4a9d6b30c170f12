/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"
#include "base/io/bytes.h"
#include "base/io/input.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "base/memory/map.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/text/count.h"
#include "base/text/utf8.h"
#include "unit.h"
#include <errno.h>
#include <sched.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void numbers_read_the_same_at_any_alignment(void **state)
{
    (void)state;
    const uint8_t bytes[] = {0xee, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88, 0xee};
    assert_int_equal(get_u16le(bytes + 1), 0x0201);
    assert_int_equal(get_u16be(bytes + 1), 0x0102);
    assert_int_equal(get_u32le(bytes + 1), 0x04030201);
    assert_int_equal(get_u32be(bytes + 1), 0x01020304);
    assert_true(get_u64le(bytes + 1) == UINT64_C(0x8807060504030201));
    assert_true(get_u64be(bytes + 1) == UINT64_C(0x0102030405060788));
    const uint8_t one[] = {0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f};
    assert_true(get_f64le(one + 1) == 1.0);
}

static void numbers_come_back_as_written(void **state)
{
    (void)state;
    uint8_t bytes[9] = {0};
    put_u16le(bytes + 1, 0xabcd);
    assert_int_equal(get_u16le(bytes + 1), 0xabcd);
    put_u32be(bytes + 1, 0x89abcdef);
    assert_int_equal(bytes[1], 0x89);
    assert_int_equal(get_u32be(bytes + 1), 0x89abcdef);
    put_u64le(bytes + 1, UINT64_C(0x0123456789abcdef));
    assert_int_equal(bytes[1], 0xef);
    put_u64be(bytes + 1, UINT64_C(0x0123456789abcdef));
    assert_int_equal(bytes[1], 0x01);
    put_f64le(bytes + 1, -2.5);
    assert_true(get_f64le(bytes + 1) == -2.5);
    assert_int_equal(bytes[0], 0);
}

static void byte_ranges_stay_inside(void **state)
{
    (void)state;
    const uint8_t bytes[16] = {0};
    struct lode_range whole = {bytes, sizeof bytes}, part;
    assert_true(lode_range_part(whole, 0, 16, &part));
    assert_true(lode_range_part(whole, 16, 0, &part));
    assert_false(lode_range_part(whole, 17, 0, &part));
    assert_false(lode_range_part(whole, 8, 9, &part));
    assert_false(lode_range_part(whole, UINT64_MAX, 2, &part));
    assert_false(lode_range_part(whole, 2, UINT64_MAX, &part));
    assert_true(lode_range_array(whole, 4, 3, 4, &part));
    assert_ptr_equal(part.data, bytes + 4);
    assert_int_equal(part.size, 12);
    assert_false(lode_range_array(whole, 4, 4, 4, &part));
    /* The product of count and stride wraps around to something small. */
    assert_false(lode_range_array(whole, 0, UINT64_C(1) << 61, 8, &part));
}

static void arena_memory_is_zeroed_aligned_and_bounded(void **state)
{
    struct lode_arena arena;
    (void)state;
    lode_arena_init(&arena, 1 << 20);
    for (size_t size = 1; size < 3000; size += 7) {
        unsigned char *memory = lode_arena_alloc(&arena, 1, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
    }
    assert_null(lode_arena_alloc(&arena, 1, 1 << 20));
    assert_null(lode_arena_alloc(&arena, SIZE_MAX, 2));
    assert_null(lode_arena_alloc(&arena, SIZE_MAX, 1));
    assert_non_null(lode_arena_alloc(&arena, 0, 8));
    lode_arena_free(&arena);
}

static void arrays_grow_to_their_maximum(void **state)
{
    struct lode_array array;
    (void)state;
    lode_array_init(&array, sizeof(int), 100);
    for (int i = 0; i < 100; i++) {
        int *item = lode_array_push(&array);
        assert_non_null(item);
        assert_int_equal(*item, 0);
        *item = i;
    }
    assert_null(lode_array_push(&array));
    for (int i = 0; i < 100; i++)
        assert_int_equal(*LODE_ARRAY_AT(&array, int, i), i);
    lode_array_pop(&array);
    assert_non_null(lode_array_push(&array));
    lode_array_free(&array);
}

static void maps_agree_with_a_table(void **state)
{
    enum {
        KEYS = 5000
    };
    static uint32_t table[KEYS];
    struct lode_map map;
    uint64_t random = 1;
    (void)state;
    lode_map_init(&map);
    assert_null(lode_map_get(&map, 0));
    for (unsigned i = 0; i < 4 * KEYS; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t slot = (uint32_t)(random >> 40) % KEYS;
        bool added;
        /* Keys that share their low bits, as offsets of records do. */
        uint32_t *value = lode_map_add(&map, (uint64_t)slot << 32, i + 1, &added);
        assert_non_null(value);
        assert_int_equal(added, table[slot] == 0);
        if (added)
            table[slot] = i + 1;
        assert_int_equal(*value, table[slot]);
    }
    for (uint32_t slot = 0; slot < KEYS; slot++) {
        const uint32_t *value = lode_map_get(&map, (uint64_t)slot << 32);
        assert_int_equal(value ? *value : 0, table[slot]);
    }
    lode_map_clear(&map);
    assert_null(lode_map_get(&map, 0));
    lode_map_free(&map);
}

static void utf8_is_told_from_other_bytes(void **state)
{
    (void)state;
    const struct {
        const char *text;
        size_t valid;
    } cases[] = {
        {"", 0},
        {"plain", 5},
        {"gr\xc3\xbc\xc3\x9f", 6},
        {"\xe2\x82\xac", 3},
        {"\xf0\x9f\x98\x80", 4},
        {"a\xff", 1},
        {"a\xc3", 1},
        {"\xc0\xaf", 0},
        {"\xed\xa0\x80", 0},
        {"\xf4\x90\x80\x80", 0},
        {"\xe0\x80\xaf", 0},
        {"ok\x80", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(lode_utf8_valid_prefix(cases[i].text, strlen(cases[i].text)), cases[i].valid);
}

static void errors_hold_what_happened(void **state)
{
    lode_error error = {0};
    (void)state;
    assert_int_equal(lode_fail(&error, LODE_ERR_CORRUPT, "meta.db", 64, "%d of %d", 3, 2), LODE_ERR_CORRUPT);
    assert_int_equal(error.status, LODE_ERR_CORRUPT);
    assert_string_equal(error.file, "meta.db");
    assert_int_equal(error.offset, 64);
    assert_string_equal(error.text, "3 of 2");
    assert_int_equal(lode_fail(NULL, LODE_ERR_LIMIT, NULL, 0, "nobody listens"), LODE_ERR_LIMIT);
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    lode_describe(&error, LODE_ERR_IO, name, 0, "%s%s", name, name);
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

/* ---- sources ---- */

static void sources_come_from_memory_and_directories_alike(void **state)
{
    char path[] = "/tmp/lode-test-XXXXXX", file[64];
    lode_memory_file files[] = {{"a", "hello", 5}, {"empty", "", 0}};
    (void)state;
    assert_non_null(mkdtemp(path));
    for (size_t i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%s", path, files[i].name);
        FILE *stream = fopen(file, "wb");
        assert_non_null(stream);
        fwrite(files[i].data, 1, files[i].size, stream);
        fclose(stream);
    }
    for (unsigned in_memory = 0; in_memory < 2; in_memory++) {
        struct lode_folder folder;
        struct lode_input source;
        if (in_memory)
            lode_folder_open_memory(&folder, files, 2);
        else
            assert_int_equal(lode_folder_open(&folder, path, NULL), LODE_OK);
        assert_int_equal(lode_input_open(&source, &folder, "a", NULL), LODE_OK);
        assert_int_equal(source.bytes.size, 5);
        assert_memory_equal(source.bytes.data, "hello", 5);
        lode_input_close(&source);
        assert_int_equal(lode_input_open(&source, &folder, "empty", NULL), LODE_OK);
        assert_int_equal(source.bytes.size, 0);
        lode_input_close(&source);
        assert_int_equal(lode_input_open(&source, &folder, "missing", NULL), LODE_ABSENT);
        assert_true(lode_folder_has(&folder, "a") && lode_folder_has(&folder, "empty"));
        assert_false(lode_folder_has(&folder, "missing"));
        assert_true(lode_folder_begins(&folder, "a", "hello", 5));
        assert_false(lode_folder_begins(&folder, "a", "hellO", 5));
        assert_false(lode_folder_begins(&folder, "a", "hello!", 6));
        assert_false(lode_folder_begins(&folder, "empty", "h", 1));
        assert_false(lode_folder_begins(&folder, "missing", "h", 1));
        lode_folder_close(&folder);
    }
    for (size_t i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%s", path, files[i].name);
        unlink(file);
    }
    rmdir(path);
}

static void a_directory_that_is_not_there_is_an_error(void **state)
{
    struct lode_folder folder;
    lode_error error = {0};
    (void)state;
    assert_int_equal(lode_folder_open(&folder, "/nonexistent/store", &error), LODE_ERR_IO);
    assert_int_not_equal(error.os_errno, 0);
}

/* ---- the pool ---- */

struct job_state {
    uint64_t finished; /* items so far, in their order */
    uint64_t fail_work, fail_finish;
    _Atomic uint64_t worked;
};

static lode_status do_work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct job_state *job = context;
    (void)worker;
    job->worked++;
    /* Items take different times, so that they end out of order. */
    for (volatile unsigned i = 0; i < (item * 7919 % 13) * 1000; i++)
        ;
    if (item == job->fail_work)
        return lode_fail(error, LODE_ERR_CORRUPT, NULL, item, "work");
    return LODE_OK;
}

static lode_status do_finish(void *context, uint64_t item, lode_error *error)
{
    struct job_state *job = context;
    assert_int_equal(item, job->finished);
    job->finished++;
    if (item == job->fail_finish)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, item, "finish");
    return LODE_OK;
}

static void pool_results_come_out_in_order(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        struct job_state context = {.fail_work = UINT64_MAX, .fail_finish = UINT64_MAX};
        struct lode_job job = {.items = 500, .work = do_work, .finish = do_finish, .context = &context};
        assert_int_equal(lode_pool_run(threads, &job, NULL), LODE_OK);
        assert_int_equal(context.finished, 500);
        assert_int_equal(context.worked, 500);
    }
}

static void pool_ends_at_the_first_item_that_fails(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        struct job_state context = {.fail_work = 100, .fail_finish = UINT64_MAX};
        struct lode_job job = {.items = 5000, .work = do_work, .finish = do_finish, .context = &context};
        lode_error error = {0};
        assert_int_equal(lode_pool_run(threads, &job, &error), LODE_ERR_CORRUPT);
        assert_int_equal(error.offset, 100);
        assert_int_equal(context.finished, 100);
        assert_true(context.worked < 200);
        context = (struct job_state){.fail_work = UINT64_MAX, .fail_finish = 37};
        assert_int_equal(lode_pool_run(threads, &job, &error), LODE_ERR_LIMIT);
        assert_int_equal(error.offset, 37);
        assert_int_equal(context.finished, 38);
    }
}

/* A machine with 3,000 CPUs, of which this process may use every second one. */
static int many_processors(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    if (size < 3000 / 8) {
        errno = EINVAL;
        return -1;
    }
    CPU_ZERO_S(size, set);
    for (size_t i = 0; i < 3000; i += 2)
        CPU_SET_S(i, size, set);
    return 0;
}

static int no_processors(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    (void)size;
    (void)set;
    errno = EPERM;
    return -1;
}

static void processors_are_counted_beyond_1024(void **state)
{
    (void)state;
    assert_int_equal(lode_pool_count_processors(many_processors), 1500);
    assert_int_equal(lode_pool_count_processors(no_processors), 1);
    assert_true(lode_pool_processors() >= 1);
}

static void pool_without_items_does_nothing(void **state)
{
    struct lode_job job = {.items = 0, .work = do_work};
    (void)state;
    assert_int_equal(lode_pool_run(4, &job, NULL), LODE_OK);
    assert_int_equal(lode_pool_threads(0, 0), 1);
    assert_int_equal(lode_pool_threads(8, 3), 3);
}

static int cancel_at_three(void *user, const char *phase, uint64_t done, uint64_t total)
{
    assert_string_equal(phase, "testing");
    assert_int_equal(total, 10);
    (*(int *)user)++;
    return done == 3;
}

static void progress_can_cancel(void **state)
{
    int calls = 0;
    lode_error error = {0};
    struct lode_progress progress = {
        .report = cancel_at_three, .user = &calls, .phase = "testing", .total = 10};
    (void)state;
    assert_int_equal(lode_progress_add(&progress, 2, &error), LODE_OK);
    assert_int_equal(lode_progress_add(&progress, 1, &error), LODE_ERR_CANCELLED);
    assert_int_equal(calls, 2);
}

static void counts_have_separators_and_the_right_noun(void **state)
{
    (void)state;
    assert_string_equal(LODE_COUNTED(0, "row", "rows"), "0 rows");
    assert_string_equal(LODE_COUNTED(1, "thread waits", "threads wait"), "1 thread waits");
    assert_string_equal(LODE_COUNTED(999, "row", "rows"), "999 rows");
    assert_string_equal(LODE_COUNTED(1000, "row", "rows"), "1,000 rows");
    assert_string_equal(LODE_COUNTED(UINT64_MAX, "row", "rows"), "18,446,744,073,709,551,615 rows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_read_the_same_at_any_alignment),
        cmocka_unit_test(numbers_come_back_as_written),
        cmocka_unit_test(byte_ranges_stay_inside),
        cmocka_unit_test(arena_memory_is_zeroed_aligned_and_bounded),
        cmocka_unit_test(arrays_grow_to_their_maximum),
        cmocka_unit_test(maps_agree_with_a_table),
        cmocka_unit_test(counts_have_separators_and_the_right_noun),
        cmocka_unit_test(utf8_is_told_from_other_bytes),
        cmocka_unit_test(errors_hold_what_happened),
        cmocka_unit_test(sources_come_from_memory_and_directories_alike),
        cmocka_unit_test(a_directory_that_is_not_there_is_an_error),
        cmocka_unit_test(pool_results_come_out_in_order),
        cmocka_unit_test(pool_ends_at_the_first_item_that_fails),
        cmocka_unit_test(processors_are_counted_beyond_1024),
        cmocka_unit_test(pool_without_items_does_nothing),
        cmocka_unit_test(progress_can_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
