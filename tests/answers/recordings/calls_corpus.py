#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode diagnose` on real recordings, and on those made by hand. Run time and activities against the reference (calls_reference.py), fed from an
independent reader; every note and statement against calls_verdicts.txt, where each has a verdict: right, or weak (right, but of little use). --update
adds new ones with the verdict "?", which fails, and so does "wrong". LODE_SHARE selects a part of what is compared with the reference.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
import calls_reference as reference  # noqa: E402
import rec_corpus  # noqa: E402
from calls_rules import ask, differences  # noqa: E402

import corpus_files  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

VERDICTS = Path(__file__).resolve().with_name("calls_verdicts.txt")
GOOD = ("right", "weak")


def lines_of(said):
    if "failed" in said:
        return ["cannot be read"]
    lines = [f"note {note['id']}: {note['text']}" for note in said["quality"]]
    lines += [f"{s['id']} {s['confidence']}: {s['text']}" for s in said["statements"]]
    return lines or ["nothing"]


def read_verdicts():
    """{store: {line: verdict}}."""
    verdicts, store = {}, None
    for line in VERDICTS.read_text(encoding="utf-8").splitlines() if VERDICTS.exists() else ():
        if line.startswith("  ") and store:
            verdict, _, text = line.strip().partition(" ")
            verdicts[store][text] = verdict
        elif line and not line.startswith("#"):
            store = line
            verdicts[store] = {}
    return verdicts


def update(found):
    verdicts = read_verdicts()
    blocks = [store + "\n" + "".join(f"  {verdicts.get(store, {}).get(line, '?')} {line}\n" for line in lines) for store, lines in found.items()]
    VERDICTS.write_text("# Written by calls_corpus.py --update; verdicts are written by hand.\n" + "".join(blocks), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--update", action="store_true", help="write what is said now")
    options = parser.parse_args()
    tap = Tap()
    stores = [(f"recorded/{name}", path) for name, path in corpus_files.recorded() or ()]
    if not stores:
        tap.skip("diagnoses of real recordings", "there is no corpus")
        return tap.finish()
    stores += [(f"handmade/{name}", path) for name, path in corpus_files.handmade()]
    said = {name: ask(options.lode, path) for name, path in stores}
    found = {name: lines_of(answer) for name, answer in said.items()}
    if options.update:
        update(found)
        return 0
    verdicts = read_verdicts()
    for name, lines in found.items():
        if name not in verdicts:
            tap.note(f"{name} is not judged yet")
            continue
        known = verdicts[name]
        wrong = [f"{known.get(line, 'not judged')}: {line}" for line in lines if known.get(line) not in GOOD]
        wrong += [f"gone: {line}" for line in known if line not in lines]
        tap.check(not wrong, f"{name}: {len(lines)} lines have a verdict", wrong)
    compared = [(name, path) for name, path in stores
                if name.rsplit("/", 1)[-1] not in rec_corpus.NOT_READ and "failed" not in said[name] and said[name]["run"]["calls"]]
    for name, path in Share.of_cases().of(compared):
        tap.check(not (wrong := differences(said[name], reference.run(path))), f"figures of {name}", wrong[:10])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
