#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual as HTML (doc/html/build.py): every link leads to a page, an anchor or a file of it. manual.py --lode PROGRAM"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from os.path import dirname, join, normpath
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

CMARK = "cmark-gfm"
VOID = {"br", "hr", "img", "link", "meta", "source", "input"}


class Reader(HTMLParser):
    """Links, anchors, and what is wrong with the tags of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.wrong, self.open, self.tables = [], set(), [], [], 0
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> does not end" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.tables += tag == "table"
        for name, value in attrs:
            if name in ("href", "src", "srcset"):
                self.links.append(value)
            elif name == "id":
                if value in self.anchors:
                    self.wrong.append(f"two anchors '{value}'")
                self.anchors.add(value)

    def handle_endtag(self, tag):
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(f"</{tag}> ends nothing, at line {self.getpos()[0]}")


def read(folder):
    """{path: page}"""
    return {str(path): Reader(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}


def problems(folder, pages):
    """(links that were followed, what is wrong) of all pages."""
    files = {str(path) for path in folder.rglob("*") if path.is_file()}
    count, found = 0, []
    for path, page in pages.items():
        name = Path(path).relative_to(folder)
        found += [f"{name}: {text}" for text in page.wrong]
        for link in page.links:
            if re.match(r"https?:", link):
                continue
            count += 1
            target, _, fragment = link.partition("#")
            file = normpath(join(dirname(path), unquote(target))) if target else path
            if file not in files:
                found.append(f"{name}: there is no '{link}'")
            elif fragment and (file not in pages or unquote(fragment) not in pages[file].anchors):
                found.append(f"{name}: '{link}' has no such anchor")
    return count, found


def complete(tap, folder, pages):
    """Every document and every command has a page that all others list, and tables are tables."""
    sources = [ROOT / "README.md", *(ROOT / "doc").rglob("*.md"), ROOT / "examples" / "README.md"]
    missing, tables = [], []
    for source in sources:
        name = source.relative_to(ROOT)
        path = folder / (name.with_name("index.html") if name.name == "README.md" else name.with_suffix(".html"))
        if not path.is_file():
            missing.append(str(name))
            continue
        text = re.sub(r"^```.*?^```", "", source.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        expected = len(re.findall(r"^\|(?: *:?-+:? *\|)+$", text, re.MULTILINE)) + text.count("<table>")
        found = pages[str(path)].tables
        if found != expected:
            tables.append(f"{name}: {found} of {expected}")
    commands = {path.stem for path in (ROOT / "src" / "cli" / "help").glob("*.txt")} - {"shared"}
    missing += [name for name in sorted(commands) if not (folder / "help" / f"{name}.html").is_file()]
    tap.check(len(sources) > 50 and len(commands) > 20 and not missing, "every document and every command has a page", missing)
    tap.check(not tables, "every table of a document is one", tables)
    listed = {path: {normpath(join(dirname(path), link)) for link in
                     re.findall(r'href="([^"]*)"', Path(path).read_text(encoding="utf-8").partition("</nav>")[0])} for path in pages}
    short = [path for path in sorted(pages) if not pages.keys() <= listed[path]]
    tap.check(not short, "every page lists all pages", short)


def made(folder, body):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "other.html").write_text('<h2 id="here">x</h2>', encoding="utf-8")
    (folder / "index.html").write_text(body, encoding="utf-8")
    return problems(folder, read(folder))[1]


def self_test(tap, folder):
    sound = '<p id="up"><a href="other.html#here">x</a><a href="#up">x</a><a href="https://example.org/x.html#y">x</a></p>'
    tap.check(not made(folder, sound), "self-test: links that lead somewhere", made(folder, sound))
    for name, body in {
        "a page that is missing": '<a href="third.html">x</a>', "an anchor that is missing": '<a href="other.html#there">x</a>',
        "an anchor that this page lacks": '<a href="#here">x</a>', "a picture that is missing": '<img src="x.png">',
        "a picture for dark screens that is missing": '<picture><source srcset="x.png"></picture>',
        "a link out of the manual": '<a href="../../../../../../etc/passwd">x</a>', "a folder": '<a href=".">x</a>',
        "two anchors of one name": '<p id="a"></p><p id="a"></p>', "a tag that does not end": "<ul><li>",
    }.items():
        tap.check(made(folder, body), f"self-test: {name} is found")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        self_test(tap, Path(name) / "made")
        cmark, folder = shutil.which(CMARK), Path(name).resolve() / "html"
        if cmark is None:
            tap.skip("the manual as HTML", f"there is no {CMARK}")
            return tap.finish()
        build = [sys.executable, ROOT / "doc" / "html" / "build.py", folder, "--lode", options.lode, "--cmark", cmark]
        done = subprocess.run(build, capture_output=True, text=True, check=False)
        if tap.check(done.returncode == 0, "the manual is built", done.stderr.splitlines()):
            pages = read(folder)
            count, found = problems(folder, pages)
            tap.check(count > 1000 and not found, f"{count} links lead to a page, an anchor or a file", found)
            complete(tap, folder, pages)
            first = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            again = subprocess.run(build, capture_output=True, text=True, check=False)
            same = again.returncode == 0 and first == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            tap.check(same, "a second run gives byte-identical files", again.stderr.splitlines())
        foreign = Path(name) / "foreign"
        foreign.mkdir()
        (foreign / "file").touch()
        done = subprocess.run([*build[:2], foreign, *build[3:]], capture_output=True, text=True, check=False)
        tap.check(done.returncode != 0 and (foreign / "file").exists(), "a folder that is no manual is not replaced")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
