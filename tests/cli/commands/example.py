#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
lode example: three stores that are sound, the same bytes wherever they are made, and that tell the story of the
tutorial. golden/example.sums holds the checksums; --update writes it after a change that is meant. Chunks of the trace
store are packed by zlib, whose versions differ, so the database that is built from it is compared instead of its files.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import cli  # noqa: E402

STORES = ("solver", "thumbs", "shop")
SUMS = Path(__file__).resolve().parents[1] / "golden" / "example.sums"


def make(program, folder, *options, **more):
    return program.run("example", *options, folder, cwd=more.pop("cwd", Path(folder).parent), **more)


def files_of(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in files_of(folder)}


def sums_of(program, folder):
    """Lines as of sha256sum. The recorder's version in thumbs/info is that of the program."""
    lines = []
    for path in files_of(folder):
        name = path.relative_to(folder)
        if name.parts[0] != "shop":
            data = b"\n".join(line for line in path.read_bytes().split(b"\n") if not line.startswith(b"uftrace_version"))
            lines.append(f"{hashlib.sha256(data).hexdigest()}  {name}")
    with tempfile.TemporaryDirectory() as built:
        program.run("build", "shop", "-o", f"{built}/db", cwd=folder)
        lines += [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  shop, built: {path.name}"
                  for path in sorted(Path(built, "db").glob("*.db"))]
    return lines


def stores_are_sound(program):
    with tempfile.TemporaryDirectory() as folder:
        made = make(program, Path(folder) / "demo")
        program.check(made.status == 0 and not made.err, "it succeeds", [made])
        for store in STORES:
            result = program.run("check", "--level", "full", f"demo/{store}", cwd=folder)
            wanted = f"sound: demo/{store}: 0 errors, 0 warnings, 0 notes\n"
            program.check(result.status == 0 and result.out.startswith(wanted), f"{store} is sound", [result])
        size = sum(path.stat().st_size for path in files_of(folder))
        program.check(size < 1 << 20, "they are small", [size])
        program.equal(sorted(os.listdir(folder)), ["demo"], "nothing else is left")


def bytes_depend_on_nothing(program):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(program, root / "one", "--threads", "1")
        make(program, root / "other name", "--threads", "5", env={"TZ": "Asia/Tokyo", "LANG": "C", "HOSTNAME": "x"})
        program.check(contents(root / "one") == contents(root / "other name") != {},
                      "the same files for other threads, names, time zones and locales")
        found = sums_of(program, root / "one")
        if program.update:
            SUMS.write_text("\n".join(found) + "\n", encoding="utf-8")
        program.equal(found, SUMS.read_text(encoding="utf-8").splitlines(), "the files are those of the golden sums")


def what_is_in_the_way(program):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "empty").mkdir()
        program.equal(make(program, root / "empty").status, 0, "an empty directory is used")
        before = contents(root / "empty")
        again = make(program, root / "empty")
        program.says(again, 2, r".*empty: already exists; use --force to replace it", "stores are not replaced")
        program.equal(make(program, root / "empty", "--force").status, 0, "--force replaces them")
        (root / "empty" / "notes.txt").write_text("mine", encoding="utf-8")
        refused = make(program, root / "empty", "--force")
        program.says(refused, 2, r".*it contains notes.txt, which is not an example, so it is not replaced",
                     "--force does not replace other files")
        (root / "empty" / "notes.txt").unlink()
        (root / "empty" / "shop" / "mine.txt").write_text("mine", encoding="utf-8")
        refused = make(program, root / "empty", "-f")
        program.says(refused, 2, r".*it contains mine.txt, which is not part of the .*", "nor files inside the stores")
        (root / "empty" / "shop" / "mine.txt").unlink()
        program.equal(contents(root / "empty"), before, "and nothing changed")
        program.equal(os.listdir(folder), ["empty"], "nothing is left beside it")
        (root / "file").write_text("mine", encoding="utf-8")
        program.says(make(program, root / "file"), 2, r".*file: it is not a directory, so it is not replaced", "a file is not replaced")
        program.equal((root / "file").read_text(encoding="utf-8"), "mine", "and is unchanged")


def what_it_prints_can_be_typed(program):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as bin_folder:
        (Path(bin_folder) / "lode").symlink_to(program.lode)
        for name in ("demo", "other/", "Ada's demo", "$(exit 3)"):
            made = program.run("example", name, cwd=folder)
            commands = [line.strip() for line in made.out.splitlines() if line.startswith("  lode ")]
            program.equal([command.split()[1] for command in commands], ["diagnose", "top", "replay", "search", "view"], f"commands to try: {name}")
            for command in commands:
                if command.startswith("lode view"):
                    command += " --help"  # it runs until it is stopped
                result = program.run_any("sh", "-c", command, cwd=folder,
                                         env={"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"})
                program.check(result.status == 0 and result.out and not result.err, f"$ {command}", [result])


def the_story(program):
    with tempfile.TemporaryDirectory() as folder:
        make(program, Path(folder) / "demo")
        top = program.json("top", "demo/solver", cwd=folder)["rows"]
        program.equal([row["name"] for row in top[:3]], ["spmv._omp_fn.0", "<omp idle>", "opal_progress"],
                      "the product takes the most time, then waiting")
        slow = program.json("search", "--min-duration", "2s", "demo/shop", cwd=folder)["rows"]
        program.equal([row["number"] for row in slow], [38], "one request is slow")
        failed = program.json("search", "--errors", "demo/shop", cwd=folder)["rows"]
        program.equal([row["number"] for row in failed], [28, 50, 68], "three requests fail")
        calls = program.json("top", "--limit", "0", "demo/thumbs", cwd=folder)["rows"]
        program.equal([row["name"] for row in calls[:2]], ["pthread_join", "Image::decode"],
                      "the first thread waits, the workers decode")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, stores_are_sound, bytes_depend_on_nothing, what_is_in_the_way,
                      what_it_prints_can_be_typed, the_story, flags=("update",)))
