#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
README.md has the commands in the groups and in the order of src/cli/commands.def, and so has what `lode help` prints. `--write`
writes the tables of README.md anew; a command that has no row gets one with the summary of its help.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402


def groups(text, title, command):
    """Pairs of a title and its commands, by the patterns of both."""
    found = []
    for line in text.splitlines():
        if match := re.fullmatch(title, line):
            found.append((match[1], []))
        elif (match := re.match(command, line)) and found:
            found[-1][1].append(match[1])
    return [group for group in found if group[1]]


def write(table):
    readme = ROOT / "README.md"
    head, title, rest = readme.read_text(encoding="utf-8").partition("\n## All commands\n")
    end = rest.index("\nEvery answer ")
    known = dict(re.findall(r"^\| `lode (\w+)` \| (.*) \|$", rest[:end], re.MULTILINE))
    text = ""
    for group, names in table[:-1]:
        text += f"\n### {group}\n\n| command | answers |\n|---|---|\n"
        for name in names:
            summary = (ROOT / "src/cli/help" / f"{name}.txt").read_text(encoding="utf-8").splitlines()[0].partition(": ")[2]
            text += f"| `lode {name}` | {known.get(name, summary)} |\n"
    readme.write_text(head + title + text + rest[end:], encoding="utf-8")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    tap = Tap()
    table = groups((ROOT / "src/cli/commands.def").read_text(encoding="utf-8"), r'COMMAND_GROUP\("(.*)"\)', r"COMMAND\((\w+)\)$")
    if options.write:
        return write(table)
    tap.check(len(table) > 3 and sum(len(names) for _, names in table) > 20, "the table has groups and commands", table)
    page = subprocess.run([options.lode, "help"], capture_output=True, text=True, check=True).stdout
    shown = groups(page, r"([A-Z][a-z]+(?: [a-z]+)*)", r"  ([a-z]+)  ")
    tap.check(shown == table, "'lode help' has the groups of the table", [shown, table])
    readme = groups((ROOT / "README.md").read_text(encoding="utf-8"), r"### (.*)", r"\| `lode (\w+)` \|")
    tap.check(readme == table[:-1], "README.md has them too, but for help", [readme, table])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
