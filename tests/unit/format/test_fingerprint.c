/* SPDX-License-Identifier: BSD-3-Clause */
/* Fingerprints of stores: what changes them, and what does not. */
#include "unit.h"
#include <fcntl.h>
#include <lode/unstable/guard.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE 20000 /* more than the two ends that are read */

struct store {
    char path[64];
};

static void path_of(char *path, size_t size, const struct store *store, const char *name)
{
    snprintf(path, size, "%s/%s", store->path, name);
}

/* A file of `size` bytes, all of one value, that was written long ago. */
static void write_file(const struct store *store, const char *name, size_t size, char value)
{
    static const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char path[128], *bytes = malloc(size + 1);
    path_of(path, sizeof path, store, name);
    assert_non_null(bytes);
    memset(bytes, value, size + 1);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    assert_int_equal(futimens(file, times), 0);
    close(file);
    free(bytes);
}

static void change_byte(const struct store *store, const char *name, off_t offset)
{
    static const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char path[128];
    path_of(path, sizeof path, store, name);
    int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "x", 1, offset), 1);
    assert_int_equal(futimens(file, times), 0);
    close(file);
}

static struct store make_store(void)
{
    struct store store = {"/tmp/lode-fingerprint-XXXXXX"};
    char path[128];
    assert_non_null(mkdtemp(store.path));
    path_of(path, sizeof path, &store, "inside");
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(&store, "large", LARGE, 'a');
    write_file(&store, "empty", 0, 'a');
    write_file(&store, "inside/small", 10, 'b');
    return store;
}

static void remove_store(const struct store *store)
{
    static const char *const names[] = {"large", "empty", "renamed", "inside/small"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(path, sizeof path, store, names[i]);
        unlink(path);
    }
    path_of(path, sizeof path, store, "inside");
    rmdir(path);
    assert_int_equal(rmdir(store->path), 0);
}

struct prints {
    uint64_t content, identity;
};

static struct prints prints_of(const struct store *store)
{
    struct prints prints;
    lode_error error = {0};
    if (lode_store_fingerprint(store->path, &prints.content, &prints.identity, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return prints;
}

static void copies_have_the_same_content(void **state)
{
    struct store first = make_store(), second = make_store();
    (void)state;
    struct prints a = prints_of(&first), b = prints_of(&second), again = prints_of(&first);
    assert_true(a.content == b.content);
    assert_true(a.identity != b.identity);
    assert_true(a.content == again.content && a.identity == again.identity);
    assert_int_equal(lode_store_fingerprint(first.path, NULL, NULL, NULL), LODE_OK);
    remove_store(&first);
    remove_store(&second);
}

static void both_ends_of_files_count(void **state)
{
    static const off_t offsets[] = {0, 4095, LARGE - 4096, LARGE - 1};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct store store = make_store();
        struct prints before = prints_of(&store);
        change_byte(&store, "large", offsets[i]);
        struct prints after = prints_of(&store);
        assert_true(before.content != after.content && before.identity != after.identity);
        remove_store(&store);
    }
}

static void files_inside_directories_count(void **state)
{
    struct store store = make_store();
    (void)state;
    struct prints before = prints_of(&store);
    change_byte(&store, "inside/small", 5);
    assert_true(before.content != prints_of(&store).content);
    remove_store(&store);
}

static void names_and_sizes_count(void **state)
{
    struct store store = make_store();
    char from[128], to[128];
    (void)state;
    struct prints before = prints_of(&store);
    path_of(from, sizeof from, &store, "empty");
    path_of(to, sizeof to, &store, "renamed");
    assert_int_equal(rename(from, to), 0);
    struct prints renamed = prints_of(&store);
    assert_true(before.content != renamed.content);
    write_file(&store, "large", LARGE + 1, 'a');
    assert_true(renamed.content != prints_of(&store).content);
    remove_store(&store);
}

/* The same bytes, written later: a server has to notice. */
static void writing_changes_the_identity_only(void **state)
{
    static const struct timespec later[2] = {{.tv_sec = 1000, .tv_nsec = 1}, {.tv_sec = 1000, .tv_nsec = 1}};
    struct store store = make_store();
    char path[128];
    (void)state;
    struct prints before = prints_of(&store);
    path_of(path, sizeof path, &store, "large");
    assert_int_equal(utimensat(AT_FDCWD, path, later, 0), 0);
    struct prints after = prints_of(&store);
    assert_true(before.content == after.content);
    assert_true(before.identity != after.identity);
    remove_store(&store);
}

static void what_is_not_there_is_an_error(void **state)
{
    lode_error error = {0};
    uint64_t content;
    (void)state;
    assert_true(lode_store_fingerprint("/nonexistent/store", &content, NULL, &error) < 0);
    assert_true(error.text[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_have_the_same_content),      cmocka_unit_test(both_ends_of_files_count),
        cmocka_unit_test(files_inside_directories_count),    cmocka_unit_test(names_and_sizes_count),
        cmocka_unit_test(writing_changes_the_identity_only), cmocka_unit_test(what_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
