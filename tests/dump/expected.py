# SPDX-License-Identifier: BSD-3-Clause
"""
Reads what the independent reader made of a database (YAML), and puts it in the shape of `lode dump` (JSON).

The YAML is read as events and typed by field, not by YAML's own rules for plain scalars: those would take a function
that is called "on" for a truth value, and 1e-05 for a string.
"""

import gzip
import re

import yaml
from yaml.cyaml import CParser

CONTEXT_FLAGS = {"has_function": 1, "has_srcloc": 2, "has_point": 4}
FILE_FLAGS = {"copied": 1}
PROFILE_FLAGS = {"is_summary": 1}
ID_FLAGS = {"is_physical": 1}


class Record(dict):
    """An object with fixed fields, and the noun that it is counted as."""

    def __init__(self, noun, **fields):
        super().__init__(fields)
        self.noun = noun


class Values(dict):
    """An object whose keys are data: numbers by key, counted as a noun; or such objects by key."""

    def __init__(self, noun, items):
        super().__init__(items)
        self.noun = noun


class Row(list):
    """A list of fixed length, counted as a noun."""

    def __init__(self, noun, items):
        super().__init__(items)
        self.noun = noun


class NotKnown:
    """A line or an offset that the database does not have: null or 0."""

    def __repr__(self):
        return "null or 0"


NOT_KNOWN = NotKnown()


def _nodes(parser):
    """One YAML document as dicts, lists, strings and None; an alias is the same object as its anchor."""
    anchors = {}
    next_event = parser.get_event

    def build(event):
        kind = type(event)
        if kind is yaml.ScalarEvent:
            plain = event.style is None or event.style == ""
            node = None if plain and event.value in ("", "~", "null") else event.value
        elif kind is yaml.AliasEvent:
            return anchors[event.anchor]
        elif kind is yaml.MappingStartEvent:
            node = {}
            while type(key := next_event()) is not yaml.MappingEndEvent:
                if type(key) is not yaml.ScalarEvent or key.value in node:
                    raise ValueError(f"line {key.start_mark.line + 1}: a key that is not simple, or comes twice")
                node[key.value] = build(next_event())
        elif kind is yaml.SequenceStartEvent:
            node = []
            while type(item := next_event()) is not yaml.SequenceEndEvent:
                node.append(build(item))
        else:
            raise ValueError(f"unexpected {event}")
        if event.anchor:
            anchors[event.anchor] = node
        return node

    for wanted in (yaml.StreamStartEvent, yaml.DocumentStartEvent):
        if type(next_event()) is not wanted:
            raise ValueError("not a YAML document")
    root = next_event()
    if root.tag != "!db/v4":
        raise ValueError(f"not a database: {root.tag}")
    return build(root)


class _Index:
    """Where an object stands in a list, by identity."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.places = {id(node): place for place, node in enumerate(nodes)}

    def of(self, node):
        return None if node is None else self.places[id(node)]


def _int_or_not_known(text):
    return NOT_KNOWN if text is None else int(text)


def _bits(names, bits):
    return sum(bits[name] for name in names)


def _metric(node, scopes):
    return Record(
        "metric", name=node["name"],
        scopes=[Record("scope of a metric", scope=scopes.of(s["scope"]), id=int(s["prop_metric_id"]))
                for s in node["scope_insts"]],
        statistics=[Record("statistic", scope=scopes.of(s["scope"]), formula=s["formula"],
                           combine=s["combine"], id=int(s["stat_metric_id"]))
                    for s in node["summaries"]])


def _function(node, modules, files):
    if node["flags"]:
        raise ValueError("function flags")
    return Record("function", name=node["name"], module=modules.of(node["module"]),
                  offset=_int_or_not_known(node["offset"]), file=files.of(node["file"]),
                  line=_int_or_not_known(node["line"]))


def _context(node, functions, files, modules):
    return Record("context", id=int(node["ctx_id"]), flags=_bits(node["flags"], CONTEXT_FLAGS),
                  relation=node["relation"], lexical=node["lexical_type"],
                  propagation=int(node["propagation"]), function=functions.of(node["function"]),
                  file=files.of(node["file"]), line=_int_or_not_known(node["line"]),
                  module=modules.of(node["module"]), offset=_int_or_not_known(node["offset"]),
                  children=[_context(child, functions, files, modules) for child in node["children"]])


def _meta(node):
    scopes = _Index(node["metrics"]["scopes"])
    modules = _Index(node["modules"]["modules"])
    files = _Index(node["files"]["files"])
    functions = _Index(node["functions"]["functions"])
    if any(module["flags"] for module in modules.nodes):
        raise ValueError("module flags")
    return Record(
        "metadata", title=node["general"]["title"], description=node["general"]["description"],
        id_names=node["id_names"]["names"],
        scopes=[Record("scope", name=s["scope_name"], type=s["type"],
                       propagation_index=int(s["propagation_index"])) for s in scopes.nodes],
        metrics=[_metric(metric, scopes) for metric in node["metrics"]["metrics"]],
        modules=[Record("module", path=module["path"]) for module in modules.nodes],
        files=[Record("file", path=file["path"], copied=bool(_bits(file["flags"], FILE_FLAGS)))
               for file in files.nodes],
        functions=[_function(function, modules, files) for function in functions.nodes],
        entry_points=[Record("entry point", id=int(entry["ctx_id"]), entry=entry["entry_point"],
                             name=entry["pretty_name"],
                             children=[_context(child, functions, files, modules) for child in entry["children"]])
                      for entry in node["context"]["entry_points"]])


def _profile(index, node):
    flags = _bits(node["flags"], PROFILE_FLAGS)
    ids = node["id_tuple"]["ids"] if node["id_tuple"] else []
    return Record(
        "profile", index=index, summary=bool(flags & PROFILE_FLAGS["is_summary"]), flags=flags,
        ids=[Record("id", kind=int(i["kind"]), flags=_bits(i["flags"], ID_FLAGS), logical=int(i["logical_id"]),
                    physical=int(i["physical_id"])) for i in ids],
        values=_values("value by profile", node["values"]))


def _values(noun, groups):
    return Values(noun, {group: Values(noun, {key: float(value) for key, value in values.items()})
                         for group, values in groups.items()})


def _contexts(node):
    return [Record("context block", id=index, values=_values("value by context", context["values"]))
            for index, context in enumerate(node["ctx_infos"]["contexts"]) if context["values"]]


def _traces(node):
    headers = node["ctx_traces"]
    return Record(
        "trace file", min_time_ns=int(headers["timestamp_range"]["min"]), max_time_ns=int(headers["timestamp_range"]["max"]),
        lines=[Record("trace line", profile=int(trace["prof_index"]),
                      samples=[Row("sample", [int(s["timestamp"]), int(s["ctx_id"])]) for s in trace["line"]])
               for trace in headers["traces"]])


def from_nodes(nodes):
    """The reader's data in the shape of the dump."""
    blocks = nodes["context"]
    return Record(
        "database", meta=_meta(nodes["meta"]),
        profiles=[_profile(index, node) for index, node in enumerate(nodes["profile"]["profile_infos"]["profiles"])],
        contexts=_contexts(blocks) if blocks else None,
        context_block_count=len(blocks["ctx_infos"]["contexts"]) if blocks else None,
        traces=_traces(nodes["trace"]) if nodes["trace"] else None)


def from_text(text):
    return from_nodes(_nodes(CParser(text)))


def from_file(path):
    with gzip.open(path, "rb") as stream:
        return from_nodes(_nodes(CParser(stream)))


def stated_version(meta_db):
    """The version in the header of meta.db, which the reader does not pass on."""
    with open(meta_db, "rb") as stream:
        header = stream.read(16)
    if not re.match(rb"HPCTOOLKITmeta", header):
        raise ValueError(f"{meta_db}: not a meta.db")
    return [header[14], header[15]]
