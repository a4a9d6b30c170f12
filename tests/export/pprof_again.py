#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A profile of pprof, exported to pprof, has what it had: all sample types with their totals, labels with their costs, period,
time, duration, default type, comments and patterns of frames, by a reader that is not Lode's; and pprof's own options work on it.
A made profile needs neither the corpus nor Go. With --share N, every N-th file of the corpus; LODE_SHARE selects a part of those.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "tools")]

import references  # noqa: E402,F401
from imports import corpora, corpus, run  # noqa: E402
from pprof_reader import differences, facts, write  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

TYPES = [("wall", "seconds"), ("cpu", "nanoseconds"), ("things", "")]
SAMPLES = [(["work", "main"], [3, 30, 0], [("user", "ann", 0, ""), ("bytes", "", 64, "bytes")]),
           (["work", "main"], [4, 40, 0], [("user", "bob", 0, "")]),
           (["work", "main"], [5, 50, 0], []),
           (["work", "main"], [6, 60, -7], [("user", "ann", 0, ""), ("bytes", "", 64, "bytes")]),
           (["main"], [0, 1, 0], [("bytes", "", -1, "")]),
           ([], [1 << 40, 0, 0], [("user", "nobody", 0, "")])]
METADATA = {"f7": "dropped.*", "f8": "kept.*", "f9": 1700000000000000001, "f10": 123456789, "f11": ("cpu", "nanoseconds"), "f12": 10000000,
            "f13": ["one comment", "another one"], "f14": "cpu", "f15": "https://example.org/doc"}


def export(lode, source, target, *options):
    done = run(lode, "export", source, *options, "--format", "pprof", "-f", "-o", target)
    return done.stderr.decode(errors="replace") if done.returncode != 0 or done.stderr else None


def check_made(tap, lode, scratch):
    source, target = scratch / "made.pb.gz", scratch / "again.pb.gz"
    write(source, TYPES, SAMPLES, ["main", "work"], **METADATA)
    wanted = facts(source)
    wrong = export(lode, source, target)
    found = facts(target)
    tap.check(not wrong and not differences(wanted, found), "a profile has what it had", [wrong, *differences(wanted, found)])
    tap.check(len(wanted["labels"]) == 9 and wanted["totals"] == [18 + (1 << 40), 181, -7], "and that is what was made", [wanted])
    wrong = export(lode, source, target, "-m", "cpu")
    found = facts(target)
    tap.check(not wrong and found["types"] == TYPES[1:2] and found["totals"] == wanted["totals"][1:2], "one type is that type", [wrong, found])
    export(lode, source, target, "-m", "all")
    tap.check(not differences({**wanted, "default type": "wall"}, facts(target)), "-m all is all", differences(wanted, facts(target)))
    export(lode, source, target, "--depth", "1")
    tap.check(facts(target)["labels"] == wanted["labels"], "labels stay with the last level", [facts(target)])
    export(lode, source, target, "--focus", "work")
    found = facts(target)["labels"]
    tap.check(sum(value for key, value in found.items() if key[-1] == 1) == 180 and len(found) == 7, "a focus has the labels below it", [found])
    again = scratch / "third.pb.gz"
    export(lode, source, target)
    export(lode, target, again)
    tap.check(target.read_bytes() == again.read_bytes(), "a second time, nothing changes")


def check_large(tap, lode, scratch):
    """Costs that a database rounds, or that no profile can hold: no sample is made up for the difference."""
    source, target, label = scratch / "large.pb.gz", scratch / "again.pb.gz", [("user", "ann", 0, "")]
    for what, values, wanted in (("2^53 + 1", [(1 << 53) + 1], [(1 << 53) + 1]), ("more than 2^63", [9 * 10**18] * 3, [2**63 - 1]), ("usual", [1, 2], [3])):
        write(source, TYPES[1:2], [(["main"], [value], label) for value in values], ["main"])
        run(lode, "export", source, "--format", "pprof", "-f", "-o", target)
        found = facts(target)
        tap.check(list(found["labels"].values()) == wanted == found["totals"], f"a cost with a label is {what}", [found])


def check_corpus(tap, lode, folder, share, scratch):
    files = [path for path in sorted(folder.iterdir()) if path.suffix in (".gz", ".pprof", ".prof", ".pb") and not path.name.startswith("legacy")]
    cases = Share.of_cases().of(files[::share]) or files[:1]
    labels = 0
    for path in cases:
        target = scratch / "again.pb.gz"
        if run(lode, "info", path).returncode != 0:
            tap.skip(path.name, "it is not read")
            continue
        wrong = export(lode, path, target)
        wrong = [wrong] if wrong else differences(facts(path), facts(target))
        labels += sum(len(key) > 1 for key in facts(path)["labels"])
        tap.check(not wrong, f"{path.name}: types, totals, labels and metadata are the same in the export", wrong)
    tap.note(f"{len(cases)} profiles, {labels} costs of sets of labels")


def check_go(tap, lode, folder, scratch):
    """What pprof prints about labels of the original and of the export."""
    cases = corpora.either(
        [("made-go-cpu-labels.pb.gz", ["-tags"]), ("made-go-cpu-labels.pb.gz", ["-top", "-tagfocus=request=.*id=1"]),
         ("made-go-cpu-labels.pb.gz", ["-top", "-tagroot=rank,request"]), ("go-cpu-exemplars.pb.gz", ["-tags"]), ("go-heap-age.pb.gz", ["-tags"]),
         ("parca-ebpf-threads.pb.gz", ["-top", "-tagroot=thread_id"]), ("go-heap-default.pb.gz", ["-top"])],
        [("labels.pb.gz", ["-tags"]), ("labels.pb.gz", ["-top", "-tagfocus=thread=worker-1"]), ("labels.pb.gz", ["-top", "-tagroot=thread,request"]),
         ("heap-after.pprof", ["-top"])])
    for name, options in Share.of_cases().of(cases) or cases[:1]:
        target = scratch / name
        export(lode, folder / name, target, "--names", "raw")

        def printed(path):
            done = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-nodecount=0", "-nodefraction=0", *options, str(path)], capture_output=True, text=True,
                                  timeout=300, env={**os.environ, "HOME": "/tmp", "PPROF_TMPDIR": "/tmp"})
            # The name of the program is that of its first mapping, or none; rows of equal costs have any order.
            # Control characters in names are '?' in everything that Lode writes.
            return sorted(line.replace("\t", "?") for line in done.stdout.splitlines() if not line.startswith(("File:", "Build ID:")))
        wanted, found = printed(folder / name), printed(target)
        wrong = [f"only before: {line}" for line in wanted if line not in found][:3] + [f"only after: {line}" for line in found if line not in wanted][:3]
        tap.check(wanted and not wrong, f"{name}: go tool pprof {' '.join(options)} prints {len(wanted)} equal lines", wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--share", type=int, default=1, help="only every so manieth profile")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as scratch:
        check_made(tap, options.lode, Path(scratch))
        check_large(tap, options.lode, Path(scratch))
        if not (corpus() / "pprof").is_dir():
            tap.skip("profiles of the corpus", "there is no corpus")
            return tap.finish()
        check_corpus(tap, options.lode, corpus() / "pprof", options.share, Path(scratch))
        if shutil.which("go") is None:
            tap.skip("what pprof prints", "there is no go")
        else:
            check_go(tap, options.lode, corpus() / "pprof", Path(scratch))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
