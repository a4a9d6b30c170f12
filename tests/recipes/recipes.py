#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The recipes of CONTRIBUTING.md work. All are applied to a copy of the tree, which is built; then each is used, its files are those that
CONTRIBUTING.md lists, and the tests of lint and doc that look at such files pass.

    recipes.py --build BUILD [--keep FOLDER]

BUILD is configured already: the copy gets its options, so that ccache has most of its objects. The folders beside this file
have what a recipe adds, at the place where it is added.
"""

import argparse
import configparser
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

TARGETS = ("src/cli/lode", "src/liblode.a", "tests/hostile/test_folded")
RULE_TEXT = """### {rule}

Severity: {severity}. Level: structure.

- Meaning: {meaning}
- Usual cause: none, this is an example.
- What to do: nothing.

"""


class Recipe:
    """`adds` is a folder here, `lines` are put before or after a line of a file, `scripts` write documents."""

    def __init__(self, title, name, adds=None, lines=(), scripts=(), use=None):
        self.title, self.name, self.adds, self.lines, self.scripts, self.use = title, name, adds, lines, scripts, use
        self.changed = set()

    def apply(self, copy):
        if self.adds:
            for path in sorted((HERE / self.adds).rglob("*")):
                if path.is_file():
                    target = copy / path.relative_to(HERE / self.adds)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target)
        for where, line, text in self.lines:
            path = copy / where
            before = path.read_text(encoding="utf-8")
            if before.count(line) != 1:
                raise SystemExit(f"{where}: not one line {line!r}")
            path.write_text(before.replace(line, text + line), encoding="utf-8")


def lode(copy, *words, status=0):
    done = subprocess.run([copy / "build/src/cli/lode", *map(str, words)], capture_output=True, text=True, cwd=copy / "scratch", check=False)
    if done.returncode != status:
        raise AssertionError(f"lode {' '.join(map(str, words))}: {done.returncode}: {done.stderr}")
    return done.stdout


def use_input(copy):
    (copy / "scratch" / "x.tally").write_text("main 3\nwork 39\nno count\n")
    text = lode(copy, "top", "x.tally", "--csv")
    assert re.search(r"\b39\b.*\bwork\b|\bwork\b.*\b39\b", text), text
    assert "tally-line" in lode(copy, "check", "x.tally")


def use_export(copy):
    text = lode(copy, "export", "demo/solver", "--format", "leaves", "-o", "-")
    assert re.search(r"^spmv\._omp_fn\.0 \d+ \d+$", text, re.MULTILINE), text[:500]
    assert "leaves" in lode(copy, "export", "--list")


def use_diagnosis(copy):
    text = lode(copy, "diagnose", "--all", "demo/thumbs")
    assert "functions are called." in text, text


def use_command(copy):
    functions, contexts = lode(copy, "count", "demo/solver"), lode(copy, "count", "--contexts", "demo/solver")
    assert 0 < int(functions) < int(contexts), (functions, contexts)
    assert "  count  " in lode(copy, "help") and "lode\\-count" in lode(copy, "help", "--man")
    assert "count\n" in lode(copy, "complete", "zsh", "cou") and "--contexts\n" in lode(copy, "complete", "zsh", "count", "--con")


def use_check_rule(copy):
    (copy / "scratch" / "x.folded").write_text("a;b,;c 3\n")
    text = lode(copy, "check", "--verbose", "x.folded")
    assert "folded-comma" in text, text
    subprocess.run([copy / "build/tests/hostile/test_folded"], check=True, capture_output=True, env={**os.environ, "LODE_SHARE": "1/16"})


RECIPES = (
    Recipe("An input format", "tally", "input", use=use_input, lines=(
        ("src/format/formats.def", "FORMAT(hpcrun)\n", "FORMAT(tally)\n"),
        ("doc/rules.md", "## Measurements: the file of a profile\n", "## Tallies\n\n" + RULE_TEXT.format(
            rule="tally-line", severity="warning", meaning="a line is not a name and a count; it is skipped.")))),
    Recipe("An export format", "leaves", "export", use=use_export, lines=(
        ("src/export/formats.def", "EXPORT_FORMAT(otf2, )\n", "EXPORT_FORMAT(leaves, stacks/leaves)\n"),)),
    Recipe("A diagnosis rule", "many_functions", "diagnosis", use=use_diagnosis, scripts=("tests/doc/diagnose.py",), lines=(
        ("src/analysis/diagnose/calls/rules.def", "DIAGNOSE_RULE(hot_spot, hot_spot)\n", "DIAGNOSE_RULE(many_functions, many_functions)\n"),)),
    Recipe("A command", "count", "command", use=use_command, scripts=("tests/doc/commands.py",), lines=(
        ("src/cli/commands.def", "COMMAND(tui)\n", "COMMAND(count)\n"),)),
    Recipe("A check rule", "comma", use=use_check_rule, lines=(
        ("src/format/folded/rules.def", 'RULE(UTF8, "folded-utf8"', 'RULE(COMMA, "folded-comma", NOTE, STRUCTURE, "a frame ends with a comma")\n'),
        ("src/format/folded/open.c", "        return report_changes(reader, name.data, changes);\n",
         "        if (name.data[name.size - 1] == ',')\n"
         '            LODE_TRY(finding(reader, FOLDED_RULE_COMMA, name.data, "a frame ends with a comma"));\n'),
        ("doc/rules.md", "### folded-utf8\n", RULE_TEXT.format(rule="folded-comma", severity="note", meaning="a frame ends with a comma.")),
        ("tests/hostile/test_folded.c", '    {"folded-utf8", break_utf8, NULL},\n', '    {"folded-comma", break_comma, NULL},\n'),
        ("tests/hostile/test_folded.c", "static void break_utf8(",
         'static void break_comma(struct lode_blob *out)\n{\n    append(out, "a;b, 3\\n");\n}\n\n'))),
)


def files_of_tree():
    # The folder may belong to somebody else than who runs this.
    names = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name and not name.startswith("tests/fuzz/corpus/") and (ROOT / name).is_file()]


def copy_tree(copy, names):
    for name in names:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)


def contents(copy):
    """Every file of the copy but what is built or used there."""
    return {path.relative_to(copy).as_posix(): path.read_bytes() for top in ("src", "doc", "tests", "README.md", "CONTRIBUTING.md")
            for path in ([copy / top] if (copy / top).is_file() else (copy / top).rglob("*")) if path.is_file() and path.suffix != ".pyc"}


def differing(before, after):
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def build(copy, configured):
    """With the options of a configured build, so that compilers get the same arguments."""
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(configured / "meson-private" / "cmd_line.txt")
    words = [f"-D{key}={value}" for key, value in settings.items("options")]
    # Of ccache, what was compiled in the tree counts in its copy.
    environment = {**os.environ, "CCACHE_BASEDIR": str(copy), "CCACHE_NOHASHDIR": "1"}
    for command in (["meson", "setup", *words, copy / "build", copy], ["ninja", "-C", copy / "build", *TARGETS]):
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0:
            return (done.stdout + done.stderr).splitlines()[-40:]
    return None


def listed(recipe):
    """The files that CONTRIBUTING.md lists for it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = re.search(rf"^### {recipe.title}$(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    names = re.findall(r"^- `([^`]+)`", part[1], re.MULTILINE) if part else []
    return {name.replace("NAME", recipe.name) for name in names}


def look(tap, copy):
    """The tests of lint and doc that a recipe could fail, in the copy."""
    program, archive = copy / "build/src/cli/lode", copy / "build/src/liblode.a"
    for words in (["tests/lint/layering.py"], ["tests/lint/link_layering.py", archive], ["tests/lint/meanings.py", archive],
                  ["tests/lint/folders.py"], ["tests/lint/comments.py"], ["tests/lint/function_length.py"], ["tests/lint/format_names.py"],
                  ["tests/lint/printing.py"], ["tests/lint/counts.py"], ["tests/lint/words.py", "--lode", program],
                  ["tests/doc/diagnose.py"], ["tests/doc/commands.py", "--lode", program], ["tests/doc/compare.py", "--lode", program],
                  ["tests/cli/help.py", "--lode", program]):
        done = subprocess.run([sys.executable, copy / words[0], *words[1:]], capture_output=True, text=True, cwd=copy, check=False)
        tap.check(done.returncode == 0, f"{words[0]} passes in the copy", (done.stdout + done.stderr).splitlines()[-15:])


def used(recipe, copy):
    try:
        recipe.use(copy)
    except (AssertionError, ValueError, subprocess.CalledProcessError) as error:
        return [repr(error)]
    return None


def cook(tap, copy, configured):
    copy_tree(copy, files_of_tree())
    (copy / "scratch").mkdir()
    state = contents(copy)
    for recipe in RECIPES:
        recipe.apply(copy)
        after = contents(copy)
        recipe.changed, state = differing(state, after), after
    wrong = build(copy, configured)
    if not tap.check(not wrong, "a tree with all recipes builds", wrong or ()):
        return
    lode(copy, "example", "demo")
    state = contents(copy)
    for recipe in RECIPES:
        for script in recipe.scripts:
            subprocess.run([sys.executable, copy / script, "--write"], check=True)
        after = contents(copy)
        recipe.changed |= differing(state, after)
        state = after
        wrong = used(recipe, copy)
        tap.check(not wrong, f"{recipe.title}: it works", wrong or ())
        tap.check(recipe.changed == listed(recipe), f"{recipe.title}: CONTRIBUTING.md lists its {len(recipe.changed)} files",
                  [f"changed: {sorted(recipe.changed)}", f"listed: {sorted(listed(recipe))}"])
    look(tap, copy)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="a new folder for the copy, which stays")
    options = parser.parse_args()
    tap = Tap()
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        tap.skip("recipes", "not a git tree: nothing says which files belong to it")
        return tap.finish()
    if options.keep:
        options.keep.mkdir(parents=True)
        cook(tap, options.keep.resolve(), options.build)
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        cook(tap, Path(folder).resolve(), options.build)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
