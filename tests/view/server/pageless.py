#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A program that was built without a page: pageless.py --lode PROGRAM. `lode view` and the address of the page say what is missing, and
requests of programs are answered. Run by .ci/defaults.sh, which has such a program.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from serving import Server, Tap, make_example


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    lode = parser.parse_args().lode
    tap = Tap()
    with tempfile.TemporaryDirectory() as scratch:
        stores = make_example(lode, Path(scratch) / "demo")
        with Server(lode, stores[1]) as server:
            server.wait_until_open()
            said, page = server.error_text(), server.ask("/", token=False)
            for text, where in ((said, "the program"), (page.json()["message"], "the page")):
                tap.check("no page" in text and "npm" in text and "-Dviewer_page" in text, f"{where} says what is missing", [text])
            tap.check(page.status == 404, "there is no page", [page.status])
            tap.check(server.command(("top", 0, {})).status == 200, "requests are answered")
            tap.check(server.stop() == 0, "it ends")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
