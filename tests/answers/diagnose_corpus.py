#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode diagnose` on real databases. Every figure against the reference (diagnose_reference.py), fed from what an independent reader made of the files; and
every note and statement against diagnose_verdicts.txt, where each has a verdict: right, or weak (right, but of little
use). --update adds new ones with the verdict "?", which fails, and so does "wrong".
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "dump")]

import corpora  # noqa: E402
from diagnose_rules import ask, differences  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

VERDICTS = Path(__file__).resolve().with_name("diagnose_verdicts.txt")
FOLDERS = ("final", "draft-xml", "pre-a", "pre-b")
SUFFIX = ".yaml.gz"
GOOD = ("right", "weak")


def lines_of(said):
    """What is said of one store, one line each."""
    if "failed" in said:
        return ["cannot be read"]
    lines = [f"note {note['id']}: {note['text']}" for note in said["quality"]]
    for s in said["statements"]:
        gain = "" if s["gain_percent"] is None else f" {s['gain_percent']:.0f}%"
        lines.append(f"{s['id']} {s['confidence']}{gain}: {s['text']}")
    efficiency = said["efficiency"]
    if efficiency:
        lines.append(f"efficiency {efficiency['parallel']:.2f}")
    return lines or ["nothing"]


def read_verdicts():
    """{store: {line: verdict}}."""
    verdicts, store = {}, None
    for line in VERDICTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("  ") and store:
            verdict, _, text = line.strip().partition(" ")
            verdicts[store][text] = verdict
        elif line and not line.startswith("#"):
            store = line
            verdicts[store] = {}
    return verdicts


def write_verdicts(found, verdicts):
    head = "# Written by diagnose_corpus.py --update; verdicts are written by hand.\n"
    blocks = [store + "\n" + "".join(f"  {verdicts.get(store, {}).get(line, '?')} {line}\n" for line in lines) for store, lines in found.items()]
    VERDICTS.write_text(head + "".join(blocks), encoding="utf-8")


def judge_all(tap, lode, corpus, update):
    stores = sorted(f"{folder}/{path.name}" for folder in FOLDERS for path in corpora.stores(corpus / folder))
    found = {store: lines_of(ask(lode, corpus / store)) for store in stores}
    verdicts = read_verdicts() if VERDICTS.exists() else {}
    if update:
        write_verdicts(found, verdicts)
        return
    for store, lines in found.items():
        if store not in verdicts:
            tap.note(f"{store} is not judged yet")
            continue
        known = verdicts[store]
        wrong = [f"{known.get(line, 'not judged')}: {line}" for line in lines if known.get(line) not in GOOD]
        wrong += [f"gone: {line}" for line in known if line not in lines]
        tap.check(not wrong, f"{store}: {len(lines)} lines have a verdict", wrong)


def compare_all(tap, lode, corpus, names):
    if expected is None:
        tap.skip("figures of databases", "this Python has no yaml with libyaml")
        return
    for path in corpora.expected(corpus):
        name = path.name[:-len(SUFFIX)]
        if names and name not in names:
            continue
        said = ask(lode, corpus / "final" / name)
        tap.check(not (wrong := [said["failed"]] if "failed" in said else differences(said, expected.from_file(path))), f"figures of {name}", wrong[:10])


def ids_of(said):
    return sorted(s["id"] for s in said["statements"])


def halves_say_the_same(tap, lode, corpus):
    """Half of the ranks, and half of the time, of the large databases."""
    for name, ranks, has_samples in (("viewer-issue-233", 27, True), ("viewer-lmp-openmp-v0", 4, False)):
        whole = ask(lode, corpus / "final" / name)
        middle = whole["run"]["seconds"] / 2
        parts = {"even": ["--profiles", "rank=" + "+".join(map(str, range(0, ranks, 2)))], "odd": ["--profiles", "rank=" + "+".join(map(str, range(1, ranks, 2)))],
                 "lower": ["--profiles", f"rank=0-{ranks // 2 - 1}"], "upper": ["--profiles", f"rank={ranks // 2}-{ranks - 1}"],
                 "first": ["--to", f"{middle}s"], "second": ["--from", f"{middle}s"]}
        if not has_samples:
            del parts["first"], parts["second"]
        with tempfile.TemporaryDirectory() as folder:
            for part, words in parts.items():
                path = Path(folder) / part
                subprocess.run([lode, "slice", *words, "-o", path, corpus / "final" / name], check=True, capture_output=True, timeout=300)
                said = ask(lode, path)
                tap.check(ids_of(said) == ids_of(whole), f"{name}: the {part} half says the same", [ids_of(said), ids_of(whole)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--update", action="store_true", help="write what is said now")
    parser.add_argument("names", nargs="*", help="databases to compare figures of; all if none is named")
    options = parser.parse_args()
    tap = Tap()
    corpus = corpora.root() / "hpctoolkit"
    if not (corpus / "final").is_dir():
        tap.skip("diagnoses of real databases", "there is no corpus")
        return tap.finish()
    if corpora.is_own():
        tap.skip("verdicts of a person, and halves of a run", "they are of databases of the larger corpus")
        compare_all(tap, options.lode, corpus, options.names)
        return tap.finish()
    judge_all(tap, options.lode, corpus, options.update)
    if not options.update:
        halves_say_the_same(tap, options.lode, corpus)
        compare_all(tap, options.lode, corpus, options.names)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
