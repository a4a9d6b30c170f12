#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Limits, exit status and outputs of `lode gate`, on recordings whose counts are known: limits.py --lode PROGRAM
"""

import argparse
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from recorded import SECONDS, Tap, compile_program, gate, missing, record

STEPS = 120


def verdict(result, subject):
    return next((row for row in result["rows"] if row["subject"] == subject), None)


def exact_limits(tap, lode, folder):
    """`more` calls norm twice as often: some 600 calls become 720, with a few of the start of the program."""
    cases = [
        ("the same counts are within every limit", ["a1", "a2"], 0),
        ("no more calls at all: the same counts are within 0 %", ["--max", "calls=0%", "--max-function", "0%", "a1", "a2"], 0),
        ("20 % more calls are beyond the default limits", ["a1", "more"], 1),
        ("20 % more calls are within 25 %", ["--max-slower", "25%", "a1", "more"], 0),
        ("a function with twice the calls is beyond 10 %", ["--max-function", "10%", "a1", "more"], 1),
        ("a function with twice the calls is within 100 %", ["--max-function", "100%", "a1", "more"], 0),
        ("a function below the share is not judged", ["--max-function", "10%", "--min-share", "50%", "a1", "more"], 0),
        ("a named function is beyond", ["--max-exclusive", "norm=50%", "a1", "more"], 1),
        ("another named function is within", ["--max-exclusive", "relax=0%", "a1", "more"], 0),
        ("a subtree counts what it calls", ["--max-inclusive", "step=5%", "a1", "more"], 1),
        ("a change below the floor is within", ["--max-exclusive", "norm=50%", "--floor", "1000", "a1", "more"], 0),
        ("a floor in milliseconds is not for calls", ["--max-exclusive", "norm=50%", "--floor", "1000ms", "a1", "more"], 1),
        ("a function that must not appear appears", ["--absent", "norm", "a1", "more"], 1),
        ("a pattern that must not appear appears", ["--absent", "nor*", "a1", "more"], 1),
        ("a part of a name is not a name", ["--absent", "nor", "a1", "more"], 0),
        ("fewer calls are within 0 %", ["--max", "calls=0%", "--max-function", "0%", "more", "a1"], 0),
        ("calls need no runs", ["--require-runs", "5", "a1", "a2"], 0),
        ("time does", ["--metric", "time", "--require-runs", "5", "a1", "a2"], 2),
        ("one run a side: time cannot be judged", ["--metric", "time", "a1", "more"], 0),
        ("one run a side: that fails if it must not", ["--metric", "time", "--fail-unsure", "a1", "more"], 1),
        ("no such store", ["a1", "nothing"], 2),
        ("no such metric", ["--metric", "fish", "a1", "a2"], 2),
        ("no such metric in a limit", ["--max", "fish=1%", "a1", "a2"], 2),
        ("no such function", ["--max-exclusive", "fish=1%", "a1", "a2"], 2),
        ("nothing in common", ["--metric", "calls", "a1", "other"], 2),
        ("one side only", ["--base", "a1"], 2),
    ]
    for name, words, status in cases:
        got, result = gate(lode, folder, *words)
        tap.check(got == status, f"{name}: {' '.join(words)}", [got, result])
    _, result = gate(lode, folder, "a1", "more")
    total, norm = verdict(result, "calls of everything"), verdict(result, "calls of norm")
    tap.check((total["new"] - total["base"], total["outcome"]) == (STEPS, "fail") and 5 * STEPS < total["base"] < 5 * STEPS + 20, "the total has the counts of the program", [total])
    tap.check((norm["base"], norm["new"], norm["change_percent"], norm["outcome"]) == (STEPS, 2 * STEPS, 100, "fail"), "so has the function", [norm])
    tap.check(all(row["method"] == "exact" and row["smallest_visible_percent"] == 0 for row in result["rows"]), "exact verdicts see every change")


def files_of_limits(tap, lode, folder):
    def run(text, *words):
        Path(folder, "lode.gate").write_bytes(text if isinstance(text, bytes) else text.encode())
        return gate(lode, folder, "--limits", "lode.gate", *words, "a1", "more")

    tap.check(run("# nothing\n\n  max-slower 25%   # enough\n")[0] == 0, "a limit of a file, with comments")
    tap.check(run("max-slower 5%")[0] == 1, "the last line needs no end")
    tap.check(run("max-slower 5%\r\n")[0] == 1, "ends of lines of Windows")
    tap.check(run("max-slower 5%", "--max-slower", "25%")[0] == 0, "the option counts, not the file")
    tap.check(run("metric time\nmax-slower 0%\nrequire-runs 3")[0] == 2, "metric and runs of a file")
    tap.check(run("metric calls\nmax-exclusive norm = 50%\nabsent fish\nmin-share 2%\nconfidence 99%\nfloor 5\nfail-unsure")[0] == 1, "every kind of line")
    wrong = {
        "max-slower 5%\nfoo 3": "line 2: unknown limit 'foo'", "max-slower": "line 1: max-slower takes a percentage", "max-slower -5%": "line 1",
        "\n\nmax-exclusive norm": "line 3: max-exclusive takes a name and a percentage", "max-exclusive =5%": "line 1", "confidence 100%": "line 1: confidence", "floor 3 fish": "line 1: floor",
        "require-runs many": "line 1: require-runs", "fail-unsure 3": "line 1: fail-unsure takes no argument", "absent": "line 1: absent",
        "max-slower nan%": "line 1", "max-slower 5%\0": "line 1: a NUL byte", "x" * 3000: "line 1: more than", "max-slower 5%\n" * 6000: "more than 65536 bytes",
        "".join(f"max-exclusive f{i}=1%\n" for i in range(300)): "line 257: more than 256 limits",
    }
    for text, message in wrong.items():
        status, error = run(text)
        tap.check(status == 2 and isinstance(error, str) and message in error and "lode.gate" in error, f"refused with its line: {message}", [status, error])
    tap.check(gate(lode, folder, "--limits", "nothing", "a1", "more")[0] == 2, "no such file of limits")


def junit(tap, lode, folder):
    """JUnit XML, read by another parser, has the verdicts of the JSON output."""
    words = ["--metric", "time,calls", "--absent", "norm", "--absent", "x<&\"'>\x01\ufffe", "--max-exclusive", "norm=5%", "--junit", "gate.xml", "a1", "more"]
    status, result = gate(lode, folder, *words)
    root = ElementTree.parse(Path(folder, "gate.xml")).getroot()
    suite = root.find("testsuite")
    cases = suite.findall("testcase")
    outcomes = ["fail" if case.find("failure") is not None else "cannot tell" if case.find("skipped") is not None else "pass" for case in cases]
    tap.check(status == 1 and root.tag == "testsuites", "it is written for a gate that fails, too")
    tap.check(outcomes == [row["outcome"] for row in result["rows"]], "a test case for each verdict, with its outcome", [outcomes])
    tap.check((int(suite.get("tests")), int(suite.get("failures")), int(suite.get("skipped")), int(suite.get("errors"))) ==
              (len(cases), outcomes.count("fail"), outcomes.count("cannot tell"), 0), "its counts are those of its test cases", [suite.attrib])
    tap.check(any("x<&\"'>" in case.get("name") for case in cases), "names with characters that XML has for itself", [case.get("name") for case in cases])
    allowed = {"testsuites": {"name", "tests", "failures", "errors"}, "testsuite": {"name", "tests", "failures", "errors", "skipped"},
               "testcase": {"name", "classname"}, "failure": {"type", "message"}, "skipped": {"message"}, "system-out": set()}
    wrong = [(node.tag, node.attrib) for node in root.iter() if node.tag not in allowed or set(node.attrib) - allowed[node.tag]]
    tap.check(not wrong, "only elements and attributes that the usual schema of JUnit has", wrong)
    status, _ = gate(lode, folder, "--junit", "nowhere/gate.xml", "a1", "a2")
    tap.check(status == 2, "a file that cannot be written is trouble")
    gate(lode, folder, "--fail-unsure", *words)
    suite = ElementTree.parse(Path(folder, "gate.xml")).getroot().find("testsuite")
    tap.check(suite.get("skipped") == "0", "with --fail-unsure nothing is skipped", [suite.attrib])


def reported(tap, lode, folder):
    """A report is written for a gate that fails, too, and does not change the verdict."""
    plain = gate(lode, folder, "--max-exclusive", "norm=50%", "a1", "more")
    status, result = gate(lode, folder, "--max-exclusive", "norm=50%", "--report", "gate.html", "a1", "more")
    if status == 2 and " page" in str(result):
        tap.skip("--report writes a report", "the program has no page")
        return
    text = Path(folder, "gate.html").read_text(encoding="ascii")
    tap.check((status, result) == plain and status == 1, "--report does not change the verdict", [status])
    tap.check('data-target="compare/0/1?limit=200"' in text and "lode gate: " in text and "1 failed" in text, "the report compares both runs, and has the verdict")


def excluded(tap, lode, folder):
    """Functions that are not judged: by option, and by the file of limits. Totals keep them."""
    plain = gate(lode, folder, "--max-function", "10%", "a1", "more")
    by_option = gate(lode, folder, "--max-function", "10%", "--exclude", "norm", "a1", "more")
    Path(folder, "exclude.gate").write_text("max-function 10%\nexclude norm\n")
    by_file = gate(lode, folder, "--limits", "exclude.gate", "a1", "more")
    tap.check(plain[0] == 1 and any(row["name"] == "norm" for row in plain[1]["rows"]), "a function beyond the limit fails", [plain])
    for name, (status, answer) in (("--exclude", by_option), ("exclude in a file", by_file)):
        tap.check(status == 0 and all(row["name"] != "norm" for row in answer["rows"]), f"{name}: it is not judged", [status, answer])
    status, answer = gate(lode, folder, "--max-slower", "5%", "--exclude", "norm", "a1", "more")
    tap.check(status == 1, "--exclude: totals still have it", [status, answer])


def people(tap, lode, folder):
    def text(*words):
        return subprocess.run([lode, "gate", *words], cwd=folder, capture_output=True, text=True, timeout=SECONDS).stdout

    shown = text("a1", "more")
    tap.check(re.search(r"FAIL  calls of everything: 60\d -> 72\d \(\+19\.\d%\), limit 5%; exact\n", shown) and "matched by calls: 100.0% of base" in shown and
              "failed: " in shown, "one line a verdict, with numbers", [shown])
    tap.check("pass  calls of relax" not in shown and "pass  calls of relax" in text("-v", "a1", "more"), "--verbose shows all functions")
    shown = text("--metric", "time", "a1", "more")
    tap.check("run-to-run noise is not known" in shown and "significant" not in shown and "no change is visible" in shown, "one run a side is no test", [shown])
    shown = text("--metric", "time", "--base", "a1", "a2", "a3", "--new", "a4", "a5")
    tap.check("visible from" in shown and "tests together raise a false alarm in at most 5%" in shown, "several runs: the smallest visible change is printed", [shown])
    shown = text("a1", "a2")
    tap.check(re.search("not judged: (running|time): one run a side", shown) and not re.search("(running|time) of", shown), "what could not be judged is said", [shown])
    shown = text("--base", "a1", "a2", "a3", "--new", "a4", "a5")
    tap.check(re.search("(running|time) of everything", shown) and "calls of everything" in shown, "without options, time and counts are judged", [shown])
    shown = text("--markdown", "a1", "more")
    tap.check("| `fail` | `calls of everything` |" in shown and "failed: " in shown, "Markdown", [shown])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap = Tap()
    if missing():
        tap.skip("limits of a gate", missing())
        return tap.finish()
    lode = str(Path(options.lode).resolve())
    with tempfile.TemporaryDirectory() as folder:
        compile_program(folder)
        compile_program(folder, "-DMORE", name="more.program")
        for i in range(1, 6):
            record(folder, f"a{i}")
        record(folder, "more", program="more.program")
        Path(folder, "other.c").write_text("__attribute__((noinline)) void apart(void) { __asm__ volatile(\"\"); }\n"
                                           "__attribute__((constructor)) static void begin(void) { apart(); }\nint main(void) { return 0; }\n", encoding="utf-8")
        subprocess.run(["gcc", "-pg", "-o", "other.program", "other.c"], cwd=folder, check=True, timeout=SECONDS)
        record(folder, "other", program="other.program")
        exact_limits(tap, lode, folder)
        files_of_limits(tap, lode, folder)
        junit(tap, lode, folder)
        reported(tap, lode, folder)
        excluded(tap, lode, folder)
        people(tap, lode, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
