#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs: mypy takes a program that uses everything, refuses one that misuses it, and finds the stubs equal to the package."""

import os
import subprocess
import sys

import support

GOOD = """
import lode
with lode.open("db") as db:
    pass
def use(db: lode.Database, rec: lode.Recording) -> float:
    top: lode.Table = db.top(by="function", metric="CPUTIME", profiles="rank=0-3")
    for row in top.head(3):
        print(row.name)
    tree: lode.Tree = db.tree(min_share=0.01)
    db.flame(metric=0).save("flame.svg")
    main: lode.Context = db.find("main")
    rec.calls().sort("p99")[:10].to_pandas()
    assert lode.compare(db, "new").verdict(max_slower=0.05)
    lode.build(["r0", "r1"], output="db", progress=True)
    statements: lode.Diagnosis = db.diagnose()
    lode.merge([db, "other"], output="merged").head()
    db.slice("part", start="1s"), db.efficiency(by="rank"), db.groups(by="node,rank"), db.export("x.pb.gz")
    lode.sql({"a": db, "b": rec}, "select 1", (statements[0]["id"],))
    return main.inclusive() + main.distribution("CPUTIME").p95 + len(tree)
"""
BAD = """
import lode
def use(db: lode.Database) -> None:
    db.top(bye="function")
    db.find(3)
    db.timeline().save("x")
"""


def mypy(tests, text, name):
    (tests.folder / name).write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", tests.folder / "cache", name],
                          capture_output=True, text=True, cwd=tests.folder, check=False,
                          env=support.environment(MYPYPATH=os.environ["PYTHONPATH"]))


def test_programs(tests):
    good, bad = mypy(tests, GOOD, "good.py"), mypy(tests, BAD, "bad.py")
    tests.check(good.returncode == 0, "a program that uses the package has good types", [good.stdout, good.stderr])
    tests.check(bad.stdout.count("error:") == 3, "a program that misuses it has not", [bad.stdout])


def test_package(tests):
    """What mypy does not know of: modules and members that are not public."""
    (tests.folder / "allowed").write_text("lode\\.(_lode|answers|context|diagnosis|notebook|store|table|text|writing)\nlode\\.Distribution.*\n"
                                          "lode\\.\\w+\\._repr_.*\n", encoding="utf-8")
    (tests.folder / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n[mypy-lode.*]\nignore_errors = True\n", encoding="utf-8")
    result = subprocess.run([sys.executable, "-m", "mypy.stubtest", "lode", "--ignore-missing-stub", "--allowlist", tests.folder / "allowed",
                             "--mypy-config-file", tests.folder / "mypy.ini",
                             "--ignore-unused-allowlist"], capture_output=True, text=True, cwd=tests.folder, check=False,
                            env=support.environment(MYPYPATH=os.environ["PYTHONPATH"]))
    wrong = [line for line in result.stdout.splitlines() if line.startswith("error: ")]
    tests.check(not wrong and result.returncode in (0, 1), "the stubs are those of the package", [*wrong, result.stdout[-3000:], result.stderr[-500:]])


if __name__ == "__main__":
    TESTS = support.Tests()
    if subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True, check=False).returncode:
        TESTS.tap.skip("stubs", "there is no mypy")
        TESTS.finish([], scratch=False)
    TESTS.finish([test_programs, test_package], scratch=False)
