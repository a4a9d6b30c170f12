#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What hpcviewer is known to need of a database, beyond the specification, looked up in the bytes of converted
and made databases, and that no byte is there by accident.
"""

import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path

from raw import Database
from tool import Tap, corpus_databases, parse_arguments

try:
    import yaml
except ImportError:
    yaml = None

SIGNED_BYTE, SIGNED_SHORT, SIGNED_INT = 1 << 7, 1 << 15, 1 << 31
SIZES = {"szMetric": 32, "szScopeInst": 16, "szSummary": 24, "szScope": 16}
CUSTOM, EXECUTION = 0, 2
COMBINE = {0: "sum", 1: "min", 2: "max"}

MADE = {
    "as it comes": [],
    "no traces": ["--samples", "0"],
    "many metrics": ["--metrics", "40", "--contexts", "100", "--profiles", "3"],
    "many profiles": ["--profiles", "300", "--contexts", "30", "--samples", "2"],
}


def file_problems(db):
    for file in db.files():
        if not file.header_is_right:
            yield f"{file.name}: its magic, version or footer is wrong"
        for name, (at, size) in file.sections.items():
            if at % 8 or at + size > len(file.bytes) - 8:
                yield f"{file.name}: the section {name} is not aligned or not inside the file"
            if size >= SIGNED_INT:
                yield f"{file.name}: the section {name} is larger than a signed number"
        yield from file.wrong_bytes()
    if db.cct.sections["Contexts"][0] < 0x30:
        yield "cct.db: its section begins where old readers see the header"


def metric_problems(db):
    header = db.metrics_header
    for name, size in SIZES.items():
        if header[name] != size:
            yield f"{name} is {header[name]}"
    sizes = [record["sz"] for record in (*db.headers.values(), db.tree_header, db.profiles_header, db.contexts_header)]
    sizes += [db.traces_header["sz"]] if db.traces_header else []
    if max(sizes) >= SIGNED_BYTE:
        yield f"a record is larger than a signed byte: {sizes}"
    ids = [record["id"] for metric in db.metrics for record in metric["instances"]]
    statistics = [record["id"] for metric in db.metrics for record in metric["statistics"]]
    if len(set(ids)) != len(ids) or len(set(statistics)) != len(statistics):
        yield "a metric id is used twice"
    if max(ids + statistics + [header["nMetrics"], len(db.entries)], default=0) >= SIGNED_SHORT:
        yield "a metric id or a count is larger than a signed 16-bit number"
    if len(db.kinds) >= SIGNED_BYTE:
        yield "there are more kinds of ids than a signed byte holds"
    for metric in db.metrics:
        custom = Counter((record["formula"], record["combine"]) for record in metric["statistics"]
                         if record["scope"]["type"] == CUSTOM)
        if max(custom.values(), default=0) > 1:
            yield f"{metric['name']} has two custom scopes with the same statistic"


def string_problems(db):
    """hpcviewer keeps strings of three sections by their place in the section alone."""
    owners = {}
    for place, section, at in db.places:
        if owners.setdefault(place, (section, at)) != (section, at):
            yield f"strings of {owners[place][0]} and {section} begin at the same place in their sections, {place:#x}"


def profile_problems(db):
    summary, *others = db.profiles
    if summary["flags"] != 1 or summary["pIdTuple"] != 0:
        yield "profile 0 is no summary, or has an id tuple"
    for index, profile in enumerate(others, 1):
        if profile["flags"] != 0 or profile["pIdTuple"] == 0 or not profile["ids"]:
            yield f"profile {index} is a summary, or has no id tuple"
        if any(id["kind"] >= len(db.kinds) for id in profile["ids"]):
            yield f"profile {index} has an id of a kind without a name"
    for index, profile in enumerate(db.profiles):
        if profile["pValues"] % 2 or profile["pCtxIndices"] % 4:
            yield f"profile {index} is not aligned"
    if db.trace:
        if [line["profile"] for line in db.traces] != list(range(1, len(db.profiles))):
            yield "there is not one trace line for each profile, in their order"
        for line in db.traces:
            size = line["pEnd"] - line["pStart"]
            if size < 0 or size % 12 or line["pStart"] % 8:
                yield f"the trace line of profile {line['profile']} is not aligned, or no multiple of a sample"
    for id, context in enumerate(db.contexts):
        if context["pValues"] % 4 or context["pMetricIndices"] % 2:
            yield f"context {id} of cct.db is not aligned"


# ---- metrics/default.yaml ----

def taxonomy_problems(db, folder, is_taken_over):
    """One that was taken over is as its writer made it (see source_kept.py); viewers read it then as they did before."""
    path = folder / "metrics" / "default.yaml"
    text = path.read_text(encoding="utf-8")
    data = yaml.load(text, yaml.SafeLoader)
    if type(data.get("version")) is not int:
        yield "default.yaml: its version is not a whole number"
    if not isinstance(data.get("inputs"), list) or not isinstance(data.get("roots"), list):
        yield "default.yaml: inputs and roots are not lists"
        return
    yield from input_problems(db, data["inputs"])
    if is_taken_over:
        return
    if len(data["inputs"]) != sum(len(metric["statistics"]) for metric in db.metrics):
        yield f"default.yaml: {len(data['inputs'])} inputs are not all statistics"
    shown = [metric["name"] for metric in db.metrics
             if any(record["scope"]["type"] == EXECUTION for record in metric["statistics"])]
    if sorted(root["name"] for root in data["roots"]) != sorted(shown):
        yield "default.yaml: its roots are not the metrics that have inclusive values"
    top = dict((key.value, node) for key, node in yaml.compose(text, yaml.SafeLoader).value)
    inputs = set(map(id, top["inputs"].value))
    for root in top["roots"].value:
        fields = dict((key.value, node) for key, node in root.value)
        if fields["variants"].tag.endswith(":null"):
            yield f"default.yaml: {fields['name'].value} has no variants"
            continue
        for key, variant in fields["variants"].value:
            yield from variant_problems(f"{fields['name'].value}, {key.value}", variant, inputs)


def input_problems(db, inputs):
    stored = Counter((metric["name"].lower(), record["scope"]["name"], record["formula"], COMBINE[record["combine"]])
                     for metric in db.metrics for record in metric["statistics"])
    for item in inputs:
        key = (item["metric"].lower(), item["scope"], str(item["formula"]), item["combine"])
        if stored[key] != 1:
            yield f"default.yaml: the input {key} matches {stored[key]} statistics"


def variant_problems(where, variant, inputs):
    fields = dict((key.value, node) for key, node in variant.value)
    if not isinstance(fields["render"], yaml.SequenceNode) or not fields["render"].value:
        yield f"default.yaml: {where} has no render"
    kinds = {key.value: node for key, node in fields["formula"].value}
    if kinds.keys() != {"inclusive", "exclusive"}:
        yield f"default.yaml: {where} is not inclusive and exclusive"
    for kind, node in kinds.items():
        formulas = {key.value: formula for key, formula in node.value} if isinstance(node, yaml.MappingNode) else {}
        if "standard" not in formulas or not formulas.keys() <= {"standard", "custom"}:
            yield f"default.yaml: {where}, {kind}: there are formulas for {sorted(formulas)}"
        for formula in formulas.values():
            yield from formula_problems(f"{where}, {kind}", formula, inputs)


def formula_problems(where, node, inputs):
    """An input, a number, or {"operator": [one or two formulas]} in one line."""
    if id(node) in inputs:
        return
    if isinstance(node, yaml.ScalarNode):
        if node.tag.rpartition(":")[2] not in ("int", "float"):
            yield f"default.yaml: {where}: {node.value} is no number"
        return
    if not isinstance(node, yaml.MappingNode) or not node.flow_style or len(node.value) != 1:
        yield f"default.yaml: {where}: a formula is no flow map with one operator"
        return
    (operator, arguments), = node.value
    if operator.value not in ("+", "-", "*", "/", "^", "sqrt"):
        yield f"default.yaml: {where}: the operator {operator.value}"
    if not isinstance(arguments, yaml.SequenceNode) or not arguments.flow_style or not 1 <= len(arguments.value) <= 2:
        yield f"default.yaml: {where}: not one or two arguments in a flow list"
        return
    for argument in arguments.value:
        yield from formula_problems(where, argument, inputs)


# ---- all of it ----

def problems(folder, is_taken_over):
    db = Database(folder)
    for check in (file_problems, metric_problems, string_problems, profile_problems):
        yield from check(db)
    if yaml:
        yield from taxonomy_problems(db, folder, is_taken_over)
    elif not (folder / "metrics" / "default.yaml").is_file():
        yield "default.yaml is missing"
    for name in ("FORMATS.md", "metrics/METRICS.yaml.ex"):
        if not (folder / name).is_file() or not (folder / name).read_text(encoding="utf-8").strip():
            yield f"{name} is missing"


def what_is_wrong(folder, is_taken_over=False):
    """The problems; that it cannot be read is one."""
    try:
        return list(problems(folder, is_taken_over))
    except (ValueError, LookupError, TypeError, OSError, struct.error, *((yaml.YAMLError,) if yaml else ())) as error:
        return [repr(error)]


def look_at(tap, lode, title, arguments, is_taken_over=False):
    with tempfile.TemporaryDirectory(prefix="lode-viewer-") as folder:
        target = Path(folder) / "new"
        try:
            lode.must(*arguments, "-o", target)
            found = what_is_wrong(target, is_taken_over)
        except ValueError as error:
            found = [error]
    tap.check(not found, title, found[:20])


# ---- would it notice? ----

def harm(path, change):
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def harms(folder):
    """(title, file, change): each must be noticed."""
    db = Database(folder)
    node, profile, line = db.nodes[0]["at"], db.profiles[1]["at"], db.traces[1]["at"]
    header, kinds = db.metrics_header["at"], db.meta.sections["IdNames"][0]
    function, scope = db.functions[0]["at"], db.scopes[0]["at"]

    def put(at, *values):
        return lambda data: data.__setitem__(slice(at, at + len(values)), bytes(values))

    def same_place(data):
        # The title, moved to the place in its section that a name of a kind has in its own.
        general = db.meta.sections["General"][0]
        place = next(place for place, section, _ in db.places if section == "IdNames")
        data[general:general + 8] = (general + place).to_bytes(8, "little")

    yield "magic", "cct.db", put(3, 0)
    yield "version", "meta.db", put(14, 5)
    yield "footer", "trace.db", lambda data: data.__setitem__(-1, 0)
    yield "reserved bytes of the header of cct.db", "cct.db", put(0x24, 1)
    yield "reserved bytes of a context", "meta.db", put(node + 0x1c, 1)
    yield "reserved flags of a function", "meta.db", put(function + 0x24, 0x81, 0x7f)
    yield "reserved bytes of a scope", "meta.db", put(scope + 0x0c, 1)
    yield "reserved bytes of the names of ids", "meta.db", put(kinds + 9, 1)
    yield "reserved bytes of a profile", "profile.db", put(profile + 0x2c, 1)
    yield "reserved bytes of a trace line", "trace.db", put(line + 4, 1)
    yield "size of scope instances", "meta.db", put(header + 13, 24)
    yield "size of scopes", "meta.db", put(header + 26, 24)
    yield "metric id beyond 16 bits with a sign", "meta.db", put(db.metrics[0]["instances"][0]["at"] + 9, 0x80)
    yield "trace lines out of order", "trace.db", put(line, 1)
    yield "profile without an id tuple", "profile.db", put(profile + 0x20, 0, 0, 0, 0, 0, 0, 0, 0)
    yield "second summary", "profile.db", put(profile + 0x28, 1)
    yield "summary with an id tuple", "profile.db", put(db.profiles[0]["at"] + 0x20, *profile.to_bytes(8, "little"))
    yield "strings of two sections at the same place", "meta.db", same_place
    yield "missing FORMATS.md", "FORMATS.md", None
    yield "missing METRICS.yaml.ex", "metrics/METRICS.yaml.ex", None
    if not yaml:
        return

    def replace(old, new):
        return lambda data: data.__setitem__(slice(None), bytes(data).replace(old, new, 1))

    taxonomy = "metrics/default.yaml"
    yield "version of the taxonomy", taxonomy, replace(b"version: 0", b"version: zero")
    yield "input that nothing matches", taxonomy, replace(b"\"execution\"", b"\"executions\"")
    yield "input with another formula", taxonomy, replace(b"$$", b"$$+1")
    yield "formula that is a list", taxonomy, replace(b"standard: *s3", b"standard: [*s3, \"/\", *s3]")
    yield "formula of three arguments", taxonomy, replace(b"standard: *s3", b"standard: {\"+\": [*s3, *s3, *s3]}")
    yield "anchor that is not there", taxonomy, replace(b"standard: *s3", b"standard: *s99")


def try_harms(tap, lode):
    with tempfile.TemporaryDirectory(prefix="lode-viewer-") as folder:
        sound = Path(folder) / "sound"
        lode.must("synth", "database", "--contexts", "50", "--profiles", "3", "-o", sound)
        if not tap.check(not what_is_wrong(sound), "a sound database, to be harmed", what_is_wrong(sound)):
            return
        for title, name, change in harms(sound):
            path = sound / name
            before = path.read_bytes()
            if change:
                harm(path, change)
            else:
                path.unlink()
            found = what_is_wrong(sound)
            path.write_bytes(before)
            tap.check(found, f"noticed: {title}")
            tap.note(f"as: {found[0]}" if found else "")


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    try_harms(tap, options.lode)
    if yaml is None:
        tap.skip("metrics/default.yaml", "this Python has no yaml")
    for name, parameters in MADE.items():
        look_at(tap, options.lode, f"made: {name}", ["synth", "database", *parameters])
    databases = corpus_databases(options)
    if not databases:
        tap.skip("databases of the corpus", "no corpus: set LODE_CORPUS")
    for name, database in databases.items():
        look_at(tap, options.lode, name, ["convert", database], (database / "metrics" / "default.yaml").is_file())
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
