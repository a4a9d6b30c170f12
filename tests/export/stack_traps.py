#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong with stacks in other tools if an exporter does not know about it, one test for each; and what an export does to files."""

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from tap import Tap  # noqa: E402

import callgrind_reader  # noqa: E402
import validators  # noqa: E402
from stacks import Lode, corpus, folded_rows, pprof_top  # noqa: E402

# ---- a profile that Lode did not write ----


def varint(value):
    out = b""
    while True:
        value, low = value >> 7, value & 0x7F
        out += bytes([low | (0x80 if value else 0)])
        if not value:
            return out


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    return varint(number << 3 | 2) + varint(len(value)) + value


def write_pprof(path, stacks, unit="nanoseconds", metric="cpu"):
    """Stacks are [(frames from the outermost on, value)]; a frame is a name, or a list of names: each is inlined into the one before."""
    strings, functions, locations, samples = {"": 0}, {}, {}, b""

    def text(value):
        return strings.setdefault(value, len(strings))

    body = field(1, field(1, text(metric)) + field(2, text(unit)))
    for frames, value in stacks:
        ids = []
        for frame in reversed(frames):
            chain = tuple(frame) if isinstance(frame, list) else (frame,)
            for name in chain:
                functions.setdefault(name, len(functions) + 1)
            ids.append(locations.setdefault(chain, len(locations) + 1))
        samples += field(2, field(1, b"".join(map(varint, ids))) + field(2, varint(value & (1 << 64) - 1)))
    for chain, number in locations.items():
        lines = b"".join(field(4, field(1, functions[name]) + field(2, 7)) for name in reversed(chain))
        body += field(4, field(1, number) + lines)
    for name, number in functions.items():
        body += field(5, field(1, number) + field(2, text(name)))
    body += samples
    for value in strings:
        body += field(6, value if isinstance(value, bytes) else value.encode())
    path.write_bytes(body)


# ---- traps ----

def names_in_folded_stacks(tap, lode, scratch):
    names = ["main", "f;g", "chunk 3", "#define", " padded ", "tab\there", "new\nline", "a 12 b", "x\u0080y"]
    store = scratch / "names.pb"
    write_pprof(store, [((name, "leaf 7"), 10) for name in names] + [(("main",), 5), (("solo 9",), 3)])
    done, message = lode.export(store, "folded", scratch / "n.folded", "--no-entries")
    text = (scratch / "n.folded").read_text() if done else ""
    rows, total, problems = folded_rows(text)
    tap.check(done and not problems, "folded stacks have no line that another reader takes for something else", [message, *problems, text])
    tap.check(total == 98, "folded stacks lose nothing for names with separators, numbers and control characters", [total, text])
    tap.check("f:g;leaf_7 10\n" in text and "_define;leaf_7 10\n" in text and "chunk_3;leaf_7 10\n" in text and "solo_9 3\n" in text,
              "folded stacks replace ';', a leading '#', and the blank before a number at the end", [text])
    if validators.where():
        status, answer = validators.run("folded.mjs", scratch / "n.folded")
        # Perfetto wants a ';' in each of the first lines.
        tap.check(status == 0 and answer["total"] == 98, "Perfetto and speedscope read them", [answer])
    else:
        tap.skip("Perfetto and speedscope read folded stacks", "LODE_VALIDATORS is not set")


def names_in_pprof(tap, lode, scratch):
    if not shutil.which("go"):
        return tap.skip("names in angle brackets", "go is not installed")
    store = scratch / "brackets.folded"
    store.write_text("main;<omp barrier wait> 4\nmain;<gpu kernel> 3\nmain;f<int>(char) 2\n")
    done, message = lode.export(store, "pprof", scratch / "b.pb.gz", "--no-entries")
    # With demangling, as people use it.
    run = subprocess.run(["go", "tool", "pprof", "-top", str(scratch / "b.pb.gz")], capture_output=True, text=True,
                         env={**os.environ, "HOME": str(scratch), "PPROF_TMPDIR": str(scratch)})
    tap.check(done and all(name in run.stdout for name in ("<omp barrier wait>", "<gpu kernel>", "f<int>(char)")),
              "go tool pprof keeps what is in angle brackets", [message, run.stdout, run.stderr])
    return None


def profiles_in_pprof(tap, lode, scratch, folder):
    if not shutil.which("go") or folder is None:
        return tap.skip("labels of profiles", "needs go and the corpus")
    store = folder / "hpctoolkit" / "final" / "viewer-issue-233"
    done, message = lode.export(store, "pprof", scratch / "p.pb.gz", "--by-profile")
    run = subprocess.run(["go", "tool", "pprof", "-tags", "-unit=ns", str(scratch / "p.pb.gz")], capture_output=True, text=True,
                         env={**os.environ, "HOME": str(scratch), "PPROF_TMPDIR": str(scratch)})
    part = re.search(r"^ *rank: .*?\n(.*?)\n\s*\n", run.stdout + "\n\n", re.MULTILINE | re.DOTALL)
    ranks = {int(rank): float(value) for value, rank in re.findall(r"^ *([\d.e+]+)ns \([^)]*\): +(\d+) *$", part.group(1), re.MULTILINE)} if part else {}
    expected = {}
    for row in lode.json("profiles", store, "--limit", "0", "--by", "rank")["rows"]:
        expected[row["id_tuple"][0]["id"]] = row["value"] * 1e9
    wrong = [f"rank {rank}: {ranks.get(rank)} instead of {value}" for rank, value in expected.items() if abs(ranks.get(rank, -1) - value) > 1000]
    tap.check(done and 0 in ranks and expected and not wrong, "labels of pprof name every rank, rank 0 too, with the cost that it has",
              [message, *wrong[:4], run.stdout[:600], run.stderr])
    return None


def inlined_functions(tap, lode, scratch):
    store = scratch / "inlined.pb"
    write_pprof(store, [(("main", ["outer", "inner"], "leaf"), 5), (("main", ["outer"]), 2)])
    lode.export(store, "pprof", scratch / "i.pb.gz", "--no-entries")
    lode.export(store, "pprof", scratch / "j.pb.gz", "--no-entries", "--no-inline")
    if not validators.where():
        return tap.skip("inlined functions", "LODE_VALIDATORS is not set")
    status, answer = validators.run("pprof.mjs", scratch / "i.pb.gz")
    tap.check(status == 0 and answer["inlined"] > 0 and any(row["name"].startswith("inner") for row in answer["functions"]),
              "inlined functions share a location in pprof", [answer])
    status, answer = validators.run("speedscope.mjs", scratch / "j.pb.gz")
    tap.check(status == 0 and "inner" in json.dumps(answer), "with --no-inline, speedscope shows inlined functions of a pprof profile", [answer])
    return None


def recursion_in_callgrind(tap, lode, scratch):
    store = scratch / "fib.folded"
    store.write_text("main;fib 10\nmain;fib;fib 20\nmain;fib;fib;fib 70\n")
    done, message = lode.export(store, "callgrind", scratch / "f.callgrind", "--no-entries")
    found = callgrind_reader.read((scratch / "f.callgrind").read_text())
    tap.check(done and found["calls"][("main", "fib")][1] == [100] and found["calls"][("fib", "fib")][1] == [0],
              "recursive calls have no cost in callgrind profiles: fib has 100 of 100", [message, found])
    if validators.where() and shutil.which("callgrind_annotate"):
        status, answer = validators.run("callgrind.mjs", scratch / "f.callgrind")
        inclusive = [cost for name, cost in answer.get("inclusive", {}).items() if "fib" in name]
        tap.check(status == 0 and [list(cost.values()) for cost in inclusive] == [[100]], "callgrind_annotate says so, too", [answer])
    else:
        tap.skip("callgrind_annotate", "it is not here")


def numbers(tap, lode, scratch):
    store = scratch / "negative.pb"
    write_pprof(store, [(("main", "f"), -5), (("main", "g"), 12)])
    done, message = lode.export(store, "folded", scratch / "x.folded", "--no-entries")
    text = (scratch / "x.folded").read_text()
    tap.check(done and text == "main;g 12\n" and "negative" in message, "negative values are left out of folded stacks, and that is said", [message, text])
    if shutil.which("go"):
        lode.export(store, "pprof", scratch / "x.pb.gz", "--no-entries")
        rows, _ = pprof_top(scratch / "x.pb.gz", 0, "ns")
        tap.check(rows is not None and rows.get("f") == [-5, -5], "pprof has them", [rows])
    write_pprof(store, [(("main", "f"), 1 << 53), (("main", "g"), 1 << 53)])
    done, message = lode.export(store, "folded", scratch / "x.folded", "--no-entries")
    text = (scratch / "x.folded").read_text()
    tap.check(done and "microseconds" in message and folded_rows(text)[1] == round((1 << 54) / 1000),
              "nanoseconds that doubles cannot hold become microseconds, and that is said", [message, text])


def names_of_metrics(tap, lode, scratch):
    store = scratch / "metric.pb"
    write_pprof(store, [(("main", "f"), 3), (("main", "g"), 4)], "count", 'a "b"\n\\x: 1\x1b')
    done, message = lode.export(store, "hatchet", scratch / "m.json", "--no-entries", "--title", "t\n\udcff")
    try:
        node = json.loads((scratch / "m.json").read_text(encoding="utf-8"))[0]
    except ValueError as error:
        node = {"metrics": {}, "error": str(error)}
    tap.check(done and 7 in node["metrics"].values(), "a metric with quotes and control characters in its name is JSON", [message, node])
    done, message = lode.export(store, "callgrind", scratch / "m.callgrind", "--no-entries", "--title", "t\nevents: x")
    text = (scratch / "m.callgrind").read_text(encoding="utf-8") if done else ""
    tap.check(done and text.count("events:") - text.count("?events:") == 1 and callgrind_reader.read(text)["totals"] == [7],
              "no name begins a line of its own in callgrind profiles", [message, text[:300]])
    done, message = lode.export(store, "pprof", scratch / "m.pb", "--compression", "none", "--title", "t\udcff")
    data = (scratch / "m.pb").read_bytes() if done else b"\xff"
    tap.check(done and b"\xff" not in data and b"\x1b" not in data, "strings of pprof are UTF-8 without control characters", [message])


def strictness(tap, lode, scratch, folder):
    if folder is None:
        return tap.skip("--strict", "LODE_CORPUS is not set")
    damaged = folder / "uftrace" / "handmade" / "orphanexit"  # opens without a finding; its events have one
    for form in ("folded", "perfetto", "csv"):
        strict = lode.run("export", damaged, "--format", form, "-o", scratch / f"s.{form}", "--strict")
        relaxed = lode.run("export", damaged, "--format", form, "-o", scratch / f"r.{form}")
        tap.check(strict.returncode == 2 and relaxed.returncode == 0 and not (scratch / f"s.{form}").exists(),
                  f"{form}: --strict fails where a recording would be repaired", [damaged, strict.stderr, relaxed.stderr])
    return None


def deep_stacks(tap, lode, scratch):
    store = scratch / "deep.folded"
    store.write_text(";".join(f"f{i}" for i in range(3000)) + " 9\n")
    done, message = lode.export(store, "hatchet", scratch / "d.json", "--no-entries")
    tap.check(done and "levels" in message, "Hatchet literals are cut at a depth that its reader takes, and that is said", [message])
    if done:
        json.loads((scratch / "d.json").read_text())
    done, message = lode.export(store, "folded", scratch / "d.folded", "--no-entries", "--depth", "3")
    tap.check(done and (scratch / "d.folded").read_text() == "f0;f1;f2 9\n", "--depth gives deeper costs to the last level", [message])
    done, message = lode.export(store, "folded", scratch / "d.folded", "--no-entries", "--focus", "f2998")
    tap.check(done and (scratch / "d.folded").read_text() == "f2998;f2999 9\n", "--focus begins at a function", [message])


def broken_files(tap, lode, scratch):
    if not validators.where():
        return tap.skip("broken files", "LODE_VALIDATORS is not set")
    store = scratch / "good.folded"
    store.write_text("main;f 3\nmain;g 4\n")
    lode.export(store, "pprof", scratch / "good.pb.gz", "--no-entries")
    lode.export(store, "folded", scratch / "good.folded2", "--no-entries")
    lode.export(store, "hatchet", scratch / "good.json", "--no-entries")
    whole = gzip.decompress((scratch / "good.pb.gz").read_bytes())
    (scratch / "bad.pb").write_bytes(whole[:-3])
    (scratch / "bad.folded").write_text((scratch / "good.folded2").read_text().replace("f 3", "f 3.5"))
    (scratch / "bad.callgrind").write_text("# callgrind format\nfn=(1) f\n5 9\n")
    (scratch / "bad.json").write_text((scratch / "good.json").read_text().replace('(inc)": 7', '(inc)": 8'))
    for script, name in (("pprof.mjs", "bad.pb"), ("folded.mjs", "bad.folded"), ("callgrind.mjs", "bad.callgrind")):
        if script == "pprof.mjs" and not shutil.which("go"):
            continue
        tap.check(validators.run(script, scratch / name)[0] != 0, f"{script} refuses a broken file")
    run = subprocess.run([sys.executable, str(validators.where() / "hatchet_check.py"), str(scratch / "bad.json")], capture_output=True)
    tap.check(run.returncode != 0, "the rules of Hatchet refuse a broken file")
    return None


def files(tap, lode, scratch):
    store = scratch / "good.folded"
    store.write_text("main;f 3\nmain;g 4\n")
    target = scratch / "out.folded"
    target.write_text("mine")
    run = lode.run("export", store, "-o", target)
    tap.check(run.returncode == 2 and target.read_text() == "mine" and b"--force" in run.stderr, "an existing file is not replaced", [run.stderr])
    run = lode.run("export", store, "-o", target, "--force")
    tap.check(run.returncode == 0 and "f 3" in target.read_text(), "--force replaces it", [run.stderr])
    folder = scratch / "folder.folded"
    folder.mkdir()
    run = lode.run("export", store, "-o", folder, "--force")
    tap.check(run.returncode == 2 and folder.is_dir(), "--force does not replace a directory by a file", [run.stderr])
    run = lode.run("export", store, "--format", "csv", "-o", folder, "--force")
    tap.check(run.returncode == 0, "--force replaces an empty directory", [run.stderr])
    (folder / "thesis.tex").write_text("years of work")
    run = lode.run("export", store, "--format", "csv", "-o", folder, "--force")
    tap.check(run.returncode == 2 and (folder / "thesis.tex").exists(), "--force does not replace a directory with files of others", [run.stderr])
    run = lode.run("export", store, "--format", "folded", "-o", "-")
    tap.check(run.returncode == 0 and run.stdout == target.read_bytes(), "standard output gets the same bytes", [run.stderr])
    run = lode.run("export", store, "-o", scratch / "out.unknown")
    tap.check(run.returncode == 2 and b"--format" in run.stderr, "an unknown suffix asks for --format", [run.stderr])
    run = lode.run("export", store, "-o", "x.folded", "--to", "pprof")
    tap.check(run.returncode == 2, "--to is a time, not a format", [run.stderr])
    run = lode.run("export", store, "--format", "parquet", "-o", "-")
    tap.check(run.returncode == 2 and b"needs a path" in run.stderr, "a directory cannot be streamed", [run.stderr])
    left = [path.name for path in scratch.iterdir() if path.name.endswith(".partial")]
    tap.check(not left, "no failed export leaves anything", left)


def threads(tap, lode, scratch, folder):
    if folder is None:
        return tap.skip("threads", "LODE_CORPUS is not set")
    for store in (folder / "hpctoolkit" / "final" / "made-small", folder / "uftrace" / "recorded" / "mt"):
        for form in ("pprof", "folded", "callgrind", "hatchet"):
            made = set()
            for count in (1, 2, 7):
                lode.export(store, form, scratch / "t", "--threads", count, "--by-profile")
                made.add((scratch / "t").read_bytes())
            tap.check(len(made) == 1, f"{store.name}: {form} has the same bytes with 1, 2 and 7 threads")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap, lode, folder = Tap(), Lode(options.lode), corpus()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        names_in_folded_stacks(tap, lode, scratch)
        names_in_pprof(tap, lode, scratch)
        profiles_in_pprof(tap, lode, scratch, folder)
        inlined_functions(tap, lode, scratch)
        recursion_in_callgrind(tap, lode, scratch)
        numbers(tap, lode, scratch)
        names_of_metrics(tap, lode, scratch)
        strictness(tap, lode, scratch, folder)
        deep_stacks(tap, lode, scratch)
        broken_files(tap, lode, scratch)
        files(tap, lode, scratch)
        threads(tap, lode, scratch, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
