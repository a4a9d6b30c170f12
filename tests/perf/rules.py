#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every rule of recordings of perf has a recording that breaks it and no other; whether binaries are found is up to fresh.py, too. Damaged recordings of
the corpus have the findings and the number of samples of derived.txt.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

import corpora  # noqa: E402
from tap import Tap  # noqa: E402
from write import (  # noqa: E402
    AUX,
    CHAIN,
    COMPRESSED,
    DUMMY,
    HOSTNAME,
    ID,
    IDENTIFIER,
    PAGE_FAULTS,
    READ_GROUP,
    READ_ID,
    READS,
    REGS_USER,
    ROUND,
    SAMPLE,
    STACK_USER,
    TIME,
    TRACING_DATA,
    USUAL,
    Event,
    Recording,
)

HERE = Path(__file__).resolve().parent
RULES = HERE.parents[1] / "src/format/perf/read/rules.def"
# What no recording can show here, and why.
UNSHOWN = {
    "perf-zstd-unread": "of builds without zstd",
    "perf-binary-unread": "in fresh.py, with binaries",
    "perf-archive": "in archive.py, with archives",
    "perf-jitdump": "in jitdump.py, with dumps",
}
SEVERITIES = {"ERROR": "error", "WARNING": "warning", "NOTE": "note"}


def listed_rules():
    """(id, severity, level) of each."""
    found = re.findall(r'^RULE\(\w+, "([\w-]+)", (\w+), (\w+)', RULES.read_text(), re.MULTILINE)
    return {rule: (SEVERITIES[severity], level) for rule, severity, level in found}


# ---- recordings ----


def base(*events, **options):
    """One process with a binary."""
    recording = Recording(*events, **options)
    recording.comm(10, 10, "work")
    recording.mmap2(10, 0x400000, 0x10000, 0, "/bin/work")
    return recording


def sampled(*events):
    """With a sample of the first event."""
    recording = base(*events)
    recording.sample(recording.events[0], 0x400100, 10, 10, 1000)
    return recording


def with_record(method, *arguments, **options):
    recording = sampled()
    getattr(recording, method)(*arguments, **options)
    return recording.file()


def two_events(second_id=2, second_fields=USUAL | ID):
    return Event(fields=USUAL | ID, ids=(1,)), Event(kind=PAGE_FAULTS, fields=second_fields, ids=(second_id,))


def with_feature(number, content):
    recording = sampled()
    recording.features[number] = content
    return recording.file()


def of_unknown_event():
    recording = sampled(*two_events())
    recording.sample(recording.events[0], 0x400100, 10, 10, 1001, number=99)
    return recording.file()


def with_chain(chain, max_stack=0):
    event = Event(fields=USUAL | CHAIN, max_stack=max_stack)
    recording = base(event)
    recording.sample(event, 0x400100, 10, 10, 1000, chain=chain)
    return recording.file()


def with_falling_counter():
    event = Event(fields=USUAL | READS | ID, ids=(1,), read_format=READ_ID | READ_GROUP)
    recording = base(event)
    for time, value in ((1000, 50), (1001, 20)):
        recording.sample(event, 0x400100, 10, 10, time, counters=((value, 1),))
    return recording.file()


def with_stack():
    event = Event(fields=USUAL | REGS_USER | STACK_USER, regs=0x1C0)
    recording = base(event)
    recording.sample(event, 0x400100, 10, 10, 1000, more=recording.words(2, 0, 0x7000, 0x400100, 16, 0, 0, 16))
    return recording.file()


def in_jit_code():
    recording = base()
    recording.mmap2(10, 0x900000, 0x1000, 0, "//anon")
    recording.sample(recording.events[0], 0x900100, 10, 10, 1000)
    return recording.file()


def unpacked_too_far():
    """32 MiB of records that say nothing; None without zstd."""
    recording = base()
    recording.records += [recording.numbers("IHH", 74, 0, 65528) + bytes(65520)] * 512
    return recording.file() if recording.pack(packet=60000) else None


def with_many_contexts():
    """3 KB that are 2 million contexts: call chains that differ in their outermost frame; None without zstd."""
    event = Event(fields=USUAL | CHAIN, max_stack=60000)
    recording = base(event)
    for i in range(250):
        recording.sample(event, 0x400100, 10, 10, 1000 + i, chain=[0x400100] * 8170 + [0x400200 + i])
    return recording.file() if recording.pack(packet=60000) else None


RECORDINGS = {
    "perf-header": lambda: sampled().file()[:60],
    "perf-version": lambda: b"PERFFILE" + sampled().file()[8:],
    "perf-attributes": lambda: sampled().file(attr_size=8),
    "perf-events": lambda: b"PERFILE2" + (16).to_bytes(8, "little"),
    "perf-sample-types": lambda: base(*two_events(second_fields=USUAL | ID | CHAIN)).file(),
    "perf-ids": lambda: sampled(*two_events(second_id=1)).file(),
    "perf-unfinished": lambda: sampled().file(data_size=0),
    "perf-feature": lambda: with_feature(HOSTNAME, (1000).to_bytes(4, "little") + b"host"),
    "perf-record-size": lambda: with_record("add", ROUND, size=4),
    "perf-payload": lambda: with_record("add", TRACING_DATA, (1 << 20).to_bytes(8, "little")),
    "perf-packed": lambda: with_record("add", COMPRESSED, b"this is no zstd stream at all..."),
    "perf-ratio": unpacked_too_far,
    "perf-unknown-record": lambda: with_record("add", 4000, bytes(8)),
    "perf-side-record": lambda: with_record("side", 3, b"", 10, 10, 1000),
    "perf-sample": lambda: with_record("add", SAMPLE, bytes(8)),
    "perf-sample-rest": lambda: with_record("sample", Event(), 0x400100, 10, 10, 1001, more=bytes(8)),
    "perf-unknown-id": of_unknown_event,
    "perf-aux": lambda: with_record("side", AUX, bytes(24), 10, 10, 1000),
    "perf-lost": lambda: with_record("lost", 5, 3, 1000),
    "perf-no-time": lambda: sampled(Event(fields=USUAL & ~TIME)).file(),
    "perf-mapping": lambda: with_record("mmap2", 10, 0x800000, 0, 0, "/lib/empty.so"),
    "perf-pid-zero": lambda: with_record("mmap2", 0, 0x800000, 0x1000, 0, "/lib/other.so"),
    "perf-fork": lambda: with_record("fork", 11, 11, 11, 11, 1000),
    "perf-name": lambda: with_record("comm", 10, 10, b"w\xffrk\0\0\0\0", 1000),
    "perf-chain": lambda: with_chain((2**64 - 5, 0x400100)),
    "perf-chain-cut": lambda: with_chain((2**64 - 512, 0x400100, 0x400200, 0x400300), max_stack=3),
    "perf-counter": with_falling_counter,
    "perf-stack": with_stack,
    "perf-limit": with_many_contexts,
    "perf-binary": lambda: sampled().file(),
    "perf-symbols": in_jit_code,
}
# Sound ones, without any finding: what the others differ from.
SOUND = {
    "a file": lambda: sampled().file(),
    "a stream": lambda: sampled().pipe(),
    "several events": lambda: sampled(*two_events()).file(),
    "events of different types, with identifiers": lambda: sampled(
        Event(fields=USUAL | IDENTIFIER, ids=(1,)), Event(kind=DUMMY, fields=TIME | IDENTIFIER, ids=(2,))
    ).file(),
    "an event of a size that is not known yet": lambda: sampled(Event(size=512)).file(),
    "an event of the first version": lambda: sampled(Event(size=64)).file(),
}


# ---- checks ----


def findings(lode, path, *options):
    done = subprocess.run([lode, "check", "--json", *options, path], capture_output=True, check=False, timeout=60)
    if done.returncode not in (0, 1):
        return None, {done.stderr.decode(errors="replace").strip() or f"status {done.returncode}"}
    answer = json.loads(done.stdout)
    return answer, {(finding["rule"], finding["severity"]) for finding in answer["findings"]}


def check_rules(tap, lode, folder):
    rules = listed_rules()
    for name, make in SOUND.items():
        path = folder / "sound.data"
        path.write_bytes(make())
        _, found = findings(lode, path)
        tap.check(found == set(), f"{name} is sound", [found])
    for rule, (severity, level) in rules.items():
        if rule in UNSHOWN:
            continue
        content = RECORDINGS[rule]() if rule in RECORDINGS else b""
        if content is None:
            tap.skip(rule, "there is no program zstd")
            continue
        path = folder / f"{rule}.data"
        path.write_bytes(content)
        _, found = findings(lode, path, "--level", "full" if level == "FULL" else "structure")
        tap.check(found == {(rule, severity)}, f"{rule}: a recording breaks it and no other", [found])
    others = set(rules) - set(RECORDINGS) - set(UNSHOWN)
    tap.check(not others, "every rule has a recording, or a reason why there is none", sorted(others))


def check_derived(tap, lode, folder):
    derived = corpora.root() / "perf" / "derived"
    if not derived.is_dir():
        tap.skip("damaged recordings of the corpus", "there is no corpus with recordings of perf")
        return
    for line in (HERE / "derived.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, samples, *rules = line.split()
        answer, found = findings(lode, derived / name)
        count = answer["result"]["samples"] if answer else "-"
        seen = sorted({rule for rule, _ in found}) if answer else ["refused"]
        tap.check(str(count) == samples and seen == rules, f"{name}: {samples} samples, {' '.join(rules) or 'sound'}", [f"{count} {' '.join(seen)}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    os.environ["LODE_PLUGINS"] = "/nonexistent"
    tap = Tap()
    with tempfile.TemporaryDirectory() as scratch:
        check_rules(tap, options.lode, Path(scratch))
        check_derived(tap, options.lode, Path(scratch))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
