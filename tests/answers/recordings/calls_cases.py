# SPDX-License-Identifier: BSD-3-Clause
"""Recordings with planted problems, and what `lode diagnose` has to say of each: where a rule has to speak, where it must not, just below its limit, and
behind each guard."""

from calls_made import Thread

MS = 1000
CALM = {"processors": 8}


def main_with(fill):
    """A program with one thread."""
    thread = Thread()
    with thread.call("main"):
        fill(thread)
    return [thread]


def workers(count, fill, entry="serve", joined=True):
    """Threads that do what `fill(thread, number)` says; the first thread waits for their end."""
    threads = []
    for i in range(count):
        thread = Thread(101 + i, begin=10)
        with thread.call(entry):
            fill(thread, i)
        threads.append(thread)
    parent = Thread()
    with parent.call("main"):
        parent.run(10)
        for thread in threads if joined else ():
            with parent.call("pthread_join"):
                parent.off(max(1, (thread.time - parent.time) / 1000))
    return [parent, *threads]


# ---- locks ----

def lock(wait, hold, free, rounds=50, stolen=0, held_by="out", take="pthread_mutex_lock", drop="pthread_mutex_unlock", is_taken=True):
    """Two threads that wait for a lock, hold it and do something else, in microseconds; the lock is held while off the processor for `stolen`."""
    def fill(thread, _):
        for _ in range(rounds):
            thread.work("check", free)
            with thread.call("transfer"):
                if is_taken:
                    thread.wait(take, wait)
                elif wait:
                    thread.off(wait)
                thread.work("update", hold)
                if stolen:
                    thread.off(stolen, held_by)
                thread.work(drop, 1)
    return workers(2, fill)


def lock_and_more(wait, other):
    """As above, and the threads are blocked for another reason, too."""
    def fill(thread, _):
        for _ in range(50):
            thread.work("check", 200)
            with thread.call("transfer"):
                thread.wait("pthread_mutex_lock", wait).work("update", 125).work("pthread_mutex_unlock", 1)
            with thread.call("other"):
                thread.off(other)
    return workers(2, fill)


def lock_of_library():
    """A lock of C++, whose functions call those of C: it is held for 300 of 801 microseconds by each of two threads."""
    def fill(thread, _):
        for _ in range(50):
            thread.work("check", 300)
            with thread.call("transfer"):
                with thread.call("std::mutex::lock"):
                    thread.wait("pthread_mutex_lock", 200)
                thread.work("update", 300)
                with thread.call("std::mutex::unlock"):
                    thread.work("pthread_mutex_unlock", 1)
    return workers(2, fill)


def condition_of_library():
    """A condition of C++ that calls that of C: locks are seldom held."""
    def fill(thread, _):
        for _ in range(300):
            with thread.call("take"):
                thread.wait("pthread_mutex_lock", 100)
                with thread.call("std::condition_variable::wait"):
                    thread.wait("pthread_cond_wait", 500)
                thread.work("pthread_mutex_unlock", 1)
            thread.work("use", 500)
    return workers(2, fill)


def condition():
    """A queue: waiting for a condition is no waiting for a lock."""
    def fill(thread, _):
        for _ in range(50):
            with thread.call("take"):
                thread.work("pthread_mutex_lock", 1).wait("pthread_cond_wait", 500).work("pthread_mutex_unlock", 1)
            thread.work("use", 500)
    return workers(2, fill)


def interrupted(name):
    """Two threads that are pre-empted in a function, for four ninths of their time."""
    def fill(thread, _):
        for _ in range(50):
            thread.work("use", 500)
            with thread.call(name):
                thread.preempt(400)
    return workers(2, fill)


def turns(gap=0):
    """Two threads that run by turns, with a gap in which none does, in percent of the time."""
    def fill(thread, i):
        for k in range(20):
            if k % 2 == i:
                thread.work("use", 1 * MS * (1 - gap / 100))
                if gap:
                    thread.wait("pthread_cond_wait", 1 * MS * gap / 100)
            else:
                thread.wait("pthread_cond_wait", 1 * MS)
    return workers(2, fill)


# ---- unequal work ----

def shares(times, entry="serve"):
    return workers(len(times), lambda thread, i: thread.work("solve", times[i]), entry)


def common_and_more(times):
    """All threads load for the same time, which is the most of it; what they solve differs."""
    return workers(len(times), lambda thread, i: thread.work("load", 80 * MS).work("solve", times[i]))


def copies_and_tidies(thread, count):
    with thread.call("pack"):
        for _ in range(count):
            thread.work("memcpy", 1 * MS)
    thread.work("tidy", 20 * MS)


def queue():
    """Threads that take work from a queue: some have less because they are pre-empted, and none waits."""
    return workers(4, lambda thread, i: thread.work("use", 40 * MS if i else 80 * MS) if not i else
                   [thread.work("use", 10 * MS).preempt(10 * MS) for _ in range(4)])


def barriers(times):
    def fill(thread, i):
        for _ in range(10):
            thread.work("solve", times[i] / 10)
            if max(times) > times[i]:
                thread.wait("pthread_barrier_wait", (max(times) - times[i]) / 10)
    return workers(len(times), fill)


def sharing(counts):
    """Four threads on two processors, one of them slower: the later ones begin late, and wait for a processor. They make so many calls."""
    threads = []
    for i, (begin, wait, time) in enumerate(((0, 0, 200), (0, 0, 208), (92, 100, 239), (138, 100, 140))):
        thread = Thread(101 + i, begin=10 + begin * MS)
        with thread.call("serve"):
            if wait:
                thread.off(wait * MS)
            for _ in range(counts[i]):
                thread.work("simulate", time * MS / counts[i])
        threads.append(thread)
    parent = Thread()
    with parent.call("main"):
        parent.wait("pthread_join", 431 * MS)
    return [parent, *threads]


def waves():
    """Threads that follow each other are not compared."""
    threads = []
    for i in range(4):
        thread = Thread(101 + i, begin=10 + 30 * MS * i)
        with thread.call("serve"):
            thread.work("solve", (10 + 5 * i) * MS)
        threads.append(thread)
    parent = Thread()
    with parent.call("main"):
        parent.wait("pthread_join", 140 * MS)
    return [parent, *threads]


def sequence(count):
    """Threads that follow each other, without a limit on their number."""
    threads = []
    for i in range(count):
        threads.append(Thread(1001 + i, begin=10 + 20 * i).work("serve", 19))
    parent = Thread()
    with parent.call("main"):
        parent.run(10).wait("pthread_join", 20 * count)
    return [parent, *threads]


def ranks_of_threads():
    """Two ranks of four threads, each in MPI for 60 % of the time."""
    threads = [Thread(pid + i, pid) for pid in (200, 300) for i in range(4)]
    for thread in threads:
        with thread.call("main"):
            for _ in range(10):
                thread.work("solve", 4 * MS).work("MPI_Send", 6 * MS)
    return threads


def polling_launcher():
    """Two ranks that work, and the process that started them, which looks after them again and again."""
    launcher = Thread(100)
    with launcher.call("main"):
        for _ in range(100):
            launcher.work("check", 2).wait("usleep", 990)
    threads = [Thread(pid, pid) for pid in (200, 300)]
    for thread in threads:
        with thread.call("main"):
            for _ in range(10):
                thread.work("solve", 9.9 * MS).work("MPI_Allreduce", 100)
    return [launcher, *threads]


def connections(gap, times):
    """A thread for each connection: they begin `gap` milliseconds apart, and nobody waits for one of them."""
    threads = []
    for i, time in enumerate(times):
        thread = Thread(101 + i, begin=round(10 + gap * i * MS))
        with thread.call("serve"):
            thread.work("solve", time * MS)
        threads.append(thread)
    parent = Thread()
    with parent.call("main"):
        parent.run(10).wait("pthread_join", (max(thread.time for thread in threads) - parent.time) / 1000)
    return [parent, *threads]


def openmp(serial, inside, rounds=10, stolen=0, pid=100):
    """One process: work outside of regions, and that of each thread inside, in milliseconds."""
    threads = [Thread(pid + i, pid) for i in range(len(inside))]
    master, longest = threads[0], max(inside)
    time = 0
    master.records.append(("entry", master.time, 0, "main", None))
    master.stack.append("main")
    for _ in range(rounds):
        master.work("assemble", serial * MS / rounds)
        time += serial * MS / rounds
        with master.call("GOMP_parallel"):
            master.work("sweep._omp_fn.0", inside[0] * MS / rounds)
            master.until(time + longest * MS / rounds)
        for thread, work in zip(threads[1:], inside[1:]):
            thread.until(time)
            thread.work("sweep._omp_fn.0", work * MS / rounds)
            if stolen:
                thread.preempt(stolen)
        time += longest * MS / rounds
    master.stack.pop()
    master.records.append(("exit", master.time, 0, "main", None))
    return threads


def openmp_beside(busy):
    """A process with a region of 10 ms and a serial part of 90 ms, and two threads beside it that work, in milliseconds."""
    threads = openmp(90, [10, 10], rounds=1)
    for tid in (102, 103):
        thread = Thread(tid, 100)
        with thread.call("serve"):
            thread.work("crunch", busy * MS).wait("poll", (100 - busy) * MS)
        threads.append(thread)
    return threads


def openmp_and_parent():
    """Another thread of the process only waits for the end of the one that begins regions."""
    threads = openmp(30, [30, 30])
    parent = Thread(99, 100)
    with parent.call("main"):
        parent.wait("pthread_join", 60 * MS)
    return [parent, *threads]


def openmp_ranks(has_launcher):
    """Two ranks of two threads with serial parts."""
    threads = []
    for pid in (200, 300):
        master, other = Thread(pid, pid), Thread(pid + 1, pid)
        with master.call("main"):
            for k in range(5):
                with master.call("GOMP_parallel"):
                    master.work("sweep._omp_fn.0", 10 * MS)
                master.work("assemble", 10 * MS).work("MPI_Allreduce", 10)
                other.until(20 * MS * k).work("sweep._omp_fn.0", 10 * MS)
        threads += [master, other]
    if has_launcher:
        launcher = Thread()
        with launcher.call("main"):
            launcher.wait("waitpid", 100 * MS)
        threads.insert(0, launcher)
    return threads


def openmp_preempted():
    """Five sevenths of the run are serial; all threads are pre-empted for as long as they work."""
    master, other = Thread(100), Thread(101)
    with master.call("main"):
        for k in range(10):
            with master.call("assemble"):
                master.run(5 * MS).preempt(5 * MS)
            with master.call("GOMP_parallel"):
                with master.call("sweep._omp_fn.0"):
                    master.run(2 * MS).preempt(2 * MS)
            with other.until((14 * k + 10) * MS).call("sweep._omp_fn.0"):
                other.run(2 * MS).preempt(2 * MS)
    return [master, other]


def openmp_spins(stolen, rounds=10):
    """Two threads with equal work that wait as long; they are pre-empted while they spin, in milliseconds of each round of 20."""
    threads = [Thread(100), Thread(101)]
    master, other = threads
    with master.call("main"):
        for k in range(rounds):
            with master.call("GOMP_parallel"):
                master.work("sweep._omp_fn.0", 10 * MS).preempt(stolen * MS).until(20 * MS * (k + 1))
            with other.call("sweep._omp_fn.0"):
                other.work("relax", 10 * MS)
                with other.call("GOMP_barrier"):
                    other.preempt(stolen * MS).until(20 * MS * (k + 1))
    return threads


def ranks(times, mpi=None, steps=10, launcher=False, yields=0):
    """Processes that work, in milliseconds, and meet in MPI_Allreduce after each step, or are in MPI_Send for `mpi`."""
    threads = []
    for i, work in enumerate(times):
        thread = Thread(200 + i, 200 + i)
        with thread.call("main"):
            thread.work("MPI_Init", 100)
            for k in range(steps):
                thread.work("solve", work * MS / steps)
                if mpi:
                    with thread.call("MPI_Send"):
                        thread.run(mpi * MS / steps - yields)
                        if yields:
                            thread.preempt(yields)
                else:
                    with thread.call("MPI_Allreduce"):
                        thread.until(100 + (k + 1) * max(times) * MS / steps + 10 * (k + 1))
        threads.append(thread)
    if launcher:
        thread = Thread(150, 150)
        with thread.call("main"):
            thread.wait("poll", 200 * MS)
        threads.insert(0, thread)
    return threads


# ---- calls ----

def io(count, time, work, name="write", is_blocked=False, maker=None):
    def fill(thread):
        if maker:
            thread.work(maker, 1)
        thread.work("compute", work)
        for _ in range(count):
            with thread.call("save"):
                (thread.wait if is_blocked else thread.work)(name, time)
    return main_with(fill)


def allocations(count, each):
    def fill(thread):
        for _ in range(count // each):
            with thread.call("parse"):
                for _ in range(each):
                    thread.work("malloc", 0.1)
        thread.work("compute", 5 * MS)
    return main_with(fill)


def allocations_of_main():
    """All in the outermost function, which is not the first: a constructor runs before."""
    thread = Thread()
    thread.work("_GLOBAL__sub_I_table", 5)
    with thread.call("main"):
        for _ in range(100_000):
            thread.work("malloc", 0.1)
        thread.work("compute", 5 * MS)
    return [thread]


def tail(slow, times, median=50, calls=400, stolen=0, mark=20):
    """`slow` of the calls take `times` medians."""
    def fill(thread):
        for i in range(calls):
            with thread.call("handle"):
                thread.run(median * times if i % (calls // slow) == mark % (calls // slow) else median)
                if stolen:
                    thread.preempt(stolen)
    return main_with(fill)


def cut(fill, dropped=2):
    """The last records are missing, so that calls are open; scheduling events of the thread go on."""
    thread = Thread()
    with thread.call("main"):
        for _ in range(400):
            thread.work("handle", 50)
        with thread.call("handle"):
            fill(thread)
    del thread.records[-dropped:]
    return [thread]


def crowd():
    """Three threads on two processors: a few calls are long because others run."""
    return workers(3, lambda thread, _: [thread.work("handle", 5000 if i == 20 else 50) for i in range(400)])


def single_wait(wait, work, name="usleep", count=1):
    def fill(thread):
        with thread.call("connect"):
            for _ in range(count):
                thread.wait(name, wait / count)
        thread.work("compute", work)
    return main_with(fill)


def copies(each, count, work):
    """Calls of memcpy by one function, and other work, in microseconds."""
    def fill(thread):
        with thread.call("grow"):
            for _ in range(count):
                thread.work("memcpy", each)
        thread.work("compute", work)
    return main_with(fill)


def wait_beside():
    """Another thread works meanwhile."""
    other = Thread(101, begin=10)
    other.work("serve", 100 * MS)
    thread = Thread()
    with thread.call("main"):
        with thread.call("connect"):
            thread.wait("usleep", 60 * MS)
        thread.work("compute", 40 * MS)
    return [thread, other]


def recursion(calls, outer, other=0):
    def fill(thread):
        for _ in range(outer):
            with thread.call("count"):
                for _ in range(calls // outer // 20):
                    stack = [thread.call("count") for _ in range(20)]
                    for one in stack:
                        one.__enter__()
                        thread.run(1)
                    for one in reversed(stack):
                        one.__exit__(None, None, None)
        thread.work("compute", other)
    return main_with(fill)


def producer(work, use, count=3):
    """The first thread makes items, others use them; in milliseconds."""
    threads = [Thread()]
    threads[0].work("main", work * MS)
    for i in range(count):
        thread = Thread(101 + i)
        with thread.call("consume"):
            for _ in range(10):
                thread.work("use", use * MS / 10).wait("pthread_cond_wait", (work - use) * MS / 10)
        threads.append(thread)
    return threads


# (name, threads, ids of statements but hot spots and notes that have to be there, more)
CASES = [
    ("a thread that computes", main_with(lambda t: t.work("solve", 20 * MS)), set(), {"hot-spot"}),
    ("a library function that is called often", main_with(lambda t: [t.work("strlen", 0.9) for _ in range(60_000)]), set(), {"hot-spot"}),
    ("a short function that is called often", main_with(lambda t: [t.work("get", 0.2) for _ in range(100_000)]), set(),
     {"-hot-spot", "recorder-overhead"}),
    ("too short a run", main_with(lambda t: t.work("solve", 9 * MS)), set(), {"short-run"}),
    ("lock", lock(800, 800, 100), {"lock"}, {"-lock-not-judged"}, {"function": "transfer", "gain": 100 * 800 / 1701, "explains": "efficiency"}),
    ("lock: rwlock", lock(800, 800, 100, take="pthread_rwlock_wrlock", drop="pthread_rwlock_unlock"), {"lock"}, set()),
    ("lock: threads sleep with the lock", lock(800, 10, 100, stolen=800), {"lock"}, {"-lock-not-judged"}),
    ("lock: calls that take it were not recorded", lock(800, 800, 100, is_taken=False), {"lock"}, set(), {"function": "transfer"}),
    ("lock: just below 5 %", lock(49, 500, 452), set(), {"-lock-not-judged"}),
    ("lock: just above 5 %", lock(60, 500, 452), {"lock"}, set()),
    ("lock: most of the waiting has another cause", lock_and_more(75, 600), {"lock", "efficiency"}, set(), {"-explains": "efficiency"}),
    ("lock: short calls are not judged", lock(0, 1, 9), set(), {"-lock-not-judged"}),
    ("lock: pre-empted threads had it", lock(800, 10, 800, stolen=800, held_by="preempted"), set(), {"lock-not-judged", "pre-empted"}),
    ("lock: it is seldom held", lock(100, 50, 850), set(), {"lock-not-judged", "-pre-empted"}),
    ("lock: held often, but pre-empted threads had it", lock(500, 200, 900, stolen=100, held_by="preempted"), set(),
     {"lock-not-judged", "pre-empted"}),
    ("lock: of a library that calls another", lock_of_library(), {"lock"}, set(), {"evidence": "hold locks for 75% of the run"}),
    ("lock: a condition of a library that calls another", condition_of_library(), set(), {"lock-not-judged"}),
    ("lock: a condition is none; all wait at once, so that no thread is to blame", condition(), set(), set()),
    ("pre-empted in unlock: other threads ran", interrupted("pthread_mutex_unlock"), set(), {"pre-empted"}),
    ("pre-empted in sched_yield: that is waiting", interrupted("sched_yield"), set(), {"-pre-empted"}),
    ("turns: threads wait by turns", turns(), {"alternation"}, {"-nobody-ran"}, {"gain": 50, "function": "serve"}),
    ("turns: woken threads wait for a processor", turns(gap=20), set(), {"nobody-ran"}),
    ("turns: just below 10 % in which no thread ran", turns(gap=9), {"alternation"}, {"-nobody-ran"}),
    ("slow thread", shares([20 * MS, 20 * MS, 80 * MS, 20 * MS]), {"slow-thread"}, {"helpers"},
     {"thread": 103, "function": "solve", "gain": 100 * (80 - 35) / 80.02, "explains": "efficiency"}),
    ("slow thread: two slow ones are imbalance", shares([20 * MS, 80 * MS, 80 * MS, 20 * MS]), {"imbalance"}, set()),
    ("slow thread: the function that differs", common_and_more([10 * MS, 10 * MS, 70 * MS, 10 * MS]), {"slow-thread"}, {"helpers"},
     {"thread": 103, "function": "solve"}),
    ("slow thread: what it copies", workers(4, lambda t, i: copies_and_tidies(t, 40 if i == 2 else 10)), {"slow-thread", "copy"}, {"helpers"},
     {"function": "pack"}),
    ("imbalance: load balance just below 0.85", shares([100 * MS, 75 * MS, 75 * MS, 85 * MS]), {"imbalance"}, set(), {"thread": 101}),
    ("imbalance: load balance just above 0.85", shares([100 * MS, 80 * MS, 80 * MS, 85 * MS]), set(), set()),
    ("imbalance: barriers", barriers([20 * MS, 20 * MS, 80 * MS, 20 * MS]), {"slow-thread"}, set()),
    ("imbalance: a common queue", queue(), set(), {"pre-empted"}),
    ("imbalance: processors are shared", sharing([1200] * 4), set(), {"same-calls"}, {"processors": 2}),
    ("imbalance: processors are shared, unequal calls", sharing([1200, 1100, 1000, 700]), {"imbalance"}, {"-same-calls"}, {"processors": 2}),
    ("imbalance: a processor for each thread", sharing([1200] * 4), {"imbalance", "efficiency"}, {"-same-calls"}, {"processors": 4}),
    ("imbalance: all processors are busy", shares([100 * MS, 75 * MS, 75 * MS, 75 * MS]), set(), {"oversubscribed"}, {"processors": 3}),
    ("slow thread on few processors", shares([20 * MS, 20 * MS, 80 * MS, 20 * MS]), {"slow-thread"}, {"oversubscribed"},
     {"processors": 2, "gain": 100 * (1 - 140 / 160)}),
    ("imbalance: threads that follow each other", waves(), set(), set()),
    ("many threads that follow each other", sequence(4200), {"one-by-one"}, {"-oversubscribed"}),
    ("imbalance: threads that overlap, but start one after the other", connections(10, [60 if i == 5 else 11 for i in range(20)]), {"efficiency"}, set()),
    ("imbalance: threads that start in the first two thirds", connections(18, [19, 19, 19, 40]), {"slow-thread", "efficiency"}, set()),
    ("imbalance: threads that start in more than the first two thirds", connections(18, [19, 19, 19, 19, 19, 40]), {"efficiency"}, set()),
    ("imbalance: others go on for less than 10 %", connections(10, [60, 20, 20, 36]), {"imbalance"}, set(), {"thread": 101}),
    ("imbalance: others go on for more than 10 %", connections(10, [60, 20, 20, 38]), {"efficiency"}, set()),
    ("OpenMP imbalance", openmp(0.1, [60, 40, 20, 20]), {"imbalance"}, set(), {"explains": "omp-imbalance"}),
    ("OpenMP serial part", openmp(30, [30, 30]), {"omp-serial"}, set(), {"function": "assemble", "gain": 50}),
    ("OpenMP serial part just below 10 %", openmp(10, [45, 45]), set(), set()),
    ("OpenMP: equal work", openmp(0.1, [40, 40, 40]), set(), set()),
    ("OpenMP: pre-empted while they spin", openmp_spins(stolen=8), set(), {"openmp-not-judged"}),
    ("OpenMP: pre-empted seldom while they spin", openmp_spins(stolen=1), {"omp-imbalance"}, {"-openmp-not-judged"}),
    ("OpenMP: other threads work beside regions", openmp_beside(100), {"efficiency"}, set(), {"hybrid": False, "gain": 22.5}),
    ("OpenMP: other threads hardly work beside regions", openmp_beside(2), {"omp-serial"}, set(), {"hybrid": True, "gain": 90}),
    ("OpenMP: a parent is left out", openmp_and_parent(), {"omp-serial"}, {"helpers"}, {"hybrid": True, "gain": 50}),
    ("OpenMP in ranks", openmp_ranks(False), {"omp-serial"}, set(), {"hybrid": True, "gain": 50, "evidence": "25% of the run time for it, and 0% inside"}),
    ("OpenMP in ranks: a launcher is left out", openmp_ranks(True), {"omp-serial"}, {"helpers"}, {"hybrid": True, "gain": 50}),
    ("OpenMP: serial part of a pre-empted run", openmp_preempted(), {"omp-serial"}, {"openmp-not-judged", "pre-empted"},
     {"hybrid": False, "gain": 100 * 5 / 7, "evidence": "without pre-emption, threads would wait 36% of the run time"}),
    ("OpenMP on too few processors", openmp(30, [30, 30, 30]), set(), {"oversubscribed"}, {"processors": 2}),
    ("MPI imbalance", ranks([20, 60, 20, 20]), {"slow-thread"}, set(), {"rank": 1, "explains": "mpi"}),
    ("MPI imbalance just above 0.90", ranks([60, 56, 52, 52]), set(), set()),
    ("MPI imbalance just below 0.90", ranks([60, 52, 51, 50]), {"imbalance"}, set(), {"rank": 0}),
    ("MPI", ranks([40, 40], mpi=20), {"mpi"}, set(), {"function": "MPI_Send"}),
    ("MPI in several threads of each rank", ranks_of_threads(), {"mpi"}, set(), {"function": "MPI_Send", "gain": 60}),
    ("MPI just below 15 %", ranks([40, 40], mpi=6.9), set(), set()),
    ("MPI: a launcher is left out", ranks([40, 40], launcher=True), set(), {"helpers"}),
    ("MPI: ranks yield", ranks([40, 40], mpi=20, yields=1000), set(), {"oversubscribed"}),
    ("MPI on too few processors", ranks([40, 40], mpi=20), set(), {"oversubscribed"}, {"processors": 1}),
    ("file I/O", io(20, 1 * MS, 40 * MS, is_blocked=True), {"file-io"}, set(), {"function": "save", "gain": 100 * 20 / 60}),
    ("file I/O: writev may be for a socket", io(20, 1 * MS, 40 * MS, name="writev", is_blocked=True, maker="socket"), {"file-io"}, set(), {"confidence": "weak"}),
    ("file I/O: read may be of a timer", io(20, 1 * MS, 40 * MS, name="read", is_blocked=True, maker="timerfd_create"), {"file-io"}, set(), {"confidence": "weak"}),
    ("file I/O: fsync is for files", io(20, 1 * MS, 40 * MS, name="fsync", is_blocked=True, maker="connect"), {"file-io"}, set(), {"confidence": "likely"}),
    ("file I/O just below 10 %", io(20, 0.2 * MS, 37 * MS), set(), set()),
    ("small I/O", io(12_000, 3, 40 * MS), {"small-io"}, set(), {"function": "save"}),
    ("small I/O: one call too few", io(9_999, 4, 40 * MS), {"file-io"}, set()),
    ("small I/O: what recording costs is no I/O", io(60_000, 0.1, 20 * MS), set(), {"recorder-overhead"}),
    ("small I/O: sprintf does none", io(12_000, 3, 40 * MS, name="sprintf"), set(), set()),
    ("churn", allocations(100_000, 20), {"churn"}, {"recorder-overhead"}, {"function": "parse"}),
    ("churn: too few", allocations(99_980, 20), set(), set()),
    ("churn: the outermost function", allocations_of_main(), set(), {"recorder-overhead"}),
    ("churn: seldom in each call", allocations(100_008, 9), set(), set()),
    ("allocation", main_with(lambda t: [t.work("malloc", 100) for _ in range(20)] and t.work("compute", 20 * MS)), {"allocation"}, set()),
    ("allocation just below 5 %", main_with(lambda t: [t.work("malloc", 100) for _ in range(10)] and t.work("compute", 20 * MS)), set(), set()),
    ("long tail", tail(4, 100), {"long-tail"}, set(), {"function": "handle", "gain": 100 * 4 * 99 / (396 + 400)}),
    ("long tail just below 10 %", tail(4, 11.5), set(), set()),
    ("long tail: two kinds of calls", tail(40, 20), set(), set()),
    ("long tail: pre-empted often", tail(4, 40, stolen=10), set(), {"pre-empted"}),
    ("long tail: the call at which records end", cut(lambda t: t.run(10 * MS).off(1).run(MS)), set(), {"cut-off"}),
    ("long tail: a call that is open at the end", cut(lambda t: t.run(10 * MS).off(1).run(MS).work("log", 1)), set(), {"-cut-off"}),
    ("sleep: once", single_wait(30 * MS, 60 * MS), {"sleep"}, set(), {"function": "connect", "gain": 100 / 3}),
    ("sleep", single_wait(30 * MS, 60 * MS, count=30), {"sleep"}, set(), {"function": "connect", "confidence": "possible"}),
    ("sleep just below 10 %", single_wait(6 * MS, 60 * MS, count=30), set(), set()),
    ("sleep: a few times", single_wait(30 * MS, 60 * MS, count=4), {"sleep"}, set()),
    ("sleep: only a launcher does", polling_launcher(), set(), {"-sleep"}),
    ("copies", copies(50, 1000, 50 * MS), {"copy"}, set(), {"function": "grow", "gain": 50}),
    ("copies just below 20 %", copies(50, 500, 102 * MS), set(), set()),
    ("copies: what recording costs does not count", copies(0.1, 100000, 10 * MS), set(), set()),
    ("sleep: once, just below 10 %", single_wait(6 * MS, 60 * MS), set(), set()),
    ("sleep: waiting for a process is none", single_wait(30 * MS, 80 * MS, name="waitpid"), set(), set()),
    ("sleep: the call at which records end", cut(lambda t: t.wait("usleep", 30 * MS), dropped=3), set(), set()),
    ("sleep: beside work", wait_beside(), {"sleep"}, set(), {"confidence": "possible"}),
    ("sleep: without scheduling events", single_wait(30 * MS, 60 * MS), {"sleep"}, {"no-sched"}, {"has_sched": False}),
    ("sleep: with begins and ends of threads only", single_wait(30 * MS, 60 * MS), {"sleep"}, {"no-sched"},
     {"has_sched": False, "has_perf": True}),
    ("long tail: too few processors without scheduling events", crowd(), set(), {"no-sched", "oversubscribed"},
     {"has_sched": False, "has_perf": True, "processors": 2}),
    ("recursion", recursion(12_000, 4), {"recursion"}, set(), {"function": "count"}),
    ("recursion: few for each call", recursion(12_000, 20), set(), set()),
    ("recursion: below 5 %", recursion(12_000, 4, other=250 * MS), set(), set()),
    ("a producer", producer(60, 6), {"serial"}, set(), {"function": "main", "confidence": "possible"}),
    ("a producer: others work as well", producer(60, 20), {"serial"}, set(), {"function": "main"}),
]
