#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What outlives what: arrays keep the mapped file, a store with living arrays does not close, cycles and threads and the end of the
process do no harm. Run with the address sanitizer too.
"""

import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref

import lode
import support


def raises(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        return error
    return None


def test_closing(tests):
    db = lode.open(tests.folder / "demo" / "solver")
    top = db.top()
    db.close()
    tests.check(db.closed and len(top) > 0, "a table outlives its store")
    tests.check(raises(ValueError, db.top), "a closed store refuses questions")
    db.close()
    tests.check(True, "a store closes twice")
    with lode.open(tests.folder / "demo" / "solver") as db:
        pass
    tests.check(db.closed, "a store closes at the end of with")
    error = raises(lode.Error, lode.open, tests.folder / "nothing")
    tests.check(error and error.status == "input/output error" and error.errno == 2 and "nothing" in str(error), "what is not there is an error with errno", [repr(error)])


def test_views(tests):
    if not support.numpy:
        tests.tap.skip("views", "there is no numpy")
        return
    db = lode.open(tests.folder / "demo" / "solver")
    values, samples, depth = db.values(profile=1), db.samples(profile=1), db.contexts.depth
    of_context = db.find("main").values()
    expected = float(values["value"].sum()), int(samples["time"].sum()), int(depth.sum()), float(of_context["value"].sum())
    error = raises(BufferError, db.close)
    tests.check(error and "in use" in str(error), "a store with views does not close", [repr(error)])
    tests.check(not db.closed and len(db.top()) > 0, "and goes on to answer")
    tests.check(raises(ValueError, values.__setitem__, 0, 0) or not values.flags.writeable, "views are read-only")
    with db:
        pass
    tests.check(db.closed and raises(ValueError, db.values, 1), "after with, it takes no more questions")
    again = float(values["value"].sum()), int(samples["time"].sum()), int(depth.sum()), float(of_context["value"].sum())
    tests.check(again == expected, "and its views are still good")
    store = db._store
    del values, samples, depth, of_context
    gc.collect()
    tests.check(store.users == 0, "the last view closes it", [store.users])


def is_in_file(array, name):
    """Whether the bytes of an array lie inside a mapping of a file."""
    first = array.__array_interface__["data"][0]
    last = first + (len(array) - 1) * array.strides[0] + array.itemsize if len(array) else first
    with open("/proc/self/maps", encoding="utf-8") as stream:
        for line in stream:
            fields = line.split()
            begin, end = (int(address, 16) for address in fields[0].split("-"))
            if begin <= first and last <= end:
                return fields[-1].endswith(name)
    return False


def test_places(tests):
    if not support.numpy:
        tests.tap.skip("views in the files", "there is no numpy")
        return
    with lode.open(tests.folder / "demo" / "solver") as db:
        tests.check(is_in_file(db.values(profile=3), "profile.db"), "values of a profile are in profile.db")
        tests.check(is_in_file(db.values(profile=3)["value"], "profile.db"), "and so is one field of them")
        tests.check(is_in_file(db.find("main").values(), "cct.db"), "values of a context are in cct.db")
        tests.check(is_in_file(db.samples(profile=3, start="1ms"), "trace.db"), "samples are in trace.db")
        total = sum(float(db.values(profile)["value"].sum()) for profile in range(1, 5))
        tests.check(total > 0, "and can be added up")


def test_cycles(tests):
    class Holder:
        pass
    db = lode.open(tests.folder / "demo" / "solver")
    holder = Holder()
    holder.me, holder.db, holder.top, holder.contexts = holder, db, db.top(), db.contexts
    if support.numpy:
        holder.values = db.values(profile=2)
    gone = weakref.ref(holder)
    store = db._store
    del holder, db
    gc.collect()
    tests.check(gone() is None and store.users == 0, "a cycle with a store is collected", [store.users])


def test_many(tests):
    path = tests.folder / "demo" / "solver"
    def resident():
        with open("/proc/self/statm", encoding="utf-8") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    def round_trip():
        with lode.open(path) as db:
            db.top()
            db.find("main").path
            if support.numpy:
                db.values(profile=1).sum  # pylint: disable=expression-not-assigned
    for _ in range(50):
        round_trip()
    gc.collect()
    before, objects = resident(), len(gc.get_objects())
    for _ in range(300):
        round_trip()
    gc.collect()
    grown = resident() - before
    # The sanitizer keeps what was freed.
    tests.check(grown < (8 << 20) or "LD_PRELOAD" in os.environ, "opening 300 times leaves no memory", [grown])
    tests.check(len(gc.get_objects()) - objects < 100, "nor objects", [len(gc.get_objects()) - objects])
    with open("/proc/self/maps", encoding="utf-8") as stream:
        tests.check(str(path) not in stream.read(), "nor mappings")


def test_threads(tests):
    db = lode.open(tests.folder / "demo" / "solver")
    expected = db.top().to_dicts()
    wrong = []
    def work(number):
        for step in range(10):
            if db.top(profiles=None if step % 2 else f"rank={number % 4}").to_dicts() != expected and step % 2:
                wrong.append((number, step))
            if support.numpy and db.values(profile=1 + number).sum is None:
                wrong.append(number)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tests.check(not wrong, "threads share a store", wrong)
    closing = lode.open(tests.folder / "demo" / "solver")
    outcomes = set()
    def ask():
        try:
            closing.top(profiles="rank=1")
            outcomes.add("answer")
        except ValueError:
            outcomes.add("closed")
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads[:4]:
        thread.start()
    closing.__exit__()
    for thread in threads[4:]:
        thread.start()
    for thread in threads:
        thread.join()
    tests.check("closed" in outcomes, "closing while others ask is an answer or an error", outcomes)
    late = lode.open(tests.folder / "demo" / "solver")
    tests.check(late._remember("late", lambda: late.__exit__() or "cost") == "cost" and late.closed and not late._costs,
                "a cost that is ready after closing is not kept")


def test_pickle(tests):
    with lode.open(tests.folder / "demo" / "solver") as db:
        other = pickle.loads(pickle.dumps(db))
        tests.check(type(other) is type(db) and other.top().to_dicts() == db.top().to_dicts(), "a pickled store is opened again")
        other.close()


SCRIPT = """
import lode, sys, threading
db = lode.open(sys.argv[1])
top, contexts = db.top(), db.contexts
try:
    values = db.values(profile=1)
    samples = db.samples(profile=1)
except ImportError:
    pass
me = [db, top]; me.append(me)
recording = lode.open(sys.argv[2])
threading.Thread(target=recording.calls, daemon=True).start()
print(len(top) > 0)
"""


def test_exit(tests):
    result = subprocess.run([sys.executable, "-c", SCRIPT, tests.folder / "demo" / "solver", tests.folder / "demo" / "thumbs"],
                            capture_output=True, check=False)
    tests.check(result.returncode == 0 and result.stdout == b"True\n", "views alive at the end of the process", [result.stderr.decode()])


def test_cancel(tests):
    """A function for progress that raises ends the work, and nothing is left of it."""
    tests.run("synth", "recording", "--records", "3000000", "-o", tests.folder / "large")
    class Enough(Exception):
        pass
    phases = []
    def stop(phase, done, total):
        phases.append((phase, done, total))
        raise Enough
    tests.check(raises(Enough, lambda: lode.build([tests.folder / "large"], tests.folder / "built", progress=stop)), "an exception cancels")
    tests.check(not (tests.folder / "built").exists() and phases, "a cancelled build leaves nothing")
    script = ("import _thread, lode, sys, threading\n"
              "def interrupt(*a):\n    _thread.interrupt_main()\n"
              "try:\n    lode.build([sys.argv[1]], sys.argv[2], progress=interrupt)\nexcept KeyboardInterrupt:\n    print('interrupted')\n")
    result = subprocess.run([sys.executable, "-c", script, tests.folder / "large", tests.folder / "built"], capture_output=True, check=False)
    tests.check(b"interrupted" in result.stdout and not (tests.folder / "built").exists(), "Ctrl-C cancels", [result.stderr.decode()[-500:]])
    counts = lode.build([tests.folder / "demo" / "thumbs"], tests.folder / "built")
    with lode.open(tests.folder / "built") as db:
        tests.check(counts["profiles"] == len(db.profiles) - 1 and lode.check(tests.folder / "built", level="full"), "a build is sound")
    tests.check(raises(lode.Error, lode.build, [tests.folder / "demo" / "thumbs"], tests.folder / "built"), "what is there is not replaced")


if __name__ == "__main__":
    support.Tests().finish([test_closing, test_views, test_places, test_cycles, test_many, test_threads, test_pickle, test_exit, test_cancel])
