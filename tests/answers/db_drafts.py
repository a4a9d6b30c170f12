# SPDX-License-Identifier: BSD-3-Clause
"""
Reads databases of the drafts (doc/formats/hpctoolkit-drafts.md) with nothing but `struct` and an XML parser, and gives them the shape of
tests/dump/expected.py: what they would say in 4.0. Nothing here comes from Lode.
"""

import re
import struct
import xml.etree.ElementTree as xml

LEXICAL = ("function", "loop", "line", "instruction")
RELATIONS = ("lexical", "call", "inlined_call")
ENTRIES = ("unknown_entry", "main_thread", "application_thread")
COMBINES = ("sum", "min", "max")
TYPES = ("custom", "point", "execution", "transitive")
TYPE_OF_SCOPE = {"point": "point", "execution": "execution", "function": "transitive"}
ROOTS = {"<program root>": ("main_thread", "main thread"), "<thread root>": ("application_thread", "application thread")}
UNKNOWN_ROOT = ("unknown_entry", "unknown entry")
IDLE = "<no activity>"


class Bytes:
    def __init__(self, path, order="<"):
        self.bytes, self.order = path.read_bytes(), order

    def get(self, form, place):
        return struct.unpack_from(self.order + form, self.bytes, place)

    def text(self, place):
        return self.bytes[place:self.bytes.index(0, place)].decode() if place else None

    def table(self, form, place, count, size):
        return [(place + i * size, self.get(form, place + i * size)) for i in range(count)]

    def section(self, index):
        return self.get("QQ", 16 + 16 * index)[1]


def _context(id, lexical, relation, function=None, place=None, point=None):
    file, line = place or (None, 0)
    module, offset = point or (None, 0)
    return {"id": id, "lexical": lexical, "relation": relation, "function": function, "file": file, "line": line,
            "module": module, "offset": offset, "children": []}


# ---- 4.0, and nearly ----

class Meta:
    """meta.db of 4.0 or, with `is_early`, of pre-A."""

    def __init__(self, path, is_early):
        self.file, self.is_early = Bytes(path), is_early
        self.idle = set()  # contexts that say that nothing ran
        get, section, text = self.file.get, self.file.section, self.file.text
        names, kinds = get("QB", section(1))
        self.data = {"id_names": [text(place) for place, in (get("Q", names + 8 * i) for i in range(kinds))],
                     "scopes": [], "metrics": []}
        for name, index in (("modules", 5), ("files", 6), ("functions", 7)):
            setattr(self, name, self.file.table("", *get("QIH", section(index))))
        self.places = {name: {place: i for i, (place, _) in enumerate(getattr(self, name))}
                       for name in ("modules", "files", "functions")}
        self.data["modules"] = [{"path": text(get("Q", place + 8)[0])} for place, _ in self.modules]
        self.data["files"] = [{"path": text(get("Q", place + 8)[0])} for place, _ in self.files]
        self.data["functions"] = [self._function(place) for place, _ in self.functions]
        (self._early_metrics if is_early else self._metrics)()
        (self._early_tree if is_early else self._tree)()

    def _function(self, place):
        name, module, offset, file, line = self.file.get("QQQQI", place)
        return {"name": self.file.text(name), "module": self.places["modules"].get(module), "offset": offset,
                "file": self.places["files"].get(file), "line": line}

    def _metrics(self):
        get, text = self.file.get, self.file.text
        at, count, size, instance_size, statistic_size, scopes_at, scopes, scope_size = get("QIBBBxQHB", self.file.section(2))
        places = {}
        for place, (name, kind) in self.file.table("QB", scopes_at, scopes, scope_size):
            places[place] = len(self.data["scopes"])
            self.data["scopes"].append({"name": text(name), "type": TYPES[kind]})
        for _, (name, instances_at, statistics_at, instances, statistics) in self.file.table("QQQHH", at, count, size):
            instances = self.file.table("QH", instances_at, instances, instance_size)
            statistics = self.file.table("QQBxH", statistics_at, statistics, statistic_size)
            self.data["metrics"].append({
                "name": text(name), "scopes": [{"scope": places[scope], "id": id} for _, (scope, id) in instances],
                "statistics": [{"scope": places[scope], "formula": text(formula), "combine": COMBINES[combine], "id": id}
                               for _, (scope, formula, combine, id) in statistics]})

    def _early_metrics(self):
        text, names = self.file.text, {}
        at, count, size, scope_size, statistic_size = self.file.get("QIBBB", self.file.section(2))
        for _, (name, scopes, scopes_at) in self.file.table("QH6xQ", at, count, size):
            metric = {"name": text(name), "scopes": [], "statistics": []}
            self.data["metrics"].append(metric)
            for _, (scope, statistics, id, statistics_at) in self.file.table("QHH4xQ", scopes_at, scopes, scope_size):
                scope = text(scope)
                number = names.setdefault(scope, len(names))
                metric["scopes"].append({"scope": number, "id": id})
                for _, (formula, combine, stat) in self.file.table("QBxH", statistics_at, statistics, statistic_size):
                    metric["statistics"].append({"scope": number, "formula": text(formula), "combine": COMBINES[combine],
                                                 "id": stat})
        self.data["scopes"] = [{"name": name, "type": TYPE_OF_SCOPE.get(name, "custom")} for name in names]

    def _tree(self):
        at, count, size = self.file.get("QHB", self.file.section(3))
        self.data["entry_points"] = []
        for _, (length, children_at, id, entry, name) in self.file.table("QQIHxxQ", at, count, size):
            self.data["entry_points"].append({"id": id, "entry": ENTRIES[entry], "name": self.file.text(name),
                                              "children": self._siblings(children_at, length)})

    def _early_tree(self):
        length, at = self.file.get("QQ", self.file.section(3))
        self.data["entry_points"] = []
        for root in self._siblings(at, length):
            name = None if root["function"] is None else self.data["functions"][root["function"]]["name"]
            if name == IDLE:
                self.idle.add(root["id"])
                continue
            entry, shown = ROOTS.get(name, UNKNOWN_ROOT)
            self.data["entry_points"].append({"id": root["id"], "entry": entry, "name": shown, "children": root["children"]})

    def _siblings(self, place, size, above=None):
        siblings, end, head = [], place + size, 24 if self.is_early else 32
        while place < end:
            length, children_at, id, flags, relation, lexical, words = self.file.get("QQIBBBB", place)
            more = list(self.file.get(f"{words}Q", place + head))
            function = self.places["functions"][more.pop(0)] if flags & 1 else None
            source = (self.places["files"][more.pop(0)], more.pop(0) & 0xffffffff) if flags & 2 else None
            point = (self.places["modules"][more.pop(0)], more.pop(0)) if flags & 4 else None
            context = _context(id, LEXICAL[lexical], RELATIONS[relation], function, source, point)
            # The first writers said that a line calls the instructions inside it.
            if self.is_early and context["lexical"] == "instruction" and above == "line":
                context["relation"] = "lexical"
            context["children"] = self._siblings(children_at, length, LEXICAL[lexical])
            siblings.append(context)
            place += head + 8 * words
        return siblings


def _profiles(path):
    """Profiles of 40 bytes, without flags: the first one is the summary."""
    file = Bytes(path)
    at, count, size = file.get("QIB", file.section(0))
    profiles = []
    for index, (_, (values, values_at, groups, groups_at, ids_at)) in enumerate(file.table("QQI4xQQ", at, count, size)):
        ids = file.get("H", ids_at)[0] if ids_at else 0
        ids = [{"kind": kind, "flags": flags, "logical": logical, "physical": physical}
               for _, (kind, flags, logical, physical) in file.table("BxHIQ", ids_at + 8, ids, 16)]
        groups = [group for _, group in file.table("IQ", groups_at, groups, 12)]
        table = {}
        for i, (context, first) in enumerate(groups):
            last = groups[i + 1][1] if i + 1 < len(groups) else values
            found = {str(id): value for _, (id, value) in file.table("Hd", values_at + 10 * first, last - first, 10)}
            if found:
                table[str(context)] = found
        profiles.append({"index": index, "summary": index == 0, "ids": ids, "values": table})
    return profiles


def _traces(path, idle):
    if not path.exists():
        return None
    file = Bytes(path)
    at, count, size, least, most = file.get("QIB3xQQ", file.section(0))
    lines = []
    for _, (profile, begin, end) in file.table("I4xQQ", at, count, size):
        samples = [[time, 0 if context in idle else context] for _, (time, context) in
                   file.table("QI", begin, (end - begin) // 12, 12)]
        lines.append({"profile": profile, "samples": samples})
    return {"min_time_ns": least, "max_time_ns": most, "lines": lines}


def read_early(folder):
    """pre-A and pre-B: nearly 4.0."""
    is_early = Bytes(folder / "meta.db").get("QIB", Bytes(folder / "meta.db").section(2))[2] == 24
    meta = Meta(folder / "meta.db", is_early)
    return {"meta": meta.data, "profiles": _profiles(folder / "profile.db"), "traces": _traces(folder / "trace.db", meta.idle)}


# ---- experiment.xml ----

class Experiment:
    def __init__(self, path):
        root = xml.parse(path).getroot()
        self.procedures = {p.get("i"): p.get("n") for p in root.iter("Procedure")}
        self.modules = self._names(root, "LoadModule", ("<unknown module>", "<no module>"))
        self.files = self._names(root, "File", ("<unknown file>",))
        self.idle, self.functions = set(), []
        kinds = {int(i.get("i")): i.get("n") for i in root.iter("Identifier")}
        trace = next(root.iter("TraceDB"), None)
        self.bounds = None if trace is None else (int(trace.get("db-min-time")), int(trace.get("db-max-time")))
        entries = list(filter(None, (self._entry(e) for e in root.find(".//SecCallPathProfileData"))))
        self.data = {"id_names": [kinds[i] for i in range(len(kinds))], "scopes": [
            {"name": "function", "type": "transitive"}, {"name": "execution", "type": "execution"}],
            "metrics": self._metrics(root), "modules": [{"path": p} for p in self.modules.values() if p],
            "files": [{"path": re.sub(r"^\./src/", "src/", p)} for p in self.files.values() if p],
            "functions": self.functions, "entry_points": entries}

    def _names(self, root, tag, nothing):
        names = {e.get("i"): e.get("n") for e in root.iter(tag)}
        return {i: None if n.split(" [")[0] in nothing else n for i, n in names.items()}

    def _index(self, names, id):
        """Among those that have a name."""
        known = [i for i, name in names.items() if name]
        return known.index(id) if id in known else None

    def _metrics(self, root):
        """X (I) is X under the execution scope, X (E) under the function scope; a statistic is a sum if it is shown as it is."""
        metrics = {}
        for column in root.iter("MetricDB"):
            name, scope = re.fullmatch(r"(.*) \((I|E)\)", column.get("n")).groups()
            metric = metrics.setdefault(name, {"name": name, "scopes": [], "statistics": []})
            metric["scopes"].append({"scope": int(scope == "I"), "id": int(column.get("i"))})
        shown = {f.get("frm") for f in root.iter("MetricFormula") if f.get("t") == "view"}
        for column in root.iter("Metric"):
            found = re.fullmatch(r"(.*):PARTIAL:\d+ \((I|E)\)", column.get("n"))
            combine = next((f.get("frm") for f in column.iter("MetricFormula") if f.get("t") == "combine"), "")
            if found and combine.startswith("sum(") and f"${column.get('i')}" in shown:
                metrics[found[1]]["statistics"].append({"scope": int(found[2] == "I"), "formula": "$$", "combine": "sum",
                                                        "id": int(column.get("i"))})
        return list(metrics.values())

    def _entry(self, element):
        name = self.procedures[element.get("n")]
        if name == IDLE:
            self.idle.add(int(element.get("i")))
            return None
        entry, shown = ROOTS.get(name, UNKNOWN_ROOT)
        return {"id": int(element.get("i")), "entry": entry, "name": shown,
                "children": self._children(element, int(element.get("i")), None, None)}

    def _children(self, element, id, module, file):
        """Contexts below the one with this id. `module` and `file` are those of what is around."""
        contexts = []
        for child in element:
            number = int(child.get("i"))
            if number < 0 and -number == id:
                contexts += self._children(child, id, module, file)  # stands for what it is in
            elif number < 0:
                for inlined in child:
                    place = (self._index(self.files, child.get("f", file)), int(child.get("l")))
                    contexts.append(self._called(inlined, "inlined_call", place))
            elif child.tag == "PF":
                contexts.append(self._called(child, "call", None))
            else:
                contexts.append(self._inside(child, number, module, file))
        return contexts

    def _called(self, element, relation, place):
        id, module, file = int(element.get("i")), element.get("lm"), element.get("f")
        if element.get("v") is None:  # not known: the instruction that stands for it says where
            address = next(int(e.get("v"), 0) for e in element if int(e.get("i")) == -id)
            context = _context(id, "instruction", relation, point=(self._index(self.modules, module), address))
        else:
            record = {"name": self.procedures[element.get("n")], "module": self._index(self.modules, module),
                      "offset": int(element.get("v"), 0), "file": self._index(self.files, file),
                      "line": int(element.get("l"))}
            self.functions.append(record)
            context = _context(id, "function", relation, len(self.functions) - 1, place)
        context["children"] = self._children(element, id, module, file)
        return context

    def _inside(self, element, id, module, around):
        file = self._index(self.files, element.get("f", around))
        place = None if file is None else (file, int(element.get("l")))
        address = int(element.get("v", "0"), 0)
        point = (self._index(self.modules, module), address) if address else None
        if element.tag == "L":
            context = _context(id, "loop", "lexical", None, place, point)
        elif element.tag == "S" and address or place is None:
            context = _context(id, "instruction", "lexical", None, None, point)
        else:
            context = _context(id, "line", "lexical", None, place, point)
        context["children"] = self._children(element, id, module, element.get("f", around))
        return context


def _draft_profiles(path):
    file = Bytes(path, ">")
    count, _, table = file.get("IH8xQ", 0x12)[0], *file.get("QQ", 0x18)
    profiles = []
    for index, (_, (ids_at, values, groups, block)) in enumerate(file.table("Q24xQIQ", table, count, 52)):
        # The two high bits say which numbers mean something: 0, both.
        ids = [{"kind": kind & 0x3fff, "flags": int(kind >> 14 == 0), "logical": logical, "physical": physical}
               for _, (kind, physical, logical) in file.table("HQQ", ids_at + 2, file.get("H", ids_at)[0], 18)]
        starts = [g for _, g in file.table("IQ", block + 10 * values, groups + 1, 12)]
        found = {}
        for (context, first), (_, last) in zip(starts, starts[1:]):
            numbers = {str(id): value for _, (value, id) in file.table("dH", block + 10 * first, last - first, 10)}
            if numbers:
                found[str(context)] = numbers
        profiles.append({"index": index, "summary": index == 0, "ids": ids, "values": found})
    return profiles


def _draft_traces(path, idle, bounds):
    if not path.exists():
        return None
    file, lines = Bytes(path, ">"), []
    count, table = file.get("I", 0x12)[0], file.get("Q", 0x20)[0]
    for _, (profile, kind, begin, end) in file.table("IHQQ", table, count, 22):
        samples = [[time, 0 if context in idle else context] for _, (time, context) in
                   file.table("QI", begin, (end - begin) // 12, 12)]
        if kind == 0:
            lines.append({"profile": profile, "samples": samples})
    times = [s[0] for line in lines for s in line["samples"]]
    least, most = bounds or (min(times, default=0), max(times, default=0))
    return {"min_time_ns": least, "max_time_ns": most, "lines": lines}


def read_xml(folder):
    experiment = Experiment(folder / "experiment.xml")
    return {"meta": experiment.data, "profiles": _draft_profiles(folder / "profile.db"),
            "traces": _draft_traces(folder / "trace.db", experiment.idle, experiment.bounds)}


def read(folder):
    return read_xml(folder) if (folder / "experiment.xml").exists() else read_early(folder)
