#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
SHA-256 of everything that `convert`, `build` and `synth` write for a fixed set of inputs: all stores of the corpus, with
1, 2 and 7 threads and 1 and 3 ranks, and synthetic ones. Outputs of one input must not depend on threads or ranks.

    sums.py LODE >before.txt
    sums.py LODE --compare before.txt

A command that fails is a line with its exit status. Prints one line per file: SHA-256, case, path.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import corpora

THREADS = (1, 2, 7)
RANKS = (1, 3)
DATABASE_TARGETS = ("hpctoolkit", "hpctoolkit-draft-xml", "hpctoolkit-draft-metadb")
RECORDING_TARGETS = ("uftrace", "zorka")


def stores(corpus):
    """(kind, path) of all stores of the corpus."""
    for folder in sorted(p for p in corpus.rglob("*") if p.is_dir()):
        names = {f.name for f in folder.iterdir()}
        if names & {"meta.db", "experiment.xml"} or "profile.db" in names:
            yield "database", folder
        elif "info" in names and ("task.txt" in names or any(n.endswith(".dat") for n in names)):
            yield "recording", folder
        elif names & {"traces.dat"} and "zorka" in folder.parts:
            yield "recording", folder


def cases(corpus, ranks_option):
    """(name, arguments): outputs of cases with one name must be equal."""
    for kind, path in stores(corpus):
        name = str(path.relative_to(corpus))
        for target in DATABASE_TARGETS if kind == "database" else RECORDING_TARGETS:
            for threads in THREADS:
                yield (f"convert {target} {name}", ["convert", str(path), "--format", target, "--threads", str(threads)])
        if kind == "recording":
            for trace in ("full", "none", "10us"):
                for threads in THREADS:
                    for ranks in RANKS:
                        yield (f"build {trace} {name}",
                               ["build", str(path), "--trace", trace, "--threads", str(threads), "--title", "sums",
                                ranks_option, str(ranks)])
    for threads in THREADS:
        yield ("synth database", ["synth", "database", "--profiles", "40", "--contexts", "3000", "--metrics", "2", "--threads", str(threads)])
        yield ("synth recording", ["synth", "recording", "--records", "200000", "--arguments", "--threads", str(threads)])
        for layout in ("page", "zico"):
            yield (f"synth zorka {layout}", ["synth", "recording", "--format", "zorka", "--layout", layout, "--records",
                                             "100000", "--threads", str(threads)])


def digest_tree(folder):
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        yield hashlib.sha256(path.read_bytes()).hexdigest(), str(path.relative_to(folder))


def run_case(lode, arguments, scratch):
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        # The name of the output is in it as a title.
        output = Path(folder) / "output"
        done = subprocess.run([lode, *arguments, "-o", str(output)], capture_output=True, check=False)
        lines = [] if done.returncode in (0, 1) else [("-" * 64, f"exit {done.returncode}")]
        if output.is_dir():
            lines += digest_tree(output)
        return lines


def collect(lode, corpus, jobs, match):
    ranks_option = "--local-ranks"
    if ranks_option not in subprocess.run([lode, "help", "build"], capture_output=True, text=True, check=True).stdout:
        ranks_option = "--crew"
    groups, unequal = {}, []
    scratch = tempfile.mkdtemp(prefix="lode-sums-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        every = [case for case in cases(corpus, ranks_option) if match in case[0]]
        with ThreadPoolExecutor(jobs) as pool:
            results = pool.map(lambda case: run_case(lode, case[1], scratch), every)
            for (name, arguments), lines in zip(every, results):
                if groups.setdefault(name, lines) != lines:
                    unequal.append(" ".join(arguments))
    finally:
        shutil.rmtree(scratch)
    return groups, unequal


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lode", help="the program")
    parser.add_argument("--compare", type=Path, help="sums to compare with")
    parser.add_argument("--corpus", type=Path, default=corpora.root())
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--match", default="", help="only cases whose name contains this")
    options = parser.parse_args()
    groups, unequal = collect(options.lode, options.corpus, options.jobs, options.match)
    lines = [f"{digest} {name}: {path}" for name, found in sorted(groups.items()) for digest, path in found]
    for arguments in unequal:
        print(f"differs from one thread and one rank: {arguments}", file=sys.stderr)
    if options.compare is None:
        print("\n".join(lines))
        return bool(unequal)
    known = options.compare.read_text().splitlines()
    before = {line for line in known if options.match in line[65:].rsplit(":", 1)[0]}
    after = set(lines)
    for line in sorted(before - after):
        print(f"- {line}")
    for line in sorted(after - before):
        print(f"+ {line}")
    print(f"{len(before & after)} equal, {len(before - after)} gone or changed, {len(after - before)} new or changed")
    return bool(unequal) or before != after


if __name__ == "__main__":
    sys.exit(main())
