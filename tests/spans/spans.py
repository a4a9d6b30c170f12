#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Spans of OpenTelemetry, Jaeger and Zipkin: requests, calls, errors, times and concurrent calls of every operation equal a slow reader in Python
(spans_reference.py), which knows duplicates, missing parents, clocks and tracks; all encodings of one run give the same answers. The project's own
stores are also compared with the model that they were written from.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import corpora  # noqa: E402
import questions  # noqa: E402
import questions_reference  # noqa: E402
import spans_reference  # noqa: E402
from tap import Tap  # noqa: E402

# Files of one run, by what differs: nothing; microseconds.
SAME = [["otlp/small/traces.json", "otlp/small/traces.pb", "otlp/variants/native.json.zst", "otlp/variants/messages.json.zst-framed",
         "otlp/variants/messages.pb.zst-framed", "otlp/small/traces.json.gz"],
        ["otlp/variants/concatenated.pb", "otlp/variants/delimited.pb", "otlp/variants/standard-mapping.json", "otlp/variants/old-node.json"],
        ["otlp/rotated", "otlp/by-service"]]


LARGE = 10**6  # bytes
MICROSECOND = 1000
PERCENTILE_ERROR = 128  # a percentile is at most this part of itself away: LODE_PERCENTILE_ERROR


def ask(lode, *words):
    done = subprocess.run([lode, *map(str, words), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{words}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def output(lode, *words):
    done = subprocess.run([lode, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise AssertionError(f"{words}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode()


def stores(root):
    """Files of spans, and directories of them."""
    found = []
    for kind in ("otlp", "jaeger", "zipkin"):
        for path in sorted((root / kind).rglob("*")):
            if path.is_file() and path.parent.name != "expected":
                found.append(path)
    return found + [path for path in (root / "otlp" / "rotated", root / "otlp" / "by-service") if path.is_dir()]


EDGES = """with c as materialized (select c.id, c.parent_id, m.path service from call c join function f on f.id = c.function_id
    join module m on m.id = f.module_id)
select p.service || ' > ' || c.service, count(*) from c join c p on p.id = c.parent_id where p.service <> c.service group by 1"""


def paths_of(rows):
    """Rows of a tree by their call path; each row has the number of the row above it."""
    found = []
    for row in rows:
        above = row.get("parent_row")
        found.append((() if above is None else found[above]) + (row["name"],))
    return found


def compare_elapsed(lode, path, wanted, top):
    """Elapsed time of functions and of call paths, where they are shown: only if some calls run at the same time."""
    functions = {spans_reference.plain(name): time for name, time in wanted["elapsed_rows"].items()}
    paths = {tuple(map(spans_reference.plain, names)): time for names, time in wanted["elapsed_paths"].items()}
    tree = ask(lode, "tree", "--limit", 0, "--min-percent", 0, path)
    if "elapsed_ns" not in top:
        if "elapsed_ns" in tree or any("elapsed_ns" in row for row in top["rows"] + tree["rows"]):
            return ["elapsed time, though no calls run at the same time"]
        if any(functions[row["name"]] != row["total_ns"] for row in top["rows"]):
            return ["elapsed time is not the total"]
        return []
    shown = {row["name"]: row["elapsed_ns"] for row in top["rows"]}
    shown_paths = dict(zip(paths_of(tree["rows"]), (row["elapsed_ns"] for row in tree["rows"])))
    table = dict(ask(lode, "sql", path, "select function, elapsed_ns from call_stat")["results"][0]["rows"])
    contexts = ask(lode, "sql", path, "select parent_id, coalesce(function, ''), elapsed_ns from calltree order by id")["results"][0]["rows"]
    names = []
    for parent, name, _ in contexts:
        names.append(() if parent is None else names[parent] + (name,))
    table_paths = {one: row[2] for one, row in zip(names[1:], contexts[1:])}
    wrong = [f"elapsed time in {what}, {key}: {found.get(key)} instead of {expected.get(key)}"
             for what, found, expected in (("top", shown, functions), ("tree", shown_paths, paths), ("call_stat", table, functions), ("calltree", table_paths, paths))
             for key in sorted(found.keys() | expected.keys()) if found.get(key) != expected.get(key)]
    if not tree["elapsed_ns"] == contexts[0][2] == wanted["elapsed"]:
        wrong.append(f"elapsed time of requests in tree and calltree: {tree['elapsed_ns']} and {contexts[0][2]} instead of {wanted['elapsed']}")
    order = [row["elapsed_ns"] for row in ask(lode, "top", "--limit", 0, "--sort", "elapsed", path)["rows"]]
    return wrong + (["top --sort elapsed is not sorted"] if order != sorted(order, reverse=True) else [])


def compare_percentiles(wanted, top):
    """Percentiles of operations: the duration that so many of its calls do not exceed."""
    durations = {spans_reference.plain(name): times for name, times in wanted["durations"].items()}
    expected = {(row["name"], percent): questions_reference.percentile(durations[row["name"]], percent) for row in top["rows"] for percent in (50, 95, 99)}
    found = {(row["name"], percent): row[f"p{percent}_ns"] for row in top["rows"] for percent in (50, 95, 99)}
    return [f"p{percent} of {name}: {found[name, percent]} instead of {value}" for (name, percent), value in expected.items()
            if abs(found[name, percent] - value) * PERCENTILE_ERROR > value]


def compare(lode, path, wanted):
    wrong = []
    top = ask(lode, "top", "--limit", 0, path)
    rows = {row["name"]: [row["calls"], row["errors"], row["total_ns"], row["max_ns"]] for row in top["rows"]}
    expected = {spans_reference.plain(name): row for name, row in wanted["rows"].items()}
    wrong += [f"{name}: {rows.get(name)} instead of {expected.get(name)}" for name in sorted(rows.keys() | expected.keys()) if rows.get(name) != expected.get(name)]
    if (top["task_count"], top["calls"]) != (wanted["traces"], wanted["spans"]):
        wrong.append(f"{top['task_count']} requests, {top['calls']} calls instead of {wanted['traces']}, {wanted['spans']}")
    times, expected = [top["total_ns"], top.get("work_ns"), top.get("elapsed_ns")], [wanted["work"], wanted["work"], wanted["elapsed"]]
    if times[:1 if times[1] is None else 3] != expected[:1 if times[1] is None else 3] or (times[1] is None and wanted["work"] > wanted["elapsed"]):
        wrong.append(f"work and elapsed time: {times} instead of {expected}")
    wrong += compare_elapsed(lode, path, wanted, top) + compare_percentiles(wanted, top)
    calls = ask(lode, "sql", path, "select function, count(*) from call where depth = 0 group by 1 order by 1")
    found = dict(calls["results"][0]["rows"])
    expected = {spans_reference.plain(name): count for name, count in wanted["outermost"].items()}
    if found != expected:
        wrong.append(f"outermost calls of tracks: {found} instead of {expected}")
    edges = dict(ask(lode, "sql", path, EDGES)["results"][0]["rows"])
    if edges != wanted["edges"]:
        wrong.append(f"calls between services: {edges} instead of {wanted['edges']}")
    errors = ask(lode, "search", "--errors", "--limit", 0, path)
    if errors["row_count"] != wanted["errors"]:
        wrong.append(f"{errors['found_count']} requests with errors instead of {wanted['errors']}")
    return wrong


def check_findings(lode, path, wanted):
    result = ask(lode, "check", "--limit", 0, path)
    texts = {}
    for finding in result["findings"]:
        texts.setdefault(finding["rule"], []).append(finding["text"])
    wrong = []
    count = int(texts.get("otlp-duplicate", ["0"])[0].split()[0].replace(",", ""))
    if count != wanted["duplicates"]:
        wrong.append(f"{count} duplicates instead of {wanted['duplicates']}")
    moved = {text.split(":")[0].removeprefix("service "): int(text.split(": ")[1].split()[0].replace(",", ""))
             for rule in ("otlp-clock", "otlp-outside") for text in texts.get(rule, [])}
    if moved != {service or "unknown service": count for service, count in wanted["moved"].items() if count}:
        wrong.append(f"moved: {moved} instead of {wanted['moved']}")
    return wrong


def answers(lode, path):
    """What must not depend on the encoding."""
    top = ask(lode, "top", "--limit", 0, path)
    tree = ask(lode, "tree", "--limit", 0, path)
    found = ask(lode, "search", "--limit", 0, path)
    return [top["rows"], tree["rows"], found["rows"]]


def differs(rows, others, most):
    """Calls, errors and times of operations; times of the second form are whole microseconds."""
    rows, others = ({row["name"]: row for row in one} for one in (rows, others))
    return [f"{name}: {rows.get(name)} and {others.get(name)}" for name in sorted(rows.keys() | others.keys())
            if name not in rows or name not in others
            or any(rows[name][key] != others[name][key] for key in ("calls", "errors"))
            or any(abs(rows[name][key] - others[name][key]) > most * rows[name]["calls"] for key in ("total_ns", "elapsed_ns") if key in rows[name])]


def check_forms(tap, lode, root):
    """OpenTelemetry, Zipkin and Jaeger of one run: the same but for what a form cannot hold (doc/formats/otlp.md)."""
    folder = root / "otlp" / "small"
    paths = [folder / "traces.json", root / "zipkin" / "small.jsonl", root / "jaeger" / "traces.json"]
    if not all(path.is_file() for path in paths):
        return
    tops = [ask(lode, "top", "-n", 0, path) for path in paths[:2]]
    wrong = differs(tops[0]["rows"], tops[1]["rows"], MICROSECOND)
    tap.check(not wrong and tops[0]["task_count"] == tops[1]["task_count"], f"{root.name}: Zipkin has the calls, failures and times of OpenTelemetry", wrong[:8])
    maps = [sorted((row["caller"] or "", row["callee"], row["calls"], row["failures"]) for row in ask(lode, "search", "--map", "-n", 0, path)["rows"]) for path in paths[:2]]
    tap.check(maps[0] == maps[1] and maps[0], f"{root.name}: Zipkin has the map of OpenTelemetry", [str(one) for one in maps])
    found = [{row["id"]: row for row in ask(lode, "search", "-n", 0, path)["rows"]} for path in paths]
    for form, rows in zip(("Zipkin", "Jaeger"), found[1:]):
        wrong = [f"{one}: {row} instead of {found[0].get(one)}" for one, row in rows.items()
                 if one not in found[0] or any(row[key] != found[0][one][key] for key in ("calls", "errors", "name", *(["exception"] if form == "Jaeger" else [])))
                 or abs(row["duration_ns"] - found[0][one]["duration_ns"]) > MICROSECOND]
        tap.check(rows and not wrong, f"{root.name}: {len(rows)} requests of {form} are those of OpenTelemetry", wrong[:4])


def check_model(tap, lode):
    """The project's own stores, and what their maker says of them."""
    model = json.loads((corpora.OWN / "otlp" / "expected" / "model.json").read_text())
    for name, wanted in model.items():
        path = corpora.OWN / name
        top = ask(lode, "top", "--limit", 0, path)
        rows = {row["name"]: [row["calls"], row["errors"]] for row in top["rows"]}
        tap.check(rows == wanted["rows"] and top["task_count"] == wanted["traces"] and top["calls"] == wanted["spans"],
                  f"{name}: calls and errors are those of the model", [str(rows), str(wanted)])
        rules = sorted({finding["rule"] for finding in ask(lode, "check", "--limit", 0, path)["findings"]})
        tap.check(rules == wanted["rules"], f"{name}: findings are those of what was planted", [str(rules), str(wanted["rules"])])


def check_questions(tap, lode):
    """Questions with stores of their own."""
    small = corpora.OWN / "otlp" / "small" / "traces.json"
    requests = questions_reference.Requests(spans_reference.load(small)[0])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wrong = questions.check_conventions(lambda *words: ask(lode, *words), folder)
        tap.check(not wrong, "old and new names of attributes are one", wrong)
        wrong = questions.check_resource(lambda *words: ask(lode, *words), folder)
        tap.check(not wrong, "attributes of a process are those of all its calls", wrong)
        wrong = questions.check_pictures(lambda *words: output(lode, *words), small, requests, folder)
        tap.check(not wrong, "pictures of services and of rates", wrong)
        store = corpora.root() / "otlp" / "small" / "traces.json"
        for path in dict.fromkeys((small, store if store.is_file() else small)):
            wrong = questions.check_rewritten(lambda *words: ask(lode, *words), lambda *words: output(lode, *words), path, folder)
            tap.check(not wrong, f"slices and copies of {path.parent.name}, {path.stat().st_size} bytes", wrong)
            wrong = questions.check_compared(lambda *words: ask(lode, *words), path)
            tap.check(not wrong, "two requests and two time windows are compared", wrong)
            wrong = questions.check_csv(lambda *words: output(lode, *words), lambda *words: ask(lode, *words), path)
            tap.check(not wrong, "attributes are columns of CSV", wrong)
    for text, said in questions.MISTAKES.items():
        done = subprocess.run([lode, "search", "--where", text, small], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        tap.check(done.returncode == 2 and said in done.stderr.decode(), f"--where {text[:30]}: {said}", [done.stderr.decode()])
    for words in (["--over", "1m", "--by", "nokey"], ["--over", "1m", "--by", "nokey", "--calls"], ["--by", "nokey"]):
        done = subprocess.run([lode, "search", *words, small], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        tap.check(done.returncode == 2 and "'nokey'; there are " in done.stderr.decode(), f"{' '.join(words)}: the keys that are there", [done.stderr.decode()])


def make(lode, path, form, spans, *words):
    subprocess.run([lode, "synth", "recording", "--format", form, "--records", str(2 * spans), "--seed", "7", "-o", path, *words], check=True)
    return path


def check_synth(tap, lode, folder):
    """Synthetic stores: all encodings have the same answers, those of the reference, and no findings."""
    paths = [make(lode, folder / name, form, 3000, "--tasks", "5", "--functions", "40")
             for name, form in (("a.json", "otlp-json"), ("a.pb", "otlp"), ("bare.pb", "otlp-bare"))]
    wanted = spans_reference.summary(spans_reference.load(paths[0]))
    wrong = [line for path in paths for line in compare(lode, path, wanted)]
    tap.check(not wrong and wanted["spans"] == 3000 and wanted["traces"] == 188, "synthetic spans: all encodings have the numbers of the reference", wrong[:8])
    found = [str(finding) for path in paths for finding in ask(lode, "check", "--limit", 0, path)["findings"]]
    tap.check(not found, "synthetic spans: no findings", found[:4])
    tap.check(wanted["errors"] > 0 and len(wanted["edges"]) > 4 and sum(wanted["outermost"].values()) > wanted["traces"],
              "synthetic spans: failures, calls between services and concurrent calls", [str(wanted["edges"]), str(wanted["outermost"])])
    for name, form in (("b.json", "otlp-json"), ("b.pb", "otlp"), ("c.pb", "otlp-bare")):
        other = make(lode, folder / name, form, 3000, "--tasks", "5", "--functions", "40", "--threads", "3")
        tap.check(other.read_bytes() == paths[["otlp-json", "otlp", "otlp-bare"].index(form)].read_bytes(), f"{form}: byte-identical for any number of threads")
    sizes = [make(lode, folder / f"{count}.pb", "otlp", count, "--calls-per-request", str(count), "--tasks", "1") for count in (1, 2, 700)]
    tap.check([ask(lode, "top", path)["calls"] for path in sizes] == [1, 2, 700], "synthetic spans: as many as asked for")


def check_memory(tap, lode, folder):
    """With a budget that is too small, spans are in temporary files: every answer is byte-identical, and nothing is left."""
    large = make(lode, folder / "large.pb", "otlp", 20000)  # enough for several buckets
    scratch = folder / "scratch"
    scratch.mkdir()
    environment = dict(os.environ, TMPDIR=str(scratch))
    wrong = []
    for path in [large, *stores(corpora.OWN)]:
        for words in (["top", "--limit", "0"], ["search", "--limit", "0"], ["profiles"], ["info"]):
            plain, spooled = (subprocess.run([lode, *words, *more, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)
                              for more in ([], ["--memory", "1K"]))
            if (plain.returncode, plain.stdout, plain.stderr) != (spooled.returncode, spooled.stdout, spooled.stderr):
                wrong.append(f"{words} {path}: {spooled.stderr.decode(errors='replace')[:200]}")
    tap.check(not wrong, "answers do not depend on the memory budget", wrong[:8])
    tap.check(not list(scratch.iterdir()), "no temporary file is left")
    missing = dict(os.environ, TMPDIR=str(folder / "missing"))
    done = [subprocess.run([lode, "top", *more, large], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=missing, check=False) for more in ([], ["--memory", "1K"])]
    tap.check(done[0].returncode == 0 and done[1].returncode == 2 and b"temporary directory" in done[1].stderr,
              "temporary files are in TMPDIR, and only with a small budget", [str(one) for one in done])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    arguments = parser.parse_args()
    tap = Tap()
    check_model(tap, arguments.lode)
    check_questions(tap, arguments.lode)
    with tempfile.TemporaryDirectory() as name:
        check_synth(tap, arguments.lode, Path(name))
        check_memory(tap, arguments.lode, Path(name))
    for root in dict.fromkeys((corpora.OWN, corpora.root())):
        for path in stores(root):
            if path.stat().st_size > LARGE and os.environ.get("LODE_CI") != "full":
                tap.skip(str(path.relative_to(root)), "large; LODE_CI=full compares it")
                continue
            store = spans_reference.load(path)
            wanted = spans_reference.summary(store)
            wrong = compare(arguments.lode, path, wanted) + check_findings(arguments.lode, path, wanted)
            tap.check(not wrong, f"{path.relative_to(root)}: {wanted['spans']} spans of {wanted['traces']} traces", wrong[:8])
            requests = questions_reference.Requests(store[0])
            is_asked = path.name in questions.STORES or os.environ.get("LODE_CI") == "full"
            for name, check in questions.CHECKS.items() if is_asked else ():
                wrong = check(lambda *words: ask(arguments.lode, *words), path, requests)
                tap.check(not wrong, f"{path.relative_to(root)}: {name}", wrong[:8])
        check_forms(tap, arguments.lode, root)
        for group in SAME:
            paths = [root / name for name in group if (root / name).exists()]
            given = [answers(arguments.lode, path) for path in paths]
            tap.check(all(one == given[0] for one in given), f"{len(paths)} encodings of one run give the same answers", [str(path) for path in paths])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
