#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stores bent by chance, and every command run on each: no crash, no hang, no oversized output, no silent damage.

The corpora are databases, drafts of databases, recordings, trace stores and files of spans. Input N of a seed is the same on every machine that
has the same sources; `--corpus C --first N --count 1` makes it again. What a command did not stand is kept below --keep: the
input, the command, what it said, and what `lode check` says of what it wrote.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "tools"))

import corpora  # noqa: E402

CORPORA = ["database", "draft", "recording", "traces", "spans"]
# Small ones: what a mutation does to them shows as well, and costs less.
DATABASES = ["toolkit-small-v4.0-v0", "toolkit-small.nostruct-v0", "made-small", "made-small-notraces", "toolkit-small-v4",
             "toolkit-small.d.t2-v1", "viewer-d.x", "viewer-loop-fork-cycles-v0", "viewer-d.foo", "pipit-ping-pong-v0",
             "viewer-loop-fork-cycles-v1", "toolkit-loops-hip-amd-t.nostruct-v0", "toolkit-loops-cputime-t-v5", "db2pprof",
             "hatchet-saxpy-mpi-cuda-database", "viewer-issue-328"]
DRAFTS = ["pre-a/toolkit-small-v4.0-v2", "pre-a/viewer-loop-inline-v1", "pre-a/viewer-loop-inline", "pre-a/viewer-loop-inline-v2",
          "pre-a/viewer-multithread", "pre-b/toolkit-small-v4.0-v1", "draft-xml/made-small", "draft-xml/viewer-empty-trace",
          "draft-xml/pipit-ping-pong-v2", "draft-xml/made-loops-cputime-t"]
RECORDED = ["sdt", "dlopen", "longjmp", "plain_P_U", "nolibcall", "estret", "nestlib", "forkexec", "events", "pg_args", "autoargs", "mt",
            "n_watchvar", "n_forkexec"]
TRACES = ["first", "master", "master-fmi", "real-agent"]
SPANS_MOST = 80 << 10  # bytes: larger files only cost time


def sources(corpus, folder, lode, made):
    """Paths of what is bent."""
    def make(name, *words):
        path = os.path.join(made, corpus + "-" + name)
        if not os.path.exists(path):
            subprocess.run([lode, *words, "-o", path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return path

    def real(*names):
        return [os.path.join(folder, name) for name in names]

    hpctoolkit, uftrace, zorka = (os.path.join(folder, name) for name in ("hpctoolkit/final", "uftrace", "zorka/stores"))
    small = os.path.join(hpctoolkit, "made-small")
    tiny = ["--profiles", "3", "--contexts", "60", "--samples", "20"]
    if corpus == "database":
        return real(*("hpctoolkit/final/" + name for name in DATABASES)) + [
            make("synth", "synth", "database", *tiny), make("synth2", "synth", "database", *tiny, "--metrics", "3", "--seed", "2")]
    if corpus == "draft":
        found = real(*("hpctoolkit/" + name for name in DRAFTS))
        for to in ("xml", "metadb"):
            found.append(make(to, "convert", "--format", "hpctoolkit-draft-" + to, small))
            found.append(make(to + "2", "convert", "--format", "hpctoolkit-draft-" + to, os.path.join(hpctoolkit, "viewer-d.x")))
        return found
    if corpus == "recording":
        hand = os.path.join(uftrace, "handmade")
        return real(*("uftrace/recorded/%s/uftrace.data" % name for name in RECORDED)) + [os.path.join(hand, name) for name in sorted(os.listdir(hand))] + [
            make("synth", "synth", "recording", "--records", "600", "--tasks", "3", "--functions", "20", "--arguments"),
            make("events", "convert", "--format", "uftrace", os.path.join(uftrace, "recorded/events/uftrace.data"))]
    if corpus == "spans":
        return spans(folder, lode, made)
    few = ["--format", "zorka", "--records", "400", "--functions", "20", "--calls-per-request", "30"]
    return real(*("zorka/stores/" + name for name in TRACES)) + [
        make("synth", "synth", "recording", *few), make("synth2", "synth", "recording", *few, "--layout", "zico"),
        make("page", "convert", "--layout", "page", os.path.join(zorka, "master")),
        make("uftrace", "convert", "--format", "zorka", os.path.join(uftrace, "handmade", "ok"))]


def spans(folder, lode, made):
    """Directories of one file each, in every form."""
    found = []
    for form, name in (("otlp", "a.pb"), ("otlp-bare", "b.pb"), ("otlp-json", "c.json")):
        path = os.path.join(made, "spans-" + form, name)
        os.makedirs(os.path.dirname(path))
        subprocess.run([lode, "synth", "recording", "--format", form, "--records", "100", "-o", path], check=True, stdout=subprocess.DEVNULL)
        found.append(os.path.dirname(path))
    for kind in ("otlp", "jaeger", "zipkin"):
        for path in sorted(Path(folder, kind).rglob("*.*")):
            if path.is_file() and path.stat().st_size <= SPANS_MOST and path.parent.name != "expected":
                copy = os.path.join(made, "spans-%02d" % len(found))
                os.makedirs(copy)
                shutil.copy(path, copy)
                found.append(copy)
    return found


class Shard:
    """A share of a corpus, in a process."""

    def __init__(self, options, corpus, first, count, paths):
        self.corpus, self.figures, self.most = corpus, None, {}
        self.scratch = tempfile.mkdtemp(prefix="lode-campaign-", dir=options.scratch)
        self.log = tempfile.NamedTemporaryFile("w+", prefix="campaign-", suffix=".log")
        self.process = subprocess.Popen(
            [options.campaign, corpus, str(options.seed), str(first), str(count), self.scratch, options.keep, *paths],
            stdout=self.log, stderr=sys.stderr)

    def finish(self):
        status = self.process.wait()
        shutil.rmtree(self.scratch)
        found = []
        with open(self.log.name, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                words = line.rstrip("\n").split("\t")
                if words[0] == "found":
                    found.append(words[1:])
                elif words[0] == "sum":
                    self.figures = dict(word.split("=") for word in words[1].split())
                elif words[0] == "most":
                    self.most[words[1]] = (float(words[2]), int(words[3]), words[4])
        if status != 0 or self.figures is None:
            sys.exit("campaign: a share of %s ended with %d" % (self.corpus, status))
        return found


def run(options, corpus, paths):
    share = max(1, min(options.share, -(-options.count // options.jobs)))
    waiting = [(first, min(share, options.first + options.count - first))
               for first in range(options.first, options.first + options.count, share)]
    running, done, found = [], [], []
    while waiting or running:
        while waiting and len(running) < options.jobs:
            running.append(Shard(options, corpus, *waiting.pop(0), paths))
        time.sleep(0.05)
        for shard in [shard for shard in running if shard.process.poll() is not None]:
            running.remove(shard)
            done.append(shard)
            found += shard.finish()
    total = collections.Counter()
    for shard in done:
        for key, value in shard.figures.items():
            total[key] = max(total[key], float(value)) if key == "memory" else total[key] + float(value)
    return total, found, {what: max(shard.most[what] for shard in done) for what in done[0].most}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True, help="the program, which makes some of the sources")
    parser.add_argument("--campaign", required=True, help="tests/campaign/campaign of a build, best with sanitizers")
    parser.add_argument("--corpus", choices=CORPORA, action="append", help="only this one")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=5000, help="inputs of each corpus")
    parser.add_argument("--share", type=int, default=250, help="inputs that one process takes")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--scratch", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    parser.add_argument("--keep", help="where inputs go that something did not stand (default: a new directory)")
    options = parser.parse_args()
    folder = str(corpora.root())
    wanted = options.corpus or CORPORA
    print("1..%d" % len(wanted))
    if not os.path.isdir(folder):
        for number, corpus in enumerate(wanted, 1):
            print("ok %d - %s # SKIP no corpus" % (number, corpus))
        return 0
    options.keep = os.path.abspath(options.keep or tempfile.mkdtemp(prefix="lode-campaign-kept-"))
    os.makedirs(options.keep, exist_ok=True)
    options.campaign = os.path.abspath(options.campaign)
    is_bad = False
    with tempfile.TemporaryDirectory(prefix="lode-campaign-sources-") as made:
        for number, corpus in enumerate(wanted, 1):
            begin = time.time()
            total, found, most = run(options, corpus, sources(corpus, os.path.abspath(folder), options.lode, made))
            bad = [finding for finding in found if finding[0] != "doubt"]
            is_bad |= bool(bad)
            print("%s %d - %s" % ("not ok" if bad else "ok", number, corpus))
            print("# " + " ".join("%s=%g" % (key, round(value, 3)) for key, value in total.items()) + " wall=%.0f" % (time.time() - begin))
            for what, (value, input_number, command) in most.items():
                print("# %s: %g, input %d: %s" % (what, value, input_number, command))
            kinds = collections.Counter((finding[0], finding[5].split()[1], "" if finding[0] == "oversize" else finding[4]) for finding in found)
            for (what, command, signature), count in kinds.most_common():
                example = next(finding for finding in found if (finding[0], finding[5].split()[1]) == (what, command)
                               and (what == "oversize" or finding[4] == signature))
                print("# %5d %s %s: %s; first: input %s, %s; of %s" % (count, what, command, example[4], example[2], example[5], example[6]))
            sys.stdout.flush()
    if not os.listdir(options.keep):
        os.rmdir(options.keep)
    else:
        print("# kept in " + options.keep)
    return 1 if is_bad else 0


if __name__ == "__main__":
    sys.exit(main())
