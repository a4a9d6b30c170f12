# SPDX-License-Identifier: BSD-3-Clause
"""
The content of a database in the shape of tests/dump/expected.py: read from its bytes with nothing but `struct` and the offsets of
doc/formats/hpctoolkit-4.0.md, and written as the YAML that expected/ has. Nothing here comes from Lode.
"""

import gzip
import json
import struct

LEXICAL = ("function", "loop", "line", "instruction")
RELATIONS = ("lexical", "call", "inlined_call")
ENTRIES = ("unknown_entry", "main_thread", "application_thread")
SCOPES = ("custom", "point", "execution", "transitive")
COMBINES = ("sum", "min", "max")
CONTEXT_FLAGS = ("has_function", "has_srcloc", "has_point")


class Bytes:
    def __init__(self, path):
        self.bytes = path.read_bytes()

    def get(self, form, place):
        return struct.unpack_from("<" + form, self.bytes, place)

    def text(self, place):
        return self.bytes[place:self.bytes.index(0, place)].decode() if place else None

    def section(self, index):
        return self.get("QQ", 16 + 16 * index)[1]

    def table(self, place, count, size):
        return [place + i * size for i in range(count)]


class _Meta:
    def __init__(self, path):
        file = self.file = Bytes(path)
        self.modules, self.files, self.functions = (file.table(*file.get("QIH", file.section(index))) for index in (5, 6, 7))
        title, about = file.get("QQ", file.section(0))
        names, kinds = file.get("QB", file.section(1))
        self.data = {"title": file.text(title), "description": file.text(about),
                     "id_names": [file.text(file.get("Q", names + 8 * i)[0]) for i in range(kinds)]}
        self._metrics()
        self.data["modules"] = [{"path": file.text(file.get("Q", place + 8)[0])} for place in self.modules]
        self.data["files"] = [{"path": file.text(path), "copied": bool(flags & 1)}
                              for flags, path in (file.get("I4xQ", place) for place in self.files)]
        self.data["functions"] = [self._function(place) for place in self.functions]
        at, count, size = file.get("QHB", file.section(3))
        self.data["entry_points"] = [self._entry(place) for place in file.table(at, count, size)]

    def _metrics(self):
        file = self.file
        at, count, size, instance_size, statistic_size, scopes_at, scopes, scope_size = file.get("QIBBBxQHB", file.section(2))
        places = file.table(scopes_at, scopes, scope_size)
        self.data["scopes"] = [{"name": file.text(name), "type": SCOPES[kind], "propagation_index": index}
                               for name, kind, index in (file.get("QBB", place) for place in places)]
        self.data["metrics"] = []
        for place in file.table(at, count, size):
            name, instances_at, statistics_at, instances, statistics = file.get("QQQHH", place)
            instances = [file.get("QH", one) for one in file.table(instances_at, instances, instance_size)]
            statistics = [file.get("QQBxH", one) for one in file.table(statistics_at, statistics, statistic_size)]
            self.data["metrics"].append({
                "name": file.text(name), "scopes": [{"scope": places.index(scope), "id": id} for scope, id in instances],
                "statistics": [{"scope": places.index(scope), "formula": file.text(formula), "combine": COMBINES[combine], "id": id}
                               for scope, formula, combine, id in statistics]})

    def _function(self, place):
        name, module, offset, source, line = self.file.get("QQQQI", place)
        return {"name": self.file.text(name), "module": self.modules.index(module) if module else None, "offset": offset,
                "file": self.files.index(source) if source else None, "line": line}

    def _entry(self, place):
        size, at, id, entry, name = self.file.get("QQIHxxQ", place)
        return {"id": id, "entry": ENTRIES[entry], "name": self.file.text(name), "children": self._siblings(at, size)}

    def _siblings(self, place, size):
        siblings, end = [], place + size
        while place < end:
            length, at, id, flags, relation, lexical, words, propagation = self.file.get("QQIBBBBH", place)
            more = list(self.file.get(f"{words}Q", place + 32))
            context = {"id": id, "relation": RELATIONS[relation], "lexical": LEXICAL[lexical], "propagation": propagation,
                       "function": None, "file": None, "line": 0, "module": None, "offset": 0}
            if flags & 1:
                context["function"] = self.functions.index(more.pop(0))
            if flags & 2:
                context.update(file=self.files.index(more.pop(0)), line=more.pop(0) & 0xffffffff)
            if flags & 4:
                context.update(module=self.modules.index(more.pop(0)), offset=more.pop(0))
            siblings.append({**context, "children": self._siblings(at, length)})
            place += 32 + 8 * words
        return siblings


def _profiles(path):
    file, profiles = Bytes(path), []
    at, count, size = file.get("QIB", file.section(0))
    for index, place in enumerate(file.table(at, count, size)):
        values, values_at, groups, groups_at, ids_at, flags = file.get("QQI4xQQI", place)
        ids = [dict(zip(("kind", "flags", "logical", "physical"), file.get("BxHIQ", one)))
               for one in (file.table(ids_at + 8, file.get("H", ids_at)[0], 16) if ids_at else ())]
        starts = [file.get("IQ", one) for one in file.table(groups_at, groups, 12)] + [(None, values)]
        table = {str(context): {str(id): value for id, value in (file.get("Hd", one) for one in file.table(values_at + 10 * first, last - first, 10))}
                 for (context, first), (_, last) in zip(starts, starts[1:])}
        profiles.append({"index": index, "summary": bool(flags & 1), "flags": flags, "ids": ids, "values": table})
    return profiles


def _traces(path):
    if not path.exists():
        return None
    file, lines = Bytes(path), []
    at, count, size, least, most = file.get("QIB3xQQ", file.section(0))
    for place in file.table(at, count, size):
        profile, begin, end = file.get("I4xQQ", place)
        lines.append({"profile": profile, "samples": [list(file.get("QI", one)) for one in range(begin, end, 12)]})
    return {"min_time_ns": least, "max_time_ns": most, "lines": lines}


def read(folder):
    """What is in a database of 4.0; blocks of cct.db are what the profiles say."""
    cct = Bytes(folder / "cct.db")
    return {"meta": _Meta(folder / "meta.db").data, "profiles": _profiles(folder / "profile.db"),
            "context_block_count": cct.get("QI", cct.section(0))[1], "traces": _traces(folder / "trace.db")}


# ---- YAML ----

def _quoted(text):
    """A string of JSON is one of YAML; None is nothing."""
    return "" if text is None else json.dumps(text, ensure_ascii=True)


def _context_lines(context, indent):
    place = " " * indent
    known = [context["function"], context["file"], context["module"]]
    flags = ", ".join(name for name, value in zip(CONTEXT_FLAGS, known) if value is not None)
    yield f"{place}- ctx_id: {context['id']}"
    for key, value in (("flags", f"[{flags}]"), ("relation", context["relation"]), ("lexical_type", context["lexical"]),
                       ("propagation", context["propagation"]), ("function", _reference("f", known[0])), ("file", _reference("s", known[1])),
                       ("line", "" if known[1] is None else context["line"]), ("module", _reference("m", known[2])),
                       ("offset", "" if known[2] is None else context["offset"])):
        yield f"{place}  {key}: {value}"
    yield from _children_lines(context, indent)


def _children_lines(context, indent):
    yield " " * indent + f"  children: {'' if context['children'] else '[]'}"
    for child in context["children"]:
        yield from _context_lines(child, indent + 2)


def _reference(letter, index):
    return "" if index is None else f"*{letter}{index}"


def _meta_lines(meta):
    yield "meta:"
    yield f"  general: {{title: {_quoted(meta['title'])}, description: {_quoted(meta['description'])}}}"
    yield f"  id_names: {{names: [{', '.join(map(_quoted, meta['id_names']))}]}}"
    yield "  metrics:"
    yield "    scopes:"
    for i, scope in enumerate(meta["scopes"]):
        yield f"    - &p{i} {{scope_name: {_quoted(scope['name'])}, type: {scope['type']}, propagation_index: {scope['propagation_index']}}}"
    yield "    metrics:"
    for metric in meta["metrics"]:
        yield f"    - name: {_quoted(metric['name'])}"
        yield "      scope_insts:"
        for one in metric["scopes"]:
            yield f"      - {{scope: *p{one['scope']} , prop_metric_id: {one['id']}}}"
        yield "      summaries:"
        for one in metric["statistics"]:
            yield f"      - {{scope: *p{one['scope']} , formula: {_quoted(one['formula'])}, combine: {one['combine']}, stat_metric_id: {one['id']}}}"
    yield from _symbol_lines(meta)
    yield "  context:"
    yield f"    entry_points: {'' if meta['entry_points'] else '[]'}"
    for entry in meta["entry_points"]:
        yield f"    - ctx_id: {entry['id']}"
        yield f"      entry_point: {entry['entry']}"
        yield f"      pretty_name: {_quoted(entry['name'])}"
        yield from _children_lines(entry, 4)


def _symbol_lines(meta):
    for key, letter in (("modules", "m"), ("files", "s")):
        yield f"  {key}:"
        yield f"    {key}: {'' if meta[key] else '[]'}"
        for i, one in enumerate(meta[key]):
            yield f"    - &{letter}{i} {{flags: [{'copied' if one.get('copied') else ''}], path: {_quoted(one['path'])}}}"
    yield "  functions:"
    yield f"    functions: {'' if meta['functions'] else '[]'}"
    for i, one in enumerate(meta["functions"]):
        yield f"    - &f{i}"
        for key, value in (("name", _quoted(one["name"])), ("module", _reference("m", one["module"])),
                           ("offset", one["offset"] or ""), ("file", _reference("s", one["file"])),
                           ("line", one["line"] or ""), ("flags", "[]")):
            yield f"      {key}: {value}"


def _value_lines(groups, indent):
    place = " " * indent
    yield f"{place}values:{'' if groups else ' {}'}"
    for group in sorted(groups):
        yield f"{place}  {group}:"
        for key, value in sorted(groups[group].items()):
            yield f"{place}    {key}: {value!r}"


def _numbered(values):
    return {int(group): {int(key): float(value) for key, value in numbers.items()} for group, numbers in values.items() if numbers}


def _lines(data):
    yield "!db/v4"
    yield from _meta_lines(data["meta"])
    yield "profile:"
    yield "  profile_infos:"
    yield "    profiles:"
    blocks = [{} for _ in range(data["context_block_count"])]
    for profile in data["profiles"]:
        values = _numbered(profile["values"])
        ids = ", ".join(f"{{kind: {i['kind']}, flags: [{'is_physical' if i['flags'] & 1 else ''}], logical_id: {i['logical']}, physical_id: {i['physical']}}}"
                        for i in profile["ids"])
        yield "    - id_tuple:" + (f" {{ids: [{ids}]}}" if ids else "")
        yield f"      flags: [{'is_summary' if profile['summary'] else ''}]"
        yield from _value_lines(values, 6)
        for context, numbers in () if profile["summary"] else values.items():
            for id, value in numbers.items():
                blocks[context].setdefault(id, {})[profile["index"]] = value
    yield "context:"
    yield "  ctx_infos:"
    yield "    contexts:"
    for block in blocks:
        yield "    -"
        yield from _value_lines(block, 6)
    yield from _trace_lines(data["traces"])


def _trace_lines(traces):
    if traces is None:
        yield "trace:"
        return
    yield "trace:"
    yield "  ctx_traces:"
    yield f"    timestamp_range: {{min: {traces['min_time_ns']}, max: {traces['max_time_ns']}}}"
    yield f"    traces:{'' if traces['lines'] else ' []'}"
    for line in traces["lines"]:
        yield f"    - prof_index: {line['profile']}"
        yield f"      line:{'' if line['samples'] else ' []'}"
        for time, context in line["samples"]:
            yield f"      - {{timestamp: {time}, ctx_id: {context}}}"


def write_expected(path, data):
    """The same bytes each time."""
    text = "\n".join(_lines(data)) + "\n"
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def plain(data):
    """A model without what only its maker needs, in the order of the bytes."""
    def context(node):
        keys = ("id", "relation", "lexical", "propagation", "function", "file", "line", "module", "offset")
        return {**{key: node[key] for key in keys}, "children": [context(child) for child in node["children"]]}

    def entry(node):
        return {**{key: node[key] for key in ("id", "entry", "name")}, "children": [context(child) for child in node["children"]]}

    meta = {**data["meta"], "entry_points": [entry(node) for node in data["meta"]["entry_points"]]}
    profiles = [{**profile, "values": {str(key): {str(id): value for id, value in numbers.items()} for key, numbers in _numbered(profile["values"]).items()}}
                for profile in data["profiles"]]
    return {**data, "meta": meta, "profiles": profiles}
