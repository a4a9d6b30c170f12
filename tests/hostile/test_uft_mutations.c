/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Truncated and mutated recordings: nothing crashes, hangs or exhausts memory, events are balanced
 * and ordered, and all readers agree on findings (support/walk_recording.h). Also run under the
 * address and undefined behaviour sanitizers.
 */
#include "corpus.h"
#include "hostile.h"
#include "share.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_MILLISECONDS = 2000,
    MAX_MEGABYTES = 64,
    MAX_FILE = 32 * 1024, /* larger ones of the corpus only slow this down */
    RANDOM_MUTATIONS = 10000
};

static struct outcome exercise_made(const struct minirec *rec)
{
    lode_memory_file files[MINIREC_FILES];
    return exercise(files, minirec_list(rec, files), MAX_MILLISECONDS);
}

static uint64_t findings(const struct outcome *outcome)
{
    const lode_check_result *full = &outcome->walk.full;
    return full->errors + full->warnings + full->notes;
}

/* ---- truncations ---- */

/* Files whose calls end with their last record: any truncation is detected. */
static bool tells_its_end(const char *name)
{
    return strcmp(name, "100.dat") == 0 || strcmp(name, "101.dat") == 0;
}

static void truncate_all(const struct minirec_options *options)
{
    lode_memory_file files[MINIREC_FILES];
    struct minirec rec;
    struct share share = share_from_environment();
    unsigned long count = 0, noticed = 0;
    minirec_make(&rec, options);
    size_t file_count = minirec_list(&rec, files);
    for (size_t file = 0; file < file_count; file++) {
        lode_memory_file whole = files[file];
        for (size_t size = 0; size < whole.size; size++) {
            if (!share_has(share, size))
                continue;
            /* A copy, so that the sanitizer sees overruns. */
            unsigned char *copy = malloc(size ? size : 1);
            assert_non_null(copy);
            memcpy(copy, whole.data, size);
            files[file] = (lode_memory_file){whole.name, copy, size};
            struct outcome outcome = exercise(files, file_count, MAX_MILLISECONDS);
            if (tells_its_end(whole.name) && findings(&outcome) == 0)
                fail_msg("%s cut to %zu bytes is not noticed", whole.name, size);
            noticed += findings(&outcome) > 0;
            count++;
            free(copy);
        }
        files[file] = whole;
    }
    print_message("# %lu truncations, %lu are noticed\n", count, noticed);
    minirec_free(&rec);
    assert_little_memory(MAX_MEGABYTES);
}

static void no_truncation_does_harm(void **state)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    (void)state;
    truncate_all(&options);
}

static void no_truncation_of_an_old_big_endian_recording_does_harm(void **state)
{
    const struct minirec_options options = {
        .calls = 3, .big_endian = true, .is_32_bit = true, .has_old_symbols = true, .has_binary_tasks = true};
    (void)state;
    truncate_all(&options);
}

static void no_missing_file_does_harm(void **state)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct minirec rec;
    (void)state;
    minirec_make(&rec, &options);
    for (size_t i = 0; i < rec.count; i++) {
        lode_memory_file files[MINIREC_FILES];
        size_t count = minirec_list(&rec, files);
        files[i] = files[count - 1];
        exercise(files, count - 1, MAX_MILLISECONDS);
    }
    minirec_free(&rec);
}

/* ---- bit flips ---- */

static void no_bit_flip_does_harm(void **state)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct minirec rec;
    struct share share = share_from_environment();
    unsigned long count = 0, noticed = 0;
    double slowest = 0;
    (void)state;
    minirec_make(&rec, &options);
    for (size_t i = 0; i < rec.count; i++) {
        struct minirec_file *file = &rec.files[i];
        unsigned long flips = 0, file_noticed = 0;
        for (size_t bit = 0; bit < file->size * 8; bit++) {
            if (!share_has(share, bit))
                continue;
            file->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            struct outcome outcome = exercise_made(&rec);
            file->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            flips++;
            file_noticed += findings(&outcome) > 0;
            slowest = outcome.milliseconds > slowest ? outcome.milliseconds : slowest;
        }
        print_message("# %s: %lu bit flips, %lu are noticed\n", file->name, flips, file_noticed);
        count += flips;
        noticed += file_noticed;
    }
    print_message("# %lu bit flips, %lu (%.1f %%) are noticed; slowest %.1f ms\n", count, noticed,
                  100.0 * (double)noticed / (double)count, slowest);
    minirec_free(&rec);
    assert_little_memory(MAX_MEGABYTES);
}

/* ---- random mutations ---- */

static void overwrite(struct minirec_file *file, uint64_t *random)
{
    static const uint64_t nasty[] = {0,          1,          0xff,       0xffff,    0x7fffffff,
                                     0xffffffff, 1ull << 32, 1ull << 40, UINT64_MAX};
    uint64_t value = next_random(random) % 2 ? next_random(random)
                                             : nasty[next_random(random) % (sizeof nasty / sizeof *nasty)];
    size_t at = next_random(random) % file->size, width = (size_t)1 << next_random(random) % 4;
    for (size_t i = 0; i < width && at + i < file->size; i++)
        file->bytes[at + i] = (unsigned char)(value >> 8 * i);
}

/* Text that is likely to be taken for something. */
static void overwrite_text(struct minirec_file *file, uint64_t *random)
{
    static const char *const words[] = {"\n",
                                        " ",
                                        "\"",
                                        "0",
                                        "-",
                                        ",",
                                        ";",
                                        "@",
                                        "/",
                                        "999999999999999999999",
                                        "ffffffffffffffff",
                                        "SESS ",
                                        "DLOP ",
                                        "FORK ",
                                        "lines=",
                                        "arg1/s",
                                        "%s"};
    const char *word = words[next_random(random) % (sizeof words / sizeof *words)];
    size_t at = next_random(random) % file->size;
    for (size_t i = 0; word[i] && at + i < file->size; i++)
        file->bytes[at + i] = (unsigned char)word[i];
}

/* A piece is cut out, or comes twice; the file keeps its size at most. */
static void shift(struct minirec *rec, struct minirec_file *file, uint64_t *random)
{
    size_t from = next_random(random) % file->size, to = next_random(random) % file->size;
    size_t behind = from > to ? from : to;
    memmove(file->bytes + to, file->bytes + from, file->size - behind);
    if (from > to && next_random(random) % 2)
        minirec_cut(rec, file->name, file->size - (from - to));
}

static void mutate(struct minirec *rec, uint64_t *random)
{
    struct minirec_file *file = &rec->files[next_random(random) % rec->count];
    if (file->size == 0)
        return;
    switch (next_random(random) % 5) {
    case 0:
        file->bytes[next_random(random) % file->size] ^= (unsigned char)(1u << next_random(random) % 8);
        return;
    case 1:
        overwrite_text(file, random);
        return;
    case 2:
        shift(rec, file, random);
        return;
    case 3:
        if (next_random(random) % 8 == 0)
            minirec_cut(rec, file->name, next_random(random) % file->size);
        return;
    default:
        overwrite(file, random);
    }
}

static void mutate_at_random(const struct minirec *sound, uint64_t seed)
{
    struct share share = share_from_environment();
    uint64_t random = seed;
    unsigned long count = 0, errors = 0;
    double slowest = 0;
    for (unsigned i = 0; i < RANDOM_MUTATIONS; i++) {
        struct minirec bent;
        minirec_begin(&bent, &sound->options);
        for (size_t k = 0; k < sound->count; k++)
            minirec_set(&bent, sound->files[k].name, sound->files[k].bytes, sound->files[k].size);
        uint64_t hits = 1 + next_random(&random) % 4;
        for (uint64_t k = 0; k < hits; k++)
            mutate(&bent, &random);
        if (share_has(share, i)) {
            struct outcome outcome = exercise_made(&bent);
            count++;
            errors += outcome.walk.full.errors > 0;
            slowest = outcome.milliseconds > slowest ? outcome.milliseconds : slowest;
        }
        minirec_free(&bent);
    }
    print_message("# %lu random mutations, %lu have errors; slowest %.1f ms\n", count, errors, slowest);
    assert_little_memory(MAX_MEGABYTES);
}

static void no_random_mutation_of_a_made_recording_does_harm(void **state)
{
    const struct minirec_options options = {.calls = 20};
    struct minirec rec;
    (void)state;
    minirec_make(&rec, &options);
    mutate_at_random(&rec, 0x5eed);
    minirec_free(&rec);
}

static void load_file(struct minirec *rec, const char *folder, const char *name)
{
    char path[1024];
    static unsigned char bytes[MAX_FILE + 1];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    size_t size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    if (size <= MAX_FILE)
        minirec_set(rec, name, bytes, size);
}

static void no_random_mutation_of_a_real_recording_does_harm(void **state)
{
    static const char name[] = "uftrace/recorded/pg_args/uftrace.data";
    const struct minirec_options options = {.calls = 0};
    char folder[512];
    struct minirec rec;
    const struct dirent *entry;
    (void)state;
    if (!corpus_path(folder, sizeof folder, name))
        skip();
    minirec_begin(&rec, &options);
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    while ((entry = readdir(stream)) != NULL)
        if (entry->d_name[0] != '.')
            load_file(&rec, folder, entry->d_name);
    closedir(stream);
    mutate_at_random(&rec, 0xbad5eed);
    minirec_free(&rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_truncation_does_harm),
        cmocka_unit_test(no_truncation_of_an_old_big_endian_recording_does_harm),
        cmocka_unit_test(no_missing_file_does_harm),
        cmocka_unit_test(no_bit_flip_does_harm),
        cmocka_unit_test(no_random_mutation_of_a_made_recording_does_harm),
        cmocka_unit_test(no_random_mutation_of_a_real_recording_does_harm),
    };
    correct_skips();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
