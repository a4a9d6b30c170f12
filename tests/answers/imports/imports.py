# SPDX-License-Identifier: BSD-3-Clause
"""What tests of imported profiles share: the corpus, the program, and rows of `lode top` by name."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
CLOSE = 1e-9


def corpus():
    return corpora.root()


def run(lode, *words):
    return subprocess.run([lode, *map(str, words)], capture_output=True, timeout=300)


def ask(lode, command, *words):
    done = run(lode, command, "--json", *words)
    if done.returncode not in (0, 1):
        raise ValueError(f"lode {command} {' '.join(map(str, words))}: {done.stderr.decode(errors='replace').strip()[:300]}")
    return json.loads(done.stdout)


def same(found, wanted, scale=0):
    return abs(found - wanted) <= CLOSE * max(abs(wanted), abs(scale))


def top(lode, path, metric):
    """The answer, and its rows that are functions: {name: (exclusive, inclusive)} without those that are 0."""
    answer = ask(lode, "top", "--limit", 0, "--names", "raw", "-m", metric, path)
    rows = {row["name"]: (row["exclusive"], row["inclusive"]) for row in answer["rows"] if row["function"] is not None}
    return answer, {name: costs for name, costs in rows.items() if costs != (0, 0)}


def differences(found, wanted):
    """Lines of text about rows that differ."""
    lines = []
    for name in sorted(set(found) | set(wanted)):
        a, b = found.get(name, (0, 0)), wanted.get(name, (0, 0))
        if not (same(a[0], b[0]) and same(a[1], b[1])):
            lines.append(f"{name!r}: {a} instead of {b}")
    return lines
