#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
JSON output against doc/schemas: the golden files, and what every command prints of every kind of store. Here a field
that no schema describes is an error, and so is a described field that no output has.
"""

import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "commands"))

import cli  # noqa: E402
import golden  # noqa: E402
import postgresql  # noqa: E402
import recorded  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMAS = cli.ROOT / "doc" / "schemas"
TABLE = cli.ROOT / "src" / "cli" / "output" / "schemas.def"
COMMON = "common.json#/$defs/"
LARGEST = 2**53 - 1


def names_of_the_program():
    """Name and version of each shape that the program knows."""
    entry = re.compile(r'^SCHEMA\(\w+, "([\w-]+)", "(\w+)", (\d+)\)$', re.M)
    return {name: (command, int(version)) for name, command, version in entry.findall(TABLE.read_text(encoding="utf-8"))}


def walk(node):
    """All parts of a schema that are schemas, and those of it that are not."""
    yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(child)


def load(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def bundled(name, is_strict):
    """A schema with the shared definitions inside. Strict: an object has no members but those described."""
    schema, common = load(name), load("common")
    schema.setdefault("$defs", {}).update({f"common.{key}": value for key, value in common["$defs"].items()})
    inside = {id(part) for key, value in schema["$defs"].items() if key.startswith("common.") for part in walk(value)}
    for part in list(walk(schema)):
        if not isinstance(part, dict):
            continue
        reference = part.get("$ref", "")
        if reference.startswith(COMMON):
            part["$ref"] = f"#/$defs/common.{reference[len(COMMON):]}"
        elif id(part) in inside and reference.startswith("#/$defs/"):
            part["$ref"] = f"#/$defs/common.{reference[len('#/$defs/'):]}"
        if is_strict and part.get("type") == "object" and "properties" in part:
            part.setdefault("additionalProperties", False)
    return schema


def names_in(schema, node, found):
    """The definitions that a part of a schema leads to."""
    for part in walk(node):
        name = part.get("$ref", "").removeprefix("#/$defs/") if isinstance(part, dict) else ""
        if name and name not in found:
            found.add(name)
            names_in(schema, schema["$defs"][name], found)
    return found


def inlined(schema):
    """The same with definitions in place of references to them, which takes a third from validation; those that contain themselves stay."""
    stay = {name for name, node in schema["$defs"].items() if name in names_in(schema, node, set())}

    def expanded(node):
        if isinstance(node, list):
            return [expanded(part) for part in node]
        if not isinstance(node, dict):
            return node
        name = node.get("$ref", "").removeprefix("#/$defs/")
        if name and name not in stay and node.keys() <= {"$ref", "description"}:
            return expanded(schema["$defs"][name])
        return {key: expanded(value) for key, value in node.items()}

    return expanded(schema)


class Judge:
    """Validators by name, and the fields that outputs had."""

    def __init__(self):
        self.strict = {name: jsonschema.Draft202012Validator(inlined(bundled(name, True))) for name in names_of_the_program()}
        self.seen = {name: set() for name in self.strict}

    def problems(self, answer):
        head = answer.get("schema") if isinstance(answer, dict) else None
        if not isinstance(head, dict) or next(iter(answer)) != "schema" or head.get("name") not in self.strict:
            return [f"begins without a schema: {str(answer)[:80]}"]
        errors = self.strict[head["name"]].iter_errors(answer)
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error, _ in zip(errors, range(3))]

    def text(self, output):
        """What is wrong with the bytes of an output, integers that lose digits included."""
        large = []

        def integer(digits):
            if abs(int(digits)) > LARGEST:
                large.append(digits)
            return int(digits)

        answer = json.loads(output.decode("utf-8"), parse_int=integer)
        problems = self.problems(answer) + [f"{digits} loses digits" for digits in large[:3]]
        if not problems:
            note_fields(self.seen[answer["schema"]["name"]], answer, "")
        return problems


def note_fields(seen, node, path):
    if isinstance(node, dict):
        for key, value in node.items():
            seen.add(f"{path}.{key}")
            note_fields(seen, value, f"{path}.{key}")
    elif isinstance(node, list):
        for value in node:
            note_fields(seen, value, f"{path}[]")


def described_fields(schema, part, path=""):
    """The paths of all fields that a schema describes; not below a tree that contains itself."""
    reference = part.get("$ref")
    if reference == "#/$defs/context" and path.endswith("children[]"):
        return
    if reference:
        yield from described_fields(schema, schema["$defs"][reference[len("#/$defs/"):]], path)
    for other in part.get("anyOf", ()):
        yield from described_fields(schema, other, path)
    for key, value in part.get("properties", {}).items():
        yield f"{path}.{key}"
        yield from described_fields(schema, value, f"{path}.{key}")
    if isinstance(part.get("items"), dict):
        yield from described_fields(schema, part["items"], f"{path}[]")


def schemas_are_valid(program):
    names = names_of_the_program()
    program.equal(sorted(path.stem for path in SCHEMAS.glob("*.json")), sorted([*names, "common"]),
                  "doc/schemas has a file for each shape of output")
    for name in [*names, "common"]:
        schema = load(name)
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
            problem = None
        except jsonschema.SchemaError as error:
            problem = error.message
        program.check(problem is None and schema["$id"] == f"{name}.json" and schema["title"], f"{name}: a valid schema", [problem])
    for name, (command, version) in names.items():
        properties = load(name)["properties"]
        head = properties["schema"]["properties"]
        program.equal((head["name"]["const"], head["version"]["const"], properties["command"]["const"]), (name, version, command),
                      f"{name}: name, version and command are those of the program")


def every_field_is_described(program):
    for name in names_of_the_program():
        schema = bundled(name, False)
        silent = []
        for part in walk(schema):
            if isinstance(part, dict) and part.get("type") == "object":
                for key, value in part.get("properties", {}).items():
                    about = value.get("description") or schema["$defs"].get(value.get("$ref", "")[len("#/$defs/"):], {}).get("description")
                    if not about and "const" not in value:
                        silent.append(key)
        program.check(not silent, f"{name}: every field has a description", silent)


def golden_outputs_validate(program, judge):
    count = 0
    for path in sorted(golden.FOLDER.rglob("*.txt")):
        command, _, rest = path.read_text(encoding="utf-8").partition("\n")
        if "--json" not in command.split() and "lode dump" not in command:
            continue
        output = re.sub(r"(\[stderr\]\n.*)?\[status \d+\]\n$", "", rest, flags=re.S)
        problems = judge.text(output.encode())
        program.check(not problems, f"golden {path.stem} follows its schema", problems)
        count += 1
    program.check(count > 20, "there are golden JSON outputs", [count])


DATABASE_CALLS = (["diagnose"], ["efficiency"], ["efficiency", "--by", "thread"], ["info"], ["info", "--verbose"], ["check"], ["check", "--level", "full", "--limit", 1], ["top"], ["top", "--by", "line", "--limit", 3],
                  ["top", "--by", "loop"], ["top", "--by", "module"], ["top", "--by", "file"], ["top", "--by", "kind"], ["top", "--by", "kind", "--list", "*", "--limit", 9], ["tree"], ["tree", "--bottom-up", "--limit", 9],
                  ["tree", "--lines"], ["tree", "--depth", 2], ["tree", "--root", 0], ["tree", "--metric", "$0,$0/($0-$0)"], ["tree", "--below", 1, "--skip", 1], ["flame"], ["flame", "--bottom-up"], ["flame", "--function", "main"], ["flame", "--root", 0], ["flame", "--from", "0", "--to", "1s"], ["profiles"], ["profiles", "--limit", 2], ["profiles", "--function", "main"], ["profiles", "--by", "node", "--function", "main"],
                  ["profiles", "--by", "thread", "--limit", 1], ["top", "--by", "node,thread"], ["top", "--metric", "$0,$0/($0-$0)", "--metric", "$0*2"], ["top", "--metric", "$0*2", "--by", "line", "--limit", 2], ["context", "main"], ["context", "0", "--all"], ["context", "0", "--bins", 7, "--sort", "name", "--matrix", "node,thread"], ["profiles", "--bins", 3, "--matrix", "node,thread"],
                  ["profiles", "--function", "main", "--bins", 2000, "--matrix", "node,thread"], ["search", "main"], ["search", "a", "--limit", 2],
                  ["source"], ["source", "--all"], *([command, "--from", "0", "--to", "1s"] for command in ("top", "tree", "source")), ["trace"], ["trace", "--rows", 1, "--limit", 1], ["trace", "--merge", "--rows", 2], ["trace", "--merge", "--probes"], ["trace", "--at", "1ms"], ["trace", "--boxes", "--columns", 5], ["sql", "select * from metric; -- one"], ["sql", "select name, 9223372036854775807, x'00', null, 0.5 from context limit 3"], ["dump", "--only", "meta,traces"], ["dump", "--only", "profiles,contexts"])
RECORDING_CALLS = (["diagnose"], ["info"], ["info", "--verbose"], ["check"], ["check", "--level", "full", "--limit", 1], ["top"], ["top", "--limit", 1], ["top", "--min-time", "1us"],
                   ["top", "--from", "1us", "--to", "10ms", "--depth", 2], ["top", "--callers", "e"], ["top", "--callees", "a"], ["top", "--by", "kind"], ["top", "--by", "kind", "--list", "*"],
                   ["tree"], ["tree", "--bottom-up"], ["tree", "--limit", 2], ["tree", "--root", 1], ["tree", "--below", 1, "--skip", 1], ["flame"], ["flame", "--bottom-up"], ["flame", "--root", 1], ["profiles"], ["profiles", "--limit", 1], ["profiles", "--bins", 3], ["search"],
                   ["search", "--limit", 1], ["search", "--density", "--columns", 5], ["search", "--critical-path"], ["search", "--over", "1s"], ["search", "--calls", "--by", "name"], ["search", "--map"], ["source"], ["trace"], ["trace", "--rows", 1, "--limit", 1], ["trace", "--merge", "--rows", 2], ["trace", "--at", "1us"], ["trace", "--boxes", "--columns", 5], ["sql", "select * from call", "--limit", 2], ["replay"], ["replay", "--limit", 5])
ESTIMATES = (["top"], ["top", "--by", "kind"], ["top", "--callees", "com"], ["tree"], ["tree", "--bottom-up"])
# A dump of these is large, and says what the others say.
LARGE = ("viewer-issue-233", "viewer-issue-328", "db2pprof", "hatchet-saxpy-mpi-cuda-database")
FUNCTION = "solve" if cli.corpora.is_own() else "func1"
RECORDINGS = ("autoargs", "events", "forkexec", "exc", "killed", "mt", "pg_args", "sdt", "n_watchvar", "longjmp")
if cli.corpora.is_own():
    RECORDINGS = tuple(name for name in RECORDINGS if name not in ("sdt", "n_watchvar"))
STORES = ("first", "master", "real-agent") if cli.corpora.is_own() else ("first", "master", "master-fmi", "real-agent")
REFUSED = re.compile(r"no traces|no function matches|no profile has an id of kind|no called function|no context name|no function name|there is no context|--from must be|no recorded|"
                     r"no metric|known source file|has no metrics|no execution scope|has no row on this path|has no services")


def check_outputs(program, judge, name, store, calls, cwd):
    """Each command that has something to say of a store. A command may refuse, in words, what the store does not have."""
    wrong, count = [], 0
    for command, *rest in calls:
        operands = rest[:1] if command == "context" or (command == "search" and rest and not rest[0].startswith("-")) else []
        options = [*rest[len(operands):], *(["--json"] if command != "dump" else [])]
        done = subprocess.run([program.lode, command, store, *map(str, operands), *map(str, options)], cwd=cwd, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=cli.SECONDS, env=cli.environment())
        if done.returncode == 2 and not done.stdout and REFUSED.search(done.stderr.decode()):
            continue
        count += 1
        problems = judge.text(done.stdout) if done.returncode in (0, 1) else [done.stderr.decode()[:200]]
        wrong += [f"lode {command} {' '.join(map(str, rest))}: {problem}" for problem in problems]
    program.check(not wrong and count > 3, f"{name}: {count} outputs follow their schemas", wrong)


def outputs_of_databases_validate(program, judge):
    for name in cli.DATABASES:
        calls = [call for call in DATABASE_CALLS if name not in LARGE or call[0] != "dump"]
        check_outputs(program, judge, name, name, calls, program.databases())


def outputs_with_outliers_validate(program, judge):
    calls = [["profiles", "--bins", 3], ["profiles", "--function", "main", "--bins", 3], ["context", "0", "--bins", 3], ["search", "main"]]
    check_outputs(program, judge, "a database with outliers", "viewer-derived-metrics.db", calls, program.databases())


def outputs_of_recordings_validate(program, judge):
    for name in RECORDINGS:
        check_outputs(program, judge, name, f"{name}/uftrace.data", RECORDING_CALLS, program.recordings())
    calls = [*RECORDING_CALLS, ["replay", "--id", "1"], ["search", "--errors"], ["search", "--critical-path", "--id", "1", "--limit", 1]]
    for name in STORES:
        check_outputs(program, judge, name, name, [*calls, ["search", "--by", "part" if name == "first" and not cli.corpora.is_own() else "component"]], program.stores())
    with tempfile.TemporaryDirectory() as inner:
        shutil.copytree(program.stores() / "master", Path(inner, "cut"), copy_function=shutil.copyfile)
        os.truncate(Path(inner, "cut", "000000", "traces.dat"), 700)
        check_outputs(program, judge, "a cut store", "cut", [["search", "--by", key] for key in ("component", "component,http.url", "http.url,component", "http.url")], inner)
    task = program.json("info", "autoargs/uftrace.data", cwd=program.recordings())["tasks"][0]["tid"]
    for name, store, words, folder in (("a task", "autoargs/uftrace.data", ["--task", str(task)], program.recordings()),
                                       ("a request", "first", ["--id", "1"], program.stores())):
        window = [*words, "--from", "0", "--to", "1s"]
        part = [*window, "--min-time", "1ns", "--depth", "9"]
        calls = [["top", *part], ["top", "--by", "kind", *part], ["top", "--callees", "m", *part], ["tree", *part], ["flame", *part], ["profiles", *part], ["search", *window], ["replay", *part], ["source", *window, "--min-time", "1ns"]]
        check_outputs(program, judge, f"{name} in a time window", store, calls, folder)
    running = [[*words, "--metric", "running"] for words in (["top"], ["top", "--by", "kind"], ["top", "--callees", "m"], ["tree"], ["flame"])]
    check_outputs(program, judge, "running time", "mt/uftrace.data", running, program.recordings())


def outputs_of_measurements_validate(program, judge):
    """With a profile that is cut off, and a single trace."""
    folder = cli.corpus_folder("measurements")
    if folder is None:
        raise cli.MissingCorpus
    calls = (["info"], ["info", "--verbose"], ["check"], ["check", "--level", "full", "--limit", 1], ["dump"], ["dump", "--only", "contexts"])
    with tempfile.TemporaryDirectory() as inner:
        shutil.copytree(folder / "loops-cuda-nvidiapc-t", Path(inner) / "m")
        (Path(inner) / "m").chmod(0o755)
        (Path(inner) / "m" / "cut.hpcrun").write_bytes(b"HPCRUN-profile____04.00b")
        check_outputs(program, judge, "measurements", "m", calls, inner)
        trace = sorted((Path(inner) / "m").glob("*.hpctrace"))[1]
        check_outputs(program, judge, "one trace", f"m/{trace.name}", calls, inner)


def outputs_of_other_stores_validate(program, judge):
    """Names that would do harm elsewhere; stores with next to nothing in them; a store that cannot be read."""
    with tempfile.TemporaryDirectory() as inner:
        subprocess.run([*program.maker, inner], check=True)
        check_outputs(program, judge, "hostile database", "database", DATABASE_CALLS, inner)
        check_outputs(program, judge, "hostile recording", "recording", RECORDING_CALLS, inner)
        check_outputs(program, judge, "hostile trace store", "traces", RECORDING_CALLS, inner)
        shutil.copy(cli.ROOT / "tests/data/otlp/small/traces.pb", Path(inner) / "spans.pb")
        check_outputs(program, judge, "spans of services", "spans.pb", (*RECORDING_CALLS, ["search", "--calls", "--by", "name,service"]), inner)
        for name, words in (("least", ["database", "--profiles", 1, "--contexts", 3, "--samples", 0]),
                            ("tiny", ["recording", "--tasks", 1, "--records", 2]), ("few", ["recording", "--format", "zorka", "--tasks", 1, "--records", 4])):
            subprocess.run([program.lode, "synth", *map(str, words), "-o", name], cwd=inner, check=True, stdout=subprocess.DEVNULL)
            calls = DATABASE_CALLS if words[0] == "database" else RECORDING_CALLS
            check_outputs(program, judge, f"small store '{name}'", name, calls, inner)
        subprocess.run([program.lode, "synth", "recording", "--format", "zorka", "--records", "2600000", "-o", "large"], cwd=inner, check=True, stdout=subprocess.DEVNULL)
        check_outputs(program, judge, "estimates", "large", [[*words, "--estimate"] for words in ESTIMATES], inner)
        answer = program.json("top", "large", "--estimate", cwd=inner)
        program.check(answer["estimate"]["parts_read"] * 3 < 2 * answer["estimate"]["parts"], "a large store is estimated", [answer.get("estimate")])
        done = subprocess.run([program.lode, "tree", "large", "--estimate", "--csv"], cwd=inner, capture_output=True, check=True, text=True)
        program.check(done.stderr.startswith("lode: note: estimated from "), "without a column for it, a note says that it is an estimate", [done.stderr])
        built = subprocess.run([program.lode, "build", "few", "-o", "new", "--json"], cwd=inner, capture_output=True, check=True).stdout
        program.equal(judge.text(built), [], "lode build --json follows its schema")
        Path(inner, "least", "profile.db").unlink()
        os.mkfifo(Path(inner, "least", "profile.db"))
        done = subprocess.run([program.lode, "check", "least", "--json"], cwd=inner, capture_output=True)
        program.equal(judge.text(done.stdout), [], "the output of a check that fails follows its schema")
    with tempfile.TemporaryDirectory() as inner:
        subprocess.run([program.lode, "example", "demo"], cwd=inner, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([sys.executable, cli.ROOT / "tests/tools/make_catalogue.py", "--lode", program.lode, "made", "--runs", "20", "--functions", "4",
                        "--metrics", "1", "--step", "0,10,1.5"], cwd=inner, check=True)
        for words in (["trend"], ["trend", "function_0"], ["check"]):
            done = subprocess.run([program.lode, "runs", *words, "--catalogue", "made", "--json"], cwd=inner, capture_output=True)
            program.equal((done.returncode, judge.text(done.stdout)), (0, []), f"lode runs {' '.join(words)} --json follows its schema")
        for words in (["add", "demo/solver"], ["list"], ["list", "--limit", "1"], ["status"], ["copy", "runs", "other"], ["retain", "1month"], ["add", "demo/solver"], ["remove", "2"]):
            where = [] if words[0] == "copy" else ["--catalogue", "runs"]
            done = subprocess.run([program.lode, "runs", *words, *where, "--json"], cwd=inner, capture_output=True)
            program.equal((done.returncode, judge.text(done.stdout)), (0, []), f"lode runs {' '.join(words)} --json follows its schema")
    for words in (["version"], ["check", "--rules"], ["export", "--list"]):
        done = subprocess.run([program.lode, *words, "--json"], capture_output=True, check=True)
        program.equal(judge.text(done.stdout), [], f"lode {' '.join(words)} --json follows its schema")


LOOPS = [f"toolkit-loops-cputime-t-v{number}" for number in (0, 3, 4, 5)]
COMPARE_CALLS = ([LOOPS[0], LOOPS[3]], [LOOPS[0], LOOPS[0]], ["--by", "line", "--all", "--limit", 3, LOOPS[0], LOOPS[3]],
                 ["--by", "thread", LOOPS[0], LOOPS[3]], ["--by", "profile", "--function", FUNCTION, LOOPS[0], LOOPS[3]],
                 ["--tree", LOOPS[0], LOOPS[3]], ["--scaling", "weak", LOOPS[3], LOOPS[0]], ["--explain-match", LOOPS[0], LOOPS[3]], ["--metric", "0,0", "--normalize", "--inclusive", LOOPS[0], LOOPS[3]],
                 ["--base", *LOOPS[:2], "--new", *LOOPS[2:]], ["made-small", "viewer-issue-233"], ["made-loops-cputime-t-Mstats", LOOPS[0]],
                 ["--diagnose", "made-small", "viewer-issue-233"], ["--diagnose", "db2pprof-sort-database", "viewer-issue-233"])


def outputs_of_comparisons_validate(program, judge):
    wrong = []
    for words in COMPARE_CALLS:
        done = subprocess.run([program.lode, "compare", "--json", *map(str, words)], cwd=program.databases(), capture_output=True, timeout=cli.SECONDS)
        wrong += [f"{words}: {problem}" for problem in (judge.text(done.stdout) if done.returncode == 0 else [done.stderr.decode()])]
    for folder, pair in ((program.recordings(), ["mt/uftrace.data", "exc/uftrace.data"]), (program.stores(), ["first", "master"])):
        done = subprocess.run([program.lode, "compare", "--json", *pair], cwd=folder, capture_output=True, timeout=cli.SECONDS)
        wrong += [f"{pair}: {problem}" for problem in (judge.text(done.stdout) if done.returncode == 0 else [done.stderr.decode()])]
    program.check(not wrong, f"{len(COMPARE_CALLS) + 2} comparisons follow their schemas", wrong)


GATE_CALLS = ([LOOPS[0], LOOPS[3]], ["--max-imbalance", "5%", "--absent", "nothing", "--max-exclusive", f"{FUNCTION}=5%", LOOPS[0], LOOPS[3]],
              ["--max-inclusive", "main=1%", "--fail-unsure", "--base", *LOOPS[:2], "--new", *LOOPS[2:]], ["--max", "CPUTIME=1%", LOOPS[0], LOOPS[3]])


def outputs_of_gates_validate(program, judge):
    wrong = []
    for folder, calls in ((program.databases(), GATE_CALLS), (program.recordings(), (["mt/uftrace.data", "mt/uftrace.data"],))):
        for words in calls:
            done = subprocess.run([program.lode, "gate", "--json", *words], cwd=folder, capture_output=True, timeout=cli.SECONDS)
            wrong += [f"{words}: {problem}" for problem in (judge.text(done.stdout) if done.returncode in (0, 1) else [done.stderr.decode()])]
    program.check(not wrong, f"{len(GATE_CALLS) + 1} gates follow their schema", wrong)
    for words in (["--limit", "2"], ["--per-profile", "--inclusive"]):
        done = subprocess.run([program.lode, "scaling", "--json", "--sizes", "1,2,4,8,16", *words, *LOOPS, LOOPS[0]], cwd=program.databases(), capture_output=True, timeout=cli.SECONDS)
        program.equal((done.returncode, judge.text(done.stdout)), (0, []), f"lode scaling {' '.join(words)} --json follows its schema")
    done = subprocess.run([program.lode, "efficiency", "--json", *LOOPS], cwd=program.databases(), capture_output=True, timeout=cli.SECONDS)
    program.equal((done.returncode, judge.text(done.stdout)), (0, []), "lode efficiency --json of several stores follows its schema")
    words = ["diagnose", "--json", "viewer-issue-233", "--base", "viewer-lmp-openmp-v0"]
    done = subprocess.run([program.lode, *words], cwd=program.databases(), capture_output=True, timeout=cli.SECONDS)
    program.equal((done.returncode, judge.text(done.stdout)), (0, []), "lode diagnose --base --json follows its schema")


def the_file_beside_a_recording_validates(program, judge):
    """With a tool that only makes a directory."""
    with tempfile.TemporaryDirectory() as folder:
        tools = recorded.put_tools(Path(folder) / "tools", "uftrace")
        result = program.run("record", "--with", "uftrace", "--then", "none", "/bin/true", cwd=folder, env={"PATH": str(tools)})
        path = Path(folder) / "lode-true-1.json"
        problems = judge.text(path.read_bytes()) if path.exists() else [result]
        program.equal(problems, [], "the file that lode record writes follows its schema")


# Recordings of requests know no source files.
UNSEEN = {"lode-source-recording": {".id"}}
# Real recordings are too short for statements; those on databases have the same fields.
ALIKE = {"lode-diagnose-recording": "lode-diagnose"}


# What only the catalogue of a server prints, and whether there was one.
OF_SERVERS = {"lode-runs-flush", "lode-runs-grant", "lode-runs-setup", "lode-runs-spool"}
MISSING = set()  # schemas of what cannot run here


def outputs_of_servers_validate(program, judge):
    try:
        with postgresql.Server() as server, tempfile.TemporaryDirectory() as inner:
            address, env = server.address(server.database()), cli.environment(LODE_SPOOL=f"{inner}/spool", LODE_CATALOGUE_TIMEOUT="2")
            subprocess.run([program.lode, "example", "demo"], cwd=inner, check=True, stdout=subprocess.DEVNULL)
            def ask(*words):
                where = [] if words[0] == "copy" else ["--catalogue", address]
                done = subprocess.run([program.lode, "runs", *words, *where, "--json"], cwd=inner, capture_output=True, env=env)
                program.equal((done.returncode, judge.text(done.stdout)), (0, []), f"lode runs {words[0]} --json on a server follows its schema")
            for words in (["init"], ["status"], ["add", "demo/solver"], ["list"], ["status"], ["copy", address, "file"], ["retain", "1month"], ["grant", "admin", "admin"]):
                ask(*words)
            server.stop()
            ask("add", "demo/thumbs")
            server.start()
            ask("flush")
            ask("remove", "2")
    except postgresql.Missing as reason:
        MISSING.update(OF_SERVERS)
        program.skip("outputs on a server follow their schemas", str(reason))


def loops_of_a_binary_validate(program, judge):
    done = subprocess.run([program.lode, "structure", "--json", "--limit", "3", shutil.which("true")], capture_output=True)
    if done.returncode != 0 and b"lode-symbols" in done.stderr:
        MISSING.add("lode-structure")
        program.skip("lode structure --json follows its schema", "there is no lode-symbols")
        return
    program.equal((done.returncode, judge.text(done.stdout)), (0, []), "lode structure --json follows its schema")


def every_described_field_was_seen(program, judge):
    """Findings have one form everywhere: it is enough that some output has each field."""
    findings = {field for seen in judge.seen.values() for field in seen if field.startswith(".findings")}
    for name, validator in judge.strict.items():
        if names_of_the_program()[name][0] in ("view", "report"):
            continue  # tests/view asks the server, and commands/report.py looks into files
        if name in MISSING:
            continue
        described = set(described_fields(validator.schema, validator.schema)) - UNSEEN.get(name, set())
        described -= findings if name != "lode-check" else set()
        seen = judge.seen[name] | judge.seen[ALIKE.get(name, name)]
        if not described <= seen and cli.corpora.is_own():
            lacks = sorted(described - seen)
            program.skip(f"{name}: every described field is in some output", f"{lacks[0]}{' and others' * (len(lacks) > 1)} need the larger corpus")
            continue
        program.check(described <= seen, f"{name}: every described field is in some output", sorted(described - seen))


def _spoilt(node, path=()):
    """Copies of an output with one mistake each: a field renamed, one missing, one of another type."""
    if isinstance(node, list) and node:
        yield from _spoilt(node[0], (*path, 0))
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        yield (*path, key), lambda parent, key=key: parent.__setitem__(f"{key}_", parent.pop(key))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield (*path, key), lambda parent, key=key, value=value: parent.__setitem__(key, f"{value}")
        elif isinstance(value, str):
            yield (*path, key), lambda parent, key=key: parent.__setitem__(key, 9007199254740993)
        yield from _spoilt(value, (*path, key))


def spoilt_outputs_are_noticed(program, judge):
    for call in (["info"], ["top"], ["tree"], ["profiles"], ["context", "main"], ["trace"], ["check"]):
        answer = json.loads(program.run(call[0], "made-small", *call[1:], "--json").out)
        missed, count = [], 0
        for path, spoil in _spoilt(answer):
            other = copy.deepcopy(answer)
            parent = other
            for step in path[:-1]:
                parent = parent[step]
            spoil(parent)
            count += 1
            if not judge.problems(other):
                missed.append("/".join(map(str, path)))
        program.check(not missed and count > 30, f"lode {call[0]}: each of {count} spoilt outputs is noticed", missed)


def readers_may_meet_unknown_fields(program):
    """The schemas as they are published accept fields that a later program adds."""
    answer = json.loads(program.run("top", "made-small", "--json").out)
    answer["later"] = answer["rows"][0]["later"] = {"unit": "s"}
    errors = list(jsonschema.Draft202012Validator(bundled(answer["schema"]["name"], False)).iter_errors(answer))
    program.check(not errors, "an unknown field follows the published schema", errors)


def with_judge(test, judge=[]):  # noqa: B006  one for all
    def run(program):
        if not judge:
            judge.append(Judge())
        test(program, judge[0])
    run.__name__ = test.__name__
    return run


if __name__ == "__main__":
    if jsonschema is None:
        print("1..0 # SKIP there is no python3-jsonschema")
        sys.exit(0)
    sys.exit(cli.main(__doc__, schemas_are_valid, every_field_is_described, *map(with_judge, (
        golden_outputs_validate, outputs_of_databases_validate, outputs_with_outliers_validate, outputs_of_recordings_validate, outputs_of_measurements_validate, outputs_of_other_stores_validate, outputs_of_comparisons_validate, outputs_of_gates_validate, the_file_beside_a_recording_validates, outputs_of_servers_validate, loops_of_a_binary_validate,
        every_described_field_was_seen, spoilt_outputs_are_noticed)), readers_may_meet_unknown_fields, operands="maker"))
