#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Trace stores: every row of `top`, `tree`, `flame`, `profiles` and `search` is that of the reference. Stores of the corpus were written by the
original program; made ones are read back by a reader that shares nothing with Lode.
"""

import itertools
import operator
import re
import shutil
import sys
import tempfile
from bisect import bisect_right
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
import rec_compare as compare  # noqa: E402
import rec_reference as reference  # noqa: E402
import rec_zorka as zorka  # noqa: E402

import corpora  # noqa: E402
import cli  # noqa: E402

MADE = {
    "small traces": ["--records", "6000", "--calls-per-request", "12", "--tasks", "3", "--functions", "60"],
    "long traces": ["--records", "30000", "--calls-per-request", "7000", "--functions", "200"],
    "recursion": ["--records", "8000", "--calls-per-request", "500", "--depth", "60", "--functions", "6"],
}


class Given:
    def __init__(self, name, path, texts=None):
        self.name, self.path, self.store = name, path, zorka.Read(path, texts)
        self.tracks = zorka.tracks(self.store)


def ask(program, command, given, *options):
    names = ["--names", "raw"] if command != "profiles" else []
    return program.json(command, given.path, "--limit", "0", *names, *options, cwd=given.path)


def functions(program, given):
    yield compare.top(ask(program, "top", given, "--sort", "self", "--by", "symbol"), given.tracks)
    yield compare.top_names(ask(program, "top", given, "--sort", "self"), given.tracks)
    names = sorted({call.function.raw for call, _ in reference.all_calls(given.tracks)})
    for name in names[:2]:
        for option in ("--callers", "--callees"):
            yield compare.neighbours(ask(program, "top", given, option, name), given.tracks, name, option == "--callers")


def trees(program, given):
    for options in ({}, {"bottom_up": True}, {"depth": 2}, {"bottom_up": True, "depth": 3}, {"min_percent": 2}):
        words = ["--min-percent", options.get("min_percent", 0)] + ["--bottom-up"] * bool(options.get("bottom_up"))
        words += ["--depth", options["depth"]] if "depth" in options else []
        yield compare.tree(ask(program, "tree", given, *words), given.tracks, **options)


def flames(program, given):
    names = sorted({call.function.raw for call, _ in reference.all_calls(given.tracks)})[:2]
    for mode, focus in [("top-down", None), ("bottom-up", None)] + [(mode, name) for name in names for mode in ("top-down", "sandwich")]:
        yield compare.flame(ask(program, "flame", given, *compare.flame_words(mode, focus)), given.tracks, mode, focus)
    yield compare.flame(ask(program, "flame", given, *compare.flame_words(), "--merge-recursion"), given.tracks, merged=True)


def kinds(program, given):
    yield compare.top_kinds(ask(program, "top", given, "--by", "kind"), given.tracks)


def profiles(program, given):
    yield compare.profiles(ask(program, "profiles", given), given.tracks)
    yield compare.profiles(ask(program, "profiles", given, "--bins", 7), given.tracks, bins=7)


def shown(value):
    """Lists and maps as text; the others with their types."""
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)


def search_rows(given):
    """Each trace as `lode search` shows it, and what it can be found by."""
    for number, (trace, track) in enumerate(zip(given.store.traces, given.tracks)):
        calls = [call for call, _ in reference.walk(track.calls)]
        yield {"number": number + 1, "track": number, "time_ns": track.calls[0].begin, "duration_ns": track.calls[0].time,
               "calls": len(calls), "errors": sum(call.failed for call in calls), "name": track.calls[0].function.raw,
               "attributes": {key: shown(value) for key, value in trace.attributes}}, {call.function.raw for call in calls}


def found_rows(answer):
    return [{key: row[key] for key in ("number", "track", "time_ns", "duration_ns", "calls", "errors", "name", "attributes")}
            for row in answer["rows"]]


def search(program, given):
    pairs = list(search_rows(given))
    durations = sorted(row["duration_ns"] for row, _ in pairs)
    middle = durations[len(durations) // 2]
    method = min(pairs[-1][1])
    choices = [([], lambda row, names: True),
               (["--min-duration", f"{middle}ns"], lambda row, names: row["duration_ns"] >= middle),
               (["--max-duration", f"{middle}ns"], lambda row, names: row["duration_ns"] <= middle),
               (["--errors"], lambda row, names: row["errors"] > 0),
               (["--method", method], lambda row, names: any(method.lower() in name.lower() for name in names))]
    for words, holds in choices:
        found = found_rows(ask(program, "search", given, *words))
        wanted = [row for row, names in pairs if holds(row, names)]
        wanted.sort(key=lambda row: (row["time_ns"], row["track"]))
        yield len(wanted), [] if found == wanted else [f"search {words}: {a}, not {b}" for a, b in zip(found, wanted) if a != b] or \
            [f"search {words}: {len(found)} rows, not {len(wanted)}"]


def calls_of(trace):
    yield trace
    for call in trace.calls:
        yield from calls_of(call)


def as_text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def number_of(value):
    """None for what is no number; a text can be one."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number or (isinstance(value, str) and re.fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?", value)) else None


def attribute_values(given):
    """{key: values} of all calls; keys whose values are texts, whole numbers and booleans."""
    values = {}
    for trace in given.store.traces:
        for call in calls_of(trace):
            for key, value in call.attributes:
                values.setdefault(key, []).append(value)
    return {key: each for key, each in values.items() if all(isinstance(value, (str, int)) for value in each)}


def comparisons(program, given):
    """--attribute 'KEY>=NUMBER' and the other signs, at the middle value of each key that has numbers."""
    signs = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
    for key, values in sorted(attribute_values(given).items()):
        numbers = sorted(number for number in map(number_of, values) if number is not None)
        for sign, holds in signs.items() if numbers else ():
            limit = numbers[len(numbers) // 2]
            wanted = {number for number, trace in enumerate(given.store.traces)
                      if any(name == key and number_of(value) is not None and holds(number_of(value), limit)
                             for call in calls_of(trace) for name, value in call.attributes)}
            found = {row["track"] for row in ask(program, "search", given, "--attribute", f"{key}{sign}{limit:.17g}")["rows"]}
            yield len(wanted), [] if found == wanted else [f"{key}{sign}{limit}: {sorted(found)}, not {sorted(wanted)}"]


def said(given, trace):
    """Everything in a trace that `lode search TEXT` looks at: methods, keys and values of attributes, exceptions."""
    for call in calls_of(trace):
        yield given.store.method(call)
        for key, value in call.attributes:
            yield key
            yield from map(as_text, filter(None, value if isinstance(value, list) else [value]))
        for thrown in call.thrown:
            for class_name, message, _ in given.store.exception(thrown):
                yield class_name
                yield message


def texts(program, given):
    """search TEXT: words of every tenth trace or so, in the other case, and one that is nowhere."""
    everything = [list(said(given, trace)) for trace in given.store.traces]
    step = max(1, len(everything) // 10)
    words = {word[:6].swapcase() for found in everything[::step] for text in found for word in re.findall(r"[A-Za-z0-9]{4,}", text)}
    lower = [{text.lower() for text in found} for found in everything]
    for word in sorted(words)[:60] + ["no such word"]:
        wanted = [number for number, found in enumerate(lower) if any(word.lower() in text for text in found)]
        wanted.sort(key=lambda number: (given.tracks[number].calls[0].begin, number))
        found = [row["track"] for row in program.json("search", given.path, word, "--limit", "0", cwd=given.path)["rows"]]
        yield len(wanted) + 1, [] if found == wanted else [f"search {word}: {found[:20]}, not {wanted[:20]}"]


def groups(program, given):
    """search --by: every key that an outermost call has, all pairs of them as a list, and all of them, each named by an option of its own."""
    known = attribute_values(given)
    keys = sorted({key for trace in given.store.traces for key, _ in trace.attributes if key in known})[:16]
    choices = [((key,), ["--by", key]) for key in keys]
    choices += [(pair, ["--by", ",".join(pair)]) for pair in itertools.permutations(keys, 2)]
    choices += [(tuple(keys), [word for key in keys for word in ("--by", key)])] if len(keys) > 2 else []
    for by, words in choices:
        yield group_rows(given, by, program.json("search", given.path, *words, "--limit", "0", cwd=given.path)["rows"])
    refused = program.run("search", given.path, "--by", "no such key", cwd=given.path)
    yield 1, [] if refused.status == 2 and all(key in refused.err for key in keys) else [f"by no such key: {refused}"]


def group_rows(given, by, rows):
    members = {}
    for trace, track in zip(given.store.traces, given.tracks):
        attributes = dict(trace.attributes)
        values = [attributes.get(key) for key in by]
        members.setdefault(tuple(None if value is None else as_text(value) for value in values), []).append(track)
    wanted = {}
    for values, tracks in members.items():
        times = sorted(track.calls[0].time for track in tracks)
        errors = sum(any(call.failed for call, _ in reference.walk(track.calls)) for track in tracks)
        rank = {f"p{p}_ns": times[-(-p * len(times) // 100) - 1] for p in (50, 90, 99)}
        one = {"value": values[0]} if len(by) == 1 else {}
        wanted[values] = {"requests": len(times), "errors": errors, "total_ns": sum(times), "mean_ns": sum(times) / len(times), **rank,
                          "max_ns": times[-1], **one, "values": dict(zip(by, values))}
    found = {tuple(row["values"].values()): row for row in rows}
    wrong = [f"by {by}: {row}, not {wanted.get(values)}" for values, row in found.items() if row != wanted.get(values)]
    wrong += [f"by {by}: no row of {values}" for values in wanted.keys() - found.keys()] + [f"by {by}: rows twice"] * (len(found) != len(rows))
    order = [-row["total_ns"] for row in rows]
    return len(rows), wrong + [f"by {by}: not in order"] * (order != sorted(order))


def density(program, given):
    """search --density, all and with conditions: each request is in the last range and interval that begins at or before it."""
    steps = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800]
    bounds = [0] + [step * 10 ** power // 100 for power in range(20) for step in steps]
    pairs = list(search_rows(given))
    times = sorted(row["time_ns"] for row, _ in pairs)
    start, middle, method = times[0], times[len(times) // 2], min(pairs[-1][1])
    choices = [([], lambda row, names: True, (times[0], times[-1] + 1)),
               (["--errors"], lambda row, names: row["errors"] > 0, (times[0], times[-1] + 1)),
               (["--method", method], lambda row, names: any(method.lower() in name.lower() for name in names), (times[0], times[-1] + 1))]
    if start < middle:
        choices.append((["--to", f"{middle - start}ns"], lambda row, names: row["time_ns"] < middle, (start, middle)))
    for words, holds, (begin, end) in choices:
        for columns in (1, 7, 100):
            edges = [begin + (end - begin) * column // columns for column in range(columns + 1)]
            wanted = {}
            for row in (row for row, names in pairs if holds(row, names)):
                column, of = bisect_right(edges, row["time_ns"]) - 1, bisect_right(bounds, row["duration_ns"]) - 1
                wanted.setdefault((of, column), []).append(row)
            answer = program.json("search", given.path, "--density", "--columns", str(columns), "--names", "raw", *words, cwd=given.path)
            rows = []
            for (of, column), found in sorted(wanted.items()):
                longest = max(found, key=lambda row: (row["duration_ns"], -row["number"]))
                rows.append({"column": column, "begin_ns": edges[column], "end_ns": edges[column + 1], "min_duration_ns": bounds[of],
                             "max_duration_ns": bounds[of + 1], "requests": len(found), "total_ns": sum(row["duration_ns"] for row in found),
                             "longest_ns": longest["duration_ns"], "longest_number": longest["number"]})
            wrong = [f"density {words} {columns}: {a}, not {b}" for a, b in zip(answer["rows"], rows) if a != b]
            if len(answer["rows"]) != len(rows) or (answer["from_ns"], answer["to_ns"]) != (begin, end):
                wrong.append(f"density {words} {columns}: {len(answer['rows'])} rows from {answer['from_ns']} to {answer['to_ns']}, not {len(rows)}")
            yield len(rows), wrong


def look_at(program, given):
    for question in (functions, trees, flames, kinds, profiles, search, comparisons, texts, groups, density):
        rows, wrong = 0, []
        for count, problems in question(program, given):
            rows += count
            wrong += problems
        program.rows = getattr(program, "rows", 0) + rows
        program.check(not wrong, f"{given.name}: {question.__name__}: {rows} rows are those of the reference", wrong[:20])


def stores_of_the_corpus(program):
    root = program.stores()
    if corpora.is_own():
        for path in corpora.stores(root):
            look_at(program, Given(path.name, path))
        return
    for name in ("first", "master", "real-agent"):
        look_at(program, Given(name, root / name))
    # Its index of texts is compressed; ids are those of the other one.
    look_at(program, Given("master-fmi", root / "master-fmi", root / "master"))


QUESTIONS = (("top", "--sort", "self"), ("tree", "--min-percent", "0"), ("tree", "--min-percent", "0", "--bottom-up"), ("profiles",), ("search",))
LAYOUTS = ("page", "zico")


def same_answers(program, name, path, converted):
    """Rows, and what was repaired or is not known, are the same in two stores."""
    for question in QUESTIONS:
        answers = [program.json(*question[:1], store, "--limit", "0", *question[1:], cwd=path.parent) for store in (path, converted)]
        wrong = [f"{key}: {a}, converted {b}" for key in ("rows", "findings")
                 for a, b in zip(answers[0][key] + [None], answers[1][key] + [None]) if _without_counts(a) != _without_counts(b)]
        program.check(not wrong, f"{name}: {' '.join(question)} is the same", wrong[:4])


def _without_counts(row):
    """How many events a trace has depends on the layout: numbers in the middle of a call are events of their own."""
    return {key: value for key, value in row.items() if key != "events"} if row else row


def without_methods(root, folder):
    """A store whose index of texts has lost all methods."""
    path = Path(folder) / "unknown"
    shutil.copytree(root / "master", path, copy_function=shutil.copyfile)
    for place in (path, path / "000000"):
        place.chmod(0o755)
    index = path / "000000" / "text-00000001.wal"
    head, records = index.read_bytes()[:4], index.read_bytes()[4:].split(b"\x03")[:-1]
    kept = [record for record in records if record.split(b"\x01", 1)[1][:1] != b"\x0b"]
    index.write_bytes(head + b"".join(record + b"\x03" for record in kept))
    return path


def convert_all(program, paths, folder):
    for path in paths:
        for layout in LAYOUTS:
            converted = Path(folder) / f"{path.name}-{layout}"
            done = program.run("convert", "--format", "zorka", "--layout", layout, path, "-o", converted, cwd=folder)
            if program.check(done.status == 0, f"{converted.name} is written", [done.err]):
                same_answers(program, converted.name, path, converted)


def conversions(program):
    root = program.stores()
    with tempfile.TemporaryDirectory(prefix="lode-answers-") as folder:
        if corpora.is_own():
            convert_all(program, corpora.stores(root), folder)
            return
        convert_all(program, [root / name for name in ("first", "master", "master-fmi", "real-agent")] + [without_methods(root, folder)], folder)
        unknown = program.run("check", "--json", Path(folder) / "unknown-page", cwd=folder)
        rules = {finding["rule"] for finding in cli.parse_json(unknown.out)["findings"]}
        program.check(rules == {"method-unknown"}, "methods that are not known are still said to be so", [rules])
        rows = program.json("replay", Path(folder) / "real-agent-page", cwd=folder)["rows"]
        program.check("trace id=7f128efec83c68ec733c1116ad0c9105" in rows[0]["values"], "an id is shown as digits", [rows[0]["values"]])


def made_stores(program):
    with tempfile.TemporaryDirectory(prefix="lode-answers-") as folder:
        for name, options in MADE.items():
            for layout in ("page", "zico"):
                path = Path(folder) / f"{name} {layout}"
                done = program.run("synth", "recording", "--format", "zorka", *options, "--layout", layout, "-o", path, cwd=folder)
                if program.check(done.status == 0, f"{path.name} is made", [done.err]):
                    look_at(program, Given(path.name, path))
    program.note(f"{program.rows} rows")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, stores_of_the_corpus, conversions, made_stores))
