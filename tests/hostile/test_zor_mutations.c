/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Truncated and mutated trace stores: nothing crashes, hangs or exhausts memory, events are
 * balanced and ordered, and all readers agree on findings (support/walk_recording.h).
 */
#include "hostile.h"
#include "minizor.h"
#include "share.h"
#include <stdlib.h>
#include <string.h>

enum {
    MAX_MILLISECONDS = 2000,
    MAX_MEGABYTES = 96,
    RANDOM_MUTATIONS = 3000
};

/* Walks a store with one file replaced; in a copy, so that the sanitizer sees overruns. */
static void exercise_with(const struct minizor *store, size_t file, const unsigned char *bytes, size_t size,
                          double most_milliseconds)
{
    lode_memory_file files[MINIZOR_FILES];
    size_t count = minizor_list(store, files);
    unsigned char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size > 0)
        memcpy(copy, bytes, size);
    files[file].data = copy;
    files[file].size = size;
    exercise(files, count, most_milliseconds);
    free(copy);
}

static void truncate_and_flip(unsigned flags, bool is_page)
{
    struct share share = share_from_environment();
    struct minizor store;
    minizor_make(&store, flags, is_page);
    minizor_describe(&store);
    for (size_t file = 0; file < store.count; file++) {
        struct minizor_bytes *content = &store.files[file].content;
        for (size_t size = 0; size < content->size; size++)
            if (share_has(share, size))
                exercise_with(&store, file, content->bytes, size, MAX_MILLISECONDS);
        for (size_t bit = 0; bit < content->size * 8; bit++) {
            if (!share_has(share, bit))
                continue;
            content->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            exercise_with(&store, file, content->bytes, content->size, MAX_MILLISECONDS);
            content->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
    minizor_free(&store);
}

static void truncated_and_flipped_stores_are_harmless(void **state)
{
    (void)state;
    truncate_and_flip(0x00, false);
    truncate_and_flip(0x11, false);
    truncate_and_flip(0x02, true);
    assert_little_memory(MAX_MEGABYTES);
}

static void random_changes_are_harmless(void **state)
{
    struct share share = share_from_environment();
    uint64_t random = 42;
    (void)state;
    for (unsigned i = 0; i < RANDOM_MUTATIONS; i++) {
        struct minizor store;
        minizor_make(&store, 0x00, i % 2 != 0);
        if (i % 3 == 0)
            minizor_describe(&store);
        struct minizor_bytes *data = minizor_file(&store, "traces.dat");
        for (unsigned k = 0; k < 1 + i % 8; k++)
            data->bytes[16 + next_random(&random) % (data->size - 16)] = (unsigned char)next_random(&random);
        if (share_has(share, i))
            exercise_with(&store, 0, data->bytes, data->size, MAX_MILLISECONDS);
        minizor_free(&store);
    }
    assert_little_memory(MAX_MEGABYTES);
}

/* Bytes that become a thousand times as many, and some that say they would. */
static void a_bomb_takes_no_more_than_a_chunk_may(void **state)
{
    struct minizor store;
    struct minizor_bytes payload = {0};
    (void)state;
    minizor_make(&store, 0x11, false);
    struct minizor_bytes *data = minizor_file(&store, "traces.dat");
    payload.bytes = calloc(1, 4 << 20);
    assert_non_null(payload.bytes);
    payload.size = payload.capacity = 4 << 20;
    minizor_chunk(data, &payload, MINIZOR_DEFLATE);
    free(payload.bytes);
    /* One that says that it is small. */
    size_t size = data->size;
    payload = (struct minizor_bytes){0};
    minizor_hex(&payload, "00");
    minizor_chunk(data, &payload, MINIZOR_DEFLATE);
    free(payload.bytes);
    data->bytes[size + 8] = 1;
    exercise_with(&store, 0, data->bytes, data->size, 20.0 * MAX_MILLISECONDS);
    minizor_free(&store);
    assert_little_memory(3 * MAX_MEGABYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_and_flipped_stores_are_harmless),
        cmocka_unit_test(random_changes_are_harmless),
        cmocka_unit_test(a_bomb_takes_no_more_than_a_chunk_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
