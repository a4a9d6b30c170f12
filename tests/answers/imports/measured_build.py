#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode build MEASUREMENTS --like-hpcprof` gives what hpcprof gave: every pair of the table in the corpus is equal by content to hpcprof's own
database and, where the model of hpcprof is beside the corpus, to the model. `lode check --level full` has no finding. Needs the corpus.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "roundtrip")]

import references  # noqa: E402,F401
from imports import ask, corpus, run  # noqa: E402
import lodejson  # noqa: E402
from content import Content  # noqa: E402
from measured_content import differences  # noqa: E402
import corpora  # noqa: E402
from tap import Tap  # noqa: E402


def pairs(folder):
    """From the table: (database, directories, options of hpcprof)."""
    for line in (folder / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        names = [name.strip() for name in cells[0].split("+")]
        if len(cells) >= 3 and all((folder / name).is_dir() for name in names) and re.fullmatch(r"[\w.-]+", cells[1]):
            yield cells[1], [folder / name for name in names], cells[2]


def build_words(options, directories):
    words = ["--like-hpcprof", "--foreign"]
    for directory in directories:
        if " -R" in options and (directory / "original-path").is_file():
            words += ["--replace", f"{(directory / 'original-path').read_text(encoding='utf-8').strip()}={directory}"]
    words += ["--ignore-structs"] if "--ignore-structs" in options else []
    words += ["--statistics", "sum,mean,stddev,cfvar,min,max"] if "-M stats" in options else []
    return words + (["--trace", "none"] if "--no-traces" in options else [])


def model_words(options):
    words = {"--ignore-structs": "--nostruct", "-M stats": "--stats", "--no-traces": "--no-traces"}
    return [word for option, word in words.items() if option in options]


def dump(lode, database):
    return Content(lodejson.loads(run(lode, "dump", database).stdout))


def taxonomy(database):
    """metrics/default.yaml by content: its parts as sorted lists."""
    parts = yaml.safe_load((database / "metrics" / "default.yaml").read_text(encoding="utf-8"))
    return {name: sorted(json.dumps(item, sort_keys=True) for item in part) if isinstance(part, list) else part for name, part in parts.items()}


def check_pair(lode, tap, name, directories, options, target):
    done = run(lode, "build", *build_words(options, directories), *directories, "-o", target)
    if not tap.check(done.returncode == 0 and not done.stderr, f"{name} is built", [done.stderr.decode(errors="replace")]):
        return
    found = ask(lode, "check", "--level", "full", target)["findings"]
    found = [finding for finding in found if finding["severity"] != "note" and not finding["rule"].startswith("summary-squares")]
    tap.check(not found, f"{name}: check has no finding", found[:3])
    if yaml is None:
        tap.skip(f"{name}: default.yaml as hpcprof's", "this Python has no yaml")
    else:
        own, theirs = taxonomy(target), taxonomy(corpus() / "hpctoolkit" / "final" / name)
        tap.check(own == theirs, f"{name}: default.yaml as hpcprof's", [part for part in own if own[part] != theirs.get(part)])
    wrong = differences(dump(lode, target), dump(lode, corpus() / "hpctoolkit" / "final" / name), minima="-M stats" in options)
    # hpcprof takes the title from the profile that it reads first.
    wrong = [text for text in wrong if len(directories) == 1 or not text.startswith("title: ")]
    tap.check(not wrong, f"{name}: as hpcprof's", wrong[:8])
    model = corpus().parent / "oracles" / "hpcprof_model.py"
    if model.is_file():
        compared = subprocess.run([sys.executable, model, *directories, *model_words(options), "--compare", target],
                                  capture_output=True, text=True, timeout=300)
        tap.check(compared.returncode == 0, f"{name}: as the model's", compared.stdout.splitlines()[:20])


def check_logical(lode, tap, folder, target):
    """A logical file, which hpcprof found by -R: as the model's. There is no database of hpcprof."""
    directory, model = folder / "loops-hip-amd-t.d.t2", corpus().parent / "oracles" / "hpcprof_model.py"
    if not model.is_file():
        return
    paths = [module["path"] for module in ask(lode, "info", directory)["modules"]]
    replacement = f"{next(path for path in paths if '/logical/' in path).split('/logical/')[0]}={directory}"
    done = run(lode, "build", "--like-hpcprof", "--foreign", "--replace", replacement, directory, "-o", target)
    tap.check(done.returncode == 0 and not done.stderr, "a logical file: built", [done.stderr.decode(errors="replace")])
    compared = subprocess.run([sys.executable, model, directory, "-R", replacement, "--compare", target], capture_output=True, text=True, timeout=300)
    names = [function["function"] for function in ask(lode, "top", target)["rows"]]
    tap.check(compared.returncode == 0 and "kernmain()" in names, "a logical file: as the model's", [names, *compared.stdout.splitlines()[:20]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    folder = corpus() / "measurements"
    tap = Tap()
    if not folder.is_dir() or corpora.is_own():
        tap.skip("measurements", "databases that hpcprof made are in the larger corpus")
        return tap.finish()
    if not (corpus().parent / "oracles" / "hpcprof_model.py").is_file():
        tap.skip("the model of hpcprof", "it is not beside the corpus")
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, directories, words) in enumerate(pairs(folder)):
            check_pair(options.lode, tap, name, directories, words, Path(scratch) / str(number))
        check_logical(options.lode, tap, folder, Path(scratch) / "logical")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
