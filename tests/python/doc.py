#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""doc/python.md: what its examples print is what they print (--write refreshes the document). The tutorial notebook runs to its end."""

import contextlib
import doctest
import html
import io
import json
import os
import re
import subprocess
import sys

import support

DOCUMENT = support.ROOT / "doc" / "python.md"
NOTEBOOK = support.ROOT / "doc" / "python.ipynb"
BLOCK = re.compile(r"(?<=```pycon\n).*?(?=```)", re.S)


def run(text, names):
    """The text with the output that its examples have."""
    parser, lines = doctest.DocTestParser(), []
    for piece in parser.parse(text):
        if isinstance(piece, str):
            lines.append(piece)
            continue
        source = piece.source.splitlines()
        lines.append("".join(f"{'... ' if number else '>>> '}{line}".rstrip() + "\n" for number, line in enumerate(source)))
        output = io.StringIO()
        previous, sys.displayhook = sys.displayhook, lambda value: print(repr(value)) if value is not None else None
        try:
            with contextlib.redirect_stdout(output):
                exec(compile(piece.source, "<python.md>", "single"), names)  # pylint: disable=exec-used
        except Exception as error:  # pylint: disable=broad-except
            output.write(f"Traceback (most recent call last):\n    ...\n{type(error).__module__}.{type(error).__name__}: {error}\n")
        finally:
            sys.displayhook = previous
        lines += [line.rstrip() + "\n" for line in output.getvalue().splitlines()]
    return "".join(lines)


def test_document(tests):
    if not support.numpy:
        tests.tap.skip("doc/python.md", "there is no numpy")
        return
    os.chdir(tests.folder)
    text, names = DOCUMENT.read_text(encoding="utf-8"), {}
    written = BLOCK.sub(lambda match: run(match[0], names), text)
    names.clear()
    os.chdir("/")
    if tests.options.write:
        DOCUMENT.write_text(written, encoding="utf-8")
    old, new = text.splitlines(), written.splitlines()
    tests.check(new == old or tests.options.write, "doc/python.md prints what it says", [line for line in new if line not in old][:20])


def test_notebook(tests):
    """Executed by nbconvert; no cell fails, and tables, trees, flame graphs and timelines are among the outputs."""
    if subprocess.run([sys.executable, "-c", "import nbconvert, ipykernel"], capture_output=True, check=False).returncode:
        tests.tap.skip("doc/python.ipynb", "there is no nbconvert")
        return
    kernels = tests.folder / "jupyter" / "kernels" / "python3"
    kernels.mkdir(parents=True)
    (kernels / "kernel.json").write_text(json.dumps({"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                                                     "display_name": "Python 3", "language": "python"}), encoding="utf-8")
    (tests.folder / "python.ipynb").write_bytes(NOTEBOOK.read_bytes())
    result = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb", "python.ipynb"],
                            cwd=tests.folder, capture_output=True, text=True, check=False,
                            env=support.environment(JUPYTER_PATH=str(tests.folder / "jupyter"), HOME=str(tests.folder)))
    if not tests.check(result.returncode == 0, "the notebook runs to its end", [result.stderr[-3000:]]):
        return
    cells = [cell for cell in json.loads((tests.folder / "done.ipynb").read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    page = "".join("".join(output.get("data", {}).get("text/html", "")) for cell in cells for output in cell["outputs"])
    tests.check(all(cell["outputs"] for cell in cells[1:]), "every cell but the first shows something", [cell["source"] for cell in cells[1:] if not cell["outputs"]])
    for word in ("<table>", "<details", "<svg", "data:image/png", "spmv"):
        tests.check(word in page, f"it shows {word}")
    tests.check("<script" not in page, "and no script")
    check_numbers(tests, {"".join(cell["source"]).splitlines()[-1]: "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
                          for cell in cells})


SCALES = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def is_near(text, seconds):
    """Whether 12.345 ms is a rounded number of seconds."""
    number, unit = text.split()
    return abs(float(number) - seconds / SCALES[unit]) <= 0.000501


def rows_of(page):
    """The cells of a table, without tags."""
    return [[html.unescape(re.sub("<.*?>", "", cell)) for cell in re.findall("<td.*?</td>", row)] for row in re.findall("<tr>.*?</tr>", page)[1:]]


def check_numbers(tests, pages):
    """What the notebook shows is what the program says, rounded."""
    demo = tests.folder / "demo"
    rows = tests.ask("top", demo / "solver", "--limit", 10)["rows"]
    mine = rows_of(pages["db.top()"])
    wrong = [f"{cells[:4]}, not {row}" for cells, row in zip(mine, rows)
             if cells[0] != row["name"] or not is_near(cells[1], row["exclusive"]) or not is_near(cells[3], row["inclusive"])]
    tests.check(len(mine) == len(rows) == 10 and not wrong, "its functions are those of lode top", wrong[:5])
    rows = tests.ask("tree", demo / "solver", "--min-percent", 5, "--limit", 0)["rows"]
    mine = re.findall("([0-9.]+)% ([0-9.]+ [mun]?s) <b>(.*?)</b>", pages["db.tree(min_share=0.05)"])
    wrong = [f"{line}, not {row}" for line, row in zip(mine, rows)
             if html.unescape(line[2]) != row["name"] or not is_near(line[1], row["inclusive"]) or abs(float(line[0]) - row["inclusive_percent"]) > 0.0501]
    tests.check(len(mine) == len(rows) > 5 and not wrong, "its tree is that of lode tree", wrong[:5])
    rows = tests.ask("top", demo / "thumbs", "--limit", 10)["rows"]
    mine = rows_of(pages['recording.calls(sort="self")'])
    wrong = [f"{cells}, not {row}" for cells, row in zip(mine, rows) if cells[:2] != [row["name"], str(row["calls"])] or not all(
        is_near(cell, row[key] / 1e9) for cell, key in zip(cells[2:10], ("total_ns", "self_ns", "mean_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns")))]
    tests.check(len(mine) == len(rows) == 10 and not wrong, "its calls are those of lode top", wrong[:5])


if __name__ == "__main__":
    support.Tests(write="").finish([test_document, test_notebook])
