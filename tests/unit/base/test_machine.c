/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of memory: control groups of both versions, made of files. */
#include "base/memory/machine.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MB      (UINT64_C(1) << 20)
#define MACHINE (UINT64_C(1000) * MB)

static char root[64];

static void write_below(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static uint64_t limit_with(const char *list)
{
    char path[512];
    write_below("list", list);
    snprintf(path, sizeof path, "%s/list", root);
    return lode_machine_limit(path, root, MACHINE);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/lode-machine-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command); /* NOLINT(cert-env33-c): the test's own folder */
}

static void the_smallest_limit_of_a_group_and_those_above_holds(void **state)
{
    (void)state;
    write_below("slurm/job_7/step_0/memory.max", "max\n");
    write_below("slurm/job_7/memory.max", "209715200\n");
    write_below("slurm/memory.max", "524288000\n");
    assert_int_equal(limit_with("0::/slurm/job_7/step_0\n"), 200 * MB);
    assert_int_equal(limit_with("0::/slurm/job_7\n"), 200 * MB);
    assert_int_equal(limit_with("0::/slurm\n"), 500 * MB);
    assert_int_equal(limit_with("0::/\n"), MACHINE);
}

static void groups_of_version_1_have_limits(void **state)
{
    (void)state;
    write_below("memory/slurm/uid_1/job_7/memory.limit_in_bytes", "104857600\n");
    write_below("memory/slurm/uid_1/job_7/step_0/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(limit_with("9:cpuset:/other\n4:memory:/slurm/uid_1/job_7/step_0\n"), 100 * MB);
    assert_int_equal(limit_with("4:cpu,memory:/slurm/uid_1/job_7\n"), 100 * MB);
    assert_int_equal(limit_with("4:cpu:/slurm/uid_1/job_7\n"), MACHINE);
}

static void a_container_sees_its_limit_at_the_top(void **state)
{
    (void)state;
    write_below("memory.max", "52428800\n");
    assert_int_equal(limit_with("0::/somewhere/that/is/not/mounted\n"), 50 * MB);
    assert_int_equal(limit_with("0::/\n"), 50 * MB);
}

static void what_cannot_be_read_is_no_limit(void **state)
{
    static char long_line[9000];
    (void)state;
    memset(long_line, 'x', sizeof long_line - 1);
    memcpy(long_line, "0::/", 4);
    write_below("a/memory.max", "-5\n");
    write_below("b/memory.max", "");
    write_below("c/memory.max", "99999999999999999999999\n");
    write_below("d/memory.max", "0\n");
    static const char *const lists[] = {"",       "0\n",      "0:\n",    "::\n",   "0::",      "0::/a\n",
                                        "0::b\n", "0::/c/\n", "0::/d\n", "\n\n\n", "0::////\n"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        assert_int_equal(limit_with(lists[i]), MACHINE);
    assert_int_equal(limit_with(long_line), MACHINE);
    assert_int_equal(lode_machine_limit("/nonexistent", root, MACHINE), MACHINE);
}

static void this_machine_has_memory(void **state)
{
    (void)state;
    assert_true(lode_machine_memory() > MB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_smallest_limit_of_a_group_and_those_above_holds, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(groups_of_version_1_have_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_container_sees_its_limit_at_the_top, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_no_limit, set_up, tear_down),
        cmocka_unit_test(this_machine_has_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
