#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Damaged and deceptive stores through the package: every question has an answer or raises lode.Error, in bounded time and memory, and no
process ends by a signal. What is shown of names has no control characters and no tags. Run with the address sanitizer too. By hand:
--count 2000 --seed N.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import warnings

import lode
import support

sys.path[:0] = [str(support.ROOT / "tests" / name) for name in ("hostile", "cli")]

from hostile_names import NASTY, unsafe  # noqa: E402
from merge_mutated import damage  # noqa: E402

SECONDS = 600
MEMORY = (4 << 30) + (os.cpu_count() or 1) * (256 << 20)  # addresses; threads reserve some each
DEMO = ("solver", "thumbs", "shop")
IDLE = (".md", ".yaml", ".ex")  # files that nobody reads


# ---- everything that can be asked ----


def questions_of(store):
    """(name, what asks) of a store."""
    yield "str", lambda: str(store)
    yield "repr", lambda: store._repr_html_()
    yield "tables", lambda: [(row.name, len(store.table(row.name, limit=5000))) for row in store.tables if not row.function]
    yield "arrow", lambda: [store.table(row.name).__arrow_c_stream__() for row in store.tables if not row.function]
    yield "top", lambda: shown(store.top())
    yield "tree", lambda: shown(store.tree())
    yield "bottom-up", lambda: shown(store.tree(bottom_up=True, depth=4))
    yield "flame", lambda: store.flame().svg()
    yield "timeline", lambda: timeline_of(store)
    yield "compare", lambda: str(lode.compare(store, store))
    if isinstance(store, lode.Database):
        yield "metrics", lambda: [metric.total for metric in store.metrics]
        yield "contexts", lambda: store.contexts.to_table().to_dicts()[-1:]
        yield "profiles", lambda: shown(store.profiles)
        yield "values", lambda: [float(store.values(profile)["value"].sum()) for profile in range(min(len(store.profiles), 8))]
        yield "samples", lambda: [store.samples(profile, stop="1s") for profile in range(min(len(store.profiles), 8))]
        yield "window", lambda: shown(store.top(start="0s", stop="1s"))
        yield "context", lambda: [context_of(store, id) for id in store.contexts["id"][:50]]
    else:
        yield "facts", lambda: store.facts
        yield "tracks", lambda: shown(store.tracks)
        yield "events", lambda: [shown(store.events(track, limit=1000)) for track in range(min(len(store.tracks), 8))]


def shown(table):
    return str(table) + table._repr_html_() + table.to_csv()[:0]


def timeline_of(store):
    picture = store.timeline(columns=200)
    return picture and (picture.to_png()[:0], picture._repr_html_())[1]


def context_of(store, id):
    context = store.context(int(id))
    return len(context.path), len(context.children), context.values() is None, repr(context.distribution())


def is_allowed(error):
    """What the package raises on purpose; ValueError is for wrong arguments, and none is wrong here."""
    return isinstance(error, lode.Error)


def ask_all(path):
    """(questions, refusals, what is wrong) of a store."""
    asked, refused, wrong = 0, 0, []
    try:
        findings = lode.check(path, level="full")
        bool(findings), shown(findings)
    except Exception as error:  # pylint: disable=broad-except
        wrong += [] if is_allowed(error) else [f"check: {error!r}"]
    try:
        store = lode.open(path)
    except Exception as error:  # pylint: disable=broad-except
        return 1, 1, wrong + ([] if is_allowed(error) else [f"open: {error!r}"])
    with store:
        for name, question in questions_of(store):
            asked += 1
            try:
                question()
            except Exception as error:  # pylint: disable=broad-except
                refused += 1
                wrong += [] if is_allowed(error) else [f"{name}: {error!r}"]
    return asked, refused, wrong


def in_child(function):
    """The lines that a function returns, in a process of its own; a signal or too long a time is a line too."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        if "ASAN_OPTIONS" not in os.environ:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            lines = function()
        except BaseException as error:  # pylint: disable=broad-except
            lines = [f"{error!r}"]
        os.write(writing, "\n".join(lines)[:4000].encode("utf-8", "replace"))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        lines = stream.read().decode().splitlines()
    status = os.waitpid(child, 0)[1]
    return lines if status == 0 else [*lines, f"ended with {os.waitstatus_to_exitcode(status)}"]


# ---- damaged stores ----


def counted(path, counts):
    """The faults of a store; what was asked and refused is the last line."""
    lines = in_child(lambda: (lambda asked, refused, wrong: [*wrong, f"{asked} {refused}"])(*ask_all(path)))
    if lines and lines[-1].replace(" ", "").isdigit():
        for number, count in enumerate(lines.pop().split()):
            counts[number] += int(count)
    return lines


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 8 and path.suffix not in IDLE)


def test_mutations(tests):
    chance, counts, wrong = random.Random(int(tests.options.seed)), [0, 0], []
    for number in range(int(tests.options.count)):
        name = DEMO[number % len(DEMO)]
        bad = tests.folder / "bad"
        shutil.copytree(tests.folder / "demo" / name, bad)
        damage(chance.choice(files_of(bad)), chance)
        wrong += [f"{name}, store {number} of seed {tests.options.seed}: {line}" for line in counted(bad, counts)]
        shutil.rmtree(bad)
    tests.check(not wrong, f"{tests.options.count} damaged stores: {counts[0]} questions, {counts[1]} raise lode.Error, none harms", wrong[:10])


def test_truncations(tests):
    counts, wrong, demo, bad = [0, 0], [], tests.folder / "demo", tests.folder / "bad"
    files = [(name, path) for name in DEMO for path in files_of(demo / name)]
    cases = [(name, path, length) for name, path in files for length in (0, 7, path.stat().st_size // 2, path.stat().st_size - 1)]
    cases = tests.share.of(cases)
    for name, path, length in cases:
        shutil.copytree(demo / name, bad)
        os.truncate(bad / path.relative_to(demo / name), length)
        wrong += [f"{name}: {path.name} of {length} bytes: {line}" for line in counted(bad, counts)]
        shutil.rmtree(bad)
    tests.check(not wrong, f"{len(cases)} stores cut short: {counts[0]} questions, {counts[1]} raise lode.Error, none harms", wrong[:10])


def test_corpus(tests):
    """Stores that are broken in one way each, and those of old writers with damaged files."""
    if not support.corpus().is_dir():
        tests.tap.skip("damaged stores of the corpus", "no corpus: set LODE_CORPUS")
        return
    paths = sorted(path for pattern in ("uftrace/handmade/*", "hpctoolkit/draft-xml/*", "hpctoolkit/final/viewer-loop-inline-v1", "zorka/damaged/*",
                                        "pprof/handmade/*", "perf/derived/*") for path in support.corpus().glob(pattern))
    counts, wrong = [0, 0], []
    chosen = tests.share.of(paths)
    for path in chosen:
        wrong += [f"{path.name}: {line}" for line in counted(path, counts)]
    tests.check(not wrong, f"{len(chosen)} stores of the corpus: {counts[0]} questions, {counts[1]} raise lode.Error, none harms", wrong[:10])


# ---- sub-interpreters ----


# Run by an interpreter that is not the first one of its process; modules in C of others may not work there.
INSIDE = """
import os, sys, warnings
warnings.simplefilter("ignore")
sys.modules["numpy"] = sys.modules["pandas"] = None
sys.path[:] = {path!r}
try:
    import hostile
    lines = [f"{{name}}: {{line}}" for name in {stores!r} for line in hostile.ask_all(name)[2]
             if "needs numpy" not in line]
except ImportError as error:
    lines = [] if "interpreter" in str(error) else [repr(error)]
os.write({pipe}, "\\n".join(["begun", *lines])[:4000].encode("utf-8", "replace"))
"""


def ask_inside(interpreters, stores):
    """What is wrong with the answers about stores in two interpreters beside this one, and in this one while one of them is left."""
    made, wrong = [interpreters.create() for _ in range(2)], []
    for _ in range(2):
        for interpreter in made:
            reading, writing = os.pipe()
            interpreters.run_string(interpreter, INSIDE.format(path=sys.path, stores=[os.fspath(store) for store in stores], pipe=writing))
            os.close(writing)
            with os.fdopen(reading, "rb") as stream:
                begun, *lines = stream.read().decode().splitlines()
            wrong += lines if begun == "begun" else ["it did not run"]
    interpreters.destroy(made.pop())
    wrong += ask_all(stores[0])[2]
    interpreters.destroy(made.pop())
    return wrong


def test_interpreters(tests):
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        tests.tap.skip("sub-interpreters", "this Python has no such module")
        return
    chance, stores = random.Random(int(tests.options.seed)), [tests.folder / "demo" / name for name in DEMO]
    for number in range(6):
        stores.append(tests.folder / f"inside{number}")
        shutil.copytree(tests.folder / "demo" / DEMO[number % len(DEMO)], stores[-1])
        damage(chance.choice(files_of(stores[-1])), chance)
    lines = in_child(lambda: ask_inside(interpreters, stores))
    tests.check(not lines, f"{len(stores)} stores, sound and damaged, in sub-interpreters", lines[:10])


# ---- names ----


TAGS = ("<script", "<img src=x", "onerror=")


def texts_of(store):
    """Everything that is shown of a store, as (what, text)."""
    asked = [store.top(), store.tree(), *(store.table(row.name) for row in store.tables if not row.function)]
    asked += [store.profiles, store.metrics, store.context(0)] if isinstance(store, lode.Database) else [store.tracks, store.calls()]
    for item in [store, store.tables, lode.check(store.path), lode.compare(store, store), *asked]:
        yield f"str of {type(item).__name__}", str(item) if not isinstance(item, lode.Database) else repr(item)
        if hasattr(item, "_repr_html_"):
            yield f"HTML of {type(item).__name__}", item._repr_html_()
    yield "flame graph", store.flame().svg()
    picture = store.timeline(columns=100)
    if picture:
        yield "timeline", picture._repr_html_()


def faults_of(path):
    lines, count = [], 0
    with lode.open(path) as store:
        for what, text in texts_of(store):
            count += 1
            bad = unsafe(text)
            lines += [f"{what}: {bad}"] if bad else []
            lines += [f"{what}: {tag}" for tag in TAGS if tag in text.lower() and not what.startswith("str")]
    return lines if count > 5 else [f"only {count} texts"]


def test_names(tests):
    """Names of every field end in terminal controls and invalid bytes; the folder is called so too."""
    if not tests.options.stores:
        tests.tap.skip("stores with deceptive names", "--stores names their maker")
        return
    folder = tests.folder / f"=folder<script>{NASTY}".replace("/", "")
    folder.mkdir()
    subprocess.run([tests.options.stores, os.fsencode(folder)], check=True, env=support.environment())
    for name in ("database", "recording", "traces"):
        lines = in_child(lambda: faults_of(folder / name))
        tests.check(not lines, f"{name}: deceptive names are shown as text", lines[:10])
        counts = [0, 0]
        lines = counted(os.fsencode(folder / name), counts)
        tests.check(not lines and counts[0] > 5, f"{name}: {counts[0]} questions about them", lines[:10])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        os.rename(folder / "database", os.fsencode(folder) + b"/\xff\xfe")
        path = os.fsencode(folder) + b"/\xff\xfe"
        lines = counted(path, [0, 0])
        tests.check(not lines, "a path that is no text", lines[:10])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    support.Tests(count="30", seed="1", stores="").finish([test_names, test_interpreters, test_truncations, test_mutations, test_corpus])
