#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
'lode report': the file is the page with answers inside, which are those of the commands and follow their schemas; it is bounded, ASCII, inert
and written atomically; --anonymous leaves out what it says. Browsers open reports in tests/view/report.mjs.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent), str(HERE)]

import cli  # noqa: E402
import schemas  # noqa: E402

DATA = cli.ROOT / "tests" / "data"
STORES = ("hpctoolkit/final/made-ranks", "hpctoolkit/final/made-small-notraces", "uftrace/recorded/mt/uftrace.data", "zorka/stores/example-shop",
          "otlp/small", "jaeger/traces.json", "pprof/cpu.pb.gz", "pprof/heap-after.pprof", "folded/simple.folded", "hpctoolkit/draft-xml/made-small")
HOSTILE = ("</script><script>alert(1)</script>", "<!--<script>", "\u2028x\u2029", "]]>", '"onload="alert(1)', "\u6f22\U0001f600", "&lt;", "\x7f")
MOST = 5 << 20


class Parts(HTMLParser):
    """The elements of a report, and the text of scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.answers, self.scripts, self.styles, self.tags, self.policy, self.title = {}, [], [], [], "", ""
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        self.inside = (tag, attributes) if tag in ("script", "style", "title") else None

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside is None:
            return
        tag, attributes = self.inside
        if tag == "title":
            self.title += data
        elif tag == "style":
            self.styles.append(data)
        elif "data-target" in attributes:
            self.answers[attributes["data-target"]] = (int(attributes["data-status"]), data)
        else:
            self.scripts.append(data)


def make(program, folder, stores, *options, name="report.html"):
    path = Path(folder) / name
    result = program.run("report", *stores, "-f", "-o", path, *options, cwd=DATA)
    return (path.read_bytes() if result.status == 0 else b""), result


def command_of(target, stores):
    """The words of the command that gives an answer."""
    where, _, query = target.partition("?")
    command, *numbers = where.split("/")
    options = [f"--{key}={value}" if value else f"--{key}" for key, value in parse_qsl(query, keep_blank_values=True)]
    return [command, "--json", *options, *(stores[int(number)] for number in numbers)]


def answers_are_those_of_commands(program):
    judge = schemas.Judge() if schemas.jsonschema else None
    for store in STORES:
        with tempfile.TemporaryDirectory() as folder:
            data, result = make(program, folder, [store])
        if not program.check(result.status == 0 and 0 < len(data) <= MOST, f"{store}: a report of {len(data)} bytes", [result.err]):
            continue
        parts = Parts(data.decode("ascii"))
        wrong = []
        for target, (status, text) in parts.answers.items():
            answer = json.loads(text)
            wrong += [f"{target}: {problem}" for problem in (judge.problems(answer) if judge else ())]
            if target in ("report", "session"):
                continue
            done = program.run(*command_of(target, [store]), cwd=DATA)
            if status == 200 and json.loads(done.out) != answer:
                wrong.append(f"{target}: is another answer")
            if status != 200 and answer["message"] not in done.err:
                wrong.append(f"{target}: {answer['message']}, {done.err}")
        needed = {"report", "session", "top/0?limit=12", "diagnose/0", "check/0?verbose=", "flame/0?width=1600", "top/0?limit=200"}
        program.check(not wrong and needed <= set(parts.answers), f"{store}: {len(parts.answers)} answers are those of the commands, and follow their schemas",
                      [*wrong[:5], *(needed - set(parts.answers))])
    if not judge:
        program.skip("answers follow their schemas", "jsonschema is not installed")


def file_is_inert(program):
    with tempfile.TemporaryDirectory() as folder:
        store, notes = Path(folder) / "x.folded", Path(folder) / "notes.md"
        store.write_text("".join(f"main;{name} {i + 1}\n" for i, name in enumerate(HOSTILE)), encoding="utf-8")
        notes.write_text("# What\n" + "\n".join(HOSTILE), encoding="utf-8")
        data, result = make(program, folder, [store], "--notes", notes, "--title", HOSTILE[0])
    program.check(result.status == 0 and data.isascii() and b"\r" not in data and b"\x7f" not in data, "a report is ASCII without control characters", [result.err])
    parts = Parts(data.decode("ascii"))
    names = [row["name"] for row in json.loads(parts.answers["top/0?limit=200"][1])["rows"]]
    program.check({HOSTILE[0], HOSTILE[1], HOSTILE[4], HOSTILE[5]} <= set(names), "names are exactly those of the store", names)
    program.equal(json.loads(parts.answers["report"][1])["title"], HOSTILE[0], "so is the title")
    program.check(json.loads(parts.answers["report"][1])["notes"].startswith("# What\n" + HOSTILE[0]), "so are notes")
    inside = "".join(text for _, text in parts.answers.values())
    program.check("<" not in inside and ">" not in inside and "&" not in inside, "answers have no character that markup begins with")
    program.equal([tag for tag, _ in parts.tags if tag not in ("html", "head", "meta", "title", "link", "style", "body", "div", "noscript", "script")], [], "no other elements")
    sources = [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in (parts.scripts[0], parts.styles[0])]
    program.check(len(parts.scripts) == 1 and len(parts.styles) == 1, "one script and one style")
    program.equal(parts.policy, f"default-src 'none'; script-src {sources[0]}; style-src {sources[1]}; img-src data: blob:; base-uri 'none'; form-action 'none'",
                  "the policy allows this script and this style, and no request")
    program.check(all("src" not in attributes for _, attributes in parts.tags) and [attributes["href"] for _, attributes in parts.tags if "href" in attributes] == ["data:,"],
                  "nothing is from elsewhere")
    # The control: what HTML would have made of the same names.
    program.check(len(Parts(f'<script data-target="x" data-status="200">{json.dumps(HOSTILE[0])}</script>').scripts) > 0, "the control: not escaped, a name is a script")


def size_is_bounded(program):
    stores = ["folded/large.folded", "hpctoolkit/final/made-ranks"]
    with tempfile.TemporaryDirectory() as folder:
        whole = make(program, folder, stores)[0]
        small, result = make(program, folder, stores, "--max-size", "512K")
    program.check(result.status == 0 and 0 < len(small) <= 512 << 10 < len(whole), f"--max-size 512K: {len(small)} of {len(whole)} bytes", [result.err])
    parts = Parts(small.decode("ascii"))
    about = json.loads(parts.answers["report"][1])
    all_targets = set(Parts(whole.decode("ascii")).answers)
    program.check(about["left_out"] and set(about["left_out"]) | set(parts.answers) == all_targets and not set(about["left_out"]) & set(parts.answers),
                  "what is left out is named", about["left_out"])
    program.check({f"{what}/{store}" for what in ("info", "diagnose") for store in (0, 1)} <= set(parts.answers), "the most important answers stay")
    program.check("compare/0/1?limit=200" in all_targets, "two stores are compared")


def anonymous_tells_nothing(program):
    secrets = {"uftrace/recorded/args/uftrace.data": ["/opt/programs", "uftrace record", "localhost", "args/uftrace.data", str(DATA)],
               "hpctoolkit/final/made-ranks": ["final/made-ranks", str(DATA)], "zorka/stores/example-shop": ["example-shop"],
               "pprof/cpu.pb.gz": ["cpu.pb.gz"], "hpctoolkit/final/built": ["final/built", str(DATA)]}
    for store, words in secrets.items():
        with tempfile.TemporaryDirectory() as folder:
            plain = make(program, folder, [DATA / store])[0].decode("ascii")
            data, result = make(program, folder, [DATA / store], "--anonymous")
        parts = Parts(data.decode("ascii"))
        told = [word for word in words if any(word in text for _, text in parts.answers.values()) or word in parts.title]
        known = [word for word in words if word in plain]
        program.check(result.status == 0 and not told and known, f"{store}: {len(known)} words are in the report, and not in the anonymous one", [result.err, *told])
        paths = [path for _, text in parts.answers.values() for path in re.findall(r'(?<=["\s=(:])/[\w.+-]+/[^"\s]*', text)]
        program.check(not paths, f"{store}: no paths", paths[:5])
        session = json.loads(parts.answers["session"][1])
        program.equal([(one["path"], one["name"]) for one in session["stores"]], [("run1", "run1")], f"{store}: it is run1")
        for target, (_, text) in parts.answers.items():
            json.loads(text)
        attributes = [row["attributes"] for row in json.loads(parts.answers.get("search/0?sort=duration&limit=100", (200, '{"rows": []}'))[1])["rows"]]
        program.check(not any(attributes), f"{store}: no attributes")


def output_is_atomic(program):
    store = "folded/simple.folded"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.html"
        path.write_text("old", encoding="ascii")
        program.says(program.run("report", store, "-o", path, cwd=DATA), 2, re.escape(f"{path}: already exists; use --force to replace it"), "an existing file stays")
        program.equal(path.read_text(encoding="ascii"), "old", "as it was")
        for words, pattern in ((["report", "nothing-here", "-f", "-o", path], r"nothing-here: .*"), (["report", store, "folded/nothing", "-f", "-o", path], r"folded/nothing: .*"),
                               (["report", store, "-f", "-o", path, "--notes", "nothing.md"], r"nothing\.md: No such file or directory"),
                               (["report", store], r"missing option: -o/--output .*"), (["report", store, "-o", "x.svg"], r"'x\.svg' does not end in \.html .*"),
                               (["report", store, "-f", "-o", path, "--max-size", "1K"], r"--max-size must be at least 512K .*")):
            program.says(program.run(*words, cwd=DATA), 2, pattern, f"{' '.join(map(str, words[1:3]))}: says why")
        program.equal((path.read_text(encoding="ascii"), os.listdir(folder)), ("old", ["a.html"]), "what fails leaves what was there, and nothing else")
        first, second = make(program, folder, [store], name="a.html")[0], make(program, folder, [store], name="b.html")[0]
        out = subprocess.run([program.lode, "report", store, "-o", "-"], cwd=DATA, capture_output=True, timeout=cli.SECONDS, env=cli.environment())
        latin = subprocess.run([program.lode, "report", store, "-o", "-"], cwd=DATA, capture_output=True, timeout=cli.SECONDS, env=cli.environment(LANG="C"))
        program.check(first and first == second == out.stdout == latin.stdout, "a report is byte-identical, to a file or a pipe, in any locale")


def a_program_without_a_page_says_so(program):
    """What is built without npm has none."""
    result = program.run("report", "folded/simple.folded", "-o", "/nonexistent/x.html", cwd=DATA)
    if "page" not in result.err:
        return False
    program.says(result, 2, "(this build of Lode has no page|the page that was built).*", "a program without a page says so")
    return True


def reports(program):
    if a_program_without_a_page_says_so(program):
        return
    for part in (answers_are_those_of_commands, file_is_inert, size_is_bounded, anonymous_tells_nothing, output_is_atomic):
        part(program)


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, reports))
