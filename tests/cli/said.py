#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every command says what is wrong with a store: one line on standard error, a field in JSON. Stores are made here."""

import contextlib
import os
import struct
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "perf"))

import cli  # noqa: E402
import findings  # noqa: E402
import write  # noqa: E402

SQL = "select count(*) from metric"
# On any database; {} is the store.
QUESTIONS = (["info", "{}"], ["top", "{}"], ["tree", "{}"], ["profiles", "{}"], ["context", "{}", "1"], ["flame", "{}", "--json"], ["diagnose", "{}"],
             ["sql", "{}", SQL], ["search", "{}", "a"], ["source", "{}"], ["efficiency", "{}"], ["dump", "{}", "--only", "meta"])
WRITERS = (["convert", "{}", "-o", "new"], ["slice", "{}", "-o", "new"], ["merge", "{}", "{}", "-o", "new"],
           ["export", "{}", "-o", "new.pb.gz"], ["export", "{}", "-o", "new.sqlite"], ["export", "{}", "--format", "csv", "-o", "new"])
FOLDED = {"bad-line": "a;b 3\nnothing\na;c 4\n", "no-number": "a;b x\na 1\n", "negative": "a -1\nb 10\nc 3\n",
          "nul": "a\0;b 3\nw 13835058055282163712\nw 2\n"}
# Of requests. Spans have services, too.
REQUESTS = (["info", "{}"], ["top", "{}"], ["tree", "{}"], ["profiles", "{}"], ["diagnose", "{}"], ["sql", "{}", "select count(*) from call"], ["replay", "{}"], ["trace", "{}"],
            ["flame", "{}", "--json"], ["search", "{}"], ["search", "{}", "--over", "1s"], ["search", "{}", "--critical-path"], ["search", "{}", "--calls", "--by", "name"],
            ["search", "{}", "--by", "http.route"], ["search", "{}", "--density"], ["compare", "{}", "{}"])
SPANS = (*REQUESTS, ["search", "{}", "--map"])
WITH_JSON = ("info", "top", "tree", "profiles", "diagnose", "trace", "flame", "search", "replay")


@contextlib.contextmanager
def made(program, *words):
    """A synthetic store `db`, and the folder it is in."""
    with tempfile.TemporaryDirectory() as folder:
        if words:
            program.run("synth", *words, "-o", "db", cwd=folder)
        yield Path(folder)


def database(program):
    return made(program, "database", "--profiles", "3", "--contexts", "60", "--samples", "20")


def first_block(data):
    """Of profile.db: where the records of profiles are, and the places of values and of groups of the summary."""
    table, = struct.unpack_from("<Q", data, 0x18)
    profiles, = struct.unpack_from("<Q", data, table)
    values, groups = struct.unpack_from("<Q", data, profiles + 8)[0], struct.unpack_from("<Q", data, profiles + 24)[0]
    return values, groups


def spoil(folder, offset, layout, value):
    """Writes a number at an offset of profile.db."""
    path = folder / "db" / "profile.db"
    data = bytearray(path.read_bytes())
    struct.pack_into(layout, data, offset(data), value)
    path.write_bytes(data)


def says_it(program, folder, words, store, count):
    """The command answers, and one line on standard error is about the store; an export may say what else is lost."""
    words = [word.replace("{}", store) for word in words]
    result = program.run(*words, cwd=folder)
    lines = len(list(findings.LINE.finditer(result.err)))
    others = "" if words[0] == "export" else findings.without(result.err)
    fits = result.status == 0 and lines == 1 and not others and f"lode: {store}: {count} finding" in result.err
    program.check(fits, f"lode {' '.join(words)} says what is wrong", [result.status, result.err])
    return result


def remove(folder):
    for name in ("new", "new.pb.gz", "new.sqlite", "new.folded", "new.html"):
        path = folder / name
        for inner in path.glob("*") if path.is_dir() else ():
            inner.unlink() if inner.is_file() else [deeper.unlink() for deeper in inner.glob("*")] and inner.rmdir()
        path.rmdir() if path.is_dir() else path.exists() and path.unlink()


def a_value_that_is_merely_wrong(program):
    """Nothing but a check of what numbers mean sees it. All commands say so; a sound database is passed in silence."""
    with database(program) as folder:
        for words in QUESTIONS:
            result = program.run(*(word.replace("{}", "db") for word in words), cwd=folder)
            program.equal((result.status, result.err), (0, ""), f"lode {words[0]}: nothing is said of a sound database")
        spoil(folder, lambda data: first_block(data)[0] + 2, "<d", 12345.5)
        count = cli.parse_json(program.run("check", "--level", "full", "--json", "db", cwd=folder).out)["result"]["errors"]
        for words in QUESTIONS:
            says_it(program, folder, words, "db", count)
        for words in WRITERS:
            result = says_it(program, folder, words, "db", count)
            program.check(f"findings copied to {words[-1]}, such as" in result.err or count == 1, f"lode {words[0]}: how many are copied", [result.err])
            remove(folder)
        result = program.run("compare", "db", "db", cwd=folder)
        program.check(result.status == 0 and findings.LINE.fullmatch(result.err), "lode compare says it once for a store", [result])
        for command in ("top", "tree", "info", "diagnose", "profiles", "flame"):
            answer = program.json(command, "db", cwd=folder)
            program.check(sum(row["count"] for row in answer["findings"]) == count, f"lode {command} --json has findings", [answer.get("findings")])


def a_wrong_cost_of_a_large_store(program):
    """It is not checked when it is opened; costs of its summary are, when they are read."""
    commands = (["top", "db"], ["tree", "db"], ["flame", "db", "--json"], ["top", "db", "--by", "line"])
    with database(program) as folder:
        with open(folder / "db" / "large", "wb") as stream:
            stream.truncate(17 << 20)
        for words in commands:
            result = program.run(*words, cwd=folder)
            program.equal((result.status, result.err), (0, ""), f"lode {' '.join(words)}: nothing is said of a sound database")
        meta = cli.parse_json(program.run("dump", "--only", "meta", "db", cwd=folder).out)["meta"]
        scopes = [number for number, scope in enumerate(meta["scopes"]) if scope["type"] in ("point", "execution")]
        sums = {s["id"] for s in meta["metrics"][0]["statistics"] if (s["combine"], s["formula"]) == ("sum", "$$") and s["scope"] in scopes}
        sound = (folder / "db" / "profile.db").read_bytes()
        values, _ = first_block(sound)
        count, = struct.unpack_from("<Q", sound, struct.unpack_from("<Q", sound, struct.unpack_from("<Q", sound, 0x18)[0])[0])
        places = [place for place in range(values, values + 10 * count, 10) if struct.unpack_from("<H", sound, place)[0] in sums]
        silent = []
        for place in places[::max(1, len(places) // 40)]:
            spoil(folder, lambda data: place + 2, "<d", struct.unpack_from("<d", sound, place + 2)[0] * 1.25)
            silent += [place] if "scope-execution" not in program.run("top", "db", cwd=folder).err else []
            (folder / "db" / "profile.db").write_bytes(sound)
        program.check(len(places) > 30 and not silent, f"a wrong value in the summary of a large database is said ({len(places)} values)", silent)


def a_block_that_cannot_be_read(program):
    """Who writes a store refuses it, also those who would compute the summary again."""
    with database(program) as folder:
        spoil(folder, lambda data: first_block(data)[1] + 16, "<Q", 1 << 32)
        for words in WRITERS:
            result = program.run(*(word.replace("{}", "db") for word in words), cwd=folder)
            program.check(result.status == 2 and "of a block that has" in result.err and result.err.count("\n") == 1
                          and not (folder / words[-1]).exists(), f"lode {words[0]} -o {words[-1]} refuses it", [result])


def imports(program):
    """Lines that are passed over and numbers that are changed, in folded stacks and in a profile of pprof."""
    with made(program) as folder:
        for name, text in FOLDED.items():
            store = f"{name}.folded"
            (folder / store).write_text(text, encoding="utf-8")
            result = cli.parse_json(program.run("check", "--level", "full", "--json", store, cwd=folder).out)["result"]
            for words in (["top", "{}"], ["sql", "{}", SQL], ["export", "{}", "-o", "new.pb.gz"], ["convert", "{}", "-o", "new"]):
                says_it(program, folder, words, store, result["errors"] + result["warnings"])
                remove(folder)
        (folder / "a.folded").write_text("a;b 3\n", encoding="utf-8")
        program.run("export", "a.folded", "-o", "a.pb.gz", cwd=folder)
        with open(folder / "a.pb.gz", "ab") as stream:
            stream.write(b"more")
        for words in (["top", "{}"], ["tree", "{}"], ["merge", "{}", "-o", "new"]):
            says_it(program, folder, words, "a.pb.gz", 1)


def recordings(program):
    for words, pattern in ((["--records", "600", "--tasks", "3"], "[0-9]*.dat"), (["--format", "zorka", "--records", "400", "--functions", "20"], "*/traces.dat")):
        with made(program, "recording", *words) as folder:
            path = sorted((folder / "db").glob(pattern))[0]
            os.truncate(path, path.stat().st_size - 5)
            result = cli.parse_json(program.run("check", "--level", "full", "--json", "db", cwd=folder).out)["result"]
            count = result["errors"] + result["warnings"]
            for command in (["info", "{}"], ["top", "{}"], ["tree", "{}"], ["profiles", "{}"], ["diagnose", "{}"], ["sql", "{}", "select count(*) from call"],
                            ["replay", "{}"], ["flame", "{}", "--json"], ["search", "{}"], ["export", "{}", "--format", "folded", "-o", "new.folded"], ["slice", "{}", "-o", "new"]):
                result = program.run(*(word.replace("{}", "db") for word in command), cwd=folder)
                program.check(result.status == 0 and len(list(findings.LINE.finditer(result.err))) == 1 and count > 0,
                              f"lode {command[0]} of a recording says what is wrong", [result.err, count])


def found_by_check(program, store, folder):
    result = cli.parse_json(program.run("check", "--level", "full", "--json", store, cwd=folder).out)["result"]
    return result["errors"] + result["warnings"]


def every_command_says_it(program, folder, store, commands):
    """In a line, and in JSON."""
    count, silent = found_by_check(program, store, folder), []
    for words in commands:
        words = [word.replace("{}", store) for word in words]
        result = program.run(*words, cwd=folder)
        if result.status != 0 or len(list(findings.LINE.finditer(result.err))) != 1:
            silent.append((words, result.status, result.err))
        if words[0] in WITH_JSON and sum(row["count"] for row in program.json(*(word for word in words if word != "--json"), cwd=folder)["findings"]) == 0:
            silent.append((words, "JSON has no findings"))
        remove(folder)
    program.check(count > 0 and not silent, f"every command says what is wrong with {store} ({len(commands)} commands)", [count, *silent])


def reports(program, folder, has_gate=False):
    """Nothing if the program was built without the page, or with one of another version."""
    said = program.run("report", "nothing", "-o", "new.html", cwd=folder).err
    if "of another version" in said or "no page for browsers" in said:
        return ()
    return (["report", "{}", "-o", "new.html"], *([["gate", "{}", "{}", "--report", "new.html"]] if has_gate else []))


def spans(program):
    data = Path(__file__).resolve().parents[1] / "data"
    writers = (["slice", "{}", "-o", "new"], ["export", "{}", "--format", "folded", "-o", "new.folded"], ["export", "{}", "-o", "new.sqlite"])
    with made(program) as folder:
        for name in ("otlp/small/traces.json", "otlp/small/traces.pb", "jaeger/traces.json", "zipkin/small.jsonl"):
            text = (data / name).read_bytes()
            store = name.replace("/", "-")
            (folder / store).write_bytes(text[:len(text) * 2 // 3])
            every_command_says_it(program, folder, store, (*SPANS, *writers, *reports(program, folder)))


def perf(program):
    """A recording whose end is missing."""
    event = write.Event()
    recording = write.Recording(event)
    recording.comm(45, 45, "busy")
    for time in range(1000, 9000, 1000):
        recording.sample(event, 0x401000 + time, 45, 45, time)
    writers = (["convert", "{}", "-o", "new"], ["build", "{}", "-o", "new"], ["slice", "{}", "-o", "new"], ["merge", "{}", "-o", "new"],
               ["export", "{}", "-o", "new.pb.gz"], ["export", "{}", "--format", "csv", "-o", "new"])
    with made(program) as folder:
        (folder / "perf.data").write_bytes(recording.file()[:-20])
        every_command_says_it(program, folder, "perf.data", (*(words for words in QUESTIONS if words[0] not in ("efficiency", "dump", "search", "source")), ["trace", "{}"], ["compare", "{}", "{}"], *writers, *reports(program, folder)))


def newer_commands(program):
    """Reports, runs and gates of a database and of requests."""
    with database(program) as folder:
        spoil(folder, lambda data: first_block(data)[0] + 2, "<d", 12345.5)
        every_command_says_it(program, folder, "db", (["trace", "{}"], ["runs", "--catalogue", "new.sqlite", "add", "{}"],
                                                      ["top", "{}", "-m", "all"], ["tree", "{}", "-m", "all"], ["gate", "{}", "{}"], *reports(program, folder, True)))
    with made(program, "recording", "--format", "zorka", "--records", "400", "--functions", "20") as folder:
        path = next((folder / "db").glob("*/traces.dat"))
        os.truncate(path, path.stat().st_size - 5)
        every_command_says_it(program, folder, "db", (*(words for words in REQUESTS if "--by" not in words), *reports(program, folder)))


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, a_value_that_is_merely_wrong, a_wrong_cost_of_a_large_store, a_block_that_cannot_be_read, imports, recordings, spans, perf, newer_commands))
