#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode tui` on a real terminal: presses keys, and compares every number on the screen with the JSON of the command that the
last line of the screen names. Then: search, sort, metrics, resizing, hostile names, ends by q, Ctrl-C and SIGTERM.

Usage: views.py --lode PROGRAM [MAKER]; by hand, random keys on stores with hostile names only: --steps 2000 --seed N.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import cli  # noqa: E402

import hostile  # noqa: E402

try:
    from emulator import Late, Terminal
except ImportError:
    Terminal = None

DATABASES = ("made-small", "made-loops-cputime-t-mpi3ranks", "viewer-issue-233", "hatchet-saxpy-mpi-cuda-database", "viewer-derived-metrics.db")
RECORDINGS = ("mt", "exc", "forkexec")
STORES = ("first", "master")
SCALES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60, "h": 3600}
AMOUNT = re.compile(r"^(-?[\d,]+(?:\.(\d+))?)(?:e([+-]?\d+))?\s?([A-Za-zµ]*)$")


def is_shown(text, value, unit=1):
    """Whether a text is a number as people see it: rounded to the digits that it has. `unit` of the value in seconds, or 1."""
    match = AMOUNT.match(text.strip())
    if not match or match.group(4) not in SCALES:
        return False
    scale = SCALES[match.group(4)] * 10 ** int(match.group(3) or 0)
    number = float(match.group(1).replace(",", "")) * scale
    return abs(number - value * unit) <= 0.51 * scale * 10 ** -len(match.group(2) or "")


def is_percent(text, value):
    if value is None:
        return text.strip() == ""
    return text.strip().endswith("%") and (abs(float(text.strip()[:-1]) - value) <= 0.051 or value < 0.1)


def cells(line, widths):
    """The columns of a row, and the rest."""
    found = []
    for width in widths:
        found.append(line[:width].strip())
        line = line[width + 1:]
    return found, line


class Tui(cli.Cli):
    def __init__(self, lode, maker, steps, seed):
        super().__init__(lode)
        self.maker, self.steps, self.seed = maker, steps, seed
        self.terminal = None

    def start(self, store, cwd, *options, **changes):
        self.stop()
        self.terminal = Terminal([self.lode, "tui", store, *options], cwd=cwd, **changes)
        self.cwd = cwd
        if changes.get("TERM") != "dumb":
            self.terminal.wait(lambda lines: "lode " in lines[-1], "the first screen")
        return self.terminal

    def stop(self):
        if self.terminal:
            self.terminal.close()
        self.terminal = None

    def json(self, *arguments):
        done = subprocess.run([self.lode, *map(str, arguments), "--json"], cwd=self.cwd, capture_output=True, check=False)
        return json.loads(done.stdout)

    def rows(self, top=3):
        return [line for line in self.terminal.lines()[top:-2]]

    def attempt(self, name, check, *arguments):
        try:
            problems = check(*arguments)
        except Late as late:
            problems = [str(late)]
        self.check(not problems, name, problems or [])


def unit_of(metric):
    return 1 if "(sec)" in metric else 1


def footer(program):
    """The words of the command that the last line names, after "lode"; the whole of it is what c shows."""
    terminal = program.terminal
    terminal.press("c")
    terminal.wait(lambda lines: lines[2].startswith("  lode "), "the whole command")
    lines = terminal.lines()[2:-2]
    terminal.press("c")
    terminal.wait(lambda lines: not lines[2].startswith("  lode "), "the view again")
    text = "\n".join(line.strip() for line in lines if line.strip())
    done = subprocess.run(["bash", "-c", text.replace("lode ", "printf '%s\\0' ", 1)], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


# ---- numbers ----

def functions(program, store, is_recording):
    terminal = program.terminal
    terminal.press("2")
    lines = terminal.wait(lambda lines: " functions by " in lines[1] and "lode top" in lines[-1], "Functions")
    answer = program.json("top", store, "--limit", 0)
    problems = []
    rows = [line for line in program.rows() if line.strip()]
    if len(rows) != min(len(answer["rows"]), 35):
        problems.append(f"{len(rows)} rows of {len(answer['rows'])}")
    for line, row in zip(rows, answer["rows"]):
        found, name = cells(line, (14, 7, 14, 11) if is_recording else (14, 7, 14, 7))
        if is_recording:
            good = is_shown(found[0], row["self_ns"], 1e-9) and is_percent(found[1], row["self_percent"]) \
                and is_shown(found[2], row["total_ns"], 1e-9) and is_shown(found[3], row["calls"])
        else:
            good = is_shown(found[0], row["exclusive"]) and is_percent(found[1], row["exclusive_percent"]) \
                and is_shown(found[2], row["inclusive"]) and is_percent(found[3], row["inclusive_percent"])
        if not good or not is_name(name, row["name"]):
            problems.append(f"{line!r} is not {row}")
    if "lode top" not in lines[-1]:
        problems.append(lines[-1])
    return problems


def is_name(shown, name):
    """As it is, or cut in the middle."""
    head, mark, tail = shown.partition("…")
    return shown == name or (bool(mark) and name.startswith(head) and name.endswith(tail))


def tree(program, store, is_recording, is_inverted):
    terminal = program.terminal
    terminal.press("3")
    if is_inverted:
        terminal.press("i")
    word = "callers of functions" if is_inverted else "call tree;"
    terminal.wait(lambda lines: word in lines[1], "Tree")
    terminal.press("home", "E")
    terminal.press("down", "h", "home")
    lines = terminal.wait(lambda lines: word in lines[1], "Tree")
    answer = program.json("tree", store, "--min-percent", 0, "--limit", 0, *(["--bottom-up"] if is_inverted else []))
    paths, stack, problems = {}, [], []
    for row in answer["rows"]:
        stack[row["depth"]:] = [row["name"]]
        paths.setdefault(tuple(stack), []).append(row)
    shown = []
    compared = 0
    for line in [line for line in program.rows() if line.strip()]:
        found, rest = cells(line, (7, 14, 7, 10) if is_recording else (7, 14, 7))
        match = re.match(r"^( *)(▾ |▸ |  )(.*)$", rest)
        if not match:
            problems.append(f"no row: {line!r}")
            continue
        depth, name = len(match.group(1)) // 2, match.group(3)
        if name.startswith("(") and name.endswith("more below 1 %)"):
            continue
        # Blanks before a name can be the mark of a row that cannot be opened.
        candidates = [row for key, rows in paths.items() for row in rows
                      if len(key) == depth + 1 and is_name(name, key[-1]) and (not depth or depth > 19 or list(key[:-1]) == shown[:depth])]
        if depth <= 19:
            shown[depth:] = [next((row["name"] for row in candidates), name)]
        good = [row for row in candidates if is_shown(found[1], row["total_ns" if is_recording else "inclusive"], 1e-9 if is_recording else 1)
                and is_percent(found[0], row["total_percent" if is_recording else "inclusive_percent"])
                and is_percent(found[2], row["self_percent" if is_recording else "exclusive_percent"])
                and (not is_recording or is_inverted or is_shown(found[3], row["calls"]))]
        compared += 1
        if not good:
            problems.append(f"{line!r} is none of {candidates}")
    if compared < 2 and len(answer["rows"]) > 1:
        problems.append("only a few rows: " + "\n".join(lines))
    if is_inverted:
        terminal.press("i")
    return problems


def profiles(program, store, is_recording):
    terminal = program.terminal
    terminal.press("6")
    terminal.wait(lambda lines: " by " in lines[1] and "imbalance" in lines[1] and "lode profiles" in lines[-1], "Profiles")
    answer = program.json("profiles", store, "--limit", 0)
    rows = [line for line in program.rows() if line.strip()]
    problems = []
    if len(rows) != min(len(answer["rows"]), 35):
        problems.append(f"{len(rows)} rows of {len(answer['rows'])}")
    for line, row in zip(rows, answer["rows"]):
        found, name = cells(line, (14, 10, 11) if is_recording else (14, 10, 12))
        if is_recording:
            good = is_shown(found[0], row["total_ns"], 1e-9) and is_shown(found[2], row["calls"]) and str(row["tid"]) == name.split()[0]
        else:
            good = is_shown(found[0], row["value"]) and is_percent(found[1], row["percent_of_mean"]) and name == row["name"]
        if not good:
            problems.append(f"{line!r} is not {row}")
    return problems


def timeline(program, store, is_recording):
    terminal = program.terminal
    terminal.press("5")
    lines = terminal.wait(lambda lines: ("shares of the lines shown" in lines[1] and "lode trace" in lines[-1]) or "no Time" in lines[-2], "Time")
    if "no Time" in lines[-2]:
        return []
    if int(re.search(r"([\d,]+) lines;", lines[1]).group(1).replace(",", "")) > 23:
        return []
    answer = program.json(*footer(program), "--limit", 0, "--rows", 0, "--columns", 134)
    shares = [line for line in lines[-15:-2] if re.match(r"^\S +[\d.<]+% ", line)]
    problems = [] if shares else ["no shares"]
    # Where threads idle there are strokes, in the picture and in the table.
    idle = {row["letter"] for row in answer["rows"] if row["kind"] == "idle"}
    pictures = ["".join("╱" if cell in idle else cell for cell in row["cells"]).rstrip() for row in answer["timeline"]]
    for line in lines[3:3 + len(pictures)]:
        if line[25:] not in pictures:
            problems.append(f"{line!r}: no line of the command looks like this")
    for line, row in zip(shares, answer["rows"]):
        found = re.match(r"^(\S) +([\d.<]+%) +(\S+ \S+|0)  +(.*)$", line)
        if not found or not is_shown(found.group(3), row["nanoseconds"], 1e-9) or not is_percent(found.group(2), row["percent"]) \
                or (found.group(1) == "╱") != (row["kind"] == "idle"):
            problems.append(f"{line!r} is not {row}")
    return problems


def lines_of_a_command(program, store, key, word):
    """Diagnosis and Findings are what their commands print, on every page of them."""
    terminal = program.terminal
    terminal.press(key)
    terminal.wait(lambda lines: f"lode {word}" in lines[-1], word)
    words = footer(program)
    problems = [] if words[0] == word and words[1] == store else [words]
    printed = subprocess.run([program.lode, *words], cwd=program.cwd, capture_output=True, check=False).stdout.decode().rstrip("\n").split("\n")
    terminal.press("g")
    first = terminal.wait(lambda lines: lines[3][:150] == printed[0][:150], "the first line of " + word)[3:-2]
    for line, expected in zip(first, printed):
        if not (line.rstrip() == expected.rstrip() or is_name(line.strip(), expected.strip())):
            problems.append(f"{line!r} is not {expected!r}")
    terminal.press("G")
    last = terminal.wait(lambda lines: any(is_name(line.rstrip(), printed[-1].rstrip()) for line in lines[3:-2]), "the last line of " + word)
    return problems + ([] if len(printed) > 1 else [printed, last])


def flame(program, store, is_recording, is_inverted):
    """Every box that has room for its name is where the command says; the numbers of the first ones are its numbers."""
    terminal = program.terminal
    terminal.press("4", *(["i"] if is_inverted else []))
    terminal.wait(lambda lines: lines[1].startswith("flame graph") and ("callers" in lines[1]) == is_inverted and "lode flame" in lines[-1], "Flame")
    answer = program.json(*[word for word in footer(program) if word != "--json"])
    problems = []
    columns = terminal.screen.columns
    lines = terminal.lines()
    for box in answer["boxes"]:
        row, first, last = box["level"] + 3, round(box["x"] * columns), round((box["x"] + box["width"]) * columns)
        if row >= len(lines) - 2 or abs(box["x"] * columns % 1 - 0.5) < 1e-6 or abs((box["x"] + box["width"]) * columns % 1 - 0.5) < 1e-6:
            continue
        text = lines[row].ljust(columns)[first:last]
        name = box["name"] if box["name"] is not None else f"({box['more']:,} narrow box{'es' if box['more'] != 1 else ''})"
        shown = text[1:].rstrip(" ╱")
        if text[0] != "▏" or (last - first > 8 and name.isascii() and shown != name.rstrip(" ") and not is_name(shown, name)):
            problems.append(f"{text!r} is not {box}")
    scale = 1e-9 if is_recording else 1
    for step, box in enumerate([found for found in answer["boxes"] if found["level"] == 0][:5]):
        line = terminal.lines()[-2]
        found = re.match(r"^(\S+%), (\S+(?: \S+)?) inclusive(?:, (\S+(?: \S+)?) exclusive)?: ", line)
        if not found or not is_percent(found.group(1), box["inclusive_percent"]) or not is_shown(found.group(2), box["inclusive"], scale) \
                or (box["exclusive"] is not None and not is_shown(found.group(3), box["exclusive"], scale)):
            problems.append(f"{line!r} is not {box}")
        if step + 1 < sum(found["level"] == 0 for found in answer["boxes"][:6]):
            terminal.press("right")
            terminal.wait(lambda lines: lines[-2] != line, "the next box")
    terminal.press("0", *(["i"] if is_inverted else []))
    return problems


def requests(program, store):
    terminal = program.terminal
    terminal.press("7")
    terminal.wait(lambda lines: " requests by duration" in lines[1] and "lode search" in lines[-1], "Requests")
    answer = program.json("search", store, "--sort", "duration", "--limit", 0)
    rows = [line for line in program.rows() if line.strip()]
    problems = [] if len(rows) == min(len(answer["rows"]), 35) else [f"{len(rows)} rows of {len(answer['rows'])}"]
    for line, row in zip(rows, answer["rows"]):
        found, _ = cells(line, (9, 12, 12, 9, 7))
        if int(found[0]) != row["number"] or not is_shown(found[2], row["duration_ns"], 1e-9) or not is_shown(found[3], row["calls"]) \
                or not is_shown(found[4], row["errors"]):
            problems.append(f"{line!r} is not {row}")
    return problems


def numbers_are_those_of_the_commands(program):
    for folder, names, is_recording in ((program.databases(), DATABASES, False),
                                        (program.recordings(), [f"{name}/uftrace.data" for name in RECORDINGS], True),
                                        (program.stores(), STORES, True)):
        for store in names:
            program.start(store, folder)
            has_requests = store in STORES
            program.attempt(f"{store}: Functions", functions, program, store, is_recording)
            program.attempt(f"{store}: Tree", tree, program, store, is_recording, False)
            program.attempt(f"{store}: Tree by callers", tree, program, store, is_recording, True)
            program.attempt(f"{store}: Flame", flame, program, store, is_recording, False)
            program.attempt(f"{store}: Flame of callers", flame, program, store, is_recording, True)
            program.attempt(f"{store}: Diagnosis", lines_of_a_command, program, store, "1", "diagnose")
            program.attempt(f"{store}: Findings", lines_of_a_command, program, store, "9", "check")
            if not has_requests:
                program.attempt(f"{store}: Profiles", profiles, program, store, is_recording)
                program.attempt(f"{store}: Time", timeline, program, store, is_recording)
            else:
                program.attempt(f"{store}: Requests", requests, program, store)


# ---- keys ----

def cursor_row(terminal):
    """The row that is shown in reverse."""
    for number in range(3, terminal.screen.lines - 2):
        if terminal.screen.buffer[number][0].reverse or terminal.screen.buffer[number][5].reverse:
            return terminal.screen.display[number].rstrip()
    return ""


def search_finds(program):
    terminal = program.start("viewer-issue-233", program.databases())
    terminal.wait(lambda lines: "functions by exclusive" in lines[1])
    several, deep = cli.corpora.either(("ForElems", "PMPI_Wait"), ("_omp_fn", "MPI_Waitall"))
    terminal.press("/", *several, "enter")
    terminal.wait(lambda _: several in cursor_row(terminal), "a row with the text")
    first = cursor_row(terminal)
    terminal.press("n")
    terminal.wait(lambda _: several in cursor_row(terminal) and cursor_row(terminal) != first, "another row")
    terminal.press("N")
    terminal.wait(lambda _: cursor_row(terminal) == first, "the first row again")
    terminal.press("3", "/", *deep, "enter")
    terminal.wait(lambda lines: "call tree;" in lines[1] and deep in cursor_row(terminal), "a row deep in the tree")
    terminal.press("/", *"no such name", "enter")
    terminal.wait(lambda lines: "nothing here matches" in lines[-2], "a message")
    return []


def sort_metric_and_selection(program):
    terminal = program.start("hatchet-saxpy-mpi-cuda-database", program.databases())
    first = terminal.wait(lambda lines: "functions by exclusive" in lines[1])[1]
    terminal.press("s")
    terminal.wait(lambda lines: "functions by inclusive" in lines[1])
    terminal.press("s")
    terminal.wait(lambda lines: "functions by name" in lines[1])
    names = [cells(line, (14, 7, 14, 7))[1] for line in program.rows() if line.strip()]
    answer = program.json("top", "hatchet-saxpy-mpi-cuda-database", "--sort", "name", "--limit", 0)
    problems = [] if all(is_name(*pair) for pair in zip(names, [row["name"] for row in answer["rows"]])) else [names]
    terminal.press("m")
    lines = terminal.wait(lambda lines: "functions by name" in lines[1] and lines[1] != first, "another metric")
    metric = footer(program)[footer(program).index("-m") + 1]
    total = program.json("top", "hatchet-saxpy-mpi-cuda-database", "-m", metric)["total"]
    shown = re.search(r"total (\S+(?: (?!of)\S+)?) of ", lines[1]).group(1)
    problems += [] if is_shown(shown, total) else [f"{shown} is not {total}"]
    terminal.press("M", "6", "enter")
    lines = terminal.wait(lambda lines: "only " in lines[-2], "a profile is selected")
    terminal.press("2")
    lines = terminal.wait(lambda lines: "functions by name" in lines[1] and " -p profile=" in lines[-1], "functions of a profile")
    words = footer(program)
    options = [words[words.index(option) + 1] for option in ("-m", "-p")]
    total = program.json("top", "hatchet-saxpy-mpi-cuda-database", "-m", options[0], "-p", options[1])["total"]
    shown = re.search(r"total (\S+(?: (?!of)\S+)?) of ", lines[1]).group(1)
    problems += [] if is_shown(shown, total) else [f"{shown} is not {total}"]
    terminal.press("backspace")
    terminal.wait(lambda lines: " -p " not in lines[-1], "everything is selected")
    return problems


def zoom_changes_the_window(program):
    terminal = program.start("viewer-issue-233", program.databases(), rows=160)
    terminal.press("5")
    terminal.wait(lambda lines: "shares of the lines shown" in lines[1])
    before = terminal.lines()[1]
    terminal.press("w", "w", "d", "]")
    terminal.wait(lambda lines: lines[1] != before and "call depth 1" in lines[1] and " -d 1" in lines[-1], "a time window")
    lines = terminal.lines()
    answer = program.json(*footer(program), "--limit", 0, "--rows", 0, "--columns", 134)
    problems = []
    shares = [line for line in lines[-15:-2] if re.match(r"^\S +[\d.<]+% ", line)]
    for line, row in zip(shares, answer["rows"]):
        found = re.match(r"^(\S) +([\d.<]+%) +(\S+ \S+|0)  +(.*)$", line)
        if not found or not is_shown(found.group(3), row["nanoseconds"], 1e-9):
            problems.append(f"{line!r} is not {row}")
    terminal.press("0", "[")
    terminal.wait(lambda lines: lines[1] == before, "all of it again")
    return problems if shares else ["no shares", *lines]


def every_key_of_the_tabs_shows_its_page(program):
    """Every digit on every kind of store: its page, or why there is none."""
    problems = []
    pages = {"1": "lode diagnose", "2": "lode top", "3": "lode tree", "4": "lode flame", "5": "lode trace", "6": "lode profiles", "7": "lode search", "9": "lode check"}
    for store, folder in (("made-small", program.databases()), ("exc/uftrace.data", program.recordings()), ("master", program.stores())):
        terminal = program.start(store, folder, columns=160)
        tabs = {found[0]: found[1] for found in re.findall(r" (\d) (\w+) ", terminal.lines()[0])}
        for key, word in pages.items():
            terminal.press(key)
            if key in tabs:
                terminal.wait(lambda lines: f"{word} {store}" in lines[-1], f"{store}: {key} {tabs[key]}")
                done = subprocess.run([program.lode, *footer(program)], cwd=folder, capture_output=True, check=False)
                problems += [] if done.returncode in (0, 1) and done.stdout else [f"{store}: {footer(program)} is no command: {done.stderr}"]
            else:
                terminal.wait(lambda lines: "this store has no" in lines[-2], f"{store}: {key}")
        problems += [] if {"1", "2", "3", "4", "9"} <= set(tabs) else [f"{store}: {tabs}"]
    return problems


def a_flame_graph_is_zoomed(program):
    terminal = program.start("viewer-issue-233", program.databases())
    terminal.press("4", "down", "down")
    terminal.wait(lambda lines: "inclusive" in lines[-2])
    whole, share = terminal.lines(), terminal.lines()[-2].split(",")[0]
    terminal.press("enter")
    terminal.wait(lambda lines: f"the width is {share}" in lines[1] and lines[-2].startswith(share), "one box as wide as the screen")
    words = footer(program)
    answer = program.json(*[word for word in words if word != "--json"])
    problems = [] if str(answer["root"]) == words[words.index("--root") + 1] and answer["boxes"][0]["width"] == 1 else [answer["boxes"][:1]]
    terminal.press("0")
    terminal.wait(lambda lines: lines[1] == whole[1] and lines[3:-2] == whole[3:-2], "all of it again")
    return problems


def names_of_stores_can_be_typed_back(program):
    with tempfile.TemporaryDirectory() as folder:
        name = "-it's a $(store)"
        shutil.copytree(Path(program.databases()) / "made-small", Path(folder) / name)
        terminal = program.start(f"./{name}", folder)
        words = footer(program)
        rows = len([line for line in program.rows() if line.strip()])
        return [] if words[1] == f"./{name}" and len(program.json(*words)["rows"]) == rows else [words]


def help_lists_the_keys(program):
    terminal = program.start("made-small", program.databases(), columns=80, rows=24)
    terminal.wait(lambda lines: "functions by" in lines[1])
    terminal.press("?")
    terminal.wait(lambda lines: any("open the hot path" in line for line in lines))
    terminal.press("x")
    terminal.wait(lambda lines: not any("open the hot path" in line for line in lines))
    return []


def resizing_draws_again(program):
    terminal = program.start("viewer-issue-233", program.databases(), columns=80, rows=24)
    terminal.wait(lambda lines: "functions by" in lines[1])
    terminal.resize(200, 50)
    rows = min(45, len(program.json("top", "viewer-issue-233", "--limit", 0)["rows"]))
    terminal.wait(lambda lines: len([line for line in lines[3:-2] if line.strip()]) == rows and "lode top" in lines[-1], "more rows")
    for columns, rows in ((20, 6), (1, 1), (300, 3), (80, 24)):
        terminal.resize(columns, rows)
        for key in ("3", "5", "6", "2", "down"):
            terminal.press(key)
    terminal.wait(lambda lines: "functions by" in lines[1] and "lode top" in lines[-1], "the first size again")
    return []


# ---- ends ----

def ends_leave_the_terminal_as_it_was(program):
    problems = []
    for what, expected in (("q", 0), ("interrupt", -signal.SIGINT), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP)):
        terminal = program.start("made-small", program.databases())
        terminal.wait(lambda lines: "functions by" in lines[1])
        if isinstance(what, str):
            terminal.press(what)
        else:
            os.kill(terminal.pid, what)
        status = terminal.wait_end()
        if status != expected or not terminal.is_restored():
            problems.append(f"{what}: status {status}, restored {terminal.is_restored()}, {terminal.raw[-60:]!r}")
    return problems


def colours_are_left_out_if_not_wanted(program):
    problems = []
    for changes, has_color in (({"NO_COLOR": "1"}, False), ({"NO_COLOR": None}, True), ({"TERM": "vt100", "NO_COLOR": None}, False),
                               ({"TERM": "xterm", "NO_COLOR": None}, True)):
        terminal = program.start("viewer-issue-233", program.databases(), **changes)
        terminal.press("5")
        terminal.wait(lambda lines: "shares of the lines shown" in lines[1])
        found = re.search(rb"\x1b\[(?:\d+;)*3[1-8](?:;\d+)*m", terminal.raw) is not None
        if found != has_color:
            problems.append(f"{changes}: {found}")
    return problems


def ascii_terminals_get_ascii(program):
    terminal = program.start("viewer-issue-233", program.databases(), LANG="C", LC_ALL="POSIX", TERM="vt100")
    terminal.press("3", "h")
    terminal.wait(lambda lines: any("- " in line for line in lines[3:]) and "call tree" in lines[1])
    terminal.press("6")
    terminal.wait(lambda lines: "imbalance" in lines[1])
    return [] if all(byte < 128 for byte in terminal.raw) else ["bytes beyond ASCII"]


def what_is_no_terminal_is_refused(program):
    problems = []
    done = subprocess.run([program.lode, "tui", "made-small"], cwd=program.databases(), capture_output=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 2 or b"must be a terminal" not in done.stderr or done.stdout:
        problems.append(done)
    terminal = program.start("made-small", program.databases(), TERM="dumb")
    if terminal.wait_end() != 2 or b"cannot use a terminal of type 'dumb'" not in terminal.raw:
        problems.append(terminal.raw)
    done = subprocess.run([program.lode, "tui", "made-small"], cwd=program.databases(), capture_output=True, stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, "LODE_PLUGINS": "/nonexistent"})
    if done.returncode != 2 or b"the plug-in for terminals is not installed" not in done.stderr:
        problems.append(done)
    return problems


CHECKS = (every_key_of_the_tabs_shows_its_page, a_flame_graph_is_zoomed, names_of_stores_can_be_typed_back, search_finds, sort_metric_and_selection, zoom_changes_the_window, help_lists_the_keys, resizing_draws_again,
          ends_leave_the_terminal_as_it_was, colours_are_left_out_if_not_wanted, ascii_terminals_get_ascii,
          what_is_no_terminal_is_refused, hostile.any_keys_do_no_harm)
# These need no corpus.
FIRST = (hostile.names_cannot_command_the_terminal, hostile.text_cannot_command_the_terminal)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("maker", nargs="?")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = Tui(options.lode, [str(Path(options.maker).resolve())] if options.maker else [], options.steps or 20, options.seed)
    try:
        if Terminal is None:
            program.skip("lode tui", "there is no pyte (Debian: python3-pyte)")
            return program.finish()
        for check in FIRST if options.maker else ():
            program.attempt(check.__name__.replace("_", " "), check, program)
        if options.steps:
            return program.finish()
        numbers_are_those_of_the_commands(program)
        for check in CHECKS:
            program.attempt(check.__name__.replace("_", " "), check, program)
    except cli.MissingCorpus:
        program.skip("lode tui on real stores", "there is no corpus")
    finally:
        program.stop()
    return program.finish()


if __name__ == "__main__":
    sys.exit(main())
