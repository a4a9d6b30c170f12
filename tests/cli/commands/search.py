#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
lode search on the trace store of the corpus, against what the original program's readers said of it: every filter and order is
asked of the program and of a plain list of the calls. And --id, which chooses what search shows.
"""

import csv
import io
import json
import re
import sys
from typing import NamedTuple
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import cli  # noqa: E402

STORE = "master"
TICK = 65536  # nanoseconds
FAILED = 8  # a flag
MILLISECOND, SECOND = 10 ** 6, 10 ** 9
FIRST = 1555000000 * SECOND  # when the first trace began

CALL = re.compile(r"( +)\S+ (\S+)\(.*\) mid=\d+ tstart=\d+ tstop=\d+ dur=(\d+) calls=\d+ flags=(\d+) tstamp=(\d+) .* eid=(\d+) attrs=(.*)")
THROWN = re.compile(r" +!! (.*) cause=\d+ stack=.*")


class Call(NamedTuple):
    depth: int
    name: str
    is_failed: bool
    attributes: dict


class Trace(NamedTuple):
    number: int
    begin: int  # nanoseconds after the first
    duration: int
    calls: list
    exceptions: list  # (depth, text), all with their causes

    def errors(self):
        return sum(call.is_failed for call in self.calls)

    def end(self):
        return self.begin + self.duration


# The last trace has three chunks, which the original cannot put together: from its annotated bytes.
LAST = Trace(5, 4 * SECOND, 20000 * TICK, [
    Call(0, "com.myapp.MyClass.myMethod", False, {"part": "one"}), Call(1, "com.myapp.MyClass.invoke", False, {}),
    Call(1, "com.myapp.MyClass.getStatus", False, {"part": "two"}), Call(2, "com.myapp.MyClass.process", False, {"part": "three"})], [])


def unescape(text):
    return re.sub(r"\\x([0-9a-f]{2})", lambda match: chr(int(match[1], 16)), text).encode("latin-1").decode()


class Plain(str):
    """A number, a Boolean or null, as text."""


def typed(pairs):
    return {key: json.loads(value) if isinstance(value, Plain) else value for key, value in pairs.items()}


def attributes(text, names):
    """Numbers and texts; lists and maps are searched for elsewhere."""
    pairs = re.findall(r"ref\[(\d+)\]=(?:ref\[(\d+)\]|(-?\d+|true|false|null))(?=[,}])", text)
    return {names[key]: names[ref] if ref else Plain(plain) for key, ref, plain in pairs}


def traces(program):
    """What the original says, in the order of time. A trace inside of another is listed twice, and counts once."""
    program.need_larger()
    text = (program.stores().parent / "master-expected.txt").read_text(encoding="utf-8")
    names = {key: unescape(value) for key, value in re.findall(r"^(\d+)\t(.*)$", text, re.MULTILINE)}
    found = {}
    for head, body in re.findall(r"^== trace (\w+)\n((?:  .*\n)+)", text, re.MULTILINE):
        calls, thrown = [], []
        for line in body.splitlines():
            if match := CALL.fullmatch(line):
                if not calls:
                    begin, duration = int(match[5]) * MILLISECOND - FIRST, int(match[3]) * TICK
                calls.append(Call(len(match[1]) // 2 - 1, match[2], bool(int(match[4]) & FAILED or int(match[6])), attributes(match[7], names)))
            elif match := THROWN.fullmatch(line):
                thrown.append((calls[-1].depth, match[1]))
        if calls:
            found.setdefault(head, Trace(len(found) + 1, begin, duration, calls, thrown))
    return [*found.values(), LAST]


def numbers(program, *options):
    return [row["number"] for row in program.json("search", STORE, *options, cwd=program.stores())["rows"]]


def same(program, listed, options, keep, key=lambda trace: trace.begin):
    wanted = [trace.number for trace in sorted(filter(keep, listed), key=key)]
    program.equal(numbers(program, *options), wanted, f"search {' '.join(options)}: {wanted}")


def rows_say_what_the_original_says(program):
    listed = traces(program)
    rows = program.json("search", STORE, cwd=program.stores())["rows"]
    program.equal(len(rows), 5, "five traces")
    for row, trace in zip(rows, listed):
        outer = min(trace.exceptions, default=(0, None))[1]
        wanted = (trace.number, trace.number - 1, trace.begin, trace.duration, len(trace.calls), trace.errors(), typed(trace.calls[0].attributes), outer)
        found = tuple(row[key] for key in ("number", "track", "time_ns", "duration_ns", "calls", "errors", "attributes", "exception"))
        program.equal(found, wanted, f"trace {trace.number}: numbers, attributes and exception")
        program.equal(row["name"].partition("(")[0], trace.calls[0].name, f"trace {trace.number}: method")
        program.equal(row["time"], f"2019-04-11T16:26:4{trace.begin // SECOND}.000000000Z", f"trace {trace.number}: time")
        program.equal(row["id"], f"{0xa0 + trace.number:016x}{0xb0 + trace.number:016x}", f"trace {trace.number}: id")


def durations(program):
    listed = traces(program)
    for bound in sorted({trace.duration for trace in listed}):
        for off in (-1, 0, 1):
            same(program, listed, ["--min-duration", f"{bound + off}ns"], lambda trace: trace.duration >= bound + off)
            same(program, listed, ["--max-duration", f"{bound + off}ns"], lambda trace: trace.duration <= bound + off)
    same(program, listed, ["--min-duration", "1s", "--max-duration", "1.5s"], lambda trace: SECOND <= trace.duration <= 1.5 * SECOND)


def windows(program):
    listed = traces(program)
    for begin, end in ((0, 1), (1, 2), (3.5, 4), (0.5, 0.9), (4, 9)):
        first, last = int(begin * SECOND), int(end * SECOND)
        same(program, listed, ["--from", f"{begin}s", "--to", f"{end}s"], lambda trace: trace.begin < last and trace.end() >= first)
    same(program, listed, ["--from", "@3310720000"], lambda trace: trace.end() >= 3310720000)
    same(program, listed, ["--from", "@3310720001"], lambda trace: trace.end() >= 3310720001)


def errors_and_methods(program):
    listed = traces(program)
    same(program, listed, ["--errors"], lambda trace: trace.errors() > 0)
    for part in ("execute", "STATEMENT", "MyClass.myMethod", "catalina.Server", "nobody"):
        same(program, listed, ["--method", part],
             lambda trace: any(part.lower() in call.name.lower() for call in trace.calls))


def is_number(text):
    return bool(re.fullmatch(r"[-+]?\d+(\.\d+)?(e\d+)?", text))


def attributes_of_any_call(program):
    listed = traces(program)

    def has(key, fits):
        return lambda trace: any(key in call.attributes and fits(call.attributes[key]) for call in trace.calls)

    for key in ("component", "http.url", "rows", "cached", "part", "nobody"):
        same(program, listed, ["--attribute", key], has(key, lambda value: True))
    for key, value in (("component", "http"), ("component", "db"), ("component", "HTTP"), ("part", "three"), ("http.status_code", "200"),
                       ("big", "5000000000"), ("neg", "-5"), ("cached", "true"), ("rows", "4")):
        same(program, listed, ["--attribute", f"{key}={value}"], has(key, lambda found: found == value))
    for key, part in (("http.url", "SHOP"), ("component", "h"), ("db.statement", "from t WHERE"), ("part", "e")):
        same(program, listed, ["--attribute", f"{key}~{part}"], has(key, lambda found: part.lower() in found.lower()))
    compared = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
    for key, numbers in (("http.status_code", ("200", "502", "499.5", "1e3")), ("rows", ("4", "3.99", "-1")), ("neg", ("-5", "-4", "-5.5")),
                         ("big", ("5000000000", "4999999999")), ("component", ("0",)), ("nobody", ("0",))):
        for number in numbers:
            for sign, compare in compared.items():
                same(program, listed, ["--attribute", f"{key}{sign}{number}"],
                     has(key, lambda found: is_number(found) and compare(float(found), float(number))))
            same(program, listed, ["--attribute", f"{key}!={number}"],
                 has(key, lambda found: float(found) != float(number) if is_number(found) else found != number))
    both = ["--attribute", "component=http", "--attribute", "component=db"]
    same(program, listed, both, lambda trace: has("component", lambda value: value == "http")(trace)
         and has("component", lambda value: value == "db")(trace))


def groups_by_attribute(program):
    listed = traces(program)
    for key in ("component", "http.url", "part", "http.status_code"):
        wanted = {}
        for trace in listed:
            wanted.setdefault(trace.calls[0].attributes.get(key), []).append(trace)
        answer = program.json("search", "--by", key, "--limit", "0", STORE, cwd=program.stores())
        program.equal([row["values"] for row in answer["rows"]], [{key: row["value"]} for row in answer["rows"]], f"values of {key} by key")
        found = {row["value"]: row for row in answer["rows"]}
        program.equal(sorted(map(str, found)), sorted(map(str, wanted)), f"values of {key}")
        program.equal([-row["total_ns"] for row in answer["rows"]], sorted(-row["total_ns"] for row in answer["rows"]), f"order by {key}")
        for value, members in wanted.items():
            times = sorted(trace.duration for trace in members)
            rank = {p: times[max(1, -(-p * len(times) // 100)) - 1] for p in (50, 90, 99)}
            row = found.get(value, {})
            program.equal([row.get(k) for k in ("requests", "errors", "total_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")],
                          [len(times), sum(trace.errors() > 0 for trace in members), sum(times), sum(times) / len(times), rank[50], rank[90], rank[99],
                           times[-1]], f"{key}={value}: durations of its requests")


def unknown_keys_are_errors_that_list_the_known_ones(program):
    known = ", ".join(sorted({key for trace in traces(program) for key in trace.calls[0].attributes}))
    for words, message in [(["--by", "nobody"], f"{STORE}: no outermost call has the attribute 'nobody'; there are {known}"),
                           (["--by", "component,http.urk"], f"the attribute 'http.urk' (did you mean 'http.url'?); there are {known}"),
                           (["--by", "component", "--by", "nobody", "--errors"], f"the attribute 'nobody'; there are {known}"),
                           (["--by", "part,component", "--by", "part"], "--by names 'part' twice"),
                           (["--by", "part,"], "--by takes KEY or a list of keys"),
                           (["--by", ",".join(map(str, range(17)))], "--by takes 16 keys at most")]:
        program.says(program.run("search", *words, STORE, cwd=program.stores()), 2, f".*{re.escape(message)}.*", f"refused: {words[-1]}")
    # Requests that are found do not have it, but others do: this is no error.
    program.equal(program.json("search", "--by", "part", "--text", "nothing at all", STORE, cwd=program.stores())["rows"], [], "no requests, no groups")


def a_map_needs_services(program):
    for store, folder in ((STORE, program.stores()), ("mt/uftrace.data", program.recordings())):
        for more in ([], ["--json"], ["--svg", "map.svg"]):
            program.says(program.run("search", "--map", *more, store, cwd=folder), 2, f"{store}: the recording has no services; .*", f"search --map {' '.join(more)} {store}")


def texts(program):
    listed = traces(program)

    def holds(part):
        return lambda trace: any(part in text.lower() for call in trace.calls
                                 for text in (call.name, *call.attributes, *call.attributes.values())) \
            or any(part in text.lower() for _, text in trace.exceptions)

    for part in ("żółć", "wrapped", "example.com", "long_calls", "three", "mysql", "42", "nobody"):
        same(program, listed, ["--text", part.upper() if part.isascii() else part], holds(part))


def orders(program):
    listed = traces(program)
    keys = {"time": lambda trace: 0, "duration": lambda trace: -trace.duration, "calls": lambda trace: -len(trace.calls),
            "errors": lambda trace: -trace.errors()}
    for word, key in keys.items():
        options = ["--sort", word]
        same(program, listed, options, lambda trace: True, lambda trace: (key(trace), trace.begin))
        found = program.json("search", STORE, *options, "--limit", "2", cwd=program.stores())
        program.equal([row["number"] for row in found["rows"]], numbers(program, *options)[:2], f"--limit 2 --sort {word} is the beginning")
        program.equal(found["row_count"], 5, f"--limit 2 --sort {word}: how many there are")


def csv_has_the_same_rows(program):
    listed = program.json("search", STORE, cwd=program.stores())["rows"]
    for row in listed:
        row["attributes"] = "; ".join(f"{key}={value}" for key, value in row["attributes"].items())
    table = csv.DictReader(io.StringIO(program.run("search", STORE, "--csv", cwd=program.stores()).out, newline=""))
    wanted = [{key: "" if value is None else str(value) for key, value in row.items()} for row in listed]
    program.equal(list(table), wanted, "CSV says what JSON says")


def threads_change_nothing(program):
    for options in (["--errors"], ["--text", "e", "--sort", "calls"], ["--sort", "duration"]):
        answers = {program.run("search", STORE, *options, "--threads", n, cwd=program.stores()) for n in ("1", "2", "7")}
        program.equal(len(answers), 1, f"search {' '.join(options)}: the same with 1, 2 and 7 threads")


def ids_choose_traces(program):
    program.need_larger()
    def chosen(*options):
        return [row["track"] + 1 for row in program.json("profiles", STORE, "--sort", "index", *options, cwd=program.stores())["rows"]]

    last = "00000000000000a500000000000000b5"
    for given, wanted in (("2", [2]), ("5,1", [1, 5]), (last, [5]), (last[:16], [5]), ("00000000-0000-00A5-0000-0000000000b5", [5]),
                          (f"{last},2", [2, 5]), ("2,2", [2])):
        program.equal(chosen("--id", given), wanted, f"--id {given} is {wanted}")
        program.equal(numbers(program, "--id", given), wanted, f"search --id {given} too")
    task = program.json("search", STORE, "--id", "2", cwd=program.stores())["rows"][0]["tid"]
    program.equal(chosen("--id", "2", "--task", task), [2], "--id and --task must both hold")
    same_trace = program.json("replay", STORE, "--id", "3", cwd=program.stores())
    program.equal(sum(row["kind"] == "enter" for row in same_trace["rows"]), 3, "replay --id 3 has its three calls")


def wrong_ids_are_refused(program):
    program.need_larger()
    for given, words in (("6", r"no request 6; there are 5 .*"), ("0", r"--id needs at least 4 digits of an id, not '0'"),
                         ("0000-0000", r"several requests have an id that begins with '0000-0000', such as \w+ and \w+; use more digits"),
                         ("dead", r"no request has an id that begins with 'dead' .*"), ("1,", None),
                         ("soon", r"'soon' is neither the number nor the id of a request .*"), ("1,,2", r"'' is neither the number .*")):
        result = program.run("top", "--id", given, STORE, cwd=program.stores())
        if words:
            program.says(result, 2, f"{STORE}: {words}", f"--id {given} is refused")
        else:
            program.check(result.status == 0, f"--id {given} is taken")
    program.says(program.run("top", "--id", "", STORE, cwd=program.stores()), 2, "--id needs the number or the id of a request", "so is an empty one")
    program.says(program.run("top", "--id", "1", "mt/uftrace.data", cwd=program.recordings()), 2,
                 r"mt/uftrace.data: --id is for recordings of requests; use --task .*", "and --id of tasks")


def lines_fit(program):
    for columns in (80, 100, 132, 200):
        result = program.on_terminal("search", STORE, columns=columns, cwd=program.stores())
        plain = cli.ESCAPE.sub("", result.out).splitlines()
        program.check(result.status == 0 and plain and all(len(line) <= columns and line == line.rstrip() for line in plain),
                      f"search fits {columns} columns", plain)
        program.check(all(line.count("\033[") == 2 * line.count("\033[0m") for line in result.out.splitlines()),
                      f"colours end with their line, with {columns} columns")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, rows_say_what_the_original_says, durations, windows, errors_and_methods, attributes_of_any_call, groups_by_attribute, unknown_keys_are_errors_that_list_the_known_ones, a_map_needs_services, texts, orders,
                      csv_has_the_same_rows, threads_change_nothing, ids_choose_traces, wrong_ids_are_refused, lines_fit))
