/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record/permit.h"

#include "output/report.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int read_number(const char *path, int otherwise)
{
    char text[32], *end = text;
    long number = 0;
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof text, file))
        number = strtol(text, &end, 10);
    if (file)
        fclose(file);
    return end != text && number >= INT_MIN && number <= INT_MAX ? (int)number : otherwise;
}

/* 0, or the error: the event is closed again at once. */
static int try_event(int pid, unsigned type, unsigned long long config, int has_kernel)
{
    struct perf_event_attr attr = {.type = type,
                                   .size = sizeof attr,
                                   .config = config,
                                   .sample_period = 1000000,
                                   .sample_type = PERF_SAMPLE_IP,
                                   .disabled = 1,
                                   .exclude_kernel = !has_kernel,
                                   .exclude_hv = 1};
    int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* The number of a tracepoint of the scheduler; negative if it cannot be read. */
static int tracepoint_of(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/kernel/tracing/events/sched/%s/id", name);
    int id = read_number(path, -1);
    if (id >= 0)
        return id;
    snprintf(path, sizeof path, "/sys/kernel/debug/tracing/events/sched/%s/id", name);
    return read_number(path, -1);
}

void permit_ask(int pid, permit *found)
{
    *found = (permit){.paranoid = read_number("/proc/sys/kernel/perf_event_paranoid", PERMIT_UNKNOWN),
                      .kptr = read_number("/proc/sys/kernel/kptr_restrict", PERMIT_UNKNOWN),
                      .max_rate = read_number("/proc/sys/kernel/perf_event_max_sample_rate", PERMIT_UNKNOWN)};
    int with_kernel = try_event(pid, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1);
    found->code = with_kernel ? try_event(pid, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0) : 0;
    found->state = !with_kernel ? PERMIT_ALL : found->code ? PERMIT_NONE : PERMIT_USER;
    if (found->state == PERMIT_NONE)
        return;
    int is_all = found->state == PERMIT_ALL, tracepoint = tracepoint_of("sched_switch");
    found->has_cycles = try_event(pid, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, is_all) == 0;
    found->has_sched = is_all && tracepoint >= 0 &&
                       try_event(pid, PERF_TYPE_TRACEPOINT, (unsigned long long)tracepoint, 1) == 0;
    found->has_waking = tracepoint_of("sched_waking") >= 0;
}

void permit_say(const permit *found, int wants_sched)
{
    if (!found->has_cycles)
        report("hardware counters do not work here: samples are taken by time (cpu-clock), not by cycles");
    if (found->state == PERMIT_USER)
        report("time in the kernel is not recorded: kernel.perf_event_paranoid is %d; 'sudo sysctl "
               "kernel.perf_event_paranoid=1' permits it",
               found->paranoid);
    else if (found->kptr > 0 && geteuid() != 0)
        report("functions of the kernel have no names: kernel.kptr_restrict is %d; 'sudo sysctl "
               "kernel.kptr_restrict=0' shows them",
               found->kptr);
    if (wants_sched && !found->has_sched)
        report("off-CPU time is recorded without call stacks: the events of the scheduler are for root, or "
               "need 'sudo sysctl kernel.perf_event_paranoid=-1' and 'sudo mount -o remount,mode=755 "
               "/sys/kernel/tracing'");
}

static void say_other_process(int pid)
{
    struct stat status;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", pid);
    if (stat(path, &status) == 0 && status.st_uid != geteuid())
        report("process %d belongs to user %u: record it as that user, or as root", pid,
               (unsigned)status.st_uid);
}

void permit_say_refused(const permit *found, int pid)
{
    if (found->code == ESRCH) {
        report("there is no process %d", pid);
    } else if (found->code == ENOSYS || (found->code == EPERM && found->paranoid < 2)) {
        report("perf is not permitted: the system call perf_event_open fails (%s), as in containers whose "
               "seccomp profile does not allow it",
               strerror(found->code));
    } else {
        report("perf is not permitted: kernel.perf_event_paranoid is %d; 'sudo sysctl "
               "kernel.perf_event_paranoid=1' permits it until the next boot",
               found->paranoid);
        if (pid)
            say_other_process(pid);
    }
}
