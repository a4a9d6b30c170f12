/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of functions, by names that profilers and tracers wrote. */
#include "unit.h"
#include <lode/kind.h>
#include <stdlib.h>
#include <string.h>

static const struct sample {
    const char *kind, *module, *name;
} samples[] = {
    {"own", "/opt/app/lulesh2.0", "CalcKinematicsForElems(Domain&, double, int) [clone ._omp_fn.6]"},
    {"own", "/opt/app/liblammps.so.0",
     "LAMMPS_NS::PairLJCutOMP::eval<0, 0, 1>(int, int, LAMMPS_NS::ThrData*)"},
    {"own", "/opt/app/testmeas-loops", "main._omp_fn.0"},
    {"own", NULL, "main"},
    {"own", NULL, NULL},
    {"own", "/opt/app/lulesh2.0", NULL},
    {"own", NULL, "read"},
    {"own", NULL, "freeze"},
    {"own", "/opt/go/demo", "runtime.main"},
    {"own", "/opt/app/ucx.so", "run"},
    {"mpi", "/usr/lib/libmpi.so.40.30.4", "mca_pml_ob1_send [libmpi.so.40.30.4]"},
    {"mpi", "/usr/lib/libmpi.so.12.1.1", "psm_recv [libmpi.so.12.1.1]"},
    {"mpi", "libopen-pal.so.40.30.2", "opal_progress [libopen-pal.so.40.30.2]"},
    {"mpi", "libuct_ib.so.0.0.0", NULL},
    {"mpi", "libucs.so.0.0.0", "ucs_event_set_wait [libucs.so.0.0.0]"},
    {"mpi", "libpsm2.so.2.2", "psm2_mq_ipeek2 [libpsm2.so.2.2]"},
    {"mpi", "libmonitor.so.0.0.0", "PMPI_Comm_rank"},
    {"mpi", "/opt/app/static", "MPI_Allreduce"},
    {"threads", "libgomp.so.1.0.0", "do_spin"},
    {"threads", "libomp.so", "__kmp_fork_barrier(int, int) [libomp.so]"},
    {"threads", NULL, "<omp barrier>"},
    {"threads", "libpthread-2.28.so", "__GI___pthread_rwlock_rdlock [libpthread-2.28.so]"},
    {"threads", "/opt/app/mt", "pthread_create"},
    {"threads", "libc-2.28.so", "__GI___sched_yield [libc-2.28.so]"},
    {"threads", "/opt/app/inline", "omp_get_num_threads@plt"},
    {"threads", "/opt/go/demo", "runtime.futex"},
    {"memory", "libc-2.28.so", "__memset_avx2_unaligned"},
    {"memory", "libc-2.31.so", "__GI___libc_free"},
    {"memory", "libc-2.31.so", "cfree@GLIBC_2.2.5 [libc-2.31.so]"},
    {"memory", "libc-2.28.so", "_int_malloc [libc-2.28.so]"},
    {"memory", "libstdc++.so.6.0.28", "operator new(unsigned long) [libstdc++.so.6.0.28]"},
    {"memory", "/opt/app/abc", "malloc"},
    {"memory", "/opt/app/abc", "_Znwm"},
    {"memory", "libnuma.so.1.0.0", "set_sizes"},
    {"memory", NULL, "page_fault_[k]"},
    {"memory", "/opt/go/demo", "runtime.mallocgc"},
    {"memory", "/opt/go/demo", "runtime.(*mheap).allocSpan"},
    {"io", "libpthread-2.28.so", "__libc_read [libpthread-2.28.so]"},
    {"io", "libc-2.28.so", "__GI___poll [libc-2.28.so]"},
    {"io", "libc-2.28.so", "_IO_file_xsputn@@GLIBC_2.2.5 [libc-2.28.so]"},
    {"io", "/opt/app/abc", "printf"},
    {"io", "/opt/app/abc", "write@plt"},
    {"io", NULL, "vfs_read_[k]"},
    {"io", NULL, "sun/nio/ch/SocketChannelImpl:.read_[j]"},
    {"io", "/opt/go/demo", "internal/poll.(*FD).Read"},
    {"system", "libc.so.6", "__libc_start_call_main"},
    {"system", "ld-2.28.so", "_dl_fixup [ld-2.28.so]"},
    {"system", "libm-2.28.so", "cbrtf32x [libm-2.28.so]"},
    {"system", "<vmlinux.11ac0300>", "do_signal [vmlinux]"},
    {"system", "[kernel.kallsyms]", "do_syscall_64"},
    {"system", "7efc21c89566f551ba9bac284645e9d6.vdso", "__vdso_clock_gettime"},
    {"system", "libhpcrun.so", "hpcrun_safe_enter"},
    {"system", "/usr/lib/x86_64-linux-gnu/libfoo.so.2", "foo"},
    {"system", NULL, "java.lang.Thread.run"},
    {"system", "/opt/go/demo", "runtime.systemstack"},
    {"gpu", NULL, "<gpu kernel>"},
    {"gpu", NULL, "<gpu copyin>"},
    {"gpu", "1165a3eeddeea5ea3616d1cdbc6faa59.gpubin", "kernmain()"},
    {"gpu", "gpu-kernel.312f16a5", NULL},
    {"gpu", "libamdhip64.so.5.4.50403", "hipMemcpy [libamdhip64.so.5.4.50403]"},
    {"gpu", "/opt/app/vectorAdd", "cudaLaunchKernel<char>(char const*, dim3, dim3, void**, unsigned long)"},
    {"gpu", "libacchost.so", "__pgi_uacc_launch [libacchost.so]"},
    {"idle", NULL, "<omp idle>"},
    {"idle", NULL, "<no activity>"},
    {"idle", NULL, "linux:schedule (pre-empted)"},
    {"idle", "libc-2.28.so", "__GI___nanosleep [libc-2.28.so]"},
    {"idle", "/opt/app/mt", "usleep"},
    {"idle", NULL, "cpu_startup_entry_[k]"},
};

static void module_decides_first_and_name_second(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *s = &samples[i];
        const char *found = lode_kind_name((int)lode_kind_of(s->module, s->name));
        if (strcmp(found, s->kind) != 0)
            fail_msg("%s in %s is %s, not %s", s->name ? s->name : "(no name)",
                     s->module ? s->module : "no module", found, s->kind);
    }
}

static void every_kind_has_a_name_and_a_title(void **state)
{
    (void)state;
    for (int i = 0; i < LODE_KIND_COUNT; i++) {
        assert_non_null(lode_kind_name(i));
        assert_non_null(lode_kind_title(i));
    }
    assert_null(lode_kind_name(-1));
    assert_null(lode_kind_name(LODE_KIND_COUNT));
    assert_null(lode_kind_title(LODE_KIND_COUNT));
}

/* Patterns with several stars on names that almost match. */
static void huge_names_are_decided_by_their_beginning(void **state)
{
    enum {
        SIZE = 1 << 22
    };
    char *name = malloc(SIZE);
    (void)state;
    assert_non_null(name);
    memset(name, 'm', SIZE - 1);
    name[SIZE - 1] = '\0';
    assert_int_equal(lode_kind_of("libc.so.6", name), LODE_KIND_SYSTEM);
    assert_int_equal(lode_kind_of(name, name), LODE_KIND_OWN);
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module_decides_first_and_name_second),
        cmocka_unit_test(every_kind_has_a_name_and_a_title),
        cmocka_unit_test(huge_names_are_decided_by_their_beginning),
    };
    return cmocka_run_group_tests_name("kind", tests, NULL, NULL);
}
