#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
'lode flame': boxes are rows of 'lode tree', SVG and HTML are well-formed and hold names as text, on every kind of store; output does
not depend on threads or locale.
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
from html.parser import HTMLParser
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import cli  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
RECORDINGS = ("autoargs", "mt", "exc", "forkexec")
FOLDED = ["main;<script>globalThis.pwned=1</script> 5", 'main;<img src=x onerror="globalThis.pwned=1"> 4', "main;</pre><b>&|x|y 3",
          "main;\u6f22\u5b57 \U0001f600 \ufffe 2", "main;a]]>--><!-- 2", "deep;" * 300 + "leaf 2"]


def boxes_are_rows(program):
    """Every box is a row of the tree with the same cost, and boxes of one row fill no more than it."""
    for name in cli.DATABASES:
        rows = {row["context"]: row for row in program.json("tree", "--min-percent", 0, "--limit", 0, name)["rows"]}
        answer = program.json("flame", "--width", 2000, name)
        boxes, wrong = answer["boxes"], []
        for box in boxes:
            row = rows.get(box["context"])
            if not box["more"] and (row is None or any(box[k] != row[k] for k in ("inclusive", "exclusive", "name", "contexts"))):
                wrong.append(box)
            below = math.fsum(b["width"] for b in boxes if b["parent_box"] == box["box"])
            if below > box["width"] * (1 + 1e-12) + 1e-15:
                wrong.append((box["box"], below, box["width"]))
        program.check(not wrong and (boxes or not answer["whole"]), f"{name}: {len(boxes)} boxes are rows of the tree", wrong[:5])


def stores(program):
    yield from ((name, program.databases()) for name in cli.DATABASES)
    yield from ((f"{name}/uftrace.data", program.recordings()) for name in RECORDINGS)
    for folder, pattern in (("pprof", "go-cpu-*.pb.gz"), ("folded", "perf-*.folded")):
        found = cli.corpus_folder(folder)
        yield from ((path.name, found) for path in sorted(found.glob(pattern))[:6]) if found else ()


def draw(program, folder, cwd, store, name, *options, env=None):
    path = Path(folder) / name
    done = subprocess.run([program.lode, "flame", store, "-f", "-o", path, *map(str, options)], cwd=cwd, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=cli.SECONDS, env=env or cli.environment())
    return path.read_bytes() if done.returncode == 0 else done.stderr


def pictures_are_well_formed(program):
    for store, cwd in stores(program):
        with tempfile.TemporaryDirectory() as folder:
            for options in ([], ["--bottom-up"], ["--function", "main", "--merge-recursion"]):
                picture = draw(program, folder, cwd, store, "a.svg", *options)
                if options[:1] == ["--function"] and b"no function" in picture:
                    continue
                done = subprocess.run([program.lode, "flame", store, "--json", *options], cwd=cwd, capture_output=True, timeout=cli.SECONDS)
                answer = cli.parse_json(done.stdout.decode())
                groups = [g for g in tree.fromstring(picture).iter(SVG + "g") if g.find(SVG + "title") is not None]
                widths = [float(g.find(SVG + "rect").get("width")) for g in groups]
                wanted = [b["width"] * (answer["width"] - 20) for b in answer["boxes"]]
                good = len(groups) == len(wanted) and all(abs(a - b) <= 1.01 for a, b in zip(widths, wanted))
                program.check(good and b"<script" not in picture and picture.isascii(), f"{store} {' '.join(options)}: {len(groups)} boxes")


class Page(HTMLParser):
    """What the markup of a page consists of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.is_inside = [], "", False
        self.feed(text)
        self.boxes = json.loads(self.text)["boxes"]

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.is_inside = dict(attributes).get("data-target") == "flame"

    def handle_data(self, data):
        if self.is_inside:
            self.text += data

    def handle_endtag(self, tag):
        self.is_inside = False


def has_page(program):
    """Whether the program was built with the page, which files for browsers are."""
    return "no page for browsers" not in program.run("flame", "nothing", "-o", "a.html").err


def names_are_text(program):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hostile.folded").write_text("\n".join(FOLDED) + "\n", encoding="utf-8")
        usual = None
        for options in ([], ["--function", "main"], ["--bottom-up"]):
            picture = draw(program, folder, folder, "hostile.folded", "a.svg", *options)
            names = [element.text for element in tree.fromstring(picture).iter(SVG + "title")]
            program.check(any("<script>globalThis.pwned=1</script>" in name for name in names), f"SVG {options}: markup is text")
            program.check({e.tag for e in tree.fromstring(picture).iter()}
                          <= {SVG + t for t in ("svg", "title", "style", "pattern", "path", "rect", "text", "g")}, "no other elements")
            if not has_page(program):
                program.skip(f"HTML {options}", "the program has no page")
                continue
            page = Page(draw(program, folder, folder, "hostile.folded", "a.html", *options).decode("ascii"))
            usual = usual or page.tags
            program.equal(page.tags, usual, f"HTML {options}: names add no element")
            answer = program.json("flame", "hostile.folded", *options, cwd=folder)
            program.equal(page.boxes, answer["boxes"], f"HTML {options}: the boxes are those of --json")
            program.equal(page.tags.count("script"), 2, "one script, and the boxes")


def output_is_reproducible(program):
    store = f"{RECORDINGS[1]}/uftrace.data"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.svg", "a.html") if has_page(program) else ("a.svg",):
            first = draw(program, folder, program.recordings(), store, name, "--threads", 1)
            for threads, lang in ((2, "C"), (7, "C.UTF-8")):
                again = draw(program, folder, program.recordings(), store, name, "--threads", threads, env=cli.environment(LANG=lang))
                program.check(first == again, f"{name}: the same with {threads} threads and LANG={lang}")


def the_picture_of_the_documents_is_current(program):
    """Golden: doc/images/flame.svg, by lode flame solver -o flame.svg --width 1000."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program.lode, "example", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        found = draw(program, folder, folder, "demo/solver", "flame.svg", "--width", 1000)
        program.check(found == (cli.ROOT / "doc" / "images" / "flame.svg").read_bytes(), "doc/images/flame.svg is what the program draws")


def files_are_atomic(program):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "old.svg").write_text("old")
        text = draw(program, folder, program.databases(), "made-small", "old.svg", "--function", "nothing-has-this-name")
        program.check(b"no function" in text and Path(folder, "old.svg").read_text() == "old", "a failed run leaves the old file")
        draw(program, folder, program.databases(), "made-small", "old.svg")
        program.check(Path(folder, "old.svg").read_text().startswith("<svg"), "--force replaces a file")
        result = program.run("flame", "made-small", "-o", Path(folder, "old.svg"), cwd=program.databases())
        program.says(result, 2, r".*old.svg: already exists; use --force to replace it", "without, it stays")
        program.equal(sorted(os.listdir(folder)), ["old.svg"], "nothing else is left")


def wrong_options_are_refused(program):
    for options, word in (([], "missing option: -o"), (["-o", "x.png"], ".svg or .html"), (["--json", "--width", "5"], "--width"),
                          (["--json", "--function", "a", "--bottom-up"], "cannot be used"), (["--json", "--root", "1", "--focus", "a"], "--root"),
                          (["--json", "--root", "4294967295"], "no context"), (["--json", "--limit", "0"], "--limit")):
        result = program.run("flame", "made-small", *options, cwd=program.databases())
        program.check(result.status == 2 and word in result.err, f"lode flame {' '.join(options)} is refused", [result])


def the_deepest_boxes_are_left_out_first(program):
    whole = program.json("flame", "viewer-issue-233")["boxes"]
    answer = program.json("flame", "--limit", 25, "viewer-issue-233")
    program.check(answer["is_truncated"] and len(answer["boxes"]) == 25, "25 boxes")
    keys = ("level", "x", "width", "name")
    program.check([[b[k] for k in keys] for b in answer["boxes"]] == [[b[k] for k in keys] for b in whole[:25]], "they are the first ones")
    shallow = program.json("flame", "--depth", 3, "viewer-issue-233")
    program.check({b["level"] for b in shallow["boxes"]} == {0, 1, 2}, "--depth 3 has three levels")
    program.check(any(b["folded"] for b in shallow["boxes"]), "and says that there is more")
    program.check(re.match(r"\d", str(shallow["levels"])) and shallow["levels"] == 3, "levels are counted")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, boxes_are_rows, pictures_are_well_formed, names_are_text, output_is_reproducible,
                      the_picture_of_the_documents_is_current, files_are_atomic, wrong_options_are_refused, the_deepest_boxes_are_left_out_first))
