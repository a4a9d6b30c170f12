#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Files and arguments that somebody else wrote, one process for each: limits of a gate, formulas, descriptions of metrics, rules of kinds,
catalogues of runs. Each is made of words of its grammar and then bent by chance. The program answers or refuses with one line, does not
crash, ends in time, and takes at most 64 MiB and 64 times the input more than for a sound one. By hand: --count 2000 --seed N.
"""
import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from tap import Tap  # noqa: E402

SECONDS = 60
MEMORY = 64 << 20
FACTOR = 64
IS_SANITIZED = bool(os.environ.get("LODE_TEST_SANITIZED"))
NUMBERS = ("0", "-1", "1e308", "1e-308", "9" * 400, "nan", "inf", "0x7fffffff", "18446744073709551616", "1%", "-5%", "100000%", "\u0661")
ODD = ("\x1b[2J", "\u202e", "\0", "\xff", "%n%s", "$(x)", "'", '"', "\\", "/" * 50, "*" * 40, "(" * 300, "a" * 5000, "\r", "\t", "#", "")
WORDS = {
    "limits": ("max-slower", "max-function", "min-share", "max", "max-exclusive", "max-inclusive", "absent", "floor", "fail-unsure", "level", "main=1%", "*=5%", "time=2%", "#", "\n", "\n", "\n"),
    "formula": ("CPUTIME (sec)", "PAPI_TOT_CYC", "PAPI_TOT_INS", "[CPUTIME (sec)]", "+", "-", "*", "/", "(", ")", "sqrt", "min", "max", ",", "ipc", "^", "=", "name =", "$1", "#0", "@1"),
    "kinds": ("mpi", "lock", "own", "omp-wait", "file", "lib*.so*", "*", "?", "spmv*", "*a*a*a*a*a*b", "#", "\n", "\n", "\n"),
    "metrics": ("version: 1", "inputs:", "- &a", "metric: CPUTIME (sec)", "scope: execution", "formula: $$", "combine: sum", "roots:", "- name: x", "description: >-", "variants:", "Sum:", "render: number",
                "inclusive:", "exclusive:", "standard: *a", "custom: [*a, '+', 1]", "!!binary x", "*b", "{", "}", "[", "]", "|", "\n", "\n  ", "\n    ", "\n      "),
}


def sentence(chance, kind):
    parts = [chance.choice(WORDS[kind]) if chance.random() < 0.75 else chance.choice(NUMBERS + ODD) for _ in range(chance.choice((1, 3, 10, 40)))]
    return " ".join(parts)


def formula(chance, depth=0):
    """An expression that is sound, most of the time."""
    kind = chance.randrange(7 if depth < 8 else 3)
    if kind < 3:
        return chance.choice(("$0", "$1", "$2", "PAPI_TOT_CYC", "'CPUTIME (sec)'", "2", "1e-3", *NUMBERS[:4]))
    if kind == 3:
        return f"{chance.choice(('min', 'max'))}({formula(chance, depth + 1)}, {formula(chance, depth + 1)})"
    return f"({formula(chance, depth + 1)} {chance.choice('+-*/')} {formula(chance, depth + 1)})"


def limits(chance):
    lines = [f"{chance.choice(('max-slower', 'max-function', 'min-share', 'max CPUTIME=', 'max-exclusive main=', 'absent'))} {chance.choice(('1%', '0%', '200%', 'x*', '1e3%'))}".replace("= ", "=")
             for _ in range(chance.randrange(1, 8))]
    return "\n".join(lines) + "\n"


def kinds(chance):
    return "".join(f"{chance.choice(WORDS['kinds'][:5])} {chance.choice(WORDS['kinds'][5:8])} {chance.choice(WORDS['kinds'][6:10])}\n" for _ in range(chance.randrange(1, 30)))


def bent(chance, data):
    data = bytearray(data)
    for _ in range(chance.choice((0, 1, 2, 8))):
        if data:
            at = chance.randrange(len(data))
            data[at:at + chance.choice((0, 1, 4))] = chance.choice((b"", b"\xff", b"\0\0\0\0", bytes([chance.randrange(256)]), bytes(data[:chance.randrange(64)])))
    return bytes(data)


class Bench:
    """Stores, and one program run after the other."""

    def __init__(self, lode, folder, seed):
        self.lode, self.folder, self.chance = lode, Path(folder), random.Random(seed)
        self.run("example", "demo")
        self.database = self.folder / "demo" / "solver"
        for store in ("solver", "thumbs", "shop"):
            self.run("runs", "add", f"demo/{store}", "--catalogue", "sound.sqlite")
        shutil.copytree(self.database, self.folder / "described")

    def run(self, *words):
        """The status, what was said, and the most memory that was taken."""
        reading, writing = os.pipe()
        child = subprocess.Popen([self.lode, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writing, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            said = stream.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, said, used.ru_maxrss << 10, used.ru_utime + used.ru_stime

    def limits(self):
        text = bent(self.chance, (limits(self.chance) if self.chance.random() < 0.5 else sentence(self.chance, "limits")).encode("utf-8", "surrogateescape"))
        (self.folder / "input").write_bytes(text)
        return len(text), ["gate", "demo/solver", "demo/solver", "--limits", "input"]

    def formula(self):
        text = formula(self.chance) if self.chance.random() < 0.6 else sentence(self.chance, "formula").replace("\0", "")
        return len(text), ["top", "demo/solver", "-m", text]

    def kinds(self):
        text = bent(self.chance, (kinds(self.chance) if self.chance.random() < 0.5 else sentence(self.chance, "kinds")).encode("utf-8", "surrogateescape"))
        (self.folder / "input").write_bytes(text)
        return len(text), ["diagnose", "demo/solver", "--kinds", "input"]

    def metrics(self):
        sound = (self.database / "metrics" / "default.yaml").read_bytes()
        text = sound if self.chance.random() < 0.5 else sentence(self.chance, "metrics").encode("utf-8", "surrogateescape")
        text = bent(self.chance, text)
        (self.folder / "described" / "metrics" / "default.yaml").write_bytes(text)
        return len(text), self.chance.choice((["info", "described", "--verbose"], ["top", "described", "-m", "ipc"], ["check", "described"]))

    def catalogue(self):
        data = bytearray((self.folder / "sound.sqlite").read_bytes())
        (self.folder / "runs.sqlite-journal").unlink(missing_ok=True)
        for _ in range(self.chance.choice((1, 1, 4, 32))):
            data[self.chance.randrange(len(data))] ^= 1 << self.chance.randrange(8)
        (self.folder / "runs.sqlite").write_bytes(data)
        return len(data), self.chance.choice((["runs", "list"], ["runs", "trend"], ["runs", "check"], ["runs", "add", "demo/shop", "--again"])) + ["--catalogue", "runs.sqlite"]


def wrong_with(status, said, used, seconds, size, base):
    if status not in (0, 1, 2) or b"Sanitizer" in said or b"runtime error" in said:
        return f"ended with {status}: {said[-500:]!r}"
    if status == 2 and not said.startswith(b"lode: "):
        return f"said {said[:200]!r}"
    if any(byte < 32 and byte != 10 for byte in said) or b"\x7f" in said:
        return f"sent control characters: {said[:200]!r}"
    if not IS_SANITIZED and used > base + MEMORY + FACTOR * size:
        return f"took {used >> 20} MiB for {size} bytes"
    return f"took {seconds:.1f} s of processor time" if seconds > (20 if IS_SANITIZED else 5) else None


def attack(tap, bench, kind, count):
    # What the program takes for the store itself.
    base = {"catalogue": 32 << 20}.get(kind, bench.run("diagnose" if kind == "kinds" else "top", "demo/solver")[2])
    wrong, statuses, most = [], [0, 0, 0], 0
    for number in range(count):
        size, words = getattr(bench, kind)()
        status, said, used, seconds = bench.run(*words)
        problem = wrong_with(status, said, used, seconds, size, base)
        most = max(most, used)
        if problem:
            wrong.append(f"{kind} {number}: {words}: {problem}")
        else:
            statuses[status] += 1
    tap.check(not wrong, f"{kind}: {count} inputs: {statuses[0] + statuses[1]} answers, {statuses[2]} refused, at most {most >> 20} MiB", wrong[:8])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(options.lode), folder, options.seed)
        has_catalogue = (bench.folder / "sound.sqlite").exists()
        for kind in ("limits", "formula", "kinds", "metrics", *(["catalogue"] if has_catalogue else [])):
            attack(tap, bench, kind, options.count)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
