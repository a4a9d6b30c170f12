# SPDX-License-Identifier: BSD-3-Clause
"""Recordings with planted problems, for `lode diagnose`: threads that run, block, are pre-empted and call functions, in microseconds."""

import contextlib
import struct

import rec_reference  # noqa: F401  knows where the others are

import made

US = 1000
PROGRAM, SIZE = "/opt/x/prog", 0x10000
LIBRARY = ("socket", "writev", "timerfd_create", "fsync", "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_rwlock_wrlock", "pthread_rwlock_unlock", "pthread_cond_wait", "pthread_join",
           "pthread_barrier_wait", "malloc", "free", "write", "read", "usleep", "poll", "qsort", "GOMP_parallel", "GOMP_barrier", "MPI_Init", "MPI_Allreduce",
           "MPI_Send", "waitpid", "sprintf", "strlen", "sched_yield", "calloc", "std::mutex::lock", "std::mutex::unlock",
           "std::condition_variable::wait", "popen", "pclose", "dlopen", "dlclose", "mmap", "munmap", "__cxa_allocate_exception", "regcomp",
           "pthread_create", "fdatasync", "clock_nanosleep", "GOMP_loop_dynamic_next", "send", "recv")


class Thread:
    """What one thread does, one thing after the other."""

    def __init__(self, tid=100, pid=100, begin=0):
        self.tid, self.pid, self.time = tid, pid, made.TIME + begin * US
        self.records, self.perf, self.stack = [], [], []

    def run(self, time):
        self.time += round(time * US)
        return self

    def until(self, time):
        """Runs until a time of the recording."""
        self.time = max(self.time, made.TIME + round(time * US))
        return self

    def off(self, time, kind="out"):
        self.perf.append((self.tid, self.time, kind))
        self.time += round(time * US)
        self.perf.append((self.tid, self.time, "in"))
        self.time += 1  # scheduling events come after records of the same time
        return self

    def preempt(self, time):
        return self.off(time, "preempted")

    @contextlib.contextmanager
    def call(self, name, argument=None):
        """`argument` is recorded if there is one: a number."""
        self.records.append(("entry", self.time, len(self.stack), name, argument))
        self.stack.append(name)
        yield self
        self.stack.pop()
        self.records.append(("exit", self.time, len(self.stack), name, None))

    def work(self, name, time):
        # As in call(), which takes a third of the time of a million of these.
        self.records.append(("entry", self.time, len(self.stack), name, None))
        self.run(time)
        self.records.append(("exit", self.time, len(self.stack), name, None))
        return self

    def wait(self, name, time):
        with self.call(name):
            self.off(time)
        return self


def write(folder, threads, processors=8, has_sched=True, has_perf=False):
    folder.mkdir(parents=True)
    names = sorted({record[3] for thread in threads for record in thread.records})
    argued = sorted({record[3] for thread in threads for record in thread.records if record[4] is not None})
    place = {name: 0x1000 + 0x40 * i for i, name in enumerate(names)}
    tids = ",".join(str(thread.tid) for thread in threads)
    text = "cmdline:uftrace record --no-sched prog\n" if has_perf else ""
    text += f"cpuinfo:lines=2\ncpuinfo:nr_cpus={processors} / {processors} (online/possible)\ncpuinfo:desc=none\n"
    text += f"taskinfo:lines=2\ntaskinfo:nr_tid={len(threads)}\ntaskinfo:tids={tids}\n"
    if argued:
        text += f"argspec:lines=1\nargspec:{';'.join(f'{name}@arg1' for name in argued)}\n"
    mask = 1 << 7 | 1 << 4 | has_perf << 3 | bool(argued) << 10
    header = struct.pack("<8sIHBBQQHHI", b"Ftrace!", 4, 40, 1, 2, 0x163, mask, 1024, 0, 0)
    (folder / "info").write_bytes(header + text.encode())
    lines = [f'SESS timestamp=0.900000000 pid={pid} sid={made.SESSION} exename="{PROGRAM}"\n' for pid in sorted({t.pid for t in threads})]
    lines += [f"TASK timestamp=0.900000001 tid={thread.tid} pid={thread.pid}\n" for thread in threads]
    (folder / "task.txt").write_text("".join(lines))
    (folder / f"sid-{made.SESSION}.map").write_text(
        f"{made.BASE:x}-{made.BASE + SIZE:x} r-xp 00000000 00:00 0                          {PROGRAM}\n")
    symbols = "".join(f"{place[name]:016x} 00000040 {'P' if name in LIBRARY else 'T'} {name}\n" for name in names)
    (folder / "prog.sym").write_text(f"# symbols: {len(names)}\n# path name: {PROGRAM}\n{symbols}")
    for thread in threads:
        data = (made.record(kind, time, depth, made.BASE + place[name], None if argument is None else struct.pack("<q", argument))
                for kind, time, depth, name, argument in thread.records)
        (folder / f"{thread.tid}.dat").write_bytes(b"".join(data))
    if has_sched or has_perf:
        events = sorted((event for thread in threads for event in thread.perf if has_sched), key=lambda event: event[1])
        perf = b"".join(made.perf_record(*event) for event in events)
        # A thread that never left its processor has its end only.
        (folder / "perf-cpu0.dat").write_bytes(perf or made.perf_record(threads[0].tid, threads[0].time, "exit"))
    return folder
