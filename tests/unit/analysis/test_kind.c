/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of functions, by names that profilers and tracers wrote. */
#include "unit.h"
#include <lode/unstable/kind.h>
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

/* Names as tracers and samplers write them. */
static const struct call {
    const char *activity, *effect, *module, *name;
} calls[] = {
    /* C++, mangled and not. */
    {"lock", "join-thread", NULL, "_ZNSt6thread4joinEv"},
    {"lock", "join-thread", "/opt/app/mt", "std::thread::join()"},
    {"lock", "join-thread", "/opt/app/mt", "std::thread::join"},
    {"lock", "join-thread", "/usr/lib/libstdc++.so.6", "std::thread::join() [libstdc++.so.6]"},
    {"lock", "join-thread", NULL, "std::jthread::~jthread()"},
    {"lock", "join-thread", NULL, "std::__1::thread::join()"},
    {"lock", "join-thread", NULL, "thrd_join"},
    {"lock", "join-thread", "libc.so.6", "__pthread_clockjoin_ex"},
    {"thread", "start-thread", NULL,
     "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"},
    {"thread", "none", NULL, "std::thread::thread<void (&)(int), int&, void>(void (&)(int), int&)"},
    {"thread", "start-thread", NULL,
     "std::future<std::__invoke_result<main::{lambda()#1}>::type> std::async<main::{lambda()#1}>(std::launch, "
     "main::{lambda()#1}&&)"},
    {"thread", "none", NULL,
     "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)(int), int> > >::_M_run()"},
    {"thread", "start-thread", "libc.so.6", "clone3"},
    {"lock", "wait-future", NULL, "std::future<int>::get()"},
    {"lock", "wait-future", NULL,
     "std::__basic_future<std::vector<int, std::allocator<int> > >::wait() const"},
    {"lock", "wait-future", NULL,
     "std::future_status std::__basic_future<void>::wait_for<long, std::ratio<1l, "
     "1000l>>(std::chrono::duration<long, std::ratio<1l, 1000l>> const&) const"},
    {"lock", "wait-condition", NULL, "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"},
    {"lock", "wait-condition", NULL,
     "void std::condition_variable::wait<Queue::pop()::{lambda()#1}>(std::unique_lock<std::mutex>&, "
     "Queue::pop()::{lambda()#1})"},
    {"lock", "wait-condition", NULL,
     "bool std::_V2::condition_variable_any::wait_for<std::unique_lock<std::mutex>, long, std::ratio<1l, 1l> "
     ">(std::unique_lock<std::mutex>&, std::chrono::duration<long, std::ratio<1l, 1l> > const&)"},
    {"lock", "wait-condition", NULL, "cnd_wait"},
    {"lock", "take-lock", NULL, "std::mutex::lock()"},
    {"lock", "take-lock", NULL, "std::unique_lock<std::mutex>::lock()"},
    {"lock", "take-lock", NULL, "std::lock_guard<std::mutex>::lock_guard(std::mutex&)"},
    {"lock", "release-lock", NULL, "std::lock_guard<std::mutex>::~lock_guard()"},
    {"lock", "take-lock", NULL, "std::shared_mutex::lock_shared()"},
    {"lock", "take-lock", NULL, "mtx_lock"},
    {"lock", "take-lock", "libc.so.6", "__lll_lock_wait"},
    {"lock", "wait", "libc.so.6", "__futex_abstimed_wait_common"},
    {"lock", "wait-barrier", NULL, "std::barrier<std::__empty_completion>::arrive_and_wait(long)"},
    {"lock", "wait-barrier", NULL, "std::latch::wait() const"},
    {"lock", "wait-semaphore", NULL, "std::counting_semaphore<1l>::acquire()"},
    {"lock", "wait-semaphore", NULL, "sem_wait@@GLIBC_2.34"},
    {"lock", "call-once", NULL, "void std::call_once<void (&)()>(std::once_flag&, void (&)())"},
    {"lock", "yield", NULL, "std::this_thread::yield()"},
    {"sleep", "sleep", NULL,
     "void std::this_thread::sleep_for<long, std::ratio<1l, 1000l> >(std::chrono::duration<long, "
     "std::ratio<1l, 1000l> > const&)"},
    {"alloc", "allocate", NULL, "operator new(unsigned long)"},
    {"alloc", "free", NULL, "_ZdlPvm@plt"},
    {"lib", "none", NULL, "operator new(unsigned long, void*)"},
    {"alloc", "allocate", NULL,
     "void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(__gnu_cxx::__normal_iterator<int*, "
     "std::vector<int, std::allocator<int> > >, int const&)"},
    {"alloc", "allocate", "libc.so.6", "_int_malloc"},
    {"lib", "may-allocate", NULL,
     "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)"},
    {"copy", "copy", "libc.so.6", "__memmove_avx_unaligned_erms"},
    {"copy", "copy", NULL, "__memcpy_chk@plt"},
    {"lib", "none", "libc.so.6", "__memcmp_avx2_movbe"},
    {"file", "read", NULL,
     "std::basic_istream<char, std::char_traits<char> >& std::getline<char, std::char_traits<char>, "
     "std::allocator<char> >(std::basic_istream<char, std::char_traits<char> >&, std::__cxx11::basic_string<char, "
     "std::char_traits<char>, std::allocator<char> >&)"},
    {"file", "write", NULL,
     "std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> "
     ">(std::basic_ostream<char, std::char_traits<char> >&, char const*)"},
    {"file", "write", NULL, "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc@plt"},
    {"file", "write", NULL, "std::ostream::flush()"},
    {"file", "use-file", NULL,
     "std::basic_ofstream<char, std::char_traits<char> >::open(char const*, std::_Ios_Openmode)"},
    {"file", "use-file", NULL, "std::filesystem::remove(std::filesystem::__cxx11::path const&)"},
    {"file", "none", NULL, "std::filesystem::__cxx11::path::parent_path[abi:cxx11]() const"},
    {"file", "sync-disk", NULL, "fdatasync"},
    {"file", "sync-disk", NULL, "fsync@plt"},
    {"file", "read", "libc.so.6", "__GI___libc_read"},
    {"file", "read", "libc.so.6", "__read_nocancel"},
    {"file", "write", NULL, "write@plt"},
    {"file", "use-file", NULL, "open64@plt"},
    {"net", "network", NULL, "recv@plt"},
    {"net", "poll", NULL, "epoll_wait"},
    {"thread", "start-process", NULL, "fork@plt"},
    {"thread", "start-process", NULL, "posix_spawn"},
    {"lock", "wait-process", NULL, "waitpid"},
    {"lock", "wait-process", NULL, "wait@plt"},
    {"lib", "throw", NULL, "__cxa_throw"},
    {"lib", "throw", NULL, "_Unwind_Resume.cold"},
    {"loader", "load", NULL, "dlopen@@GLIBC_2.34"},
    {"loader", "load", "ld-linux-x86-64.so.2", "_dl_relocate_object"},
    {"loader", "load", "ld-linux-x86-64.so.2", "do_lookup_x"},
    {"alloc", "map", NULL, "mmap64@plt"},
    {"alloc", "free", "libc.so.6", "_int_free.isra.0"},
    {"alloc", "allocate", "libc.so.6", "malloc_consolidate.part.0"},
    {"file", "sync-disk", "[kernel.kallsyms]", "__x64_sys_fdatasync"},
    {"sleep", "sleep", NULL, "__x64_sys_nanosleep_[k]"},
    {"kernel", "none", "[kernel.kallsyms]", "do_syscall_64"},
    {"omp", "omp-region", "libgomp.so.1", "GOMP_parallel"},
    {"omp", "take-lock", "/opt/app/omp", "GOMP_critical_start"},
    {"mpi", "collective", "/usr/lib/libmpi.so.40", "MPI_Barrier"},
    {"mpi", "collective", "/usr/lib/libmpi.so.40", "PMPI_Allreduce"},
    {"mpi", "collective", "/opt/app/solver", "mpi_allreduce_"},
    {"mpi", "message", "/usr/lib/libmpi_mpifh.so.40", "pmpi_waitall_f08_"},
    {"mpi", "write", NULL, "mpi_file_write_at_all_"},
    {"mpi", "none", NULL, "mpi_comm_rank_"},
    {"mpi", "none", "/usr/lib/libmpi.so.40", "opal_free"},
    /* Rust and Go. */
    {"lock", "join-thread", NULL, "std::thread::JoinHandle<T>::join"},
    {"lock", "join-thread", NULL, "_ZN3std6thread19JoinHandle$LT$T$GT$4join17h0123456789abcdefE"},
    {"lock", "take-lock", NULL, "std::sync::mutex::Mutex<T>::lock::h0123456789abcdef"},
    {"alloc", "allocate", NULL, "__rust_alloc"},
    {"lib", "throw", NULL, "core::panicking::panic_fmt"},
    {"alloc", "allocate", "/opt/go/demo", "runtime.mallocgc"},
    {"lock", "wait", "/opt/go/demo", "runtime.gopark"},
    {"lock", "take-lock", "/opt/go/demo", "sync.(*Mutex).Lock"},
    {"lock", "join-thread", "/opt/go/demo", "sync.(*WaitGroup).Wait"},
    {"alloc", "free", "/opt/go/demo", "runtime.gcBgMarkWorker"},
    /* Names of a program that only look like those. */
    {"own", "none", "/opt/app/game", "game::World::join()"},
    {"own", "none", "/opt/app/game", "_ZN4game5World4joinEv"},
    {"own", "none", NULL, "MyQueue::wait(std::unique_lock<std::mutex>&)"},
    {"own", "none", NULL, "read(Config&)"},
    {"own", "none", NULL, "_Z4readR6Config"},
    {"own", "none", NULL, "log_write"},
    {"own", "none", NULL, "wait"},
    {"own", "none", NULL, "std_thread_join"},
    {"own", "none", NULL, "mpi_send"},
    {"own", "none", NULL, "<<a::b"},
    {"own", "none", NULL, "a::b<"},
    {"own", "none", NULL, "a::operator"},
    {"own", "none", NULL, "mystd::thread::join()"},
    {"own", "none", NULL, "app::std::thread::join()"},
    {"own", "none", NULL, "Pool::std_mutex_lock()"},
    {"own", "none", NULL, "std::vector<app::Lock, std::allocator<app::Lock> >::size() const"},
    {"own", "none", NULL, "app::Mutex::lock()"},
    {"own", "none", NULL, "fsync_all"},
    {"own", "none", NULL, "my_malloc"},
    {"own", "none", NULL, "app::malloc(unsigned long)"},
    {"own", "none", NULL, "malloc(Arena&)"},
    {"own", "none", NULL, "thread_join"},
    {"own", "none", NULL, "std::thread join(int)"},
    {"own", "none", NULL, "app::run(std::thread::id)"},
    {"own", "none", NULL, "void app::apply<std::mutex::lock>(int)"},
    {"own", "none", "/opt/go/demo", "main.(*Mutex).Lock"},
};

static void names_of_tracers_have_an_activity_and_an_effect(void **state)
{
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct call *c = &calls[i];
        const char *activity = lode_activity_name((int)lode_activity_of(NULL, c->module, c->name));
        const char *effect = lode_effect_name((int)lode_effect_of(NULL, c->module, c->name));
        if (strcmp(activity, c->activity) == 0 && strcmp(effect, c->effect) == 0)
            continue;
        print_message("%s is %s, %s, not %s, %s\n", c->name, activity, effect, c->activity, c->effect);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void every_effect_has_a_name_and_an_activity(void **state)
{
    (void)state;
    for (int i = 0; i < LODE_EFFECT_COUNT; i++) {
        assert_non_null(lode_effect_name(i));
        assert_non_null(lode_effect_title(i));
        assert_non_null(lode_activity_name((int)lode_effect_activity(i)));
    }
    assert_null(lode_effect_name(-1));
    assert_null(lode_effect_title(LODE_EFFECT_COUNT));
    assert_int_equal(lode_effect_activity(-1), LODE_ACTIVITY_OWN);
    assert_true(lode_effect_waits(LODE_EFFECT_JOIN));
    assert_false(lode_effect_waits(LODE_EFFECT_COPY));
    assert_false(lode_effect_waits(LODE_EFFECT_COUNT));
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
        cmocka_unit_test(names_of_tracers_have_an_activity_and_an_effect),
        cmocka_unit_test(every_effect_has_a_name_and_an_activity),
        cmocka_unit_test(every_kind_has_a_name_and_a_title),
        cmocka_unit_test(huge_names_are_decided_by_their_beginning),
    };
    return cmocka_run_group_tests_name("kind", tests, NULL, NULL);
}
