#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode compare` on recordings of one build has the numbers of `uftrace report --diff`: compiles programs, records each twice with
other arguments, and compares total time, self time and calls of every function. A database that was built from a recording
does not differ from it. Needs uftrace, gcc and g++.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import corpus_files  # noqa: F401  knows where the others are

import cli

PROGRAM = """
#include <stdlib.h>
static volatile unsigned long sink;
#define FUNCTION __attribute__((noinline))
FUNCTION void leaf(int n) { for (int i = 0; i < n; i++) sink += (unsigned long)i; }
FUNCTION void middle(int n) { leaf(n); leaf(n / 2); }
FUNCTION void extra(int n) { leaf(n); }
FUNCTION int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
FUNCTION int odd(int n);
FUNCTION int even(int n) { return n == 0 ? 1 : odd(n - 1); }
FUNCTION int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : 1;
    for (int i = 0; i < n; i++)
        middle(1000 * (i + 1));
    if (n > 3)
        extra(5000);
    else
        free(malloc(16));
    return fibonacci(5 + n) + even(2 * n) < 0;
}
"""
SECONDS = 60
UNITS = {"us": 1000, "ms": 1000000, "s": 1000000000, "m": 60000000000}
AMOUNT = r"(-|[+-]?[\d.]+ (?:us|ms|s|m))"
LINE = re.compile(rf"^\s*{AMOUNT}\s+{AMOUNT}\s+{AMOUNT}\s+{AMOUNT}\s+{AMOUNT}\s+{AMOUNT}\s+(\d+)\s+(\d+)\s+([+-]\d+)\s+(\S.*)$", re.M)


def run(*words, cwd):
    done = subprocess.run([*map(str, words)], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    if done.returncode != 0:
        raise RuntimeError(f"{words}: {done.stderr.decode(errors='replace')[:300]}")
    return done.stdout.decode()


def time_of(text):
    """Nanoseconds, and what the digits that uftrace drops may be worth."""
    if text == "-":
        return 0, 0
    number, unit = text.split()
    digits = len(number.split(".")[1]) if "." in number else 0
    return abs(float(number)) * UNITS[unit], UNITS[unit] / 10**digits - 0.5


def diff_of_uftrace(folder):
    """{function: (total, self, calls) of both, as text}"""
    text = run("uftrace", "report", "--no-pager", "-d", "a", "--diff", "b", "--diff-policy", "full,no-abs", "-f", "total,self,call", cwd=folder)
    return {found[9]: found for found in LINE.findall(text)}


def rows_of_lode(program, folder, *words):
    text = run(program.lode, "compare", "--json", "--all", "--limit", 0, "--sched", *words, "a", "b", cwd=folder)
    return {row["name"]: row for row in json.loads(text)["rows"]}


def shared_names(program, folder):
    """Names that several functions have, such as constructors: uftrace adds up their totals even where one calls the other."""
    tops = [json.loads(run(program.lode, "top", "--json", "--limit", 0, "--sched", directory, cwd=folder)) for directory in "ab"]
    return {row["name"] for top in tops for row in top["rows"] if row["functions"] > 1}


def check(program, name, folder):
    wanted = diff_of_uftrace(folder)
    times, calls = rows_of_lode(program, folder, "--metric", "time"), rows_of_lode(program, folder, "--metric", "calls")
    program.check(len(wanted) > 6 and set(wanted) == set(times) == set(calls), f"{name}: {len(wanted)} functions are those of uftrace",
                  [set(wanted) ^ set(times), set(wanted) ^ set(calls)])
    wrong, count, shared = [], 0, shared_names(program, folder)
    for function in (set(wanted) & set(times) & set(calls)) - shared:
        line, row = wanted[function], times[function]
        found = [row["base_inclusive"], row["new_inclusive"], row["new_inclusive"] - row["base_inclusive"],
                 row["base_exclusive"], row["new_exclusive"], row["difference"]]
        for text, value in zip(line[:6], found):
            right, error = time_of(text)
            count += 1
            if abs(abs(value) - right) > error:
                wrong.append(f"{function}: {value} ns, uftrace has {text}")
        found = [calls[function]["base"], calls[function]["new"], calls[function]["difference"]]
        if found != [int(text) for text in line[6:9]]:
            wrong.append(f"{function}: {found} calls, uftrace has {line[6:9]}")
        count += 3
    program.check(not wrong and count > 80, f"{name}: {count} numbers are those of uftrace report --diff", wrong)


def built_databases_do_not_differ(program, name, folder):
    run(program.lode, "build", "a", "-o", "a.db", cwd=folder)
    for metric in ("time", "calls"):
        for pair in (("a", "a.db"), ("a.db", "a")):
            answer = json.loads(run(program.lode, "compare", "--json", "--metric", metric, *pair, cwd=folder))
            head = answer["metrics"][0]
            program.check(answer["rows"] == [] and head["difference"] == 0 and head["base"] > 0 and head["matched_base_percent"] == 100,
                          f"{name}: {metric} of {pair[0]} and {pair[1]} do not differ", [head, answer["rows"][:2]])


def recordings_of_one_build(program):
    missing = [tool for tool in ("uftrace", "gcc", "g++") if not shutil.which(tool)]
    if missing:
        program.skip("recordings of one build", f"there is no {', '.join(missing)}")
        return
    shapes = Path(__file__).resolve().parent / "programs" / "shapes.cc"
    for name, compiler, words in (("a C program", "gcc", (("2",), ("5",))), ("a C++ program", "g++", ((), ()))):
        with tempfile.TemporaryDirectory() as inner:
            folder = Path(inner)
            source = folder / "program.c"
            source.write_text(PROGRAM)
            run(compiler, "-O0", "-pg", "-pthread", source if compiler == "gcc" else shapes, "-o", "program", cwd=folder)
            for directory, arguments in zip("ab", words):
                run("uftrace", "record", "--no-event", "-d", directory, "./program", *arguments, cwd=folder)
            check(program, name, folder)
            built_databases_do_not_differ(program, name, folder)


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, recordings_of_one_build))
