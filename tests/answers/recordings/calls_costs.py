# SPDX-License-Identifier: BSD-3-Clause
"""Cases as in calls_cases.py, of rules for what is done again and again, for serial times, and for what numbers of calls say; and of their guards."""

from calls_cases import MS, main_with, workers
from calls_made import Thread


def each(count, item, work, name="handle"):
    """A function that does something expensive in each of its calls, beside work."""
    def fill(thread):
        for _ in range(count):
            with thread.call(name):
                item(thread)
            thread.work("compute", work)
    return main_with(fill)


def threads_for_items(count, work):
    """The first thread starts a thread for each item, and waits for its end."""
    parent, threads = Thread(), []
    with parent.call("main"):
        for i in range(count):
            parent.work("pthread_create", 100)
            thread = Thread(101 + i, begin=(parent.time - Thread().time) // 1000)
            thread.work("item", work)
            threads.append(thread)
            with parent.call("pthread_join"):
                parent.off(work)
    return [parent, *threads]


def phases(alone, together):
    """The first thread works alone, then two others work."""
    parent = Thread()
    with parent.call("main"):
        parent.work("read_input", alone * MS)
        begin = (parent.time - Thread().time) // 1000
        with parent.call("pthread_join"):
            parent.off(together * MS)
    threads = [Thread(101 + i, begin=begin) for i in range(2)]
    for thread in threads:
        thread.work("solve", together * MS)
    return [parent, *threads]


def processes(first, second):
    """The first process starts two others, and waits for their results."""
    parent = Thread()
    with parent.call("main"):
        parent.run(10)
        with parent.call("waitpid"):
            parent.off(max(first, second) * MS)
    children = [Thread(200 + i, 200 + i, begin=10) for i in range(2)]
    for child, time in zip(children, (first, second)):
        child.work("solve", time * MS)
    return [parent, *children]


def straggler(last):
    """Two threads with 20 items each; the last one of one of them takes longer."""
    def fill(thread, i):
        for k in range(20):
            thread.work("item", last * MS if i == 0 and k == 19 else MS)
    return workers(2, fill)


def herd(waits):
    """Four threads that wait several times before they have something to do."""
    def fill(thread, i):
        thread.run(i * 50)
        for _ in range(100):
            with thread.call("take"):
                for _ in range(waits):
                    thread.wait("pthread_cond_wait", 60)
            thread.work("use", 100)
    return workers(4, fill)


def spinning(tests, caller="wait_for_item"):
    """One thread works, another asks again and again whether it has done."""
    one, other = Thread(), Thread(101)
    one.work("produce", 40 * MS)
    with other.call("consume"):
        for _ in range(20):
            with other.call(caller):
                for _ in range(tests // 20):
                    other.work("is_there", 0.4)
            other.work("use", 20)
    return [one, other]


def cache(misses, name="cache_get"):
    def fill(thread):
        for i in range(200):
            with thread.call(name):
                if i % 100 < misses:
                    thread.work("load", 100)
            thread.work("compute", 50)
    return main_with(fill)


def growing(steps):
    """Each call of `find` makes as many calls as `steps` says for its number."""
    def fill(thread):
        for i in range(400):
            with thread.call("find"):
                for _ in range(steps(i)):
                    thread.work("same", 0.3)
        thread.work("compute", 10 * MS)
    return main_with(fill)


def chunks(count):
    threads = [Thread(), Thread(101)]
    for thread in threads:
        with thread.call("sweep._omp_fn.0"):
            for _ in range(count):
                thread.work("GOMP_loop_dynamic_next", 0.3)
                thread.run(0.3)
    return threads


def crowd(count):
    """Threads that are pre-empted in turns."""
    def fill(thread, i):
        for k in range(40):
            with thread.call("step"):
                for slot in range(count):
                    thread.run(100) if slot == (i + k) % count else thread.preempt(100)
    return workers(count, fill)


def locked_io(name):
    """Two threads in turns: each holds a lock while it calls a function that waits."""
    def fill(thread, i):
        for k in range(40):
            with thread.call("save"):
                if k or i:
                    thread.wait("pthread_mutex_lock", 500)
                with thread.call(name):
                    thread.off(400)
                thread.run(100).work("pthread_mutex_unlock", 0.1)
    return workers(2, fill)


def one_by_one(count, is_at_once):
    """The first thread starts threads, and waits for each at once, or for all at the end."""
    parent, threads = Thread(), []
    with parent.call("main"):
        for i in range(count):
            thread = Thread(101 + i, begin=(parent.time - Thread().time) // 1000)
            thread.work("item", 2 * MS)
            threads.append(thread)
            if not is_at_once:
                with parent.call("pthread_join"):
                    parent.off(2 * MS)
                parent.run(10)
        if is_at_once:
            with parent.call("pthread_join"):
                parent.off(2 * MS)
    return [parent, *threads]


def chat(count, time):
    def fill(thread):
        for _ in range(count):
            with thread.call("ask"):
                thread.work("send", 5).wait("recv", time)
            thread.work("compute", 20)
    return main_with(fill)


def lockstep():
    """One thread waits for a device, then another works; each waits for the other."""
    def fill(thread, i):
        for k in range(40):
            with thread.call("exchange"):
                if k % 2 == i:
                    thread.wait("usleep", 900) if i else thread.work("pack", 900)
                    thread.run(100)
                else:
                    thread.wait("pthread_cond_wait", 1000)
    return workers(2, fill)


def polling():
    """A thread sleeps until another, which waits for it, has long done its work."""
    one, other = Thread(), Thread(101)
    with one.call("main"):
        for _ in range(30):
            with one.call("wait_result"):
                one.wait("usleep", 1000)
    with other.call("serve"):
        for _ in range(30):
            other.wait("pthread_cond_wait", 900).work("execute", 100)
    return [one, other]


def frames(is_beat):
    """Work of varying time, then a sleep: until the next beat, or of equal time."""
    def fill(thread):
        for k in range(60):
            work = 4 * MS + k * 7919 % 4000
            thread.work("draw", work).wait("usleep", 16 * MS - work if is_beat else 10 * MS)
    return main_with(fill)


def before_main(before):
    """Objects that are made before main, which takes 50 ms."""
    thread = Thread()
    thread.work("_GLOBAL__sub_I_tables", before * MS)
    with thread.call("main"):
        thread.work("compute", 50 * MS)
    return [thread]


def argued(different):
    """1,000 calls with some different arguments."""
    thread = Thread()
    with thread.call("main"):
        for i in range(1000):
            with thread.call("price", i % different):
                thread.run(20)
            thread.work("other", 20)
    return [thread]


def meetings(name, count, wait, work, threads=2):
    """Threads that wait by turns for so long, and work between."""
    result = []
    for i in range(threads):
        thread = Thread(101 + i, pid=100, begin=i * wait)
        with thread.call("worker"):
            for _ in range(count):
                with thread.call("exchange"):
                    thread.wait(name, wait)
                thread.work("compute", work)
        result.append(thread)
    return result


def spinner(name):
    """One thread works, another loops without a call."""
    busy, loop = Thread(101, pid=100), Thread(102, pid=100)
    for thread, function in ((busy, "compute"), (loop, name)):
        with thread.call("worker"):
            for _ in range(20):
                thread.work(function, 5 * MS)
    return [busy, loop]


def piped(blocked):
    """Requests by write, and answers by read, which is blocked or not."""
    def fill(thread):
        for _ in range(6000):
            with thread.call("ask"):
                thread.work("write", 2)
                thread.wait("read", 20) if blocked else thread.work("read", 20)
            thread.work("compute", 10)
    return main_with(fill)


def bytewise(count):
    """A thread reads byte by byte what another writes in few long calls."""
    reader, writer = Thread(101, pid=100), Thread(102, pid=100)
    with reader.call("main"):
        for _ in range(count):
            with reader.call("read_line"):
                reader.work("read", 4)
            reader.work("compute", 2)
    with writer.call("producer"):
        for _ in range(20):
            writer.wait("write", count * 6 / 20)
    return [reader, writer]


def steady(name):
    """Short work, and sleep that does not make up for it."""
    def fill(thread):
        for i in range(50):
            thread.work("draw", 1000 + i * 37 % 200)
            with thread.call("wait_frame"):
                thread.wait(name, 15000 + i * 91 % 700)
    return main_with(fill)


COSTS = [
    ("small I/O beside long calls", bytewise(30000), {"small-io"}, set(), {"function": "read_line"}),
    ("sleep: between frames", steady("usleep"), {"sleep"}, set()),
    ("sleep: until a time", steady("clock_nanosleep"), set(), set()),
    ("threads: with much work each", threads_for_items(200, 2000), {"one-by-one"}, set()),
    ("hand-over", meetings("pthread_cond_wait", 12000, 20, 5), {"hand-over"}, set(), {"function": "exchange", "gain": 80}),
    ("hand-over: long waits", meetings("pthread_cond_wait", 500, 500, 2000), {"alternation"}, set()),
    ("barrier", meetings("pthread_barrier_wait", 2000, 40, 20), {"barrier"}, set(), {"function": "exchange"}),
    ("barrier: much work between", meetings("pthread_barrier_wait", 1200, 40, 300), set(), set()),
    ("busy wait: a loop without a call", spinner("wait_for_frame"), {"busy-wait"}, set(), {"function": "wait_for_frame"}),
    ("busy wait: a loop that works", spinner("sum_rows"), set(), set()),
    ("chatty: over a pipe", piped(True), {"chatty"}, set(), {"function": "ask"}),
    ("chatty: a file in memory", piped(False), {"file-io"}, set()),
    ("large blocks", each(50, lambda t: t.work("free", 200), 2 * MS), {"large-blocks"}, set(), {"function": "handle", "confidence": "possible"}),
    ("large blocks: small ones", each(5000, lambda t: t.work("free", 1), 30), set(), set()),
    ("start-up", before_main(20), {"start-up"}, set(), {"function": "_GLOBAL__sub_I_tables", "gain": 100 * 20 / 70}),
    ("start-up: just below 10 %", before_main(5), set(), set()),
    ("repeated", argued(10), {"repeated"}, set(), {"function": "price", "gain": 49.5, "confidence": "possible"}),
    ("repeated: other arguments", argued(1000), set(), set()),
    ("repeated: just below 90 %", argued(101), set(), set()),
    ("processes", each(50, lambda t: t.work("popen", 100).wait("read", 900).wait("pclose", 100), 1000), {"processes"}, set(),
     {"function": "handle", "gain": 100 * 1100 / 2100}),
    ("processes: few", each(10, lambda t: t.work("popen", 100).wait("read", 900), 2 * MS), {"file-io"}, set()),
    ("threads", threads_for_items(200, 20), {"threads"}, set(), {"function": "main"}),
    ("threads: few", threads_for_items(50, 200), {"one-by-one"}, set()),
    ("loading", each(50, lambda t: t.work("dlopen", 300).work("dlclose", 100), 400), {"loading"}, set(), {"function": "handle", "gain": 50}),
    ("loading: once", each(1, lambda t: t.work("dlopen", 20 * MS), 20 * MS), set(), set()),
    ("mapping", each(600, lambda t: t.work("mmap", 10).work("munmap", 30), 60), {"mapping"}, set(), {"function": "handle", "gain": 40}),
    ("mapping: few", each(90, lambda t: t.work("mmap", 60).work("munmap", 180), 4560), set(), set()),
    ("exceptions", each(2000, lambda t: t.work("__cxa_allocate_exception", 0.5).run(5), 5), {"exceptions"}, set(), {"function": "handle"}),
    ("exceptions: few", each(200, lambda t: t.work("__cxa_allocate_exception", 0.5).run(50), 50), set(), set()),
    ("preparing", each(200, lambda t: t.work("regcomp", 50), 50), {"preparing"}, set(), {"function": "handle", "gain": 50}),
    ("preparing: once", each(1, lambda t: t.work("regcomp", 10 * MS), 10 * MS), set(), set()),
    ("serial: before a parallel part", phases(20, 20), {"serial"}, set(), {"function": "read_input", "gain": 25}),
    ("serial: the slower one of two processes that were started", processes(35, 44), set(), set(), {"processors": 2}),
    ("serial: before a parallel part, just below 10 %", phases(10, 41), set(), set()),
    ("straggler", straggler(20), {"straggler"}, set(), {"function": "item", "thread": 101}),
    ("straggler: all items alike", straggler(1), set(), set()),
    ("herd", herd(10), {"herd"}, set(), {"function": "take"}),
    ("busy wait", spinning(99_000), {"busy-wait"}, set(), {"function": "wait_for_item"}),
    ("busy wait: a search beside work", spinning(99_000, "look_up"), set(), set()),
    ("cache", cache(100), {"cache"}, set(), {"function": "cache_get"}),
    ("cache: it has most", cache(50), set(), set()),
    ("cache: a wrapper", cache(100, "handle"), set(), set()),
    ("rising", growing(lambda i: i), {"rising"}, set(), {"function": "find", "confidence": "possible"}),
    ("growth: equal calls", growing(lambda _: 200), set(), set()),
    ("growth: unequal calls", growing(lambda i: i * 7919 % 400), set(), set()),
    ("OpenMP calls", chunks(60_000), {"omp-calls"}, set(), {"function": "sweep._omp_fn.0"}),
    ("oversubscribed", crowd(8), {"oversubscribed"}, {"oversubscribed"}, {"processors": 2}),
    ("oversubscribed: twice as many", crowd(4), set(), {"oversubscribed"}, {"processors": 2}),
    ("lock: held during file I/O", locked_io("fdatasync"), {"lock"}, set(), {"evidence": "fdatasync below save"}),
    ("one by one", one_by_one(20, False), {"one-by-one"}, set(), {"function": "main"}),
    ("one by one: few", one_by_one(5, False), set(), set()),
    ("chatty", chat(3000, 30), {"chatty"}, set(), {"function": "ask"}),
    ("chatty: a server that waits", chat(40, 5000), set(), set()),
    ("alternation: with a device", lockstep(), {"alternation"}, set(), {"function": "exchange"}),
    ("sleep: others wait for it", polling(), {"sleep"}, set(), {"function": "wait_result", "confidence": "possible"}),
    ("mapping: in each call, and page faults", each(120, lambda t: t.work("mmap", 1).run(200).work("munmap", 9), 1), {"mapping"}, set(),
     {"confidence": "possible"}),
    ("sleep: to a beat", frames(True), set(), set()),
    ("sleep: of equal time", frames(False), {"sleep"}, set(), {"function": "main"}),
]
