#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode diagnose` on stores of requests that are real, damaged or hostile. Every note and statement on a real one has a verdict in requests_verdicts.txt (right,
or weak: of little use); --update adds new ones with "?", which fails. Damage and names do no harm: no crash, valid JSON, finite numbers.
"""

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
import corpora  # noqa: E402
from diagnose_requests import LOAD, SQL, EXECUTE, every, never, service, slow_by, statements, try_commands  # noqa: E402
from tap import Tap  # noqa: E402

VERDICTS = Path(__file__).resolve().with_name("requests_verdicts.txt")
GOOD = ("right", "weak")


def run(lode, path, *options):
    return subprocess.run([lode, "diagnose", "--json", *options, str(path)], capture_output=True, timeout=300)


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [n for v in value for n in numbers(v)]
    return [value] if isinstance(value, (int, float)) else []


def strict(text):
    """JSON without NaN and infinities."""
    def refuse(word):
        raise ValueError(word)
    return json.loads(text, parse_constant=refuse)


# ---- real stores ----

def lines_of(said):
    lines = [f"note {note['id']}: {note['text']}" for note in said["quality"]]
    return lines + [f"{s['id']} {s['confidence']}: {s['text']}" for s in said["statements"]] or ["nothing"]


def read_verdicts():
    verdicts, store = {}, None
    for line in VERDICTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("  ") and store:
            verdict, _, text = line.strip().partition(" ")
            verdicts[store][text] = verdict
        elif line and not line.startswith("#"):
            store = line
            verdicts[store] = {}
    return verdicts


def judge_corpus(tap, lode, update):
    corpus = corpora.root() / "zorka" / "stores"
    stores = corpora.stores(corpus)
    if not stores:
        tap.skip("real stores", "no corpus")
        return
    verdicts, found = read_verdicts(), {path.name: lines_of(strict(run(lode, path).stdout)) for path in stores}
    if update:
        head = "# What requests_stores.py finds on real stores; --update writes it, verdicts are written by hand.\n"
        VERDICTS.write_text(head + "".join(name + "\n" + "".join(f"  {verdicts.get(name, {}).get(line, '?')} {line}\n" for line in lines)
                                           for name, lines in found.items()), encoding="utf-8")
    for name, lines in found.items():
        if name not in verdicts:
            tap.note(f"{name} is not judged yet")
            continue
        known = verdicts[name]
        wrong = [f"{known.get(line, 'not judged')}: {line}" for line in lines if known.get(line) not in GOOD]
        wrong += [f"gone: {line}" for line in known if line not in lines]
        tap.check(not wrong, f"{name}: {len(lines)} lines have a verdict", wrong)


# ---- damage ----

def damaged(data, random, kind):
    data = bytearray(data)
    if kind == "cut":
        return data[:random.randrange(20, len(data))]
    for _ in range(1 if kind == "flip" else 40):
        data[random.randrange(16, len(data))] ^= 1 << random.randrange(8)
    return data


def try_damage(tap, options, folder):
    whole = Path(folder) / "whole"
    service(slow_by(every(20), never), tenant=lambda i: f"t{i % 20}").write(options.write, whole)
    random, wrong, noted, counts = Random(11), [], 0, {}
    for turn in range(options.count):
        kind = ("cut", "flip", "many")[turn % 3]
        store = Path(folder) / "damaged"
        shutil.copytree(whole, store)
        name = "traces.dat" if turn % 4 else "text-00000001.wal"
        file = store / "000000" / name
        file.write_bytes(damaged(file.read_bytes(), random, kind))
        outputs = []
        for threads in ("1", "7"):
            done = run(options.lode, store, "--threads", threads)
            outputs.append(done.stdout)
            if done.returncode not in (0, 2):
                wrong.append(f"{turn} {kind} {name}: {done.returncode} {done.stderr.decode()}")
        if outputs[0] != outputs[1]:
            wrong.append(f"{turn} {kind} {name}: other output of 7 threads")
        if done.returncode == 0:
            said = strict(done.stdout)
            wrong += [f"{turn}: {n}" for n in numbers(said) if not math.isfinite(n)]
            noted += any(note["id"] in ("damaged", "cut-off") for note in said["quality"])
            counts[kind] = counts.get(kind, 0) + 1
        shutil.rmtree(store)
    tap.check(not wrong, f"{options.count} damaged stores: no crash, finite numbers, the same for 1 and 7 threads", wrong)
    tap.check(noted > options.count // 2, f"{noted} of {sum(counts.values())} that can be read are said to be damaged")


# ---- limits and names ----

def say(options, folder, name, lines):
    path = Path(folder) / name
    lines.write(options.write, path)
    outputs = [run(options.lode, path, "--threads", threads) for threads in ("1", "2", "7")]
    assert all(done.returncode == 0 for done in outputs), outputs[0].stderr
    return strict(outputs[0].stdout), len({done.stdout for done in outputs}) == 1


def try_limits(tap, options, folder):
    tenant = {"tenant": lambda i: f"t{i % 20}"}
    for count, notes in ((8192, set()), (8193, {"many-values"})):
        said, same = say(options, folder, f"values-{count}", service(slow_by(every(20), never), count=count, user=lambda i: f"u{i}", **tenant))
        ids, found = {s["id"] for s in said["statements"]}, {note["id"] for note in said["quality"]}
        tap.check(same and found == notes and ids == {"attribute"}, f"{count} values of an attribute: {sorted(notes)}, and another is still found", [found, ids])
    for count, notes in ((16384, set()), (16385, {"many-statements"})):
        text = statements(lambda i: True, lambda i, k: f"SELECT c{chr(97 + i % 26)}{_letters(min(i * 40 + k, count - 1))} FROM t", 40, 100)
        said, same = say(options, folder, f"statements-{count}", service(text, count=(count + 39) // 40 + 26))
        found = {note["id"] for note in said["quality"]}
        rules = {rule["id"]: rule["ran"] for rule in said["rules"]}
        del notes
        tap.check(same and rules["n-plus-one"] == ("many-statements" not in found), f"about {count} statements: {sorted(found)}", [found])


def _letters(number):
    return "".join(chr(97 + number // 26 ** k % 26) for k in range(4))


NAMES = [("ten=ant", "a"), ("-tenant", "-a"), ("ten ant", "'quoted' \"text\""), ("t\x1b[31m", "\x1b[31mred\x07"), ("ключ", "значение"), ("t", ""), ("tenant", "x" * 255),
         ("t", "\udcff\udcfe"), ("k" * 127, "v"), ("t", "$(id); `id`"), ("t", "%s%n%d")]


def try_names(tap, options, folder):
    for number, (key, value) in enumerate(NAMES):
        lines = service(slow_by(every(20), never), **{key: lambda i, value=value: value if i % 20 == 0 else f"o{i % 19}"})
        path = Path(folder) / f"names-{number}"
        subprocess.run([options.write, str(path)], input=("\n".join(lines.lines) + "\n").encode(errors="surrogateescape"), check=True, timeout=300)
        done, text = run(options.lode, path), subprocess.run([options.lode, "diagnose", str(path)], capture_output=True, timeout=300)
        said = strict(done.stdout) if done.returncode == 0 else {"statements": []}
        wrong = [] if [s["id"] for s in said["statements"]] == ["attribute"] else [done.stderr, [s["id"] for s in said["statements"]]]
        wrong += try_commands(options.lode, said) if value.isprintable() else []
        wrong += ["control characters"] if any(byte < 32 and byte != 10 for byte in text.stdout) else []
        tap.check(not wrong, f"the attribute {ascii(key)[:30]}={ascii(value)[:30]} is found", wrong)
    for length, ids in ((255, {"attribute"}), (256, {"slow-method"})):
        lines = service(slow_by(every(20), never), t=lambda i: "x" * length if i % 20 == 0 else f"o{i % 19}")
        said, _ = say(options, folder, f"long-{length}", lines)
        tap.check({s["id"] for s in said["statements"]} == ids, f"a value of {length} bytes: {sorted(ids)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--write", required=True)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        judge_corpus(tap, options.lode, options.update)
        try_damage(tap, options, folder)
        try_limits(tap, options, folder)
        try_names(tap, options, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
