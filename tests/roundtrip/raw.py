# SPDX-License-Identifier: BSD-3-Clause
"""
The bytes of a database, read with nothing but `struct` and the offsets of the specification. Every byte that
is read as a field is accounted for; those that are not must be zero.
"""

import struct

U8, U16, U32, U64 = "<B", "<H", "<I", "<Q"
MAGIC = b"HPCTOOLKIT"
FILES = {
    "meta.db": (b"meta", b"_meta.db",
                ("General", "IdNames", "Metrics", "Context", "Strings", "Modules", "Files", "Functions")),
    "profile.db": (b"prof", b"_prof.db", ("Profiles", "IdTuples")),
    "cct.db": (b"ctxt", b"__ctx.db", ("Contexts",)),
    "trace.db": (b"trce", b"trace.db", ("Traces",)),
}
# Fields by table: (name, offset, type). What is not named is reserved.
TABLES = {
    "General": [("pTitle", 0, U64), ("pDescription", 8, U64)],
    "IdNames": [("ppNames", 0, U64), ("nKinds", 8, U8)],
    "Metrics": [("pMetrics", 0, U64), ("nMetrics", 8, U32), ("szMetric", 12, U8), ("szScopeInst", 13, U8),
                ("szSummary", 14, U8), ("pScopes", 16, U64), ("nScopes", 24, U16), ("szScope", 26, U8)],
    "Metric": [("pName", 0, U64), ("pScopeInsts", 8, U64), ("pSummaries", 16, U64), ("nScopeInsts", 24, U16),
               ("nSummaries", 26, U16)],
    "ScopeInst": [("pScope", 0, U64), ("id", 8, U16)],
    "Summary": [("pScope", 0, U64), ("pFormula", 8, U64), ("combine", 16, U8), ("id", 18, U16)],
    "Scope": [("pName", 0, U64), ("type", 8, U8), ("propagationIndex", 9, U8)],
    "Modules": [("p", 0, U64), ("n", 8, U32), ("sz", 12, U16)],
    "Module": [("pPath", 8, U64)],
    "Files": [("p", 0, U64), ("n", 8, U32), ("sz", 12, U16)],
    "File": [("copied", 0, U8), ("pPath", 8, U64)],
    "Functions": [("p", 0, U64), ("n", 8, U32), ("sz", 12, U16)],
    "Function": [("pName", 0, U64), ("pModule", 8, U64), ("offset", 16, U64), ("pFile", 24, U64), ("line", 32, U32)],
    "Context": [("p", 0, U64), ("n", 8, U16), ("sz", 10, U8)],
    "Entry": [("szChildren", 0, U64), ("pChildren", 8, U64), ("id", 16, U32), ("entry", 20, U16), ("pName", 24, U64)],
    "Node": [("szChildren", 0, U64), ("pChildren", 8, U64), ("id", 16, U32), ("flags", 20, U8), ("relation", 21, U8),
             ("lexical", 22, U8), ("nFlex", 23, U8), ("propagation", 24, U16)],
    "Profiles": [("p", 0, U64), ("n", 8, U32), ("sz", 12, U8)],
    "Profile": [("nValues", 0, U64), ("pValues", 8, U64), ("nCtxs", 16, U32), ("pCtxIndices", 24, U64),
                ("pIdTuple", 32, U64), ("flags", 40, U32)],
    "IdTuple": [("n", 0, U16)],
    "Id": [("kind", 0, U8), ("flags", 2, U16), ("logical", 4, U32), ("physical", 8, U64)],
    "Contexts": [("p", 0, U64), ("n", 8, U32), ("sz", 12, U8)],
    "ContextInfo": [("nValues", 0, U64), ("pValues", 8, U64), ("nMetrics", 16, U16), ("pMetricIndices", 24, U64)],
    "Traces": [("p", 0, U64), ("n", 8, U32), ("sz", 12, U8), ("min", 16, U64), ("max", 24, U64)],
    "Trace": [("profile", 0, U32), ("pStart", 8, U64), ("pEnd", 16, U64)],
}
NODE_SIZE, ID_TUPLE_SIZE, ID_SIZE = 32, 8, 16


class File:
    """One of the four files. Records come as dictionaries, with their place as "at"."""

    def __init__(self, path):
        kind, footer, sections = FILES[path.name]
        self.name = path.name
        self.bytes = path.read_bytes()
        self._used = {(0, 16), (len(self.bytes) - 8, len(self.bytes))}
        self.header_is_right = self.bytes[:16] == MAGIC + kind + b"\4\0" and self.bytes[-8:] == footer
        self.sections = {}
        for index, name in enumerate(sections):
            size, at = self.number(16 + 16 * index, U64), self.number(24 + 16 * index, U64)
            self.sections[name] = (at, size)

    def use(self, at, size):
        if size:
            self._used.add((at, at + size))

    def number(self, at, type):
        self.use(at, struct.calcsize(type))
        return struct.unpack_from(type, self.bytes, at)[0]

    def record(self, table, at):
        return {"at": at, **{name: self.number(at + offset, type) for name, offset, type in TABLES[table]}}

    def section(self, name):
        return self.record(name, self.sections[name][0])

    def table(self, record, name, p="p", n="n", sz="sz"):
        return [self.record(name, record[p] + i * record[sz]) for i in range(record[n])]

    def text(self, at):
        end = self.bytes.index(b"\0", at)
        self.use(at, end + 1 - at)
        return self.bytes[at:end].decode("utf-8", "surrogateescape")

    def wrong_bytes(self):
        """What is read twice, and what is never read but not zero; at most a few."""
        end, found = 0, []
        for first, last in sorted(self._used):
            if first < end:
                found.append(f"{self.name}: the bytes at {first:#x} belong to two things")
            elif any(self.bytes[end:first]):
                found.append(f"{self.name}: bytes between {end:#x} and {first:#x} are not zero")
            end = max(end, last)
        return found[:5]


class Database:
    """Everything in the four files, each byte once."""

    def __init__(self, folder):
        self.meta, self.profile, self.cct = (File(folder / name) for name in ("meta.db", "profile.db", "cct.db"))
        self.trace = File(folder / "trace.db") if (folder / "trace.db").exists() else None
        self._read_metrics()
        self._read_symbols()
        self._read_tree()
        self._read_profiles()
        self._read_contexts()
        self._read_traces()

    def files(self):
        return [file for file in (self.meta, self.profile, self.cct, self.trace) if file]

    def _text_of(self, section, at):
        """A string of one of the sections that hpcviewer confuses: remembers its place in the section."""
        self.places.append((at - self.meta.sections[section][0], section, at))
        return self.meta.text(at)

    def _read_metrics(self):
        meta = self.meta
        self.places = []
        general, names = meta.section("General"), meta.section("IdNames")
        self.title = self._text_of("General", general["pTitle"])
        self.description = self._text_of("General", general["pDescription"])
        self.kinds = [self._text_of("IdNames", meta.number(names["ppNames"] + 8 * i, U64))
                      for i in range(names["nKinds"])]
        self.metrics_header = header = meta.section("Metrics")
        self.scopes = meta.table(header, "Scope", "pScopes", "nScopes", "szScope")
        for scope in self.scopes:
            scope["name"] = self._text_of("Metrics", scope["pName"])
        by_place = {scope["at"]: scope for scope in self.scopes}
        self.metrics = meta.table(header, "Metric", "pMetrics", "nMetrics", "szMetric")
        for metric in self.metrics:
            metric["name"] = self._text_of("Metrics", metric["pName"])
            metric.update(szScopeInst=header["szScopeInst"], szSummary=header["szSummary"])
            metric["instances"] = meta.table(metric, "ScopeInst", "pScopeInsts", "nScopeInsts", "szScopeInst")
            metric["statistics"] = meta.table(metric, "Summary", "pSummaries", "nSummaries", "szSummary")
            for record in metric["instances"] + metric["statistics"]:
                record["scope"] = by_place[record["pScope"]]
            for statistic in metric["statistics"]:
                statistic["formula"] = self._text_of("Metrics", statistic["pFormula"])

    def _read_symbols(self):
        meta = self.meta
        self.headers = {name: meta.section(name) for name in ("Modules", "Files", "Functions")}
        self.modules = meta.table(self.headers["Modules"], "Module")
        self.sources = meta.table(self.headers["Files"], "File")
        self.functions = meta.table(self.headers["Functions"], "Function")
        for record in self.modules + self.sources:
            meta.text(record["pPath"])
        for function in self.functions:
            if function["pName"]:
                meta.text(function["pName"])

    def _read_tree(self):
        meta = self.meta
        self.tree_header = meta.section("Context")
        self.entries = meta.table(self.tree_header, "Entry")
        self.nodes = []
        waiting = list(self.entries)
        for entry in self.entries:
            meta.text(entry["pName"])
        while waiting:
            parent = waiting.pop()
            at, end = parent["pChildren"], parent["pChildren"] + parent["szChildren"]
            while at < end:
                node = meta.record("Node", at)
                self._read_flex(node)
                self.nodes.append(node)
                waiting.append(node)
                at += NODE_SIZE + 8 * node["nFlex"]

    def _read_flex(self, node):
        """Function; file and line; module and offset: the words that the flags announce."""
        at = node["at"] + NODE_SIZE
        if node["flags"] & 1:
            self.meta.use(at, 8)
            at += 8
        if node["flags"] & 2:
            self.meta.use(at, 12)
            at += 16
        if node["flags"] & 4:
            self.meta.use(at, 16)

    def _read_profiles(self):
        file = self.profile
        self.profiles_header = file.section("Profiles")
        self.profiles = file.table(self.profiles_header, "Profile")
        for profile in self.profiles:
            file.use(profile["pValues"], 10 * profile["nValues"])
            file.use(profile["pCtxIndices"], 12 * profile["nCtxs"])
            profile["ids"] = []
            if profile["pIdTuple"]:
                header = file.record("IdTuple", profile["pIdTuple"])
                profile["ids"] = [file.record("Id", header["at"] + ID_TUPLE_SIZE + ID_SIZE * i)
                                  for i in range(header["n"])]

    def _read_contexts(self):
        file = self.cct
        self.contexts_header = file.section("Contexts")
        self.contexts = file.table(self.contexts_header, "ContextInfo")
        for context in self.contexts:
            file.use(context["pValues"], 12 * context["nValues"])
            file.use(context["pMetricIndices"], 10 * context["nMetrics"])

    def _read_traces(self):
        self.traces_header, self.traces = None, []
        if self.trace:
            self.traces_header = self.trace.section("Traces")
            self.traces = self.trace.table(self.traces_header, "Trace")
            for line in self.traces:
                self.trace.use(line["pStart"], line["pEnd"] - line["pStart"])
