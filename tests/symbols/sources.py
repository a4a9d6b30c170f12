#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Source files of measurements are copied into src/ of the database, where --replace leads to them: texts only, without hidden files, not with
--no-source, and for foreign measurements not from elsewhere. Needs the corpus.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "answers")]

from imports import corpus, run  # noqa: E402
from tap import Tap  # noqa: E402


def copied(lode, directory, target, *words):
    """{path below src/: bytes} of a database, or what went wrong."""
    done = run(lode, "build", *words, directory, "-o", target)
    if done.returncode != 0:
        return done.stderr
    return {str(path.relative_to(target)): path.read_bytes() for path in (target / "src").rglob("*") if path.is_file()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap, directory = Tap(), corpus() / "measurements" / "small"
    if not directory.is_dir():
        tap.skip("source files", "there is no corpus")
        return tap.finish()
    structure = next((directory / "structs").glob("*small*.hpcstruct")).read_text(encoding="utf-8")
    measured = Path(re.search(r'<F i="\d+"[^>]* n="(/[^"]+\.c)"', structure)[1])
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        real = scratch / "here" / measured.name
        replace = ("--replace", f"{measured.parent}={real.parent}")
        real.parent.mkdir()
        wanted = {f"src{measured}": b"int main(void) { return 0; }\n"}
        real.write_bytes(wanted[f"src{measured}"])
        tap.check(copied(options.lode, directory, scratch / "a", *replace) == wanted, "a source file is copied")
        tap.check(copied(options.lode, directory, scratch / "b", *replace, "--no-source") == {}, "not with --no-source")
        tap.check(copied(options.lode, directory, scratch / "c", *replace, "--foreign") == {}, "not for foreign measurements")
        found = run(options.lode, "check", "--level", "full", scratch / "a")
        tap.check(found.returncode == 0, "check has no error", [found.stdout])
        real.write_bytes(b"\x7fELF\0\0")
        tap.check(copied(options.lode, directory, scratch / "d", *replace) == {}, "what is no text is not copied")
        hidden = scratch / ".hidden"
        hidden.write_bytes(b"a secret\n")
        real.unlink()
        real.symlink_to(hidden)
        tap.check(copied(options.lode, directory, scratch / "e", *replace) == {}, "nor what is hidden, by a link")
        real.unlink()
        with real.open("wb") as stream:
            stream.truncate(65 << 20)
            stream.write(b"x" * 5000)
        tap.check(copied(options.lode, directory, scratch / "f", *replace) == {}, "nor what is too large")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
