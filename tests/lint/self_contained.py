#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The files of the project name no machine, leave no work marked as open, and are clean text."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

C_SUFFIXES = {".c", ".h"}
SCRIPT_SUFFIXES = {".py", ".sh"}
MANY_LINES = 600
# Absolute paths only: src/home/... inside a database is not one. Nobody is called "user".
MACHINE_PATH = re.compile(r"(?<![\w.~*-])/(?:work|root|home(?!/user/))/")
OWN_MACHINE_PATH = re.compile(r"(?<![\w.~*-])/(?:work|root)/")
OPEN_WORK = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
# Recorded output and fuzzing seeds are data: they keep the bytes, and the home directories, of whoever measured.
DATA_FOLDERS = {"golden", "corpus"}
# The rest of tests/data are stores.
DATA_SOURCES = {"making", "programs"}


def project_files(root):
    """What belongs to the project, as git sees it; outside git, everything but build folders."""
    # The folder may belong to somebody else than who runs this.
    command = ["git", "-C", str(root), "-c", f"safe.directory={root}", "ls-files", "-z", "--cached", "--others",
               "--exclude-standard"]
    git = subprocess.run(command, capture_output=True, text=True) if shutil.which("git") else None
    if git and git.returncode == 0 and git.stdout:
        names = git.stdout.split("\0")
    else:
        names = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, files in os.walk(root) for name in files]
        names = [name for name in names if not re.match(r"(build[^/]*|\.git)/", name) and "__pycache__" not in name]
    return sorted(Path(name) for name in set(names) if name and (root / name).is_file())


class File:
    """One text file, and what kind of text it is."""

    def __init__(self, root, path):
        self.path = path
        content = (root / path).read_bytes()
        self.is_text = b"\0" not in content
        self.text = content.decode("utf-8", errors="replace") if self.is_text else ""
        self.lines = self.text.split("\n")
        self.is_c = path.suffix in C_SUFFIXES
        self.is_script = path.suffix in SCRIPT_SUFFIXES or self.text.startswith("#!")
        is_store = path.parts[:2] == ("tests", "data") and len(path.parts) > 3 and path.parts[2] not in DATA_SOURCES
        self.is_data = is_store or bool(DATA_FOLDERS & set(path.parts[:-1]))

    def matches(self, pattern, lines=None):
        return [f"{self.path}:{number}: {self.lines[number - 1].strip()[:100]}"
                for number, line in enumerate(lines or self.lines, 1) if pattern.search(line)]


def machine_paths(file):
    return file.matches(OWN_MACHINE_PATH if file.is_data else MACHINE_PATH)


def open_work(file):
    # Strings may hold such words: real databases describe themselves with one.
    return file.matches(OPEN_WORK, STRING.sub('""', file.text).split("\n")) if file.is_c else []


def trailing_space(file):
    return [] if file.is_data else file.matches(re.compile(r"[ \t\r]$"))


def tabs(file):
    return file.matches(re.compile(r"\t")) if file.is_c else []


def no_licence(file):
    wanted = (file.is_c or file.is_script) and not file.is_data
    return [str(file.path)] if wanted and not any("SPDX-License-Identifier: " in line for line in file.lines[:3]) else []


def no_last_newline(file):
    wanted = (file.is_c or file.is_script) and not file.is_data
    return [str(file.path)] if wanted and not file.text.endswith("\n") else []


RULES = [
    ("no path of a machine", machine_paths),
    ("no work marked as open in C sources", open_work),
    ("no trailing white space", trailing_space),
    ("no tabs in C sources", tabs),
    ("a licence line in every source and script", no_licence),
    ("a newline at the end of every source and script", no_last_newline),
]

BROKEN = {
    "no path of a machine": ("a.md", "see /ho" + "me/somebody/x\n"),
    "no work marked as open in C sources": ("a.c", "/* TO" + "DO */\n"),
    "no trailing white space": ("a.md", "text \n"),
    "no tabs in C sources": ("a.h", "\tint a;\n"),
    "a licence line in every source and script": ("run", "#!/bin/sh\n"),
    "a newline at the end of every source and script": ("a.py", "pass"),
}
SOUND = 'SPDX-License-Identifier: BSD-3-Clause\nputs("TO' + 'DO");\n'


def self_test(tap):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sound.c").write_text(SOUND, encoding="utf-8")
        sound = File(Path(folder), Path("sound.c"))
        for name, rule in RULES:
            path, text = BROKEN[name]
            (Path(folder) / path).write_text(text, encoding="utf-8")
            found = rule(File(Path(folder), Path(path)))
            tap.check(len(found) == 1 and not rule(sound), f"self-test: finds what breaks: {name}", found + rule(sound))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args()
    tap = Tap()
    self_test(tap)
    files = [File(options.root, path) for path in project_files(options.root)]
    files = [file for file in files if file.is_text]
    for name, rule in RULES:
        details = [detail for file in files for detail in rule(file)]
        tap.check(bool(files) and not details, f"{len(files)} files: {name}", details[:50])
    for file in files:
        if (file.is_c or file.is_script) and len(file.lines) > MANY_LINES:
            tap.note(f"{file.path} has {len(file.lines) - 1} lines, more than {MANY_LINES}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
