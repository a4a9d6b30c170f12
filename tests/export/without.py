#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What a program says that was built without libotf2, libzstd, libsqlite3 or libmicrohttpd: lists and refusals name the library, the
package and the option of the build; what does not need it works. In a build that has them all, it checks that nothing is refused.
With --without, all four must be missing.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools")]

from tap import Tap  # noqa: E402

# By format: the library, its package, and the option.
NEEDS = {"otf2": ("libotf2", "libotf2-trace-dev", "-Dotf2=enabled"), "sqlite": ("libsqlite3", "libsqlite3-dev", "-Dsqlite=enabled")}
ZSTD = ("zstd", "libzstd-dev", "-Dzstd=enabled")


class Program(Tap):
    def __init__(self, lode, folder):
        super().__init__()
        self.lode, self.folder = lode, folder

    def run(self, *arguments):
        return subprocess.run([self.lode, *map(str, arguments)], capture_output=True, text=True, timeout=300)

    def refused(self, name, words, *arguments):
        """A command that fails, with one line that has the words, and leaves nothing."""
        done = self.run(*arguments)
        left = [path.name for path in self.folder.iterdir() if path.name.startswith("out")]
        good = done.returncode not in (0, None) and done.returncode > 0 and not done.stdout and done.stderr.count("\n") == 1
        self.check(good and all(word in done.stderr for word in words) and not left, f"{name}: says what is missing, and how to get it",
                   [done.returncode, done.stderr, left])

    def works(self, name, *arguments):
        done = self.run(*arguments)
        self.check(done.returncode == 0, f"{name}: is there", [done.stderr])


def check_formats(tap, store, formats):
    text = tap.run("export", "--list").stdout
    for name, words in NEEDS.items():
        target = tap.folder / f"out.{name}"
        if formats[name]["is_available"]:
            tap.check(formats[name]["needs"] is None and words[2] not in text, f"{name}: the list asks for nothing")
            tap.works(name, "export", store, "--format", name, "-o", tap.folder / f"good.{name}")
            continue
        tap.check(all(word in text and word in formats[name]["needs"] for word in words), f"{name}: the list says what is missing, and how to get it", [text])
        tap.refused(name, [f"'{name}'", *words], "export", store, "--format", name, "-o", target)
        tap.refused(f"{name} by its suffix", words, "export", store, "-o", target)


def check_zstd(tap, store, formats, is_there):
    text = tap.run("export", "--list").stdout
    for name in ("parquet", "csv", "jsonl"):
        arguments = ("export", store, "--format", name, "--compression", "zstd", "-o")
        if is_there:
            tap.works(f"{name} with zstd", *arguments, tap.folder / f"good.{name}")
        else:
            tap.refused(f"{name} with zstd", ZSTD, *arguments, tap.folder / "out")
            tap.works(f"{name} with gzip", "export", store, "--format", name, "--compression", "gzip", "-o", tap.folder / f"good.{name}")
    tap.check(is_there == (ZSTD[2] not in text), "zstd: the list says whether it is missing", [text])
    # Its readers do not unpack it, whatever the build.
    done = tap.run("export", store, "--format", "chrome", "--compression", "zstd", "-o", tap.folder / "out")
    tap.check(done.returncode != 0 and "readers do not unpack" in done.stderr, "chrome with zstd: the format has no such compression", [done.stderr])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--without", action="store_true", help="the build has none of the libraries, and no lode view")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lode-without-") as folder:
        tap = Program(str(Path(options.lode).resolve()), Path(folder))
        store = tap.folder / "db"
        tap.run("synth", "database", "--profiles", 2, "--contexts", 20, "--samples", 10, "-o", store)
        formats = {row["name"]: row for row in json.loads(tap.run("export", "--list", "--json").stdout)["formats"]}
        has_zstd = "zstd" in formats["csv"]["compressions"]
        if options.without:
            found = [name for name in NEEDS if formats[name]["is_available"]] + ["zstd"] * has_zstd
            tap.check(not found, "this build has none of the libraries", found)
            tap.refused("runs", ("SQLite", "libsqlite3-dev", "-Dsqlite=enabled"), "runs", "list")
            tap.refused("view", ("lode-view", "-Dviewer=enabled", "libmicrohttpd"), "view", store)
        check_formats(tap, store, formats)
        check_zstd(tap, store, formats, has_zstd)
        return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
