#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The index of trace ids: a request that is looked up by its id has byte-identical answers with and without it; what is stale, damaged, hostile or
not private counts as missing.
"""

import argparse
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

from tap import Tap  # noqa: E402

SPANS = 5000  # of each file: 1.3 MB
OLD = 10**9  # seconds: a file that was changed long ago
QUESTIONS = (["search"], ["search", "--json"], ["search", "--critical-path", "--json"], ["search", "--map"], ["replay"], ["replay", "--times"], ["replay", "--json"],
             ["search", "--columns", "http.route", "--csv"])


class Bench:
    def __init__(self, lode, folder):
        self.lode, self.folder = lode, Path(folder)
        self.cache = self.folder / "cache" / "lode"
        self.store = self.folder / "traces"
        self.store.mkdir()
        for number in (1, 2):
            self.run("synth", "recording", "--format", "otlp", "--records", 2 * SPANS, "--seed", number, "-o", self.store / f"{number}.pb")
        self.touch()

    def touch(self):
        for path in self.store.iterdir():
            os.utime(path, (OLD, OLD))

    def run(self, *words, **variables):
        environment = {name: value for name, value in os.environ.items() if name not in ("LODE_CACHE", "XDG_CACHE_HOME")}
        environment.update(HOME=str(self.folder / "home"), LODE_CACHE=str(self.cache))
        environment.update({name: value for name, value in variables.items() if value is not None})
        for name in [name for name, value in variables.items() if value is None]:
            environment.pop(name, None)
        done = subprocess.run([self.lode, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)
        return done.returncode, done.stdout, done.stderr

    def ask(self, words, ids, store=None, **variables):
        return self.run(words[0], *words[1:], "--id", ids, store or self.store, **variables)

    def plain(self, words, ids, store=None):
        """Without an index."""
        return self.ask(words, ids, store, LODE_CACHE="")

    def indexes(self):
        return sorted(self.cache.glob("*.index")) if self.cache.is_dir() else []

    def make(self, ids):
        """The only index."""
        for path in self.indexes():
            path.unlink()
        self.ask(["search"], ids)
        (path,) = self.indexes()
        return path

    def is_rewritten(self, ids):
        """Whether the index was of no use: another one replaces it."""
        (path,) = self.indexes()
        with open(path, "rb"):  # its inode is not given to another file
            before = path.stat().st_ino
            self.ask(["search"], ids)
            return self.indexes()[0].stat().st_ino != before


def check_answers(tap, bench, ids):
    wrong = []
    several = ",".join(ids[:3])
    for words in QUESTIONS:
        for asked in (ids[0], ids[-1].upper(), several):
            wanted, first, second = bench.plain(words, asked), bench.ask(words, asked), bench.ask(words, asked)
            if not wanted == first == second or (wanted[0] and "--critical-path" not in words):
                wrong.append(f"{words} {asked}: {wanted[:2]} {first[:2]} {second[:2]}"[:600])
    tap.check(not wrong, "answers are byte-identical with and without an index", wrong[:4])
    tap.check(len(bench.indexes()) == 1, "a store has one index", [str(path) for path in bench.indexes()])
    missing = "0123456789abcdef0123456789abcdef"
    tap.check(bench.plain(["search"], missing) == bench.ask(["search"], missing) and bench.ask(["search"], missing)[0] == 2,
              "an id that is not there is said not to be", [str(bench.ask(["search"], missing))])


def check_private(tap, bench, ids):
    path = bench.make(ids[0])
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path, bench.cache)]
    tap.check(modes == [0o600, 0o700], "an index and its directory are private", [str([oct(mode) for mode in modes])])
    tap.check([one.name for one in bench.cache.iterdir()] == [path.name], "nothing else is left there", [str(list(bench.cache.iterdir()))])
    tap.check(path.stat().st_size < 2 * SPANS * 12, "an index has a few bytes for each span", [str(path.stat().st_size)])
    for name, variables in (("XDG_CACHE_HOME", {"LODE_CACHE": None, "XDG_CACHE_HOME": str(bench.folder / "xdg")}), ("HOME", {"LODE_CACHE": None})):
        bench.ask(["search"], ids[0], **variables)
        found = list((bench.folder / "xdg" / "lode" if name == "XDG_CACHE_HOME" else bench.folder / "home" / ".cache" / "lode").glob("*.index"))
        tap.check(len(found) == 1, f"{name} says where it is", [str(found)])
    before = set(bench.folder.rglob("*"))
    bench.ask(["search"], ids[0], LODE_CACHE="")
    tap.check(set(bench.folder.rglob("*")) == before, "LODE_CACHE= writes none")


def is_used(bench, ids):
    """An index is touched when it has answered."""
    (path,) = bench.indexes()
    os.utime(path, (OLD, OLD))
    bench.ask(["search"], ids)
    return path.stat().st_mtime > OLD


def check_stale(tap, bench, ids):
    bench.make(ids[0])
    tap.check(is_used(bench, ids[0]) and is_used(bench, ",".join(ids[:3])), "an index answers")
    tap.check(not is_used(bench, "1") and not is_used(bench, ids[0][:8]), "numbers and parts of ids are looked for in the store")
    tap.check(not bench.is_rewritten(ids[0]), "an index stays as it is")
    path = bench.store / "2.pb"
    sound = path.read_bytes()
    for what in ("is longer", "has another time", "is another file", "is gone", "is new"):
        bench.make(ids[0])
        if what == "is longer":
            with open(path, "ab") as stream:  # its first message again
                stream.write(sound[:4 + int.from_bytes(sound[:4], "big")])
            os.utime(path, (OLD, OLD))
        elif what == "has another time":
            os.utime(path, (OLD + 1, OLD + 1))
        elif what == "is another file":
            shutil.copy(path, bench.folder / "copy")
            os.replace(bench.folder / "copy", path)
            os.utime(path, (OLD, OLD))
        elif what == "is gone":
            path.unlink()
        else:
            (bench.store / "3.pb").write_bytes(sound)
            os.utime(bench.store / "3.pb", (OLD, OLD))
        is_stale = bench.is_rewritten(ids[0])
        tap.check(is_stale and bench.plain(["search", "--json"], ids[0]) == bench.ask(["search", "--json"], ids[0]), f"an index is stale if a file {what}")
        (bench.store / "3.pb").unlink(missing_ok=True)
        path.write_bytes(sound)
        bench.touch()
    for one in bench.indexes():
        one.unlink()
    os.utime(path)
    bench.ask(["search"], ids[0])
    tap.check(not bench.indexes(), "a store that was changed a moment ago has no index")
    bench.touch()


def check_damage(tap, bench, ids):
    index = bench.make(ids[0])
    sound, chance, wrong = index.read_bytes(), random.Random(5), []
    wanted = bench.plain(["search", "--json"], ids[0])
    size = len(sound)
    cases = [b"", sound[:20], sound[:-1], sound[:size // 2], bytes(size), sound + b"x", b"\xff" * 32 + sound[32:]]
    for _ in range(24):
        changed = bytearray(sound)
        at = chance.choice((chance.randrange(32), chance.randrange(size), size - 1 - chance.randrange(2000)))
        changed[at] ^= 1 << chance.randrange(8)
        cases.append(bytes(changed))
    for number, case in enumerate(cases):
        index.write_bytes(case)
        found = bench.ask(["search", "--json"], ids[0])
        if found != wanted:
            wrong.append(f"case {number}: {found}"[:400])
        index.write_bytes(sound)
    tap.check(not wrong, f"{len(cases)} damaged indexes count as missing", wrong[:4])
    for what in ("readable by others", "a link", "a directory"):
        index.unlink(missing_ok=True)
        if what == "readable by others":
            index.write_bytes(b"x")
            index.chmod(0o644)
        elif what == "a link":
            index.symlink_to("/dev/zero")
        else:
            index.mkdir()
        found = bench.ask(["search", "--json"], ids[0])
        tap.check(found == wanted, f"an index that is {what} counts as missing", [str(found)[:300]])
        if index.is_dir() and not index.is_symlink():
            index.rmdir()
    bench.cache.chmod(0o777)
    for one in bench.indexes():
        one.unlink()
    tap.check(bench.ask(["search", "--json"], ids[0]) == wanted and not bench.indexes(), "a directory that others can write has no index")
    bench.cache.chmod(0o700)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    arguments = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(arguments.lode), folder)
        rows = bench.run("search", "-n", "0", "--csv", bench.store)[1].decode().splitlines()
        ids = [row.split(",")[2] for row in rows[1::97]]
        check_answers(tap, bench, ids)
        check_private(tap, bench, ids)
        check_stale(tap, bench, ids)
        check_damage(tap, bench, ids)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
