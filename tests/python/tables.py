#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables: columns, rows, slices, order, filters, other forms; what notebooks show; with and without numpy."""

import csv
import io
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
import zlib

import lode
import support

HOSTILE = '<script>alert("1")</script>&\'\x1b[31m\u202e\0'


def test_columns(tests):
    with lode.open(tests.folder / "demo" / "solver") as db:
        top = db.top()
        tests.check(top.columns[0] == "name" and len(top) == len(list(top)) == len(top["exclusive"]), "columns and rows")
        tests.check([row.name for row in top[:3]] == [top[number].name for number in range(3)] == list(top["name"][:3]), "rows have names")
        tests.check(len(top[2:5]) == 3 and isinstance(top[2:5], lode.Table), "a slice is a table")
        by_name = top.sort("name")
        tests.check(list(by_name["name"]) == sorted(top["name"]), "text is sorted ascending")
        tests.check(list(by_name.sort("exclusive")["exclusive"]) == sorted(top["exclusive"], reverse=True), "numbers descending")
        few = top.filter(lambda row: row.exclusive_percent > 10)
        mask = [percent > 10 for percent in top["exclusive_percent"]]
        tests.check(few.to_dicts() == top[mask].to_dicts() == [row for row in top.to_dicts() if row["exclusive_percent"] > 10] != [],
                    "filters take functions and masks")
        rows = list(csv.reader(io.StringIO(top.to_csv())))
        tests.check(rows[0] == top.columns and [float(row[1]) for row in rows[1:]] == list(top["exclusive"]), "CSV has every digit")
        tests.check(len(top.head()) == min(10, len(top)) and f"of {len(top)} rows" in str(top), "ten rows show, and how many there are",
                    [str(top)])
        try:
            top["nothing"]
        except KeyError as error:
            tests.check("exclusive" in str(error), "a column that is not there is named, with those that are")


def test_words(tests):
    with lode.open(tests.folder / "demo" / "solver") as db:
        for words in ({"by": "planet"}, {"sort": "size"}, {"names": "long"}):
            try:
                db.top(**words)
                tests.check(False, f"{words} is refused")
            except ValueError as error:
                tests.check(next(iter(words)) in str(error), f"{words} is refused", [str(error)])
        for name in ("no such function", "no such metric"):
            try:
                db.find(name) if "function" in name else db.metrics[name]  # pylint: disable=expression-not-assigned
                tests.check(False, f"{name} is not found")
            except lode.NotFound as error:
                tests.check(error.status == "not found", f"{name} is not found", [error.status, str(error)])
        try:
            db.top(profiles="planet=3")
            tests.check(False, "a selection is refused")
        except lode.Error as error:
            tests.check(error.status == "bad argument", "a selection is refused", [error.status])


def test_times(tests):
    from lode.text import moment
    tests.check(moment("1.000000001s", lambda: 10**18, 0) == 10**18 + 1000000001, "relative times are exact to the nanosecond")
    tests.check(moment("@1714105057972403001", None, 0) == 1714105057972403001, "and so are absolute ones")
    from datetime import datetime, timezone
    tests.check(moment(datetime(2024, 4, 26, 4, 17, 37, 972403, timezone.utc), None, 0) == 1714105057972403000, "and dates")
    tests.check(moment(1714105057972403001, None, 0) == 1714105057972403001, "and numbers")
    if not support.numpy:
        return
    with lode.open(tests.folder / "demo" / "solver") as db:
        whole = db.samples(profile=1)
        middle = int(whole["time"][len(whole) // 2])
        after = db.samples(profile=1, start=middle)
        tests.check(int(after["time"][0]) == middle and len(after) + len(db.samples(profile=1, stop=middle)) == len(whole),
                    "samples are cut at a nanosecond")
        timeline = db.timeline(columns=64)
        tests.check(timeline.to_numpy().shape == (32, 64), "a timeline has rows and columns", [timeline.to_numpy().shape])


def test_forms(tests):
    if not support.numpy:
        tests.tap.skip("numpy and pandas", "there is no numpy")
        return
    with lode.open(tests.folder / "demo" / "solver") as db:
        top = db.top()
        array = top.to_numpy()
        tests.check(array["exclusive"].tolist() == list(top["exclusive"]) and array["name"].tolist() == list(top["name"]), "structured array")
        tests.check(top["exclusive"].dtype == "f8" and top["contexts"].dtype == "u4" and top["line"].dtype == object, "types of columns")
        contexts = db.contexts
        root = contexts.subtree_size[0]
        tests.check(root == len(contexts) and (contexts.depth[1:] > 0).all(), "contexts are arrays")
        inclusive = db._cost()
        from lode import _lode
        columns = {name: support.numpy.asarray(data) for name, data in _lode.cost_columns(inclusive).items()}
        tests.check(columns["inclusive"][0] == inclusive.total, "and so are costs")
        try:
            import pandas
        except ImportError:
            tests.tap.skip("pandas", "there is no pandas")
            return
        frame = top.to_pandas()
        tests.check(isinstance(frame, pandas.DataFrame) and frame["exclusive"].sum() == top["exclusive"].sum(), "pandas")


def is_safe(tests, html, what):
    tests.check("<script" not in html and not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e]", html) and
                not re.search(r"\son\w+=|\sid=|<style", html), f"{what}: no scripts, no styles that leak, no control characters")
    try:
        xml.fromstring(f"<x>{html}</x>".replace("&nbsp;", " ").replace("<details open", "<details"))
        tests.check(True, f"{what}: tags are closed")
    except xml.ParseError as error:
        tests.check(False, f"{what}: tags are closed", [str(error), html[:2000]])


def test_notebook(tests):
    table = lode.Table({"name": [HOSTILE, None], "n": memoryview(b"\1\2")}, title=HOSTILE)
    is_safe(tests, table._repr_html_(), "a table of hostile names")
    tests.check("\x1b" not in str(table) and "\u202e" not in str(table), "text has no control characters")
    tree = lode.Tree({"name": [HOSTILE] * 3, "depth": memoryview(b"\0\1\1"), "inclusive": [1.0, .5, .5], "exclusive": [0.0] * 3,
                      "inclusive_percent": [100.0, 50.0, 50.0], "exclusive_percent": [0.0] * 3, "hot": [1, 0, 0], "folded": [0, 0, 0]},
                     "seconds", HOSTILE, 1.0, 3)
    is_safe(tests, tree._repr_html_(), "a tree of hostile names")
    flame = lode.Flame({"name": [HOSTILE, None], "level": [0.0, -1.0], "x": [0.0, 0.0], "width": [1.0, .5], "inclusive": [1.0, .5],
                        "exclusive": [0.0, .5], "kind": ["own", None], "more": [0, 3]}, "seconds", HOSTILE, 1.0, 1.0, 1000, False)
    is_safe(tests, flame._repr_html_(), "a flame graph of hostile names")
    numbers = ("difference", "gross", "base", "new", "base_own", "new_own", "base_calls", "new_calls")
    compared = lode.ComparedTree({"name": [HOSTILE] * 3, **{name: [1.0, 3.0, 2.0] for name in numbers}, "only_in": [None, "new", None], "base_name": [HOSTILE] * 3,
                                  "new_name": [None] * 3, "node": [1, 2, 5], "parent": [0, 0, 1]}, (1.0, 4.0), 4.0, (1.0, 1.0), "seconds", 0)
    is_safe(tests, compared._repr_html_(), "a compared tree of hostile names")
    tests.check(compared.to_dicts()[2]["parent_row"] == 1 and list(compared["gross"]) == [3.0, 1.0, 2.0] and "\x1b" not in str(compared),
                "the largest change is first, and what it calls follows it", compared.to_dicts())
    with lode.open(tests.folder / "demo" / "solver") as db:
        for what in (db, db.top(), db.tree(), db.flame(), db.timeline(columns=300), db.metrics, db.find("main"),
                     db.find("main").distribution(), lode.check(db.path), lode.compare(db, db)):
            is_safe(tests, what._repr_html_(), type(what).__name__)
        framed = db.flame(interactive=True)._repr_html_()
        tests.check(framed.startswith("<iframe sandbox=\"allow-scripts\"") and "<script" not in framed, "scripts are in a frame of their own")
        png = db.timeline(columns=300).to_png()
        data = png[png.index(b"IDAT") + 4:]
        tests.check(png[:8] == b"\x89PNG\r\n\x1a\n" and len(zlib.decompress(data)) % 301 == 0, "a timeline is a PNG")
    for store in ("thumbs", "shop"):
        with lode.open(tests.folder / "demo" / store) as recording:
            for what in (recording, recording.top(), recording.tree(), recording.flame(), recording.timeline(columns=300), recording.tracks):
                is_safe(tests, what._repr_html_(), f"{store}: {type(what).__name__}")


def test_progress(tests):
    """progress=True is a bar of text; in a notebook, one output that is updated, and empty at the end."""
    from types import SimpleNamespace
    pages, kinds = [], ("IPython", "IPython.display", "ipykernel")
    handle = SimpleNamespace(update=pages.append)
    display = SimpleNamespace(HTML=str, display=lambda page, display_id: pages.append(page) or handle)
    before = {name: sys.modules.get(name) for name in kinds}
    sys.modules.update({"IPython": SimpleNamespace(display=display), "IPython.display": display, "ipykernel": SimpleNamespace()})
    try:
        from lode.store import _reporter
        report = _reporter(True)
        for done in (1, 3, 4):
            report(HOSTILE, done, 4)
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    tests.check(len(pages) == 3 and 'value="3" max="4"' in pages[1] and pages[2] == "", "a bar of a notebook", pages)
    is_safe(tests, pages[0], "a bar of a hostile phase")
    seen = []
    lode.build([tests.folder / "demo" / "thumbs"], output=tests.folder / "built", progress=lambda *words: seen.append(words))
    tests.check(seen and all(len(words) == 3 for words in seen), "a function is told phase, done and total", seen[:3])


def test_without_numpy(tests):
    script = ("import sys\nsys.modules['numpy'] = None\nimport lode\n"
              "with lode.open(sys.argv[1]) as db:\n"
              "    top = db.top().sort('inclusive').filter(lambda row: row.inclusive > 0)\n"
              "    print(len(top), sum(top['exclusive']) > 0, db.find('main').distribution().count, len(db.flame().svg()) > 0, db.profiles[1].name)\n"
              "    try:\n        db.values(profile=1)\n    except ImportError as error:\n        print(error)\n")
    result = subprocess.run([sys.executable, "-c", script, tests.folder / "demo" / "solver"], capture_output=True, check=False, text=True)
    tests.check(result.returncode == 0 and "values() needs numpy" in result.stdout, "all but arrays works without numpy", [result.stderr, result.stdout])


def test_import(tests):
    """Importing takes processor time like a module of the standard library, and loads no other package."""
    script = ("import sys, time\nbegin = time.process_time()\nimport ctypes\nmiddle = time.process_time()\nimport lode\n"
              "end = time.process_time()\nprint(middle - begin, end - middle, 'numpy' in sys.modules, 'pandas' in sys.modules)\n")
    best = []
    # Compiled files are written once, by the first.
    where = {**os.environ, "PYTHONPYCACHEPREFIX": str(tests.folder / "pyc")}
    where.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(8):
        words = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True, env=where).stdout.split()
        best.append((float(words[0]), float(words[1])))
        if words[2:] != ["False", "False"]:
            tests.check(False, "no other package is imported", words)
    # Both in one process: whatever else the machine does slows both.
    theirs, mine = min(best, key=lambda pair: pair[1] / pair[0])
    tests.tap.note(f"import ctypes {theirs * 1000:.2f} ms, import lode {mine * 1000:.2f} ms of processor time")
    tests.check(mine < 8 * theirs or "LD_PRELOAD" in os.environ, "import lode is as light as import ctypes", [f"{mine} s, {theirs} s"])


if __name__ == "__main__":
    support.Tests().finish([test_columns, test_words, test_times, test_forms, test_notebook, test_progress, test_without_numpy, test_import])
