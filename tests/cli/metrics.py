#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""-m all: every metric, in every command that takes several; one line where a command takes one."""

import sys
import tempfile

import cli

METRICS = 20  # more than anybody types
JUDGED = 64  # metrics of a gate
TAKES_ONE = "--metric takes one metric here.*"


def in_stores(test):
    """Runs a test in a folder with a database of many metrics and one with the first few of them."""
    def run(program):
        with tempfile.TemporaryDirectory() as folder:
            for name, count in (("many", METRICS), ("few", 3)):
                program.run("synth", "database", "--metrics", count, "--contexts", 100, "--profiles", 2, "-o", name,
                            cwd=folder)
            program.run("synth", "recording", "--records", 200, "-o", "calls", cwd=folder)
            test(program, folder)
    run.__name__ = test.__name__
    return run


def names_of(answer):
    return [metric["name"] for metric in answer["metrics"]]


@in_stores
def all_metrics_are_shown_by_top_and_tree(program, folder):
    listed = names_of(program.json("info", "many", cwd=folder))
    program.equal(len(listed), METRICS, "the store has many")
    for command in ("top", "tree"):
        program.equal(names_of(program.json(command, "-m", "all", "many", cwd=folder)), listed, f"{command} -m all")
        found = names_of(program.json(command, "-m", f"{listed[2]},all", "many", cwd=folder))
        program.equal(found, [listed[2], *listed[:2], *listed[3:]], f"{command}: the first decides, and none comes twice")
    one, every = (program.json("top", "-m", words, "many", cwd=folder) for words in (listed[7], f"{listed[7]},all"))
    program.equal([row["exclusive_1"] for row in every["rows"]][:5], [row["exclusive"] for row in one["rows"]][:5],
                  "numbers are those of the metric alone")


@in_stores
def all_metrics_of_every_side_are_compared(program, folder):
    many = names_of(program.json("info", "many", cwd=folder))
    few = names_of(program.json("info", "few", cwd=folder))
    found = program.json("compare", "-m", "all", "many", "many", cwd=folder)
    program.equal(names_of(found), many, "compare -m all")
    result = program.run("compare", "-m", "all", "--json", "many", "few", cwd=folder)
    program.equal(names_of(cli.parse_json(result.out)), few, "those that both have")
    program.equal(result.err.splitlines(), [f"lode: few has no metric '{name}'; it is left out" for name in many[3:]],
                  "and a line for each that is left out")
    found = program.json("compare", "-m", "all", "calls", "calls", cwd=folder)
    program.equal(names_of(found), ["time", "calls"], "recordings have time and calls")
    result = program.run("gate", "-m", "all", "--json", "--base", "few", "--new", "few", cwd=folder)
    program.equal([name for name in few if f'"{name}"' not in result.out], [], "gate judges all")


def message(field, data):
    size = len(data)
    return bytes([field << 3 | 2]) + (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + data


def profile_of_counts(count):
    """A profile of pprof with so many metrics that are exact, and one sample."""
    names = ["", "f", *(f"event{number}:COUNT" for number in range(count))]
    types = b"".join(message(1, bytes([8, number + 2])) for number in range(count))
    return types + b"".join(message(6, name.encode()) for name in names) + message(5, b"\x08\x01\x10\x01") + message(
        4, b"\x08\x01" + message(4, b"\x08\x01")) + message(2, message(1, b"\x01") + message(2, b"\x07" * count))


@in_stores
def a_gate_says_which_exact_metrics_it_leaves_out(program, folder):
    with open(f"{folder}/counts.pb", "wb") as stream:
        stream.write(profile_of_counts(JUDGED + 6))
    names = names_of(program.json("info", "counts.pb", cwd=folder))
    result = program.run("gate", "--json", "counts.pb", "counts.pb", cwd=folder)
    judged = [name for name in names if f'"{name}"' in result.out]
    left_out = [name for name in names if f"'{name}' is left out" in result.err]
    program.equal(len(names) == JUDGED + 6 and sorted(judged + left_out), sorted(names),
                  "every exact metric is judged, or a line says that it is not")
    program.equal(len(left_out), 6, "there are more than are judged")
    result = program.run("gate", "-m", names[0], "counts.pb", "counts.pb", cwd=folder)
    program.equal(result.err, "", "who names a metric hears nothing of others")


@in_stores
def commands_for_one_metric_say_so(program, folder):
    for line in ("profiles {}", "context {} main", "source {} main", "flame {} -o x.svg", "slice {} --focus main -o x"):
        command, *others = line.format("few").split()
        program.says(program.run(command, "-m", "all", *others, cwd=folder), 2, f"few: {TAKES_ONE}", f"{command} -m all")
    program.says(program.run("scaling", "-m", "all", *["few"] * 5, "--sizes", "1,2,4,8,16", cwd=folder), 2, TAKES_ONE,
                 "scaling -m all")


@in_stores
def words_are_completed(program, folder):
    def offered(command):
        result = program.run("complete", "fish", command, "many", "--metric", "al", cwd=folder)
        return "all" in [line.split("\t")[0] for line in result.out.splitlines()]
    program.equal([offered(command) for command in ("top", "tree", "export", "compare", "profiles", "flame")],
                  [True, True, True, True, False, False], "'all' is offered where it is taken")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, all_metrics_are_shown_by_top_and_tree, all_metrics_of_every_side_are_compared,
                      a_gate_says_which_exact_metrics_it_leaves_out, commands_for_one_metric_say_so, words_are_completed))
