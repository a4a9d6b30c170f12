/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories of cached files: what was not used for longest goes, and nothing else. */
#include "base/cache/folder.h"
#include "unit.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SIZE = 100
};

static void put(int directory, const char *name, int used)
{
    const struct timespec times[] = {{.tv_sec = used}, {.tv_sec = used}};
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, SIZE), 0);
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

/* A digit for each of the files that is there, which it removes. */
static void take(int directory, char found[8])
{
    static const char *const names[] = {"a1.x", "a2.x", "a3.x", "a4.x", "b5.x", "a6.y"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (unlinkat(directory, names[i], 0) == 0)
            found[count++] = names[i][1];
    found[count] = '\0';
}

static void the_oldest_files_of_a_kind_are_removed(void **state)
{
    static const struct {
        uint64_t most;
        const char *kept, *left;
    } cases[] = {{4 * SIZE, "a4.x", "123456"}, {4 * SIZE - 1, "a4.x", "12456"},
                 {2 * SIZE, "a4.x", "1456"},   {2 * SIZE, "a3.x", "1356"},
                 {0, "a2.x", "256"},           {0, "none", "56"}};
    char folder[] = "/tmp/lode-cache-XXXXXX", path[64], found[8];
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/deep/er", folder);
    lode_cache_make(path);
    int directory = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(directory >= 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* By use: 3, 2, 4, 1. The others are of another kind. */
        put(directory, "a1.x", 40);
        put(directory, "a2.x", 20);
        put(directory, "a3.x", 10);
        put(directory, "a4.x", 30);
        put(directory, "b5.x", 1);
        put(directory, "a6.y", 1);
        lode_cache_trim(directory, &(struct lode_cache_kind){"a", ".x", cases[i].most}, cases[i].kept);
        take(directory, found);
        assert_string_equal(found, cases[i].left);
    }
    close(directory);
    lode_cache_trim(-1, &(struct lode_cache_kind){"a", ".x", 0}, ""); /* there is none */
    assert_int_equal(rmdir(path), 0);
    (void)snprintf(path, sizeof path, "%s/deep", folder);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_oldest_files_of_a_kind_are_removed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
