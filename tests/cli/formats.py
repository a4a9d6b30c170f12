#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What machines read: JSON and CSV of every command on databases of all kinds; options that choose and sort rows."""

import csv
import io
import sys

import cli
import findings

# Commands that answer with rows, and where those are in JSON.
TABLES = {"info": "metrics", "check": "findings", "top": "rows", "tree": "rows", "profiles": "rows",
          "context": "rows", "trace": "rows"}
LARGE = "viewer-issue-233"


def commands_for(program, database):
    """Those that have something to say about a database: it may have no traces."""
    has_requests = (program.databases() / database / "trace.db").exists()
    return [command for command in TABLES if command != "trace" or has_requests]


def json_of_every_command_is_one_object(program):
    for database in cli.DATABASES:
        wrong = []
        for command in commands_for(program, database):
            answer = program.json(*cli.arguments_of(command, database))
            if (answer["command"], answer["database"]) != (command, database) or TABLES[command] not in answer:
                wrong.append((command, list(answer)))
        program.check(not wrong, f"{database}: JSON of every command", wrong)


def csv_of_every_command_is_one_table(program):
    for database in cli.DATABASES:
        wrong = []
        for command in commands_for(program, database):
            arguments = cli.arguments_of(command, database)
            result = program.run(*arguments, "--csv")
            header, rows = cli.csv_rows(result.out)
            answer = program.json(*arguments)[TABLES[command]]
            if result.status or findings.without(result.err) or len(rows) != len(answer) or (answer and header[0] not in answer[0]):
                wrong.append((command, header, len(rows), len(answer)))
        program.check(not wrong, f"{database}: CSV of every command has the rows of its JSON", wrong)


def csv_and_json_say_the_same(program):
    for command in ("top", "tree", "profiles", "trace"):
        answer = program.json(command, LARGE)
        rows = list(csv.DictReader(io.StringIO(program.run(command, LARGE, "--csv").out, newline="")))
        wanted = [{key: _as_csv(value) for key, value in row.items()} for row in answer["rows"]]
        program.check(rows == wanted, f"lode {command}: CSV says what JSON says", [rows[:2], wanted[:2]])


def _as_csv(value):
    if isinstance(value, list):  # an id tuple
        return "; ".join(f"{part['kind']}={part['id']}" for part in value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def version_and_rules_as_json(program):
    program.equal(program.json("version", cwd=None)["version"], program.run("version", cwd=None).out.split()[1],
                  "lode version --json")
    rules = program.json("check", "--rules", cwd=None)["rules"]
    header, rows = cli.csv_rows(program.run("check", "--rules", "--csv", cwd=None).out)
    program.check(len(rules) > 50 and [list(rule) for rule in rules] == [header] * len(rows)
                  and {rule["severity"] for rule in rules} == {"note", "warning", "error"}
                  and {rule["level"] for rule in rules} == {"quick", "structure", "full"}, "lode check --rules --json")


def check_as_json(program):
    answer = program.json("check", "--level", "full", LARGE)
    result = answer["result"]
    program.equal((answer["level"], result["sound"], result["errors"], result["warnings"], result["notes"]),
                  ("full", True, 0, 0, len(answer["findings"])), "lode check --json counts what it lists")
    program.check(all(list(finding) == ["severity", "rule", "file", "offset", "text"] for finding in
                      answer["findings"]), "lode check --json: fields of findings", answer["findings"][:2])


def limit(program):
    for command in ("top", "tree", "profiles"):
        everything = program.json(command, "--limit", 0, LARGE)["rows"]
        first = program.json(command, "-n7", LARGE)["rows"]
        hidden = {"folded"} if command == "tree" else set()
        strip = [[{key: row[key] for key in row.keys() - hidden} for row in rows] for rows in (first, everything)]
        program.check(strip[0] == strip[1][:7] and len(everything) > 7, f"lode {command} --limit 7 is the first 7")
    shares = program.json("trace", "--limit", 3, LARGE)["rows"]
    whole = program.json("trace", "--limit", 0, LARGE)["rows"]
    program.check("".join(row["letter"] for row in shares).replace(".", "") == "ABC~" and
                  sum(row["nanoseconds"] for row in shares) == sum(row["nanoseconds"] for row in whole),
                  "lode trace --limit 3: three letters, and one row for the rest", shares)


def _is_falling(values):
    return all(left >= right for left, right in zip(values, values[1:]))


def sort(program):
    for by in ("function", "line", "loop", "module", "file"):
        for key in ("exclusive", "inclusive"):
            rows = program.json("top", "--by", by, "--sort", key, "--limit", 0, LARGE)["rows"]
            program.check(_is_falling([row[key] for row in rows]), f"lode top --by {by} --sort {key}")
        names = [row["name"] for row in program.json("top", "-b", by, "-s", "name", "-n", 0, LARGE)["rows"]]
        program.check(names == sorted(names), f"lode top --by {by} --sort name")
    rows = {key: program.json("profiles", "--sort", key, "--limit", 0, LARGE)["rows"]
            for key in ("value", "name", "index")}
    program.check(_is_falling([row["value"] for row in rows["value"]]), "lode profiles --sort value")
    program.check(_is_falling([-row["profile"] for row in rows["index"]]), "lode profiles --sort index")
    numbers = [[int(word) for word in row["name"].split() if word.isdigit()] for row in rows["name"]]
    program.check(numbers == sorted(numbers), "lode profiles --sort name: rank 2 comes before rank 10")


def metric(program):
    program.need_larger()
    database = "viewer-issue-328"
    ways = ("REALTIME (sec)", "realtime (sec)", "REALT", "17")
    totals = [(answer["metric"], answer["total"]) for answer in
              (program.json("top", "--metric", way, database) for way in ways)]
    program.check(len(set(totals)) == 1 and totals[0][0] == "REALTIME (sec)",
                  "a metric by name, in other letters, by a part, by number", totals)
    program.says(program.run("top", "--metric", "nothing", database), 2,
                 f"{database}: no metric 'nothing'; there are: 'GSYNC:STR \\(sec\\)', .*",
                 "a metric that is not there: the candidates")
    program.says(program.run("top", "--metric", "GXCOPY:", database), 2,
                 f"{database}: more than one metric 'GXCOPY:'; which of: .*'GXCOPY:H2D \\(B\\)'.*",
                 "a metric that several match: the candidates")


def profiles(program):
    program.need_larger()
    def names(selection):
        rows = program.json("profiles", "--sort", "name", "--limit", 0, "--profiles", selection, LARGE)["rows"]
        return [row["name"] for row in rows]

    program.equal(names("rank=0-2,thread=0"), [f"node 0 rank {rank} thread 0" for rank in range(3)],
                  "--profiles rank=0-2,thread=0")
    program.equal(names("RANK=3+25-26,Thread=3+4"),
                  [f"node 0 rank {rank} thread {thread}" for rank in (3, 25, 26) for thread in (3, 4)],
                  "--profiles RANK=3+25-26,Thread=3+4")
    program.equal([row["profile"] for row in program.json("profiles", "-p", "profile=39", LARGE)["rows"]], [39],
                  "--profiles profile=39")
    one = program.json("trace", "-p", "rank=5,thread=0", LARGE)["timeline"]
    program.equal([row["name"] for row in one], ["node 0 rank 5 thread 0"], "lode trace --profiles")


def what_is_left_out_is_said(program):
    answers = {rows: program.json("tree", "--limit", rows, LARGE) for rows in (0, 5)}
    program.equal({rows: answer["is_truncated"] for rows, answer in answers.items()}, {0: False, 5: True},
                  "lode tree --json says whether there are more rows")
    everything = program.json("trace", "--rows", 0, LARGE)
    some = program.json("trace", "--rows", 2, LARGE)
    program.equal((some["timeline"], some["line_count"]), (everything["timeline"][:2], everything["line_count"]),
                  "lode trace --rows --json: so many lines, and how many there are")
    program.equal(len(everything["timeline"]), everything["line_count"] - everything["lines_without_samples"],
                  "lode trace --rows 0 --json: all lines that have samples")


def threads_do_not_matter(program):
    for arguments in (["top", "--profiles", "rank=0-9"], ["trace"], ["check", "--level", "full"]):
        answers = {program.run(*arguments, "--json", "--threads", count, LARGE).out for count in (1, 2, 7)}
        program.check(len(answers) == 1, f"lode {' '.join(arguments)}: the same with 1, 2 and 7 threads")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, json_of_every_command_is_one_object, csv_of_every_command_is_one_table,
                      csv_and_json_say_the_same, version_and_rules_as_json, check_as_json, limit, sort, metric,
                      profiles, what_is_left_out_is_said, threads_do_not_matter))
